"""A right loop has uniform ranks, a wrong one has not, whatever the design asks."""

import copy

import numpy as np
import pytest

from adaptive import BayesianLogisticRegression, SequentialDesign, diagnostics
from adaptive.diagnostics import simulation_based_calibration, uniformity
from adaptive.loop import MaxSteps
from tests.contract.linear_gaussian import LinearGaussian

ROWS = np.random.default_rng(0).standard_normal((12, 3))


def prior(rng):
    return rng.standard_normal(3)


def answer(truth, rows, rng):
    return np.asarray(rows) @ truth + rng.standard_normal(len(rows)) * np.sqrt(LinearGaussian().noise_variance)


def posterior(factor=1.0):
    def draws(model, n, rng):
        covariance = np.linalg.inv(model.precision)
        noise = factor * rng.standard_normal((n, 3)) @ np.linalg.cholesky(covariance).T
        return covariance @ model.shift + noise

    return draws


def ranks(n=90, factor=1.0, **options):
    design = SequentialDesign(LinearGaussian(), ROWS, stop=MaxSteps(5), random_state=0)
    return simulation_based_calibration(
        design, n, draw=prior, answer=answer, posterior=posterior(factor), random_state=1, **options
    )


def test_a_right_loop_has_uniform_ranks():
    table = ranks()
    assert len(table["rank"]) == 270 and set(table["parameter"]) == {0, 1, 2}
    assert 0 <= min(table["rank"]) and max(table["rank"]) <= 99
    assert min(uniformity(table)["p_value"]) > 0.01
    assert ranks(3) == {name: column[:9] for name, column in table.items()}  # a seed, and runs are independent


@pytest.mark.parametrize("factor", [0.5, 2.0], ids=["too narrow", "too wide"])
def test_a_posterior_of_the_wrong_width_is_found_out(factor):
    assert min(uniformity(ranks(factor=factor))["p_value"]) < 1e-3


def test_ties_are_broken_evenly():
    design = SequentialDesign(LinearGaussian(), ROWS)
    table = simulation_based_calibration(
        design, 100, steps=1, random_state=0, n_draws=9, draw=lambda rng: [0.0], answer=lambda truth, rows, rng: [0.0],
        posterior=lambda model, n, rng: np.zeros((n, 1)),
    )  # fmt: skip
    assert uniformity(table)["p_value"][0] > 0.01


def test_the_design_stays_as_it_is_and_its_seed_varies():
    model = BayesianLogisticRegression(classes=[0, 1], prior_scale=1.0, random_state=3)
    design = SequentialDesign(model, ROWS, random_state=0)
    seen = []

    def said(learnt, n, rng):
        seen.append(learnt.random_state)
        return rng.standard_normal((n, 1))

    simulation_based_calibration(
        design, 2, steps=1, draw=lambda rng: 0.0, answer=lambda truth, rows, rng: [1], posterior=said, random_state=0
    )
    assert design.iteration == 0 and design.estimator_.random_state == 3 and len(set(seen)) == 2


def test_what_cannot_be_run_is_refused():
    design = SequentialDesign(LinearGaussian(), ROWS, random_state=0)
    with pytest.raises(ValueError, match="steps is needed where the design has no stopping rule"):
        simulation_based_calibration(design, 2, draw=prior, answer=answer, posterior=posterior())
    with pytest.raises(ValueError, match="draw must be given: LinearGaussian has no method prior_draws"):
        simulation_based_calibration(design, 2, steps=1)
    with pytest.raises(ValueError, match="design must be a SequentialDesign, got LinearGaussian"):
        simulation_based_calibration(LinearGaussian(), 2, steps=1)
    with pytest.raises(ValueError, match=r"the draws of the posterior must have shape \(99, 3\), got \(3, 99\)"):
        simulation_based_calibration(
            design, 2, steps=1, draw=prior, answer=answer, posterior=lambda *of: posterior()(*of).T
        )
    asked = copy.deepcopy(design)
    asked.ask()
    with pytest.raises(ValueError, match="design must not have asked anything yet"):
        simulation_based_calibration(asked, 2, steps=1)
    assert diagnostics.uniformity is uniformity
