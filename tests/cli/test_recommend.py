"""``adaptive recommend``: what it writes, how it goes on, what it says to bad input."""

import csv
import json
from collections import Counter

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
    assert "On 16 pairs, each predicted while it was left out" in said and "a regression of each item" in said
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
        ((), "user,thing\na,b\n", "its columns are 'user', 'thing'. Name the one that holds the item, such as --item "),
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


def test_of_a_user_at_most_two_pairs_are_worth_showing_the_best_first(pairs, tmp_path):
    asked = ["recommend", str(pairs), "--user", "who", "--item", "what", "--components", "2", "--show", "20"]
    assert run([*asked, "--out", str(tmp_path / "run")]) == 0
    shown = rows(tmp_path / "run" / "show.csv")
    assert len(shown) == 20 and len({(row["who"], row["what"]) for row in shown}) == 20
    assert max(Counter(row["who"] for row in shown).values()) == 2
    scores = [float(row["information_gain"]) for row in shown]
    assert scores == sorted(scores, reverse=True)
    asked[asked.index("--show") + 1] = "40"  # of 16 users
    assert run([*asked, "--out", str(tmp_path / "all")]) == 0
    assert len(rows(tmp_path / "all" / "show.csv")) == 32


def test_a_column_of_counts_says_how_often_a_pair_happened(tmp_path, monkeypatch, capsys):
    given = []
    monkeypatch.setattr(
        "adaptive.cli.recommend.report.write", lambda pairs, answers, job: given.append((pairs, answers))
    )
    path = tmp_path / "plays.csv"
    path.write_text("user,item,plays,took\na,x,3,\nb,y,,\nb,z,7,0\n")
    asked = ["recommend", str(path), "--shown", "took"]
    assert run([*asked, "--out", str(tmp_path / "each")]) == 0
    assert "The column plays is not used: with --count plays a line counts so often." in capsys.readouterr().out
    assert run([*asked, "--count", "plays", "--out", str(tmp_path / "run")]) == 0
    assert "not used" not in capsys.readouterr().out
    assert given[0] == ([("a", "x"), ("b", "y"), ("b", "z")], [None, None, 0])
    assert given[1] == ([("a", "x")] * 3 + [("b", "y"), ("b", "z")], [None] * 4 + [0])
    path.write_text("user,item,plays\na,x,1.5\n")
    assert run(["recommend", str(path), "--count", "plays", "--out", str(tmp_path / "no")]) == 2
    assert "line 2, column 'plays': expected a count, got '1.5'" in capsys.readouterr().err
    path.write_text("user,item,plays\na,x,9000000\n")
    assert run(["recommend", str(path), "--count", "plays", "--out", str(tmp_path / "no")]) == 2
    assert "adds up to 9,000,000 pairs, more than 5,000,000" in capsys.readouterr().err


def test_the_items_are_those_of_the_ranking_that_places_held_out_items_best(tmp_path, monkeypatch, capsys):
    from adaptive.cli.recommend import report

    listed = [(u, i) for u in range(8) for i in range(6) if (u + i) % 4 < 3 - (i > 3)]
    path = tmp_path / "pairs.csv"
    path.write_text("user,item\n" + "".join(f"u{u},i{i}\n" for u, i in listed))
    monkeypatch.setattr(report.diagnostics, "mean_rank", lambda one, held, **_: {
        "least": [1, 1], "most": [9, 9], "n_pairs": [len(held)] * 2, "standard_error": [0.1] * 2,
        "mean_rank": [0.6 if getattr(one, "name", "") == "popularity" else 0.5] * 2})  # fmt: skip
    monkeypatch.setattr(report, "beside_rankings", lambda model, rivals, held: (None, rivals[0]))
    asked = ["recommend", str(path), "--components", "1", "--items", "1", "--out", str(tmp_path / "run")]
    assert run(asked) == 0
    assert "items.csv ranks items by popularity; odds and intervals are the model's." in capsys.readouterr().out
    most = Counter(i for _, i in listed)
    for row in rows(tmp_path / "run" / "items.csv"):
        left = [n for i, n in most.items() if (int(row["user"][1:]), i) not in listed]
        assert most[int(row["item"][1:])] == max(left)


def test_a_rival_that_ranks_certainly_better_is_named(tmp_path, capsys):
    # thirty pairs of items that always go together: one component cannot tell them apart, a regression can
    rng = np.random.default_rng(0)
    kinds = [rng.choice(30, 4, replace=False) for _ in range(120)]
    path = tmp_path / "pairs.csv"
    path.write_text("user,item\n" + "".join(f"u{u},i{2 * k + one}\n" for u, of in enumerate(kinds) for k in of
                                            for one in (0, 1)))  # fmt: skip
    assert run(["recommend", str(path), "--components", "1", "--show", "1", "--out", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    assert "Certainly better here: " in said and "Recommend by it" in said
    assert "items.csv ranks items by a regression of each item on the others" in said
    found = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert found["beside the rival"]["difference"] > found["beside the rival"]["margin"]
    assert found["mean rank"]["item regression"] > 0.95
