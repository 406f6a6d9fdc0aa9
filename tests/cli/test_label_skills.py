"""``adaptive label --skills``: each answer is its person's, whoever a row was chosen for, and no stop loses one."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from adaptive.cli import run
from adaptive.loop import SequentialDesign
from tests.cli.processes import columns, n_told

N = 24
SKILLS = ("--classes", "no,yes", "--skills", 2)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"width": np.round(rng.normal(size=N), 3), "kind": rng.choice(["red", "blue"], N)})
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


@pytest.fixture
def label(tmp_path, monkeypatch, capsys):
    """Call the command in this process, with what a person types; figures take most of the time, and are left out."""

    def call(*arguments, typed="", out="run", figures=False):
        if not figures:
            monkeypatch.setattr("adaptive.cli.label.skills_report.progress", lambda *_: None)
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = run(["label", *map(str, arguments), "--out", str(tmp_path / out)])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


@pytest.fixture
def truth(table):
    return ["yes" if width > 0 else "no" for width in pd.read_csv(table)["width"]]


def other(word):
    return "no" if word == "yes" else "yes"


def people_of(out):
    table = columns(out / "people.csv")
    return dict(zip(table["annotator"], map(int, table["labels"]), strict=True))


def test_disagreeing_answers_are_all_learnt_each_as_its_persons(label, table, truth, tmp_path):
    asked = tmp_path / "next.csv"
    code, shown, _ = label(table, *SKILLS, "--ask", asked, "--batch", 4)
    assert code == 0 and "holds 4 rows to label" in shown and "'annotator' with a name" in shown
    frame = pd.read_csv(asked)
    assert frame["position"].is_unique and frame["id"].tolist() == frame["position"].tolist()
    rows = frame["position"].tolist()
    right, wrong = [truth[k] for k in rows], [other(truth[k]) for k in rows]
    both = [frame.assign(annotator="Ann", answer=right), frame[:2].assign(annotator="Bob", answer=wrong[:2])]
    pd.concat(both).to_csv(asked, index=False)
    code, shown, error = label("--tell", asked)
    assert code == 0, error
    assert "6 answers learnt (4 of Ann, 2 of Bob)." in shown and "wait" not in shown
    assert "Bob: believed right in" in shown and "with so few the prior decides; others said the same in 0%" in shown
    assert people_of(tmp_path / "run") == {"Ann": 4, "Bob": 2}
    assert "0 answers learnt, 6 known already." in label("--tell", asked)[1]
    labels = columns(tmp_path / "run/labels.csv")
    first, last = rows[0], rows[-1]
    assert labels["label_said"][first] == f"Ann: {right[0]}; Bob: {wrong[0]}"
    assert labels["label_said"][last] == f"Ann: {right[-1]}" and labels["label"][last] == right[-1]
    assert sum(map(bool, labels["label"])) == 4 and len(set(labels["label_predicted"])) == 2
    certainty = [float(labels["label_certainty"][k]) for k in (first, last)]
    assert 0.5 <= certainty[0] < certainty[1] < 1.0
    answers = columns(tmp_path / "run/answers.csv")
    assert sorted(zip(answers["annotator"], answers["line"], strict=True)) == sorted(
        [("Ann", str(k + 2)) for k in rows] + [("Bob", str(k + 2)) for k in rows[:2]]
    )
    # Bob has thought again: his answer takes the place of his, not of hers
    frame[:1].assign(annotator="Bob", answer=right[0]).to_csv(asked, index=False)
    assert "0 answers learnt, 1 corrected." in label("--tell", asked)[1]
    assert columns(tmp_path / "run/labels.csv")["label_said"][first] == f"Ann: {right[0]}; Bob: {right[0]}"


def test_rows_are_chosen_for_the_known_in_turn_and_a_filled_line_waits_no_more(label, table, truth, tmp_path):
    asked, filled = tmp_path / "next.csv", tmp_path / "filled.csv"
    label(table, *SKILLS, "--ask", asked, "--batch", 4)
    first = pd.read_csv(asked)
    first["answer"] = [truth[k] for k in first["position"]]
    first.assign(annotator=["Ann", "Ann", "Ann", "Bob"]).to_csv(filled, index=False)
    more = tmp_path / "more.csv"
    code, _, error = label("--tell", filled, "--ask", more, "--batch", 6)
    assert code == 0 and "from one person" not in error
    frame = pd.read_csv(more)
    assert sorted(frame["for"]) == ["Ann"] * 3 + ["Bob"] * 3 and frame["position"].is_unique
    # Bob fills in Ann's lines, and cannot tell in one of his own: no line waits, and he is not asked that row again
    frame["answer"] = [truth[k] for k in frame["position"]]
    frame.loc[[0, 5], "answer"] = "?"
    frame.assign(annotator="Bob").to_csv(filled, index=False)
    code, shown, _ = label("--tell", filled)
    assert "4 answers learnt (4 of Bob), 2 set aside." in shown
    assert "0 answers learnt, 4 known already." in label("--tell", filled)[1]
    rest = tmp_path / "rest.csv"
    label("--resume", "--ask", rest, "--batch", N)
    rest = pd.read_csv(rest)
    of_bob = set(rest["position"][rest["for"] == "Bob"])
    assert not of_bob & set(frame["position"]) and rest["position"].is_unique


def test_label_studio_says_who_by_completed_by(label, table, truth, tmp_path):
    tasks = tmp_path / "tasks.json"
    code, shown, _ = label(table, *SKILLS, "--batch", 3, "--ask", tasks)
    assert code == 0 and "completed_by names the annotator" in shown
    read = json.loads(tasks.read_text())
    assert all(task["data"]["for"] == "" and "predictions" not in task for task in read)

    def annotation(who, word, moment):
        result = {"type": "choices", "value": {"choices": [word]}}
        return {"completed_by": who, "updated_at": f"2026-01-0{moment}", "result": [result]}

    for task in read:
        word = truth[task["data"]["position"]]
        ann = {"email": "ann@example.org"}
        task["annotations"] = [annotation(ann, word, 2), annotation(7, other(word), 1), annotation(7, word, 3)]
    read[0]["annotations"].append(annotation({"email": "eve@example.org"}, "no", 4))
    (tmp_path / "export.json").write_text(json.dumps(read))
    code, shown, error = label("--tell", tmp_path / "export.json")
    assert code == 0, error
    assert "1 of eve@example.org left out, since all places of --skills 2 are taken" in shown
    assert people_of(tmp_path / "run") == {"ann@example.org": 3, "7": 3}
    assert columns(tmp_path / "run/people.csv")["agreement"] == ["1.0", "1.0"]  # the later of 7's annotations counts


def test_without_names_all_are_one_person_and_the_table_is_the_truth(label, table, truth, tmp_path):
    frame = pd.read_csv(table)
    frame["label"] = [*truth[:8], *[""] * (N - 8)]
    frame.to_csv(table, index=False)
    given = pd.DataFrame({"position": [0, *range(8, 14), 8], "answer": [truth[0], *truth[8:14], other(truth[8])]})
    given.to_csv(tmp_path / "given.csv", index=False)
    assert label(table, *SKILLS, "--ask", tmp_path / "next.csv", "--batch", 3)[0] == 0
    assert min(pd.read_csv(tmp_path / "next.csv")["position"]) >= 8
    code, shown, error = label("--tell", tmp_path / "given.csv", "--annotator", "Ann")
    assert code == 0, error
    assert "6 answers learnt (6 of Ann), 1 left out, since the table has a label there" in shown
    assert "from one person" not in shown + error  # the table tells errors from noise
    given.to_csv(tmp_path / "given.csv", index=False)
    assert "(6 of somebody)" in label("--tell", tmp_path / "given.csv")[1]
    labels = columns(tmp_path / "run/labels.csv")
    assert labels["label"][:8] == truth[:8] and {round(float(one), 6) for one in labels["label_certainty"][:8]} == {1.0}
    assert labels["label_said"][8] == f"Ann: {other(truth[8])}; somebody: {other(truth[8])}"


def test_skills_are_found_and_who_always_lies_is_turned_round(label, table, truth, tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        {"position": k, "annotator": who, "answer": truth[k] if rng.random() < right else other(truth[k])}
        for k in range(N)
        for who, right in (("Ann", 1.0), ("Bob", 0.8), ("=Liar", 0.0))
    ]
    pd.DataFrame(lines).to_csv(tmp_path / "said.csv", index=False)
    assert label(table, "--classes", "no,yes", "--skills", 3, "--ask", tmp_path / "next.csv", figures=True)[0] == 0
    code, shown, error = label("--tell", tmp_path / "said.csv", figures=True)
    assert code == 0, error
    assert "it expected to be right on" in shown and (tmp_path / "run/predicted.png").exists()
    right = float(re.search(r"believes that it is right on ([0-9.]+)% of the pool", shown).group(1))
    found = np.array([float(one) for one in columns(tmp_path / "run/labels.csv")["label_probability"]])
    assert right == pytest.approx(100 * found.mean(), abs=0.1)  # of true labels, not of what a liar says
    people = columns(tmp_path / "run/people.csv")
    numbers = [zip(people["annotator"], map(float, people[k]), strict=True) for k in ("low", "skill", "high")]
    low, skill, high = map(dict, numbers)
    assert skill["Ann"] > skill["Bob"] > 0.5 > high["'=Liar"] and low["Ann"] > 0.8
    labels = columns(tmp_path / "run/labels.csv")
    assert labels["label"] == truth


def test_one_person_alone_is_in_the_report(label, table, truth, tmp_path):
    lines = [{"position": k, "annotator": "Ann", "answer": truth[k]} for k in range(6)]
    pd.DataFrame(lines).to_csv(tmp_path / "said.csv", index=False)
    label(table, *SKILLS, "--ask", tmp_path / "next.csv", "--batch", 2)
    assert "All labels are from one person" in label("--tell", tmp_path / "said.csv")[1]


def test_most_people_below_a_half_are_in_the_report_and_turned_round(label, table, tmp_path):
    width = np.linspace(-2.0, 2.0, 60)
    truth = ["yes" if one > 0 else "no" for one in width]
    asked = [k for k in range(60) if k % 4 == 1]
    frame = pd.DataFrame({"width": width, "label": ["" if k in asked else truth[k] for k in range(60)]})
    frame.to_csv(table, index=False)
    lines = [
        {"position": k, "annotator": "Ann" if j % 2 else "Bob", "answer": other(truth[k])} for j, k in enumerate(asked)
    ]
    pd.DataFrame(lines).to_csv(tmp_path / "said.csv", index=False)
    label(table, *SKILLS, "--ask", tmp_path / "next.csv", "--batch", 2)
    shown = label("--tell", tmp_path / "said.csv")[1]
    assert "people with 5 labels or more are believed to be wrong more often than right" in shown, shown
    found = columns(tmp_path / "run/labels.csv")
    assert np.mean(np.array(found["label"]) == truth) > 0.9


def test_a_terminal_that_was_stopped_goes_on_and_others_have_their_own_place(label, table, tmp_path):
    code, shown, error = label(table, *SKILLS, typed="1\n2\nq\n")
    assert code == 130 and "Question 1 for here" in shown and "9 answers" not in error
    code, again, _ = label("--resume", typed="s\n1\nq\n")
    third, same = shown.split("Question 3")[1].splitlines(), again.split("Question 3")[1].splitlines()
    assert same[1:5] == third[1:5]
    assert "Question 4 for Bob" in label("--resume", "--annotator", "Bob", typed="1\nq\n")[1]
    assert people_of(tmp_path / "run") == {"here": 3, "Bob": 1}
    code, _, error = label("--resume", "--annotator", "Eve", typed="1\nq\n")
    assert code == 2 and "--skills 2 has no place left for Eve: here, Bob have them" in error
    one = columns(tmp_path / "run/answers.csv")
    label(table, *SKILLS, typed="1\n2\ns\n1\nq\n", out="at once")
    label("--resume", "--annotator", "Bob", typed="1\nq\n", out="at once")
    assert columns(tmp_path / "at once/answers.csv") | {"step": 0} == one | {"step": 0}


def test_a_file_half_learnt_when_the_power_went_is_learnt_once(label, table, truth, tmp_path, monkeypatch):
    lines = [
        {"position": k, "annotator": who, "answer": truth[k]}
        for who, rows in (("Ann", (3, 4)), ("Bob", (4, 9)), ("Ann", (11,)))
        for k in rows
    ]
    pd.DataFrame(lines).to_csv(tmp_path / "said.csv", index=False)
    label(table, *SKILLS, "--ask", tmp_path / "next.csv", "--batch", 2)
    tell, left = SequentialDesign.tell, [1]

    def until(design, *arguments, **options):
        left[0] -= 1
        if left[0] < 0:
            raise SystemExit(9)
        return tell(design, *arguments, **options)

    monkeypatch.setattr(SequentialDesign, "tell", until)
    with pytest.raises(SystemExit):
        label("--tell", tmp_path / "said.csv")
    assert n_told(tmp_path / "run") == 1
    monkeypatch.setattr(SequentialDesign, "tell", tell)
    assert "known already" in label("--tell", tmp_path / "said.csv")[1]
    assert "5 known already" in label("--tell", tmp_path / "said.csv")[1]
    assert people_of(tmp_path / "run") == {"Ann": 3, "Bob": 2}


def test_a_run_without_skills_is_what_it_was(label, table, tmp_path):
    label(table, "--classes", "no,yes", "--ask", tmp_path / "next.csv", "--batch", 2)
    settings = json.loads((tmp_path / "run/settings.json").read_text())
    assert not {"skills", "annotator"} & settings.keys()
    code, _, error = label("--resume", "--skills", 2, "--report")
    assert code == 2 and "has skills = 0, not 2" in error
    frame = pd.read_csv(tmp_path / "next.csv").assign(answer=["no", "yes"], annotator="Ann")
    frame.to_csv(tmp_path / "next.csv", index=False)
    assert label("--tell", tmp_path / "next.csv", "--skills", 0)[0] == 0
    assert "skills" not in json.loads((tmp_path / "run/summary.json").read_text())["settings"]
    assert not (tmp_path / "run/people.csv").exists()
    assert [*columns(tmp_path / "run/answers.csv")] == ["step", "line", "label", "score"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["TABLE", "--skills", "2"], "name the classes with --classes A,B"),
        (["TABLE", "--classes", "a,b", "--skills", "-1"], "--skills must be at least 0"),
        (["TABLE", "--classes", "a,b", "--annotator", "Ann"], "--annotator is about a run with --skills"),
        (["LONG", "--classes", "a,b", "--skills", "2"], "--skills goes with tables of up to 4,000,000 cells"),
        (["TABLE", "--classes", "red,blue", "--target", "kind", "--skills", "2"], "nothing is left to ask"),
    ],
)
def test_what_does_not_go_together_is_one_line(label, table, tmp_path, monkeypatch, arguments, message):
    monkeypatch.setattr("adaptive.cli.label.stored_rows.MOST_CELLS", 10)
    pd.read_csv(table).to_parquet(tmp_path / "long.parquet")
    places = {"TABLE": table, "LONG": tmp_path / "long.parquet"}
    code, shown, error = label(*[places.get(one, one) for one in arguments])
    assert code == 2 and shown == "" and error.count("\n") == 1 and message in error, error


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"position": N}, "the position must be from 0 to 23, got 24"),
        ({"position": 3, "id": 4}, "the id is '4.0', but the position 3"),
        ({"position": 3, "query": 9}, "query 9 never asked position 3"),
        ({"position": 3, "answer": "yess"}, "did you mean 'yes'?"),
    ],
)
def test_a_file_that_does_not_fit_is_one_line_and_nothing_is_learnt(label, table, tmp_path, line, message):
    label(table, *SKILLS, "--ask", tmp_path / "next.csv", "--batch", 2)
    lines = [{"position": 5, "answer": "yes"}, {"answer": "no", **line}]
    pd.DataFrame(lines).to_csv(tmp_path / "said.csv", index=False)
    code, _, error = label("--tell", tmp_path / "said.csv")
    assert code == 2 and re.search(re.escape(message), error) and error.count("\n") == 1, error
    assert n_told(tmp_path / "run") == 0


def test_a_served_run_has_no_names(label, table, tmp_path, capsys):
    label(table, *SKILLS, "--ask", tmp_path / "next.csv", "--batch", 2)
    assert run(["serve", "--run", str(tmp_path / "run")]) == 2
    assert "learns people's skills by their names" in capsys.readouterr().err
