"""``adaptive recommend``: what it writes, how it goes on, what it says to bad input."""

import csv
import json

import numpy as np
import pytest

from adaptive.cli import run
from adaptive.estimators import PairedSymbols
from adaptive.files import write_csv


def rows(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.*") if path.name not in ("settings.json", ".lock")}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Two groups, each with its items; some pairs were shown."""
    rng = np.random.default_rng(0)
    users = rng.integers(0, 16, 400)
    items = rng.integers(0, 6, 400) + 6 * (users >= 8)
    path = tmp_path_factory.mktemp("pairs") / "pairs.csv"
    shown = [None] * 380 + [1, 0] * 10
    write_csv(path, {"who": [f"u{u}" for u in users], "what": [f"i{i:02d}" for i in items], "taken": shown})
    return path


def test_pairs_become_ranks_items_and_pairs_to_show_and_a_stopped_run_goes_on(pairs, tmp_path, monkeypatch, capsys):
    asked = ["recommend", str(pairs), "--user", "who", "--item", "what", "--shown", "taken"]
    asked += ["--components", "2", "--items", "3", "--show", "4", "--to", "u3", "--to", "u9"]
    assert run([*asked, "--out", str(tmp_path / "whole")]) == 0
    said = capsys.readouterr().out
    assert "mean rank of a held-out item" in said and "worth showing" in said
    assert "On 16 pairs, each predicted while it was left out" in said and "The model predicts certainly better" in said
    summary = json.loads((tmp_path / "whole" / "summary.json").read_text())
    assert summary["held out"] == 16 and summary["users"] == 16
    ranks = rows(tmp_path / "whole" / "ranks.csv")
    assert ranks[0]["users"] == "all" and int(ranks[0]["n_pairs"]) == 16
    assert float(ranks[0]["model"]) == summary["mean rank"]["model"] > float(ranks[0]["popularity"])
    chosen = rows(tmp_path / "whole" / "items.csv")
    assert {row["who"] for row in chosen} == {"u3", "u9"}
    assert all(float(row["lower"]) <= float(row["odds"]) <= float(row["upper"]) for row in chosen)
    seen = {(row["who"], row["what"]) for row in rows(pairs)}
    shown = rows(tmp_path / "whole" / "show.csv")
    assert len(shown) == 4 and not seen & {(row["who"], row["what"]) for row in shown}
    assert (tmp_path / "whole" / "ranks.png").is_file()

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(PairedSymbols, "recommend", interrupted)  # fitted twice, nothing recommended yet
        assert run([*asked, "--out", str(tmp_path / "stopped")]) == 130
    assert "continue with: adaptive recommend --out" in capsys.readouterr().err
    with monkeypatch.context() as patched:
        patched.setattr(PairedSymbols, "fit", interrupted)  # it is not fitted again
        assert run(["recommend", "--out", str(tmp_path / "stopped"), "--resume"]) == 0
    assert contents(tmp_path / "whole") == contents(tmp_path / "stopped")
    assert run(["recommend", "--out", str(tmp_path / "stopped"), "--resume", "--show", "9"]) == 2
    assert "show = 4, not 9" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "text", "message"),
    [
        (None, "", "name the table of pairs: adaptive recommend TABLE"),
        ((), "user,item\n", "has no rows; expected a line of column names"),
        ((), "user,thing\na,b\n", "has no column 'item'; its columns are 'user', 'thing'"),
        ((), "user,item\na,\n", "line 2, column 'item': expected an id, got ''"),
        (("--shown", "y"), "user,item,y\na,b,2\n", "line 2, column 'y': expected 1, 0 or nothing, got '2'"),
        (("--to", "c"), "user,item\na,b\n", "--to names 'c', which is no user of table.csv"),
        (("--scorer", "best"), "user,item\na,b\n", "--scorer must be one of information_gain, thompson"),
        (("--ratio", "-1"), "user,item\na,b\n", "--ratio must be a number from 0 on, got -1"),
    ],
)
def test_bad_input_is_one_line(options, text, message, tmp_path, capsys):
    path = tmp_path / "table.csv"
    path.write_text(text)
    assert run(["recommend", *([] if options is None else [str(path), *options]), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not (tmp_path / "out" / "settings.json").exists()
