"""The benchmark of selective expectation propagation, at a small size."""

from experiments import claims
from experiments.benchmarks import selective_ep
from experiments.script import Script


def test_the_loop_is_run_counted_and_judged(tmp_path):
    selective_ep.run(Script("experiments/benchmarks/selective_ep.py", tmp_path, quick=True))
    entries = {entry["id"]: entry for entry in claims.load(tmp_path)}
    assert set(entries) == {
        "nickisch-alg-5.1",
        "nickisch-sys-ep-selective",
        "ours-selective-ep-cost",
        "ours-selective-ep-time",
        "ours-selective-ep-update",
    }
    cost = entries["ours-selective-ep-cost"]["value"]
    assert cost["factorisations"] == cost["factorisations of the first fit"] <= 10  # none after the first fit
    assert cost["updates per increment"] <= 15 and cost["drift"] < 1e-8
    assert entries["nickisch-alg-5.1"]["verdict"] == "reproduced"
    assert (tmp_path / "figures" / "selective_ep.png").is_file()
