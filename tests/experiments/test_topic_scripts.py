"""The scripts on topics: their quick modes, and what they judge."""

import pytest

from experiments import claims
from experiments.benchmarks import topics as benchmark
from experiments.script import Script
from tests.experiments.scripts import quick_entries

JUDGED = {
    "bridge_errors": {"hennig-fig-5.5", "hennig-fig-C.3", "ours-topics-lacking"},
    "topic_completion": {"ours-topic-completion", "ours-topic-bridge-completion"},
    "topic_profiles": {
        "ours-topics-table-5.1", "hennig-tab-5.1", "hennig-sys-human-test", "hennig-fig-5.7", "hennig-fig-5.8",
        "hennig-fig-5.9", "hennig-sys-no-author", "hennig-sys-lda-fixed", "hennig-sys-topic-word-score",
    },
    "topic_streams": {
        "hennig-sys-stream-discount", "hennig-fig-5.6", "hennig-fig-5.11", "hennig-fig-5.12", "ours-topics-one-pass",
    },
    "labels_on_topics": {"ours-topics-labels"},
    "topic_bands": {"ours-bands-topics"},
    "command_bands": {"ours-topics-command-bands", "ours-topics-command-number"},
    "what_to_read": {"ours-topics-reading", "ours-topics-coverage"},
}  # fmt: skip


@pytest.mark.parametrize("name", JUDGED)
def test_a_script_runs_in_quick_mode(name, tmp_path):
    found = quick_entries(name, tmp_path)
    assert set(found) == JUDGED[name]
    if name == "topic_profiles":
        assert found["ours-topics-table-5.1"]["verdict"] == "reproduced"


def test_the_benchmark_runs_in_quick_mode(tmp_path):
    benchmark.run(Script("experiments/benchmarks/topics.py", tmp_path, quick=True))
    assert {entry["id"] for entry in claims.load(tmp_path)} == {"ours-topics-single-pass", "ours-topics-floor"}
