"""The table of logistic averages: near checked quadrature, monotone, symmetric, with the right information."""

import mpmath
import numpy as np
import pytest

from adaptive.potentials import BernoulliLogit, logit_table
from adaptive.potentials.bernoulli_entropy import entropies
from adaptive.predictive import GaussianProjections


def pairs(n, seed=0):
    rng = np.random.default_rng(seed)
    deviation = 10 ** rng.uniform(-3, 4, n)
    return rng.uniform(-14, 14, n) * rng.uniform(0, 1, n) * np.sqrt(3 + deviation**2), deviation**2


def test_errors_are_below_a_millionth_on_a_million_pairs():
    mean, variance = pairs(1_000_000)
    for found, exact in zip(logit_table.averages(mean, variance), entropies(False, mean, variance), strict=True):
        assert np.abs(found - exact).max() < 1e-6


@pytest.mark.parametrize(("mean", "deviation"), [(0.3, 0.31), (1.5, 1.0), (-4.0, 2.5), (20.0, 15.0), (900.0, 800.0)])
def test_the_quadrature_it_is_compared_with_is_right(mean, deviation):
    def entropy(s):
        p = 1 / (1 + mpmath.exp(-abs(s)))
        return -p * mpmath.log(p) - (1 - p) * mpmath.log(1 - p)

    with mpmath.workdps(20):
        ends = sorted({mean + k * deviation for k in (-12, -4, 0, 4, 12)} | {-40.0, -5.0, 0.0, 5.0, 40.0})
        density = [lambda s: mpmath.npdf(s, mean, deviation)][0]
        p = float(mpmath.quad(lambda s: density(s) / (1 + mpmath.exp(-s)), ends))
        e = float(mpmath.quad(lambda s: density(s) * entropy(s) if abs(s) < 45 else mpmath.mpf(0), ends))
    exact = [float(a[0]) for a in entropies(False, np.array([mean]), np.array([deviation**2]))]
    assert exact[0] == pytest.approx(p, abs=1e-8) and exact[2] == pytest.approx(e, abs=1e-8)
    found = [float(a[0]) for a in logit_table.averages(np.array([mean]), np.array([deviation**2]))]
    assert found[0] == pytest.approx(p, abs=1e-6) and found[2] == pytest.approx(e, abs=1e-6)


def test_symmetric():
    mean, variance = pairs(10_000, seed=1)
    ours, theirs = logit_table.averages(mean, variance), logit_table.averages(-mean, variance)
    np.testing.assert_allclose(ours[0] + theirs[0], 1.0, rtol=3e-16)
    np.testing.assert_array_equal(ours[1], theirs[1])
    np.testing.assert_array_equal(ours[2], theirs[2])


def test_monotone_where_the_integrals_are():
    for deviation in (0.31, 0.5, 1.0, 3.0, 40.0, 900.0):
        mean = np.linspace(0, 12.4, 1500) * np.sqrt(3 + deviation**2)
        p, outcome, expected = logit_table.averages(mean, np.full(1500, deviation**2))
        assert np.all(np.diff(p) >= 0) and np.all(np.diff(outcome) <= 0)
        assert np.all(np.diff(expected) <= 1e-290)  # beyond, logarithms end
    variance = np.exp(np.linspace(np.log(0.0901), np.log(2e6), 3000))
    for mean in (0.0, 0.5, 2.0, 9.0):
        p, outcome, _ = logit_table.averages(np.full(3000, mean), variance)
        assert np.all(np.diff(p) <= 1e-15) and np.all(np.diff(outcome) >= -1e-15)
    assert np.all(np.diff(logit_table.averages(np.zeros(3000), variance)[2]) <= 0)


def test_information_keeps_its_digits_where_it_is_small():
    """Of a narrow Gaussian it is v p^2 (1 - p)^2 / (2 p (1 - p)), far below the table's errors."""
    mean, variance = np.linspace(-3, 3, 50), np.full(50, 1e-6)
    p, outcome, expected = logit_table.averages(mean, variance)
    np.testing.assert_allclose(outcome - expected, 0.5e-6 * p * (1 - p), rtol=1e-3)
    _, outcome, expected = logit_table.averages(np.zeros(2), np.array([0.09 - 1e-9, 0.09 + 1e-9]))
    assert np.diff(outcome - expected) == pytest.approx(0.0, abs=1e-6)


def test_extremes_end_in_certainty_or_in_a_coin():
    mean, variance = np.array([0.0, 1e300, -1e300, 0.0, 1e3, 3.0]), np.array([1e300, 1.0, 1e12, 0.0, 0.0, 0.0])
    p, outcome, expected = logit_table.averages(mean, variance)
    np.testing.assert_allclose(p, [0.5, 1.0, 0.0, 0.5, 1.0, 1 / (1 + np.exp(-3.0))], atol=1e-12)
    assert np.all(np.isfinite(outcome)) and np.all((expected >= 0) & (expected <= outcome))


def test_a_predictive_integrates_once(monkeypatch):
    """Probabilities and both entropies of a predictive come from one pass."""
    calls, averages = [], logit_table.averages
    monkeypatch.setattr(logit_table, "averages", lambda *moments: (calls.append(1), averages(*moments))[1])
    belief = GaussianProjections.from_rows(np.eye(3), np.ones(3), covariance=2.0, likelihood=BernoulliLogit())
    information = belief.outcome_entropy - belief.expected_entropy
    assert belief.probabilities.shape == (3, 2) and belief.outcomes.tolist() == [-1, 1] and information.min() > 0
    assert len(calls) == 1
