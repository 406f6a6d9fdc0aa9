"""The numbers behind seeded runs: logs of all versions are repeated by them."""

import numpy as np

from adaptive.loop import SequentialDesign
from adaptive.loop.seeds import Purpose


def test_a_purpose_keeps_its_number_and_its_seeds(model, pool):
    assert {purpose.name: int(purpose) for purpose in Purpose} == {
        "INITIAL": 0,
        "QUERY": 1,
        "SUBSET": 2,
        "INFORMATION_LEFT": 3,
        "STABLE_PREDICTIONS": 4,
        "STOPPING_REPORT": 5,
        "EXPLORATION": 6,
        "PREDICTIVE_CHECK": 7,
    }
    design = SequentialDesign(model(), pool, random_state=3)
    for purpose in Purpose:
        expected = np.random.SeedSequence(3, spawn_key=(int(purpose), 8)).generate_state(1)[0]
        assert design.seed(purpose, 8) == design.seed(int(purpose), 8) == expected
