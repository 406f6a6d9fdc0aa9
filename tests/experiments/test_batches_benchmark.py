from experiments import claims
from experiments.benchmarks import batches, beside_peers
from experiments.script import Script


def test_quick_mode_judges_information_and_table_as_the_full_mode_does(tmp_path):
    batches.run(Script("experiments/benchmarks/batches.py", tmp_path, quick=True))
    entries = {entry["id"]: entry for entry in claims.load(tmp_path)}
    assert set(entries) == {f"ours-batches-{name}" for name in ("information", "table", "cost", "pending")}
    for name in ("information", "table"):
        assert entries[f"ours-batches-{name}"]["verdict"] == "reproduced"


def test_exact_greedy_begins_with_the_best_row():
    table = batches.drawn_problem(0, 50, 10)
    single = [batches.information(table, [i]) for i in range(10)]
    assert batches.greedy(table, 3)[0] == max(range(10), key=single.__getitem__)


def test_what_is_put_beside_peers_runs_at_a_small_size_without_them(tmp_path):
    beside_peers.run(Script("experiments/benchmarks/beside_peers.py", tmp_path, quick=True))
    assert "floor, ms" in (tmp_path / "tables" / "benchmarks.csv").read_text()
