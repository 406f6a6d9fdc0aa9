"""The scripts on pairs: their quick modes, and what they judge."""

import numpy as np
import pytest
from scipy import sparse

from experiments.benchmarks import paired_symbols as benchmark
from experiments.pairs.shared.ranking import judged, split_pairs
from experiments.pairs.shared.rivals import least_squares
from experiments.pairs.softmax_rivals import bouchard
from tests.experiments.scripts import quick_entries

JUDGED = {
    "paired_stream": {
        "ours-pairs-synthetic-rank", "ours-pairs-synthetic-gain", "ours-pairs-learnt-precisions", "paquet-fig-3",
        "paquet-fig-4", "paquet-fig-5", "paquet-sys-constant-messages", "paquet-sys-dimension-sweep",
    },
    "held_out_pairs": {
        "paquet-fig-2", "ours-pairs-lastfm-popularity", "ours-pairs-precision", "ours-pairs-what-mends-it",
        "paquet-sys-popularity", "paquet-sys-bpr-uniform", "paquet-sys-bpr-pop", "paquet-sys-rg-like",
        "paquet-sys-rg-pop-like",
    },
    "what_to_show": {"ours-pairs-shown-regret", "ours-pairs-shown-information", "ours-pairs-shown-coverage"},
    "which_command": {"ours-pairs-which-command"},
    "softmax_rivals": {"paquet-fig-6", "paquet-sys-softmax-map", "paquet-sys-bouchard"},
}  # fmt: skip


@pytest.mark.parametrize("name", JUDGED)
def test_a_script_runs_in_quick_mode(name, tmp_path):
    assert set(quick_entries(name, tmp_path)) == JUDGED[name]


def test_the_benchmark_measures_what_is_held():
    stream = benchmark.simulated(1000)
    assert benchmark.held_bytes(stream) / len(stream) == pytest.approx(96.0, abs=1.0)
    assert benchmark.sweep_seconds(stream, 1) > 0


def test_ranks_and_hits_are_counted_with_ties_at_random():
    table = sparse.csr_matrix(np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0]]))
    split = split_pairs(table, 0)
    assert split.table.nnz == table.nnz - 2 and np.all(table[split.users, split.items] == 1.0)
    found = judged(lambda users: np.zeros((len(users), 4)), split)
    np.testing.assert_allclose(found["rank"], [(3 - 1) / 2 / 3, (2 - 1) / 2 / 2])
    np.testing.assert_allclose(found["strict"], 0.0)
    np.testing.assert_allclose(found["hit"], 1.0)


def test_rivals_are_what_they_say():
    """Least squares ends where its gradient is zero; Bouchard's means of few symbols do not vanish."""
    table = sparse.csr_matrix(np.kron(np.eye(2), np.ones((4, 3))))
    score = least_squares(table, k=2, sweeps=100, weight=5.0, shrink=0.1)(np.arange(8))
    assert score[0, 0] > 0.9 and abs(score[0, 4]) < 0.05
    u, v = bouchard(sparse.csr_matrix(50.0 * np.eye(4)), 2)
    assert np.sqrt(np.mean((u @ v.T) ** 2)) > 1.0
