"""The gold standard: within its standard errors of quadrature, whatever the moves and wherever it starts."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from adaptive.inference import (
    GLM,
    annealed_importance,
    expectation_propagation,
    laplace_approximation,
    posterior_state,
    restored_posterior,
)
from adaptive.inference.dense.elliptical_slice import elliptical_slice
from adaptive.inference.dense.hamiltonian import hamiltonian
from adaptive.potentials import BernoulliLogit, Step

PROPER = ("logit", "logit, kernel", "probit, data", "laplace", "poisson exp", "poisson rectified", "step", "mixed")


@pytest.mark.filterwarnings("ignore:annealed_importance:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("start", ["prior", "approximation"])
@pytest.mark.parametrize("name", PROPER)
def test_evidence_and_moments_are_within_their_errors(brute, name, start):
    model = brute.models[name]
    guess = expectation_propagation(model)
    truth = brute.exact(model, guess)
    warm = guess if start == "approximation" else None
    runs = 4000 if name == "poisson rectified" and warm is None else 400  # one in seventeen starts in the support
    posterior = annealed_importance(model, n_runs=runs, max_iter=60, warm_start=warm, random_state=0)
    assert 0 < posterior.log_evidence_std < 0.1
    assert abs(posterior.log_evidence - truth.log_evidence) < 4 * posterior.log_evidence_std + 2e-3
    sd = np.sqrt(np.diag(truth.covariance))
    np.testing.assert_allclose(posterior.mean / sd, truth.mean / sd, atol=0.25)
    np.testing.assert_allclose(np.sqrt(posterior.variances()), sd, rtol=0.2)


def test_a_good_start_lowers_the_variance():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(20, 4))
    model = GLM(B=B, potentials=BernoulliLogit(rng.choice([-1, 1], 20)), prior_covariance=9.0)
    errors = [
        annealed_importance(model, n_runs=100, max_iter=50, random_state=0, warm_start=start).log_evidence_std
        for start in (None, laplace_approximation(model), expectation_propagation(model))
    ]
    assert errors[2] < errors[1] < errors[0]


@pytest.mark.parametrize("moves", ["hamiltonian", "slice"])
@pytest.mark.parametrize("estimator", ["annealed", "thermodynamic"])
def test_moves_and_estimators_agree(moves, estimator):
    model = GLM(B=np.eye(3)[:2], potentials=BernoulliLogit([1, -1]), prior_covariance=[4.0, 1.0, 2.0])
    warm = expectation_propagation(model)
    posterior = annealed_importance(
        model, n_runs=200, max_iter=50, moves=moves, estimator=estimator, warm_start=warm, random_state=1
    )
    assert posterior.log_evidence == pytest.approx(2 * np.log(0.5), abs=4 * posterior.log_evidence_std + 2e-3)
    assert posterior.variances()[2] == pytest.approx(2.0, rel=0.15)  # nothing was learnt about this one


@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0])
def test_moves_leave_their_distribution_unchanged(temperature):
    """r = -3 |w|^2 / 2 makes N(0, 1 / (1 + 3 tau))."""
    rng = np.random.default_rng(0)
    w = rng.standard_normal((4000, 2)) / np.sqrt(1 + 3 * temperature)
    h, e = w, w
    for _ in range(5):
        h, accepted = hamiltonian(h, lambda x: (-1.5 * (x**2).sum(1), -3 * x), temperature, 0.6, rng)
        e = elliptical_slice(e, lambda x: -1.5 * (x**2).sum(1), temperature, rng)
        assert 0.5 < accepted <= 1
    for moved in (h, e):
        np.testing.assert_allclose((moved**2).mean(axis=0) * (1 + 3 * temperature), 1.0, atol=0.1)
        assert np.mean(np.abs(moved - w) > 1e-9) > 0.5


def test_one_seed_one_answer_and_plain_data():
    model = GLM(B=np.eye(2), potentials=BernoulliLogit([1, -1]), prior_covariance=2.0)
    first, second = (annealed_importance(model, max_iter=20, n_runs=20, random_state=3) for _ in range(2))
    assert first.log_evidence == second.log_evidence
    again = restored_posterior(model, posterior_state(first))
    np.testing.assert_array_equal(again.mean, first.mean)
    np.testing.assert_array_equal(again.covariance(), first.covariance())
    rows = np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 1.0]])
    root = first.projection_root(rows)
    np.testing.assert_allclose(root @ root.T, rows @ first.covariance() @ rows.T, atol=1e-12)
    assert first.sample(5, 0).shape == (5, 2)


def test_runs_that_carry_no_weight_are_said():
    far = GLM(potentials=BernoulliLogit(np.ones(60)), prior_covariance=400.0 * np.eye(60))
    with pytest.warns(ConvergenceWarning, match=r"annealed_importance: [\d.]+ of 20 runs carry the weight"):
        posterior = annealed_importance(far, n_runs=20, max_iter=3, random_state=0)
    assert not posterior.converged


def test_bad_starts_end_in_one_sentence():
    free = GLM(B=np.eye(2), potentials=BernoulliLogit([1, -1]), X=np.eye(2)[:1], y=[0.0])
    with pytest.raises(ValueError, match="must determine every unknown"):
        annealed_importance(free)
    nowhere = GLM(potentials=Step(50.0), prior_covariance=np.eye(1))
    with pytest.raises(ValueError, match="no run stayed in the support"):
        annealed_importance(nowhere, n_runs=4, max_iter=3, random_state=0)
