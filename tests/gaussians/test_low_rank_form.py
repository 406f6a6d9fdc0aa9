"""The low-rank form is the dense form of the same covariance, for every engine that can use it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from adaptive.gaussians import CovarianceForm, LowRankForm, gaussian_with_sites
from adaptive.inference import (
    GLM,
    evidence_gradient,
    evidence_sensitivity,
    expectation_propagation,
    laplace_approximation,
    map_estimate,
    mean_field,
    posterior_state,
    restored_posterior,
    variational_bounds,
    variational_gaussian,
)
from adaptive.linalg import LowRankCovariance
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian, Laplace, StudentT

N, RANK = 9, 3


def pair(rows="identity", diagonal=True, data=False, seed=0):
    """The same Gaussian in the low-rank and in the dense form, and as many sites as it has rows."""
    rng = np.random.default_rng(seed)
    covariance = LowRankCovariance(rng.normal(size=(N, RANK)), rng.uniform(0.1, 1.0, N) if diagonal else 0.0)
    order = rng.permutation(N)
    F = {
        "identity": scipy.sparse.eye_array(N, format="csr"),
        "some": scipy.sparse.csr_array(np.eye(N)[order[:6]] * 1.5),
        "any": rng.normal(size=(7, N)),
    }[rows]
    given = {"prior_mean": rng.normal(size=N)}
    if data:
        G = np.eye(N)[order[6:]] if diagonal else rng.normal(size=(3, N))
        given |= {"data_rows": G, "data": rng.normal(size=3), "data_variance": rng.uniform(0.1, 1.0, 3)}
    low = gaussian_with_sites(F, prior_covariance=covariance, **given)
    full = CovarianceForm(F, prior_covariance=covariance.dense(), **given)
    assert isinstance(low, LowRankForm)
    return low, full, rng


CASES = [
    ("identity", True, False),
    ("identity", False, False),
    ("some", True, True),
    ("some", False, True),
    ("any", False, True),
]


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize(("rows", "diagonal", "data"), CASES)
def test_everything_equals_the_dense_form(rows, diagonal, data, negative):
    low, full, rng = pair(rows, diagonal, data)
    q = low.size - low.data_count
    pi, nu = rng.uniform(0.1, 2.0, q), rng.normal(size=q)
    pi[0] = -0.02 if negative else 0.0
    low.refit(pi, nu), full.refit(pi, nu)
    close = {"rtol": 1e-9, "atol": 1e-10}
    np.testing.assert_allclose(low.mean, full.mean, **close)
    for ours, dense in zip(low.marginals(), full.marginals(), strict=True):
        np.testing.assert_allclose(ours, dense, **close)
    assert low.log_volume == pytest.approx(full.log_volume, rel=1e-10)
    np.testing.assert_allclose(low.slope, full.slope, **close)
    K = rng.normal(size=(low.size, 4))
    np.testing.assert_allclose(low.reduce(K), full.reduce(K), **close)
    np.testing.assert_allclose(low.reduce(K[:, 0]), full.reduce(K)[:, 0], **close)
    np.testing.assert_allclose(low.reduction_diagonal(), np.diag(full.reduce(np.eye(low.size))), **close)
    M1, M2 = rng.normal(size=(4, N)), scipy.sparse.csr_array(np.eye(N)[:2])
    V = full.project_covariance(None, None)
    np.testing.assert_allclose(low.project_covariance(None, None), V, **close)
    np.testing.assert_allclose(low.project_covariance(M1, M2), M1 @ V @ M2.T, **close)
    np.testing.assert_allclose(low.project_variance(M1), np.diag(M1 @ V @ M1.T), **close)
    np.testing.assert_allclose(low.project_variance(None), np.diag(V), **close)
    np.testing.assert_allclose(low.covariance_times(M1.T), V @ M1.T, **close)
    np.testing.assert_allclose(low.prior_response(), full.prior_response(), **close)
    change = np.eye(N) + np.ones((N, N))
    np.testing.assert_allclose(low.prior_response(change), full.prior_response(change), **close)
    for moved in (None, change):
        assert low.prior_sensitivity(moved) == pytest.approx(full.prior_sensitivity(moved), rel=1e-9)
    if diagonal:
        assert low.log_determinant == pytest.approx(np.linalg.slogdet(V)[1], rel=1e-9)
    draws = low.sample(40_000, np.random.default_rng(1))
    assert np.abs(np.cov(draws.T) - V).max() < 0.05 * np.abs(V).max()


def test_energy_and_projections_follow_the_coefficients():
    low, full, rng = pair("some", True, True)
    sites = [(rng.uniform(0.1, 2, 6), rng.normal(size=6)) for _ in range(2)]
    ours = [low.refit(*s).coefficients for s in sites]
    dense = [full.refit(*s).coefficients for s in sites]
    offset = low.energy(ours[0]) - full.energy(dense[0])
    assert offset == pytest.approx(0.0, abs=1e-10)
    for t in (0.3, 1.0):
        here, there = ours[0] + t * (ours[1] - ours[0]), dense[0] + t * (dense[1] - dense[0])
        assert low.energy(here) == pytest.approx(full.energy(there), rel=1e-10)
        np.testing.assert_allclose(low.project(here), full.project(there), atol=1e-10)
        np.testing.assert_allclose(low.latent(here), full.latent(there), atol=1e-10)


@pytest.mark.parametrize(("rows", "diagonal"), [("identity", True), ("some", True), ("any", False)])
def test_rank_one_updates_equal_a_refit(rows, diagonal):
    low, _, rng = pair(rows, diagonal, rows == "some")
    q = low.size - low.data_count
    low.refit(rng.uniform(0.1, 2, q), rng.normal(size=q)).start_updates()
    for j, d_pi, d_nu in [(2, 0.3, -0.2), (0, -0.05, 0.2), (3, 0.0, 0.7), (2, -0.3, 0.2)]:
        low.rank_one(j, d_pi, d_nu)
    changed = [low.marginal(j) for j in range(q)]
    np.testing.assert_allclose(changed, np.stack(low.refit(low.pi, low.nu).marginals(), axis=1), atol=1e-10)
    with pytest.raises(np.linalg.LinAlgError):
        low.start_updates()
        low.rank_one(0, -1e3, 0.0)


@pytest.mark.parametrize("weight", [1e8, 1e14])
def test_strong_sites_do_not_cancel(weight):
    low, _, rng = pair("identity", True)
    y = rng.normal(size=N)
    mean, variance = low.refit(np.full(N, weight), weight * y).marginals()
    np.testing.assert_allclose(mean, y, rtol=1e-6)
    np.testing.assert_allclose(variance * weight, 1.0, rtol=1e-6)


LINKS = {
    laplace_approximation: [BernoulliLogit, StudentT],
    expectation_propagation: [BernoulliLogit, BernoulliProbit],
    variational_gaussian: [BernoulliLogit],
    variational_bounds: [BernoulliLogit, Laplace],
    mean_field: [BernoulliLogit],
}


def model_of(family, covariance, n=12):
    rng = np.random.default_rng(4)
    if family in (BernoulliLogit, BernoulliProbit):
        potential = family(np.where(rng.normal(size=n) > 0, 1.0, -1.0))
    elif family is Gaussian:
        potential = Gaussian(0.2, rng.normal(size=n))
    else:
        potential = (StudentT(4.0, 0.5) if family is StudentT else Laplace(0.5)).observe(rng.normal(size=n))
    return GLM(potentials=potential, prior_mean=0.3, prior_covariance=covariance)


def low_rank(n=12):
    rng = np.random.default_rng(2)
    return LowRankCovariance(rng.normal(size=(n, 4)), rng.uniform(0.05, 0.5, n))


@pytest.mark.parametrize(("engine", "family"), [(e, f) for e, families in LINKS.items() for f in families])
def test_engines_find_the_same_posterior(engine, family):
    low, full = (engine(model_of(family, S), tol=1e-11) for S in (low_rank(), low_rank().dense()))
    assert low.log_evidence == pytest.approx(full.log_evidence, abs=1e-8)
    np.testing.assert_allclose(low.mean, full.mean, atol=1e-7)
    np.testing.assert_allclose(low.variances(), full.variances(), atol=1e-7)
    if engine is not mean_field:
        model = model_of(family, low_rank())
        assert isinstance(low.gaussian, LowRankForm)
        again = restored_posterior(model, posterior_state(low))
        np.testing.assert_array_equal(again.mean, low.mean)
        dense = evidence_gradient(model_of(family, low_rank().dense()), full)
        assert evidence_gradient(model, low) == pytest.approx(dense, abs=1e-6)


def test_sequential_expectation_propagation_and_gaussian_noise():
    for settings, family in (({"update": "sequential"}, BernoulliProbit), ({}, Gaussian)):
        low, full = (
            expectation_propagation(model_of(family, S), tol=1e-10, **settings)
            for S in (low_rank(), low_rank().dense())
        )
        assert low.log_evidence == pytest.approx(full.log_evidence, abs=1e-8)
        np.testing.assert_allclose(low.variances(), full.variances(), atol=1e-8)


@pytest.mark.parametrize("engine", [laplace_approximation, expectation_propagation])
def test_sensitivity_along_columns_is_that_of_every_entry(engine):
    columns = np.random.default_rng(0).normal(size=(12, 3))
    low = model_of(BernoulliLogit, low_rank())
    full = model_of(BernoulliLogit, low_rank().dense())
    along, diagonal, mean = evidence_sensitivity(low, engine(low, tol=1e-11), along=columns)
    whole, mean_of_full = evidence_sensitivity(full, engine(full, tol=1e-11, form="covariance"))
    np.testing.assert_allclose(along, whole @ columns, atol=1e-7)
    np.testing.assert_allclose(diagonal, np.diag(whole), atol=1e-7)
    np.testing.assert_allclose(mean, mean_of_full, atol=1e-7)


def test_what_is_refused():
    covariance = LowRankCovariance(np.ones((3, 1)), 0.1)
    with pytest.raises(ValueError, match="one unknown each"):
        gaussian_with_sites(np.ones((1, 3)), prior_covariance=covariance)
    with pytest.raises(ValueError, match="one unknown each"):  # an unknown twice
        gaussian_with_sites(np.eye(3)[[0, 0]], prior_covariance=covariance)
    with pytest.raises(ValueError, match="precision"):
        gaussian_with_sites(np.eye(3), prior_covariance=covariance, form="precision")
    with pytest.raises(ValueError, match=r"\.dense\(\)"):
        map_estimate(GLM(potentials=BernoulliLogit([1, 1, -1]), prior_covariance=covariance))
    with pytest.raises(ValueError, match="diagonal"):
        LowRankCovariance(np.ones((3, 1)), -1.0)
    with pytest.raises(ValueError, match="unknowns"):
        GLM(B=np.eye(2), potentials=BernoulliLogit([1, 1]), prior_covariance=covariance)
