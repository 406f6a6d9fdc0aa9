"""Quick modes of raw scans that are replayed, and of a newcomer's path."""

import pytest

from tests.experiments.scripts import quick_entries


def test_a_raw_scan_is_replayed_beside_tuned_rules(tmp_path):
    entries = quick_entries("replayed_scan", tmp_path)
    assert set(entries) == {"ours-scanner-replay-2", "ours-scanner-replay-ssim"}
    value = entries["ours-scanner-replay-2"]["value"]
    assert value["error over that of equispaced lines with ACS"] > 0
    assert value["of the best rule"][2] <= value["of equispaced lines"][2]


def test_points_are_replayed_out_of_those_acquired(tmp_path):
    (entry,) = quick_entries("replayed_points", tmp_path).values()
    assert entry["id"] == "ours-scanner-replay-points-3" and entry["value"]["best rule"] != "designed"


def test_the_path_of_a_newcomer_ends_in_a_plan_and_mistakes_in_sentences(tmp_path):
    (entry,) = quick_entries("newcomer_path", tmp_path).values()
    assert entry["verdict"] == "reproduced" and entry["value"]["not one clear line"] == []


def test_plans_run_as_sequences_in_a_simulator(tmp_path):
    pytest.importorskip("pypulseq")
    entries = quick_entries("pulseq_bloch", tmp_path)
    assert set(entries) == {"ours-pulseq-retabled", "ours-pulseq-written"}
    assert entries["ours-pulseq-retabled"]["value"]["turbo spin echo, T2 a second"] < 0.02
    assert entries["ours-pulseq-written"]["value"]["spokes"] < 0.02
