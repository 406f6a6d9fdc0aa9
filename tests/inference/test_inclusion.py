"""Inclusion: rank-one updates are a refit of the same Gaussian, and the site is the best of its kind."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning

from adaptive import inference
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.inclusion import include_together
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian, Laplace
from adaptive.potentials.weighted import Weighted


def model_of(rows, signs, prior="gaussian", family=BernoulliLogit):
    if prior == "gaussian":
        return inference.GLM(B=rows, potentials=family(signs), prior_covariance=np.full(rows.shape[1], 1.5))
    eye = np.eye(rows.shape[1])
    return inference.GLM(B=[rows, eye], potentials=[family(signs), Laplace(0.7)])


def data(seed, q, n):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((q, n)), np.where(rng.random(q) < 0.5, 1.0, -1.0)


def included(rows, signs, first, prior="gaussian", site="bound", engine="variational_bounds", family=BernoulliLogit):
    posterior = getattr(inference, engine)(model_of(rows[:first], signs[:first], prior, family))
    for row, sign in zip(rows[first:], signs[first:], strict=True):
        posterior = inference.include(posterior, row, family([sign]), site=site)
    return posterior


def refit(posterior, rows, signs, prior):
    """The Gaussian of the same sites, factorised anew."""
    model = model_of(rows, signs, prior)
    problem = DenseProblem(model, "variational_bounds", posterior)
    problem.start()
    return problem.gaussian


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from(["gaussian", "laplace"]))
def test_updated_moments_are_those_of_a_refit(seed, n, prior):
    """Marginals of a pool, blocks of its covariance, roots: to 1e-8 of a factorisation at the same sites."""
    rows, signs = data(seed, 14, n)
    pool = np.random.default_rng(seed + 1).standard_normal((30, n))
    posterior = included(rows, signs, 4, prior)
    exact = refit(posterior, rows, signs, prior)
    mean, variance = posterior.projection_moments(pool)
    np.testing.assert_allclose(mean, pool @ exact.mean, atol=1e-8)
    np.testing.assert_allclose(variance, exact.project_variance(pool), atol=1e-8)
    block = exact.project_covariance(pool, pool[:3])
    np.testing.assert_allclose(posterior.projection_covariance(pool, pool[:3]), block, atol=1e-8)
    np.testing.assert_allclose(
        posterior.covariance_operator() @ pool[:3].T, exact.covariance_times(pool[:3].T), atol=1e-8
    )
    np.testing.assert_allclose(posterior.covariance(), exact.project_covariance(None, None), atol=1e-8)
    root = posterior.projection_root(pool)
    if root is not None:
        np.testing.assert_allclose(root @ root.T, posterior.projection_covariance(pool), atol=1e-8)


def test_draws_have_the_updated_moments():
    rows, signs = data(0, 9, 3)
    posterior = included(rows, signs, 4)
    draws = posterior.sample(40_000, 0)
    np.testing.assert_allclose(draws.mean(axis=0), posterior.mean, atol=0.03)
    np.testing.assert_allclose(np.cov(draws.T), posterior.covariance(), atol=0.05)


@settings(max_examples=30, deadline=None)
@given(st.floats(-8, 8), st.floats(1e-3, 60), st.sampled_from([-1.0, 1.0]))
def test_the_width_maximises_the_bound_on_the_evidence(mean, variance, sign):
    """Spec 8.1: phi_j(gamma) = h(gamma) + ln kappa - ..., minimised by a search that knows no derivative."""
    prior = inference.GLM([[1.0]], [mean], variance, B=[], potentials=[], prior_covariance=1e9)
    before = inference.laplace_approximation(prior)
    before.group_lengths = [0]
    after = inference.include(before, [1.0], BernoulliLogit([sign]))

    def loss(log_width):
        width, tilt = np.exp(log_width), sign / 2
        shrink = 1 + variance / width
        height = float(BernoulliLogit([sign]).height(np.array([width]))[0])
        return height + np.log(shrink) - (mean + variance * tilt) ** 2 / (variance * shrink) + mean**2 / variance

    top = np.log(4 * (3 + abs(mean) + variance))
    best = minimize_scalar(loss, bounds=(np.log(4.0), top), method="bounded", options={"xatol": 1e-10})
    gain = after.log_evidence - before.log_evidence
    assert gain == pytest.approx(-best.fun / 2, abs=1e-6)
    exact = float(BernoulliLogit([sign]).tilted_moments([mean], [variance])[0][0])
    assert gain <= exact + 1e-6


@pytest.mark.parametrize(("site", "family"), [("moments", BernoulliLogit), ("bound", BernoulliProbit)])
def test_moments_are_matched_where_they_are_asked_for_or_there_is_no_bound_of_free_width(site, family):
    rows, signs = data(3, 6, 2)
    before = included(rows[:5], signs[:5], 5, engine="expectation_propagation", family=family)
    after = inference.include(before, rows[5], family(signs[5:]), site=site)
    mean, variance = before.projection_moments(rows[5:])
    log_normaliser, tilted_mean, tilted_variance = family(signs[5:]).tilted_moments(mean, variance)
    np.testing.assert_allclose(after.projection_moments(rows[5:])[0], tilted_mean, atol=1e-9)
    np.testing.assert_allclose(after.projection_moments(rows[5:])[1], tilted_variance, atol=1e-9)
    assert after.log_evidence - before.log_evidence == pytest.approx(log_normaliser[0])


def test_a_gaussian_potential_is_included_exactly():
    rows, _ = data(4, 3, 2)
    model = inference.GLM(rows[:2], [0.3, -1.0], 0.5, B=rows[:2], potentials=Gaussian(1.0), prior_covariance=1.0)
    after = inference.include(inference.laplace_approximation(model), rows[2], Gaussian(2.0), site="moments")
    whole = inference.GLM(rows[:2], [0.3, -1.0], 0.5, B=rows[[0, 1, 2]], potentials=Gaussian([1.0, 1.0, 2.0]),
                          prior_covariance=1.0)  # fmt: skip
    exact = inference.laplace_approximation(whole)
    np.testing.assert_allclose(after.mean, exact.mean, atol=1e-10)
    np.testing.assert_allclose(after.covariance(), exact.covariance(), atol=1e-10)
    assert after.log_evidence == pytest.approx(exact.log_evidence)


@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_blocks_and_single_inclusion_agree_at_convergence(prior):
    """One outer step after every row, or after all of them: run to the end, both are the fit of everything."""
    rows, signs = data(5, 12, 3)
    ends = []
    for block in (1, 4):
        posterior = inference.variational_bounds(model_of(rows[:4], signs[:4], prior))
        for start in range(4, 12, block):
            for j in range(start, start + block):
                posterior = inference.include(posterior, rows[j], BernoulliLogit(signs[j : j + 1]))
            model = model_of(rows[: start + block], signs[: start + block], prior)
            before = posterior.log_evidence
            posterior = _one_step(model, posterior)
            assert posterior.log_evidence >= before - 1e-9  # the inclusions were a bound, which a step raises
        ends.append(inference.variational_bounds(model, warm_start=posterior, tol=1e-12))
    whole = inference.variational_bounds(model, tol=1e-12)
    for end in ends:
        np.testing.assert_allclose(end.mean, whole.mean, atol=1e-5)
        np.testing.assert_allclose(end.covariance(), whole.covariance(), atol=1e-5)


def _one_step(model, posterior):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return inference.variational_bounds(model, warm_start=posterior, max_iter=1)


def test_what_does_not_fit_is_refused():
    rows, signs = data(6, 3, 2)
    posterior = included(rows, signs, 3)
    with pytest.raises(ValueError, match="row must have 2 entries"):
        inference.include(posterior, [1.0, 2.0, 3.0], BernoulliLogit([1.0]))
    with pytest.raises(ValueError, match="site must be one of"):
        inference.include(posterior, [1.0, 2.0], BernoulliLogit([1.0]), site="guess")


@pytest.mark.parametrize("shift", [0.0, 0.8, -3.0])
def test_a_flat_site_moves_mean_and_draws_alike(shift):
    """exp(shift s), precision 0: the mean moves by V b shift, the covariance stays."""
    rows, signs = data(3, 6, 3)
    before = inference.variational_bounds(model_of(rows, signs))
    row = np.array([1.0, -0.5, 2.0])
    after = inference.include_site(before, row, 0.0, shift)
    along = shift * (before.covariance() @ row)
    np.testing.assert_allclose(after.mean, before.mean + along, atol=1e-10)
    np.testing.assert_allclose(after.covariance(), before.covariance(), atol=1e-12)
    np.testing.assert_allclose(after.sample(5, 0), before.sample(5, 0) + along, atol=1e-10)


@pytest.mark.parametrize("potential", [BernoulliLogit([1.0]), Weighted(BernoulliLogit([-1.0]), [2.0]), Laplace(0.7)])
@pytest.mark.parametrize("site", ["moments", "bound"])
def test_one_potential_is_included_into_several_posteriors_at_once(potential, site):
    rows = np.random.default_rng(0).standard_normal((5, 3))
    models = [inference.GLM(B=rows, potentials=BernoulliLogit(np.ones(5)), prior_covariance=v) for v in (0.3, 1.0, 9.0)]
    before = [inference.expectation_propagation(one) for one in models]
    before[1] = inference.include(before[1], rows[0], BernoulliLogit([-1.0]))
    row = np.array([1.0, -0.4, 0.2])
    for after, one in zip(include_together(before, row, potential, site=site), before, strict=True):
        alone = inference.include(one, row, potential, site=site)
        np.testing.assert_array_equal(after.mean, alone.mean)
        np.testing.assert_array_equal(after.covariance(), alone.covariance())
        assert after.log_evidence == alone.log_evidence and after.group_lengths == alone.group_lengths
    nothing = include_together(before, np.zeros(3), potential, site="moments")
    for after, one in zip(nothing, before, strict=True):
        np.testing.assert_array_equal(after.mean, one.mean)
