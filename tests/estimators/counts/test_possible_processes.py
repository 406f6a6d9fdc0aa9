"""Bands of Cox processes mix kernels that counts leave possible; which counts they are is chosen by counts left out."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import RBF

from adaptive import CoxProcess
from adaptive.estimators.gaussian_process.hyperparameters import units_of
from adaptive.estimators.places import log_prior


@pytest.fixture(scope="module")
def few():
    """Ten counts of a rate that bends."""
    rng = np.random.default_rng(0)
    X = np.linspace(0.0, 10.0, 10)[:, None]
    return X, rng.poisson(6.0 + 5.0 * np.sin(X[:, 0])).astype(float), np.linspace(-1.0, 11.0, 13)[:, None]


def test_moments_are_those_of_a_grid_of_kernels(few):
    X, y, new = few
    belief = CoxProcess(overdispersion=None).fit(X, y).belief_
    found = belief.possible
    mean, variance = (part[0] for part in found.moments(lambda one: one.process.moments(new)))
    begun, at = belief.settings.problems(belief.data)[0], belief.evidences[0]
    start = begun.theta[:2]
    logs, moments = [], []
    for step in product(np.linspace(-4.0, 4.0, 9), np.linspace(-2.5, 2.5, 9)):
        theta = start + np.array(step)
        here = replace(begun.at(np.concatenate([theta, at.theta[2:]])), warm=None)
        (process,) = here.processes()
        logs.append(process.posterior.log_evidence + log_prior(theta, start, units_of(begun.kernel, 0)))
        one = replace(belief, evidences=[here], processes=[process])
        moments.append(one.process.moments(new))
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    means, variances = (np.stack(part) for part in zip(*moments, strict=True))
    exact = weights @ means
    spread = weights @ (variances + np.square(means - exact))
    deviation = np.sqrt(spread)
    assert np.all(np.abs(mean - exact) < 0.2 * deviation)
    assert np.all(np.abs(np.sqrt(variance / found.factors[0]) / deviation - 1.0) < 0.2)


def test_bands_are_wider_and_nothing_else_changes(few):
    X, y, new = few
    model = CoxProcess(overdispersion=None).fit(X, y)
    before = model.predict(new), model.select(new, 3, random_state=0)
    low, high = model.interval(new)
    told = CoxProcess(model.kernel_, mean=model.mean_, overdispersion=None, optimizer=None).fit(X, y)
    inner = told.interval(new)
    assert np.mean(high - low) > np.mean(inner[1] - inner[0])
    np.testing.assert_array_equal(model.predict(new), before[0])
    np.testing.assert_array_equal(model.select(new, 3, random_state=0), before[1])
    assert len(told.belief_.possible.beliefs) == 1 and told.belief_.possible.factors.tolist() == [1.0]
    rate, lowest, highest = model.intensity(new)
    assert np.all((lowest <= rate) & (rate <= highest))
    again = clone(model).restore(model.state())
    for one, other in zip((low, high), again.interval(new), strict=True):
        np.testing.assert_array_equal(one, other)
    assert again.variance_factor_ == model.variance_factor_


def test_the_factor_is_one_where_bands_hold_and_grows_with_how_wrong_they_are():
    rng = np.random.default_rng(1)
    X = np.linspace(0.0, 10.0, 60)[:, None]
    found = []
    for noise in (0.0, 0.5, 1.0):
        y = rng.poisson(np.exp(2.0 + np.sin(X[:, 0]) + noise * rng.standard_normal(60))).astype(float)
        model = CoxProcess(0.5 * (CoxProcess(overdispersion=None).fit(X, y).kernel_.k2), mean=8.0, optimizer=None)
        order = rng.permutation(60)
        value, turned = (model.fit(X[k], y[k]).variance_factor_.value for k in (np.arange(60), order))
        assert turned == pytest.approx(value, rel=0.01)
        found.append(value)
    assert 1.0 <= found[0] < found[1] < found[2]
    assert CoxProcess(optimizer=None).fit(X[:3], y[:3]).variance_factor_ is None
    assert CoxProcess(rate="exp", inference="laplace_approximation").fit(X, y).variance_factor_ is None


def test_counts_that_scatter_are_found_by_counts_left_out(few):
    rng = np.random.default_rng(3)
    X = np.linspace(0.0, 10.0, 80)[:, None]
    means = np.exp(1.2 + np.sin(X[:, 0]))
    varied = rng.poisson(means * rng.gamma(2.0, 0.5, 80)).astype(float)
    steady = rng.poisson(np.maximum(4.0 + 5.0 * np.sin(X[:, 0]), 0.0)).astype(float)  # no rate of an exponential
    model = CoxProcess().fit(X, varied)
    assert model.rate_ == "exp" and model.overdispersion_ > 0.2 and model.overdispersion_gain_ > 0.02
    asked = CoxProcess(rate="exp", overdispersion="learnt").fit(X, varied)
    assert model.log_evidence_ == pytest.approx(asked.log_evidence_, abs=0.3)
    plain = CoxProcess().fit(X, steady)
    assert plain.rate_ == "rectified" and plain.overdispersion_ == 0.0 and plain.overdispersion_gain_ < 0.0
    assert plain.log_evidence_ == CoxProcess(overdispersion=None).fit(X, steady).log_evidence_
    grown = CoxProcess().fit(X[::2], varied[::2]).partial_fit(X[1::2], varied[1::2])
    assert grown.rate_ == "exp" and grown.log_evidence_ >= model.log_evidence_ - 0.1
    again = clone(grown).restore(grown.state())
    for one in (grown, again):
        one.partial_fit(X[:1] + 0.01, varied[:1])
    np.testing.assert_array_equal(again.predict(X), grown.predict(X))
    assert again.overdispersion_gain_ == grown.overdispersion_gain_


@pytest.mark.parametrize(
    "options",
    [{}, {"overdispersion": None}, {"rate": "softplus"}, {"optimizer": None}, {"mean": 3.0}, {"overdispersion": 0.1}],
)
def test_what_was_said_is_not_chosen(few, options):
    X, y, _ = few
    assert CoxProcess(**options).fit(X, y).overdispersion_gain_ is None


def test_a_kernel_that_cannot_be_right_sets_off_the_alarm():
    rng = np.random.default_rng(0)
    X = np.linspace(0.0, 10.0, 40)[:, None]
    y = rng.poisson(np.exp(rng.normal(2.0, 1.2, 40)))  # each about a rate of its own
    smooth = 1.0 * RBF(5.0, "fixed")
    model = CoxProcess(smooth, rate="exp", overdispersion=None).fit(X, y)
    assert model.variance_factor_.value > 4
    with pytest.warns(UserWarning, match="counts are further off .* Bands take the factors that counts allow") as said:
        low, high = model.interval(X)
    assert said[0].filename == __file__
    told = CoxProcess(smooth, rate="exp", overdispersion=None, optimizer=None).fit(X, y)
    with pytest.warns(UserWarning, match="Bands believe the kernel that was given"):
        told.intensity(X)
    assert np.mean((low <= y) & (y <= high)) > 0.7
    with pytest.warns(ConvergenceWarning):  # scatter is all there is: the height goes to its lower bound
        scattered = CoxProcess(smooth, rate="exp", overdispersion="learnt").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scattered.interval(X)
