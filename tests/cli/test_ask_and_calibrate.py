"""``adaptive calibrate`` and ``adaptive ask`` as processes: a bank from answers, a test that is killed and goes on."""

import io
import json
import re
import signal
import subprocess
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest

from adaptive.cli import run
from adaptive.cli.ask.command import respondent_of
from adaptive.cli.ask.keys import EXAMPLE
from adaptive.cli.ask.questionnaire_file import read_questionnaire
from adaptive.cli.calibrate.replays import ends_of, first_items, random_items
from adaptive.cli.errors import CommandError
from adaptive.estimators import Questionnaire
from adaptive.files import write_csv
from tests.cli.processes import ROOT, columns, command, finish, n_told

QUESTIONS = """title = "Three questions"
answers = ["no", "yes"]
[[items]]
id = "a"
text = "First?"
[[items]]
id = "b"
text = "Second?"
[[items]]
id = "c"
text = "Third?"
answers = ["never", "always"]
[stop]
questions = 3
"""


def answering(text, *arguments):
    return subprocess.run(command(*arguments), cwd=ROOT, input=text, capture_output=True, text=True, timeout=600)


def test_calibrate_then_ask_kill_and_resume(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(200)
    rows = (rng.random((200, 3)) < 1 / (1 + np.exp(-1.5 * (x[:, None] - [-0.5, 0.0, 0.8])))).astype(int)
    lines = ["who,side,a,b,c", *(f"p{k},{'LR'[k % 2]}," + ",".join(map(str, row)) for k, row in enumerate(rows))]
    (tmp_path / "answers.csv").write_text("\n".join(lines) + "\n")
    out = tmp_path / "bank"
    done = finish(
        "calibrate", tmp_path / "answers.csv", "--person", "who", "--group", "side", "--short-form", "2", "--out", out
    )
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "Short form of 2 items, which tell most about the trait: " in said
    assert "Under this model they hold an estimated " in said and "that the best 2 items could hold" in said
    assert "the total of all 3 items, for the 200 people who answered all of them, each while" in said
    assert len(columns(out / "short_form.csv")["item"]) == 2
    against = json.loads((out / "short_form.json").read_text())["beside the rivals"]
    assert [one["n"] for one in against] == [200, 200] and "A ridge regression on 2 random items leaves" in said
    assert {path.name for path in out.iterdir()} >= {
        "bank.csv", "items.csv", "people.csv", "groups.csv", "report.json", "information.png",
    }  # fmt: skip
    assert columns(out / "items.csv")["item"] == ["a", "b", "c"]

    (tmp_path / "test.toml").write_text(QUESTIONS)
    run = tmp_path / "run"
    arguments = ("ask", tmp_path / "test.toml", "--bank", out / "bank.csv", "--out", run)
    process = subprocess.Popen(
        command(*arguments), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdin.write("2\n")
    process.stdin.flush()
    shown = ""
    while "Question 2" not in shown or not shown.endswith("q to stop: "):  # the second question is on the screen
        shown += (character := process.stdout.read(1))
        assert character, shown  # it ended
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert n_told(run) == 1
    second = shown.split("Question 2")[1]
    again = answering("9\n1\ns\n", *arguments, "--resume")
    assert again.returncode == 0, again.stderr
    assert again.stdout.split("Question 2")[1].splitlines()[1] == second.splitlines()[1]  # the question that was open
    assert "Please type a number from 1 to 2" in again.stdout and "Thank you: 2 answers" in again.stdout
    assert "with 95% probability between" in again.stdout
    assert json.loads((run / "result.json").read_text())["answers"] == 2
    assert [float(one) for one in columns(run / "answers.csv")["outcome"]] == [1.0, 0.0]
    assert columns(run / "path.csv")["step"] == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("usual", "own", "scale", "message"),
    [
        ('["0", "1", "2"]', '["never", "always"]', (0, 1, 2), None),
        ('["0", "1", "2"]', '["0", "1"]', (0, 1, 2), None),
        ('["1", "2"]', '["no", "yes"]', (1, 2), None),
        ('["no", "yes"]', '["0", "10"]', (0, 10), None),
        ('["0", "1", "2"]', '["1", "2"]', None, "item 'c': the answers 1, 2 would count as 0, 1; write them in words"),
        ('["2", "1", "0"]', '["no", "yes"]', None, "item 'a': answers that are numbers must increase, got 2, 1, 0"),
        ('["no", "so", "yes"]', '["0", "1"]', None, "item 'c': the answers 0, 1 would count as 1, 2"),
    ],
)
def test_answers_that_are_numbers_count_as_these(tmp_path, usual, own, scale, message):
    (tmp_path / "test.toml").write_text(QUESTIONS.replace('["no", "yes"]', usual).replace('["never", "always"]', own))
    asked = read_questionnaire(tmp_path / "test.toml")
    if message is None:
        assert respondent_of(asked, None).bank.categories == scale
    else:
        with pytest.raises(CommandError, match=message):
            respondent_of(asked, None)


def test_a_bank_takes_the_numbers_of_the_file(tmp_path):
    text = QUESTIONS.replace('["no", "yes"]', '["0", "1", "2"]').replace('answers = ["never", "always"]\n', "")
    (tmp_path / "test.toml").write_text(text)
    Questionnaire.from_prior(["a", "b", "c"], (1, 2, 3)).to_bank(tmp_path / "bank.csv")
    person = respondent_of(read_questionnaire(tmp_path / "test.toml"), tmp_path / "bank.csv")
    assert person.partial_fit(["a"], [0]).mean[0] < 0 and person.path()["answer"][1] == 0


def test_a_questionnaire_scored_from_0(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = (rng.standard_normal((80, 1)) + 0.7 * rng.standard_normal((80, 3)) > [[[-1]], [[0]], [[0]], [[1]]]).sum(0)
    lines = ["a,b,c", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "answers.csv").write_text("\n".join(lines) + "\n")

    def calibrated(*options):
        code = run(["calibrate", str(tmp_path / "answers.csv"), *options])
        return code, capsys.readouterr().err

    code, error = calibrated("--out", str(tmp_path / "gap"))
    assert code == 0 and error.count("taken to be 0, 1, 2, 3, 4, of which nobody answered 2; give") == 1
    assert columns(tmp_path / "gap/bank.csv")["categories"] == ["0 1 2 3 4"] * 3
    code, error = calibrated("--out", str(tmp_path / "given"), "--categories", "0-4")
    assert code == 0 and "nobody answered" not in error
    assert (tmp_path / "given/bank.csv").read_bytes() == (tmp_path / "gap/bank.csv").read_bytes()
    (tmp_path / "test.toml").write_text(
        QUESTIONS.replace('["no", "yes"]', '["0", "1", "2", "3", "4"]').replace('answers = ["never", "always"]\n', "")
    )
    person = respondent_of(read_questionnaire(tmp_path / "test.toml"), tmp_path / "given/bank.csv")
    assert person.partial_fit(["a"], [0]).mean[0] < 0
    for scale in ("4-0", "0-20", "a-b", "1,1", "7"):
        code, error = calibrated("--out", str(tmp_path / "no"), "--categories", scale)
        assert code == 2 and f"such as 0-4 or 1,2,3; got '{scale}'" in error
    code, error = calibrated("--out", str(tmp_path / "few"), "--categories", "0-2")
    assert code == 2 and "answers must be among [0, 1, 2], got 3" in error


def test_a_bank_in_the_columns_of_another_program_and_of_answers_without_an_order(tmp_path, capsys):
    rng = np.random.default_rng(0)
    trait = rng.standard_normal((150, 1, 1))
    energy = trait * np.array([0.0, 1.8, -1.0]) + np.array([0.0, 0.3, 0.1]) + rng.gumbel(size=(150, 4, 3))
    rows = energy.argmax(axis=2)
    (tmp_path / "answers.csv").write_text("\n".join(["a,b,c,d", *(",".join(map(str, row)) for row in rows)]) + "\n")
    start, out = ["calibrate", str(tmp_path / "answers.csv"), "--model", "nominal"], tmp_path / "out"
    assert run([*start, "--out", str(out), "--dialect", "mirt"]) == 0
    assert "bank-mirt.csv: " in capsys.readouterr().out  # its form holds no uncertainty
    assert set(columns(out / "items.csv")) >= {"slope_1", "intercept_1", "slope_2", "intercept_2"}
    assert set(columns(out / "bank-mirt.csv")) >= {"a1", "ak0", "ak2", "d2"}
    theirs, ours = (Questionnaire.from_bank(out / name).item_parameters_ for name in ("bank-mirt.csv", "bank.csv"))
    np.testing.assert_allclose(theirs, ours, atol=1e-9)
    assert np.all(theirs[:, 0] * theirs[:, 2] < 0)  # answers 1 and 2 lie on the two sides of 0
    assert run([*start, "--out", str(tmp_path / "no"), "--dialect", "catsim"]) == 2
    assert "--dialect catsim: " in capsys.readouterr().err
    assert run([*start, "--out", str(tmp_path / "no"), "--dialect", "R"]) == 2
    assert run([*start, "--out", str(tmp_path / "short"), "--short-form", "2"]) == 2
    assert "have no order" in capsys.readouterr().err


def test_calibrate_an_ordinal_bank_then_ask(tmp_path):
    rows = np.random.default_rng(0).integers(1, 4, (30, 3))
    (tmp_path / "answers.csv").write_text("\n".join(["a,b,c", *(",".join(map(str, row)) for row in rows)]) + "\n")
    out = tmp_path / "bank"
    done = finish("calibrate", tmp_path / "answers.csv", "--model", "ordinal", "--out", out)
    assert done.returncode == 0, done.stderr
    assert set(columns(out / "items.csv")) >= {"threshold_1", "threshold_2"} and (out / "thresholds.png").is_file()
    (tmp_path / "test.toml").write_text(
        QUESTIONS.replace('["no", "yes"]', '["no", "perhaps", "yes"]').replace('answers = ["never", "always"]\n', "")
    )
    person = respondent_of(read_questionnaire(tmp_path / "test.toml"), out / "bank.csv")
    assert person.partial_fit(["a"], [3]).mean[0] > 0


def test_ask_for_the_total(tmp_path):
    (tmp_path / "test.toml").write_text('target = "total"\n' + QUESTIONS.replace("questions = 3", "questions = 2"))
    done = answering("1\n2\n", "ask", tmp_path / "test.toml", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "total score: 1.5, with 95% probability between 1 and 2" in done.stdout  # one of two, and one to come
    assert json.loads((tmp_path / "run" / "result.json").read_text())["total"]["interval"] == [1, 2]


def test_a_target_that_is_not_known_is_refused_by_its_line(tmp_path):
    (tmp_path / "test.toml").write_text('target = "sum"\n' + QUESTIONS)
    with pytest.raises(CommandError, match="line 1: target must be \"total\" or left out, got 'sum'"):
        read_questionnaire(tmp_path / "test.toml")


def test_ask_without_a_bank_and_stop(tmp_path):
    (tmp_path / "test.toml").write_text(QUESTIONS)
    done = answering("1\nq\n", "ask", tmp_path / "test.toml", "--out", tmp_path / "run")
    assert done.returncode == 130 and "stopped after 1 answer; continue with: adaptive ask" in done.stderr


def test_items_have_answers_of_their_own_without_a_bank(tmp_path):
    (tmp_path / "own.toml").write_text(QUESTIONS.replace('["never", "always"]', '["never", "sometimes", "always"]'))
    person = respondent_of(read_questionnaire(tmp_path / "own.toml"), None)
    p = person.predictive(["a", "c"]).probabilities
    assert p[0, 2] == 0.0 and p[1].min() > 0.1
    assert person.partial_fit(["c"], [3]).mean[0] > 0 and person.bank.categories == (1, 2, 3)


def test_answers_that_are_no_numbers_are_named_by_their_line(tmp_path, capsys):
    (tmp_path / "answers.csv").write_text("who;a;b\n\nx;1;NA\ny;0;often\n")
    assert run(["calibrate", str(tmp_path / "answers.csv"), "--person", "who", "--out", str(tmp_path / "out")]) == 2
    assert "line 4, column 'b': expected a number (mend it, or leave the column out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('text = "Second?"', "", "line 6: item 2 has no text"),
        ('id = "b"', 'id = "a"', "line 7: two items are called 'a'"),
        ('id = "b"', 'id = b"', "line 7"),
        ("questions = 3", "questions = 0", "line 14: questions must be a whole number"),
        ('id = "b"', 'colour = "b"', "line 7: 'colour' is not known here"),
        ('answers = ["never", "always"]', 'answers = ["never"]', "line 12: answers must be a list of 2 to 10"),
    ],
)
def test_a_wrong_file_names_its_line(tmp_path, old, new, message):
    (tmp_path / "test.toml").write_text(QUESTIONS.replace(old, new))
    with pytest.raises(CommandError, match=message):
        read_questionnaire(tmp_path / "test.toml")


def test_tests_are_simulated_before_anybody_is_asked(tmp_path, capsys):
    rng = np.random.default_rng(0)
    trait, place = rng.standard_normal((200, 1)), np.linspace(-2, 2, 16)
    answers = (rng.random((200, 16)) < 1 / (1 + np.exp(place - trait))).astype(int)
    names = [f"q{k}" for k in range(16)]
    write_csv(tmp_path / "answers.csv", dict(zip(names, answers.T.tolist(), strict=True)))
    out = tmp_path / "run"

    def simulated(*options):
        return run(["calibrate", "--out", str(out), "--resume", "--simulate", *options])

    begin = ["calibrate", str(tmp_path / "answers.csv"), "--model", "rasch", "--out", str(out)]
    assert run([*begin, "--simulate", "--stop", "0.6", "--exposure", "0.5"]) == 0
    told = capsys.readouterr().out
    found = json.loads((out / "simulation.json").read_text())["tests"]
    free, capped = found["no cap"], found["exposure 0.5"]
    assert free["largest exposure"] == 1.0 and capped["largest exposure"] <= 0.5 + 1 / 1000
    assert free["at most"] == 16 and capped["at most"] == 8 and free["questions"] > 8
    assert capped["reach the stop"] < free["reach the stop"] < 1
    assert abs(free["error"] - free["deviation"]) < 0.06 and f"error {free['error']:.2f}" in told
    assert abs(free["reliability"] - (1 - free["error"] ** 2)) < 0.06  # of people whose traits have a variance of 1
    random, form = free["beside random items"], free["beside the best fixed form"]
    assert random["n"] == form["n"] == 1000 and "random items (" in told
    assert len(form["items"]) == round(free["questions"])
    assert random["rival_square_error"] > form["rival_square_error"] > random["square_error"] * 0.98
    low, middle, high = free["along the trait"]
    assert low["people"] + middle["people"] + high["people"] == 1000 and min(low["error"], high["error"]) > 0
    real = json.loads((out / "simulation.json").read_text())["held out"]
    tests = real["tests"]
    assert real["people"] == 200 and list(tests) == ["the adaptive test", "the best fixed form", "random items"]
    assert all(0.3 < one["reliability"] < real["all answers"] + 0.05 for one in tests.values())
    ours = tests["the adaptive test"]
    assert ours["distance"] < tests["random items"]["distance"]
    assert abs(ours["distance"] - ours["expected distance"]) < 0.1
    assert "200 people of answers.csv take it, too, each while the items are learnt from others (5 folds)" in told
    assert not ours["surer than it may be"] and "too sure" not in told
    seen = columns(out / "exposure.csv")
    assert seen["item"] == names
    assert sum(map(float, seen["exposure 0.5"])) == pytest.approx(capped["questions"])
    (out / "simulation.json").unlink()
    begin = (out / "test.toml").read_text()
    assert "deviation = 0.6" in begin and "exposure = 0.5" in begin and read_questionnaire(out / "test.toml").items
    assert simulated("--questions", "4") == 0 and "at most 4 questions, 4.0 on average" in capsys.readouterr().out
    assert read_questionnaire(out / "test.toml").questions == 4  # nobody had changed it
    (out / "test.toml").write_text(begin.replace('text = "q0"', 'text = "Two and two?"'))
    assert simulated("--questions", "3") == 0
    assert read_questionnaire(out / "test.toml").items[0].text == "Two and two?"  # which stays
    capsys.readouterr()
    for options, says in (
        (["--questions", "17"], "at most the number of items, 16"),
        (["--questions", "4", "--exposure", "0.2"], "leaves 3 questions for each, got 4"),
        (["--exposure", "0.01"], "leaves 0 questions"),
        (["--stop", "0"], "--stop must be a deviation > 0"),
        (["--exposure", "2"], "--exposure must be a share in (0, 1]"),
    ):
        assert simulated(*options) == 2
        assert says in capsys.readouterr().err
    assert run(["calibrate", "--out", str(out), "--resume", "--stop", "0.4"]) == 2
    assert "are about --simulate" in capsys.readouterr().err


def test_ask_begins_with_the_first_item_and_shares_contents_out(tmp_path):
    kinds = ["x", "x", "x", "y", "y"]
    items = "".join(f'[[items]]\nid = "q{k}"\ntext = "Q{k}?"\ncontent = "{kind}"\n' for k, kind in enumerate(kinds))
    head = 'title = "T"\nanswers = ["no", "yes"]\nfirst = "q2"\n'
    (tmp_path / "test.toml").write_text(head + items + "[content]\nx = 0.5\ny = 0.5\n[stop]\nquestions = 4\n")
    answering("yes\nno\nyes\nno\n", "ask", tmp_path / "test.toml", "--out", tmp_path / "run")
    asked = columns(tmp_path / "run/answers.csv")["label"]
    assert asked[0] == "q2" and [kinds[int(item[1])] for item in asked] == ["x", "y", "x", "y"]


def calibrated(folder, items, *options):
    """Calibrate 60 people on these items; return the folder."""
    rng = np.random.default_rng(0)
    rows = (rng.standard_normal((60, 1)) + 0.7 * rng.standard_normal((60, len(items))) > [[[-0.7]], [[0.7]]]).sum(0)
    write_csv(folder / "answers.csv", dict(zip(items, rows.T.tolist(), strict=True)))
    out = folder / "bank"
    assert run(["calibrate", str(folder / "answers.csv"), "--model", "graded", "--out", str(out), *options]) == 0
    return out


def test_the_next_line_of_calibrate_runs_as_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    items = ["1", "2", 'say "é"', "q 4", "back"]
    bank = calibrated(tmp_path, items, "--reverse", "back")
    report = json.loads((bank / "report.json").read_text())
    assert 0.3 < report["reliability"] < 1 and [one["people"] for one in report["along the trait"]][1] > 20
    when, line = capsys.readouterr().out.splitlines()[-1].split(": adaptive ")
    assert when == "Next, with your questions in the place of the ids in test.toml"
    asked = read_questionnaire(bank / "test.toml")
    assert [str(item.id) for item in asked.items] == items and asked.items[0].answers == ["0", "1", "2"]
    assert [item.id for item in asked.items if item.reverse] == ["back"] and asked.questions == 3
    (bank / "test.toml").write_text("show_result = true\n" + (bank / "test.toml").read_text())
    monkeypatch.setattr("sys.stdin", io.StringIO("2\n2\n2\n"))
    assert run([*line.split(), "--out", "me"]) == 0
    said, found = capsys.readouterr().out, json.loads((tmp_path / "me/result.json").read_text())
    scale = "0 is the average and 1 the standard deviation of the people whose answers calibrated bank.csv"
    assert f"On this scale {scale}." in said and found["scale"] == scale
    percent = round(100 * NormalDist().cdf(found["traits"]["trait"]["estimate"]))
    place = rf"^trait: [a-z ]+, higher than {percent} of 100 people [(]with 95% probability, than \d+ to \d+[)][.]$"
    assert re.search(place, said, re.M)


def test_people_are_too_few_to_hold_some_out(tmp_path, capsys):
    write_csv(tmp_path / "few.csv", {"a": [0, 1] * 10, "b": [0, 0, 1, 1] * 5, "c": [0, 1, 1, 1] * 5})
    start = ["calibrate", str(tmp_path / "few.csv"), "--model", "rasch", "--out", str(tmp_path / "out")]
    assert run([*start, "--simulate", "--questions", "2"]) == 0
    assert "20 people are too few to hold some of them out; 40 are enough." in capsys.readouterr().out
    assert json.loads((tmp_path / "out/simulation.json").read_text())["held out"] is None


def test_a_form_takes_the_next_item_where_an_answer_is_missing():
    items = Questionnaire.from_parameters([2.0, 1.5, 1.0, 0.5], [0.0] * 4)
    table = pd.DataFrame([[1, 1, 1, 1], [np.nan, 1, 0, 1], [np.nan, np.nan, np.nan, 1]], columns=[0, 1, 2, 3])
    form, places = first_items(items, table, 2)
    assert form == [0, 1] and places.tolist() == [[0, 1], [1, 2], [3, -1]]
    ends = ends_of(items, table, places)
    person = items.respondent().fit([1, 2], [1, 0])
    np.testing.assert_allclose([ends.mean[1], ends.std[1]], [person.mean[0], person.std[0]], rtol=1e-9)
    drawn = random_items(table, [0, 1, 2, 3], 3, np.random.default_rng(0))
    assert sorted(drawn[1].tolist()) == [1, 2, 3] and sorted(drawn[2].tolist()) == [-1, -1, 3]


def test_a_short_form_may_be_asked_for_later(tmp_path, capsys):
    bank = calibrated(tmp_path, ["a", "b", "c"])
    assert run(["calibrate", "--out", str(bank), "--resume", "--short-form", "2"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Short form of 2 items" in said and "points, a root mean square, of a total from 0 to 6" in said


def test_ask_prints_an_example_of_its_file(capsys):
    assert run(["ask", "--example"]) == 0
    said = capsys.readouterr().out
    assert said == EXAMPLE
    assert run(["ask", "--help"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Student's t with 8 degrees of freedom" in told and "Student's t, 8 degrees" in said
    assert "of a bank of 0 to 4 the first word is 0" in told
