"""Fixed items from which the total is predicted best."""

import numpy as np
import pytest

from adaptive.estimators.questionnaires.short_form import _greedy, short_form
from tests.estimators.questionnaires.test_factors import drawn


def test_each_item_is_the_one_that_lowers_the_error_most():
    answers = drawn(150, 9)
    centred = answers - answers.mean(axis=0)
    total = centred.sum(axis=1)

    def left(items):
        """Residual squares and penalty of the ridge regression."""
        x = centred[:, items]
        weights = np.linalg.solve(x.T @ x + 10.0 * np.eye(len(items)), x.T @ total)
        return np.sum((total - x @ weights) ** 2) + 10.0 * np.sum(weights**2)

    chosen = _greedy(answers, 4).tolist()
    for k in range(4):
        others = [item for item in range(9) if item not in chosen[:k]]
        assert chosen[k] == min(others, key=lambda item, k=k: left([*chosen[:k], item]))


def test_the_error_is_that_of_people_who_taught_nothing():
    answers = drawn(900, 30)
    families = np.random.default_rng(0).integers(0, 40, 300).tolist()
    found = short_form(answers[:300], 8, families)
    new = answers[300:]
    off = found.intercept + new[:, found.items] @ found.weights - new.sum(axis=1)
    assert found.error == pytest.approx(np.sqrt(np.mean(off**2)), rel=0.15)
    assert found.error < found.random_error


def test_gaps_and_refusals():
    answers = drawn(200, 10)
    answers[np.random.default_rng(0).random(answers.shape) < 0.2] = np.nan
    assert np.isfinite(short_form(answers, 3).error)
    with pytest.raises(ValueError, match="n must be from 1 to 9"):
        short_form(answers, 10)
    with pytest.raises(ValueError, match="at least 5 families"):
        short_form(answers, 3, ["a"] * 200)
