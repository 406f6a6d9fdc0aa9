"""Least squares, basis pursuit and the mode under Laplace potentials: proofs, other solvers, growing rows."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from adaptive.inference import GLM, map_estimate
from adaptive.inference.classic import basis_pursuit, laplace_mode, least_squares, sparse_bayesian_learning
from adaptive.linalg.row_basis import RowBasis
from adaptive.operators import Dense, FiniteDifference, Wavelet
from adaptive.potentials import Gaussian, Laplace


def signal(n=64, m=24, nonzeros=5, noise=0.0, seed=0):
    rng = np.random.default_rng(seed)
    u = np.zeros(n)
    u[rng.choice(n, nonzeros, replace=False)] = rng.standard_normal(nonzeros) + np.sign(rng.standard_normal(nonzeros))
    X = rng.standard_normal((m, n))
    X /= np.linalg.norm(X, axis=1)[:, None]
    return X, X @ u + noise * rng.standard_normal(m), u


# ---------------------------------------------------------------------- the basis of the rows
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 12), st.integers(1, 8), st.floats(1e-9, 1.0))
def test_row_basis_is_orthonormal_and_spans(seed, m, n, near):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    X[m // 2] = X[0] + near * X[m // 2]  # nearly a repetition
    X[m // 3] *= rng.choice([0.0, 1e-8, 1e8])
    basis, grown = RowBasis(n).appended(X), RowBasis(n)
    for row in X:
        grown = grown.appended(row[None])
    for one in (basis, grown):
        assert np.abs(one.Q @ one.Q.T - np.eye(len(one.Q))).max(initial=0) < 1e-12
        assert np.all(np.linalg.norm(one.T @ one.Q - X, axis=1) <= 1e-11 * np.linalg.norm(X, axis=1))


def test_versions_of_a_basis_do_not_disturb_each_other():
    X, _, _ = signal()
    first = RowBasis(64).appended(X[:5])
    other, second = first.appended(X[10:13]), first.appended(X[5:8])
    np.testing.assert_allclose(first.T @ first.Q, X[:5], atol=1e-14)
    np.testing.assert_allclose(second.T @ second.Q, X[:8], atol=1e-14)
    np.testing.assert_allclose(other.T @ other.Q, X[[0, 1, 2, 3, 4, 10, 11, 12]], atol=1e-14)
    assert len(pickle.loads(pickle.dumps(second)).Q) == 8


# ---------------------------------------------------------------------- least squares
@pytest.mark.parametrize("m", [1, 5, 12, 20])
def test_least_squares_is_the_pseudo_inverse(m):
    rng = np.random.default_rng(m)
    X, y = rng.standard_normal((m, 12)), rng.standard_normal(m)
    result, grown = least_squares(X, y), None
    for k in range(1, m + 1):
        grown = least_squares(X[:k], y[:k], warm_start=grown)
    expected = np.linalg.pinv(X) @ y
    np.testing.assert_allclose(result.mean, expected, atol=1e-10)
    np.testing.assert_allclose(grown.mean, expected, atol=1e-10)
    assert (result.certificates["residual"] < 1e-12) == (m <= 12)


def test_least_squares_of_orthonormal_rows_is_their_transpose():
    W = Wavelet((8, 8))
    rows = W.to_dense()[[0, 3, 17, 40]]
    y = np.array([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_allclose(least_squares(rows, y).mean, rows.T @ y, atol=1e-14)


def test_rows_of_zeros_and_repeated_rows_are_met_as_nearly_as_can_be():
    X = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    y = np.array([1.0, 5.0, 3.0])
    for reconstruct in (least_squares, basis_pursuit):
        np.testing.assert_allclose(reconstruct(X, y).mean, [2.0, 0.0, 0.0], atol=1e-12)
        np.testing.assert_array_equal(reconstruct(np.zeros((2, 3)), [1.0, 2.0]).mean, np.zeros(3))
    posterior = sparse_bayesian_learning(np.zeros((2, 3)), [1.0, 2.0], 0.1)
    np.testing.assert_array_equal(posterior.mean, np.zeros(3))
    np.testing.assert_array_equal(posterior.variances(), np.zeros(3))


@pytest.mark.parametrize("reconstruct", [least_squares, basis_pursuit, sparse_bayesian_learning])
def test_operators_sparse_matrices_and_arrays_agree(reconstruct):
    X, y, _ = signal()
    means = [reconstruct(one, y).mean for one in (X, Dense(X), scipy.sparse.csr_array(X))]
    np.testing.assert_allclose(means[1], means[0], atol=1e-12)
    np.testing.assert_allclose(means[2], means[0], atol=1e-12)
    assert np.array_equal(copy.deepcopy(reconstruct(X, y)).mean, means[0])


@pytest.mark.parametrize("reconstruct", [least_squares, basis_pursuit, sparse_bayesian_learning])
@pytest.mark.parametrize(
    "X, y, message",
    [
        (np.ones((2, 3)), [1.0], "y must have one value per row"),
        (np.ones((2, 3)), [1.0, np.nan], "y contains nan"),
        ([[1.0, np.inf]], [1.0], "X contains inf"),
        (np.ones((1, 3)) * 1j, [1.0], "X must be real"),
        (np.ones(3), [1.0], "X must have shape"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(reconstruct, X, y, message):
    with pytest.raises(ValueError, match=message):
        reconstruct(X, y)


def test_other_refusals():
    X, y, _ = signal()
    with pytest.raises(ValueError, match="noise_variance"):
        sparse_bayesian_learning(X, y, 0.0)
    with pytest.raises(ValueError, match="orthonormal"):
        basis_pursuit(X, y, B=2 * np.eye(64))
    with pytest.raises(ValueError, match="orthonormal"):
        sparse_bayesian_learning(X, y, B=FiniteDifference(64))
    with pytest.raises(ValueError, match="warm_start must be a result of basis_pursuit"):
        basis_pursuit(X, y, warm_start=least_squares(X, y))
    with pytest.raises(ValueError, match="Laplace potentials only, got Gaussian"):
        laplace_mode(GLM(X, y, 1.0, potentials=Gaussian(1.0)))
    with pytest.raises(ValueError, match="got a Gaussian prior"):
        laplace_mode(GLM(X, y, 1.0, potentials=Laplace(1.0), prior_covariance=1.0))
    with pytest.raises(ValueError, match="got no measurements"):
        laplace_mode(GLM(potentials=Laplace(np.ones(3))))


# ---------------------------------------------------------------------- basis pursuit
def test_few_nonzeros_are_found_exactly_without_noise():
    X, y, u = signal()
    result = basis_pursuit(X, y)
    np.testing.assert_allclose(result.mean, u, atol=1e-10)
    assert result.certificates["duality_gap"] < 1e-9 and result.certificates["infeasibility"] < 1e-12


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 30), st.sampled_from(["normal", "heavy", "spikes"]))
def test_basis_pursuit_is_the_linear_programme(seed, m, kind):
    rng = np.random.default_rng(seed)
    n = 40
    u = {"normal": rng.standard_normal(n), "heavy": rng.standard_t(1.5, n), "spikes": rng.choice([0, 0, 0, 1.0], n)}[
        kind
    ]
    X = rng.standard_normal((m, n)) * 10.0 ** rng.integers(-3, 4)
    y = X @ u + 0.1 * rng.standard_normal(m)
    result = basis_pursuit(X, y)
    programme = linprog(np.ones(2 * n), A_eq=np.hstack([X, -X]), b_eq=y)
    assert np.abs(result.mean).sum() == pytest.approx(programme.fun, rel=1e-7)
    assert result.certificates["duality_gap"] < 1e-9


def test_basis_pursuit_in_a_transform_and_along_growing_rows():
    W, (X, y, _) = Wavelet((8, 8)), signal(m=40, noise=0.05)
    grown = None
    for m in (1, 5, 6, 7, 20, 40):
        grown = basis_pursuit(X[:m], y[:m], B=W, warm_start=grown)
        fresh = basis_pursuit(X[:m], y[:m], B=W)
        np.testing.assert_allclose(grown.mean, fresh.mean, atol=1e-8)
    transformed = basis_pursuit(X @ W.to_dense().T, y)
    np.testing.assert_allclose(W.forward(grown.mean.reshape(8, 8)).ravel(), transformed.mean, atol=1e-8)
    shorter = basis_pursuit(X[:3], y[:3], B=W, warm_start=grown)  # not a continuation: begins anew
    np.testing.assert_allclose(shorter.mean, basis_pursuit(X[:3], y[:3], B=W).mean, atol=1e-8)


def test_measured_coefficients_leave_basis_pursuit_nothing_to_add_to_least_squares():
    W = Wavelet((8, 8))
    rows = W.to_dense()[:20]
    y = np.random.default_rng(0).laplace(size=20)
    np.testing.assert_allclose(basis_pursuit(rows, y, B=W).mean, rows.T @ y, atol=1e-12)
    np.testing.assert_allclose(least_squares(rows, y).mean, rows.T @ y, atol=1e-12)


def test_basis_pursuit_says_when_it_has_not_converged():
    X, y, _ = signal(noise=0.1)
    with pytest.warns(ConvergenceWarning, match="duality gap"):
        result = basis_pursuit(X, y, max_iter=3)
    assert not result.converged and result.certificates["duality_gap"] > 1e-6
    assert result.certificates["infeasibility"] < 1e-12  # feasible all the same


# ---------------------------------------------------------------------- L1 and total variation
def image_model(m, shape=(8, 8), rates=(5.0, 2.0), seed=0, operators=None):
    rng = np.random.default_rng(seed)
    n = int(np.prod(shape))
    u = np.zeros(shape)
    u[2:5, 3:7] = 1.0
    X = rng.standard_normal((m, n))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = X @ u.ravel() + 0.07 * rng.standard_normal(m)
    B = operators or [FiniteDifference(shape), Wavelet(shape)]
    return GLM(X, y, 0.005, B=B, potentials=[Laplace(1 / rate) for rate in rates[: len(B)]])


@pytest.mark.parametrize("m, kinds", [(20, "both"), (100, "both"), (30, "differences"), (30, "own")])
def test_laplace_mode_is_proven_and_agrees_with_map_estimate(m, kinds):
    rng = np.random.default_rng(3)
    operators = {
        "both": None,
        "differences": [FiniteDifference((8, 8))],  # B'B is singular
        "own": [np.vstack([np.eye(64), rng.standard_normal((9, 64))])],  # cosines do not diagonalise B'B
    }[kinds]
    model = image_model(m, operators=operators)
    result = laplace_mode(model, tol=1e-7)
    assert result.certificates["dual_excess"] < 1e-9 and result.certificates["gradient"] < 1e-6
    smoothed = map_estimate(model, smoothing=1e-10)
    np.testing.assert_allclose(result.mean, smoothed.mean, atol=2e-3)

    def objective(u):
        return float(np.sum((model.measure(u) - model.y) ** 2)) / 0.01 - float(
            np.sum(model.potential.log_density(model.project(u)) - model.potential.log_density(0.0 * model.project(u)))
        )

    assert objective(result.mean) == pytest.approx(result.objective_trace[-1], rel=1e-12)
    assert objective(result.mean) <= objective(smoothed.mean) * (1 + 1e-6)


def test_laplace_mode_with_locations_is_shifted():
    rng = np.random.default_rng(0)
    X, y, centre = rng.standard_normal((6, 10)), rng.standard_normal(6), rng.standard_normal(10)
    there = laplace_mode(GLM(X, y, 0.1, potentials=Laplace(0.5, centre)), tol=1e-8)
    here = laplace_mode(GLM(X, y - X @ centre, 0.1, potentials=Laplace(0.5)), tol=1e-8)
    np.testing.assert_allclose(there.mean, here.mean + centre, atol=1e-6)


def test_laplace_mode_along_growing_rows_keeps_factors_and_ends_at_the_same_point():
    model = image_model(40)
    operators = [b for b, _ in model.groups]
    X, y = model.X.matrix, model.y
    grown = None
    for m in (10, 12, 40):
        part = GLM(X[:m], y[:m], 0.005, B=operators, potentials=[p for _, p in model.groups])
        grown = laplace_mode(part, tol=1e-7, warm_start=grown)
        fresh = laplace_mode(part, tol=1e-7)
        np.testing.assert_allclose(grown.mean, fresh.mean, atol=1e-3)
    assert grown.working[0].penalty.invertible and len(grown.working[0].gram) == 40


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_reconstructions_do_not_depend_on_units(size):
    X, y, _ = signal(n=40, m=20, nonzeros=3)

    def means(size):
        return np.stack(
            [
                basis_pursuit(X, size * y).mean,
                laplace_mode(GLM(X, size * y, 0.01 * size**2, potentials=Laplace(0.3 * size)), tol=1e-7).mean,
                sparse_bayesian_learning(X, size * y, 1e-6 * size**2).mean,
                sparse_bayesian_learning(X, size * y).mean,
            ]
        )

    np.testing.assert_allclose(means(size) / size, means(1.0), atol=1e-5)


def test_a_strong_penalty_leaves_nothing():
    X, y, _ = signal()
    result = laplace_mode(GLM(X, y, 1.0, potentials=Laplace(1e-3)))
    assert result.converged and np.abs(result.mean).max() < 1e-8
    assert laplace_mode(GLM(X, 0 * y, 1.0, potentials=Laplace(1.0))).converged


def test_laplace_mode_says_when_it_has_not_converged():
    with pytest.warns(ConvergenceWarning, match="relative gradient"):
        assert not laplace_mode(image_model(20), max_iter=2).converged


def test_point_estimates_refuse_variances():
    X, y, _ = signal()
    for result in (least_squares(X, y), basis_pursuit(X, y)):
        with pytest.raises(ValueError, match="point estimate, without variances"):
            result.variances()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert laplace_mode(image_model(20)).converged
