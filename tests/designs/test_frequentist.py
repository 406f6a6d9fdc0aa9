"""The two toys of Bayesian against frequentist design, and the formulas behind them by brute force."""

import numpy as np
import pytest

from designs.optimal import bayesian_gain, best_direction, frequentist_gain

ANGLES = np.linspace(0, np.pi, 2001)
DIRECTIONS = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])


def covariance_of_the_estimate(X, P):
    A = X.T @ X + P
    return np.linalg.inv(A) @ X.T @ X @ np.linalg.inv(A)


def test_the_frequentist_gain_is_the_loss_of_volume_of_the_estimate():
    rng = np.random.default_rng(0)
    X, rows, root = rng.standard_normal((5, 3)), rng.standard_normal((2, 3)), rng.standard_normal((3, 3))
    P = root @ root.T
    before, after = (np.linalg.slogdet(covariance_of_the_estimate(Z, P))[1] for Z in (X, np.vstack([X, rows])))
    np.testing.assert_allclose(frequentist_gain(rows, X, P), before - after, rtol=1e-12)
    np.testing.assert_allclose(
        frequentist_gain(rows, X, np.zeros((3, 3))), 2 * bayesian_gain(rows, np.linalg.inv(X.T @ X)), rtol=1e-12
    )


def test_the_bayesian_gain_is_the_drop_of_entropy():
    rng = np.random.default_rng(1)
    root, rows, noise = rng.standard_normal((3, 3)), rng.standard_normal((2, 3)), 0.3
    V = root @ root.T
    after = np.linalg.inv(np.linalg.inv(V) + rows.T @ rows / noise)
    drop = 0.5 * (np.linalg.slogdet(V)[1] - np.linalg.slogdet(after)[1])
    np.testing.assert_allclose(bayesian_gain(rows, V, noise), drop, rtol=1e-12)
    best = best_direction(V)
    assert bayesian_gain(best, V) >= max(
        bayesian_gain(row / np.linalg.norm(row), V) for row in rng.standard_normal((50, 3))
    )


@pytest.mark.parametrize("gamma", [1.5, 4.0, 100.0])
def test_first_toy_the_axis_not_measured_against_the_one_measured(gamma):
    X, B = np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]])
    P = B.T @ B / gamma
    V = np.linalg.inv(X.T @ X + P)
    np.testing.assert_allclose(V, np.diag([gamma, 1.0]))
    np.testing.assert_allclose(best_direction(V), [1.0, 0.0])
    assert np.abs(frequentist_direction(X, P)) == pytest.approx([0.0, 1.0], abs=2e-3)


@pytest.mark.parametrize("gamma", [0.05, 0.5, 1.0, 4.0, 1000.0])
def test_second_toy_across_what_was_measured_against_along_it(gamma):
    X, B = np.array([[1.0, 1.0]]), np.array([[1.0, 0.0]])
    P = B.T @ B / gamma
    V = np.linalg.inv(X.T @ X + P)
    xi = (np.sqrt(gamma**-2 + 4) - gamma**-1) / 2
    closed = np.array([-xi, 1.0]) / np.hypot(xi, 1.0)
    assert abs(best_direction(V) @ closed) == pytest.approx(1.0, abs=1e-12)
    gains = [bayesian_gain(row, V) for row in DIRECTIONS]
    assert abs(DIRECTIONS[np.argmax(gains)] @ closed) == pytest.approx(1.0, abs=1e-5)
    along = np.array([1.0, 1.0]) / np.sqrt(2)
    assert abs(frequentist_direction(X, P) @ along) == pytest.approx(1.0, abs=1e-5)


def test_flat_priors_make_the_two_agree():
    X = np.array([[1.0, 1.0], [0.2, -0.1]])
    P = 1e-9 * np.eye(2)
    bayes = best_direction(np.linalg.inv(X.T @ X + P))
    gains = [frequentist_gain(row, X, P) for row in DIRECTIONS]
    assert abs(DIRECTIONS[np.argmax(gains)] @ bayes) == pytest.approx(1.0, abs=1e-5)


def frequentist_direction(X, P):
    """Best unit row in the limit of a second measurement that vanishes: with one row alone there is no score."""
    with pytest.raises(ValueError, match="X must have 2 independent rows for the frequentist score"):
        frequentist_gain(DIRECTIONS[0], X, P)
    across = np.array([[X[0, 1], -X[0, 0]]]) * 1e-5
    gains = [frequentist_gain(row, np.vstack([X, across]), P) for row in DIRECTIONS]
    return DIRECTIONS[int(np.argmax(gains))]


def test_bad_input_ends_in_one_sentence():
    with pytest.raises(ValueError, match="covariance must have shape"):
        bayesian_gain([1.0, 0.0], np.eye(3))
    with pytest.raises(ValueError, match="noise_variance must be > 0"):
        bayesian_gain([1.0, 0.0], np.eye(2), 0.0)
    with pytest.raises(ValueError, match="X must have shape"):
        frequentist_gain([1.0, 0.0], np.eye(3), np.eye(2))
    with pytest.raises(ValueError, match="rows contains nan"):
        bayesian_gain([np.nan, 0.0], np.eye(2))
