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
    assert (
        "If you can count again, it tells most where year is: " in said
        and "On 20 counts, each predicted while it was left out" in said
    )
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
    asked = ["counts", str(pairs), "--pairs", "--components", "1", "--ask"]
    assert run([*asked, "6", "--out", str(tmp_path / "six")]) == 0
    said = capsys.readouterr().out
    assert said.split("worth asking for: ")[1].splitlines()[0].count(";") == 4  # five are said, all are in the file
    assert len(rows(tmp_path / "six" / "next.csv")) == 6
    dispersion = json.loads((tmp_path / "six" / "summary.json").read_text())["dispersion"]
    assert ("counts scatter" in said) == (dispersion > 1.0)
    assert run([*asked, "2", "--out", str(tmp_path / "run")]) == 0
    predicted, chosen = rows(tmp_path / "run" / "predictions.csv"), rows(tmp_path / "run" / "next.csv")
    inside = [float(row["count"]) for row in predicted if (row["user"] < "u5") == (row["item"] < "i4")]
    outside = [float(row["count"]) for row in predicted if (row["user"] < "u5") != (row["item"] < "i4")]
    assert len(inside) + len(outside) == 9 and min(inside) > max(outside)
    open_pairs = {(row["user"], row["item"]) for row in predicted}
    assert len(chosen) == 2 and all((row["user"], row["item"]) in open_pairs for row in chosen)
    said = " ".join(capsys.readouterr().out.split())
    assert "the user's mean times the item's" in said and "Certainly better here: the model" in said
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
        (("--window", "5:9"), "a\n1\n6\n", "--window of 'a' is 5 to 9, but events go from 1 to 6"),
        (("--window", "5"), "a\n1\n6\n", "must be a range START:END"),
        (("--rate", "linear"), "a\n1\n6\n", "--rate must be one of auto, rectified, exp, softplus"),
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


@pytest.fixture(scope="module")
def plays(tmp_path_factory):
    """Two groups of users, each with songs of its own; pairs that are not listed were never played."""
    rng = np.random.default_rng(0)
    rows = [(u, i, 1 + rng.poisson(2)) for u in range(16) for i in range(12) if u % 2 == i % 2 and rng.random() < 0.7]
    path = tmp_path_factory.mktemp("plays") / "plays.csv"
    write_csv(path, {"who": [f"u{u}" for u, _, _ in rows], "song": [f"s{i:02d}" for _, i, _ in rows],
                     "n": [int(n) for _, _, n in rows]})  # fmt: skip
    return path


def test_plays_become_recommendations_where_unlisted_pairs_are_zeros(plays, tmp_path, capsys):
    asked = ["counts", str(plays), "--pairs", "--user", "who", "--item", "song", "--count", "n", "--components", "1"]
    asked += ["--zeros", "observed", "--items", "2", "--to", "u1", "--to", "u2"]
    assert run([*asked, "--out", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    assert "pairs predicted" not in said and "worth asking for" not in said  # all is known
    assert "log loss" not in said  # of counts that were left out, and so taught as zeros
    assert not any((tmp_path / "run" / name).exists() for name in ("predictions.csv", "next.csv"))
    assert "predictions.csv" not in said and "Next" not in said
    assert (
        "Of the 2 items listed first for each of 14 users, this share were held-out items of that user: model 0."
        in said
    )
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["mean rank"]["model"] > summary["mean rank"]["popularity"] and summary["beside the rival"] is None
    assert summary["beside"]["popularity"]["n"] == 14
    assert (tmp_path / "run" / "ranks.png").is_file()
    ranks, chosen = rows(tmp_path / "run" / "ranks.csv"), rows(tmp_path / "run" / "items.csv")
    assert ranks[0]["users"] == "all" and float(ranks[0]["model"]) > float(ranks[0]["popularity"])
    known = {(row["who"], row["song"]) for row in rows(plays)}
    assert {row["who"] for row in chosen} == {"u1", "u2"} and len(chosen) <= 4
    assert not known & {(row["who"], row["song"]) for row in chosen}
    first = {row["who"]: row["song"] for row in reversed(chosen)}
    assert all(int(first[who][1:]) % 2 == int(who[1:]) % 2 for who in first)  # what the own group plays
    assert all(float(row["lower"]) <= float(row["expected"]) <= float(row["upper"]) for row in chosen)


def test_where_popularity_ranks_better_its_items_are_listed(tmp_path, monkeypatch, capsys):
    from adaptive.cli import held_out_items

    def placed(one, held, first, **_):
        users, ahead = np.arange(len(held)), 0.1 * (getattr(one, "name", "") == "popularity")
        return held_out_items.Placed(0.5 + ahead + 0.0 * users, users + 2, users, ahead + 0.0 * users)

    monkeypatch.setattr(held_out_items, "placed", placed)
    path = tmp_path / "pairs.csv"
    listed = [(u, i) for u in range(6) for i in range(6) if (u + i) % 6 < 5 - (i == 4)]
    path.write_text("user,item,count\n" + "".join(f"u{u},i{i},1\n" for u, i in listed))
    assert run(["counts", str(path), "--pairs", "--components", "1", "--items", "1", "--out", str(tmp_path / "o")]) == 0
    said = capsys.readouterr().out
    assert "items.csv lists what most users have: more of it had been held out." in said
    assert "If pairs that are not listed never happened, --zeros observed ranks better." in said
    most = {f"i{i}": sum(one == i for _, one in listed) for i in range(6)}
    for row in rows(tmp_path / "o" / "items.csv"):
        left = {i: n for i, n in most.items() if (int(row["user"][1:]), int(i[1:])) not in listed}
        assert most[row["item"]] == max(left.values())


@pytest.mark.parametrize(("name", "cells"), [("censored", "012"), ("status", "01"), ("Event", "01"), ("is_cens", "ab")])
def test_a_column_of_censoring_is_refused_as_this_is_no_survival_analysis(name, cells, tmp_path, capsys):
    path = tmp_path / "surv.csv"
    path.write_text(f"time,{name}\n" + "".join(f"{k},{cells[k % len(cells)]}\n" for k in range(9)))
    asked = ["counts", str(path), "--place", "time", "--out", str(tmp_path / "out")]
    assert run([*asked, "--dry-run"]) == 2
    error = capsys.readouterr().err
    assert f"column '{name}', which looks like censoring" in error and "not about survival times" in error
    assert error.count("\n") == 1
    assert run([*asked, "--dry-run", "--ignore", name]) == 0
    assert "a point process; this is not survival analysis" in capsys.readouterr().out


def test_zeros_are_observed_only_where_no_count_is_empty(pairs, tmp_path, capsys):
    assert run(["counts", str(pairs), "--pairs", "--zeros", "observed", "--out", str(tmp_path / "run")]) == 2
    assert "9 lines of pairs.csv have an empty count: fill them in, or leave --zeros out" in capsys.readouterr().err
    assert run(["counts", str(pairs), "--pairs", "--zeros", "some", "--out", str(tmp_path / "run")]) == 2
    assert "--zeros must be one of missing, observed" in capsys.readouterr().err
