"""Counting: distributions, backing off, the strength by held-out events."""

import numpy as np
import pytest

from adaptive.estimators.sequences.nets.ngrams import NGram, chosen

HISTORIES = [np.array([0, 1, 2, 0, 1, 2, 0, 1]), np.array([2, 0]), np.zeros(0, dtype=np.int64)]


@pytest.mark.parametrize("order", [1, 2])
def test_probabilities_are_those_of_the_formula_and_add_up_to_one(order):
    found = NGram(order, HISTORIES, 4, 0.5, 0.2)
    for last in (-1, 0, 3):
        assert found.next(last).sum() == pytest.approx(1.0)
    added = 0.5 if order == 1 else 0.2
    alone = NGram(1, HISTORIES, 4, added)
    np.testing.assert_allclose(alone.share, (np.array([4, 3, 3, 0]) + added) / (10 + 4 * added))
    logs = found.log_probabilities([np.array([0, 1, 3])])[0]
    by_hand = [found.next(-1)[0], found.next(0)[1], found.next(1)[3]]
    np.testing.assert_allclose(np.exp(logs), by_hand)
    if order == 2:
        assert found.next(0)[1] == pytest.approx((3 + 0.5 * alone.share[1]) / 3.5)
        np.testing.assert_allclose(found.next(3), alone.share)  # never seen: the single counts
        assert found.next(-1)[2] == pytest.approx((1 + 0.5 * alone.share[2]) / 2.5)


def test_the_strength_is_the_one_that_predicts_best():
    rng = np.random.default_rng(0)
    steady = [np.arange(k, k + 60) % 5 for k in range(6)]
    noise = [rng.integers(0, 5, 60) for _ in range(6)]
    n_seen = np.full(6, 50)
    assert chosen(2, steady, n_seen, 5).strength < 1.0 < chosen(2, noise, n_seen, 5).strength
    assert chosen(2, steady, np.full(6, 60), 5).strength == 1.0  # nothing is held out
