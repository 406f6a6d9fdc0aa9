"""Ranks of the truth after designed runs are uniform on three models, and not where the posterior is wrong."""

import numpy as np
import pytest
from scipy import stats

from adaptive import ParticleEstimator, SequentialDesign, SimulatorEstimator
from adaptive.diagnostics import simulation_based_calibration, uniformity
from adaptive.loop import MaxSteps, TargetDeviation
from experiments.any_model import simulated_loop
from experiments.any_model.honest_loop import MODELS, SETTINGS

# Particles part ways at a last digit, so that another processor draws other ones: a right loop is below this once in a
# thousand such draws of all its parameters, a wrong one is at 1e-60.
UNLIKELY = 1e-4


def design(name):
    if name in MODELS:
        model = MODELS[name](200)
    else:
        model = SimulatorEstimator(*simulated_loop.MODELS["counts of a decay"], n_particles=200, n_nested=32)
    return SequentialDesign(model, SETTINGS[::3], repeat=True, random_state=0)


@pytest.mark.parametrize("name", ["resonance, noise unknown", "psychometric function", "a decay that is simulated"])
def test_ranks_are_uniform_after_designed_runs(name):
    table = simulation_based_calibration(design(name), 40, steps=2, random_state=2)
    assert min(uniformity(table)["p_value"]) > UNLIKELY


def test_a_posterior_that_forgets_an_answer_is_found_out():
    table = simulation_based_calibration(
        design("psychometric function"), 40, steps=3, random_state=2,
        posterior=lambda model, n, rng: model.parameters_.mean + 0.3 * (model.posterior_draws(n, rng) - 0.5),
    )  # fmt: skip
    assert min(uniformity(table)["p_value"]) < UNLIKELY


@pytest.mark.parametrize("name", ["resonance, noise unknown", "psychometric function", "counts of a decay"])
def test_outcomes_are_drawn_as_the_model_says(name):
    model, rng = MODELS[name](200), np.random.default_rng(0)
    truth = model.prior_draws(1, rng)
    drawn = model.simulated_outcomes(np.repeat(truth, 4000, axis=0), SETTINGS[[3, 12]], rng)
    assert drawn.shape == (4000, 2)
    mean = drawn.mean(axis=0)
    model.set_params(prior={name: stats.norm(k, 1e-6) for name, k in zip(model.prior, truth[0], strict=True)})
    belief = model.predictive(SETTINGS[[3, 12]])
    exact = belief.probabilities @ belief.outcomes if belief.provides("probabilities") else belief.mean
    np.testing.assert_allclose(mean, exact, atol=4.5 * drawn.std() / np.sqrt(4000))


def within(parameters, X, y):
    """A density on an interval: triangles of unknown height."""
    height = parameters[:, :1]
    return np.log(np.maximum(1.0 + height * X[:, 0] * (2.0 * y - 1.0), 1e-300))


OF_NUMBERS = {
    "one channel": lambda: MODELS["resonance, noise unknown"](400),
    "two channels": lambda: ParticleEstimator(
        model=lambda p, X: p[:, :1, None] * np.stack([X[:, 0], 1 - X[:, 0]], axis=1), noise=0.2, n_particles=400,
        prior=stats.norm(),
    ),
    "an interval": lambda: ParticleEstimator(within, prior=stats.uniform(-1, 2), outcomes=(0.0, 1.0), n_particles=400),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_how_surprising_an_answer_is_is_uniform(name):
    model, rng = OF_NUMBERS[name](), np.random.default_rng(0)
    drawn = model.simulated_outcomes(model.prior_draws(400, rng), SETTINGS[[8]], rng)[:, 0]
    belief = model.predictive(SETTINGS[[8]])
    said = np.array([belief.tail_probability(0, y) for y in drawn])
    if name == "two channels":  # twice the smaller of two: no more often than it says
        assert 0.02 < np.mean(said < 0.1) < 0.13
    else:
        assert stats.kstest(said, "uniform").pvalue > UNLIKELY


def test_a_deviation_of_a_parameter_ends_a_run():
    model = MODELS["resonance, noise unknown"](400)
    rng = np.random.default_rng(0)
    truth = np.array([[0.37, 0.1, 0.1]])
    done = SequentialDesign(
        model, SETTINGS, lambda q: model.simulated_outcomes(truth, q.candidates, rng)[0], target="centre", repeat=True,
        stop=TargetDeviation(0.02) | MaxSteps(60), random_state=0,
    ).run()  # fmt: skip
    known = done.estimator_.parameters_
    assert done.iteration < 60 and known.std[0] <= 0.02
    assert abs(known.mean[0] - 0.37) < 5 * known.std[0]
