"""The rivals: a hidden Markov model against enumeration of its states, factors against least squares."""

import itertools

import numpy as np
import pytest

from experiments.sequences.rivals import HiddenMarkov, factor_softmax

HISTORIES = [np.array([0, 1, 2, 0]), np.array([2, 2]), np.array([1, 0, 1])]


def test_a_hidden_markov_model_is_the_sum_over_its_paths_and_never_gets_worse():
    model = HiddenMarkov(HISTORIES, 3, 2, n_iter=3)
    assert model.start.sum() == pytest.approx(1.0)
    for one, logs in zip(HISTORIES, model.log_probabilities(HISTORIES), strict=True):
        total = 0.0
        for path in itertools.product(range(2), repeat=len(one)):
            p = model.start[path[0]] * model.emits[path[0], one[0]]
            for t in range(1, len(one)):
                p *= model.moves[path[t - 1], path[t]] * model.emits[path[t], one[t]]
            total += p
        assert logs.sum() == pytest.approx(np.log(total))
    rng = np.random.default_rng(0)
    long = [np.cumsum(rng.integers(1, 3, 80)) % 6 for _ in range(4)]
    gains = np.diff(HiddenMarkov(long, 6, 4, n_iter=25).objective)
    assert gains.min() > -0.5 and gains.sum() > 20  # a little smoothing is not in the likelihood


def test_one_iteration_is_that_of_enumerated_paths():
    before, after = HiddenMarkov(HISTORIES, 3, 2, n_iter=0), HiddenMarkov(HISTORIES, 3, 2, n_iter=1)
    moves = np.zeros((2, 2))
    for one in HISTORIES:
        weights = {}
        for path in itertools.product(range(2), repeat=len(one)):
            p = before.start[path[0]] * before.emits[path[0], one[0]]
            for t in range(1, len(one)):
                p *= before.moves[path[t - 1], path[t]] * before.emits[path[t], one[t]]
            weights[path] = p
        for path, p in weights.items():
            for a, b in itertools.pairwise(path):
                moves[a, b] += p / sum(weights.values())
    np.testing.assert_allclose(after.moves, (moves + 1e-3) / (moves + 1e-3).sum(axis=1, keepdims=True), atol=1e-10)


def test_factors_are_a_distribution_in_the_order_of_what_was_counted():
    rng = np.random.default_rng(0)
    histories = [rng.choice(6, 60, p=rng.dirichlet(np.ones(6))) for _ in range(5)]
    logs = factor_softmax(histories, 6, 5, 1e-6, 2.0)
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1.0)
    for one, row in zip(histories, logs, strict=True):  # enough components fit log(count + 1), but for a level
        items, counts = np.unique(one, return_counts=True)
        apart = row[items] - 2.0 * np.log1p(counts)
        np.testing.assert_allclose(apart, apart[0], atol=0.05)
