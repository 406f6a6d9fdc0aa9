"""kill -9 while five people answer; `experiments.serve.kills` does it twenty times."""

from experiments.serve.shared.killing import N_PEOPLE, killed


def test_three_kills_with_five_people_answering(tmp_path):
    assert killed(tmp_path, 3, seed=1) > N_PEOPLE
