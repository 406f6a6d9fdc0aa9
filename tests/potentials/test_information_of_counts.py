"""Information of a count, H(y) - E H(y | s), by sums and quadrature of its definition, from narrow to vague priors.

The reference lists the first counts, takes the others by Gauss' rule in t = log y, and each mass by the trapezoidal
rule in x = s - log y, in logarithms; from t = 40 on log y is as normal as s (1/y is below 1e-17).
"""

import numpy as np
import pytest
from scipy.special import entr, gammaln, logsumexp, xlogy

from adaptive.potentials import Poisson
from adaptive.potentials.poisson_outcomes import poisson_entropy
from tests.culprits import naming

LISTED = 300
DEVIATIONS = (1e-3, 1e-2, 0.1, 1.0, 5.0, 19.0, 21.0, 25.0, 43.0, 80.0, 300.0, 1e3, 1e4)
MEANS = (-20.0, -3.0, 0.0, 5.0, 12.0, 20.0)


def weighted_points(mean, sd):
    s = np.concatenate([np.linspace(mean - 10 * sd, mean + 10 * sd, 20_001), np.linspace(-50.0, 12.0, 20_001)])
    s = np.unique(s[np.abs(s - mean) <= 10 * sd])
    weights = np.gradient(s) * np.exp(-0.5 * ((s - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))
    return s, weights / weights.sum()


def log_density_of_log_count(t, mean, v):
    normal = -0.5 * (t - mean) ** 2 / v - 0.5 * np.log(2 * np.pi * v)
    small = np.flatnonzero(t < 40.0)
    t = t[small]
    y = np.exp(t)
    mode = np.zeros(len(t))  # of y (x - exp(x) + 1) - (t + x - mean)^2 / 2 v, which is concave
    low, high = np.minimum(mean - t, 0.0), np.maximum(mean - t, 0.0)
    for _ in range(120):
        mode = 0.5 * (low + high)
        rising = -y * np.expm1(mode) > (mode + t - mean) / v
        low, high = np.where(rising, mode, low), np.where(rising, high, mode)
    step = 0.08 / np.sqrt(y * np.exp(mode) + 1.0 / v)
    x = mode[:, None] + step[:, None] * np.arange(-150, 151)
    series = -x * x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x / 120)))
    deviance = np.where(np.abs(x) < 1e-3, series, x - np.expm1(np.minimum(x, 300.0)))
    terms = y[:, None] * deviance - 0.5 * (x + (t - mean)[:, None]) ** 2 / v
    stirling = 0.5 * np.log(2 * np.pi * y) + 1 / (12 * y) - 1 / (360 * y**3)
    normal[small] = t + logsumexp(terms, axis=1) + np.log(step) - stirling - 0.5 * np.log(2 * np.pi * v)
    return normal


def outcome_entropy(mean, sd):
    s, weights = weighted_points(mean, sd)
    y = np.arange(float(LISTED))
    p = np.array([weights @ np.exp(k * s - np.exp(np.minimum(s, 300.0)) - gammaln(k + 1)) for k in y])
    total = entr(p).sum()
    low, high = max(np.log(LISTED - 0.5), mean - 10 * sd - 0.5), mean + 10 * sd + 0.5
    if high > low:
        ends = np.linspace(low, high, 2 + int(min(2000.0, 4 * (high - low) / min(sd, 1.0))))
        nodes, rule = np.polynomial.legendre.leggauss(12)
        half = 0.5 * np.diff(ends)[:, None]
        t = (ends[:-1, None] + half + half * nodes).ravel()
        log_q = log_density_of_log_count(t, mean, sd * sd)
        total -= ((half * rule).ravel() * np.exp(log_q)) @ (log_q - t)
    return total


def expected_entropy(mean, sd):
    s, weights = weighted_points(mean, sd)
    large = 0.5 * (np.log(2 * np.pi * np.e) + s)
    return weights @ np.where(s > 40.0, large, poisson_entropy(np.exp(np.minimum(s, 40.0))))


@pytest.mark.parametrize("sd", DEVIATIONS)
def test_the_information_of_a_count_is_right_at_any_width_of_the_prior(sd):
    family, means = Poisson(), np.array(MEANS)
    variance = np.full(len(means), sd * sd)
    outcome, expected = family.outcome_entropy(means, variance), family.expected_outcome_entropy(means, variance)
    for k, mean in enumerate(MEANS):
        with naming(f"mean log rate {mean}"):
            assert outcome[k] == pytest.approx(outcome_entropy(mean, sd), abs=2e-4)
            assert expected[k] == pytest.approx(expected_entropy(mean, sd), abs=2e-4)
            assert outcome[k] - expected[k] >= -1e-11


def test_an_exposure_is_a_shift_of_the_mean_log_rate():
    mean, variance = np.array([-3.0, 2.0, 9.0]), np.array([1e4, 400.0, 1e6])
    shifted = mean + np.log(50.0)
    np.testing.assert_allclose(Poisson(exposure=50.0).outcome_entropy(mean, variance), Poisson().outcome_entropy(
        shifted, variance), rtol=1e-12)  # fmt: skip
    np.testing.assert_allclose(Poisson(exposure=50.0).expected_outcome_entropy(mean, variance),
        Poisson().expected_outcome_entropy(shifted, variance), rtol=1e-12)  # fmt: skip


@pytest.mark.parametrize(
    ("mean", "sd"), [(30.0, 1e-7), (30.0, 1.0), (300.0, 1e-2), (300.0, 10.0), (5e3, 1e2), (1e6, 1e-7), (1e6, 1e2)]
)
def test_rates_beyond_what_a_float_can_hold_have_the_information_of_their_logarithm(mean, sd):
    """I = log(1 + v e^s) / 2 where the count is nearly normal, whose noise is 1/2 log(2 pi e) + s / 2."""
    gain = Poisson().outcome_entropy(mean, sd * sd) - Poisson().expected_outcome_entropy(mean, sd * sd)
    assert gain == pytest.approx(0.5 * np.logaddexp(0.0, 2 * np.log(sd) + mean), abs=1e-3)


@pytest.mark.parametrize("rate", ["softplus", "rectified"])
def test_the_information_of_a_nearly_linear_rate_at_any_width(rate):
    """Half of the mass is at rate 0; the other half has the density of |s|, which counts round to integers."""
    sd = np.array([1e4, 1e6, 1e8, 1e10])
    family, zero = Poisson(rate=rate), np.zeros(4)
    outcome, expected = family.outcome_entropy(zero, sd**2), family.expected_outcome_entropy(zero, sd**2)
    entropy_of_half = np.log(2.0) + 0.5 * (0.5 * np.log(0.5 * np.pi * np.e * sd**2))
    np.testing.assert_allclose(outcome, entropy_of_half, atol=3e-3)
    mean_log = np.log(sd) - 0.5 * (np.euler_gamma + np.log(2.0))  # E log |s|
    np.testing.assert_allclose(expected, 0.25 * (np.log(2 * np.pi * np.e) + mean_log), atol=1e-3)


@pytest.mark.parametrize("rate", ["softplus", "rectified"])
def test_the_information_of_a_nearly_linear_rate_by_sums(rate):
    """Sums over counts, the trapezoidal rule over s, from narrow to wide; any exposure."""
    rate_of = {"softplus": lambda s: np.logaddexp(0.0, s), "rectified": lambda s: np.maximum(s, 0.0)}[rate]
    for mean, sd, exposure in [
        (-8.0, 1.0, 1.0), (-1.0, 1e-3, 1.0), (0.5, 0.1, 7.0), (0.0, 1.0, 1.0), (5.0, 0.3, 0.2), (2.0, 5.0, 3.0),
        (-30.0, 20.0, 1.0), (0.0, 100.0, 1.0),
    ]:  # fmt: skip
        s = np.linspace(mean - 9 * sd, mean + 9 * sd, 40_001)
        weights = np.exp(-0.5 * ((s - mean) / sd) ** 2)
        weights /= weights.sum()
        rates = exposure * rate_of(s)
        most = int(rates.max() + 12 * np.sqrt(rates.max()) + 30)
        p = np.array([weights @ np.exp(xlogy(k, rates) - rates - gammaln(k + 1)) for k in range(most)])
        information = entr(p).sum() - weights @ poisson_entropy(rates)
        family = Poisson(rate=rate, exposure=exposure)
        gain = family.outcome_entropy(mean, sd**2) - family.expected_outcome_entropy(mean, sd**2)
        with naming((mean, sd, exposure)):
            assert gain == pytest.approx(information, abs=1e-3)
