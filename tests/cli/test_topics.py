"""``adaptive topics``: what it writes, how it goes on, what it says to bad input."""

import csv
import json

import numpy as np
import pytest

from adaptive.cli import run
from adaptive.cli.topics import numbers
from adaptive.cli.topics import stream as streams

FILES = ("topics.csv", "groups.csv", "completion.csv", "read_next.csv", "summary.json", "groups-author.png")


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Three authors with words of their own; of the last five documents nobody has the text."""
    rng = np.random.default_rng(0)
    words = [f"{author}{letter}word" for author in "abc" for letter in "abcdefgh"]
    path = tmp_path_factory.mktemp("texts") / "texts.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["year", "text", "author"])
        for number in range(300):
            author = number % 3
            own = rng.choice(8, 12) + 8 * author
            text = "" if number >= 295 else " ".join(words[j] for j in own) + " and the"
            writer.writerow([1900 + number, text, f"author {author}"])
    return path


def contents(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


def arguments(texts, out, *more):
    columns = ["--metadata", "author", "--time", "year", "--topics", "3"]
    return ["topics", str(texts), "--out", str(out), *columns, *more]


def test_it_writes_what_it_says_and_goes_on_to_the_same(texts, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(streams, "BLOCK", 60)
    assert run(arguments(texts, tmp_path / "whole", "--read", "3")) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "worth reading next: lines" in said
    assert "The number of topics was given by --topics 3, and not compared with others." in said
    assert "the same model without metadata" in said and "frequencies of words alone" in said
    found = contents(tmp_path / "whole")
    assert (tmp_path / "whole" / "time-year.png").is_file()
    summary = json.loads(found["summary.json"])
    assert summary["texts"] == 295 and summary["words"] == 24
    assert summary["completion"]["with metadata"] > summary["completion"]["without"]
    assert [one["difference"] < -one["margin"] for one in summary["beside"]] == [True, True]
    lines = [int(row["line"]) for row in csv.DictReader(found["read_next.csv"].decode().splitlines())]
    assert len(lines) == 3 and min(lines) > 296
    learn, learnt = streams.Stream._learn, []

    def stopped(self, block):
        if len(learnt) == 2:
            raise KeyboardInterrupt
        learnt.append(learn(self, block))

    monkeypatch.setattr(streams.Stream, "_learn", stopped)
    assert run(arguments(texts, tmp_path / "stopped", "--read", "3")) == 130
    assert "stopped after 2 blocks; continue with" in capsys.readouterr().err
    monkeypatch.setattr(streams.Stream, "_learn", learn)
    assert run(["topics", "--out", str(tmp_path / "stopped"), "--resume"]) == 0
    for name, content in contents(tmp_path / "stopped").items():
        assert content == found[name], name


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--text", "body"], "has no column 'body'; its columns are 'year', 'text', 'author'"),
        (["--topics", "1"], "--topics must be at least 2"),
        (["--topics", "30"], "24 words that stand in enough texts"),
        (["--time", "author"], "line 2, column 'author': expected a number or a date, got 'author 0'"),
    ],
)
def test_bad_input_is_one_line(texts, tmp_path, capsys, more, words):
    assert run(arguments(texts, tmp_path / "run", *more)) == 2
    message = capsys.readouterr().err
    assert words in message and message.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_what_is_not_named_is_asked_for(tmp_path, capsys):
    (tmp_path / "texts.csv").write_text("text\napple banana\napple cherry\n")  # nothing is known of these
    assert run(["topics", "--out", str(tmp_path / "run")]) == 2
    assert run(["topics", str(tmp_path / "texts.csv"), "--out", str(tmp_path / "run")]) == 2
    message = capsys.readouterr().err
    assert "name the table of texts: adaptive topics TABLE" in message and "--metadata COLUMN" in message


def test_a_short_file_is_compared_by_a_fifth_and_says_where_there_are_no_topics(tmp_path, capsys):
    """Words that no column and no topic tells apart: their frequencies are as much as there is to know."""
    rng = np.random.default_rng(0)
    words = [a + b + "word" for a in "abcdef" for b in "uvwxyz"]
    lines = [f"{' '.join(rng.choice(words, 16))},author {k % 7}" for k in range(400)]
    (tmp_path / "texts.csv").write_text("\n".join(["text,author", *lines]) + "\n")
    out = str(tmp_path / "run")
    assert run(["topics", str(tmp_path / "texts.csv"), "--metadata", "author", "--topics", "6", "--out", out]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "On 80 texts, a fifth of all, which were not learnt" in said
    assert "So few texts show no topics" in said
    assert "Not to be relied on: of 5 models of texts drawn anew" in said
    assert f"Next, to have the number of topics chosen: adaptive topics {tmp_path / 'texts.csv'} --metadata" in said
    assert "--topics" not in said[said.index("Next") :]


@pytest.mark.parametrize(
    ("best", "tried", "chosen"),
    [
        (2, [2, 3, 4], 2),
        (4, [2, 3, 4, 5, 6, 8], 4),
        (5, [2, 3, 4, 5, 6, 8, 12], 5),
        (6, [2, 3, 4, 5, 6, 7, 8, 12], 6),
    ],
)
def test_numbers_next_to_the_chosen_one_are_tried(best, tried, chosen, monkeypatch):
    """Where texts are foretold worse by 0.1 for each topic too many or too few."""
    wiggle = 0.001 * np.arange(30) % 7
    monkeypatch.setattr(numbers, "_completed", lambda number, *_: -0.1 * abs(number - best) + wiggle * number)
    found, rows = numbers.best_number(np.zeros((30, 40)), None, 0)
    assert found == chosen and [row[0] for row in rows] == tried
