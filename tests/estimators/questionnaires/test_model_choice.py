"""Which response model predicts hidden answers: unequal slopes, people who are too few."""

import numpy as np
import pytest

from adaptive.estimators.questionnaires.model_choice import chosen_model


def test_unequal_slopes_are_found():
    rng = np.random.default_rng(0)
    x, difficulty = rng.standard_normal((380, 1)), np.linspace(-1, 1, 12)
    slopes = np.tile([0.2, 3.5], 6)
    answers = (rng.random((380, 12)) < 1 / (1 + np.exp(-slopes * (x - difficulty)))).astype(float)
    found = chosen_model(answers, (0, 1), models=("rasch", "two_parameter"))
    assert found.model == "two_parameter" and found.log_scores["two_parameter"] > found.log_scores["rasch"] + 0.003
    assert found == chosen_model(answers, (0, 1), models=("rasch", "two_parameter"))  # the same for a seed


@pytest.mark.parametrize(("categories", "usual"), [((0, 1), "two_parameter"), ((1, 2, 3), "graded")])
def test_of_few_people_nothing_is_chosen(categories, usual):
    found = chosen_model(np.ones((30, 5)), categories)
    assert found.model == usual and found.log_scores == {}
