"""The benchmarks of particles and of simulators: their quick modes, and what they judge."""

import pytest

from experiments import claims
from experiments.benchmarks import particles, simulators
from experiments.script import Script

JUDGED = {
    particles: {"ours-any-model-bench-flat", "ours-any-model-bench-memory"},
    simulators: {"ours-any-model-bench-simulations", "ours-any-model-bench-simulator-memory"},
}


@pytest.mark.filterwarnings("ignore:only .* simulations say anything")  # of so few
@pytest.mark.parametrize("benchmark", JUDGED, ids=["particles", "simulators"])
def test_the_benchmark_runs_in_quick_mode(benchmark, tmp_path):
    benchmark.run(Script(f"experiments/benchmarks/{benchmark.__name__}.py", tmp_path, quick=True))
    assert {entry["id"] for entry in claims.load(tmp_path)} == JUDGED[benchmark]
