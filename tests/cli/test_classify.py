"""``adaptive classify`` as a process: what it writes, how it resumes after a kill, what it says to bad input."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from adaptive.cli import run
from tests.cli.processes import (
    assert_same_files,
    columns,
    finish,
    interrupt_after,
    kill_after,
    logs,
    n_told,
    on_a_terminal,
)

FILES = ("questions.csv", "curve.csv", "curve.png", "summary.json")
THREE = ("--scorer", "information_gain", "--scorer", "uncertainty", "--scorer", "random")
QUICK = ("--questions", "8", "--seeds", "2", "--exploration", "0", *THREE)


@pytest.fixture
def adaptive(capfd):
    """Run the command to its end, here: a process of its own is kept for what needs one."""

    def call(*arguments):
        code = run(["classify", "--jobs", "1", *map(str, arguments)])
        return (code, *capfd.readouterr())

    return call


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A CSV file of two overlapping classes, with a column of row names."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)) * [1.0, 100.0, 0.01]
    y = np.where(X[:, 0] + X[:, 1] / 100 + 0.3 * rng.normal(size=90) > 0, "yes", "no")
    path = tmp_path_factory.mktemp("data") / "table.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["name", "a", "b", "constant", "c", "answer"])
        writer.writerows([f"row {k}", *X[k, :2], 7, X[k, 2], y[k]] for k in range(90))
    return path


@pytest.fixture(scope="module")
def finished(table, tmp_path_factory):
    """An uninterrupted run on that table, by one process."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    options = (table, "--target", "answer", "--ignore", "name", "--out", out, "--jobs", 1, *QUICK)
    found = finish("classify", *options)
    assert found.returncode == 0, found.stderr
    return out, found


def test_every_question_and_answer_is_written(finished, table):
    out, found = finished
    questions = columns(out / "questions.csv")
    assert list(questions) == ["seed", "scorer", "step", "position", "label", "outcome", "score"]
    assert len(questions["seed"]) == 2 * 3 * 8
    answers = columns(table)["answer"]
    assert questions["outcome"] == [answers[int(row)] for row in questions["label"]]
    for seed in "01":  # the first questions are drawn, the same for every scorer; nothing is asked twice
        asked = {}
        for scorer in ("information_gain", "uncertainty", "random"):
            rows = [k for k in range(48) if questions["seed"][k] == seed and questions["scorer"][k] == scorer]
            assert [questions["step"][k] for k in rows] == [str(k) for k in range(1, 9)]
            assert [questions["score"][k] == "" for k in rows] == [True] * 2 + [False] * 6
            asked[scorer] = [questions["label"][k] for k in rows]
            assert len(set(asked[scorer])) == 8
        assert asked["information_gain"][:2] == asked["uncertainty"][:2] == asked["random"][:2]


def test_curve_and_summary_agree_with_each_other_and_with_the_table(finished):
    out, found = finished
    curve = columns(out / "curve.csv")
    assert list(curve) == ["scorer", "n_labelled", "mean", "lower", "upper"] and len(curve["mean"]) == 3 * 8
    for low, middle, high in zip(curve["lower"], curve["mean"], curve["upper"], strict=True):
        assert 0 <= float(low) <= float(middle) <= float(high) <= 1
    summary = json.loads((out / "summary.json").read_text())
    assert summary["classes"] == {"no": 50, "yes": 40} and summary["rows"] == {"asked": 63, "held out": 27}
    assert summary["scorers"]["uncertainty"]["accuracy_at_end"]["mean"] == pytest.approx(float(curve["mean"][15]))
    assert f"{100 * float(curve['mean'][23]):.1f}%" in found.stdout and "table.csv, answer" in found.stdout
    assert (out / "curve.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(list((out / "log").glob("*.jsonl"))) == 6


def test_nothing_is_shown_on_stderr_where_it_is_no_terminal(finished):
    assert finished[1].stderr == ""


def test_progress_is_shown_on_a_terminal(tmp_path):
    options = ("--out", tmp_path / "run", "--questions", 3, "--seeds", 1, "--jobs", 1)
    code, _, shown = on_a_terminal("classify", *options)
    assert code == 0 and b"asking for labels" in shown and b"3/3" in shown


def test_a_killed_run_resumes_to_the_same_bytes(finished, table, tmp_path):
    """Killed twice, once with workers; what was answered before is not asked again. A process each, as for a user."""
    whole, _ = finished
    out = tmp_path / "killed"
    start = (table, "--target", "answer", "--ignore", "name", "--out", out, "--jobs", 2, *QUICK)
    resume = ("--out", out, "--resume", "--jobs", 1)
    for wanted, arguments in ((1, start), (17, resume)):
        assert wanted <= kill_after(wanted, out, "classify", *arguments) < 48
    before = logs(out)
    found = finish("classify", *resume)
    assert found.returncode == 0, found.stderr
    assert_same_files(out, whole, FILES)
    after = logs(out)
    assert all(after[name].startswith(text[: text.rfind(b"\n") + 1]) for name, text in before.items())
    assert n_told(out) == 48
    assert finish("classify", *resume).returncode == 0
    assert logs(out) == after
    assert_same_files(out, whole, FILES)


def test_ctrl_c_says_how_to_go_on(tmp_path):
    out = tmp_path / "run"
    code, stdout, stderr = interrupt_after(5, out, "classify", "--out", out, "--jobs", 2)
    assert code == 130 and stdout == ""
    assert stderr.startswith("adaptive: stopped after ") and stderr.count("\n") == 1
    assert f"of 900 answers; continue with: adaptive classify --out {out} --resume" in stderr


def test_three_classes_and_as_many_initial_questions(tmp_path, adaptive):
    path, out = tmp_path / "three.csv", tmp_path / "run"
    rng = np.random.default_rng(1)
    kinds = rng.permutation(np.repeat(["oak", "elm", "ash"], 14))
    rows = rng.normal(size=(42, 2)) + 5.0 * np.stack([kinds == "oak", kinds == "elm"], axis=1)
    path.write_text("x,y,tree\n" + "".join(f"{a},{b},{kind}\n" for (a, b), kind in zip(rows, kinds, strict=True)))
    code, stdout, stderr = adaptive(path, "--target", "tree", "--out", out, "--seeds", 1, "--questions", 9, *THREE)
    assert code == 0, stderr
    asked = columns(out / "questions.csv")
    assert set(asked["outcome"]) == {"oak", "elm", "ash"}
    drawn = {scorer: asked["label"][k : k + 3] for k, scorer in enumerate(asked["scorer"]) if k % 9 == 0}
    assert len({tuple(first) for first in drawn.values()}) == 1 and set(drawn) == {
        "information_gain",
        "uncertainty",
        "random",
    }
    accuracy = json.loads((out / "summary.json").read_text())["scorers"]["information_gain"]["accuracy_at_end"]
    assert accuracy["mean"] > 0.8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.csv", "--target", "y"], "there is no file"),
        (["TABLE"], "needs --target COLUMN"),
        (["TABLE", "--target", "reply"], "has no column 'reply'; its columns are 'name', 'a'"),
        (["TABLE", "--target", "name", "--ignore", "answer"], "(one of 90 classes) has 1 row; at least 4"),
        (["TABLE", "--target", "answer", "--ignore", "name", "--questions", "64"], "more than the 63 rows"),
        (["--target", "answer"], "name it: adaptive classify TABLE"),
        (["--questions", "0"], "--questions must be at least 1, got 0."),
        (["--questions", "many"], "Invalid value for '--questions'"),
        (["--initial", "61"], "--initial 61 is more than --questions 60"),
        (["--scorer", "informaton_gain"], "Did you mean 'information_gain'"),
        (["--scorer", "expected_error_reduction"], "target"),
        (["--out", "TABLE"], "is a file; --out expects a folder"),
        (["--out", "FINISHED"], "holds a run already; add --resume to continue it"),
        (["--out", "EMPTY", "--resume"], "there is no run to resume in"),
        (["--out", "FINISHED", "--resume", "--questions", "9"], "has questions = 8, not 9"),
        (["--out", "FINISHED", "--resume", "--seed", "1"], "has seed = 0, not 1"),
        (["--outt", "x"], "No such option: --outt"),
        (["TABLE", "extra"], "unexpected extra argument"),
    ],
)
def test_bad_input_ends_in_one_line_and_exit_code_2(arguments, message, table, finished, tmp_path, adaptive):
    known = {"TABLE": str(table), "FINISHED": str(finished[0]), "EMPTY": str(tmp_path / "empty")}
    arguments = [known.get(one, one) for one in arguments]
    if "--out" not in arguments:
        arguments += ["--out", str(tmp_path / "run")]
    code, stdout, stderr = adaptive(*arguments)
    assert code == 2 and stdout == "" and stderr.startswith("adaptive: ") and stderr.count("\n") == 1
    assert message in stderr


def test_a_changed_file_and_a_damaged_log_are_not_resumed(table, tmp_path, adaptive):
    copy, out = tmp_path / "copy.csv", tmp_path / "run"
    copy.write_bytes(table.read_bytes())
    options = (copy, "--target", "answer", "--ignore", "name", "--out", out)
    assert adaptive(*options, "--questions", 3, "--seeds", 1, "--scorer", "random")[0] == 0
    copy.write_text(copy.read_text().replace(",yes\n", ",no\n", 1))
    code, _, stderr = adaptive("--out", out, "--resume")
    assert code == 2 and "the rows of copy.csv, answer are not those that the run in" in stderr
    copy.write_bytes(table.read_bytes())
    log = out / "log/random-seed0.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"event":"tell"', b'"event":"telt"', 1))
    code, _, stderr = adaptive("--out", out, "--resume")
    assert code == 2 and "random-seed0.jsonl" in stderr and stderr.count("\n") == 1


def test_an_unwritable_folder_is_named(tmp_path, adaptive):
    (tmp_path / "file").write_text("")
    code, _, stderr = adaptive("--out", tmp_path / "file/run")
    assert code == 2 and "cannot be written" in stderr and stderr.count("\n") == 1


def test_a_full_disk_is_named_and_leaves_a_run_that_resumes(finished, table, tmp_path):
    whole, _ = finished
    options = (table, "--target", "answer", "--ignore", "name", "--out", tmp_path / "run", *QUICK)
    found = finish("classify", "--jobs", 1, *options, full_after=60)
    assert found.returncode == 1 and "No space left on device" in found.stderr and "--resume" in found.stderr
    assert found.stderr.count("\n") == 1
    assert finish("classify", "--jobs", 1, "--out", tmp_path / "run", "--resume").returncode == 0
    assert_same_files(tmp_path / "run", whole, FILES)


def test_extreme_units_change_nothing(table, tmp_path, adaptive):
    """Features of any size are standardised: 1e300 times as large, the same questions are asked."""
    with table.open(newline="") as stream:
        rows = list(csv.reader(stream))
    scaled = tmp_path / "scaled.csv"
    with scaled.open("w", newline="") as stream:
        csv.writer(stream).writerows(
            [rows[0], *([*row[:2], repr(float(row[2]) * 1e300), *row[3:]] for row in rows[1:])]
        )
    asked = []
    for number, path in enumerate((table, scaled)):
        out = tmp_path / f"run{number}"
        options = ("--target", "answer", "--ignore", "name", "--questions", 6, "--seeds", 1, "--scorer", "uncertainty")
        assert adaptive(path, "--out", out, *options)[0] == 0
        asked.append(columns(out / "questions.csv")["label"])
    assert asked[0] == asked[1]
