"""The benchmark of the operators runs, and names what it compares."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "experiments" / "benchmarks" / "operators.py"


def test_the_quick_mode_fills_its_table(capsys):
    spec = importlib.util.spec_from_file_location("benchmark_of_operators", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    table = script.main(["--quick"])
    assert set(table["dtype"]) == {"float32", "float64"} and len(table["ratio"]) == 14
    assert all(value > 0 for value in table["ours_us"])
    assert "wavelet" in capsys.readouterr().out
