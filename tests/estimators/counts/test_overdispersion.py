"""Counts that vary more than one rate explains: the potential by brute force, the process that learns it."""

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import entr
from sklearn.gaussian_process.kernels import RBF

from adaptive import CoxProcess
from adaptive.estimators.counts.constant_rate import ConstantRate
from adaptive.potentials import Poisson
from adaptive.potentials.negative_binomial import NegativeBinomial
from adaptive.potentials.overdispersed_poisson import OverdispersedPoisson

RATES = ("exp", "rectified", "softplus")


def density(rate, noise, exposure, s, y):
    link = Poisson(rate=rate)

    def term(e):
        return stats.poisson.pmf(y, exposure * link.mean_rate(s + e)) * stats.norm.pdf(e, 0.0, np.sqrt(noise))

    reach = 9.0 * np.sqrt(noise)
    return integrate.quad(term, -reach, reach, points=[min(max(-s, -reach), reach)], epsabs=1e-13, limit=400)[0]


@pytest.mark.parametrize("rate", RATES)
def test_the_potential_is_the_average_over_the_noise(rate):
    family = OverdispersedPoisson(rate=rate, exposure=2.0, noise=0.7)
    s, y = np.array([-0.4, 0.9, 1.7]), np.array([0.0, 2.0, 7.0])
    exact = [density(rate, 0.7, 2.0, *pair) for pair in zip(s, y, strict=True)]
    np.testing.assert_allclose(np.exp(family.observe(y).log_density(s)), exact, rtol=1e-8)
    first, second = family.observe(y).derivatives(s)
    step = 1e-4
    up, at, down = (family.observe(y).log_density(s + d) for d in (step, 0.0, -step))
    np.testing.assert_allclose(first, (up - down) / (2 * step), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(second, (up - 2 * at + down) / step**2, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rate", RATES)
def test_tilted_moments_and_entropies_are_those_of_a_grid(rate):
    family = OverdispersedPoisson(rate=rate, exposure=1.5, noise=0.4)
    mean, variance = np.array([0.3, 1.6]), np.array([0.5, 0.2])
    grid = np.linspace(-7.0, 7.0, 141)
    for k in range(2):
        weights = stats.norm.pdf(grid)
        weights /= weights.sum()
        g = mean[k] + np.sqrt(variance[k]) * grid
        p = np.exp(family.observe(np.array([3.0])).log_density(g[:, None])[:, 0]) * weights
        found = OverdispersedPoisson([3.0], rate, 1.5, 0.4).tilted_moments(mean[[k]], variance[[k]])
        centre = (p @ g) / p.sum()
        expected = np.log(p.sum()), centre, (p @ (g - centre) ** 2) / p.sum()
        np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-6)
        counts, table = family.outcome_probabilities(g, np.zeros(len(g)))
        assert family.expected_outcome_entropy(mean[[k]], variance[[k]])[0] == pytest.approx(
            weights @ entr(table).sum(axis=1), abs=1e-5
        )
        assert family.expected_rate(mean[[k]], variance[[k]])[0] == pytest.approx(weights @ (table @ counts), rel=1e-6)
        square = weights @ (table @ counts) ** 2
        assert family.expected_square(mean[[k]], variance[[k]])[0] == pytest.approx(square, rel=1e-5)


def trials(rng, noise, n_bins=25, n_trials=6):
    x = np.linspace(0.0, 10.0, n_bins)
    log_rate = 1.0 + np.sin(x)
    rates = np.exp(log_rate + noise * rng.standard_normal((n_trials, n_bins)))
    return np.tile(x, n_trials)[:, None], rng.poisson(rates).ravel().astype(float), x[:, None], log_rate


@pytest.fixture(scope="module")
def varied():
    X, y, places, log_rate = trials(np.random.default_rng(0), 0.7)
    return CoxProcess(rate="exp", overdispersion=None).fit(X, y), X, y, places, log_rate


def test_counts_that_vary_from_trial_to_trial_are_told_from_a_rate_that_does_not(varied):
    model, X, y, places, log_rate = varied
    assert model.overdispersion_ == pytest.approx(0.49, abs=0.2)
    steady = CoxProcess(rate="exp", overdispersion=None).fit(*trials(np.random.default_rng(1), 0.0)[:2])
    assert steady.overdispersion_ < 0.03
    once = CoxProcess(rate="exp", overdispersion=None).fit(X[:25], y[:25])
    assert once.overdispersion_ == 0.0 and "White" not in repr(once.kernel_)
    mean, low, high = model.intensity(places)
    truth = np.exp(log_rate + 0.245)
    assert np.mean((low <= truth) & (truth <= high)) > 0.7
    rng = np.random.default_rng(2)
    further = np.array([trials(rng, 0.7, n_trials=1)[1] for _ in range(40)])
    low, high = model.interval(places, 0.9)
    assert 0.85 < np.mean((low <= further) & (further <= high)) < 0.97
    plain = CoxProcess(model.kernel_.k1, rate="exp", overdispersion=None).fit(X, y)
    better = [model.log_predictive(places, one).mean() - plain.log_predictive(places, one).mean() for one in further]
    assert np.mean(better) > 0.05
    np.testing.assert_allclose(mean, model.predict(places))


def test_what_differs_between_trials_is_not_information_about_the_rate(varied):
    model, X, y, places, _ = varied
    belief = model.predictive(places[:3])
    known = CoxProcess(model.kernel_.k1, optimizer=None, rate="exp").fit(X, y).predictive(places[:3])
    gain = belief.outcome_entropy - belief.expected_entropy
    assert np.all(gain > 0) and np.all(gain < known.outcome_entropy - known.expected_entropy + 0.5)
    _, mean, variance = (
        OverdispersedPoisson(rate="exp", noise=model.overdispersion_)
        .observe(np.array([4.0]))
        .tilted_moments(belief.mean[:1], belief.variance[:1])
    )
    after = belief.given(0, 4.0)
    assert after.mean[0] == pytest.approx(mean[0]) and after.variance[0] == pytest.approx(variance[0])
    given = CoxProcess(model.kernel_, optimizer=None, rate="exp").fit(X, y)
    assert given.overdispersion_ == pytest.approx(model.overdispersion_)


def test_a_first_repeat_begins_anew_and_saved_states_say_the_same(varied):
    model, X, y, places, _ = varied
    grown = CoxProcess(rate="exp", overdispersion=None).fit(X[:25], y[:25])
    for first in range(25, 150, 25):
        grown.partial_fit(X[first : first + 25], y[first : first + 25])
    assert grown.log_evidence_ == pytest.approx(model.log_evidence_, abs=0.1)
    again = CoxProcess(rate="exp", overdispersion=None).restore(grown.state())
    np.testing.assert_array_equal(again.predict(places), grown.predict(places))
    assert again.overdispersion_ == grown.overdispersion_ > 0


# -- negative binomial counts ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gamma_counts():
    """Counts at 80 places, once each, over exposures of their own, of rates that Gamma numbers multiply."""
    rng = np.random.default_rng(3)
    x, exposure = np.linspace(0.0, 10.0, 80), np.where(np.arange(80) % 2, 1.0, 4.0)
    means = exposure * np.exp(1.2 + np.sin(x))
    X = np.column_stack([x, exposure])
    later = rng.poisson(means * rng.gamma(2.5, 0.4, (40, 80))).astype(float)
    return X, rng.poisson(means * rng.gamma(2.5, 0.4, 80)).astype(float), later


@pytest.fixture(scope="module")
def spread(gamma_counts):
    X, y, _ = gamma_counts
    return CoxProcess(rate="exp", overdispersion="learnt", exposure=1).fit(X, y)


def test_overdispersion_is_learnt_where_every_place_was_counted_at_once(gamma_counts, spread):
    X, y, later = gamma_counts
    plain = CoxProcess(rate="exp", overdispersion=None, exposure=1).fit(X, y)
    assert spread.overdispersion_ == pytest.approx(0.4, abs=0.2) and plain.overdispersion_ == 0.0
    assert spread.log_evidence_ > plain.log_evidence_ + 3.0
    better = [spread.log_predictive(X, one).mean() - plain.log_predictive(X, one).mean() for one in later]
    assert np.mean(better) > 0.3
    told = CoxProcess(spread.kernel_, rate="exp", overdispersion=0.4, exposure=1, optimizer=None).fit(X, y)
    low, high = told.interval(X, 0.9)
    assert 0.88 < np.mean((low <= later) & (later <= high)) < 0.97
    given = CoxProcess(spread.kernel_, rate="exp", overdispersion=spread.overdispersion_, exposure=1).fit(X, y)
    np.testing.assert_allclose(given.predict(X), spread.predict(X), rtol=0.02)
    again = CoxProcess(rate="exp", overdispersion="learnt", exposure=1).restore(spread.state())
    np.testing.assert_array_equal(again.predict(X), spread.predict(X))
    assert again.overdispersion_ == spread.overdispersion_


def test_the_posterior_is_that_of_a_grid():
    kernel = 0.8 * RBF(1.0)
    X, y, a = np.array([[0.0], [0.7]]), np.array([2.0, 9.0]), 0.5
    model = CoxProcess(kernel, rate="exp", mean=1.0, overdispersion=a, optimizer=None).fit(X, y)
    grid = np.linspace(-6.0, 8.0, 281)
    first, second = np.meshgrid(grid, grid, indexing="ij")
    f = np.stack([first, second], axis=-1)
    log_p = stats.multivariate_normal.logpdf(f, [1.0, 1.0], kernel(X) + 1e-12 * np.eye(2))
    log_p += sum(stats.nbinom.logpmf(y[k], 1 / a, 1 / (1 + a * np.exp(f[..., k]))) for k in range(2))
    p = np.exp(log_p - log_p.max())
    evidence = np.log(p.sum() * (grid[1] - grid[0]) ** 2) + log_p.max()
    p /= p.sum()
    assert model.log_evidence_ == pytest.approx(evidence, abs=0.01)
    assert model.posterior_.mean == pytest.approx([float((p * f[..., k]).sum()) for k in range(2)], abs=0.02)


def test_overdispersed_counts_tell_less_and_know_it(gamma_counts, spread):
    X, y, _ = gamma_counts
    belief = spread.predictive(X[:4])
    plain = CoxProcess(spread.kernel_, rate="exp", exposure=1, optimizer=None).fit(X, y).predictive(X[:4])
    gain, of_poisson = (one.outcome_entropy - one.expected_entropy for one in (belief, plain))
    assert np.all(gain > 0) and np.all(gain < of_poisson + 0.5)
    _, mean, variance = (
        NegativeBinomial(overdispersion=spread.overdispersion_, exposure=X[:1, 1])
        .observe([4.0])
        .tilted_moments(belief.mean[:1], belief.variance[:1])
    )
    after = belief.given(0, 4.0)
    assert after.mean[0] == pytest.approx(mean[0]) and after.variance[0] == pytest.approx(variance[0])
    position = spread.select(X, random_state=0)[0]
    assert X[position, 1] == 4.0  # four times as long tells more


def test_a_constant_rate_of_overdispersed_counts_is_no_process(gamma_counts):
    rng = np.random.default_rng(5)
    x, y = np.linspace(0, 10, 60)[:, None], rng.poisson(6.0 * rng.gamma(2.0, 0.5, 60)).astype(float)
    plain = CoxProcess(rate="exp", overdispersion=None).fit(x, y).constant_rate_
    found = CoxProcess(rate="exp", overdispersion="learnt").fit(x, y).constant_rate_
    assert plain.log_bayes_factor > 10.0 > 3.0 > found.log_bayes_factor and found.suffices
    exposure = np.array([1.0, 2.0, 1.0, 0.5, 3.0])
    counts, scores = np.array([3.0, 5.0, 4.0, 0.0, 9.0]), np.full(5, -2.0)
    near = ConstantRate.beside(scores, counts, exposure, 1, -12.0, 1e-6)
    np.testing.assert_allclose(near, ConstantRate.beside(scores, counts, exposure, 1, -12.0), rtol=1e-4)
    wide = ConstantRate.beside(scores, counts, exposure, 1, -12.0, 0.5)
    rates = np.linspace(1e-6, 60.0, 60_001)
    terms = stats.nbinom.pmf(counts[:, None], 2.0, 1.0 / (1.0 + 0.5 * exposure[:, None] * rates))
    typical = (counts.sum() + 0.5) / exposure.sum()
    exact = integrate.simpson(np.prod(terms, axis=0) * np.exp(-rates / typical) / typical, x=rates)
    assert wide.log_evidence == pytest.approx(np.log(exact), abs=1e-3)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"overdispersion": 0.1, "rate": "softplus"}, 'overdispersion goes with rate="exp"'),
        ({"overdispersion": "found", "rate": "exp"}, 'overdispersion must be a number >= 0, "learnt", "auto" or None'),
        ({"overdispersion": -1.0, "rate": "exp"}, "overdispersion must be >= 0"),
    ],
)
def test_what_overdispersion_cannot_be_is_one_sentence(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        CoxProcess(**given).fit([[0.0], [1.0]], [1, 2])


def test_white_noise_and_overdispersion_are_one_too_many(varied):
    with pytest.raises(ValueError, match="leave one of the two out"):
        CoxProcess(varied[0].kernel_, rate="exp", overdispersion=0.1).fit([[0.0], [1.0]], [1, 2])
