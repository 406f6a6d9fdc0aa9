"""Poisson potentials with an exposure: closed transforms, quadrature, merged bins, and bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp
from scipy.special import gammaln, xlogy

from adaptive.inference import GLM, expectation_propagation
from adaptive.potentials import Poisson, join

RATES = {"exp": np.exp, "softplus": lambda s: np.logaddexp(0, s), "rectified": lambda s: np.maximum(s, 0.0)}


@pytest.mark.parametrize("rate", RATES)
def test_the_density_is_poisson_with_the_rate_times_the_exposure(rate):
    s, y, e = np.array([-1.0, 0.2, 1.5, 3.0]), np.array([0.0, 2.0, 5.0, 1.0]), np.array([0.5, 1.0, 3.0, 20.0])
    mean = e * RATES[rate](s)
    with np.errstate(divide="ignore"):
        expected = xlogy(y, mean) - mean - gammaln(y + 1)
    np.testing.assert_allclose(Poisson(y, rate, e).log_density(s), expected, rtol=1e-12)
    np.testing.assert_allclose(Poisson(rate=rate, exposure=e).log_density(s, y), expected, rtol=1e-12)
    potential, step = Poisson(y[1:], rate, e[1:]), 1e-5
    first, second = potential.derivatives(s[1:])
    high, low = potential.log_density(s[1:] + step), potential.log_density(s[1:] - step)
    np.testing.assert_allclose(first, (high - low) / (2 * step), rtol=1e-6, atol=1e-6)
    slopes = [potential.derivatives(s[1:] + side)[0] for side in (step, -step)]
    np.testing.assert_allclose(second, (slopes[0] - slopes[1]) / (2 * step), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(potential.log_ratio(s[1:], 0.3), potential.log_density(s[1:] + 0.3) -
                               potential.log_density(s[1:]), atol=1e-11)  # fmt: skip


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("y", "exposure"), [(0, 0.3), (3, 2.0), (40, 9.0)])
def test_moments_against_a_fine_grid(rate, y, exposure):
    mean, variance = 1.2, 0.7
    s, step = np.linspace(mean - 9, mean + 9, 400_001, retstep=True)
    s += step / 3  # no point on the kink
    density = np.exp(Poisson(float(y), rate, exposure).log_density(s) - 0.5 * (s - mean) ** 2 / variance)
    mass = density.sum()
    log_normaliser, centre, spread = Poisson(float(y), rate, exposure).tilted_moments(mean, variance)
    assert log_normaliser == pytest.approx(np.log(mass * step / np.sqrt(2 * np.pi * variance)), abs=1e-8)
    assert centre == pytest.approx(density @ s / mass, rel=1e-7)
    assert spread == pytest.approx(density @ (s - density @ s / mass) ** 2 / mass, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000), st.floats(-30, 300), st.floats(-10, 5), st.floats(-6, 6),
    st.sampled_from(["exp", "rectified"]),
)  # fmt: skip
def test_closed_transforms_of_an_exposure(y, mean, log_variance, log_exposure, rate):
    """exp(s) e = exp(s + log e), max(0, s) e = max(0, e s): log normaliser, mean and variance to 1e-9."""
    variance, e = 10.0**log_variance, np.exp(log_exposure)
    if rate == "exp":
        mean = mean / 50
        variance = min(variance, 1e3)
        unit, shift, factor = (mean + log_exposure, variance), log_exposure, 1.0
    else:
        unit, shift, factor = (e * mean, e * e * variance), 0.0, e
    with_exposure = Poisson(float(y), rate, e).tilted_moments(mean, variance)
    without = Poisson(float(y), rate).tilted_moments(*unit)
    assert with_exposure[0] == pytest.approx(without[0], rel=1e-9, abs=1e-9)
    assert with_exposure[1] == pytest.approx((without[1] - shift) / factor, rel=1e-9, abs=1e-9)
    assert with_exposure[2] == pytest.approx(without[2] / factor**2, rel=1e-9)


def integrated(y, mean, variance, exposure, rate):
    """Log normaliser, mean and variance in forty digits, about the mode of the log-concave integrand."""
    with mp.workdps(40):
        mu, v, e = mp.mpf(mean), mp.mpf(variance), mp.mpf(exposure)
        rates = (lambda s: s + mp.log(e), lambda s: e * mp.exp(s)) if rate == "exp" else (
            lambda s: mp.log(e * s), lambda s: e * s)  # fmt: skip
        constant = -mp.loggamma(y + 1) - mp.log(2 * mp.pi * v) / 2
        log_density = lambda s: y * rates[0](s) - rates[1](s) - (s - mu) ** 2 / (2 * v) + constant  # noqa: E731
        low, high = (mp.mpf(-100), mp.mpf(100)) if rate == "exp" else (mp.mpf(10) ** -30, abs(mu) + mp.mpf(y) / e + 1)
        for _ in range(150):
            middle = (low + high) / 2
            slope = y - e * mp.exp(middle) if rate == "exp" else y / middle - e
            low, high = (middle, high) if slope > (middle - mu) / v else (low, middle)
        curvature = (e * mp.exp(low) if rate == "exp" else y / low**2) + 1 / v
        ends = [low + k / mp.sqrt(curvature) for k in (-60, -30, -15, -8, -4, -2, 0, 2, 4, 8, 15, 30, 60)]
        ends = ends if rate == "exp" else [mp.mpf(0), *(one for one in ends if one > 0)]
        density = lambda s: mp.exp(log_density(s) - log_density(low)) if rate == "exp" or s > 0 else mp.mpf(0)  # noqa: E731
        mass = mp.quad(density, ends)
        centre = mp.quad(lambda s: s * density(s), ends) / mass
        spread = mp.quad(lambda s: (s - centre) ** 2 * density(s), ends) / mass
        return [float(one) for one in (mp.log(mass) + log_density(low), centre, spread)]


@pytest.mark.parametrize(
    ("y", "mean", "variance", "exposure", "rate"),
    [
        (10_000, 1e6, 1e-10, 0.01, "rectified"), (10_000, 200.0, 1e-3, 50.0, "rectified"),
        (10_000, -600.0, 1e5, 50.0, "rectified"), (3, -5.0, 1.0, 0.01, "rectified"), (100, -2.0, 1e5, 1.0, "rectified"),
        (1, 1.0, 1e-10, 1.0, "rectified"), (10_000, np.log(1e6), 1e-10, 0.01, "exp"),
        (10_000, -2.0, 100.0, 50.0, "exp"),
    ],
)  # fmt: skip
def test_moments_with_an_exposure_in_many_digits(y, mean, variance, exposure, rate):
    """To 1e-9 relative: counts to 10,000, variances 1e-10 to 1e5, negative means."""
    found = Poisson(float(y), rate, exposure).tilted_moments(mean, variance)
    np.testing.assert_allclose([float(one) for one in found], integrated(y, mean, variance, exposure, rate), rtol=1e-9)


@pytest.mark.parametrize("rate", RATES)
def test_predictive_masses_add_up_and_have_the_mean_count(rate):
    family = Poisson(rate=rate, exposure=np.array([0.2, 1.0, 12.0]))
    mean, variance = np.array([0.5, 1.0, 2.0]), np.array([0.3, 0.2, 0.1])
    counts, table = family.outcome_probabilities(mean, variance)
    np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(table @ counts, family.expected_rate(mean, variance), rtol=1e-7)
    second = table @ counts**2 - table @ counts
    np.testing.assert_allclose(second, family.expected_square(mean, variance), rtol=1e-6)
    log_mass = [family.observe(np.full(3, y)).tilted_moments(mean, variance)[0] for y in (0.0, 4.0)]
    np.testing.assert_allclose(np.exp(log_mass), table[:, [0, 4]].T, atol=1e-10)


@pytest.mark.parametrize("rate", RATES)
def test_two_bins_merged_equal_their_sum(rate):
    """At equal rate two exposures tell as much as one of their sum, but for a constant."""
    merged = Poisson(7.0, rate, 2.0).tilted_moments(1.3, 0.8)
    pair = Poisson(np.array([3.0, 4.0]), rate, np.array([0.5, 1.5]))
    s, step = np.linspace(-8, 10, 200_001, retstep=True)
    density = np.exp(pair.log_density(s[:, None]).sum(axis=1) - 0.5 * (s - 1.3) ** 2 / 0.8)
    assert merged[1] == pytest.approx(density @ s / density.sum(), rel=1e-7)
    centred = (s - merged[1]) ** 2
    assert merged[2] == pytest.approx(density @ centred / density.sum(), rel=1e-6)


def test_expectation_propagation_against_brute_force():
    """Two and three correlated rectified rates with their own exposures: evidence and means."""
    for y, e in (([3.0, 0.0], [1.0, 2.0]), ([2.0, 1.0, 5.0], [0.5, 1.0, 2.0])):
        n = len(y)
        covariance = 0.8 * np.exp(-0.5 * np.subtract.outer(np.arange(n), np.arange(n)) ** 2)
        model = GLM(B=np.eye(n), potentials=Poisson(y, "rectified", e), prior_mean=np.full(n, 1.5),
                    prior_covariance=covariance)  # fmt: skip
        posterior = expectation_propagation(model)
        axis = np.linspace(-2.5, 6.5, 400 if n == 2 else 90)
        grid = np.stack(np.meshgrid(*[axis] * n, indexing="ij"), axis=-1).reshape(-1, n)
        centred = grid - 1.5
        log_prior = -0.5 * np.einsum("ij,ji->i", centred, np.linalg.solve(covariance, centred.T))
        log_prior -= 0.5 * np.linalg.slogdet(2 * np.pi * covariance)[1]
        density = np.exp(log_prior + Poisson(y, "rectified", e).log_density(grid).sum(axis=1))
        evidence = np.log(density.sum() * (axis[1] - axis[0]) ** n)
        assert posterior.log_evidence == pytest.approx(evidence, abs=0.03)
        np.testing.assert_allclose(posterior.mean, density @ grid / density.sum(), atol=0.03)


def test_rows_join_and_take_their_exposures_with_them():
    first, second = Poisson([1.0], "exp", [2.0]), Poisson([3.0, 4.0], "exp", [1.0, 5.0])
    both = join([first, second])
    np.testing.assert_array_equal(both.exposure, [2.0, 1.0, 5.0])
    np.testing.assert_array_equal(both[[2, 0]].exposure, [5.0, 2.0])


@pytest.mark.parametrize("bad", [[-1.0], [0.5], [2e9], [np.nan]])
def test_bad_counts_are_refused_in_one_sentence(bad):
    with pytest.raises(ValueError, match="^y ") as problem:
        Poisson(bad)
    assert "\n" not in str(problem.value)


def test_an_exposure_must_be_positive():
    with pytest.raises(ValueError, match="exposure"):
        Poisson([1.0, 2.0], exposure=[1.0, 0.0])
