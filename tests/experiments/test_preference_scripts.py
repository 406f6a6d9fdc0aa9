"""The scripts on preferences: their quick modes, and what they judge."""

import pytest

from experiments import claims
from experiments.benchmarks import preferences as benchmark
from experiments.script import Script
from tests.experiments.scripts import quick_entries

JUDGED = {
    "absent_sets": {"ko-tab-3.7", "ko-fig-3.6"},
    "favoured_kind": {"ko-fig-3.7"},
    "jester_tables": {"ko-tab-3.8", "ko-tab-3.9", "ko-sys-npca", "ko-fig-3.5"},
    "rank_by_comparisons": {"ours-rank-gsm8k-random", "ours-rank-gsm8k-round", "ours-rank-gsm8k-elo"},
    "rank_sure": {"ours-rank-sure"},
    "rank_posterior": {"ours-rank-posterior"},
    "sushi_tables": {
        "ko-tab-3.4", "ko-tab-3.5", "ko-tab-3.6", "ko-sys-gpfull", "ko-sys-gpitem", "ko-sys-gpitem-lp",
        "ko-sys-gpvu-jk",
    },
    "synthetic_people": {"ours-preferences-covariance", "ours-preferences-synthetic"},
    "what_to_compare": {"ours-preferences-asked-sushi", "ours-preferences-best-sushi"},
}  # fmt: skip


@pytest.mark.parametrize("name", JUDGED)
def test_a_script_runs_in_quick_mode(name, tmp_path):
    assert set(quick_entries(name, tmp_path)) == JUDGED[name]


def test_the_benchmark_runs_in_quick_mode(tmp_path):
    benchmark.run(Script("experiments/benchmarks/preferences.py", tmp_path, quick=True))
    found = {entry["id"] for entry in claims.load(tmp_path)}
    assert found == {"ours-preferences-bench-all-pairs", "ours-preferences-bench-answer"}
