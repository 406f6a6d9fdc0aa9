"""The benchmark of particles: its quick mode, and what it judges."""

from experiments import claims
from experiments.benchmarks import particles as benchmark
from experiments.script import Script


def test_the_benchmark_runs_in_quick_mode(tmp_path):
    benchmark.run(Script("experiments/benchmarks/particles.py", tmp_path, quick=True))
    found = {entry["id"] for entry in claims.load(tmp_path)}
    assert found == {"ours-any-model-bench-flat", "ours-any-model-bench-memory"}
