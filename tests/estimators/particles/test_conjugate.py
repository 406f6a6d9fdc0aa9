"""Posterior and evidence of conjugate models are the exact ones, within 4 standard errors."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, gammaln

from adaptive import ParticleEstimator

RNG = np.random.default_rng(3)
THROWS = (RNG.random(100) < 0.3).astype(int)
NUMBERS = RNG.normal(1.0, 0.5, 100)
COUNTS = RNG.poisson(4.0, 100)
SETTING = np.zeros((1, 1))


def constant(parameters, X):
    return parameters[:, :1] + 0.0 * X[:, 0]


def thrown(parameters, X, y):
    return np.where(np.asarray(y) == 1, np.log(parameters[:, :1]), np.log1p(-parameters[:, :1]))


def counted(parameters, X, y):
    return stats.poisson.logpmf(np.asarray(y), parameters[:, :1])


def gaussian(y):
    precision = 1 / 4 + len(y) / 0.25
    evidence = stats.multivariate_normal(np.zeros(len(y)), 0.25 * np.eye(len(y)) + 4.0).logpdf(y)
    return stats.norm(y.sum() / 0.25 / precision, precision**-0.5), evidence


def beta(y):
    a, b = 2 + y.sum(), 2 + len(y) - y.sum()
    return stats.beta(a, b), betaln(a, b) - betaln(2, 2)


def gamma(y):
    a, b = 2 + y.sum(), 0.5 + len(y)
    evidence = 2 * np.log(0.5) - gammaln(2) + gammaln(a) - a * np.log(b) - gammaln(y + 1).sum()
    return stats.gamma(a, scale=1 / b), evidence


MODELS = {
    "Gaussian mean": (NUMBERS, gaussian, {"model": constant, "noise": 0.5, "prior": stats.norm(0, 2)}),
    "Beta-Bernoulli": (THROWS, beta, {"log_likelihood": thrown, "outcomes": [0, 1], "prior": stats.beta(2, 2)}),
    "Gamma-Poisson": (COUNTS, gamma, {"log_likelihood": counted, "prior": stats.gamma(2, scale=2)}),
}


def one_by_one(options, y, **others):
    model = ParticleEstimator(random_state=0, **options, **others)
    for outcome in y:
        model.partial_fit(SETTING, [outcome])
    return model


@pytest.mark.parametrize("name", MODELS)
def test_posterior_and_evidence_are_the_exact_ones(name):
    y, exact, options = MODELS[name]
    model = ParticleEstimator(random_state=0, **options)
    for n in range(1, 101):
        model.partial_fit(SETTING, y[n - 1 : n])
        if n in (1, 10, 100):
            posterior, evidence = exact(y[:n])
            size, cloud = model.effective_sample_size_, model.parameters_
            assert abs(model.log_evidence_ - evidence) < 4 * model.log_evidence_std_ < 0.3
            assert abs(cloud.mean[0] - posterior.mean()) < 4 * posterior.std() / np.sqrt(size)
            kurtosis = 3.0 + float(posterior.stats(moments="k"))
            assert abs(cloud.std[0] / posterior.std() - 1) < 4 * np.sqrt((kurtosis - 1) / (4 * size))
            for level in (0.1, 0.5, 0.9):
                below = cloud.weights[cloud.values[:, 0] <= posterior.ppf(level)].sum()
                assert abs(below - level) < 4 * np.sqrt(level * (1 - level) / size)
    assert 1 <= model.n_iter_ <= 10  # moves are few, and there are some


@pytest.mark.parametrize("name", MODELS)
def test_all_at_once_backwards_and_one_by_one_agree(name):
    y, exact, options = MODELS[name]
    posterior, evidence = exact(y)
    models = [one_by_one(options, y[::-1]), ParticleEstimator(**options).fit(np.zeros((100, 1)), y)]
    for model in models:
        assert abs(model.log_evidence_ - evidence) < 4 * model.log_evidence_std_
        error = posterior.std() / np.sqrt(model.effective_sample_size_)
        assert abs(model.parameters_.mean[0] - posterior.mean()) < 4 * error
    assert models[1].n_iter_ >= 1


def test_a_mean_that_the_prior_hardly_expects_is_reached_in_tempered_steps():
    posterior, evidence = gaussian(np.array([9.0]))
    model = ParticleEstimator(model=constant, noise=0.5, prior=stats.norm(0, 2)).fit(SETTING, [9.0])
    assert model.n_iter_ >= 2 and abs(model.log_evidence_ - evidence) < 4 * model.log_evidence_std_
    assert abs(model.parameters_.mean[0] - posterior.mean()) < 4 * posterior.std() / np.sqrt(2000)


@pytest.mark.parametrize("name", MODELS)
def test_moves_without_a_likelihood_come_near(name):
    y, exact, options = MODELS[name]
    model = one_by_one(options, y, move="liu_west")
    posterior, _ = exact(y)
    assert abs(model.parameters_.mean[0] - posterior.mean()) < 0.2 * posterior.std()
    assert abs(model.parameters_.std[0] / posterior.std() - 1) < 0.1
