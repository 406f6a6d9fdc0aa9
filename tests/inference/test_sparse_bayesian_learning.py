"""Sparse Bayesian learning: every change is what recomputing says, the evidence never falls, its own design."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from adaptive.inference import GLM, expectation_propagation, variational_bounds
from adaptive.inference.classic import sparse_bayesian_learning
from adaptive.inference.classic.scale_maximisation import ScaleMaximisation
from adaptive.operators import Wavelet
from adaptive.potentials import Laplace


def problem(n=48, m=20, noise=0.005, kind="spikes", seed=0):
    rng = np.random.default_rng(seed)
    u = {
        "spikes": np.where(rng.random(n) < 0.1, rng.choice([-2.0, 2.0], n), 0.0),
        "normal": rng.standard_normal(n),
        "heavy": rng.standard_t(2, n),
    }[kind]
    X = rng.standard_normal((m, n))
    X /= np.linalg.norm(X, axis=1)[:, None]
    return X, X @ u + np.sqrt(noise) * rng.standard_normal(m), u


def evidence(X, y, noise, active, precisions):
    """Of the Gaussian model at these scales, from its covariance."""
    C = noise * np.eye(len(y)) + (X[:, active] / precisions) @ X[:, active].T
    return -0.5 * (len(y) * np.log(2 * np.pi) + np.linalg.slogdet(C)[1] + y @ np.linalg.solve(C, y))


# ---------------------------------------------------------------------- changes
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31), st.integers(3, 40), st.sampled_from(["spikes", "normal", "heavy"]))
def test_every_change_equals_the_recomputed_difference(seed, m, kind):
    X, y, _ = problem(m=m, kind=kind, seed=seed)
    state = ScaleMaximisation(X, y, 0.005)
    for _ in range(60):
        i, alpha, rise = state.best_change()
        if rise <= 1e-10:
            break
        before = evidence(X, y, 0.005, state.active, state.precisions)
        state.change(i, alpha, rise)
        after = evidence(X, y, 0.005, state.active, state.precisions)
        assert after - before == pytest.approx(rise, rel=1e-7, abs=1e-9)
        fresh = ScaleMaximisation(X, y, 0.005, state.active, state.precisions)
        assert state.log_evidence == pytest.approx(after, rel=1e-10, abs=1e-8)
        for name in ("S", "Q", "mean", "covariance"):
            expected = getattr(fresh, name)
            np.testing.assert_allclose(
                getattr(state, name), expected, atol=1e-8 * (np.abs(expected).max(initial=0) + 1)
            )


def test_additions_re_estimates_and_deletions_rise_to_1e_10():
    X, y, _ = problem(n=96, m=60, kind="normal", seed=3)
    state, kinds = ScaleMaximisation(X, y, 0.005), {"add": 0, "re-estimate": 0, "delete": 0}
    for _ in range(600):
        i, alpha, rise = state.best_change()
        if rise <= 1e-10:
            break
        kinds["add" if i not in state.active else "delete" if np.isinf(alpha) else "re-estimate"] += 1
        before = ScaleMaximisation(X, y, 0.005, state.active, state.precisions).log_evidence
        state.change(i, alpha, rise)
        after = ScaleMaximisation(X, y, 0.005, state.active, state.precisions).log_evidence
        assert abs(after - before - rise) < 1e-10 * max(1.0, abs(after))
    assert min(kinds.values()) > 0


def test_no_other_single_scale_does_better_at_the_end():
    X, y, _ = problem(kind="heavy", seed=1)
    posterior = sparse_bayesian_learning(X, y, 0.005, tol=1e-10)
    best = evidence(X, y, 0.005, posterior.active, posterior.precisions)
    assert posterior.log_evidence == pytest.approx(best, abs=1e-9)
    for i in range(48):
        for alpha in 10.0 ** np.arange(-3, 6):
            others = posterior.active != i
            active = np.append(posterior.active[others], i)
            assert evidence(X, y, 0.005, active, np.append(posterior.precisions[others], alpha)) <= best + 1e-8


@pytest.mark.parametrize("kind", ["spikes", "normal", "heavy"])
@pytest.mark.parametrize("noise", [0.005, None])
def test_the_evidence_never_falls(kind, noise):
    X, y, _ = problem(n=96, m=60, kind=kind)
    posterior = sparse_bayesian_learning(X, y, noise)
    assert posterior.converged
    assert np.diff(posterior.objective_trace).max() < 1e-9
    assert posterior.log_evidence == pytest.approx(-posterior.objective_trace[-1], abs=1e-8)
    s2 = posterior.noise_variance
    assert posterior.log_evidence == pytest.approx(evidence(X, y, s2, posterior.active, posterior.precisions), abs=1e-8)


# ---------------------------------------------------------------------- the posterior
def test_the_posterior_is_the_gaussian_at_the_scales_found():
    W = Wavelet((8, 8))
    X, y, _ = problem(n=64, m=30)
    posterior = sparse_bayesian_learning(X, y, 0.005, B=W)
    rows = W.to_dense()[posterior.active]
    S = rows.T / posterior.precisions @ rows
    gain = S @ X.T @ np.linalg.inv(0.005 * np.eye(30) + X @ S @ X.T)
    V = S - gain @ X @ S
    np.testing.assert_allclose(posterior.mean, gain @ y, atol=1e-9)
    np.testing.assert_allclose(posterior.covariance(), V, atol=1e-10)
    np.testing.assert_allclose(posterior.variances(), V.diagonal(), atol=1e-10)
    np.testing.assert_allclose(posterior.variances(X), np.diag(X @ V @ X.T), atol=1e-10)
    values, directions = posterior.leading_directions(3)
    expected = np.linalg.eigvalsh(V)[::-1][:3]
    np.testing.assert_allclose(values, expected, atol=1e-10)
    np.testing.assert_allclose(directions @ V @ directions.T, np.diag(values), atol=1e-10)
    gained = 0.5 * np.sum(np.log1p(values / 0.005))
    assert posterior.information_gain(directions, 0.005) == pytest.approx(gained)
    draws = posterior.sample(4000, 0)
    np.testing.assert_allclose(np.var(draws, axis=0), V.diagonal(), atol=0.1 * V.diagonal().max())


def test_scales_are_zero_and_beliefs_overconfident_where_variational_bounds_keep_every_width():
    X, y, u = problem(n=64, m=24, kind="heavy", seed=5)
    sparse = sparse_bayesian_learning(X, y, 0.005)
    widths = variational_bounds(GLM(X, y, 0.005, potentials=Laplace(1 / np.sqrt(2))), variances="exact")
    assert len(sparse.active) < 24  # most scales are exactly zero, and so are variances there
    off = np.setdiff1d(np.arange(64), sparse.active)
    assert np.all(sparse.variances()[off] == 0.0) and np.all(sparse.mean[off] == 0.0)
    assert np.all(widths.variances() > 1e-3) and np.all(np.isfinite(widths.sites[0]))

    def inside(posterior):
        return np.mean(np.abs(posterior.mean - u) <= 1.645 * np.sqrt(posterior.variances()) + 1e-12)

    assert inside(sparse) < 0.5 < inside(widths)


# ---------------------------------------------------------------------- design, growing rows, failures
def test_explore_lets_directions_leave_the_active_set():
    X, y, _ = problem()
    posterior, wide = (sparse_bayesian_learning(X, y, 0.005, explore=e) for e in (False, True))
    off = np.setdiff1d(np.arange(48), posterior.active)
    np.testing.assert_array_equal(wide.mean, posterior.mean)
    assert np.abs(posterior.leading_directions(2)[1][:, off]).max() == 0.0
    values, directions = wide.leading_directions(2)
    assert np.abs(directions[:, off]).max() > 0.0
    precision = np.full(48, posterior.precisions.max())
    precision[posterior.active] = posterior.precisions
    V = np.linalg.inv(np.diag(precision) + X.T @ X / 0.005)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(V)[::-1][:2], rtol=1e-8)
    np.testing.assert_allclose(np.einsum("ij,jk,ik->i", directions, V, directions), values, rtol=1e-8)
    np.testing.assert_allclose(wide.leading_directions(48)[0], np.linalg.eigvalsh(V)[::-1], rtol=1e-6)


def test_more_directions_than_active_coefficients_are_completed():
    X, y, _ = problem(m=5)
    posterior = sparse_bayesian_learning(X, y, 0.005)
    values, directions = posterior.leading_directions(10)
    k = len(posterior.active)
    assert np.all(values[:k] > 0) and np.all(values[k:] == 0)
    np.testing.assert_allclose(directions @ directions.T, np.eye(10), atol=1e-12)
    with pytest.raises(ValueError, match="at most the number of unknowns, 48"):
        posterior.leading_directions(49)
    nothing = sparse_bayesian_learning(X, np.zeros(5), 0.005)
    assert len(nothing.active) == 0 and np.all(nothing.mean == 0) and np.all(nothing.leading_directions(1)[0] == 0)


def test_a_warm_start_goes_on_with_appended_rows():
    W = Wavelet((8, 8))
    X, y, _ = problem(n=64, m=30, seed=2)
    first = sparse_bayesian_learning(X[:24], y[:24], 0.005, B=W)
    warm = sparse_bayesian_learning(X, y, 0.005, B=W, warm_start=first)
    again = sparse_bayesian_learning(X, y, 0.005, B=W, warm_start=warm)
    assert again.n_iter == 0 and again.log_evidence == pytest.approx(warm.log_evidence, abs=1e-8)
    A = X @ W.to_dense().T
    assert warm.log_evidence == pytest.approx(evidence(A, y, 0.005, warm.active, warm.precisions), abs=1e-8)
    assert first.n_iter > 0 and np.array_equal(first.mean, sparse_bayesian_learning(X[:24], y[:24], 0.005, B=W).mean)


def test_few_changes_warn():
    X, y, _ = problem()
    with pytest.warns(ConvergenceWarning, match="after 2 changes"):
        posterior = sparse_bayesian_learning(X, y, 0.005, max_iter=2)
    assert not posterior.converged and len(posterior.active) <= 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sparse_bayesian_learning(X, y, 0.005).converged


def test_the_noise_is_estimated_where_there_are_rows_enough():
    X, y, _ = problem(n=40, m=200, noise=0.02, seed=4)
    posterior = sparse_bayesian_learning(X, y)
    assert posterior.noise_variance == pytest.approx(0.02, rel=0.4)


def test_coefficients_that_no_row_sees_stay_off():
    """Rows of the basis itself: the other columns are zero but for rounding."""
    W = Wavelet((8, 8))
    rows = W.to_dense()[:20]
    u = W.adjoint(np.random.default_rng(0).laplace(size=(8, 8))).ravel()
    posterior = sparse_bayesian_learning(rows, rows @ u, 0.005, B=W)
    assert set(posterior.active) <= set(range(20))
    assert np.linalg.norm(rows @ (posterior.mean - u)) < 0.5


@pytest.mark.parametrize("seed", range(3))
def test_its_own_design_goes_nowhere_new_where_signals_are_not_sparse(seed):
    """Expectation propagation, which keeps all widths, designs rows that serve it better."""
    X, y, u = problem(n=96, m=16, kind="normal", seed=seed)
    noise = np.sqrt(0.005) * np.random.default_rng(100 + seed).standard_normal(60)
    errors, outside = {}, []
    for name in ("sparse", "ep"):
        rows, outcomes = X, y
        for k in range(32):
            if name == "sparse":
                posterior = sparse_bayesian_learning(rows, outcomes, 0.005, tol=1e-3)
            else:
                model = GLM(rows, outcomes, 0.005, potentials=Laplace(1 / 5.0))
                posterior = expectation_propagation(model, fraction=0.9, tol=1e-3)
            direction = posterior.leading_directions(1)[1]
            if name == "sparse":
                off = np.setdiff1d(np.arange(96), posterior.active)
                outside.append(np.abs(direction[:, off]).max())
            rows = np.vstack([rows, direction])
            outcomes = np.append(outcomes, direction @ u + noise[k])
        errors[name] = np.linalg.norm(posterior.mean - u)
    assert max(outside) == 0.0
    assert errors["ep"] < 0.95 * errors["sparse"]
