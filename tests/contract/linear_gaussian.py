"""A toy with closed forms for everything: y = x . u + noise, u ~ N(0, I)."""

import numpy as np

from adaptive.estimators import DesignMixin
from adaptive.potentials import Gaussian
from adaptive.predictive import GaussianProjections


class LinearGaussian(DesignMixin):
    """The conjugate posterior, by precision and precision times mean."""

    def __init__(self, n_features=3, noise_variance=0.5):
        self.n_features, self.noise_variance = n_features, noise_variance
        self.precision, self.shift = np.eye(n_features), np.zeros(n_features)

    def get_params(self, deep=True):
        return {"n_features": self.n_features, "noise_variance": self.noise_variance}

    def fit(self, X, y):
        self.__init__(**self.get_params())
        return self.partial_fit(X, y)

    def partial_fit(self, X, y):
        if not np.isfinite(y).all():
            raise ValueError("y contains NaN or infinity.")
        self.precision = self.precision + X.T @ X / self.noise_variance
        self.shift = self.shift + X.T @ y / self.noise_variance
        return self

    def predictive(self, candidates, *, target=None, random_state=None):
        covariance = np.linalg.inv(self.precision)
        return GaussianProjections.from_rows(
            candidates,
            covariance @ self.shift,
            covariance=covariance,
            likelihood=Gaussian(self.noise_variance),
            target=target,
            random_state=random_state,
        )
