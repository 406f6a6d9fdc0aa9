"""``adaptive move``: what it writes, how it goes on, what it says to bad input, a game against it."""

import json

import pytest

from adaptive.cli import run
from tests.cli.processes import columns

FILES = ("moves.csv", "tree.png", "summary.json")


def moved(out, *options):
    return run(["move", "--out", str(out), *map(str, options)])


def test_a_won_position_is_seen_to_its_end(tmp_path, capsys):
    out = tmp_path / "run"
    assert moved(out, "--position", "0,3,1,4,8,6") == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["best move"] == 2 and summary["every end was seen"] and summary["value of the position"] == 1.0
    table = columns(out / "moves.csv")
    assert table["move"][0] == "2" and float(table["probability"][0]) > 0.2
    assert all((out / name).stat().st_size for name in FILES)
    assert "best: 2" in capsys.readouterr().out


def test_a_run_goes_on_from_its_log(tmp_path, capsys):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert moved(whole, "--game", "connect_four", "--rollouts", 30) == 0
    found = json.loads((whole / "summary.json").read_text())
    assert found["beside the rival"]["of"] == "games" and found["best by counting"] in range(7)
    assert "counting results of each first move" in " ".join(capsys.readouterr().out.split())
    assert moved(stopped, "--game", "connect_four", "--rollouts", 30) == 0
    log = stopped / "log" / "games.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[: len(lines) // 2]))  # as a kill leaves it
    for beside in (*log.parent.glob("*.npz"), *log.parent.glob("*.count")):  # which knew of more
        beside.unlink()
    for name in FILES:
        (stopped / name).unlink()
    assert run(["move", "--out", str(stopped), "--resume"]) == 0
    for name in FILES:
        assert (stopped / name).read_bytes() == (whole / name).read_bytes() or name == "summary.json"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--game", "chess"], "--game must be one of"),
        (["--position", "a"], "--position must be numbers"),
        (["--position", "0,0"], "not a legal move"),
        (["--position", "0,3,1,4,2"], "the game is over"),
        (["--rollouts", 0], "--rollouts must be at least 1"),
    ],
)
def test_bad_input_ends_in_one_line(tmp_path, capsys, options, message):
    assert moved(tmp_path / "run", *options) == 2
    said = capsys.readouterr().err
    assert message in said and said.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_a_person_plays_against_it(monkeypatch, capsys):
    given = iter(["9", "0", "1", "q"])
    monkeypatch.setattr("typer.prompt", lambda text: next(given))
    assert run(["move", "--play", "--rollouts", "1000"]) == 0
    said = capsys.readouterr().out
    assert (
        "9 is no legal move here." in said and "I play 4" in said and "I play 2" in said and "left." in said
    )  # the centre, and a block
