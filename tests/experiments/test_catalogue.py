"""``python -m experiments`` names whatever lies in results/, with a script that is there and runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments import __main__ as command
from experiments import claims, runs
from experiments.catalogue import NOT_TIMED, entries, minutes, note_time, times

ROOT = Path(__file__).resolve().parents[2]


def test_every_verdict_figure_and_table_has_a_script_that_is_there():
    found = entries()
    ids = [entry.id for entry in found]
    assert len(set(ids)) == len(ids) and {one["id"] for one in claims.load()} <= set(ids)
    for kind, ending in (("figures", "png"), ("tables", "csv")):
        assert {path.stem for path in (ROOT / "results" / kind).glob(f"*.{ending}")} <= set(ids)
    for entry in found:
        text = (ROOT / entry.script).read_text()
        assert 'if __name__ == "__main__"' in text, (
            f"{entry.id} is said to be made by {entry.script}, which runs nothing"
        )
    assert ids.index("nickisch-fig-4.9") < ids.index("nickisch-fig-4.10")


def test_one_is_listed_or_run_by_its_id(capsys):
    assert command.main(["fig-3.4"]) == 0
    shown = capsys.readouterr().out
    assert "nickisch-fig-3.4" in shown and "python -m experiments.inference.gallery" in shown
    assert command.main(["nickisch-fig-3.4", "--quick"]) == 0
    assert "nickisch-fig-3.4" in capsys.readouterr().out
    assert command.main(["nickisch-fig-3.44"]) == 2
    assert "Did you mean nickisch-fig-3.4" in capsys.readouterr().err


def test_times_are_kept_by_script(tmp_path):
    note_time("experiments/a.py", 3.21, tmp_path)
    note_time("experiments/b.py", 1.0, tmp_path)
    assert '"experiments/a.py": 3.2' in (tmp_path / "times.json").read_text()


def test_a_run_that_was_stopped_has_no_time_but_says_how_long_was_waited(tmp_path):
    note_time("experiments/a.py", 180.0, tmp_path, stopped=True)
    note_time("experiments/b.py", 90.0, tmp_path)
    assert times(tmp_path) == {"experiments/b.py": 90.0}
    assert minutes("experiments/a.py", tmp_path) == "over 3" and minutes("experiments/b.py", tmp_path) == "1.5"
    assert minutes("experiments/c.py", tmp_path) == NOT_TIMED
    note_time("experiments/a.py", 240.0, tmp_path)
    assert minutes("experiments/a.py", tmp_path) == "4.0"


def test_runs_that_came_from_their_files_are_counted(tmp_path, monkeypatch):
    """`script.command` notes no time of such a run: it would be too short."""
    monkeypatch.setenv("ADAPTIVE_RUNS", str(tmp_path))
    monkeypatch.setattr(runs, "_taken", [])
    assert runs.kept("a group", _squares, 3)["squares"].tolist() == [0, 1, 4] and runs.taken() == 0
    assert runs.kept("a group", _squares, 3)["squares"].tolist() == [0, 1, 4] and runs.taken() == 1
    assert runs.kept("a group", _cubes, 3)["squares"].tolist() == [0, 1, 8]  # not the squares of the same arguments


def _squares(n: int) -> dict[str, np.ndarray]:
    return {"squares": np.arange(n) ** 2}


def _cubes(n: int) -> dict[str, np.ndarray]:
    return {"squares": np.arange(n) ** 3}
