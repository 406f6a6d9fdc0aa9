"""Bands of the function behind two classes: quantiles of the mixture, widened by labels without themselves."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF

from adaptive import GaussianProcessClassifier


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (40, 2))
    y = np.where(np.sin(2 * X[:, 0]) + 0.5 * rng.standard_normal(40) > 0, "up", "down")
    return GaussianProcessClassifier().fit(X, y), X, y


def test_ends_are_quantiles_of_the_mixture(fitted):
    model, X, _ = fitted
    ends, gamma = model.interval(X[:5], 0.8), model.variance_factor_.value
    for end, level in zip(ends, (0.1, 0.9), strict=True):
        below = sum(
            weight * ndtr((end - part.mean) / np.sqrt(gamma * part.variance))
            for weight, part in model.predictive(X[:5]).components
        )
        np.testing.assert_allclose(below, level, atol=1e-6)
    again = clone(model).restore(model.state())
    for one, other in zip(ends, again.interval(X[:5], 0.8), strict=True):
        np.testing.assert_array_equal(one, other)
    assert again.variance_factor_ == model.variance_factor_


def test_the_factor_grows_with_how_sure_labels_find_a_wrong_kernel(fitted):
    _, X, _ = fitted
    rng = np.random.default_rng(1)
    y, found = (rng.random(40) < 0.5).astype(int), []
    for height in (1e-2, 20.0, 200.0):  # labels by the toss of a coin
        model = GaussianProcessClassifier(height * RBF(3.0), optimizer=None).fit(X, y)
        order = rng.permutation(40)
        turned = clone(model).fit(X[order], y[order]).variance_factor_
        assert turned.value == pytest.approx(model.variance_factor_.value, rel=0.01)
        found.append(model.variance_factor_.value)
    assert 1.0 <= found[0] <= found[1] < found[2]


def test_where_it_is_not(fitted):
    model, X, y = fitted
    by_mode = GaussianProcessClassifier(inference="laplace_approximation", hyperparameters="mode").fit(X, y)
    assert by_mode.variance_factor_ is None
    low, high = by_mode.interval(X[:3])
    mean, variance = by_mode.latent_mean_and_variance(X[:3])
    np.testing.assert_allclose(high - low, 2 * 1.6448536 * np.sqrt(variance), rtol=1e-6)
    np.testing.assert_allclose(0.5 * (low + high), mean, atol=1e-6)
    few = GaussianProcessClassifier().fit(X[:4], [0, 1, 0, 1])
    assert few.variance_factor_ is None
    three = GaussianProcessClassifier(optimizer=None).fit(X[:9], np.arange(9) % 3)
    with pytest.raises(ValueError, match="interval needs a classifier of two classes, got 3"):
        three.interval(X[:2])
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        model.interval(X[:2], 1.0)


def test_a_kernel_that_cannot_be_right_sets_off_the_alarm(fitted):
    rng = np.random.default_rng(0)
    X, y = np.repeat(np.linspace(0, 30, 30), 2)[:, None], rng.integers(0, 2, 60)  # coins at one place differ
    model = GaussianProcessClassifier(1e4 * RBF(0.5), optimizer=None).fit(X, y)
    assert model.variance_factor_.value > 4
    with pytest.warns(UserWarning, match="labels are further off than is believed without them") as said:
        model.interval(X[:3])
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted[0].interval(fitted[1][:3])
