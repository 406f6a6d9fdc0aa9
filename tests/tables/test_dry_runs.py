"""Nine commands x tables as people have them: each is understood, and said so, or refused in one sentence.

Nothing is computed: ``--dry-run`` reads, checks and says what it has understood.
"""

from __future__ import annotations

import gzip

import pandas as pd
import pytest

from adaptive.cli import run

N = 24
NAME = "Jürgen"
WHO = [[NAME, "Anaïs", "Bob", "Zoë"][k % 4] for k in range(N)]
WHAT = ["abcdef"[(k * k + k // 4) % 6] for k in range(N)]
HALF = [k / 2 for k in range(N)]
BITS = [(k * k // 3) % 2 for k in range(N)]
TEXT = [f"{'wine' if k % 2 else 'motor'} {'oak' if k % 3 else 'wheel'}" for k in range(N)]
# command: its table, its options, the column that may hold dates, and one that may have gaps or must not
COMMANDS = {
    "label": ({"x": HALF, "kind": WHAT}, ("--target", "kind", "--classes", "a,b,c,d,e,f"), "x", ("x", True)),
    "classify": (
        {"x": HALF, "who": WHO}, ("--target", "who", "--questions", "5", "--scorer", "random"), "x", ("x", True),
    ),
    "counts": ({"x": HALF, "who": WHO}, (), "x", ("x", False)),
    "recommend": ({"user": WHO, "item": WHAT, "took": BITS}, ("--shown", "took"), None, ("took", True)),
    "topics": (
        {"text": TEXT, "who": WHO, "year": HALF}, ("--metadata", "who", "--time", "year", "--topics", "2"), "year",
        ("text", True),
    ),
    "prefer": (
        {"user": WHO, "winner": WHAT, "loser": [f"{one}?" for one in WHAT]}, (), None, ("winner", False),
    ),
    "rank": (
        {"left": WHO, "right": [f"{one}?" for one in WHO], "winner": ["left" if bit else "right" for bit in BITS]},
        (), None, ("winner", False),
    ),
    "sequences": ({"user": WHO, "item": WHAT, "at": HALF}, ("--time", "at"), "at", ("item", False)),
    "calibrate": ({"who": WHO, "a": BITS, "b": BITS[::-1], "c": HALF}, ("--person", "who", "--ignore", "c"), None,
                  ("a", True)),
}  # fmt: skip


def csv_of(frame, **options):
    return frame.to_csv(index=False, **options).encode()


SAME = {  # other ways to write the same table
    "Latin-1": lambda frame: csv_of(frame).decode().encode("latin-1"),
    "semicolons": lambda frame: csv_of(frame, sep=";"),
    "gzip": lambda frame: gzip.compress(csv_of(frame)),
    "decimal commas": lambda frame: csv_of(frame, sep=";", decimal=","),
}
DAYS = pd.Series(pd.date_range("2019-12-20", periods=N, freq="9D"))
VECTORS = [f"[{k / 10}, {k % 3}, 0.5]" for k in range(N)]


def dry(command, content, folder, capsys, options=()):
    """The exit code of a dry run, and what it said."""
    path = folder / "table.csv"
    path.write_bytes(content)
    code = run([command, str(path), *COMMANDS[command][1], *options, "--out", str(folder / "out"), "--dry-run"])
    said = capsys.readouterr()
    assert not (folder / "out").exists()
    return code, said.out, said.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_table_is_understood_or_refused_in_one_sentence(command, tmp_path, capsys):
    columns, _, dated, (gappy, allowed) = COMMANDS[command]
    frame = pd.DataFrame(columns)
    code, plain, error = dry(command, csv_of(frame), tmp_path, capsys)
    first, *said = plain.splitlines()
    assert (code, error) == (0, "") and first == f"table.csv: 24 rows and {len(columns)} columns, separated by commas"
    shown = {line.split()[0]: line for line in said if line.startswith("  ")}
    assert list(shown) == list(columns)  # every column, in its order
    assert said[-1].startswith("A dry run: nothing was computed, and nothing was written.")

    for make, content in SAME.items():
        code, told, error = dry(command, content(frame), tmp_path, capsys)
        assert (code, error) == (0, ""), make
        assert told.splitlines()[1:] == said, make

    if dated is not None:
        for form, words in (("%Y-%m-%d", ""), ("%d.%m.%Y", ", read as day.month.year")):
            content = csv_of(frame.assign(**{dated: DAYS.dt.strftime(form)}))
            code, told, error = dry(command, content, tmp_path, capsys)
            assert (code, error) == (0, "")
            assert f"dates from 2019-12-20 to 2020-07-14{words}\n" in told
    else:  # a column of dates that the command has no use for: left alone, or refused by its name
        with_days = csv_of(frame.assign(day=DAYS.dt.strftime("%d.%m.%Y")))
        code, told, error = dry(command, with_days, tmp_path, capsys)
        if command == "calibrate":
            assert code == 2 and error.count("\n") == 1 and "column 'day': expected a number" in error
            code, told, error = dry(command, with_days, tmp_path, capsys, ("--ignore", "day"))
        assert (code, error) == (0, "") and "not used" in next(x for x in told.splitlines() if x[:5] == "  day")

    holes = frame.astype(object)
    holes.loc[3::5, gappy] = None
    code, told, error = dry(command, csv_of(holes), tmp_path, capsys)
    if allowed:
        assert (code, error) == (0, "") and "5 gaps" in told
    else:
        assert code == 2 and error.count("\n") == 1 and "table.csv, line 5" in error and error.endswith(".\n")

    # names of rows and a vector beside them: features only where there are features, never in the way
    ignored = ("--ignore", "id", "--ignore", "vector") if command == "calibrate" else ()
    more = frame.assign(id=range(N), vector=VECTORS)
    code, told, error = dry(command, csv_of(more), tmp_path, capsys, ignored)
    assert (code, error) == (0, "")
    told = {line.split()[0]: line for line in told.splitlines() if line.startswith("  ")}
    of_features = command in ("label", "classify")
    assert ("left out: names of rows" if of_features else "not used") in told["id"]
    assert ("feature: vectors of 3 numbers" if of_features else "not used") in told["vector"]
    if command == "calibrate":  # where it is not left out it is no answer
        code, _, error = dry(command, csv_of(more), tmp_path, capsys)
        assert code == 2 and error.count("\n") == 1 and "column 'vector': expected a number (mend it, or" in error


def test_comparisons_are_found_by_the_names_of_their_columns_and_else_by_order(tmp_path, capsys):
    frame = pd.DataFrame(COMMANDS["prefer"][0])
    _, told, _ = dry(
        "prefer", csv_of(frame[["loser", "user", "winner"]].assign(day=DAYS.astype(str))), tmp_path, capsys
    )
    assert {line.split()[0]: line.split()[1] for line in told.splitlines()[1:5]} == {
        "loser": "loser:", "user": "user:", "winner": "winner:", "day": "not",
    }  # fmt: skip
    four = frame.assign(won=1).set_axis(["x", "y", "z", "won"], axis=1)
    _, told, _ = dry("prefer", csv_of(four), tmp_path, capsys)
    assert "  z    second item:" in told
    code, _, error = dry("prefer", csv_of(four.assign(more=1)), tmp_path, capsys)
    assert code == 2 and error.count("\n") == 1 and "has 5 columns; expected user, winner, loser" in error
