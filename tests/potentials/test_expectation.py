"""E log T(s) under a Gaussian: against independent quadrature, closed forms, and its definition at zero variance."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from adaptive.potentials import (
    BernoulliLogit,
    BernoulliProbit,
    ExponentialPower,
    Gaussian,
    Laplace,
    Poisson,
    Step,
    StudentT,
    quadrature,
)


def infinite(potential):
    """T vanishes on a half-line."""
    return np.isfinite(np.atleast_1d(potential.support)).any()


def by_quad(potential, mean, variance):
    sd = np.sqrt(variance)
    kinks = [(k + potential.location - mean) / sd for k in potential.kinks]
    edges = sorted({-9.0, -3.0, 0.0, 3.0, 9.0, *np.clip(kinks, -9, 9)})
    value = 0.0
    for a, b in pairwise(edges):
        value += quad(
            lambda x: float(potential.log_density(mean + sd * x)) * np.exp(-0.5 * x * x),
            a, b, epsabs=1e-13, epsrel=1e-12, limit=300,
        )[0]  # fmt: skip
    return value / np.sqrt(2 * np.pi)


@pytest.mark.parametrize(("mean", "variance"), [(0.0, 1.0), (1.7, 0.3), (-2.0, 4.0), (0.2, 1e-6), (5.0, 9.0)])
def test_expectation_equals_quadrature(potential, mean, variance):
    value = potential.expectation(mean, variance)
    if infinite(potential):
        assert value == -np.inf
    else:
        assert value == pytest.approx(by_quad(potential, mean, variance), rel=1e-9, abs=1e-10)


def test_averages_of_student_t_are_those_of_quadrature_at_any_width(rng):
    mean, variance = rng.normal(size=300) * 3, 10 ** rng.uniform(-6, 6, 300)  # all steps of the rule, and beyond them
    for df, scale in ((0.5, 1.0), (3.0, 0.02), (30.0, 5.0)):
        found = StudentT(df, scale, location=0.3).expectation(mean, variance)
        wanted = quadrature.gaussian_expectation(StudentT(df, scale), mean - 0.3, variance)
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)


def test_closed_forms_equal_the_default(rng):
    mean, variance = rng.normal(size=30) * 3, 10 ** rng.uniform(-4, 3, 30)
    closed = (Gaussian(0.5), Laplace(0.7), ExponentialPower(2.0, 1.2), Poisson(0, "rectified"))
    for potential in (*closed, BernoulliLogit(1.0), BernoulliProbit(1.0)):
        default = quadrature.gaussian_expectation(potential, mean, variance)
        np.testing.assert_allclose(potential.expectation(mean, variance), default, rtol=1e-10, atol=1e-11)
    for df, scale in ((0.5, 1.0), (3.0, 0.02), (30.0, 5.0)):  # by the Faddeeva function, near, and by its series, far
        potential, at = StudentT(df, scale, location=0.3), np.append(variance, [1e-14, 0.0])
        found = potential.expectation_derivatives(np.append(mean, [0.2, 0.4]), at)[1:]
        slopes = quadrature.gaussian_slopes(StudentT(df, scale), np.append(mean, [0.2, 0.4]) - 0.3, at)
        for one, other in zip(found, slopes, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * np.abs(other).max())
    variance = np.minimum(variance, 4.0)
    default = quadrature.gaussian_expectation(Poisson(3), mean, variance)
    np.testing.assert_allclose(Poisson(3).expectation(mean, variance), default, rtol=1e-9)


def test_no_variance_gives_the_log_density(potential):
    s = np.array([0.6, 1.4])
    np.testing.assert_allclose(potential.expectation(s, 0.0), potential.log_density(s), rtol=1e-14)


@settings(max_examples=30, deadline=None)
@given(d=st.floats(-100, 100), e=st.floats(-10, 10))
def test_extremes_are_finite_and_below_the_log_density_of_a_log_concave_factor(potential, d, e):
    variance = 10.0**e
    mean = d * np.sqrt(variance)
    value = potential.expectation(mean, variance)
    assert not np.isnan(value)
    at_mean = potential.log_density(mean)
    if potential.log_concave and at_mean > -np.inf:  # Jensen
        assert value <= at_mean + 1e-9 * (1 + abs(at_mean))


def test_wide_gaussians_meet_their_limits():
    """E log T for huge variances: folded normal for the logit, E log|s| for the Student t."""
    variance = 1e10
    assert BernoulliLogit(1).expectation(0.0, variance) == pytest.approx(-1e5 / np.sqrt(2 * np.pi), rel=1e-9)
    limit = -2 * (0.5 * np.log(variance) - 0.5 * (np.log(2) + np.euler_gamma)) - np.log(np.pi)
    assert StudentT(1.0, 1.0).expectation(0.0, variance) == pytest.approx(limit, abs=1e-3)


def test_hard_supports_have_no_expectation():
    assert Step().expectation(5.0, 1.0) == -np.inf
    assert Step().expectation(5.0, 0.0) == 0.0
    np.testing.assert_array_equal(np.isinf(Poisson([0, 1], "rectified").expectation(3.0, 1.0)), [False, True])


@pytest.mark.parametrize(("mean", "variance"), [(0.0, 1.0), (1.7, 0.3), (-2.0, 4.0), (0.2, 1e-3), (5.0, 60.0)])
def test_derivatives_are_those_of_the_expectation(potential, mean, variance):
    value, first, second = potential.expectation_derivatives(mean, variance)
    assert value == pytest.approx(potential.expectation(mean, variance), rel=1e-12)
    if np.all(np.isinf(value)):
        return
    step, wider = 1e-4 * np.sqrt(variance), 1e-4 * variance
    slope = (potential.expectation(mean + step, variance) - potential.expectation(mean - step, variance)) / (2 * step)
    bend = (potential.expectation(mean, variance + wider) - potential.expectation(mean, variance - wider)) / (2 * wider)
    size = np.abs(value) / np.sqrt(variance)
    np.testing.assert_allclose(first, slope, rtol=1e-5, atol=1e-7 * np.max(size))
    np.testing.assert_allclose(second, bend, rtol=1e-5, atol=1e-7 * np.max(size / np.sqrt(variance)))


def test_derivatives_without_variance_are_those_of_the_log_density(potential):
    s = np.array([0.6, 1.4])
    if infinite(potential):
        return
    first, second = potential.derivatives(s)
    _, slope, bend = potential.expectation_derivatives(s, 0.0)
    np.testing.assert_allclose(slope, first, rtol=1e-12)
    np.testing.assert_allclose(bend, 0.5 * second, rtol=1e-12)


@pytest.mark.parametrize("link", [BernoulliLogit, BernoulliProbit])
def test_bernoulli_averages_meet_where_the_two_rules_do(link):
    """The trapezoid rule and the panels at the variance where one takes over from the other."""
    mean = np.linspace(-60, 60, 41)
    low, high = (link(1).expectation_derivatives(mean, 30.0 + d) for d in (-1e-9, 1e-9))
    for a, b in zip(low, high, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-13)
