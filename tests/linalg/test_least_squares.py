import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from adaptive.linalg import density_compensated, least_squares, line_weights
from adaptive.operators import FourierLines


@given(st.integers(1, 12), st.integers(1, 12), st.booleans(), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_is_the_pseudo_inverse(m, n, is_complex, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((m, n)), rng.standard_normal(m)
    if is_complex:
        X, y = X + 1j * rng.standard_normal((m, n)), y + 1j * rng.standard_normal(m)
    expected = np.linalg.pinv(X) @ y
    found = least_squares(X, y, tol=1e-13, max_iter=1000)
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.linalg.norm(expected))


def test_ridge_and_real_unknown():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((9, 6)), rng.standard_normal(9)
    ridge = np.linalg.solve(X.T @ X + 0.49 * np.eye(6), X.T @ y)
    np.testing.assert_allclose(least_squares(X, y, damping=0.7, tol=1e-12), ridge, atol=1e-9)
    F = FourierLines((4, 4), [0, 1, 2])
    image = rng.standard_normal((4, 4))
    found = least_squares(F, F.forward(image), real=True)  # the missing line mirrors line 1
    assert found.dtype == float
    np.testing.assert_allclose(found, image, atol=1e-6)


def test_cartesian_minimum_norm_is_the_adjoint():
    F = FourierLines((6, 5), [1, 3, 4])
    y = np.random.default_rng(1).standard_normal((3, 5)) + 0j
    np.testing.assert_allclose(least_squares(F, y), F.adjoint(y), atol=1e-10)


def test_zero_data_and_non_convergence():
    assert not least_squares(np.eye(3), np.zeros(3)).any()
    with pytest.warns(ConvergenceWarning, match="LSQR stopped after 2 iterations"):
        least_squares(np.diag(np.arange(1.0, 9.0)), np.ones(8), max_iter=2)
    with pytest.raises(ValueError, match=r"y must have shape \(3,\)"):
        least_squares(np.eye(3), np.zeros(2))


@pytest.mark.parametrize("n", [8, 9])
def test_all_lines_reconstruct_exactly_and_half_of_them_with_their_mirrors(n):
    image = np.random.default_rng(2).standard_normal((n, n))
    F = FourierLines((n, n), range(n))
    weights = line_weights(range(n), n)
    np.testing.assert_allclose(weights, 1.0)
    np.testing.assert_allclose(density_compensated(F, F.forward(image), weights[:, None]), image, atol=1e-12)
    half = range(n // 2 + 1)
    F = FourierLines((n, n), half)
    weights = line_weights(half, n, mirror=True)
    found = density_compensated(F, F.forward(image), weights[:, None], mirror=True)
    np.testing.assert_allclose(found, image, atol=1e-12)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="weights must be"):
        density_compensated(np.eye(2), [1.0, 1.0], [-1.0, 1.0])
