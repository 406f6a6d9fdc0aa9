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
    assert "Mean rank of a held-out item (the share of items new to the user that it is ranked above" in said
    assert "worth showing" in said and "odds alone" not in said
    last = next(line for line in said.splitlines() if line.startswith("Of the 3 items listed first for each"))
    assert "each of 16 users, this share were held-out items of that user: model 0." in last and "popularity 0." in last
    assert "+-" in last.split("popularity", 2)[2] and said.index("worth showing") < said.index(last)  # an interval
    summary = json.loads((tmp_path / "whole" / "summary.json").read_text())
    assert summary["held out"] == 16 and summary["users"] == 16
    ranks = rows(tmp_path / "whole" / "ranks.csv")
    assert ranks[0]["users"] == "all" and int(ranks[0]["n_users"]) == 16
    assert float(ranks[0]["model hits"]) == summary["hits among the first 3"]["model"]
    assert float(ranks[0]["model"]) == summary["mean rank"]["model"] > float(ranks[0]["popularity"])
    chosen = rows(tmp_path / "whole" / "items.csv")
    assert [(row["who"], row["rank"]) for row in chosen] == [(who, k) for who in ("u3", "u9") for k in "123"]
    assert all(float(row["lower"]) <= float(row["probability"]) <= float(row["upper"]) for row in chosen)
    seen = {(row["who"], row["what"]) for row in rows(pairs)}
    shown = rows(tmp_path / "whole" / "show.csv")
    assert len(shown) == 4 and not seen & {(row["who"], row["what"]) for row in shown}
    assert len(ranks) == 1 and not (tmp_path / "whole" / "ranks.png").exists()  # all users have as many items

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


def test_of_a_user_at_most_two_pairs_are_worth_showing_and_of_an_item_few_the_best_first(pairs, tmp_path):
    asked = ["recommend", str(pairs), "--user", "who", "--item", "what", "--components", "2", "--show", "20"]
    assert run([*asked, "--out", str(tmp_path / "run")]) == 0
    shown = rows(tmp_path / "run" / "show.csv")
    assert len(shown) == 20 and len({(row["who"], row["what"]) for row in shown}) == 20
    assert max(Counter(row["who"] for row in shown).values()) == 2
    assert max(Counter(row["what"] for row in shown).values()) <= 4  # twice 20 of 12 items
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
    assert "The column plays is not used: who took what ranks items as well as how often." in capsys.readouterr().out
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
    from adaptive.cli import held_out_items

    listed = [(u, i) for u in range(8) for i in range(6) if (u + i) % 4 < 3 - (i > 3)]
    path = tmp_path / "pairs.csv"
    path.write_text("user,item\n" + "".join(f"u{u},i{i}\n" for u, i in listed))

    def placed(one, held, first, **_):
        ahead = 0.1 * (getattr(one, "name", "") == "popularity")
        users, here = np.arange(len(held)), np.linspace(0.4, 0.6, len(held))
        return held_out_items.Placed(here + ahead, users + 2, users, here + ahead)

    monkeypatch.setattr(held_out_items, "placed", placed)
    asked = ["recommend", str(path), "--components", "1", "--items", "1", "--out", str(tmp_path / "run")]
    assert run(asked) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "items.csv lists what most users have: more of it had been held out." in said
    assert (
        "Of the item listed first for each of 8 users, this share were held-out items of that user: model 0.500" in said
    )
    assert "Popularity is certainly better than the model (by 0.100 +- 0.000)" in said
    most = Counter(i for _, i in listed)
    for row in rows(tmp_path / "run" / "items.csv"):
        left = [n for i, n in most.items() if (int(row["user"][1:]), i) not in listed]
        assert most[int(row["item"][1:])] == max(left)


def test_a_rival_that_ranks_better_lists_the_items(tmp_path, capsys):
    # thirty pairs of items that always go together: one component cannot tell them apart, a regression can
    rng = np.random.default_rng(0)
    kinds = [rng.choice(30, 4, replace=False) for _ in range(120)]
    path = tmp_path / "pairs.csv"
    path.write_text("user,item\n" + "".join(f"u{u},i{2 * k + one}\n" for u, of in enumerate(kinds) for k in of
                                            for one in (0, 1)))  # fmt: skip
    asked = ["recommend", str(path), "--components", "1", "--show", "1", "--items", "1"]
    assert run([*asked, "--out", str(tmp_path / "run")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "The item regression is certainly better than popularity (by " in said
    assert "The item regression is certainly better than the model (by " in said
    assert "items.csv lists what a regression of each item on the others ranks highest" in said
    found = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert found["items by"] == "item regression" and found["mean rank"]["item regression"] > 0.95
    for one in found["beside"].values():
        assert -one["difference"] > one["margin"]
    hits = found["hits among the first 1"]
    assert hits["item regression"] - hits["popularity"] == pytest.approx(-found["beside"]["popularity"]["difference"])


def test_where_nobody_has_three_items_it_says_that_nothing_is_known(tmp_path, capsys):
    path = tmp_path / "pairs.csv"
    path.write_text("user,item\n" + "".join(f"u{k},i{(k + j) % 5}\n" for k in range(8) for j in (0, 1)))
    assert run(["recommend", str(path), "--components", "1", "--out", str(tmp_path / "run")]) == 0
    assert "No user has three items, so none was held out" in capsys.readouterr().out
    assert not (tmp_path / "run" / "ranks.csv").exists()
