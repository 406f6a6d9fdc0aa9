"""The scripts on sequences: their quick modes, and what they judge."""

import numpy as np
import pytest

from experiments import claims
from experiments.benchmarks import sequences as benchmark
from experiments.script import Script
from experiments.sequences.order_two import FLOOR, Population
from tests.experiments.scripts import quick_entries

JUDGED = {
    "absent_logs": {"ko-tab-3.10"},
    "next_events": {"ko-tab-3.11", "ko-fig-3.8", "ko-fig-3.9"},
    "own_patterns": {"ours-sequences-order-two"},
    "short_lives": {
        "ours-sequences-calibration-ensemble", "ours-sequences-calibration-laplace", "ours-sequences-short-histories",
    },
    "side_by_side": {"ours-sequences-side-by-side"},
    "whom_to_ask": {"ours-sequences-asked-random", "ours-sequences-asked-longest-silent"},
}  # fmt: skip


@pytest.mark.parametrize("name", JUDGED)
def test_a_script_runs_in_quick_mode(name, tmp_path):
    assert set(quick_entries(name, tmp_path)) == JUDGED[name]


def test_the_benchmark_runs_in_quick_mode(tmp_path):
    benchmark.run(Script("experiments/benchmarks/sequences.py", tmp_path, quick=True))
    found = {entry["id"] for entry in claims.load(tmp_path)}
    assert found == {"ours-sequences-bench-epoch", "ours-sequences-bench-memory"}


def test_synthetic_users_keep_to_their_permutations():
    population = Population(2, 0)
    history = population.history(1, 20_000)
    chances = population.chances(1, history[:2])
    assert chances.sum() == pytest.approx(1.0)
    assert -np.sum(chances * np.log(chances)) == pytest.approx(FLOOR)
    kept = population.own[1, population.group[history[:-2]]] == population.group[history[2:]]
    assert kept.mean() == pytest.approx(0.9 + 0.1 / 6, abs=0.01)
