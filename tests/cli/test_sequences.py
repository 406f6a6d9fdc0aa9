"""``adaptive sequences``: a report, stopped and gone on with to the same bytes, what is wrong with a table."""

import csv
import json

import numpy as np
import pytest

from adaptive import CollaborativeRNN, cli
from adaptive.cli.sequences import training
from adaptive.cli.sequences.report import _errors

SMALL = ("--components", "4", "--members", "2", "--epochs", "6")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Everybody goes round a circle of five; times are backwards in the file."""
    rng, path = np.random.default_rng(0), tmp_path_factory.mktemp("tables") / "visits.csv"
    rows = []
    for user in range(8):
        place = np.cumsum(np.where(rng.random(30) < 0.95, 1 + user % 2, 3)) % 5
        rows += [(f"u{user}", f"place {p}", 10.0 * k) for k, p in enumerate(place)]
    rows += [("new", "place 1", 5)]
    path.write_text("\n".join(["who,where,when", *(",".join(map(str, row)) for row in rows[::-1])]) + "\n")
    return path


def rows_of(path):
    with path.open() as stream:
        return list(csv.DictReader(stream))


def call(table, out, *arguments):
    columns = ("--user", "who", "--item", "where", "--time", "when")
    return cli.run(["sequences", str(table), *columns, *SMALL, "--out", str(out), *arguments])


def test_a_report_and_a_run_that_was_stopped_and_goes_on(table, tmp_path, capsys, monkeypatch):
    assert call(table, tmp_path / "run") == 0
    shown = capsys.readouterr().out
    assert "out of order in time" in shown and "nats by a memory for each" in shown and "worth observing" in shown
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["users"], summary["items"], summary["events"], summary["held_out"]) == (9, 5, 241, 24)
    assert summary["nats"]["uniform"] == pytest.approx(np.log(5)) and set(summary["nats"]) == {
        "uniform", "1-gram", "2-gram", "pooled", "own"
    }  # fmt: skip
    assert summary["nats"]["2-gram"] < summary["nats"]["1-gram"]
    following = rows_of(tmp_path / "run" / "next.csv")
    assert sum(float(row["probability"]) for row in following if row["user"] == "u3") == pytest.approx(1.0)
    gains = [float(row["nats"]) for row in rows_of(tmp_path / "run" / "observe.csv")]
    assert gains == sorted(gains, reverse=True) and 0 <= gains[-1] and gains[0] <= np.log(5)
    said = " ".join(shown.split())
    assert "On 8 users, by the ends of their histories" in said and summary["beside"]["rival"] == "counting (2-gram)"
    assert "Certainly better here: " in said and "Next items by the nets are nothing gained" in said
    assert summary["next_by"] == min(("own", "pooled"), key=lambda name: summary["nats"][name])
    assert rows_of(tmp_path / "run" / "users.csv")[0]["own"] == "" and (tmp_path / "run" / "nats.png").is_file()

    monkeypatch.setattr(training, "EVERY", 0.0)
    written = []

    def stopping(path, data):
        training_write(path, data)
        written.append(path)
        if len(written) == 10:
            raise KeyboardInterrupt

    training_write = training.write_file
    monkeypatch.setattr(training, "write_file", stopping)
    assert call(table, tmp_path / "stopped") == 130
    assert "continue with: adaptive sequences" in capsys.readouterr().err
    assert (tmp_path / "stopped" / "log" / "own-training.npz").is_file()
    assert cli.run(["sequences", "--resume", "--out", str(tmp_path / "stopped")]) == 0
    for name in ("users.csv", "next.csv", "observe.csv"):
        assert (tmp_path / "stopped" / name).read_bytes() == (tmp_path / "run" / name).read_bytes()
    assert not (tmp_path / "stopped" / "log" / "own-training.npz").exists()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_uniform_baseline_is_the_logarithm_of_the_number_of_items():
    """What 1 / items for each of them costs, of every user, whatever was held out."""
    histories = {"ann": list("abcdeab"), "ben": list("ba"), "cleo": list("edcba")}
    early, late = ({user: one[part] for user, one in histories.items()} for part in (slice(-1), slice(-1, None)))
    nets = [CollaborativeRNN(2, pooled=pooled, max_iter=1, random_state=0).fit(early) for pooled in (True, False)]
    for items in (list("abcde"), list("abcdefgh")):
        nats = _errors(histories, early, late, items, *nets)["uniform"]
        np.testing.assert_allclose(nats, [-np.mean([np.log(1 / len(items)) for _ in late[user]]) for user in late])


def test_what_is_wrong_is_said_in_one_line(table, tmp_path, capsys):
    gap = tmp_path / "gap.csv"
    gap.write_text("user,item\nann,a\nben,\n")
    for arguments, sentence in (
        ([str(gap)], "line 3, column 'item': expected an id, got ''"),
        ([str(table)], "its columns are 'who', 'where', 'when'. Name the one that holds the user, such as --user who"),
        ([str(tmp_path / "none.csv")], "there is no file"),
        ([], "name the table of events: adaptive sequences TABLE"),
        ([str(gap), "--members", "0"], "--members must be at least 1"),
        ([str(gap), "--cell", "lstm"], "--cell must be one of gru, tanh"),
        ([str(gap), "--held-out", "2"], "--held-out must be a share"),
    ):
        assert cli.run(["sequences", *arguments, "--out", str(tmp_path / "run")]) == 2
        told = capsys.readouterr().err
        assert sentence in told and told.count("\n") == 1
        assert not (tmp_path / "run" / "settings.json").exists()
