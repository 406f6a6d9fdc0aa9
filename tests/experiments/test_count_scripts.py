"""The scripts on counts: their quick modes, and what they judge."""

import numpy as np
import pytest

from experiments import claims
from experiments.benchmarks import counts as benchmark
from experiments.counts.ranked_plays import ndcg
from experiments.script import Script
from tests.experiments.scripts import quick_entries

JUDGED = {
    "coal": {"ko-tab-2.3", "ko-fig-2.4", "ko-fig-2.6", "ours-counts-coal-starts", "ours-counts-spikes"},
    "constant_rate": {"ours-counts-constant-rate"},
    "factorization": {
        "ko-tab-3.2", "kokhan-tab-2", "ko-tab-3.3", "kokhan-tab-3", "ko-fig-3.1", "kokhan-fig-1", "ko-fig-3.2",
        "kokhan-fig-2", "ours-counts-synthetic-ko", "ours-counts-synthetic-kokhan",
    },
    "factorization_costs": {"ko-tab-3.1", "kokhan-tab-1"},
    "moments": {"ko-fig-2.5"},
    "photon_exposures": {f"ours-counts-exposures-{what}" for what in ("equal", "random", "coverage")},
    "photons": {
        "ko-tab-2.4", "ko-fig-2.7", "ko-fig-2.8", "ko-fig-2.9", "ours-counts-other-rates",
        "ours-counts-photons-larger", "ours-counts-photons-noise",
    },
    "risen": {"ours-counts-risen", "ours-counts-risen-alarms"},
    "ranked_plays": set(),  # the peers need environments
    "what_to_count": {
        *(f"ours-counts-designed-{task}" for task in ("places", "rows", "entries", "items", "coverage")),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", JUDGED)
def test_a_script_runs_in_quick_mode(name, tmp_path):
    found = quick_entries(name, tmp_path)
    assert set(found) == JUDGED[name]
    if name == "factorization":
        assert found["ko-tab-3.2"]["verdict"] == "reproduced"


def test_ndcg_is_that_of_the_definition():
    """What is known is left out, ranks count from 1, a listener of whom nothing is held out does not count."""
    table = {"known users": np.array([0]), "known items": np.array([0]), "held users": np.array([0, 0]),
             "held items": np.array([1, 3])}  # fmt: skip
    scores = np.array([[9.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0]])
    found = ndcg(np.hstack([scores, np.full((2, 8), -5.0)]), table)
    np.testing.assert_allclose(found, [(1.0 + 1 / np.log2(4)) / (1.0 + 1 / np.log2(3))])


def test_the_benchmark_runs_in_quick_mode(tmp_path):
    benchmark.run(Script("experiments/benchmarks/counts.py", tmp_path, quick=True))
    parts = ("moments", "cox", "linear", "passes", "memory", "user", "best-pairs")
    assert {entry["id"] for entry in claims.load(tmp_path)} == {f"ours-counts-bench-{part}" for part in parts}
