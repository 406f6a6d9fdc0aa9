"""A covariance kept by updates: against inverses, both representations, and its counted cost."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from adaptive.gaussians.gaussian_part import GaussianPart
from adaptive.gaussians.measurement_covariance import MeasurementCovariance
from adaptive.gaussians.projection_rows import ProjectionRows
from adaptive.gaussians.sequential_form import SequentialForm
from adaptive.gaussians.updated_covariance import UpdatedCovariance
from adaptive.operators import FiniteDifference, Wavelet

SIDE, NOISE = 8, 0.01


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    rows = ProjectionRows([FiniteDifference((SIDE, SIDE)), Wavelet((SIDE, SIDE), "haar")])
    q, n = rows.shape
    X, y = rng.normal(size=(12, n)), rng.normal(size=12)
    form = SequentialForm(rows, X[:9], y[:9], np.full(9, NOISE))
    return form.refit(0.5 + rng.random(q), rng.normal(size=q)), X, y, rng


def exact(form, X, y):
    """Covariance and mean by algebra."""
    B = np.vstack([b.to_dense() for b in form.rows.operators])
    V = np.linalg.inv(X.T @ X / NOISE + (B.T * form.pi) @ B)
    return B, V, V @ (X.T @ y / NOISE + B.T @ form.nu)


def agree(form, X, y):
    B, V, mean = exact(form, X, y)
    np.testing.assert_allclose(form.mean, mean, atol=1e-9)
    np.testing.assert_allclose(form.projections, B @ mean, atol=1e-9)
    np.testing.assert_allclose(form.row_variances, np.einsum("ij,jk,ik->i", B, V, B), rtol=1e-9)
    assert form.log_determinant == pytest.approx(np.linalg.slogdet(V)[1], abs=1e-8)
    M = np.random.default_rng(1).normal(size=(len(V), 30))
    for k in (1, 3, 30):
        np.testing.assert_allclose(form.covariance_times(M[:, :k]), V @ M[:, :k], atol=1e-9)
    np.testing.assert_allclose(form.covariance_times(M[:, 0]), V @ M[:, 0], atol=1e-9)
    np.testing.assert_allclose(form.project_variance(None), V.diagonal(), rtol=1e-9)
    np.testing.assert_allclose(form.project_covariance(M.T, None), M.T @ V, atol=1e-9)
    np.testing.assert_allclose(form.project_covariance(None, None), V, atol=1e-10)


def test_changes_of_sites_and_new_data(problem):
    form, X, y, rng = problem
    agree(form, X[:9], y[:9])
    for _ in range(130):  # more than wait, up and down
        i = int(rng.integers(form.rows.shape[0]))
        form.update_site(i, float(rng.uniform(-0.6, 2.0) * form.pi[i]), float(rng.normal()))
    agree(form, X[:9], y[:9])
    longer = form.transfer(X, y, np.full(12, NOISE))
    agree(longer, X, y)
    assert longer.work.absorbed == 3 and longer.work.updates == 130 and longer.work.factorisations == 1
    assert longer.check() < 1e-10 and longer.refresh() < 1e-10
    agree(longer, X, y)
    agree(form, X[:9], y[:9])  # the old one, which factorises again
    assert form.work.factorisations == 2


def test_single_precision_keeps_its_digits_and_is_given_up_where_they_would_be_lost(problem):
    """Beside double precision after as many changes; a precision with pivots of 1e-8 of its diagonal is double."""
    double, X, y, rng = problem
    single = SequentialForm(double.rows, X[:9], y[:9], np.full(9, NOISE), dtype="float32").refit(double.pi, double.nu)
    assert single.single and not double.single
    for _ in range(130):
        i, d_nu = int(rng.integers(double.rows.shape[0])), float(rng.normal())
        d_pi = float(rng.uniform(-0.6, 2.0) * double.pi[i])
        double.update_site(i, d_pi, d_nu)
        single.update_site(i, d_pi, d_nu)
    assert single.check() < 1e-4
    M = rng.normal(size=(double.n, 30))
    for found, true in (
        (single.row_variances, double.row_variances), (single.project_variance(None), double.project_variance(None)),
        (single.mean, double.mean), (single.projections, double.projections),
        (single.covariance_times(M), double.covariance_times(M)),
        (single.covariance_times(M[:, 0]), double.covariance_times(M[:, 0])),
        (single.project_covariance(None, None), double.project_covariance(None, None)),
    ):  # fmt: skip
        assert found.dtype == float
        np.testing.assert_allclose(found, true, atol=1e-4 * np.abs(true).max())
    assert single.log_determinant == pytest.approx(double.log_determinant, abs=1e-3)
    state = single.state()
    assert state["lower"].dtype == np.float32
    again = SequentialForm.from_state(state, GaussianPart(double.rows, X[:9], y[:9], np.full(9, NOISE)))
    np.testing.assert_array_equal(again.covariance_times(M), single.covariance_times(M))
    steep = np.where(np.arange(len(double.pi)) < 10, 1e8, 1e-3)
    assert not SequentialForm(double.rows, dtype="float32").refit(steep, 0 * steep).single


def test_a_change_that_leaves_no_gaussian_is_refused(problem):
    form, X, y, _ = problem
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        form.update_site(3, -2.0 / form.row_variances[3], 0.0)
    agree(form, X[:9], y[:9])


def test_copies_are_independent(problem):
    form, X, y, _ = problem
    other = copy.deepcopy(form)
    longer = other.transfer(X, y, np.full(12, NOISE))
    longer.update_site(0, 3.0, 1.0)
    agree(form, X[:9], y[:9])
    assert form.work.factorisations == 1


def test_what_is_not_transferred(problem):
    form, X, y, _ = problem
    variance = np.full(12, NOISE)
    assert form.transfer(X, y + 1.0, variance) is None
    assert form.transfer(X, y, 2 * variance) is None
    assert form.transfer(X + 1.0, y, variance) is None
    assert form.transfer(X[:8], y[:8], variance[:8]) is None
    assert form.transfer(np.vstack([X, X]), np.r_[y, y], np.r_[variance, variance]) is None  # so many: factorise
    agree(form, X[:9], y[:9])
    X[2, 3] += 1e-3  # in the form's own memory
    assert form.transfer(X, y, variance) is None


def test_marginal_likelihood_of_the_base(problem):
    """log base(mean) + log|2 pi V| / 2, after updates as after a factorisation."""
    form, *_ = problem
    for i in (1, 50, 120):
        form.update_site(i, 0.7, 0.2)
    value = form.log_volume
    form.refresh()
    assert form.log_volume == pytest.approx(value, abs=1e-9)


def test_draws(problem):
    form, *_ = problem
    draws = form.sample(20_000, np.random.default_rng(0))
    np.testing.assert_allclose(draws.mean(0), form.mean, atol=0.05)
    np.testing.assert_allclose(np.cov(draws.T), form.project_covariance(None, None), atol=0.05)


@pytest.mark.parametrize("deferred", [1, 4, 48])
def test_counted_passes(deferred):
    """k changes of one sign take floor(k / deferred) passes over the matrix, and none of their columns does."""
    rows = ProjectionRows([FiniteDifference((16, 16))])
    V = UpdatedCovariance(rows, np.ones(256), deferred)
    V.factorise(np.ones(rows.shape[0]), None, np.zeros(0), np.zeros(256))
    V.times = None  # a difference needs no product with the matrix
    for k in range(96):
        g = V.times_row(k)
        V.change_site(k, 0.5, g, float(g[rows.row(k)[0]] @ rows.row(k)[1]))
        assert V.n_passes == (k + 1) // deferred


def test_few_measurements_need_no_large_matrix():
    rng = np.random.default_rng(0)
    rows = ProjectionRows([Wavelet(64, "db2")])
    form = SequentialForm(rows, rng.normal(size=(7, 64)), rng.normal(size=7), np.full(7, NOISE))
    form.refit(np.full(64, 0.5), np.zeros(64))
    assert isinstance(form.covariance, MeasurementCovariance)
    assert form.covariance._lower.shape == (7, 7)
    form.update_site(5, 0.3, 0.1)
    form.update_site(5, -0.2, 0.1)
    B = rows.operators[0].to_dense()
    V = np.linalg.inv(form.data_rows.T @ form.data_rows / NOISE + (B.T * form.pi) @ B)
    np.testing.assert_allclose(form.row_variances, np.einsum("ij,jk,ik->i", B, V, B), rtol=1e-9)
    assert form.log_determinant == pytest.approx(np.linalg.slogdet(V)[1], abs=1e-9)
