"""Leading eigenpairs: against eigh, through changes of the matrix, and what they cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.inference import GLM, laplace_approximation, map_estimate, variational_bounds
from adaptive.linalg.subspace_iteration import LeadingSubspace
from adaptive.operators import FiniteDifference, FourierMask, Wavelet
from adaptive.potentials import Laplace


def covariance(n, seed=0, power=0.5):
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    return (Q * np.arange(1.0, n + 1) ** -power) @ Q.T


class Counted:
    def __init__(self, V):
        self.V, self.columns = V, 0

    def __call__(self, M):
        self.columns += M.shape[1]
        return self.V @ M


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 200), st.integers(1, 5), st.floats(0.1, 3.0))
def test_against_eigh(seed, n, k, power):
    k = min(k, n)
    V = covariance(n, seed, power)
    values, directions = LeadingSubspace(n).leading(lambda M: V @ M, k, tol=1e-9)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(V)[::-1][:k], atol=1e-9)
    np.testing.assert_allclose(directions @ directions.T, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(V @ directions.T, directions.T * values, atol=1e-8)
    assert np.all(np.take_along_axis(directions, np.abs(directions).argmax(1)[:, None], 1) > 0)


def test_equal_eigenvalues():
    """A degenerate leading space: any orthonormal basis of it is right."""
    V = np.diag(np.r_[np.full(5, 3.0), np.linspace(0, 1, 295)])
    values, directions = LeadingSubspace(300).leading(lambda M: V @ M, 3, tol=1e-9)
    np.testing.assert_allclose(values, 3.0)
    np.testing.assert_allclose(directions[:, 5:], 0.0, atol=1e-8)
    for matrix in (np.eye(300), np.zeros((300, 300))):
        values, directions = LeadingSubspace(300).leading(lambda M, A=matrix: A @ M, 2)
        np.testing.assert_allclose(values, matrix[0, 0], atol=1e-12)
        np.testing.assert_allclose(directions @ directions.T, np.eye(2), atol=1e-12)


def test_a_search_goes_on_where_the_last_ended():
    """Measuring what leads makes the next ones lead: known nearly, with few products; the matrix is followed."""
    times, n = Counted(covariance(500)), 500
    subspace, fresh = LeadingSubspace(n), []
    for _ in range(6):
        before = times.columns
        values, directions = subspace.leading(times, 3, tol=1e-3)
        assert subspace.n_products == times.columns
        warm = times.columns - before
        np.testing.assert_allclose(values, np.linalg.eigvalsh(times.V)[::-1][:3], rtol=1e-4)
        np.testing.assert_allclose(subspace.known_products(directions), times.V @ directions.T, atol=1e-12)
        cold = LeadingSubspace(n)
        cold.leading(lambda M: times.V @ M, 3, tol=1e-3)
        fresh.append((warm, cold.n_products))
        for x in directions:
            g = times.V @ x
            c = 1.0 / (0.005 + x @ g)
            times.V = times.V - c * np.outer(g, g)
            subspace.change(g, c)
        assert subspace.known_products(directions) is None
        np.testing.assert_allclose(subspace.products, times.V @ subspace.basis, atol=1e-12)
    warm, cold = np.array(fresh[1:]).T
    assert warm.sum() < 0.5 * cold.sum()


def test_every_posterior_knows_its_leading_directions():
    rng = np.random.default_rng(0)
    image = np.add.outer(np.arange(16) > 5, np.arange(16) > 9) / 2.0
    X = FourierMask((16, 16), rng.random((16, 16)) < 0.3)
    y = X.forward(image) + 0.05 * rng.normal(size=X.shape[0])
    B, potentials = [FiniteDifference((16, 16)), Wavelet((16, 16), "db2")], [Laplace(0.1), Laplace(0.5)]
    model = GLM(X, y, 0.05**2, B=B, potentials=potentials)
    dense = variational_bounds(model, variances="exact")
    large = variational_bounds(model, variances="sampled", random_state=0)
    for posterior in (dense, large):
        V = posterior.covariance()
        values, directions = posterior.leading_directions(3, tol=1e-5)
        exact, vectors = np.linalg.eigh((V + V.T) / 2)
        np.testing.assert_allclose(values, exact[::-1][:3], rtol=1e-4)
        np.testing.assert_allclose(np.abs(directions @ vectors[:, ::-1][:, :3]), np.eye(3), atol=0.02)
        again, _ = posterior.leading_directions(3, directions, tol=1e-5)
        np.testing.assert_allclose(again, values, rtol=1e-4)


def test_bad_input():
    posterior = laplace_approximation(GLM(B=[], potentials=[], prior_covariance=[1.0, 4.0]))
    with pytest.raises(ValueError, match="at most the number of unknowns"):
        posterior.leading_directions(3)
    with pytest.raises(ValueError, match="start must have shape"):
        posterior.leading_directions(1, np.ones(2))
    point = map_estimate(GLM(np.eye(2), np.ones(2), potentials=Laplace(1.0)))
    with pytest.raises(ValueError, match="point estimate"):
        point.leading_directions(1)
