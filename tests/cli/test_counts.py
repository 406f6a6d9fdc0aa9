"""``adaptive counts``: what it writes of events and of pairs, how it goes on, what it says to bad input."""

import csv
import json

import numpy as np
import pytest

from adaptive.cli import run
from adaptive.estimators import CoxProcess, PoissonFactorization
from adaptive.files import write_csv


def rows(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.*") if path.name not in ("settings.json", ".lock")}


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("events") / "events.csv"
    write_csv(path, {"year": np.concatenate([rng.uniform(0, 10, 10), rng.uniform(4, 6, 25)])})
    return path


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """Two groups of users and of items; the counts of some pairs are wanted."""
    users, items = np.divmod(np.arange(80), 8)
    count = np.random.default_rng(0).poisson(np.where((users < 5) == (items < 4), 4.0, 0.4))
    path = tmp_path_factory.mktemp("pairs") / "pairs.csv"
    wanted = (users + items) % 9 == 0
    write_csv(path, {"user": [f"u{u}" for u in users], "item": [f"i{i}" for i in items],
                     "count": [None if one else int(c) for one, c in zip(wanted, count, strict=True)]})  # fmt: skip
    return path


def test_events_become_a_rate_and_a_stopped_run_goes_on_to_the_same(events, tmp_path, monkeypatch, capsys):
    asked = ["counts", str(events), "--window", "0:10", "--bins", "20", "--ask", "3"]
    assert run([*asked, "--out", str(tmp_path / "whole")]) == 0
    said = capsys.readouterr().out
    assert "worth counting again" in said and "On 20 counts, each predicted while it was left out" in said
    table, summary = rows(tmp_path / "whole" / "rate.csv"), json.loads((tmp_path / "whole/summary.json").read_text())
    assert len(table) == 20 and summary["events"] == 35 and len(rows(tmp_path / "whole" / "next.csv")) == 3
    rate = {float(row["year"]): float(row["rate"]) for row in table}
    assert rate[4.75] > 2 * rate[1.25] and summary["beside the rival"]["rival"] == "a kernel smoother"
    assert all(float(row["lower"]) <= float(row["rate"]) <= float(row["upper"]) for row in table)

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(CoxProcess, "select", interrupted)  # fitted, nothing chosen yet
        assert run([*asked, "--out", str(tmp_path / "stopped")]) == 130
    assert "continue with: adaptive counts --out" in capsys.readouterr().err
    with monkeypatch.context() as patched:
        patched.setattr(CoxProcess, "fit", interrupted)  # it is not fitted again, nor compared
        assert run(["counts", "--out", str(tmp_path / "stopped"), "--resume"]) == 0
    assert contents(tmp_path / "whole") == contents(tmp_path / "stopped")


def test_pairs_without_a_count_are_predicted_and_ranked(pairs, tmp_path, monkeypatch, capsys):
    asked = ["counts", str(pairs), "--pairs", "--components", "1", "--ask", "2"]
    assert run([*asked, "--out", str(tmp_path / "run")]) == 0
    predicted, chosen = rows(tmp_path / "run" / "predictions.csv"), rows(tmp_path / "run" / "next.csv")
    inside = [float(row["count"]) for row in predicted if (row["user"] < "u5") == (row["item"] < "i4")]
    outside = [float(row["count"]) for row in predicted if (row["user"] < "u5") != (row["item"] < "i4")]
    assert len(inside) + len(outside) == 9 and min(inside) > max(outside)
    open_pairs = {(row["user"], row["item"]) for row in predicted}
    assert len(chosen) == 2 and all((row["user"], row["item"]) in open_pairs for row in chosen)
    said = " ".join(capsys.readouterr().out.split())
    assert "the user's mean times the item's" in said and "The model predicts certainly better" in said
    monkeypatch.setattr(PoissonFactorization, "fit", None)
    assert run(["counts", "--out", str(tmp_path / "run"), "--resume"]) == 0
    assert run(["counts", "--out", str(tmp_path / "run"), "--resume", "--ask", "5"]) == 2
    assert "ask = 2, not 5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "text", "message"),
    [
        (None, "", "name the table of events, or of pairs and their counts: adaptive counts TABLE"),
        ((), "a\n1\n\nx\n", "line 4, column 'a': expected a number or a date, got 'x'"),
        ((), "a\n", "has no rows"),
        (("--place", "b"), "a\n1\n", "has no column 'b'; its columns are 'a'"),
        (("--window", "5:9"), "a\n1\n6\n", "--window of 'a' is 5:9, but events go from 1 to 6"),
        (("--window", "5"), "a\n1\n6\n", "must be a range START:END"),
        (("--rate", "linear"), "a\n1\n6\n", "--rate must be one of rectified, exp, softplus"),
        (("--pairs",), "user;item;count\nx;y;\na;b;1,5\n", "line 3, column 'count': expected a count, got '1,5'"),
        (("--pairs",), "user,item,count\na,b,\nc,d,NA\n", "has no counts in column 'count'"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(options, text, message, tmp_path, capsys):
    path = tmp_path / "table.csv"
    path.write_text(text)
    assert run(["counts", *([] if options is None else [str(path), *options]), "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not (tmp_path / "out" / "settings.json").exists()
