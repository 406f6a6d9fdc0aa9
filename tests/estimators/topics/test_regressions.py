"""The sum factor against the joint posterior; the dense regression against it; forgetting and dividing out."""

import numpy as np
import pytest

from adaptive.estimators.topics.inference import dense_regression, sum_factor

COLUMNS, VALUES = np.array([0, 2, 3]), np.array([1.0, -2.0, 0.5])
SAID_PRECISION, SAID = np.array([2.0, 0.0]), np.array([1.5, 0.0])
NOISE = np.array([0.3, 0.4])


def tables():
    rng = np.random.default_rng(0)
    precision = rng.gamma(2.0, 1.0, (5, 2))
    return precision, precision * rng.normal(size=(5, 2))


def joint(precision, shift, k=0):
    """Posterior of topic k's weights after the datum, all correlations kept."""
    f = np.zeros(5)
    f[COLUMNS] = VALUES
    r = NOISE[k] + 1 / SAID_PRECISION[k]
    P = np.diag(precision[:, k]) + np.outer(f, f) / r
    C = np.linalg.inv(P)
    return C @ (shift[:, k] + f * SAID[k] / SAID_PRECISION[k] / r), C


def learnt(precision, shift):
    mean, variance, messages = np.empty(2), np.empty(2), np.zeros((3, 2, 2))
    sum_factor.forecast(COLUMNS, VALUES, precision, shift, mean, variance)
    sum_factor.learn(COLUMNS, VALUES, precision, shift, mean, variance, SAID_PRECISION, SAID, NOISE, messages)
    return messages


def test_one_datum_has_the_exact_marginals():
    precision, shift = tables()
    mean, C = joint(precision, shift)
    before = precision[:, 1].copy()
    learnt(precision, shift)
    np.testing.assert_allclose(1 / precision[:, 0], np.diag(C), rtol=1e-12)
    np.testing.assert_allclose(shift[:, 0] / precision[:, 0], mean, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(precision[:, 1], before)  # of topic 1 nothing was said


def test_divided_out_it_is_as_before_and_what_would_be_improper_stays():
    precision, shift = tables()
    kept = precision.copy(), shift.copy()
    messages = learnt(precision, shift)
    assert sum_factor.divide(COLUMNS, messages, precision, shift, 1e-6) == 0
    np.testing.assert_allclose(precision, kept[0], rtol=1e-13)
    np.testing.assert_allclose(shift, kept[1], rtol=1e-12, atol=1e-13)
    assert sum_factor.divide(COLUMNS, messages + 100.0, precision, shift, 1e-6) == 6
    np.testing.assert_allclose(precision, kept[0], rtol=1e-13)


def test_forgetting_keeps_the_mean():
    precision, shift = tables()
    before = precision.copy(), shift / precision
    sum_factor.forget(COLUMNS, precision, shift, 0.5, 0.9)
    np.testing.assert_allclose(precision[COLUMNS], 0.5 + 0.9 * (before[0][COLUMNS] - 0.5))
    np.testing.assert_array_equal(precision[[1, 4]], before[0][[1, 4]])
    np.testing.assert_allclose(shift / precision, before[1], rtol=1e-14)


def test_dense_is_the_joint_posterior_and_comes_apart_again():
    precision, shift = tables()
    mean, C = joint(precision, shift)
    means, covariances = shift / precision, np.stack([np.diag(1 / precision[:, k]) for k in range(2)])
    first = means.copy(), covariances.copy()
    left = 1 + SAID_PRECISION * NOISE
    a, q = np.empty(2), np.empty(2)
    assert dense_regression.multiply(COLUMNS, VALUES, means, covariances, SAID_PRECISION / left, SAID / left, 1.0) == 0
    np.testing.assert_allclose(covariances[0], C, atol=1e-13)
    np.testing.assert_allclose(means[:, 0], mean, atol=1e-13)
    dense_regression.forecast(COLUMNS, VALUES, means, covariances, a, q)
    assert q[0] == pytest.approx(VALUES @ C[np.ix_(COLUMNS, COLUMNS)] @ VALUES)
    dense_regression.multiply(COLUMNS, VALUES, means, covariances, SAID_PRECISION / left, SAID / left, -1.0)
    np.testing.assert_allclose(covariances, first[1], atol=1e-12)
    np.testing.assert_allclose(means, first[0], atol=1e-12)
    assert dense_regression.multiply(COLUMNS, VALUES, means, covariances, np.full(2, 1e6), SAID, -1.0) == 2
