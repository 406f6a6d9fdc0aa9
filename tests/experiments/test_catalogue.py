"""``python -m experiments`` names whatever lies in results/, with a script that is there and runs."""

from __future__ import annotations

from pathlib import Path

from experiments import __main__ as command
from experiments import claims
from experiments.catalogue import entries, note_time

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
