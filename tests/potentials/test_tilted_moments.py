"""Tilted moments against 50-digit references, the acceptance rows of the sources, and exact properties."""

import json
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import adaptive.potentials as potentials
from adaptive.potentials import (
    BernoulliLogit,
    BernoulliProbit,
    ExponentialPower,
    Gaussian,
    Laplace,
    Logistic,
    Poisson,
    Potential,
    Step,
    StudentT,
    tilted,
)

REFERENCE = json.loads(Path(__file__).with_name("tilted_reference.json").read_text())


def errors(result, reference):
    """The three errors in the units of the promise: relative or absolute; tilted standard deviations; relative."""
    (log_normaliser, mean, variance), (log_normaliser_0, mean_0, variance_0) = result, reference
    return (
        np.abs(log_normaliser - log_normaliser_0) / np.maximum(1, np.abs(log_normaliser_0)),
        np.abs(mean - mean_0) / np.sqrt(variance_0),
        np.abs(variance / variance_0 - 1),
    )


@pytest.mark.parametrize("name", REFERENCE["potentials"])
def test_moments_reach_the_reference(name):
    """1e-10 for every potential, cavity means to 1e4 standard deviations, variances 1e-10..1e10, fractions 0.1..1."""
    kind, arguments = REFERENCE["potentials"][name]
    potential = getattr(potentials, kind)(*arguments)
    rows = np.array([row[1:] for row in REFERENCE["rows"] if row[0] == name])
    assert len(rows) >= 15 and np.ptp(np.log(rows[:, 1])) > 20
    for fraction in np.unique(rows[:, 2]):
        mean, variance, _, *reference = rows[rows[:, 2] == fraction].T
        for error in errors(potential.tilted_moments(mean, variance, fraction), reference):
            assert error.max() < 1e-10


@pytest.mark.parametrize(
    ("mean", "variance", "rate", "log_normaliser", "tilted_mean", "tilted_variance"),
    [  # nickisch-adaptive-cs 11, exp(-rate |s|) without its normaliser
        (0, 1, 1, -0.647874464449318, 0, 0.474864723839019),
        (1, 1, 0.9, -0.832498702480693, 0.538236763744548, 0.595426972076279),
        (-2, 0.5, 4.5, -4.79885017428226, -0.396947901458732, 0.170809773385655),
        (0.3, 1e-4, 4500, -453.448358983233, 5.28043289710919e-4, 4.51400864957835e-7),
        (40, 1, 100, -804.656817759867, 9.51642319617629e-3, 3.2837045711326e-4),
    ],
)
def test_acceptance_rows_of_the_laplace_potential(mean, variance, rate, log_normaliser, tilted_mean, tilted_variance):
    result = Laplace(1 / rate).tilted_moments(mean, variance)
    result = (result[0] + np.log(2 / rate), *result[1:])
    assert result[0] == pytest.approx(log_normaliser, rel=3e-15)
    assert result[1] == pytest.approx(tilted_mean, rel=3e-14, abs=1e-15)
    assert result[2] == pytest.approx(tilted_variance, rel=1e-13)


def rectified_reference(y, mean, variance):
    """I_k by the recurrence I_{k+1} = m I_k + v k I_{k-1} in as many digits as it loses."""
    with mp.workdps(60 + int(3 * np.sqrt(y + 1) * max(1.0, (variance - mean) / np.sqrt(variance)))):
        mu, v = mp.mpf(mean), mp.mpf(variance)
        m = mu - v
        integrals = [mp.ncdf(m / mp.sqrt(v))]
        integrals.append(m * integrals[0] + v * mp.npdf(m, 0, mp.sqrt(v)))
        for k in range(1, y + 2):
            integrals.append(m * integrals[k] + v * k * integrals[k - 1])
        zero, one, two = integrals[y : y + 3]
        return (
            float(mp.log(zero) + v / 2 - mu - mp.loggamma(y + 1)),
            float(one / zero),
            float(two / zero - (one / zero) ** 2),
        )


@pytest.mark.parametrize("y", [1, 2, 5, 10, 100, 400])
def test_rectified_counts_on_both_sides_of_the_switch(y):
    """The forward recurrence alone returns garbage for cavity means below the variance; the switch does not."""
    cases = [
        (y, 1e-8),
        (y, 1.0),
        (0.3 * y, 0.3 * y + 1),
        (1.0, 4.0),
        (-3.0, 2.0),
        (5.0, 1e3),
        (-40.0, 1.0),
        (50.0, 49.0),
    ]
    for mean, variance in cases:
        result = Poisson(y, "rectified").tilted_moments(mean, variance)
        assert max(errors(result, rectified_reference(y, mean, variance))) < 1e-10, (mean, variance)


def test_recurrence_and_quadrature_agree_for_rectified_counts(rng):
    variance = 10 ** rng.uniform(-3, 5, 300)
    mean = rng.normal(size=300) * 3 * np.sqrt(variance)
    potential = Poisson(rng.integers(1, 60, 300), "rectified")
    by_quadrature = tilted.moments(potential, mean, variance, 1.0)
    for error in errors(potential.tilted_moments(mean, variance), by_quadrature):
        assert error.max() < 1e-10


# ----------------------------------------------------------------------------------------------------------- properties
deviation = st.floats(-1e4, 1e4)
exponent = st.floats(-10, 10)
fractions = st.floats(0.1, 1.0)


@settings(max_examples=40, deadline=None)
@given(d=deviation, e=exponent, fraction=fractions)
def test_extremes_are_finite_and_log_concave_factors_shrink_the_variance(potential, d, e, fraction):
    variance = 10.0**e
    mean = potential.location + d * np.sqrt(variance)
    log_normaliser, tilted_mean, tilted_variance = potential.tilted_moments(mean, variance, fraction)
    assert np.isfinite([log_normaliser, tilted_mean, tilted_variance]).all() and tilted_variance > 0
    if potential.log_concave:
        assert tilted_variance <= variance * (1 + 1e-10)


@settings(max_examples=30, deadline=None)
@given(d=st.floats(-20, 20), e=st.floats(-6, 6), fraction=fractions)
def test_a_gaussian_factor_is_exact(d, e, fraction):
    variance = 10.0**e
    mean, own, location = d * np.sqrt(variance), 0.8, 1.5
    log_normaliser, tilted_mean, tilted_variance = Gaussian(own, location).tilted_moments(mean, variance, fraction)
    precision = 1 / variance + fraction / own
    assert tilted_variance == pytest.approx(1 / precision, rel=1e-13)
    assert tilted_mean == pytest.approx((mean / variance + fraction * location / own) / precision, rel=1e-11, abs=1e-13)
    quadrature = tilted.moments(Gaussian(own), np.array([mean - location]), np.array([variance]), fraction)
    assert max(e[0] for e in errors((log_normaliser, tilted_mean - location, tilted_variance), quadrature)) < 1e-11


def test_powers_one_and_two_are_laplace_and_gaussian(rng):
    mean, variance = rng.normal(size=50) * 10, 10 ** rng.uniform(-3, 3, 50)
    for fraction in (1.0, 0.4):
        for power, same in ((1.0, Laplace(0.6)), (2.0, Gaussian(0.18))):
            result = ExponentialPower(power, 0.6).tilted_moments(mean, variance, fraction)
            for a, b in zip(result, same.tilted_moments(mean, variance, fraction), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-13)
            # continuity: the quadrature a hair beside the closed form
            near = ExponentialPower(power + 1e-9, 0.6).tilted_moments(mean, variance, fraction)
            np.testing.assert_allclose(near[0], result[0], rtol=1e-5, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(d=st.floats(-30, 30), e=st.floats(-8, 8), fraction=fractions)
def test_reflection(potential, d, e, fraction):
    """Even densities: mean -> -mean. Bernoulli: outcome -> -outcome."""
    variance = 10.0**e
    x = d * np.sqrt(variance)
    if hasattr(potential, "entropy"):
        one = potential.observe(0.0).tilted_moments(x, variance, fraction)
        two = potential.observe(0.0).tilted_moments(-x, variance, fraction)
    elif isinstance(potential, (BernoulliLogit, BernoulliProbit)):
        one = potential.tilted_moments(x, variance, fraction)
        two = type(potential)(-potential.y).tilted_moments(-x, variance, fraction)
    else:
        return
    assert one[0] == pytest.approx(two[0], rel=1e-10, abs=1e-10)
    assert one[1] == pytest.approx(-two[1], rel=1e-9, abs=1e-9 * np.sqrt(one[2]))
    assert one[2] == pytest.approx(two[2], rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(d=st.floats(-5, 5), e=st.floats(-2, 2))
def test_mean_and_variance_are_derivatives_of_the_log_normaliser(potential, d, e):
    """mean = c + v dlogZ/dc, variance = v + v^2 d2logZ/dc2."""
    variance = 10.0**e
    c = potential.location + d * np.sqrt(variance)
    step = 1e-3 * np.sqrt(variance)
    values = [potential.tilted_moments(c + k * step, variance, 0.8) for k in (-2, -1, 0, 1, 2)]
    slope = (8 * (values[3][0] - values[1][0]) - values[4][0] + values[0][0]) / (12 * step)
    slope_of_mean = (8 * (values[3][1] - values[1][1]) - values[4][1] + values[0][1]) / (12 * step)
    _, mean, tilted_variance = values[2]
    assert mean == pytest.approx(c + variance * slope, rel=1e-7, abs=1e-6 * np.sqrt(variance))
    assert tilted_variance == pytest.approx(variance * slope_of_mean, rel=1e-6)


def test_the_predictive_density_of_noise_is_a_tilted_normaliser():
    """Two Gaussians convolve; a logit averaged over its symmetric prior is one half."""
    assert Gaussian(2.0, 1.0).tilted_moments(0.0, 3.0)[0] == pytest.approx(-0.5 * (np.log(10 * np.pi) + 0.2))
    for variance in (1e-8, 1.0, 29.9, 30.1, 1e10):
        assert np.exp(BernoulliLogit(1).tilted_moments(0.0, variance)[0]) == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("fraction", [1.0, 0.9, 0.5, 0.1])
def test_fast_and_general_route_agree_for_the_logit(rng, fraction):
    variance = 10 ** rng.uniform(-10, 10, 400)
    mean = rng.choice([1, 10, 1e3, 1e4], 400) * rng.normal(size=400) * np.sqrt(variance)
    potential = BernoulliLogit(1.0)
    general = tilted.moments(potential, mean, variance, fraction)
    for error in errors(potential.tilted_moments(mean, variance, fraction), general):
        assert error.max() < 5e-11


def test_structure_beside_a_mode_is_seen():
    """A rate change at scale 1 beside a mode whose panel is 1e4 wide: no interior point of the panel sees it."""
    variance = 1e10
    for mean in (-1e5, -1e6, -1e7, -3e7):
        fast = BernoulliLogit(1.0).tilted_moments(mean, variance)
        general = tilted.moments(BernoulliLogit(1.0), np.array([mean]), np.array([variance]), 1.0)
        assert max(e[0] for e in errors(fast, general)) < 1e-11


def test_step_moments_are_those_of_a_cut_gaussian():
    log_normaliser, mean, variance = Step(1.0).tilted_moments(1.0, 4.0)
    assert log_normaliser == pytest.approx(np.log(0.5))
    assert mean == pytest.approx(1 + 2 * np.sqrt(2 / np.pi)) and variance == pytest.approx(4 * (1 - 2 / np.pi))


# --------------------------------------------------------------------------------------------------- the robust default
class TwoBumps(Potential):
    """A mixture of two Gaussians far apart: not log-concave, and nothing but the mandatory methods."""

    log_concave = False
    centres, sds = (-40.0, 25.0), (0.5, 2.0)

    def log_density(self, s, y=None):
        s = np.asarray(s, dtype=float)
        parts = [
            -0.5 * ((s - m) / w) ** 2 - np.log(2 * w * np.sqrt(2 * np.pi))
            for m, w in zip(self.centres, self.sds, strict=True)
        ]
        return np.logaddexp(*parts)

    def derivatives(self, s, y=None):
        step = 1e-5
        first = (self.log_density(s + step) - self.log_density(s - step)) / (2 * step)
        return first, (self.log_density(s + step) - 2 * self.log_density(s) + self.log_density(s - step)) / step**2


@pytest.mark.parametrize("variance", [1e-2, 1.0, 100.0, 1e4, 1e8])
@pytest.mark.parametrize("mean", [-35.0, -7.0, 0.0, 30.0])
def test_a_new_potential_with_two_modes_needs_no_moments_of_its_own(mean, variance):
    weights, means, variances = [], [], []
    for m, w in zip(TwoBumps.centres, TwoBumps.sds, strict=True):
        z, a, b = Gaussian(w * w, m).tilted_moments(mean, variance)
        weights.append(z + np.log(0.5))
        means.append(a)
        variances.append(b)
    total = np.logaddexp(*weights)
    p = np.exp(np.array(weights) - total)
    centre = p @ np.array(means)
    expected = (total, centre, p @ (np.array(variances) + (np.array(means) - centre) ** 2))
    assert max(errors(TwoBumps().tilted_moments(mean, variance), expected)) < 1e-10


class HalfNormal(Potential):
    """exp(-s^2/2) on s > 0: a support that ends inside."""

    support = (0.0, np.inf)

    def log_density(self, s, y=None):
        s = np.asarray(s, dtype=float)
        return np.where(s > 0, -0.5 * s * s, -np.inf)

    def derivatives(self, s, y=None):
        s = np.asarray(s, dtype=float)
        return np.where(s > 0, -s, np.inf), np.where(s > 0, -1.0, -np.inf)


@pytest.mark.parametrize(("mean", "variance"), [(0.5, 1.0), (-8.0, 1.0), (-50.0, 4.0), (1e3, 1e-2), (0.0, 1e6)])
def test_a_new_potential_with_a_bounded_support(mean, variance):
    narrow = variance / (1 + variance)
    log_mass, centre, spread = Step().tilted_moments(mean * narrow / variance, narrow)
    log_normaliser = log_mass - 0.5 * mean**2 / (1 + variance) - 0.5 * np.log1p(variance)
    result = HalfNormal().tilted_moments(mean, variance)
    assert max(errors(result, (log_normaliser, centre, spread))) < 1e-10
    assert HalfNormal().expectation(mean, variance) == -np.inf


def test_a_logistic_from_its_log_density_alone(rng):
    class Plain(Potential):
        def log_density(self, s, y=None):
            return -2 * np.logaddexp(0.5 * s, -0.5 * s)

        def derivatives(self, s, y=None):
            t = np.tanh(0.5 * s)
            return -t, -0.5 * (1 - t * t)

    variance = 10 ** rng.uniform(-4, 4, 100)
    mean = rng.normal(size=100) * 5 * np.sqrt(variance)
    for error in errors(Plain().tilted_moments(mean, variance, 0.7), Logistic(1.0).tilted_moments(mean, variance, 0.7)):
        assert error.max() < 1e-10


def test_student_mass_between_two_modes():
    """A heavy tail against a cavity 40 deviations away: two modes, both counted."""
    potential = StudentT(2.0, 0.05)
    x = np.linspace(-100, 140, 1_200_001)
    for mean, variance in ((40.0, 60.0), (8.0, 1.0), (20.0, 30.0)):
        weight = np.exp(potential.log_density(x) - (x - mean) ** 2 / (2 * variance))
        total = weight.sum()
        centre = (weight * x).sum() / total
        spread = (weight * (x - centre) ** 2).sum() / total
        log_normaliser = np.log(total * (x[1] - x[0])) - 0.5 * np.log(2 * np.pi * variance)
        result = potential.tilted_moments(mean, variance)
        assert max(errors(result, (log_normaliser, centre, spread))) < 1e-9


class Rough(Laplace):
    """A density that loses digits far from its location, as a formula without care does."""

    def _log_ratio(self, x, step):
        return super()._log_ratio(x, step) + 1e-7 * np.sin(1e9 * (x + step))


def test_digits_that_are_lost_end_in_a_warning_and_not_in_all_of_the_memory():
    mean = np.linspace(-3.0, 3.0, 50)
    with pytest.warns(ConvergenceWarning, match="halving their panels does not make errors smaller.*`_log_ratio`"):
        rough = tilted.moments(Rough(0.5), mean, np.ones(50), 1.0)
    for found, right in zip(rough, Laplace(0.5).tilted_moments(mean, 1.0), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-6)
