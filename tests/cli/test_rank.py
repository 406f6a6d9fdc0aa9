"""``adaptive rank``: a table, a command, a person and a file asked; killed and gone on; what is wrong is said."""

import io
import json
import re
import sys
from copy import deepcopy

import numpy as np
import pytest

from adaptive import BradleyTerry, cli
from adaptive.cli.rank.choice_words import in_words
from adaptive.cli.rank.further import expected, further
from adaptive.cli.rank.model import chosen
from adaptive.cli.rank.tables import Known
from tests.cli.processes import assert_same_files, columns, finish, kill_after

NAMES = ["ale", "beer", "cider", "mead"]
JUDGE = """
import sys
from copy import deepcopy
left, right = sys.stdin.read().splitlines()
with open({asked!r}, "a") as stream:
    stream.write(left + " " + right + "\\n")
print("I have thought about it.")
print(max(left, right))
"""


@pytest.fixture
def tables(tmp_path):
    """Names; comparisons in the words of an arena; a command that likes later names, and notes what it is asked."""
    (tmp_path / "names.csv").write_text("\n".join(["name", *NAMES]) + "\n")
    lines = ["judge,model_a,model_b,winner", "x,ale,beer,model_b", "y,mead,ale,model_a", "x,cider,mead,tie",
             "y,beer,mead,mead", "x,ale,cider,b"]  # fmt: skip
    (tmp_path / "games.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "judge.py").write_text(JUDGE.format(asked=str(tmp_path / "asked")))
    return tmp_path


def asking(tables, out, *more):
    command = f"{sys.executable} {tables / 'judge.py'}"
    return ["rank", tables / "names.csv", "--ask", command, "--best", "2", "--comparisons", "4", "--out", out, *more]


def test_a_table_is_ranked(tables, capsys):
    out = tables / "run"
    assert cli.run(["rank", str(tables / "games.csv"), "--best", "2", "--out", str(out)]) == 0
    ranking, ranks, following = (columns(out / f"{name}.csv") for name in ("ranking", "ranks", "next"))
    assert ranking["item"][0] == "mead" and ranking["item"][-1] == "ale" and (out / "ranking.png").is_file()
    assert sum(map(float, ranking["among_best_2"])) == pytest.approx(2.0)
    assert sum(map(float, ranks["1"])) == pytest.approx(1.0) and ranks["item"] == ranking["item"]
    assert sum(map(int, following["times"])) == 7  # a short table's judges are asked by name, and nobody twice the same
    assert len(set(map(frozenset, zip(following["left"], following["right"], strict=True)))) == len(following["left"])
    summary = json.loads((out / "summary.json").read_text())
    assert summary["comparisons"] == 5 and summary["order"][0] == "mead" and 0 < summary["probability"] < 1
    assert summary["probability"] < summary["probability_set"] < 1 and "mead" in summary["best_set"]
    assert summary["learnt"] == {"ties": True, "sides": False, "judges": False}  # ties: for the table has one
    assert 0 < summary["further_comparisons"]["half"] < summary["further_comparisons"]["most"]
    said = capsys.readouterr().out
    assert (
        "the best 2: mead" in said
        and "; in this order 0." in said
        and "the answers of the 2 judges count alike" in said
    )
    assert "Whether tastes differ is tested by adaptive prefer, on a table with columns user, winner and loser." in said
    assert "further comparisons, or with bad luck" in said and "--answers pairs.csv" in said
    assert cli.run(["rank", str(tables / "games.csv"), "--judges", "--out", str(tables / "judged")]) == 0
    assert columns(tables / "judged/judges.csv")["comparisons"] == ["3", "2"]
    assert set("; ".join(columns(tables / "judged/next.csv")["judges"]).split("; ")) == {"x", "y"}


@pytest.fixture(scope="module")
def drinks(tmp_path_factory):
    """Forty comparisons by ten people, of whom none errs more than another."""
    rng, path = np.random.default_rng(0), tmp_path_factory.mktemp("drinks") / "drinks.csv"
    strength = dict(zip(NAMES, (0.0, 0.1, 0.2, 0.9), strict=True))
    lines = ["person,winner,loser"]
    for k in range(40):
        a, b = rng.choice(NAMES, 2, replace=False)
        a, b = (a, b) if strength[a] - strength[b] + rng.logistic() > 0 else (b, a)
        lines.append(f"p{k % 10},{a},{b}")
    path.write_text("\n".join(lines) + "\n")
    return path


def listed(path):
    found = columns(path)
    times = map(int, found["times"]) if "times" in found else [1] * len(found["left"])
    pairs = [frozenset(pair) for pair in zip(found["left"], found["right"], strict=True)]
    return sorted(sorted(pair) for pair, n in zip(pairs, times, strict=True) for _ in range(n))


@pytest.mark.parametrize("options", [("--best", "2", "--batch", "24"), ("--best", "2", "--any-order"), ("--named",)])
def test_the_list_to_buy_is_the_one_that_the_next_line_writes(drinks, options, tmp_path, capsys):
    assert cli.run(["rank", str(drinks), *options, "--out", str(tmp_path / "run")]) == 0
    answers = ["--answers", str(tmp_path / "pairs.csv"), "--out", str(tmp_path / "panel")]
    assert cli.run(["rank", str(drinks), *options, *answers]) == 0
    bought = listed(tmp_path / "run/next.csv")
    assert bought == listed(tmp_path / "pairs.csv") and len(bought) == (24 if "--batch" in options else 10)
    if "--batch" in options:  # as often as it is worth it: there is no limit for a pair
        assert max(map(int, columns(tmp_path / "run/next.csv")["times"])) > 4


def test_of_a_short_table_the_list_to_buy_is_the_same_too(tables):
    games = ["rank", str(tables / "games.csv"), "--best", "1"]
    assert cli.run([*games, "--out", str(tables / "run")]) == 0
    assert cli.run([*games, "--answers", str(tables / "pairs.csv"), "--out", str(tables / "panel")]) == 0
    assert listed(tables / "run/next.csv") == listed(tables / "pairs.csv")


def test_who_the_best_are_is_known_before_their_order(drinks, tmp_path, capsys):
    summaries = []
    for k, more in enumerate([(), ("--any-order",)]):
        out = tmp_path / f"{k}"
        assert cli.run(["rank", str(drinks), "--best", "2", "--sure", "0.8", *more, "--out", str(out)]) == 0
        summaries.append(json.loads((out / "summary.json").read_text()))
    for name in ("order", "probability", "best_set", "probability_set"):
        assert summaries[0][name] == summaries[1][name]
    half = [one["further_comparisons"]["half"] for one in summaries]
    assert half[1] < half[0]
    said = capsys.readouterr().out
    assert "To be sure of this order (0.8)" in said and "To be sure of who they are (0.8)" in said
    sure = f"{0.5 * (summaries[0]['probability'] + summaries[0]['probability_set'])}"
    stop = ["rank", str(drinks), "--best", "2", "--sure", sure, "--answers", str(tmp_path / "pairs.csv")]
    assert cli.run([*stop, "--any-order", "--out", str(tmp_path / "set")]) == 0
    assert (tmp_path / "pairs.csv").read_text() == "number,left,right,winner\n"  # it is known, and nothing is asked
    assert "who the best 2 are is known with probability" in capsys.readouterr().out
    assert cli.run([*stop, "--out", str(tmp_path / "order")]) == 0
    assert len(columns(tmp_path / "pairs.csv")["left"]) == 10


def test_people_are_named_without_learning_their_skills(drinks, tmp_path, capsys):
    file = tmp_path / "pairs.csv"
    run = ["rank", str(drinks), "--named", "--no-judges", "--batch", "5", "--answers", str(file)]
    assert cli.run([*run, "--out", str(tmp_path / "run")]) == 0
    file.write_text(file.read_text().replace(",\n", ",left\n"))
    assert cli.run(["rank", "--resume", "--answers", str(file), "--out", str(tmp_path / "run")]) == 0
    asked, table = columns(file), columns(drinks)
    told = [(frozenset(pair), who) for *pair, who in zip(asked["left"], asked["right"], asked["judge"], strict=True)]
    known = {
        (frozenset(pair), who)
        for *pair, who in zip(table["winner"], table["loser"], table["person"], strict=True)
    }  # fmt: skip
    assert len(told) == len(set(told)) == 10 and not set(told) & known
    assert max(asked["judge"].count(f"p{k}") for k in range(10)) <= 2 and not (tmp_path / "run/judges.csv").exists()
    plain = ["rank", str(drinks), "--no-judges", "--out", str(tmp_path / "plain")]
    named = ["rank", str(drinks), "--no-judges", "--judge", "x", "--judge", "y", "--out", str(tmp_path / "named")]
    assert cli.run(plain) == cli.run(named) == 0
    assert_same_files(tmp_path / "plain", tmp_path / "named", ["ranking.csv", "ranks.csv"])
    assert "judges" not in columns(tmp_path / "plain/next.csv")
    assert set("; ".join(columns(tmp_path / "named/next.csv")["judges"]).split("; ")) == {"x", "y"}


def test_winners_and_losers_have_no_side(tables, capsys):
    games = [f"{judge},{winner},{loser}" for judge in "xyzuvw" for winner, loser in (("mead", "ale"), ("beer", "ale"))]
    (tables / "won.csv").write_text("\n".join(["person,winner,loser", *games]) + "\n")
    assert cli.run(["rank", str(tables / "won.csv"), "--out", str(tables / "run")]) == 0
    said = capsys.readouterr().out
    assert "the order of all: " in said and ", ale (probability" in said and "is favoured" not in said
    assert "(column person) count alike" in said and "With judges who err, the best would be" in said
    assert f"Whether tastes differ is tested by: adaptive prefer {tables / 'won.csv'}" in said
    assert "an advantage of one side (the table does not say who was shown first)" in said


def test_a_killed_run_asks_nothing_twice_and_ends_where_an_unbroken_one_does(tables):
    whole, broken = tables / "whole", tables / "broken"
    finish(*asking(tables, whole))
    asked = (tables / "asked").read_text().splitlines()
    (tables / "asked").unlink()
    told = kill_after(1, broken, *asking(tables, broken))
    assert 1 <= told < 4
    finish("rank", "--resume", "--out", broken)
    again = (tables / "asked").read_text().splitlines()
    assert_same_files(broken, whole, ["answers.csv", "ranking.csv", "ranks.csv"])
    kept = [one for k, one in enumerate(again) if k == 0 or k != told + 1 or one != again[k - 1]]
    assert kept == asked  # but for the one whose answer was under way: asked again, for it was never told


def test_a_person_and_a_file_are_asked(tables, monkeypatch, capsys):
    out = tables / "person"
    monkeypatch.setattr("sys.stdin", io.StringIO("1\ntie\nq\n"))
    names = str(tables / "names.csv")
    assert cli.run(["rank", names, "--here", "--best", "1", "--out", str(out)]) == 130
    answers = columns(out / "answers.csv")
    assert answers["winner"] == [answers["left"][0], "tie"]
    monkeypatch.setattr("sys.stdin", io.StringIO("2\n"))
    assert cli.run(["rank", "--resume", "--here", "--comparisons", "3", "--out", str(out)]) == 0
    assert "less than --sure 0.9" in capsys.readouterr().out

    out, file = tables / "file", tables / "pairs.csv"
    assert cli.run(["rank", names, "--answers", str(file), "--batch", "2", "--out", str(out)]) == 0
    asked = columns(file)
    assert asked["winner"] == ["", ""] and asked["number"] == ["0", "1"]
    file.write_text(file.read_text().replace(",\n", ",left\n", 1))
    assert cli.run(["rank", "--resume", "--answers", str(file), "--out", str(out)]) == 0
    assert columns(file)["winner"] == ["left", "", ""]  # what was answered stays, one more is asked
    assert columns(out / "answers.csv")["winner"] == [asked["left"][0]]
    assert cli.run(["rank", "--resume", "--answers", str(file), "--out", str(out)]) == 0
    assert "0 answers learnt, 2 comparisons wait" in capsys.readouterr().out


def test_people_are_asked_by_a_file_and_nobody_twice_the_same(tables, capsys):
    games, file, out = str(tables / "games.csv"), tables / "pairs.csv", tables / "people"
    run = ["rank", games, "--judges", "--answers", str(file), "--batch", "4", "--out", str(out)]
    assert cli.run(run) == 0
    asked = columns(file)
    known = {("ale", "beer", "x"), ("ale", "mead", "y"), ("cider", "mead", "x"), ("beer", "mead", "y"),
             ("ale", "cider", "x")}  # fmt: skip
    told = {(*sorted(pair), who) for *pair, who in zip(asked["left"], asked["right"], asked["judge"], strict=True)}
    assert len(told) == 4 and not told & known and set(asked["judge"]) <= {"x", "y"}
    file.write_text(file.read_text().replace(",\n", ",right\n", 2))
    assert cli.run(["rank", "--resume", "--answers", str(file), "--out", str(out)]) == 0
    again = columns(file)
    every = [(*sorted(pair), who) for *pair, who in zip(again["left"], again["right"], again["judge"], strict=True)]
    assert len(every) == len(set(every)) == 6 and "2 answers learnt, 4 comparisons wait" in capsys.readouterr().out
    file.write_text(file.read_text().replace(f"{again['left'][4]},{again['right'][4]},x", "mead,mead,x", 1)
                    .replace(f"{again['left'][4]},{again['right'][4]},y", "mead,mead,y", 1)
                    .replace(",\n", ",left\n"))  # fmt: skip
    assert cli.run(["rank", "--resume", "--answers", str(file), "--out", str(out)]) == 2
    assert "number 4 is" in capsys.readouterr().err
    named = ["rank", games, "--answers", str(tables / "b.csv"), "--judge", "y", "--judge", "z", "--batch", "2"]
    assert cli.run([*named, "--out", str(tables / "named")]) == 0
    assert set(columns(tables / "b.csv")["judge"]) <= {"y", "z"}


@pytest.mark.parametrize(("opposite", "taken"), [(0, False), (2, True)])
def test_judges_who_err_are_learnt_where_the_table_shows_them(opposite, taken):
    rng = np.random.default_rng(0)
    pairs, judges = rng.permuted(np.tile(np.arange(6), (240, 1)), axis=1)[:, :2], rng.integers(6, size=240)
    rows = [(f"i{a}", f"i{b}", f"j{judge}") for (a, b), judge in zip(pairs, judges, strict=True)]
    won = np.where(pairs[:, 0] - pairs[:, 1] + rng.logistic(size=240) > 0, 1, -1) * np.where(judges < opposite, -1, 1)
    known = Known([f"i{k}" for k in range(6)], rows, won, True)
    free = {"ties": None, "position_bias": None, "judges": None, "judge": []}
    choice = chosen(known, None, free, False)
    assert (choice.judges, choice.ties) == (taken, False) and (choice.gain > 0) == taken
    assert choice.other[0] == ["i5"] and "the best would be i5 too" in in_words(choice, known, ["i5"], "games.csv")
    two = chosen(known, None, free | {"best": 2}, False)
    assert len(two.other[0]) == 2 and "the best 2 would be i5, i4 too" in in_words(
        two, known, ["i4", "i5"], "games.csv"
    )
    assert chosen(known, None, free | {"judges": not taken}, False).judges is not taken
    lean = np.where(rng.random(240) < 0.7, 1, won)
    assert chosen(Known(known.names, rows, lean, True), None, free, False).sides
    assert not chosen(Known(known.names, rows, lean, True, sided=False), None, free, False).sides


def test_a_side_that_is_favoured_wins_more_than_half(tmp_path, capsys):
    rng = np.random.default_rng(0)
    pairs = rng.permuted(np.tile(np.arange(4), (160, 1)), axis=1)[:, :2]
    lines = [f"{NAMES[a]},{NAMES[b]},{'a' if rng.random() < 0.75 else 'b'}" for a, b in pairs]
    (tmp_path / "sided.csv").write_text("\n".join(["model_a,model_b,winner", *lines]) + "\n")
    assert cli.run(["rank", str(tmp_path / "sided.csv"), "--best", "1", "--out", str(tmp_path / "run")]) == 0
    share = re.search(r"The first side is favoured: of two equal items it wins (\d+)%", capsys.readouterr().out)
    assert share and 68 <= int(share[1]) <= 82


def test_items_that_are_closer_take_more_comparisons():
    def after(gap):
        rng, pairs = np.random.default_rng(1), [("a", "b"), ("b", "c"), ("a", "c")] * 10
        strength = {"a": gap, "b": 0.0, "c": -1.0}
        won = [1 if strength[a] - strength[b] + rng.logistic() > 0 else -1 for a, b in pairs]
        return BradleyTerry("abc", ties=False, position_bias=False).fit(pairs, won)

    close, clear = (further(after(gap), 1, 0.95, 0) for gap in (0.1, 1.2))
    assert clear.half < close.half < close.most and further(after(0.1), 1, 0.95, 0) == close
    assert further(after(0.1), 3, 0.95, 0).half > close.half  # the order of all


@pytest.mark.parametrize(("k", "any_order"), [(1, False), (2, True)])
def test_what_a_list_promises_is_what_refits_find_on_average(k, any_order):
    rng, names = np.random.default_rng(2), list("abcde")
    pairs = [tuple(rng.choice(names, 2, replace=False)) for _ in range(40)]
    strength = dict(zip(names, (0.9, 0.6, 0.3, -0.5, -1.3), strict=True))

    def answers(asked, of):
        return [1 if of[a] - of[b] + rng.logistic() > 0 else -1 for a, b in asked]

    def probability(model):
        return (model.top_set(k) if any_order else model.order(k))[1]

    model = BradleyTerry(names, ties=False, position_bias=False).fit(pairs, answers(pairs, strength))
    listed = [("a", "b")] * 8 + [("b", "c")] * 8 + [("a", "c")] * 4
    found = []
    for drawn in rng.permutation(model.belief_.draws(512, 5).strengths)[:60]:
        truth = dict(zip(model.items_.tolist(), drawn, strict=True))
        found.append(probability(deepcopy(model).partial_fit(listed, answers(listed, truth))))
    promised, reached = expected(model, listed, k, 0.8, 0, any_order=any_order)
    assert probability(model) + 0.02 < promised < 1.0
    assert abs(promised - np.mean(found)) < 3 * np.std(found) / 60**0.5 + 0.02
    assert abs(reached - np.mean(np.array(found) >= 0.8)) < 0.2


def test_two_judges_of_whom_one_costs_more(tables):
    out = tables / "two"
    python = sys.executable
    arguments = ["rank", tables / "names.csv", "--out", out, "--comparisons", "4", "--no-ties", "--batch", "2"]
    for name, cost in (("cheap", "1"), ("dear", "50")):
        arguments += ["--ask", f"{python} {tables / 'judge.py'}", "--judge", name, "--cost", cost]
    finish(*arguments)
    assert set(columns(out / "answers.csv")["judge"]) == {"cheap"}


def test_a_command_that_gives_no_answer(tables, capsys):
    def told(command, out):
        code = cli.run(["rank", str(tables / "names.csv"), "--ask", command, "--out", str(tables / out)])
        return code, capsys.readouterr()

    code, shown = told("echo perhaps", "rubbish")
    assert code == 1 and "set aside; it printed 'perhaps'; expected the winner" in shown.out
    assert "3 answers in a row did not come" in shown.err and "--resume" in shown.err
    code, shown = told("echo no key >&2; exit 3", "failing")
    assert code == 1 and "the command ended with code 3 (no key)" in shown.out


@pytest.mark.parametrize(
    ("table", "items", "options", "says"),
    [
        ("left,right,winner\na,a,a\n", None, (), "line 2: 'a' is compared with itself"),
        ("left,right,winner\na,b,c\n", None, (), "line 2: expected the winner (a name, left, right or tie), got 'c'"),
        ("left,right,winner\na,b,tie\n", None, ("--no-ties",), "line 2: this is a tie"),
        ("left,right,winner\na,b,a\n", "name\na\nc\n", (), "line 2: 'b' is not among the names of --items"),
        ("left,right,winner\n", None, (), "holds no comparison"),
        ("left,right,winner\n", "name\na\nb\n", (), "nothing is known of these names: add --ask"),
        ("left,right\na,b\n", None, (), "has 2 columns; expected left, right, winner"),
        ("left,right,winner\na,,a\n", None, (), "line 2: two names are needed"),
        ("name\na\n", None, (), "names only 'a': two at least"),
        ("name\na\na\n", None, (), "the name 'a' is listed twice"),
        ("name\na\nb\n", None, ("--sure", "1"), "--sure must be a probability"),
        ("name\na\nb\n", None, ("--here", "--ask", "x"), "--ask and --here do not go together"),
        ("name\na\nb\n", None, ("--ask", "x", "--ask", "y"), "several --ask need a --judge each"),
        ("name\na\nb\n", None, ("--here", "--judge", "x", "--judge", "y"), "ask them through a file, with --answers"),
        ("name\na\nb\n", None, ("--here", "--judge", "x", "--no-judges"), "names who is asked through a file: add"),
        ("name\na\nb\n", None, ("--here", "--named"), "--named is for people who are asked through a file"),
        ("left,right,winner\na,b,a\n", None, ("--named",), "has no column judge, and no --judge is named"),
        ("name\na\nb\n", None, ("--any-order", "--here"), "--best must be between 1 and 1, one fewer"),
        ("left,right,winner\na,b,a\n", None, ("--judges",), "has no column judge, and no --judge is named"),
        (None, None, (), "name the table of comparisons or names: adaptive rank TABLE"),
    ],
)
def test_what_is_wrong_is_one_line(table, items, options, says, tmp_path, capsys):
    arguments = ["rank", "--out", str(tmp_path / "run"), *options]
    for name, text in (("table", table), ("items", items)):
        if text is not None:
            (tmp_path / f"{name}.csv").write_text(text)
            arguments += [*(["--items"] if name == "items" else []), str(tmp_path / f"{name}.csv")]
    assert cli.run(arguments) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1 and says in message


def test_names_that_nothing_is_known_of_and_a_table_of_none_are_begun_with(tables, monkeypatch):
    (tables / "none.csv").write_text("left,right,winner\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n"))
    given = [str(tables / "none.csv"), "--items", str(tables / "names.csv"), "--here", "--comparisons", "1"]
    assert cli.run(["rank", *given, "--out", str(tables / "run")]) == 0
    assert len(columns(tables / "run/ranking.csv")["item"]) == 4
