"""``adaptive prefer``: a model of comparisons, a person asked, stopped and asked on; what is wrong with a table."""

import csv
import io
import json

import numpy as np
import pytest

from adaptive import CollaborativePreference, cli

ITEMS = ["ale", "beer", "cider", "mead"]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Most people like later items; cider has no comparison."""
    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("tables")
    lines = ["who,winner,loser"]
    for person in range(25):
        for _ in range(6):
            a, b = sorted(rng.choice([0, 1, 3], 2, replace=False))
            a, b = (a, b) if rng.random() < 0.1 else (b, a)
            lines.append(f"p{person},{ITEMS[a]},{ITEMS[b]}")
    (folder / "winners.csv").write_text("\n".join(lines) + "\n")
    (folder / "items.csv").write_text("item,strength,kind\nale,1,x\nbeer,2,x\ncider,3.5,y\nmead,4,y\n")
    return folder


def rows_of(path):
    with path.open() as stream:
        return list(csv.DictReader(stream))


def test_a_report(tables, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("adaptive.cli.prefer.model.MOST", 150)  # as many as there are: they are split five times
    out = tmp_path / "run"
    arguments = ["prefer", str(tables / "winners.csv"), "--items", str(tables / "items.csv")]
    assert cli.run([*arguments, "--components", "1", "--out", str(out)]) == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["bits"] < 0.75 and (summary["people"], summary["items"]) == (25, 4)
    ranking = rows_of(out / "ranking.csv")
    assert ranking[0]["item"] == "mead" and ranking[-1]["item"] == "ale" and (out / "ranking.png").is_file()
    assert float(ranking[0]["lower"]) < float(ranking[0]["utility"]) < float(ranking[0]["upper"])
    assert [row["rank"] for row in rows_of(out / "people.csv")[:5]] == ["1", "2", "3", "4", "1"]
    gains = [float(row["nats"]) for row in rows_of(out / "next.csv")]
    assert len(gains) == 10 and gains == sorted(gains, reverse=True)
    before = (out / "people.csv").read_bytes()
    assert cli.run(["prefer", "--resume", "--out", str(out)]) == 0
    assert (out / "people.csv").read_bytes() == before
    said = capsys.readouterr().out
    assert (
        "to learn which item a person likes best: p" in said
        and "everybody, and what to ask for it: adaptive rank" in said
    )
    assert "150 comparisons: each of five parts is predicted by a model of all others." in said
    assert "On 150 comparisons, each predicted while it was left out (five folds)" in said
    assert said.count(", one ranking for everybody") == 2  # the run that went on says it again
    assert summary["beside"]["n"] == summary["held_out"] == 150 and summary["folds"] == 5
    assert summary["bits_one_ranking"] * np.log(2.0) == pytest.approx(summary["beside"]["rival_log_loss"])


def test_a_large_table_is_split_once_and_a_short_one_not_at_all(tables, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("adaptive.cli.prefer.model.MOST", 149)
    told = cli.run(["prefer", str(tables / "winners.csv"), "--components", "0", "--out", str(tmp_path / "run")])
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert told == 0 and (summary["held_out"], summary["folds"]) == (30, 1)
    assert "On 30 comparisons, drawn from the table and left out (another --seed draws" in capsys.readouterr().out
    (tmp_path / "few.csv").write_text("user,winner,loser\np,x,y\nq,y,x\np,x,z\n")
    assert cli.run(["prefer", str(tmp_path / "few.csv"), "--components", "0", "--out", str(tmp_path / "few")]) == 0
    said = capsys.readouterr().out
    assert "3 comparisons of 3 items by 2 people; too few to hold some of them out." in said
    assert "each of five parts" not in said
    assert json.loads((tmp_path / "few/summary.json").read_text())["bits"] is None


def test_a_person_is_asked_stops_and_goes_on(tables, tmp_path, monkeypatch, capsys):
    def typed(text, *arguments):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        return cli.run(["prefer", *arguments, "--out", str(tmp_path / "run")])

    given = (str(tables / "winners.csv"), "--components", "1", "--ask", "p3", "--questions", "3")
    assert typed("1\n2\nq\n", *given) == 130
    shown = capsys.readouterr()
    assert "continue with: adaptive prefer --out" in shown.err and not (tmp_path / "run/ranking.csv").exists()
    waiting = shown.out.split("Question 3 of 3\n")[1].splitlines()[0]
    assert typed("1\n", "--resume") == 0
    shown = capsys.readouterr().out
    assert "Question 1" not in shown and waiting in shown and "Thank you: 3 answers." in shown
    answers = rows_of(tmp_path / "run/answers.csv")
    assert [row["winner"] == row["first"] for row in answers] == [True, False, True]
    assert f"{answers[2]['first']} or {answers[2]['second']}?" == waiting
    assert sum(float(row["best"]) for row in rows_of(tmp_path / "run/ranking.csv")) == pytest.approx(1.0)


def test_questions_are_about_what_was_asked_for(tables, tmp_path, monkeypatch):
    """By default about the item that a person likes best, as the library's own target."""

    def first_question(*more):
        out = tmp_path / "-".join(["run", *more])
        monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
        given = ["prefer", str(tables / "winners.csv"), "--components", "0", "--ask", "somebody new", *more]
        assert cli.run([*given, "--out", str(out)]) == 130
        events = [json.loads(line) for line in (out / "log/answers.jsonl").read_text().splitlines()]
        return next(one["scores"][0] for one in events if one.get("event") == "ask")

    def known(target):
        model = CollaborativePreference(n_components=0, random_state=0)
        rows = rows_of(tables / "winners.csv")
        model.fit([(row["who"], row["winner"], row["loser"]) for row in rows], [1] * len(rows))
        pairs = [(a, b) for k, a in enumerate(model.items_) for b in model.items_[k + 1 :]]
        new = model.user("somebody new")
        return new.select(pairs, target=target, return_scores=True, random_state=0)[1][0]

    best, everything = first_question(), first_question("--about", "all")
    assert best != pytest.approx(everything, rel=0.01)
    assert (best < everything) == (known("best") < known(None))


@pytest.mark.parametrize(
    ("table", "features", "says"),
    [
        ("u,a,b\np,x,x\n", None, "line 2: 'x' is compared with itself"),
        ("u,a\np,x\n", None, "has 2 columns; expected user, winner, loser"),
        ("u,a,b,w\np,x,y,z\n", None, "line 2: expected 'x', 'y', 1 or -1 as winner, got 'z'"),
        ("u,a,b\np,x,\n", None, "line 2: a user and two items are needed"),
        ("u,a,b\np,x,y\n", "item,f\nx,1\n", "has no line for the item 'y'|no feature tells items apart"),
        ("u,a,b\np,x,y\n", "item,f\nx,1\ny,\n", "line 3, column 'f': expected a feature, got ''"),
        ("u,a,b\np,x,y\n", "item,f\nx,1\nx,2\n", "the item 'x' is listed twice"),
        (None, None, "name the table of comparisons: adaptive prefer TABLE"),
    ],
)
def test_what_is_wrong_is_one_line(table, features, says, tmp_path, capsys):
    arguments = ["prefer", "--out", str(tmp_path / "run")]
    for name, text in (("comparisons", table), ("items", features)):
        if text is not None:
            (tmp_path / f"{name}.csv").write_text(text)
            arguments += [*(["--items"] if name == "items" else []), str(tmp_path / f"{name}.csv")]
    assert cli.run(arguments) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1 and any(part in message for part in says.split("|"))
