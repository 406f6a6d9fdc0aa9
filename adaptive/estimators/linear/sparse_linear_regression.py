"""Linear regression with a sparse prior and intervals that mean what they say:

    y = X w + b + noise,    noise ~ N(0, noise_variance),    w_j ~ prior(scale),

noise variance and scale fitted by evidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import RegressorMixin

from adaptive.estimators.belief import BeliefEstimator, of_belief
from adaptive.estimators.linear.sparse_belief import SparseBelief, SparseSettings
from adaptive.estimators.rows.linear_predictive import LinearWeights

if TYPE_CHECKING:
    from collections.abc import Callable

    from adaptive.inference import Posterior
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Pool, RandomState, Table

__all__ = ["SparseLinearRegression"]


class SparseLinearRegression(LinearWeights, RegressorMixin, BeliefEstimator):
    """Bayesian linear regression with a Laplace, Student t or Gaussian prior on the weights.

    Parameters
    ----------
    prior : {"student_t", "laplace", "gaussian"}, default "student_t"
        Of each weight; the intercept has a broad Gaussian one. The heavy tails of a Student t leave large weights as
        they are while small ones shrink; a Laplace prior shrinks all of them alike.
    noise_variance : float, optional
        None: fitted by evidence.
    prior_scale : float, optional
        Scale of the prior (its standard deviation where it is Gaussian); None: fitted by evidence.
    df : float, default 3.0
        Degrees of freedom of "student_t".
    inference : str or callable, optional
        "expectation_propagation", "variational_bounds", "variational_gaussian", or a callable
        ``(model, **settings) -> Posterior``. None: expectation propagation; the variational
        Gaussian for "student_t".
    fit_intercept : bool, default True
    max_iter : int, default 200
        Iterations of the inference.
    tol : float, default 1e-5
        Its tolerance.
    random_state : None, int, Generator or RandomState
        For inference that draws.

    Attributes
    ----------
    coef_, coef_std_ : (n_features,) arrays
        Posterior means and standard deviations of the weights.
    intercept_ : float
    noise_variance_, prior_scale_ : float
    posterior_ : Posterior over the weights and, last, the intercept
    log_evidence_, evidence_kind_, objective_trace_, n_iter_, converged_ : of the inference
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    With "student_t" the posterior may have several optima; this is one near a mode, and its intervals are
    somewhat narrow where there are few rows ("variational_bounds" makes them narrower still). A Laplace prior is safer
    there, and too wide elsewhere. ``partial_fit`` keeps all rows and refits warm; what is fitted by evidence is fitted
    again from where it was.

    References
    ----------
    Seeger (2008), Bayesian inference and optimal design for the sparse linear model; Nickisch (2010), chapter 2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 60))
    >>> y = 2 * X[:, 3] - X[:, 7] + 0.1 * rng.normal(size=40)
    >>> model = SparseLinearRegression().fit(X, y)
    >>> np.argsort(-np.abs(model.coef_))[:2].tolist()
    [3, 7]
    >>> mean, std = model.predict(X, return_std=True)
    """

    def __init__(
        self,
        prior: str = "student_t",
        *,
        noise_variance: float | None = None,
        prior_scale: float | None = None,
        df: float = 3.0,
        inference: str | Callable[..., Posterior] | None = None,
        fit_intercept: bool = True,
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: RandomState = None,
    ) -> None:
        self.prior = prior
        self.noise_variance = noise_variance
        self.prior_scale = prior_scale
        self.df = df
        self.inference = inference
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # -- learning ------------------------------------------------------------------------------------------------------

    compares_columns = True
    _Settings, _Belief = SparseSettings, SparseBelief
    _cites = ("seeger2008", "nickisch2010")
    belief_: SparseBelief

    def fit(self, X: Table, y: ArrayLike) -> SparseLinearRegression:
        """Forget the earlier fit, and fit.

        Parameters
        ----------
        X : (m, n_features) array, sparse matrix or frame
        y : (m,) array of numbers
        """
        return self._fit(X, y)

    def partial_fit(self, X: Table, y: ArrayLike) -> SparseLinearRegression:
        """Learn from further rows, starting from what is believed; what is refused changes nothing."""
        return self._partial_fit(X, y)

    # -- belief --------------------------------------------------------------------------------------------------------

    def predict(self, X: Table, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return predictive means (m,), and with ``return_std`` standard deviations, noise included."""
        belief = self.fitted_belief()
        mean, variance = belief.posterior.projection_moments(belief.features(self._candidates(X)))
        return (mean, np.sqrt(variance + belief.noise_variance)) if return_std else mean

    def log_predictive(self, X: Table, y: ArrayLike) -> np.ndarray:
        """Return the (m,) natural-log predictive densities of the outcomes ``y``."""
        mean, std = self.predict(X, return_std=True)
        return -0.5 * ((np.asarray(y, dtype=float) - mean) / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)

    def predictive(
        self, candidates: Pool, *, target: Table | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Return the belief about rows: jointly Gaussian, the noise apart.

        Parameters
        ----------
        candidates : (m, n_features) array, sparse matrix or frame
        target : (t, n_features) rows, optional
            Inputs that the information is to be about; None: the weights.
        random_state : None, int, Generator or RandomState
        """
        return super().predictive(candidates, target=target, random_state=random_state)

    noise_variance_ = of_belief("noise_variance", "Given, or fitted by evidence.")
    prior_scale_ = of_belief("prior_scale", "Given, or fitted by evidence.")
    leave_one_out_ = of_belief("left_out", "Log score (m,) of the training rows without themselves; or None.")
    X_train_ = of_belief("data.X", "The training rows.")
    y_train_ = of_belief("data.y", "Their outcomes.")
