"""Complex outcomes are their real and imaginary parts, each with noise of its own; what must be real is refused."""

import numpy as np
import pytest
from scipy import stats

from adaptive import ParticleEstimator, SequentialDesign, SimulatorEstimator

PRIOR = {"amplitude": stats.norm(1.0, 0.5), "phase": stats.norm(0.0, 0.5)}
TIMES = np.linspace(0.0, 3.0, 13)[:, None]
TRUTH = np.array([[1.3, 0.4]])


def signal(parameters, X):
    amplitude, phase = parameters.T[:, :, None]
    return amplitude * np.exp(1j * (phase + 2.0 * X[:, 0]))


def parts(parameters, X):
    return np.stack([signal(parameters, X).real, signal(parameters, X).imag], axis=2)


def measured(seed=0, deviation=0.2):
    noise = np.random.default_rng(seed).normal(size=(2, len(TIMES))) * deviation
    return signal(TRUTH, TIMES)[0] + noise[0] + 1j * noise[1]


def model(**options):
    return ParticleEstimator(**{"model": signal, "prior": PRIOR, "noise": 0.2, "n_particles": 1500, **options})


def test_a_complex_model_is_its_two_parts():
    """The same particles, information and evidence as of two real channels."""
    y = measured()
    ours, split = model().fit(TIMES[:4], y[:4]), model(model=parts).fit(TIMES[:4], np.stack([y.real, y.imag], 1)[:4])
    assert np.array_equal(ours.parameters_.values, split.parameters_.values)
    assert ours.log_evidence_ == split.log_evidence_
    a, b = (one.predictive(TIMES, random_state=1) for one in (ours, split))
    assert np.allclose(a.outcome_entropy - a.expected_entropy, b.outcome_entropy - b.expected_entropy, atol=1e-12)
    assert np.isclose(a.tail_probability(3, 0.2 + 0.3j), b.tail_probability(3, [0.2, 0.3]))
    mean, deviation = ours.predict(TIMES, return_std=True)
    split_mean, split_deviation = split.predict(TIMES, return_std=True)
    assert np.allclose(mean, split_mean @ [1.0, 1j]) and np.allclose(deviation, split_deviation @ [1.0, 1j])
    assert np.isclose(a.given(2, 0.5 + 0.1j).outcome_entropy, b.given(2, [0.5, 0.1]).outcome_entropy).all()


@pytest.mark.parametrize(
    "noise, expected",
    [
        (0.2, (0.2, 0.2)),
        (0.2 + 0.5j, (0.2, 0.5)),
        (lambda parameters, X: np.full((1, len(X)), 0.3), (0.3, 0.3)),
        (lambda parameters, X: np.full((1, len(X)), 0.3 + 0.1j), (0.3, 0.1)),
    ],
)
def test_the_density_is_that_of_a_normal_number_in_each_part(noise, expected):
    X, y = TIMES[:1], np.array([0.7 + 0.2j])
    estimator = model(noise=noise, prior={"amplitude": stats.norm(1.0, 1e-9), "phase": stats.norm(0.0, 1e-9)})
    found = estimator.fit(X, y).log_predictive(X, y)[0]
    wanted = stats.norm(1.0, expected[0]).logpdf(0.7) + stats.norm(0.0, expected[1]).logpdf(0.2)
    assert np.isclose(found, wanted, atol=1e-6)
    assert np.isclose(np.exp(found), estimator.predictive(X).outcome_probability(0, 0.7 + 0.2j))


def test_the_evidence_is_that_of_a_grid():
    X, y = TIMES[:3], measured()[:3]
    amplitude, phase = (np.linspace(-3, 5, 801), np.linspace(-3, 3, 801))
    grid = np.stack(np.meshgrid(amplitude, phase, indexing="ij"), axis=-1).reshape(-1, 2)
    apart = y - signal(grid, X)
    of_answers = (-(np.abs(apart) ** 2) / (2 * 0.2**2) - np.log(2 * np.pi * 0.2**2)).sum(axis=1)
    of_prior = stats.norm(1.0, 0.5).logpdf(grid[:, 0]) + stats.norm(0.0, 0.5).logpdf(grid[:, 1])
    cell = (amplitude[1] - amplitude[0]) * (phase[1] - phase[0])
    weights = np.exp(of_answers + of_prior) * cell
    fitted = model(n_particles=20_000).fit(X, y)
    assert abs(fitted.log_evidence_ - np.log(weights.sum())) < 0.1
    assert np.allclose(fitted.parameters_.mean, weights @ grid / weights.sum(), atol=0.02)


@pytest.mark.parametrize("scorer", ["information_gain", "random"])
def test_a_loop_asks_tells_logs_and_continues(tmp_path, scorer):
    y = measured()
    options = {"measure": lambda query: y[query.positions], "scorer": scorer, "random_state": 3}
    whole = SequentialDesign(model(), TIMES, **options).run(5)
    with SequentialDesign(model(), TIMES, log=tmp_path / "log", **options) as design:
        design.run(3)
    options.pop("random_state"), options.pop("scorer")
    with SequentialDesign.load(tmp_path / "log", model(), TIMES, **options) as again:
        again.run(2)
    assert again.history_["outcome"] == whole.history_["outcome"]
    assert all(isinstance(outcome, complex) for outcome in whole.history_["outcome"])
    assert np.array_equal(again.estimator_.parameters_.values, whole.estimator_.parameters_.values)
    query = whole.ask(2)
    assert len(query) == 2  # a batch, over outcomes that are not known yet


def test_draws_and_scores_are_complex():
    X, y = TIMES, measured()
    fitted = model().fit(X, y)
    drawn = fitted.simulated_outcomes(np.repeat(TRUTH, 4000, axis=0), X[:1], random_state=0)[:, 0]
    assert drawn.dtype == complex and np.isclose(drawn.real.std(), 0.2, rtol=0.05)
    assert np.isclose(drawn.imag.std(), 0.2, rtol=0.05)
    by_hand = 1 - np.sum(np.abs(y - fitted.predict(X)) ** 2) / np.sum(np.abs(y - y.mean()) ** 2)
    assert np.isclose(fitted.score(X, y), by_hand)
    assert (fitted.information_bounds(X[:3]).upper > 0).all()


@pytest.mark.parametrize(
    "options, y, message",
    [
        ({}, [0.5], "y must hold complex numbers, as model returns, got real ones"),
        ({"model": parts}, [[1j, 0.0]], "y must hold real numbers, as model returns, got complex ones"),
        ({"model": parts, "noise": 0.1 + 0.2j}, [[1.0, 0.0]], "noise must be real where model returns real numbers"),
        ({"noise": 0.1 - 0.2j}, [1j], "noise must be > 0, got -0.2"),
        ({"noise": lambda p, X: np.full((1, len(X)), 0.2 - 1j)}, [1j], "noise gave .*expected finite standard dev"),
        ({"noise": lambda p, X: np.full((1, len(X)), 0.2j), "model": parts}, [[0.0, 0.0]], "noise raised TypeError"),
        ({}, [np.nan + 0j], "y contains .*nan"),
        ({}, [1j, 2j], "y must hold one outcome per setting, got 2 for 1"),
        (
            {"model": None, "noise": None, "log_likelihood": lambda p, X, y: 1j * np.ones((len(p), len(X)))},
            [0.0],
            "log_likelihood raised TypeError .complex numbers where real ones are expected",
        ),
    ],
)
@pytest.mark.filterwarnings("error")
def test_what_must_be_real_is_refused(options, y, message):
    estimator = model(**options)
    with pytest.raises(ValueError, match=message):
        estimator.fit(TIMES[:1], y)
    assert not hasattr(estimator, "belief_")


def test_an_interval_of_complex_numbers_is_refused():
    with pytest.raises(ValueError, match="one channel of real numbers, but model returns complex numbers"):
        model().fit(TIMES[:2], measured()[:2]).interval(TIMES[:2])


def test_a_log_likelihood_of_ones_own_is_given_complex_outcomes():
    def log_likelihood(parameters, X, y):
        return -(np.abs(y - signal(parameters, X)) ** 2) / (2 * 0.2**2) - np.log(2 * np.pi * 0.2**2)

    y = measured()
    own = {"model": None, "noise": None, "log_likelihood": log_likelihood}
    first = [model(**options).fit(TIMES[:1], y[:1]).parameters_ for options in (own, {})]
    assert np.allclose(first[0].weights, first[1].weights, rtol=1e-9)
    # of all of them rounding may decide whether a particle moves
    means = [model(**options).fit(TIMES, y).parameters_.mean for options in (own, {})]
    assert np.allclose(*means, atol=0.01)


@pytest.mark.parametrize("where", ["y", "simulate", "summary"])
def test_a_simulator_is_of_real_numbers(where):
    def simulate(parameters, x, rng):
        return parameters[:, 0] * (1j if where == "simulate" else 1.0)

    summary = (lambda outcomes: outcomes * 1j) if where == "summary" else None
    estimator = SimulatorEstimator(simulate, {"rate": stats.gamma(2.0)}, summary, n_particles=50, n_simulations=5)
    message = {"y": "y must be an array of real numbers", "simulate": "simulate must return real numbers"}
    with pytest.raises(ValueError, match=message.get(where, "summary raised TypeError .complex numbers")):
        estimator.fit([[1.0]], [1j if where == "y" else 1.0])
    assert not hasattr(estimator, "belief_")


def test_a_summary_that_raises_is_said_in_a_sentence():
    def summary(outcomes):
        return outcomes.means(axis=1)

    estimator = SimulatorEstimator(lambda p, x, rng: p[:, 0], {"rate": stats.gamma(2.0)}, summary, n_particles=50)
    with pytest.raises(ValueError, match=r"summary raised AttributeError .*must take all that simulate returns"):
        estimator.fit([[1.0]], [1.0])
