"""The benchmarks of inclusion and of large pools, at a small size."""

from experiments import claims
from experiments.benchmarks import inclusion, large_asks, large_pools, stored_pools
from experiments.script import Script


def test_products_are_counted_and_judged(tmp_path):
    inclusion.run(Script("experiments/benchmarks/inclusion.py", tmp_path, quick=True))
    (entry,) = claims.load(tmp_path)
    assert entry["id"] == "ours-inclusion-products" and entry["verdict"] == "reproduced"


def test_all_ways_of_scoring_choose_the_same_row():
    for kind, columns in (("dense", 8), ("sparse", 400)):
        found = large_pools.measure(kind, 4_000, columns)
        assert found["same choice"] == 1.0
        assert all(value >= 0 for name, value in found.items() if name.endswith("s"))


def test_benchmarks_of_large_pools_run_at_a_small_size(tmp_path):
    large_asks.run(Script("experiments/benchmarks/large_asks.py", tmp_path, quick=True))
    stored_pools.run(Script("experiments/benchmarks/stored_pools.py", tmp_path, quick=True))
    found = {entry["id"]: entry["verdict"] for entry in claims.load(tmp_path)}
    assert len(found) == 9 and found["ours-scale-stored-choice"] == "reproduced"
