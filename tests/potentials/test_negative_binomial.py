"""Negative binomial counts: the factor, its tilted moments and its entropies by brute force."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import entr, roots_genlaguerre

from adaptive.potentials import Poisson
from adaptive.potentials.negative_binomial import NegativeBinomial

SPREADS = (0.03, 0.6, 3.0)


@pytest.mark.parametrize("spread", SPREADS)
def test_it_is_a_poisson_count_whose_rate_varies(spread):
    family = NegativeBinomial(overdispersion=spread, exposure=2.0)
    nodes, weights = roots_genlaguerre(150, 1.0 / spread - 1.0)  # of Gamma(1 / spread)
    for s, y in ((-0.4, 0.0), (0.9, 2.0), (1.7, 30.0)) if spread < 1 else ((-1.4, 0.0), (-1.0, 2.0)):
        exact = weights @ stats.poisson.pmf(y, 2.0 * np.exp(s) * spread * nodes) / weights.sum()
        assert np.exp(family.log_density(s, y)) == pytest.approx(exact, rel=1e-6)
    s, y = np.array([-0.4, 0.9, 1.7]), np.array([0.0, 2.0, 7.0])
    np.testing.assert_allclose(
        family.log_density(s, y), stats.nbinom.logpmf(y, 1 / spread, 1 / (1 + spread * 2 * np.exp(s))), rtol=1e-9
    )
    k, means = np.array([0.0, 3.0, 40.0]), np.array([0.2, 5.0, 17.0])
    exact = stats.nbinom.cdf(k, 1 / spread, 1 / (1 + spread * means))
    np.testing.assert_allclose(family.at_most(k, means), exact, rtol=1e-9)
    step, held = 1e-4, family.observe(y)
    up, at, down = (held.log_density(s + d) for d in (step, 0.0, -step))
    first, second = held.derivatives(s)
    np.testing.assert_allclose(first, (up - down) / (2 * step), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(second, (up - 2 * at + down) / step**2, rtol=1e-4, atol=1e-5)
    sides = (held.derivatives(s + d)[1] for d in (step, -step))
    np.testing.assert_allclose(held.third_derivative(s), np.subtract(*sides) / (2 * step), rtol=1e-5, atol=1e-7)


def test_without_overdispersion_it_is_poisson():
    s, y = np.linspace(-2, 6, 9), np.array([0, 1, 3, 2, 9, 20, 50, 140, 400.0])
    near, plain = NegativeBinomial(overdispersion=1e-9, exposure=1.5), Poisson(exposure=1.5)
    np.testing.assert_allclose(near.log_density(s, y), plain.log_density(s, y), atol=1e-4)
    moments = s, np.full(9, 0.2)
    np.testing.assert_allclose(near.outcome_entropy(*moments), plain.outcome_entropy(*moments), atol=1e-5)
    np.testing.assert_allclose(
        near.expected_outcome_entropy(*moments), plain.expected_outcome_entropy(*moments), atol=1e-5
    )


@pytest.mark.parametrize("spread", SPREADS)
def test_tilted_moments_and_entropies_are_those_of_a_grid(spread):
    family = NegativeBinomial(overdispersion=spread, exposure=1.5)
    for mean, variance in ((0.3, 0.5), (2.6, 0.2), (-3.0, 1.5)):
        grid = np.linspace(-8.0, 8.0, 801)
        weights = stats.norm.pdf(grid)
        weights /= weights.sum()
        s = mean + np.sqrt(variance) * grid
        p = np.exp(family.log_density(s, 3.0)) * weights
        centre = (p @ s) / p.sum()
        found = family.observe([3.0]).tilted_moments([mean], [variance])
        np.testing.assert_allclose(
            np.ravel(found), (np.log(p.sum()), centre, p @ (s - centre) ** 2 / p.sum()), rtol=1e-7
        )
        counts = np.arange(60_000.0) if spread > 1 else np.arange(6000.0)
        table = np.array([stats.nbinom.pmf(counts, 1 / spread, 1 / (1 + spread * 1.5 * np.exp(x))) for x in s[::10]])
        coarse = weights[::10] / weights[::10].sum()
        mixed, given = entr(coarse @ table).sum(), coarse @ entr(table).sum(axis=1)
        assert family.outcome_entropy([mean], [variance])[0] == pytest.approx(mixed, abs=1e-6)
        assert family.expected_outcome_entropy([mean], [variance])[0] == pytest.approx(given, abs=1e-6)
        at, shares = family.outcome_probabilities([mean], [variance])
        assert shares.sum() == pytest.approx(1.0, abs=1e-9)
        np.testing.assert_allclose(shares[0][: len(counts)], (coarse @ table)[: len(at)], atol=1e-9)
        assert shares[0] @ at == pytest.approx(family.expected_rate([mean], [variance])[0], rel=1e-6)


def test_counts_of_a_million_and_rows_of_their_own_exposures():
    family = NegativeBinomial(overdispersion=0.04, exposure=np.array([1.0, 10.0]))
    mean, variance = np.log([1e6, 1e5]), np.full(2, 0.01)
    both = family.outcome_entropy(mean, variance) - family.expected_outcome_entropy(mean, variance)
    # log of a count is about normal: 1/2 log(1 + variance / trigamma-like spread of log Gamma(25))
    rough = 0.5 * np.log1p(0.01 / 0.0408)
    np.testing.assert_allclose(both, rough, rtol=0.02)
    assert both[0] == pytest.approx(both[1], rel=1e-4)
    drawn = family.sample(np.broadcast_to(mean, (20_000, 2)), random_state=0)
    np.testing.assert_allclose(drawn.mean(axis=0), 1e6, rtol=0.01)
    np.testing.assert_allclose(drawn.var(axis=0), 1e6 + 0.04e12, rtol=0.05)


def test_what_is_no_count_or_no_overdispersion_is_refused():
    with pytest.raises(ValueError, match="overdispersion must be > 0"):
        NegativeBinomial(overdispersion=0.0)
    with pytest.raises(ValueError, match="y must hold counts"):
        NegativeBinomial([1.5])
    with pytest.raises(ValueError, match="too many for a table"):
        NegativeBinomial().outcome_probabilities([15.0], [0.1])
