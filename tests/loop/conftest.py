"""Toys of the loop's tests: a Bayesian linear regression of twenty lines, with and without a state."""

import numpy as np
import pytest

from adaptive.estimators import DesignMixin
from adaptive.potentials import Gaussian
from adaptive.predictive import GaussianProjections


class LinearGaussian(DesignMixin):
    """y = X u + noise, u ~ N(0, I): exact posterior by precision and shift."""

    def __init__(self, noise_variance=0.5):
        self.noise_variance = noise_variance
        self.precision, self.shift, self.n_fits = None, None, 0

    def get_params(self, deep=True):
        return {"noise_variance": self.noise_variance}

    def _prior(self, X):
        d = X.shape[1]
        return (np.eye(d), np.zeros(d)) if self.precision is None else (self.precision, self.shift)

    def partial_fit(self, X, y):
        X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        if not np.isfinite(y).all():
            raise ValueError("y contains NaN or infinity.")
        precision, shift = self._prior(X)
        self.precision = precision + X.T @ X / self.noise_variance
        self.shift = shift + X.T @ y / self.noise_variance
        self.n_fits += 1
        return self

    def predict(self, X):
        precision, shift = self._prior(X)
        return X @ np.linalg.solve(precision, shift)

    def predictive(self, candidates, *, target=None, random_state=None):
        X = np.asarray(candidates, dtype=float)
        precision, shift = self._prior(X)
        covariance = np.linalg.inv(precision)
        variance = np.einsum("ij,jk,ik->i", X, covariance, X)
        return GaussianProjections(
            X @ covariance @ shift,
            variance,
            lambda i, j: X[i] @ covariance @ X[j].T,
            Gaussian(self.noise_variance),
            random_state=random_state,
        )


class WithState(LinearGaussian):
    def state(self):
        return {"precision": self.precision, "shift": self.shift, "n_fits": self.n_fits}

    def restore(self, state):
        self.precision, self.shift, self.n_fits = state["precision"], state["shift"], state["n_fits"]
        return self


@pytest.fixture
def model():
    return LinearGaussian


@pytest.fixture
def model_with_state():
    return WithState


@pytest.fixture
def pool():
    return np.random.default_rng(0).normal(size=(25, 3))


@pytest.fixture
def answers(pool):
    """What every candidate would answer, whenever it is asked."""
    return pool @ [1.0, -2.0, 0.5] + 0.3 * np.random.default_rng(1).normal(size=len(pool))


@pytest.fixture
def measure(answers):
    return lambda query: answers[query.positions]


@pytest.fixture
def same():
    """Two designs know the same, bit for bit; only the clock may differ."""

    def check(a, b):
        first, second = a.history_, b.history_
        for name in ("step", "position", "label", "outcome", "score"):
            assert repr(first[name]) == repr(second[name]), name
        assert a.iteration == b.iteration and a.spent == b.spent
        assert np.array_equal(a.estimator_.precision, b.estimator_.precision)
        assert np.array_equal(a.estimator_.shift, b.estimator_.shift)
        assert [q.positions.tolist() for q in a.pending] == [q.positions.tolist() for q in b.pending]

    return check
