"""``adaptive label``: in the terminal or by files, killed, told twice, edited by spreadsheets - no answer lost."""

from __future__ import annotations

import io
import json
import re
import signal
import subprocess

import numpy as np
import pandas as pd
import pytest

from adaptive.cli import run
from tests.cli.processes import ROOT, columns, command, n_told

N = 40


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    width, kind = rng.normal(size=N), rng.choice(["red", "blue"], N)
    frame = pd.DataFrame({"id": range(N), "width": width, "kind": kind, "größe": rng.normal(size=N)})
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


@pytest.fixture
def label(table, tmp_path, monkeypatch, capsys):
    """Call the command in this process, with what a person types."""

    def call(*arguments, typed=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = run(["label", *map(str, arguments), "--out", str(tmp_path / "run")])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


def truth(position, frame):
    return int(frame["width"][position] > 0)


def test_a_killed_terminal_loses_no_answer_and_asks_the_same_again(table, tmp_path):
    arguments = ("label", table, "--classes", "yes,no", "--stop", "4", "--out", tmp_path / "run")
    process = subprocess.Popen(
        command(*arguments), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    process.stdin.write("2\n1\n")
    process.stdin.flush()
    shown = ""
    while "Question 3" not in shown or not shown.endswith("q to stop: "):
        shown += (character := process.stdout.read(1))
        assert character, shown  # it ended
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert n_told(tmp_path / "run") == 2
    again = subprocess.run(
        command(*arguments, "--resume"), cwd=ROOT, input="s\n1\n2\n", capture_output=True, text=True, timeout=600
    )
    assert again.returncode == 0, again.stderr
    third = shown.split("Question 3")[1].splitlines()
    assert again.stdout.split("Question 3")[1].splitlines()[1:5] == third[1:5]
    assert "4 of 40 rows have a label" in again.stdout
    labels = columns(tmp_path / "run/labels.csv")
    assert sorted(filter(None, labels["label"])) == ["no", "no", "yes", "yes"]
    assert set(labels["label_predicted"]) <= {"yes", "no"} and len(labels["id"]) == N
    assert (tmp_path / "run/stopping.png").exists() and (tmp_path / "run/predicted.png").exists()


@pytest.mark.parametrize("editor", ["pandas", "german"])
def test_a_file_that_another_program_wrote_is_understood(label, table, tmp_path, editor):
    """pandas writes 1.0 for 1 where answers are missing; a German Excel semicolons, decimal commas and Latin-1."""
    frame, asked = pd.read_csv(table), tmp_path / "next.csv"
    code, shown, _ = label(table, "--classes", "0,1", "--batch", 6, "--ask", asked)
    assert code == 0 and "holds 6 rows to label" in shown and "--tell" in shown
    again = f"adaptive label --out {tmp_path / 'run'} --tell"
    assert (
        shown.splitlines()[-1]
        == f"Next, once the answers are in next.csv: {again} {asked} --ask {tmp_path / 'next-2.csv'}"
    )
    # the report is there, too, of a run in which nobody has answered yet
    assert "0 of 40 rows have a label (0 0, 0 1), 0 of them asked." in shown
    assert columns(tmp_path / "run/labels.csv")["label"] == [""] * N and (tmp_path / "run/answers.csv").exists()
    filled = pd.read_csv(asked)
    filled["answer"] = [truth(k, frame) for k in filled["position"]]
    filled.loc[5, "answer"] = np.nan
    if editor == "pandas":
        filled.to_csv(asked, index=False)
        assert ",1.0," in asked.read_text() or ",0.0," in asked.read_text()
    else:
        filled.to_csv(asked, index=False, sep=";", decimal=",", encoding="cp1252")
    code, shown, error = label("--tell", asked)
    assert code == 0, error
    assert "5 answers learnt" in shown and "1 row still waits" in shown
    assert "5 known already" in label("--tell", asked)[1]
    labels = columns(tmp_path / "run/labels.csv")["label"]
    for k in filled["position"][:5]:
        assert labels[k] == str(truth(k, frame))


def test_labels_in_the_table_are_learnt_first_and_kept(label, table, tmp_path):
    frame = pd.read_csv(table)
    frame["said"] = [["no", "yes"][truth(k, frame)] if k < 20 else "" for k in range(N)]
    frame.to_csv(table, index=False)
    code, shown, error = label(table, "--target", "said", "--show", "width", typed="1\n2\nq\n")
    assert code == 130 and "stopped after 2 answers" in error and "--resume" in error
    assert "22 of 40 rows have a label" in shown and "believes to be right on 50%" not in shown.split("Question 2")[0]
    assert "kind:" not in shown.split("Question 1")[1]
    answers = columns(tmp_path / "run/answers.csv")
    assert min(map(int, answers["line"])) >= 22 and answers["said"] == ["no", "yes"]  # line 2 is row 0
    assert columns(tmp_path / "run/labels.csv")["said"][:20] == frame["said"][:20].tolist()


def test_a_batch_goes_out_to_label_studio_and_comes_back(label, table, tmp_path):
    tasks, frame = tmp_path / "tasks.json", pd.read_csv(table)
    assert label(table, "--classes", "0,1", "--batch", 3, "--ask", tasks)[0] == 0
    export = [
        {
            "data": task["data"],
            "annotations": [{"result": [{"type": "choices", "value": {"choices": [str(truth(k, frame))]}}]}],
        }
        for task in json.loads(tasks.read_text())
        for k in [task["data"]["position"]]
    ]
    (tmp_path / "export.json").write_text(json.dumps(export))
    more = tmp_path / "more.csv"
    code, shown, error = label("--tell", tmp_path / "export.json", "--ask", more, "--batch", 2)
    assert code == 0, error
    assert "3 answers learnt" in shown and "2 rows to label" in shown
    assert not set(columns(more)["position"]) & {str(task["data"]["position"]) for task in export}


def test_a_project_of_label_studio_that_was_not_made_here_is_read(label, table, tmp_path):
    frame = pd.read_csv(table)
    frame["label"] = ["yes"] + [""] * (N - 1)
    frame.to_csv(table, index=False)
    assert label(table, "--classes", "yes,no", "--batch", 2, "--ask", tmp_path / "next.csv")[0] == 0
    asked = columns(tmp_path / "next.csv")["position"]
    free = [k for k in range(1, N) if str(k) not in asked][:2]
    said = {"type": "choices", "value": {"choices": ["Yes"]}}
    export = [
        {"data": {"id": k, "kind": frame["kind"][k % N], "note": "mine"}, "annotations": [{"result": [said]}]}
        for k in (0, *free, 99)
    ]
    (tmp_path / "export.json").write_text(json.dumps(export))
    code, shown, error = label("--tell", tmp_path / "export.json")
    assert code == 0 and "no row of the pool is found for the task (task 3)" in error
    assert "2 answers learnt (2 to rows that were not asked), 1 left out, since the table has a label there" in shown
    assert columns(tmp_path / "run/answers.csv")["line"] == [str(k + 2) for k in free]


def test_a_corrected_file_corrects(label, table, tmp_path):
    asked = tmp_path / "next.csv"
    label(table, "--classes", "Sales,billing", "--batch", 2, "--ask", asked)
    frame = pd.read_csv(asked)
    for answers, said in (
        (["sales ", "Billing"], "2 answers learnt."),
        (["billing", "BILLING"], "0 answers learnt, 1 corrected, 1 known already."),
    ):
        frame.assign(answer=answers, annotator="Ann").to_csv(asked, index=False)
        code, shown, error = label("--tell", asked)
        assert code == 0 and said in shown, error
    assert columns(tmp_path / "run/answers.csv")["label"] == ["billing", "billing"]
    frame.assign(answer="biling").to_csv(asked, index=False)
    code, _, error = label("--tell", asked)
    assert code == 2 and "next.csv, line 2: the label 'biling' is unknown" in error and "mean 'billing'?" in error


def test_a_file_with_answers_is_not_written_over(label, table, tmp_path):
    asked = tmp_path / "next.csv"
    label(table, "--classes", "0,1", "--batch", 2, "--ask", asked)
    asked.write_text(asked.read_text().replace(",,\n", ",1,\n"))
    before = asked.read_bytes()
    code, _, error = label("--resume", "--ask", asked)
    assert code == 2 and "holds answers: learn them first" in error and asked.read_bytes() == before


def test_a_run_stops_by_its_rule_and_goes_on_beyond_it(label, table):
    code, shown, _ = label(table, "--classes", "no,yes", "--stop", "2", typed="1\n2\n1\n")
    assert code == 0 and "2 of 40 rows" in shown
    code, shown, _ = label("--resume", "--stop", "3", "--stop", "information=0.0001", typed="1\n1\n")
    assert code == 0 and "3 of 40 rows" in shown
    assert "3 of 40 rows" in label("--report")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.csv", "--classes", "a,b"], "there is no file"),
        (["TABLE"], "name the classes with --classes A,B"),
        (["TABLE", "--classes", "yes"], "name the classes with --classes A,B"),
        (["TABLE", "--target", "kind", "--classes", "red,green"], "'blue' in column 'kind' is not one of the classes"),
        (["TABLE", "--target", "kind", "--classes", "red,Blu"], "'blue' .* red, Blu: .*; did you mean 'Blu'\\?"),
        (["TABLE", "--target", "kind"], "every row of"),
        (["TABLE", "--target", "width"], "looks continuous: 40 different numbers"),
        (["TABLE", "--classes", "1,1.0"], "names a class twice"),
        (["TABLE", "--classes", "a,b", "--show", "colour"], "has no column 'colour'"),
        (["TABLE", "--classes", "a,b", "--stop", "soon"], "--stop 'soon' is no rule"),
        (["TABLE", "--classes", "a,b", "--batch", "3"], "about the file that --ask FILE names"),
        (["TABLE", "--classes", "a,b", "--ask", "next.txt"], "must end in .csv, or in .json"),
        (["--tell", "next.csv"], "there is no run to resume"),
        ([], "name the table to label"),
    ],
)
def test_bad_input_is_one_line(label, table, arguments, message):
    code, shown, error = label(*[str(table) if one == "TABLE" else one for one in arguments])
    assert code == 2 and shown == "" and error.count("\n") == 1
    assert message in error or re.search(message, error)


def test_labels_of_the_table_are_compared_as_people_say_them(label, table, tmp_path):
    frame = pd.read_csv(table)
    frame["said"] = ["Billing", " nan", "BILLING"] + [""] * (N - 3)
    frame.to_csv(table, index=False)
    code, _, error = label(table, "--target", "said")
    assert code == 2 and "holds 'Billing' and 'BILLING': name the classes with --classes" in error
    code, _, error = label(table, "--target", "said", "--classes", "billing,nan", typed="q\n")
    assert code == 130, error
    assert columns(tmp_path / "run/labels.csv")["said"][:4] == ["billing", "nan", "billing", ""]


def test_a_typed_digit_is_the_label_of_that_name(label, table, tmp_path):
    assert label(table, "--classes", "0,1", "--stop", "3", typed="1\n0\n1\n")[0] == 0
    assert columns(tmp_path / "run/answers.csv")["label"] == ["1", "0", "1"]


def test_the_report_of_a_labelled_table_needs_no_run(tmp_path):
    """Labels that the table has are learnt and compared; what scikit-learn says stands beside, where it is better."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80), "z": rng.normal(size=80)})
    frame["label"] = np.where(np.arange(80) < 60, np.where(frame["x"] > 0, "yes", "no"), "")
    frame.to_csv(tmp_path / "half.csv", index=False)
    out = tmp_path / "half"
    assert run(["label", str(tmp_path / "half.csv"), "--report", "--out", str(out)]) == 0
    written = pd.read_csv(out / "labels.csv")
    assert written["label_predicted"].notna().all()
    found = json.loads((out / "summary.json").read_text())["beside LogisticRegressionCV"]
    assert found["n"] == 60
    assert ("label_predicted_rival" in written) == (found["difference"] > found["margin"])


def test_the_number_of_rows_is_that_of_the_run(label, table, tmp_path):
    first, second = tmp_path / "one.csv", tmp_path / "two.csv"
    label(table, "--classes", "no,yes", "--ask", first, "--batch", 3)
    frame = pd.read_csv(first)
    frame.assign(answer="yes").to_csv(first, index=False)
    label("--tell", first)
    label("--resume", "--ask", second)
    assert len(pd.read_csv(second)) == len(frame) == 3
