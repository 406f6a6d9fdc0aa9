"""Informations against quadrature: of all parameters, some, a function, predictions; of batches; and their bounds."""

import numpy as np
import pytest
from scipy import stats

from adaptive import ParticleEstimator, scorers
from adaptive.estimators.particles.bounds import nested_bounds
from adaptive.predictive import MissingField

SETTINGS = np.array([[0.0], [0.4], [1.0], [2.2]])


def peak(parameters, X):
    return 1.0 / (1.0 + ((X[:, 0] - parameters[:, :1]) / 0.3) ** 2)


def wave(parameters, X):
    return parameters[:, :1] * np.sin(3 * X[:, 0] + 2 * parameters[:, 1:2])


def line(parameters, X):
    return parameters[:, :1] + parameters[:, 1:2] * X[:, 0]


def logistic(parameters, X, y):
    s = (2 * np.asarray(y) - 1) * 3 * parameters[:, -1:] * (X[:, 0] - parameters[:, :1])
    return -np.logaddexp(0, -s)


def information(estimator, **options):
    return scorers.information_gain(estimator.predictive(SETTINGS, **options))


def entropies(density, step):
    return -np.sum(density * np.log(np.maximum(density, 1e-300)), axis=0) * step


def by_quadrature(means, weights, noise):
    """I(y; parameters) of means (n, m) at nodes of the prior or posterior with these weights."""
    y = np.linspace(-2.5, 2.5, 1501)
    mixed = np.stack([weights @ stats.norm.pdf(y, column[:, None], noise) for column in means.T], axis=1)
    return entropies(mixed, y[1] - y[0]) - 0.5 * np.log(2 * np.pi * np.e * noise**2)


def nodes(d):
    middles = (np.arange(n := 400 if d == 1 else 60) + 0.5) / n
    values = np.stack(np.meshgrid(*[middles] * d), axis=-1).reshape(-1, d)
    return values, np.full(len(values), 1 / len(values))


@pytest.mark.parametrize(("model", "d"), [(peak, 1), (wave, 2)])
def test_numbers_before_and_after_an_answer(model, d):
    """To 1e-3, in one and two parameters: the quadrature of the outcome, and particles as even as quantiles."""
    estimator = ParticleEstimator(model=model, prior=[stats.uniform()] * d, noise=0.1, n_particles=8192, resample=0.0)
    values, weights = nodes(d)
    np.testing.assert_allclose(information(estimator), by_quadrature(model(values, SETTINGS), weights, 0.1), atol=1e-3)
    estimator.fit([[0.7]], [0.5])
    weights = weights * stats.norm.pdf(0.5, model(values, np.array([[0.7]]))[:, 0], 0.1)
    exact = by_quadrature(model(values, SETTINGS), weights / weights.sum(), 0.1)
    np.testing.assert_allclose(information(estimator), exact, atol=1e-3)


def test_noise_as_a_parameter():
    """Its information is part of the whole: H(y) - E H(noise)."""
    prior = {"level": stats.uniform(), "noise": stats.uniform(0.1, 0.4)}
    model = ParticleEstimator(model=line0, prior=prior, noise="noise", n_particles=8192)
    values, weights = nodes(2)
    noise = 0.1 + 0.4 * values[:, 1:]
    y = np.linspace(-2.5, 3.5, 1501)
    mixed = weights @ stats.norm.pdf(y, values[:, :1], noise)
    exact = entropies(mixed[:, None], y[1] - y[0])[0] - weights @ np.log(noise[:, 0]) - 0.5 * np.log(2 * np.pi * np.e)
    np.testing.assert_allclose(information(model), np.full(4, exact), atol=1e-3)


def line0(parameters, X):
    return parameters[:, :1] + 0.0 * X[:, 0]


@pytest.mark.parametrize("d", [1, 2])
def test_answers_from_a_list(d):
    prior = [stats.uniform()] * d
    estimator = ParticleEstimator(logistic, prior=prior, outcomes=[0, 1], n_particles=8192)
    values, weights = nodes(d)
    p = np.exp(logistic(values, SETTINGS, np.ones(4)))
    noisy = weights @ stats.bernoulli(p).entropy()
    np.testing.assert_allclose(information(estimator), stats.bernoulli(weights @ p).entropy() - noisy, atol=1e-3)


def test_a_density_on_an_interval_is_what_the_same_noise_is():
    def stated(parameters, X, y):
        return stats.norm.logpdf(np.asarray(y), line(parameters, X), 0.5)

    prior = [stats.norm(), stats.norm()]
    ours = ParticleEstimator(stated, prior=prior, outcomes=(-20.0, 20.0), n_particles=500)
    theirs = ParticleEstimator(model=line, prior=prior, noise=0.5, n_particles=500)
    for one in (ours, theirs):
        one.fit([[0.0], [1.0]], [0.2, 0.9])
    for name in ("outcome_entropy", "expected_entropy", "mean", "variance"):
        a, b = (getattr(one.predictive(SETTINGS), name) for one in (ours, theirs))
        np.testing.assert_allclose(a, b, atol=2e-3)
    np.testing.assert_allclose(ours.interval(SETTINGS), theirs.interval(SETTINGS), atol=0.03)
    np.testing.assert_allclose(ours.predict(SETTINGS, True), theirs.predict(SETTINGS, True), atol=1e-6)
    outcome = ours.predictive(SETTINGS).likely_outcomes(2)
    np.testing.assert_allclose(outcome, theirs.predictive(SETTINGS).likely_outcomes(2), atol=0.03)


LINEAR = ParticleEstimator(model=line, prior={"a": stats.norm(), "b": stats.norm(0, 2)}, noise=0.5, n_particles=4096)
ROWS = np.column_stack([np.ones(4), SETTINGS])
PRIOR = np.diag([1.0, 4.0])


def of_gaussians(about):
    """I(y; about' w) of a linear Gaussian model."""
    total = np.einsum("ij,jk,ik->i", ROWS, PRIOR, ROWS)
    seen = ROWS @ PRIOR @ about
    explained = np.einsum("it,ts,is->i", seen, np.linalg.pinv(about.T @ PRIOR @ about), seen)
    return 0.5 * np.log((total + 0.25) / (total - explained + 0.25))


def total(values):
    return values @ [1.0, 1.0]


@pytest.mark.parametrize(
    ("target", "about", "within"),
    [
        (["a", "b"], np.eye(2), 1e-3),
        ("b", np.array([[0.0], [1.0]]), 0.01),
        (["a"], np.array([[1.0], [0.0]]), 0.01),
        (total, np.array([[1.0], [1.0]]), 0.01),
        (np.array([[0.4]]), np.array([[1.0], [0.4]]), 0.02),
        (np.array([[0.4], [1.0]]), np.eye(2), 1e-3),  # they determine both parameters
    ],
)
def test_what_is_to_be_learnt_may_be_less_than_all(target, about, within):
    found = information(LINEAR, target=target)
    np.testing.assert_allclose(found, of_gaussians(about), atol=within)
    assert found.min() >= 0
    deviation = LINEAR.predictive(SETTINGS, target=target).target_deviation
    if not isinstance(target, np.ndarray):
        np.testing.assert_allclose(deviation, np.sqrt(np.diag(about.T @ PRIOR @ about)), rtol=0.02)


def test_a_list_of_outcomes_about_one_of_two_parameters():
    """The other is integrated out: H(y) - E H(y | parameter), by a grid of 60 x 60."""
    estimator = ParticleEstimator(logistic, prior=[stats.uniform()] * 2, outcomes=[0, 1], n_particles=4000)
    p = np.exp(logistic(nodes(2)[0], SETTINGS, np.ones(4))).reshape(60, 60, 4)  # the first parameter changes fastest
    for name, axis in (("parameter_0", 0), ("parameter_1", 1)):
        exact = stats.bernoulli(p.mean(axis=(0, 1))).entropy() - stats.bernoulli(p.mean(axis=axis)).entropy().mean(
            axis=0
        )
        np.testing.assert_allclose(information(estimator, target=name), exact, atol=1e-3)


def test_a_batch_is_worth_its_joint_information():
    chosen, gains = LINEAR.select(SETTINGS, 2, return_scores=True)
    block = ROWS[chosen] @ PRIOR @ ROWS[chosen].T
    assert gains.sum() == pytest.approx(0.5 * np.linalg.slogdet(np.eye(2) + block / 0.25)[1], abs=0.02)
    assert LINEAR.select(SETTINGS, pending=SETTINGS[[3]])[0] == chosen[1] and chosen[0] == 3


def two_channels(parameters, X):
    return np.stack([parameters[:, :1] + 0.0 * X[:, 0], parameters[:, 1:2] * X[:, 0]], axis=2)


def test_several_channels_are_worth_what_they_say_together():
    prior = [stats.norm(), stats.norm(0, 2)]
    model = ParticleEstimator(model=two_channels, prior=prior, noise=0.5, n_particles=2000)
    predictive = model.predictive(SETTINGS)
    exact = 0.5 * np.log(5) + 0.5 * np.log1p(4 * SETTINGS[:, 0] ** 2 / 0.25)
    found = scorers.information_gain(predictive)
    assert np.all(np.abs(found - exact) < predictive.outcome_entropy_std)  # strata are better than their bound says
    assert np.all((predictive.outcome_entropy_std > 0) & (predictive.outcome_entropy_std < 0.09))
    assert not predictive.provides("mean") and not predictive.provides("covariance")
    given = model.partial_fit([[1.0]], [[0.3, -0.2]]).predict([[1.0], [2.0]])
    assert given.shape == (2, 2) and abs(given[0] - [0.3, -0.2]).max() < 0.15
    assert len(model.select(SETTINGS, 2)) == 2
    with pytest.raises(ValueError, match="y must be like the earlier answers"):
        model.partial_fit([[1.0]], [[0.3, -0.2, 1.0]])


def iid(n, random_state):
    return random_state.normal(size=(n, 2)) * [1.0, 2.0]


@pytest.mark.parametrize("kind", ["numbers", "list"])
def test_bounds_enclose_the_information(kind):
    """In the mean over independent clouds; of so few particles that both are far off."""
    about = {"model": line, "noise": 0.5} if kind == "numbers" else {"log_likelihood": logistic, "outcomes": [0, 1]}
    clouds = [ParticleEstimator(prior=iid, n_particles=40, random_state=seed, **about) for seed in range(40)]
    found = np.array([[bounds.lower, bounds.upper] for bounds in (one.information_bounds(SETTINGS) for one in clouds)])
    error = found.std(axis=0) / np.sqrt(len(clouds))
    if kind == "numbers":
        exact = of_gaussians(np.eye(2))
    else:
        exact = information(ParticleEstimator(prior=[stats.norm(), stats.norm(0, 2)], n_particles=8192, **about))
    lower, upper = found.mean(axis=0)
    assert np.all(lower < exact) and np.all(upper > exact - error[1])
    assert np.all(upper - lower > 0.01)  # there is room for a mistake


def test_a_missing_field_is_said():
    with pytest.raises(MissingField, match="predictive_information_gain needs"):
        LINEAR.select(SETTINGS, scorer="predictive_information_gain")


def uneven(**options):
    """Eight particles of very different weights."""
    return ParticleEstimator(prior=[stats.norm(0.0, 1.0)], n_particles=8, resample=0.0, random_state=0, **options)


def test_bounds_of_numbers_are_their_own_integrals():
    """The normalisers included, which at eight particles are not small: by quadrature, within the error of draws."""
    estimator = uneven(model=lambda p, X: p[:, :1] * X[:, 0], noise=0.5).fit([[1.0]], [0.6])
    predictive = estimator.predictive(SETTINGS[1:])
    weights, means = predictive.weights, estimator.model(predictive.cloud.values, SETTINGS[1:])
    assert weights.max() > 0.2
    y = np.linspace(-9.0, 9.0, 6001)
    step = y[1] - y[0]
    bounds = estimator.information_bounds(SETTINGS[1:])
    for j in range(3):
        densities = stats.norm.pdf(y, means[:, j, None], 0.5)
        logs = stats.norm.logpdf(y, means[:, j, None], 0.5)
        mixed = weights @ densities
        others = (mixed - weights[:, None] * densities) / (1.0 - weights[:, None])
        lower = weights @ (densities * (logs - np.log(mixed))).sum(axis=1) * step
        upper = weights @ (densities * (logs - np.log(np.maximum(others, 1e-300)))).sum(axis=1) * step
        assert bounds.lower[j] == pytest.approx(lower, abs=0.01)
        assert bounds.upper[j] == pytest.approx(upper, abs=0.03)


def test_bounds_of_labels_are_their_own_sums():
    estimator = uneven(log_likelihood=lambda p, X, y: logistic(np.hstack([p, 1.0 + 0 * p]), X, y), outcomes=[0, 1])
    estimator.fit([[0.4], [1.0]], [1, 0])
    predictive = estimator.predictive(SETTINGS)
    (weights, table), bounds = predictive.draws(), estimator.information_bounds(SETTINGS)
    lower = upper = 0.0
    for k, weight in enumerate(weights):
        rest = np.delete(np.arange(len(weights)), k)
        others = np.tensordot(weights[rest] / weights[rest].sum(), table[rest], axes=1)
        lower = lower + weight * (table[k] * np.log(table[k] / np.tensordot(weights, table, axes=1))).sum(axis=1)
        upper = upper + weight * (table[k] * np.log(table[k] / others)).sum(axis=1)
    np.testing.assert_allclose(bounds.lower, lower, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(bounds.upper, upper, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cells", [None, np.array([0, 0, 1, 1, 0])])
def test_nested_bounds_are_their_definition(cells):
    table = np.random.default_rng(0).normal(size=(5, 5))
    density, low, high = np.exp(table), [], []
    shared = np.eye(5, dtype=bool) if cells is None else cells[:, None] == cells
    for j in range(5):
        others = np.arange(5) != j
        mates = others & shared[:, j]
        left_out = density[mates, j].mean() if mates.any() else density[j, j]
        with_it = density[shared[:, j], j].mean()
        low.append(np.log(left_out) - np.log(density[:, j].mean()))
        high.append(np.log(with_it) - np.log(density[others, j].mean()))
    assert nested_bounds(table, cells)[:2] == pytest.approx((np.mean(low), np.mean(high)))
