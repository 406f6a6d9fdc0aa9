"""An estimator: a linear model with any likelihood, any extra prior and any inference,

    y_i ~ p(y | x_i . w),        w ~ N(0, prior_variance I) prod_k T_k((B_k w)_j).

To add an estimator, write a scikit-learn class with ``fit``, ``partial_fit`` and ``predict``, and say with
``predictive`` what it believes about candidates. ``DesignMixin`` then gives it ``select``, and the loop drives it.
Three promises: before any fit the prior answers; ``predictive`` changes nothing; an answer that is refused leaves the
estimator as it was.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from adaptive import inference as engines
from adaptive.estimators import DesignMixin
from adaptive.inference import GLM
from adaptive.potentials import Gaussian
from adaptive.predictive import GaussianProjections, Predictive

__all__ = ["LinearModel"]


class LinearModel(DesignMixin, RegressorMixin, BaseEstimator):
    """Linear model with an approximate Gaussian posterior over its weights.

    Parameters
    ----------
    likelihood : likelihood family, default Gaussian(1.0)
        p(y | s) of a potential without outcomes.
    prior_variance : float, default 1.0
        Of each weight.
    prior : pair of operator and potential, optional
        One more prior, on projections of the weights (such as differences of neighbours).
    inference : callable (model, warm_start=...) -> Posterior, optional
        Default :func:`adaptive.inference.expectation_propagation`.

    Attributes
    ----------
    posterior_ : Posterior of the weights
    coef_ : (n_features,) array, their means

    Examples
    --------
    >>> model = LinearModel().fit([[1.0, 0.0], [0.0, 1.0]], [2.0, 0.0])
    >>> model.coef_, model.select([[1.0, 0.0], [2.0, 0.0]])
    (array([1., 0.]), array([1]))
    """

    def __init__(
        self, likelihood: Any = None, *, prior_variance: float = 1.0, prior: Any = None, inference: Any = None
    ) -> None:
        self.likelihood = likelihood
        self.prior_variance = prior_variance
        self.prior = prior
        self.inference = inference

    def fit(self, X: Any, y: Any) -> LinearModel:
        """Forget what was learnt and fit (m, n_features) rows and (m,) outcomes."""
        X, y = validate_data(self, X, y, reset=True, dtype=float)
        return self._learn(X, y, None)

    def partial_fit(self, X: Any, y: Any) -> LinearModel:
        """Learn further rows, starting from the posterior so far."""
        if not hasattr(self, "posterior_"):
            return self.fit(X, y)
        X, y = validate_data(self, X, y, reset=False, dtype=float)
        return self._learn(np.concatenate([self.X_train_, X]), np.concatenate([self.y_train_, y]), self.posterior_)

    def _learn(self, X: np.ndarray, y: np.ndarray, warm_start: Any) -> LinearModel:
        posterior = self._infer(X, y, warm_start)
        self.X_train_, self.y_train_, self.posterior_ = X, y, posterior  # all or nothing
        return self

    def _infer(self, X: np.ndarray, y: np.ndarray, warm_start: Any = None) -> Any:
        rows, potentials = [X], [self._family().observe(y)]
        if self.prior is not None:  # before the data, whose rows grow at the end
            rows, potentials = [self.prior[0], *rows], [self.prior[1], *potentials]
        model = GLM(B=rows, potentials=potentials, prior_covariance=np.full(X.shape[1], self.prior_variance))
        return (self.inference or engines.expectation_propagation)(model, warm_start=warm_start)

    def _family(self) -> Any:
        return Gaussian(1.0) if self.likelihood is None else self.likelihood

    def predictive(self, candidates: Any, *, target: Any = None, random_state: Any = None) -> Predictive:
        """Return the joint Gaussian of the candidates' projections and the likelihood of their outcomes."""
        rows = self._rows(candidates)
        posterior = self.posterior_ if hasattr(self, "posterior_") else self._infer(rows[:0], np.zeros(0))
        return GaussianProjections.from_rows(
            rows,
            posterior.mean,
            covariance=posterior.covariance(),
            likelihood=self._family(),
            target=None if target is None else self._rows(target),
            random_state=random_state,
        )

    def predict(self, X: Any) -> np.ndarray:
        """Return the (m,) means of the projections."""
        check_is_fitted(self)
        return self._rows(X) @ self.posterior_.mean

    @property
    def coef_(self) -> np.ndarray:
        """(n_features,) posterior means of the weights."""
        check_is_fitted(self)
        return self.posterior_.mean

    def _rows(self, X: Any) -> np.ndarray:
        if hasattr(self, "n_features_in_"):
            return validate_data(self, X, reset=False, dtype=float)
        return check_array(X, dtype=float)
