"""The benchmark of Gaussian processes of low rank, at a small size."""

from experiments import claims
from experiments.benchmarks import low_rank_gp
from experiments.script import Script


def test_low_rank_processes_are_measured_and_judged(tmp_path):
    low_rank_gp.run(Script("experiments/benchmarks/low_rank_gp.py", tmp_path, quick=True))
    found = {entry["id"]: entry["verdict"] for entry in claims.load(tmp_path)}
    assert found == {"ours-low-rank-gp": "reproduced", "ours-low-rank-gp-search": "reproduced"}
    whole, low = (low_rank_gp.measure("laplace_approximation", 200, rank) for rank in (0, 200))
    assert abs(whole["bits"] - low["bits"]) < 1e-4
