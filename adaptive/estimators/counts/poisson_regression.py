"""Regression of counts with a posterior:  y ~ Poisson(exposure rate(x . w + b)),    w_j ~ prior(scale)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import RegressorMixin

from adaptive.estimators.belief import BeliefEstimator, of_belief
from adaptive.estimators.counts.exposure import CountRows, Exposed, column_of, exposed
from adaptive.estimators.counts.regression_belief import RegressionBelief, RegressionSettings
from adaptive.estimators.intervals import count_interval, log_probabilities
from adaptive.estimators.rows.linear_predictive import LinearWeights
from adaptive.estimators.rows.tables import checked_table
from adaptive.estimators.variance_factor import ALARM
from adaptive.pool import has_columns
from adaptive.potentials import Poisson

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn.utils import Tags

    from adaptive.inference import Posterior
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Pool, RandomState, Table

__all__ = ["PoissonRegression"]

SURE = 3.0  # nats that the scatter gains, above which it is spoken of


class PoissonRegression(LinearWeights, RegressorMixin, BeliefEstimator):
    """Bayesian Poisson regression, with a rate that is exponential, rectified or softplus in the features.

    Parameters
    ----------
    rate : {"exp", "rectified", "softplus"}, default "exp"
        exp(s), max(0, s) or log(1 + exp(s)) of the projection s = x . w + b. Chosen by
        ``ours-default-settings-counts``.
    prior : {"gaussian", "laplace", "student_t"}, default "gaussian"
        Of each weight; the intercept has a broad Gaussian one about the rate of all counts. "student_t" does not go
        with "rectified".
    prior_scale : float, optional
        Scale of the prior (its standard deviation where it is Gaussian); None: fitted by evidence.
    exposure : int or str, optional
        The column of X that says for how long, or over how large an area, was counted; it is no feature then. With
        ``cost=`` of `select` the time of a candidate may be its cost.
    inference : str or callable, optional
        "expectation_propagation", "variational_gaussian", "laplace_approximation", or a callable
        ``(model, **settings) -> Posterior``. None: the variational Gaussian, closed for ``rate="exp"`` and the one for
        "student_t"; expectation propagation for the other rates.
    fit_intercept : bool, default True
    df : float, default 3.0
        Degrees of freedom of "student_t".
    max_iter : int, default 200
        Iterations of the inference.
    tol : float, default 1e-6
        Its tolerance.
    random_state : None, int, Generator or RandomState
        For inference that draws.

    Attributes
    ----------
    coef_, coef_std_ : (n_features,) arrays
        Posterior means and standard deviations of the weights; without the column of the exposure.
    intercept_ : float
    prior_scale_ : float
    scatter_ : float
        Variance of a row's log rate (of its projection) that no column explains, by the training rows without
        themselves: counts scatter more than Poisson's. The likeliest; `interval` and ``log_predictive`` mix all that
        the rows leave possible, nothing else knows of it.
    variance_factor_ : VarianceFactor or None
        The same as a factor of the projections' typical variance, with the standard error of its logarithm; None of
        fewer than five rows.
    posterior_ : Posterior over the weights and, last, the intercept
    log_evidence_, evidence_kind_, objective_trace_, n_iter_, converged_ : of the inference
    n_features_in_, feature_names_in_ : as in scikit-learn

    Notes
    -----
    Outcomes are counts. With "exp" and "softplus" other y >= 0 are taken, too, as scikit-learn's ``PoissonRegressor``
    takes them: their factors are y log rate - rate, which is no distribution of y; predictive probabilities and
    intervals are about counts all the same, as a warning says. "rectified" refuses them. The variational Gaussian
    refuses "rectified", whose logarithm has no expectation.

    References
    ----------
    Ko (2017), sections 1.2 and 2.1; Nickisch (2010), section 2.5, for the prior scale by evidence.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = rng.poisson(np.exp(X @ [1.0, 0.0, -0.5] + 0.5))
    >>> model = PoissonRegression().fit(X, y)
    >>> bool(np.all(np.abs(model.coef_ - [1.0, 0.0, -0.5]) < 3 * model.coef_std_))
    True
    >>> low, high = model.interval(X[:2], 0.9)
    >>> int(model.select(X, exclude=[0])[0]) != 0
    True
    """

    def __init__(
        self,
        rate: str = "exp",
        *,
        prior: str = "gaussian",
        prior_scale: float | None = None,
        exposure: int | str | None = None,
        inference: str | Callable[..., Posterior] | None = None,
        fit_intercept: bool = True,
        df: float = 3.0,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: RandomState = None,
    ) -> None:
        self.rate = rate
        self.prior = prior
        self.prior_scale = prior_scale
        self.exposure = exposure
        self.inference = inference
        self.fit_intercept = fit_intercept
        self.df = df
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # -- learning ------------------------------------------------------------------------------------------------------

    _cites = ("ko2017", "nickisch2010")
    _Settings, _Data, _Belief = RegressionSettings, CountRows, RegressionBelief

    @property
    def compares_columns(self) -> bool:
        """True where all columns are features."""
        return self.exposure is None

    belief_: RegressionBelief

    def fit(self, X: Table, y: ArrayLike) -> PoissonRegression:
        """Forget the earlier fit, and fit.

        Parameters
        ----------
        X : (m, n_features) array, sparse matrix or frame
        y : (m,) array of counts
        """
        return self._fit(X, y)

    def partial_fit(self, X: Table, y: ArrayLike) -> PoissonRegression:
        """Learn from further rows, starting from what is believed; what is refused changes nothing."""
        return self._partial_fit(X, y)

    def _measured(self, X: Table, y: ArrayLike, earlier: CountRows | None = None) -> CountRows:
        rows, counts = checked_table(self, X, y, reset=earlier is None, numbers=True)
        column = column_of(self, rows, self.exposure) if earlier is None else earlier.column
        _warn_of_fractions(counts)
        new = CountRows(rows, counts, column)
        RegressionSettings.of(self).observed(counts, new.exposed.exposure)  # what is refused is refused here
        return new if earlier is None else earlier.followed_by(rows, counts)

    def _candidates(self, X: Table) -> Exposed:
        rows = checked_table(self, X, numbers=True)
        if self.__sklearn_is_fitted__():
            return exposed(rows, self.belief_.data.column)
        named = X if isinstance(self.exposure, str) and has_columns(X) else rows
        return exposed(rows, column_of(self, named, self.exposure))

    # -- belief --------------------------------------------------------------------------------------------------------

    def predict(self, X: Table, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the mean counts (m,) over the rows' exposures: the rates, where there is no column of exposures.

        With ``return_std`` also the standard deviations of these rates, without the noise of counting and what is in
        ``scatter_``, which `interval` includes: it says what its .90 covers (``ours-bands-poisson-regression``).
        """
        belief, given = self.fitted_belief(), self._candidates(X)
        family, moments = belief.settings.family(given.exposure), belief.moments(given)
        mean = family.expected_rate(*moments)
        if not return_std:
            return mean
        found = belief.variance_factor
        if found is not None and found.value > ALARM and found.n * found.gain > SURE:
            warnings.warn(
                "counts scatter about their rates more than Poisson counts do (scatter_ "
                f"{belief.scatter_variance:.2g} of squared projections, which no column explains): deviations of "
                "rates and of weights know only Poisson's scatter, and are too small. interval() includes all of it.",
                UserWarning,
                stacklevel=2,
            )
        return mean, np.sqrt(np.maximum(family.expected_square(*moments) - mean**2, 0.0))

    def interval(self, X: Table, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts (m,) between which each row's lies with at least the probability ``level``.

        Nominal .90 covers .85 to .86 of real counts by 60 rows, random or chosen, and .82 by ten, which do not tell
        how far counts scatter: what they leave possible is mixed. Of counts of the model it covers .90
        (``ours-bands-poisson-regression``).

        Parameters
        ----------
        X : (m, n_features) rows
        level : float, default 0.9
        """
        belief, given = self.fitted_belief(), self._candidates(X)
        weights, mean, variance = belief.scattered(given)
        return count_interval(belief.settings.family(given.exposure), mean, variance, level, weights)

    def log_predictive(self, X: Table, y: ArrayLike) -> np.ndarray:
        """Return the (m,) natural-log predictive probabilities of the counts ``y``."""
        belief, given = self.fitted_belief(), self._candidates(X)
        weights, mean, variance = belief.scattered(given)
        return log_probabilities(
            lambda counts: Poisson(counts, belief.settings.rate, given.exposure), mean, variance, y, weights
        )

    def predictive(
        self, candidates: Pool, *, target: Table | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Return the belief about rows: jointly Gaussian projections, and counts over the rows' exposures.

        Parameters
        ----------
        candidates : (m, n_features) array, sparse matrix or frame
        target : (t, n_features) rows, optional
            Inputs that the information is to be about; None: the weights.
        random_state : None, int, Generator or RandomState
        """
        return super().predictive(candidates, target=target, random_state=random_state)

    prior_scale_ = of_belief("prior_scale", "Given, or fitted by evidence.")
    scatter_ = of_belief("scatter_variance", "Variance of projections beyond what Poisson counts show; 0: none.")
    variance_factor_ = of_belief("variance_factor", "The scatter as a factor of the projections' variances; or None.")
    leave_one_out_ = of_belief("left_out", "Log score (m,) of the training rows without themselves; or None.")
    X_train_ = of_belief("data.X", "The training rows.")
    y_train_ = of_belief("data.y", "Their counts.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


def _warn_of_fractions(y: np.ndarray) -> None:
    """Say once that an outcome is no count; counts are what everything that is predicted speaks of."""
    broken = np.flatnonzero(y != np.round(y))
    if len(broken):
        warnings.warn(
            f"y holds {y[broken[0]]:g} in row {broken[0]}, which is not a count: its factor is not a distribution of "
            "y, and probabilities and intervals are those of counts.",
            UserWarning,
            stacklevel=4,
        )
