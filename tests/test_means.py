"""Mean functions: values, derivatives against differences, and what they are made of."""

import numpy as np
import pytest
from sklearn.base import clone

from adaptive.means import Constant, Linear, Zero, as_mean

MEANS = [
    Zero(),
    Constant(1.5),
    Linear(0.3),
    Constant(2.0) + Linear([1.0, -1.0]),
    Linear([1.0, 2.0]) * (Constant(0.5) + Linear(1.0)),
    (Linear([0.5, 1.0]) + 1.0) ** 3,
    2.0 * Linear([1.0, 1.0]) ** 2 + Zero(),
]


@pytest.mark.parametrize("mean", MEANS, ids=repr)
def test_gradients_are_derivatives(mean):
    X = np.random.default_rng(0).normal(size=(6, 2))
    mean = clone(mean).prepared(X)
    theta = mean.theta
    gradient = mean.gradient(X)
    assert mean(X).shape == (6,)
    assert gradient.shape == (6, len(theta))
    for j, step in enumerate(1e-6 * np.eye(len(theta))):
        slope = (mean.with_theta(theta + step)(X) - mean.with_theta(theta - step)(X)) / 2e-6
        np.testing.assert_allclose(gradient[:, j], slope, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(mean.with_theta(theta)(X), mean(X))


def test_sums_products_and_powers_are_those_of_the_values():
    X = np.array([[1.0, 2.0], [0.5, -1.0]])
    line, constant = Linear([1.0, 3.0]), Constant(2.0)
    np.testing.assert_allclose((line + constant)(X), X @ [1, 3] + 2)
    np.testing.assert_allclose((line * constant)(X), 2 * (X @ [1, 3]))
    np.testing.assert_allclose((line**2)(X), (X @ [1, 3]) ** 2)


def test_what_is_no_mean_is_refused():
    assert isinstance(as_mean(None), Zero)
    assert as_mean(2).theta.tolist() == [2.0]
    with pytest.raises(ValueError, match=r"mean must be a mean function of adaptive.means, a number or None, got str"):
        as_mean("linear")
    with pytest.raises(ValueError, match="Linear has 3 coefficients, but the inputs have 2 columns"):
        Linear([1.0, 2.0, 3.0]).prepared(np.ones((1, 2)))
    with pytest.raises(ValueError, match="power must be at least 1"):
        Linear() ** 0
