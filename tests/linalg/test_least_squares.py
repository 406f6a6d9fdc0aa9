import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from sklearn.exceptions import ConvergenceWarning

from adaptive.linalg import density_compensated, least_squares, line_weights, sample_weights
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


@given(st.integers(1, 40), st.data())
@settings(max_examples=30, deadline=None)
def test_line_weights_share_k_space(n, data):
    lines = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    weights = line_weights(lines, n)
    assert (weights > 0).all()
    assert weights.sum() == pytest.approx(n)
    order = np.random.default_rng(0).permutation(len(lines))
    np.testing.assert_allclose(line_weights(np.array(lines)[order], n), weights[order])


def test_sample_weights_are_voronoi_areas():
    rng = np.random.default_rng(3)
    radius = np.sqrt(rng.random(150)) * 4
    angle = rng.random(150) * 2 * np.pi
    samples = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    weights = sample_weights(samples, 4.0)
    assert weights.sum() == pytest.approx(16 * np.pi)
    grid = rng.uniform(-4, 4, (400_000, 2))
    grid = grid[np.hypot(*grid.T) < 4]
    shares = np.bincount(cKDTree(samples).query(grid)[1], minlength=150) / len(grid) * 16 * np.pi
    np.testing.assert_allclose(weights, shares, atol=6 * np.sqrt(shares.max() * 16 * np.pi / len(grid)))


@pytest.mark.parametrize("samples", [[[0.0, 0.0]], [[0.5, 0.0], [-0.5, 0.0]], [[0.3, 0.3]] * 4])
def test_few_and_repeated_samples_share_the_disc(samples):
    weights = sample_weights(samples, 1.0)
    np.testing.assert_allclose(weights, np.pi / len(samples), rtol=1e-6)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="lines must be one or more integers"):
        line_weights([0, 9], 8)
    with pytest.raises(ValueError, match="in the disc of radius 1"):
        sample_weights([[2.0, 0.0]], 1.0)
    with pytest.raises(ValueError, match=r"samples must have shape \(m, 2\)"):
        sample_weights([1.0, 2.0], 1.0)
    with pytest.raises(ValueError, match="weights must be"):
        density_compensated(np.eye(2), [1.0, 1.0], [-1.0, 1.0])
