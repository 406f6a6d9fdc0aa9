"""Entropies of outcomes, averaged over a Gaussian projection: Bernoulli, Poisson and continuous noise."""

import itertools

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid
from scipy.special import entr, expit, gammaln, ndtr, xlogy

from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian, Laplace, Likelihood, Poisson, StudentT
from adaptive.potentials.poisson_outcomes import poisson_entropy

BERNOULLI = {"logit": (BernoulliLogit(), expit), "probit": (BernoulliProbit(), ndtr)}
bernoulli = pytest.mark.parametrize(("binomial", "link"), BERNOULLI.values(), ids=BERNOULLI)


def dense(function, mean, sd):
    """Trapezoid rule on 40,001 points where the Gaussian is at most 40 wide, split panels of it else."""
    x = np.linspace(-9.5, 9.5, 40_001)
    weight = np.exp(-0.5 * x * x)
    if sd < 40:
        return (weight * function(mean + sd * x)).sum() / weight.sum()
    s = np.concatenate([mean + sd * np.linspace(-9.5, 9.5, 40_001), np.linspace(-60, 60, 200_001)])
    s = np.unique(s)
    values = function(s) * np.exp(-0.5 * ((s - mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))
    return trapezoid(values, s)


def binary(p):
    return entr(p) + entr(1 - p)


@bernoulli
def test_entropies_over_the_whole_range_of_widths(binomial, link, rng):
    """Every branch of the kernel (Gauss-Hermite, fine and coarse lattice) and both sides of each switch."""
    sds = np.concatenate([10 ** rng.uniform(-4, 2, 40), [0.299, 0.301, 0.699, 0.701, 3e3, 1e4]])
    means = rng.normal(size=len(sds)) * np.maximum(2.0, sds)
    probability, outcome, expected = binomial.entropies(means, sds**2)
    for k, (mean, sd) in enumerate(zip(means, sds, strict=True)):
        p = dense(link, mean, sd)
        tolerance = 1e-8 if sd < 40 else 1e-7  # of the reference, there
        assert probability[k] == pytest.approx(p, abs=tolerance)
        assert outcome[k] == pytest.approx(binary(p), abs=10 * tolerance)
        assert expected[k] == pytest.approx(dense(lambda s: binary(link(-np.abs(s))), mean, sd), abs=tolerance)


@pytest.mark.parametrize(
    ("mean", "variance"), [(0.3, 1e-6), (1.0, 0.08), (-2.0, 0.3), (0.5, 4.0), (10.0, 900.0), (30.0, 1e8)]
)
def test_entropies_to_fifteen_digits_of_a_reference(mean, variance):
    """mpmath, absolute error 1e-9: a tenth of the promise."""
    with mp.workdps(25):
        sd = mp.sqrt(variance)
        cuts = sorted(
            {-mp.inf, mp.inf, *(mp.mpf(c) for c in (-40, -5, 0, 5, 40)), *(mean + k * sd for k in (-8, -3, 0, 3, 8))}
        )

        def average(function):
            return float(mp.quad(lambda s: function(s) * mp.npdf(s, mean, sd), cuts))

        def entropy(s):
            return mp.log1p(mp.exp(-abs(s))) + abs(s) / (1 + mp.exp(abs(s)))

        p = average(lambda s: 1 / (1 + mp.exp(-s)))
        probability, outcome, expected = BernoulliLogit().entropies(mean, variance)
        assert probability == pytest.approx(p, abs=1e-9)
        assert outcome == pytest.approx(binary(p), abs=1e-9)
        assert expected == pytest.approx(average(entropy), abs=1e-9)


@bernoulli
@settings(max_examples=60, deadline=None)
@given(mean=st.floats(-1e6, 1e6), e=st.floats(-12, 12))
def test_information_of_an_outcome_lies_between_zero_and_its_entropy(binomial, link, mean, e):
    probability, outcome, expected = binomial.entropies(mean, 10.0**e)
    assert 0 <= probability <= 1
    assert 0 <= expected <= outcome <= np.log(2) + 1e-15
    mirrored = binomial.entropies(-mean, 10.0**e)
    assert mirrored[0] == pytest.approx(1 - probability, abs=1e-15)
    np.testing.assert_array_equal(mirrored[1:], (outcome, expected))


@bernoulli
def test_no_variance_leaves_the_entropy_of_the_outcome(binomial, link):
    mean = np.array([-3.0, 0.0, 0.7])
    probability, outcome, expected = binomial.entropies(mean, 0.0)
    np.testing.assert_allclose(probability, link(mean), rtol=1e-13)
    np.testing.assert_allclose(outcome, binary(link(mean)), atol=1e-14)
    np.testing.assert_allclose(expected, outcome, atol=1e-14)


@bernoulli
def test_the_named_methods_are_those_of_one_pass(binomial, link):
    mean, variance = np.array([0.4, -3.0]), np.array([2.0, 0.01])
    probability, outcome, expected = binomial.entropies(mean, variance)
    np.testing.assert_array_equal(binomial.outcome_entropy(mean, variance), outcome)
    np.testing.assert_array_equal(binomial.expected_outcome_entropy(mean, variance), expected)
    outcomes, probabilities = binomial.outcome_probabilities(mean, variance)
    np.testing.assert_array_equal(outcomes, [-1, 1])
    np.testing.assert_array_equal(probabilities[:, 1], probability)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-15)


@bernoulli
def test_predictive_probability_is_the_tilted_normaliser(binomial, link, rng):
    mean, variance = rng.normal(size=60) * 5, 10 ** rng.uniform(-4, 4, 60)
    for y in (-1.0, 1.0):
        probability = np.exp(binomial.observe(y).tilted_moments(mean, variance)[0])
        column = binomial.outcome_probabilities(mean, variance)[1][:, int(y > 0)]
        np.testing.assert_allclose(column, probability, atol=1e-9)


class PlainLogit(Likelihood):
    """The logit from what is mandatory for a new likelihood, and nothing else."""

    outcomes = np.array([-1.0, 1.0])

    def log_density(self, s, y=None):
        return -np.logaddexp(0.0, -self._outcome(y) * np.asarray(s))

    def derivatives(self, s, y=None):
        y = self._outcome(y)
        return y * expit(-y * np.asarray(s)), -expit(s) * expit(-np.asarray(s))


def test_a_new_likelihood_needs_its_log_density_only(rng):
    mean, variance = rng.normal(size=12) * 3, 10 ** rng.uniform(-3, 5, 12)
    plain, exact = PlainLogit(), BernoulliLogit()
    np.testing.assert_allclose(
        plain.outcome_probabilities(mean, variance)[1][:, 1], exact.entropies(mean, variance)[0], atol=1e-9
    )
    np.testing.assert_allclose(plain.outcome_entropy(mean, variance), exact.outcome_entropy(mean, variance), atol=1e-8)
    expected = plain.expected_outcome_entropy(mean, variance), exact.expected_outcome_entropy(mean, variance)
    np.testing.assert_allclose(*expected, atol=1e-8)
    draws = plain.sample(np.full(20000, 0.8), random_state=0)
    assert np.mean(draws == 1) == pytest.approx(expit(0.8), abs=0.015)
    for a, b in zip(
        plain.observe([1, -1]).tilted_moments(0.3, 2.0), exact.observe([1, -1]).tilted_moments(0.3, 2.0), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-11)
    with pytest.raises(ValueError, match="y must hold the outcomes -1, 1, got 0"):
        plain.observe(0)


# ------------------------------------------------------------------------------------------------------------- counts
RATES = ("exp", "softplus", "rectified")
CASES = [(0.0, 0.0), (1.0, 0.0), (0.3, 0.5), (-1.0, 2.0), (2.5, 1e-4), (3.0, 0.2), (-30.0, 1.0), (-2.0, 1e-3)]


@pytest.mark.parametrize("rate", RATES)
def test_count_probabilities_are_tilted_normalisers(rate):
    means, variances = np.array(CASES).T
    outcomes, probabilities = Poisson(rate=rate).outcome_probabilities(means, variances)
    np.testing.assert_array_equal(outcomes, np.arange(len(outcomes)))
    assert probabilities.shape == (len(CASES), len(outcomes))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=2e-10)
    for k, (mean, variance) in enumerate(CASES):
        if variance == 0:
            expected = np.exp(Poisson(rate=rate).log_density(mean, outcomes))
        else:
            expected = np.exp(Poisson(outcomes, rate).tilted_moments(mean, variance)[0])
        kept = probabilities[k] > 0
        np.testing.assert_allclose(probabilities[k][kept], expected[kept], atol=1e-12)
        assert expected[~kept].sum() < 1e-10  # the row's own tail


@pytest.mark.parametrize("rate", RATES)
def test_count_entropies_equal_their_definition(rate):
    means, variances = np.array(CASES).T
    family = Poisson(rate=rate)
    _, probabilities = family.outcome_probabilities(means, variances)
    outcome = family.outcome_entropy(means, variances)
    np.testing.assert_allclose(outcome, entr(probabilities).sum(axis=1), atol=1e-8)
    expected = family.expected_outcome_entropy(means, variances)
    x = np.linspace(-9, 9, 20_001)
    weight = np.exp(-0.5 * x * x) / np.exp(-0.5 * x * x).sum()
    for k, (mean, variance) in enumerate(CASES):
        rates = family.mean_rate(mean + np.sqrt(variance) * x)
        assert expected[k] == pytest.approx(weight @ poisson_entropy(rates), abs=2e-7)
    assert (expected <= outcome + 1e-8).all() and (expected >= 0).all()


def test_many_counts_in_one_pass():
    """Large rates: masses sum to one, and their mean is that of the rate."""
    for rate, mean, variance in (
        ("exp", 8.0, 0.05),
        ("softplus", 3000.0, 1e4),
        ("rectified", 3000.0, 1e4),
        ("exp", 9.0, 1e-10),
    ):
        outcomes, probabilities = Poisson(rate=rate).outcome_probabilities(np.array([mean]), np.array([variance]))
        assert probabilities.sum() == pytest.approx(1.0, abs=1e-9)
        expected = np.exp(mean + variance / 2) if rate == "exp" else mean
        assert probabilities[0] @ outcomes == pytest.approx(expected, rel=1e-6)


def test_entropy_of_a_poisson_distribution():
    y = np.arange(3000.0)
    for rate in (1e-6, 0.3, 5.0, 40.0, 59.9, 60.1, 300.0, 1500.0):
        log_p = xlogy(y, rate) - rate - gammaln(y + 1)
        assert poisson_entropy(np.array(rate)) == pytest.approx(-(np.exp(log_p) * log_p).sum(), abs=2e-10)
    assert poisson_entropy(np.array(0.0)) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("rate", ["exp", "softplus", "rectified"])
@pytest.mark.parametrize(("mean", "variance", "exposure"), [(5.0, 0.04, 1.0), (6.0, 1e-3, 2.0), (3.0, 0.3, 50.0)])
def test_entropies_of_large_counts_are_those_of_their_table(rate, mean, variance, exposure):
    family = Poisson(rate=rate, exposure=exposure * (1.0 if rate == "exp" else 200.0))
    p = family.outcome_probabilities([mean], [variance])[1][0]
    assert len(p) > 512
    assert family.outcome_entropy([mean], [variance])[0] == pytest.approx(entr(p).sum(), abs=3e-8)  # the table is cut


@pytest.mark.parametrize(
    ("rate", "mean", "variance"), [("exp", 1.0, 3.0), ("softplus", 5.0, 1e4), ("rectified", 300.0, 1e5)]
)
def test_entropy_of_a_broad_rate(rate, mean, variance):
    """To 1e-6: sums over counts of their masses, beyond the first by Gauss' rule in the coordinate log y."""

    def terms(y):
        return entr(np.exp(Poisson(y, rate).tilted_moments(np.full(len(y), mean), variance)[0]))

    sd, (x, w) = np.sqrt(variance), np.polynomial.legendre.leggauss(30)
    ends = np.linspace(np.log(2000.5), mean + 9 * sd if rate == "exp" else np.log(mean + 10 * sd + 100), 9)
    expected = terms(np.arange(2001.0)).sum()
    for low, high in itertools.pairwise(ends) if ends[-1] > ends[0] else ():
        y = np.exp(0.5 * (low + high) + 0.5 * (high - low) * x)
        below = np.floor(y)
        there = terms(below) + (y - below) * (terms(below + 1) - terms(below))
        expected += 0.5 * (high - low) * w @ (there * y)
    assert Poisson(rate=rate).outcome_entropy(mean, variance) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("rate", ["exp", "softplus", "rectified"])
def test_the_table_of_a_row_does_not_depend_on_its_neighbours(rate):
    family = Poisson(rate=rate)
    mean, variance = np.array([0.3, 2.0]), np.array([0.4, 0.5])
    both, alone = (
        family.outcome_probabilities(mean, variance)[1],
        family.outcome_probabilities(mean[:1], variance[:1])[1],
    )
    np.testing.assert_array_equal(both[0, : alone.shape[1]], alone[0])
    assert not both[0, alone.shape[1] :].any()


def test_a_table_of_counts_holds_the_normalisers_of_their_factors(family):
    """P(y) = E p(y | s), each by quadrature of its own; what a row's table leaves out is nothing."""
    mean, variance = np.array([0.3, 1.1]), np.array([0.4, 0.05])
    outcomes, table = family.outcome_probabilities(mean, variance)
    np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-9)
    for y in outcomes[:20:3]:
        log_mass = family.observe(np.full(2, y)).tilted_moments(mean, variance)[0]
        np.testing.assert_allclose(table[:, list(outcomes).index(y)], np.exp(log_mass), atol=1e-9, err_msg=f"of {y}")
    np.testing.assert_allclose(family.outcome_entropy(mean, variance), entr(table).sum(axis=1), atol=1e-7)
    s, weights = np.polynomial.hermite_e.hermegauss(30)  # at each projection, the entropy where it is known
    at_each = np.stack([family.outcome_entropy(mean + np.sqrt(variance) * x, np.zeros(2)) for x in s])
    if family.smooth:
        expected = weights @ at_each / weights.sum()
        np.testing.assert_allclose(family.expected_outcome_entropy(mean, variance), expected, atol=1e-6)


def test_tables_that_cannot_be_built_are_refused():
    with pytest.raises(ValueError, match="Poisson outcomes at mean 0 and variance 100 reach beyond 200000 counts"):
        Poisson().outcome_probabilities(np.zeros(2), np.array([1.0, 100.0]))


# ----------------------------------------------------------------------------------------------------- continuous noise
@pytest.mark.parametrize("variance", [0.0, 1e-6, 0.04, 1.0, 30.0])
def test_entropy_of_noisy_values(density, variance):
    """- int p log p on a grid, p the tilted normaliser of the outcome."""
    heavy = density.name == "StudentT"
    kinked = not density.smooth and variance < 1e-2  # the grid, not the library, is coarse there
    reach, tolerance = (16.0, 1e-4 if density.df == 1 else 1e-8) if heavy else (9.0, 1e-5 if kinked else 1e-8)
    t = np.linspace(-reach, reach, 8001)
    y = np.sinh(t) * (1 + np.sqrt(variance))
    if variance == 0:
        log_p = density.log_density(y + density.location)
    else:
        log_p = np.maximum(density.observe(y).tilted_moments(np.zeros(len(y)), variance)[0], -700)
    integral = trapezoid(-np.exp(log_p) * np.maximum(log_p, -700) * np.cosh(t) * (1 + np.sqrt(variance)), t)
    assert density.outcome_entropy(3.0, variance) == pytest.approx(integral, abs=tolerance)
    noise = density.expected_outcome_entropy(3.0, variance)
    assert noise <= density.outcome_entropy(3.0, variance) + 1e-9
    assert noise == pytest.approx(float(density.outcome_entropy(0.0, 0.0)), abs=1e-9)


def test_many_candidates_are_interpolated(rng):
    variance = 10 ** rng.uniform(-8, 4, 60)
    for family in (Laplace(0.5), StudentT(4.0, 0.3)):
        one_by_one = np.array([family.outcome_entropy(0.0, v) for v in variance[:6]])
        np.testing.assert_allclose(family.outcome_entropy(np.zeros(60), variance)[:6], one_by_one, atol=1e-8)


def test_information_about_a_gaussian_projection():
    mean, variance = np.zeros(3), np.array([0.0, 1.0, 8.0])
    family = Gaussian(2.0)
    gain = family.outcome_entropy(mean, variance) - family.expected_outcome_entropy(mean, variance)
    np.testing.assert_allclose(gain, 0.5 * np.log1p(variance / 2.0), rtol=1e-13, atol=1e-15)
