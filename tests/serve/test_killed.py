"""kill -9 while people answer; `experiments.serve.kills` does it twenty times."""

import pytest

from experiments.serve.shared.killing import N_PEOPLE, killed, killed_choosers, killed_workers


def test_three_kills_with_five_people_answering(tmp_path):
    assert killed(tmp_path, 3, seed=1) > N_PEOPLE


@pytest.mark.parametrize("store", ["a folder", "a database"])
def test_a_worker_is_killed_three_times_with_eight_people_answering(request, tmp_path, store):
    place = tmp_path / "store" if store == "a folder" else request.getfixturevalue("postgres").new()
    assert killed_workers(tmp_path, place, 3, seed=1) > 8


def test_another_worker_chooses_when_one_is_killed(tmp_path):
    found = killed_choosers(tmp_path, tmp_path / "store")
    assert max(found["waits"]) < 60.0  # experiments.serve.kills says how long on a quiet machine
    chosen = [event for event in found["events"] if event["event"] == "ask" and "stock" not in event]
    assert chosen and len(found["waits"]) == 2
