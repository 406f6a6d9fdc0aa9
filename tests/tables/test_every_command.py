"""A table means the same to a command whatever program wrote it: encodings, separators, commas, packing, long cells."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pandas as pd
import pytest

from adaptive.cli import run
from adaptive.cli.classify.table import Table
from adaptive.cli.counts.events_axis import Axis
from adaptive.cli.label.rows import Rows
from adaptive.cli.topics.texts import Texts, Vocabulary

NAME, LONG = "Jürgen", "Jürgen" * 30_000  # beyond the 128 KiB that Python's csv reads as it comes
N = 24
WHO = [[NAME, "Anaïs", "Bob", "Zoë"][k % 4] for k in range(N)]
WHAT = ["abcdef"[(k * k + k // 4) % 6] for k in range(N)]
HALF = [k / 2 for k in range(N)]
BITS = [float((k * k // 3) % 2) for k in range(N)]
PAIRS = {"user": WHO, "item": WHAT}

# command: its columns, its options, and what is given to what computes
COMMANDS = {
    "counts": ({"x": HALF, "who": WHO}, ("counts", "TABLE"), "counts.events_report.write"),
    "counts pairs": (PAIRS | {"count": BITS}, ("counts", "TABLE", "--pairs"), "counts.pairs_report.write"),
    "recommend": (PAIRS | {"took": BITS}, ("recommend", "TABLE", "--shown", "took"), "recommend.report.write"),
    "sequences": (PAIRS | {"at": HALF[::-1]}, ("sequences", "TABLE", "--time", "at"), "sequences.report.write"),
    "topics": (
        {"text": [f"{'wine' if k % 2 else 'motor'} {'oak' if k % 3 else 'wheel'}" for k in range(N)], "who": WHO,
         "year": HALF},
        ("topics", "TABLE", "--metadata", "who", "--time", "year", "--topics", "2"),
        "topics.stream.Stream.learn",
    ),
    "prefer": (
        {"user": WHO, "winner": WHAT, "loser": [f"{one}?" for one in WHAT]}, ("prefer", "TABLE"),
        "prefer.command._run",
    ),
    "prefer items": (
        {"item": ["a", "b", NAME], "strength": [0.5, 1.0, 2.5]}, ("prefer", "COMPARISONS", "--items", "TABLE"),
        "prefer.command._run",
    ),
    "calibrate": (
        {"who": WHO, "a": BITS, "b": BITS[::-1]}, ("calibrate", "TABLE", "--person", "who"), "fitting.fitted",
    ),
    "ask": (
        {"item": [NAME, "x"], "a": [1.5, 0.5], "b": [0.0, 0.5]}, ("ask", "QUESTIONS", "--bank", "TABLE"),
        "ask.command._run",
    ),
    "classify": (
        {"x": HALF, "bit": BITS, "who": WHO}, ("classify", "TABLE", "--target", "who", "--questions", "5"),
        "classify.command._run_all",
    ),
    "label": (
        {"x": HALF, "kind": WHAT, "who": WHO},
        ("label", "TABLE", "--target", "kind", "--ignore", "who", "--classes", "a,b,c,d,e,f"),
        "label.asked_rows.design_of",
    ),
    "serve": (
        {"x": HALF, "who": WHO}, ("serve", "--label", "TABLE", "--classes", "yes,no", "--features", "x"),
        "serve.pools.Rows",
    ),
}  # fmt: skip


def csv_of(frame, **options):
    return frame.to_csv(index=False, **options).encode()


def parquet_of(frame):
    stream = io.BytesIO()
    frame.to_parquet(stream)
    return stream.getvalue()


MAKES = {
    "latin-1": lambda frame: csv_of(frame).decode().encode("latin-1"),
    "UTF-16": lambda frame: csv_of(frame).decode().encode("utf-16"),
    "a mark of UTF-8": lambda frame: csv_of(frame).decode().encode("utf-8-sig"),
    "semicolons": lambda frame: csv_of(frame, sep=";"),
    "tabs": lambda frame: csv_of(frame, sep="\t"),
    "decimal commas": lambda frame: csv_of(frame, sep=";", decimal=","),
    "gzip": lambda frame: gzip.compress(csv_of(frame)),
    "Parquet": parquet_of,
    "a long cell": lambda frame: csv_of(frame.replace(NAME, LONG)),
}


class Seen(Exception):
    """Raised in place of what computes, with what it was given."""


class Fitted:
    def fit(self, table):
        raise Seen(table)


def plain(value):
    """Everything that was read, as one text."""
    if isinstance(value, Rows):
        return plain([value.X, value.y, value.classes])
    if isinstance(value, Axis):
        return plain([value.name, value.values, value.low, value.high])
    if isinstance(value, Table):
        return plain([value.X(np.arange(9)), value.y])
    if hasattr(value, "bank"):
        return plain([list(value.bank.items), value.bank.coordinates])
    if isinstance(value, Texts):
        vocabulary = value.vocabulary(50)
        return plain([vocabulary.words, [plain([one.counts, one.metadata]) for one in value.blocks(vocabulary, 7)]])
    if isinstance(value, pd.DataFrame):
        return plain({name: column.tolist() for name, column in value.items()})
    if hasattr(value, "toarray"):
        return plain(value.toarray())
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, dict):
        return "".join(f"{plain(key)}: {plain(one)}, " for key, one in value.items())
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(plain, value))}]"
    kept = value is None or isinstance(value, str | int | float)
    return str(value).replace(LONG, NAME) if kept else type(value).__name__


def read_by(command, content, folder, monkeypatch, name="table"):
    """What the command gives to what computes, of a table of this content."""
    columns, arguments, target = COMMANDS[command]

    def seen(*given, **_):
        if command == "calibrate":
            given[1](Fitted())  # the fit of the table
        if command == "serve":
            given = given[3:6]  # features, labels and classes
        raise Seen(plain([one for one in given if not isinstance(one, Vocabulary)]))

    path, comparisons, questions = folder / f"{name}.csv", folder / "comparisons.csv", folder / "questions.toml"
    path.write_bytes(content)
    called = LONG if LONG.encode() in content else NAME
    comparisons.write_text(f"user,winner,loser\np,a,b\nq,b,{called}\n")
    items = f'items = [{{id = "{called}", text = "A?"}}, {{id = "x", text = "B?"}}]\n'
    questions.write_text(f'answers = ["no", "yes"]\n{items}')
    known = {"TABLE": str(path), "COMPARISONS": str(comparisons), "QUESTIONS": str(questions)}
    where = () if command == "serve" else ("--out", str(folder / name))
    monkeypatch.setattr(f"adaptive.cli.{target}", seen)
    with pytest.raises(Seen) as caught:
        assert run([known.get(one, one) for one in arguments] + [*where]) == 0
    return plain(caught.value.args[0]).replace(str(path), "TABLE")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_table_of_any_make_is_read_as_the_same(command, tmp_path, monkeypatch):
    frame = pd.DataFrame(COMMANDS[command][0])
    wanted = read_by(command, csv_of(frame), tmp_path, monkeypatch)
    assert "1" in wanted or "a" in wanted
    for number, (make, content) in enumerate(MAKES.items()):
        found = read_by(command, content(frame), tmp_path, monkeypatch, f"other{number}")
        assert found.replace(f"other{number}.csv", "table.csv") == wanted, make


@pytest.mark.parametrize(
    ("command", "column"), [("counts", "x"), ("sequences", "at"), ("topics", "year"), ("prefer items", "strength")]
)
def test_a_column_of_times_may_hold_dates_as_people_write_them(command, column, tmp_path, monkeypatch, capsys):
    frame = pd.DataFrame(COMMANDS[command][0])
    days = pd.Series(pd.date_range("2019-12-20", periods=len(frame), freq="9D"))[::-1].reset_index(drop=True)
    found = {
        form: read_by(
            command, csv_of(frame.assign(**{column: days.dt.strftime(form)})), tmp_path, monkeypatch, f"run{number}"
        )
        for number, form in enumerate(
            ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y-%m-%dT%H:%M:%SZ", "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p")
        )
    }
    assert len(set(found.values())) == 1
    table = found["%Y-%m-%d"].partition("Job")[0]  # behind it the date that days are counted from
    assert "2019-12-20" not in table  # numbers, not words
