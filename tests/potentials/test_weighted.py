"""A potential of weight w counts w times: powers, bounds of powers, and the same posterior as repeated rows."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid

from adaptive import inference
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Laplace, StudentT, bounds
from adaptive.potentials.weighted import Weighted

SIGNS = np.array([1.0, -1.0, 1.0, -1.0])
WEIGHTS = np.array([1.0, 0.3, 2.0, 3.5])
S = np.array([0.7, -2.0, -0.4, 3.0])


@pytest.mark.parametrize("kind", [BernoulliLogit(SIGNS), BernoulliProbit(SIGNS), Laplace(0.8)])
def test_moments_are_those_of_the_power(kind):
    weighted = Weighted(kind, WEIGHTS)
    mean, variance, fraction = np.array([0.5, -1.0, 2.0, 0.0]), np.array([1.0, 4.0, 0.3, 2.0]), 0.7
    grid = np.linspace(-25, 25, 200_001)
    for j in range(4):
        log_power = WEIGHTS[j] * kind.expand(4)[[j]].log_density(grid)
        prior = np.exp(-((grid - mean[j]) ** 2) / (2 * variance[j])) / np.sqrt(2 * np.pi * variance[j])
        density = np.exp(fraction * log_power) * prior
        total = trapezoid(density, grid)
        centre = trapezoid(density * grid, grid) / total
        spread = trapezoid(density * (grid - centre) ** 2, grid) / total
        found = [a[j] for a in weighted.tilted_moments(mean, variance, fraction)]
        np.testing.assert_allclose(found, [np.log(total), centre, spread], atol=1e-6)
        expected = trapezoid(prior * log_power, grid)
        assert weighted.expectation(mean, variance)[j] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", [BernoulliLogit(SIGNS), Laplace(0.8)])
@settings(max_examples=30, deadline=None)
@given(st.floats(-4, 4), st.floats(0.1, 30), st.floats(0, 2), st.floats(0.01, 5), st.floats(0, 1))
def test_the_inner_function_is_the_generic_one(kind, s, width, z1, z2, z3):
    weighted = Weighted(kind, WEIGHTS)
    x = S + s - weighted.location
    touching = weighted.tilt * x - 0.5 * x**2 / width - 0.5 * weighted.height(np.full(4, width))
    assert np.all(touching <= weighted.log_density(S + s) + 1e-9)
    found = weighted.inner(S + s, z1, z2, z3)
    generic = bounds.inner(weighted, S + s, z1, z2, z3)
    for one, other in zip(found, generic, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)
    step = 1e-5
    slope = (weighted.inner(S + s + step, z1, z2, z3)[0] - weighted.inner(S + s - step, z1, z2, z3)[0]) / (2 * step)
    np.testing.assert_allclose(found[1], slope, atol=1e-4)


@pytest.mark.parametrize("engine", ["expectation_propagation", "laplace_approximation", "variational_bounds"])
@pytest.mark.parametrize("kind", [BernoulliLogit, BernoulliProbit])
@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_whole_weights_are_repeated_rows(engine, kind, prior):
    """The same posterior and evidence, also of expectation propagation (sites shared by the copies of a row)."""
    if (engine, prior) == ("laplace_approximation", "laplace"):
        return  # refused: its prior has a kink
    rng = np.random.default_rng(1)
    rows, signs, counts = rng.standard_normal((6, 2)), np.array([1.0, -1, 1, 1, -1, -1]), np.array([1, 3, 2, 1, 1, 4])

    def fit(B, potentials):
        if prior == "gaussian":
            model = inference.GLM(B=B, potentials=potentials, prior_covariance=2.0)
        else:
            model = inference.GLM(B=[B, np.eye(2)], potentials=[potentials, Laplace(1.0)])
        return getattr(inference, engine)(model, tol=1e-10)

    once = fit(rows, Weighted(kind(signs), counts))
    repeated = fit(np.repeat(rows, counts, axis=0), kind(np.repeat(signs, counts)))
    np.testing.assert_allclose(once.mean, repeated.mean, atol=1e-5)
    np.testing.assert_allclose(once.covariance(), repeated.covariance(), atol=1e-5)
    assert once.log_evidence == pytest.approx(repeated.log_evidence, abs=1e-6)


@pytest.mark.parametrize("bound", [1, 2])
def test_bounds_take_the_same_steps_with_weights_as_with_repeated_rows(bound):
    """Beside a prior with heavy tails, too, whose optimum is near and not at the end of few steps."""
    rng = np.random.default_rng(1)
    B, y, weights = rng.standard_normal((6, 3)), np.array([1.0, 1, -1, 1, -1, -1]), np.array([1, 3, 2, 5, 1, 4])
    each = np.repeat(np.arange(6), weights)
    likelihoods = ((B, Weighted(BernoulliLogit(y), weights)), (B[each], BernoulliLogit(y[each])))
    for prior in (Laplace(0.7), StudentT(2.0, 0.7))[: 3 - bound]:
        models = [inference.GLM(B=[rows, np.eye(3)], potentials=[part, prior]) for rows, part in likelihoods]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # three steps are not enough, and optima are several
            one, many = (inference.variational_bounds(m, logdet_bound=bound, max_iter=3, tol=0) for m in models)
        np.testing.assert_allclose(one.mean, many.mean, atol=1e-12)
        assert one.log_evidence == pytest.approx(many.log_evidence, abs=1e-10)


def test_sites_one_by_one_end_where_parallel_ones_do():
    rng = np.random.default_rng(2)
    model = inference.GLM(
        B=rng.standard_normal((4, 2)), potentials=Weighted(BernoulliLogit(SIGNS), WEIGHTS), prior_covariance=1.0
    )
    ends = [inference.expectation_propagation(model, update=u, tol=1e-9) for u in ("parallel", "sequential")]
    np.testing.assert_allclose(ends[0].mean, ends[1].mean, atol=1e-7)


def test_what_cannot_be_weighted_is_refused():
    with pytest.raises(ValueError, match="weights go with log-concave potentials, got StudentT"):
        Weighted(StudentT(3.0, 1.0), [2.0])
    with pytest.raises(ValueError, match="weights must be > 0"):
        Weighted(BernoulliLogit([1.0]), [0.0])
