"""``adaptive topics --learnt RUN``: texts that come later get what the run's own texts have, and the run stays."""

import csv
import hashlib
import json

import numpy as np
import pandas as pd
import pytest

from adaptive.cli import run
from adaptive.cli.topics import table
from adaptive.cli.topics.shares import moments
from adaptive.cli.topics.stream import Stream
from adaptive.cli.topics.texts import Texts

HEADER = ["text", "author", "year"]
WORDS = [[f"{theme}{letter}word" for letter in "abcdefghijklmnop"] for theme in "pq"]
COLUMNS = {"both": ["--metadata", "author", "--time", "year"], "time": ["--time", "year"]}


def text_of(rng, chance, n=12):
    return " ".join(WORDS[int(not one)][int(rng.integers(16))] for one in rng.random(n) < chance)


def write(path, rows):
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([HEADER, *rows])
    return path


def rows_of(folder):
    with (folder / "documents.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def contents(folder):
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def old():
    rng = np.random.default_rng(0)
    return [[text_of(rng, 0.8 if k % 2 else 0.3), f"author {k % 2}", str(1900 + k // 10)] for k in range(100)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory, old):
    """Folders of two runs, by author and year and by year alone."""
    folder = tmp_path_factory.mktemp("finished")
    path = write(folder / "texts.csv", old)
    for name, columns in COLUMNS.items():
        assert run(["topics", str(path), *columns, "--topics", "2", "--out", str(folder / name)]) == 0
    return folder


@pytest.mark.parametrize("name", COLUMNS)
def test_texts_of_the_run_given_anew_get_its_shares_and_the_run_stays(name, finished, old, tmp_path, monkeypatch):
    before, places = contents(finished / name), [97, 3, 50, 4]
    path = write(tmp_path / "new.csv", [old[k] for k in places])
    monkeypatch.setattr(table, "BLOCK", 3)
    assert run(["topics", str(path), "--learnt", str(finished / name), "--out", str(tmp_path / "new")]) == 0
    of_run = {row.pop("line"): row for row in rows_of(finished / name)}
    found = rows_of(tmp_path / "new")
    assert [row.pop("line") for row in found] == ["2", "3", "4", "5"]
    assert found == [of_run[str(k + 2)] for k in places]
    assert contents(finished / name) == before


def test_new_texts_get_the_posterior_of_the_model_by_words_and_metadata(finished, tmp_path):
    rng = np.random.default_rng(1)
    new = [[text_of(rng, chance), f"author {k % 2}", "1905"] for k, chance in enumerate((0.0, 0.5, 1.0))]
    path = write(tmp_path / "new.csv", new)
    assert run(["topics", str(path), "--learnt", str(finished / "both"), "--out", str(tmp_path / "new")]) == 0
    texts = Texts(finished / "texts.csv", "text", ["author"], "year")
    vocabulary = texts.vocabulary(5000)
    model = Stream.begun({"topics": 2}, finished / "both").models["with metadata"]
    block = next(Texts(path, "text", ["author"], "year").blocks(vocabulary, 10))
    wanted = moments(model, block.counts, pd.DataFrame(block.metadata))[0]
    found = np.array([[float(row["topic 1"]), float(row["topic 2"])] for row in rows_of(tmp_path / "new")])
    first = int(json.loads((finished / "both/log/learnt.json").read_text())["order"][0])
    np.testing.assert_allclose(found, wanted[:, [first, 1 - first]], atol=1e-6)
    assert abs(found[2, 0] - found[0, 0]) > 0.25  # one has only words of the first theme, the other none


def test_what_the_run_does_not_know_is_said_and_widens_intervals(finished, tmp_path, capsys):
    rng = np.random.default_rng(2)
    text = text_of(rng, 0.5, 4)
    new = [
        [text, "author 1", "1905"], [text, "nobody", "1905"], [text, "author 1", "1899"], [text, "author 1", "1910"],
        ["unheard of words", "author 1", "1905"], ["", "author 1", "1905"],
    ]  # fmt: skip
    path, out = write(tmp_path / "new.csv", new), tmp_path / "new"
    asked = ["topics", str(path), "--learnt", str(finished / "both"), "--out", str(out)]
    assert run([*asked, "--dry-run"]) == 0 and not out.exists()
    dry = capsys.readouterr().out
    assert run(asked) == 0
    said = capsys.readouterr().out
    for words in (
        "5 new texts by the 2 topics of",
        "has no text of author nobody (1 text); this column tells nothing of such texts, and their intervals are",
        "2 texts have a year outside those of",
        ", 1900 to 1909; this column tells nothing",
        "11% of the words, the commonest of English aside, are not among the 32 of",
        "Left out of documents.csv: 1 text without any word of",
        "in line 6.",
        "Left out of documents.csv: 1 line with an empty text.",
    ):
        assert words in said and words in dry, words
    found = rows_of(out)
    assert [row["line"] for row in found] == ["2", "3", "4", "5"]
    width = [float(row["upper 1"]) - float(row["lower 1"]) for row in found]
    assert min(width[1:]) > 1.1 * width[0]
    assert found[2]["topic 1"] == found[3]["topic 1"]  # before the time or after it: as little is known
    summary = json.loads((out / "summary.json").read_text())
    assert summary["texts"] == 4 and summary["left out"] == [6] and summary["texts of times not known"] == 2
    assert summary["groups not known"] == [{"column": "author", "group": "nobody", "texts": 1}]
    before = contents(out)
    assert run(["topics", "--out", str(out), "--resume"]) == 0
    assert contents(out) == before


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--learnt", "FOLDER/nothing"], "--learnt must name the folder of a run of adaptive topics, got"),
        (["--learnt", "FOLDER/both", "--topics", "2"], "--topics is not for new texts, which take"),
        (["--learnt", "FOLDER/both", "--time", "author"], "--time is not for new texts"),
        (["--learnt", "FOLDER/both", "--text", "text"], "line 3, column 'year': expected a number, got '5 May'"),
    ],
)
def test_what_cannot_be_done_is_refused_before_work_starts(finished, tmp_path, capsys, more, words):
    path = write(tmp_path / "new.csv", [["paword", "author 1", "1905"], ["paword", "author 1", "5 May"]])
    more = [one.replace("FOLDER", str(finished)) for one in more]
    assert run(["topics", str(path), *more, "--out", str(tmp_path / "new")]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1 and not (tmp_path / "new").exists()


def test_texts_without_a_known_word_a_run_of_new_texts_and_one_not_ended_are_refused(finished, tmp_path, capsys):
    path, both = write(tmp_path / "new.csv", [["unheard", "author 1", "1905"]]), str(finished / "both")
    assert run(["topics", str(path), "--learnt", both, "--out", str(tmp_path / "new")]) == 2
    assert "no text of new.csv has a word of" in capsys.readouterr().err
    write(path, [["paword", "author 1", "1905"]])
    assert run(["topics", str(path), "--learnt", both, "--out", str(tmp_path / "new")]) == 0
    capsys.readouterr()
    assert run(["topics", str(path), "--learnt", str(tmp_path / "new"), "--out", str(tmp_path / "newer")]) == 2
    assert "took them from" in capsys.readouterr().err
    (tmp_path / "new/settings.json").write_text('{"command": "topics"}')
    assert run(["topics", str(path), "--learnt", str(tmp_path / "new"), "--out", str(tmp_path / "newer")]) == 2
    assert "has not ended, or is one of an earlier version; complete it first with: adaptive" in capsys.readouterr().err


def test_dates_in_another_form_than_the_runs_are_refused(old, tmp_path, capsys):
    for name, rows in (("texts", old), ("new", old[:3])):
        form = "{}-05-31" if name == "texts" else "31.05.{}"
        write(tmp_path / f"{name}.csv", [[text, who, form.format(year)] for text, who, year in rows])
    asked = ["topics", str(tmp_path / "texts.csv"), "--time", "year", "--topics", "2", "--out", str(tmp_path / "run")]
    assert run(asked) == 0
    capsys.readouterr()
    asked = ["topics", str(tmp_path / "new.csv"), "--learnt", str(tmp_path / "run"), "--out", str(tmp_path / "new")]
    assert run(asked) == 2
    assert "line 2, column 'year': expected a date such as 2024-05-31, got '31.05.1900'" in capsys.readouterr().err


def test_a_folder_of_another_table_is_not_offered_to_be_resumed_and_new_texts_are_told_of(finished, tmp_path, capsys):
    path, both = write(tmp_path / "new.csv", [["paword", "author 1", "1905"]]), str(finished / "both")
    assert run(["topics", str(path), *COLUMNS["both"], "--out", both]) == 2
    said = capsys.readouterr().err
    assert "holds a run with table = " in said and "add --resume" not in said and "add --learnt RUN" in said
    assert run(["topics", str(path), "--out", both, "--resume"]) == 2
    assert "add --learnt RUN" in capsys.readouterr().err
    kept = (finished / "texts.csv").read_bytes()
    try:
        (finished / "texts.csv").write_bytes(kept + b"paword,author 1,1905\n")  # the same name, with a text more
        for more in ([], ["--resume"]):
            assert run(["topics", str(finished / "texts.csv"), "--out", both, *more]) == 2
            said = capsys.readouterr().err
            assert "add --resume" not in said and "add --learnt RUN" in said
    finally:
        (finished / "texts.csv").write_bytes(kept)
