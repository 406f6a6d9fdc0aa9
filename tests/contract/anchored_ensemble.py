"""A toy that knows nothing but draws: logistic classifiers, each pulled to its own anchor and fed its own resample.

Before any data the members are the anchors, draws from a prior; the more data, the more they agree.
"""

import numpy as np
from scipy.special import expit

from adaptive.estimators import DesignMixin
from adaptive.predictive import Predictive


class AnchoredEnsemble(DesignMixin):
    """Binary classification (labels 0, 1) by ``n_members`` maximum-a-posteriori fits around random anchors."""

    def __init__(self, n_features=2, n_members=12, seed=0):
        self.n_features, self.n_members, self.seed = n_features, n_members, seed
        self.anchors = np.random.default_rng(seed).standard_normal((n_members, n_features))
        self.coefficients = self.anchors.copy()
        self.X, self.y = np.empty((0, n_features)), np.empty(0)

    def get_params(self, deep=True):
        return {"n_features": self.n_features, "n_members": self.n_members, "seed": self.seed}

    def fit(self, X, y):
        self.X, self.y = np.empty((0, self.n_features)), np.empty(0)
        return self.partial_fit(X, y)

    def partial_fit(self, X, y):
        if not np.isin(y, [0, 1]).all():
            raise ValueError(f"labels must be 0 or 1, got {y}.")
        self.X, self.y = np.vstack([self.X, X]), np.concatenate([self.y, y])
        # how often member k sees row j depends on (seed, k, j) only, so that new rows leave the old counts as they were
        counts = [
            [1 + np.random.default_rng([self.seed, k, j]).poisson(0.5) for j in range(len(self.y))]
            for k in range(self.n_members)
        ]
        self.coefficients = np.array(
            [self._member(anchor, np.array(count)) for anchor, count in zip(self.anchors, counts, strict=True)]
        )
        return self

    def _member(self, anchor, counts):
        w = anchor.copy()
        for _ in range(50):
            p = expit(self.X @ w)
            gradient = self.X.T @ (counts * (p - self.y)) + w - anchor
            curvature = (self.X.T * (counts * p * (1 - p))) @ self.X + np.eye(self.n_features)
            w = w - np.linalg.solve(curvature, gradient)
        return w

    def predictive(self, candidates, *, target=None, random_state=None):
        def draws(n=None):
            p = expit(self.coefficients @ np.asarray(candidates).T)
            return np.full(self.n_members, 1 / self.n_members), np.stack([1 - p, p], axis=-1)

        about = None if target is None else self.predictive(target, random_state=random_state)
        return Predictive(len(candidates), outcomes=[0, 1], draws=draws, target=about, random_state=random_state)
