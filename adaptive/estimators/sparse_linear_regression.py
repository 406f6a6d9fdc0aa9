"""Linear regression with a sparse prior and intervals that mean what they say:

    y = X w + b + noise,    noise ~ N(0, noise_variance),    w_j ~ prior(scale),

noise variance and scale learnt by evidence.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from adaptive import checks, inference
from adaptive.estimators.base import DesignMixin, unfitted_if_refused
from adaptive.estimators.linear.linear_predictive import linear_predictive, with_intercept
from adaptive.estimators.linear.training import restored_rows, rows_state, stacked_rows
from adaptive.estimators.linear.weight_priors import PRIORS, weight_potential, weight_variance
from adaptive.inference import GLM
from adaptive.potentials import Gaussian
from adaptive.predictive import GaussianProjections

__all__ = ["SparseLinearRegression"]

DEFAULT_INFERENCE = {
    "laplace": "expectation_propagation",
    "student_t": "variational_gaussian",
    "gaussian": "expectation_propagation",  # exact, whatever the engine
}
ENGINES = ("expectation_propagation", "variational_bounds", "variational_gaussian")
BROAD = 10.0  # prior standard deviation of the intercept, in standard deviations of y
STEP = 1e-4  # in ln scale
SMALLEST_NOISE = 1e-6  # of the variance of y: below it the search for the noise ends
ROUGH = 1e-5  # tolerance of the inference while parameters are sought: looser, and the evidence depends on the path


class SparseLinearRegression(DesignMixin, RegressorMixin, BaseEstimator):
    """Bayesian linear regression with a Laplace, Student t or Gaussian prior on the weights.

    Parameters
    ----------
    prior : {"student_t", "laplace", "gaussian"}, default "student_t"
        Of each weight; the intercept has a broad Gaussian one. The heavy tails of a Student t leave large weights as
        they are while small ones shrink; a Laplace prior shrinks all of them alike.
    noise_variance : float, optional
        None: learnt by evidence.
    prior_scale : float, optional
        Scale of the prior (its standard deviation where it is Gaussian); None: learnt by evidence.
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
    there, and too wide elsewhere. ``partial_fit`` keeps all rows and refits warm; what is learnt by evidence is learnt
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
        inference: Any = None,
        fit_intercept: bool = True,
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
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

    noise_variance_: float
    prior_scale_: float

    def fit(self, X: Any, y: Any) -> SparseLinearRegression:
        """Forget what was learnt and fit.

        Parameters
        ----------
        X : (m, n_features) array, sparse matrix or frame
        y : (m,) array of numbers
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, reset=True, accept_sparse="csr", y_numeric=True, dtype=float)
        return self._learn(X, np.asarray(y, dtype=float), None)

    def partial_fit(self, X: Any, y: Any) -> SparseLinearRegression:
        """Learn from further rows, starting from what is believed; what is refused changes nothing."""
        if not hasattr(self, "posterior_"):
            self._check_parameters()
            with unfitted_if_refused(self):
                X, y = validate_data(self, X, y, reset=True, accept_sparse="csr", y_numeric=True, dtype=float)
                return self._learn(X, np.asarray(y, dtype=float), None)
        X, y = validate_data(self, X, y, reset=False, accept_sparse="csr", y_numeric=True, dtype=float)
        rows = stacked_rows(self.X_train_, X)
        return self._learn(rows, np.concatenate([self.y_train_, np.asarray(y, dtype=float)]), self.posterior_)

    def _learn(self, X: Any, y: np.ndarray, warm: Any) -> SparseLinearRegression:
        problem = _Problem(self, X, y)
        start = problem.start if warm is None else np.log([self.noise_variance_, self.prior_scale_])
        free = np.array([self.noise_variance is None, self.prior_scale is None])
        given = [self.noise_variance, self.prior_scale]
        for k in np.flatnonzero(~free):
            start[k] = np.log(float(given[k]))  # type: ignore[arg-type]
        found, posterior = problem.climbed(start, free, warm)
        self.X_train_, self.y_train_ = X, y
        self.noise_variance_, self.prior_scale_ = (float(value) for value in np.exp(found))
        self.posterior_ = posterior
        return self

    # -- belief --------------------------------------------------------------------------------------------------------

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return predictive means (m,), and with ``return_std`` standard deviations, noise included."""
        check_is_fitted(self, "posterior_")
        mean, variance = self.posterior_.projection_moments(self._features(self._rows(X)))
        return (mean, np.sqrt(variance + self.noise_variance_)) if return_std else mean

    def log_predictive(self, X: Any, y: Any) -> np.ndarray:
        """Return the (m,) natural-log predictive densities of the outcomes ``y``."""
        mean, std = self.predict(X, return_std=True)
        return -0.5 * ((np.asarray(y, dtype=float) - mean) / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)

    def predictive(self, candidates: Any, *, target: Any = None, random_state: Any = None) -> GaussianProjections:
        """What is believed about rows: jointly Gaussian, the noise apart.

        Parameters
        ----------
        candidates : (m, n_features) array, sparse matrix or frame
        target : (t, n_features) rows, optional
            Inputs that the information is to be about; None: the weights.
        random_state : None, int, Generator or RandomState
        """
        rows = self._rows(candidates)
        target = None if target is None else self._rows(target)
        if hasattr(self, "posterior_"):
            return linear_predictive(
                self.posterior_,
                rows,
                Gaussian(self.noise_variance_),
                target=target,
                intercept=bool(self.fit_intercept),
                random_state=random_state,
                measured=self.X_train_,
            )
        scale = 1.0 if self.prior_scale is None else float(self.prior_scale)
        variances = np.append(
            np.full(rows.shape[1], weight_variance(self.prior, scale, self.df)), [BROAD**2] * bool(self.fit_intercept)
        )
        return GaussianProjections.from_rows(
            self._features(rows),
            np.zeros(len(variances)),
            covariance=variances,
            likelihood=Gaussian(1.0 if self.noise_variance is None else float(self.noise_variance)),
            target=None if target is None else self._features(target),
            random_state=random_state,
        )

    @property
    def coef_(self) -> np.ndarray:
        """(n_features,) posterior means of the weights."""
        check_is_fitted(self, "posterior_")
        return self.posterior_.mean[: self.n_features_in_]

    @property
    def coef_std_(self) -> np.ndarray:
        """(n_features,) posterior standard deviations of the weights."""
        check_is_fitted(self, "posterior_")
        return np.sqrt(self.posterior_.variances()[: self.n_features_in_])

    @property
    def intercept_(self) -> float:
        """Posterior mean of the intercept, 0 without one."""
        check_is_fitted(self, "posterior_")
        return float(self.posterior_.mean[-1]) if self.fit_intercept else 0.0

    log_evidence_ = property(lambda self: self.posterior_.log_evidence, doc="At the parameters that were learnt.")
    evidence_kind_ = property(lambda self: self.posterior_.evidence_kind, doc="Of the inference.")
    objective_trace_ = property(lambda self: self.posterior_.objective_trace, doc="One value per iteration.")
    n_iter_ = property(lambda self: max(1, self.posterior_.n_iter), doc="Of the last inference; at least 1.")
    converged_ = property(lambda self: self.posterior_.converged, doc="Whether it met ``tol``.")

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return what was learnt as plain data; ``restore`` brings it back."""
        if not hasattr(self, "posterior_"):
            return {}
        names = getattr(self, "feature_names_in_", None)
        return {
            "X": rows_state(self.X_train_),
            "y": self.y_train_,
            "noise_variance": self.noise_variance_,
            "prior_scale": self.prior_scale_,
            "posterior": inference.posterior_state(self.posterior_),
            "feature_names": None if names is None else list(names),
        }

    def restore(self, state: dict[str, Any]) -> SparseLinearRegression:
        """Take over what ``state`` returned; the parameters must be the same."""
        if not state:
            return self
        X = restored_rows(state["X"])
        self.X_train_, self.y_train_, self.n_features_in_ = X, state["y"], X.shape[1]
        self.noise_variance_, self.prior_scale_ = float(state["noise_variance"]), float(state["prior_scale"])
        model = _Problem(self, X, self.y_train_).model(np.log([self.noise_variance_, self.prior_scale_]))
        self.posterior_ = inference.restored_posterior(model, state["posterior"])
        if state["feature_names"] is not None:
            self.feature_names_in_ = np.array(state["feature_names"], dtype=object)
        return self

    # -- details -------------------------------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _rows(self, X: Any) -> Any:
        if hasattr(self, "n_features_in_"):
            return validate_data(self, X, reset=False, accept_sparse="csr", dtype=float)
        return check_array(X, accept_sparse="csr", dtype=float)

    def _features(self, X: Any) -> Any:
        return with_intercept(X) if self.fit_intercept else X

    def _check_parameters(self) -> None:
        checks.choice("prior", self.prior, PRIORS)
        if isinstance(self.inference, str):
            checks.choice("inference", self.inference, ENGINES)
        elif self.inference is not None and not callable(self.inference):
            raise ValueError(f"inference must be a name or a callable (model, **settings), got {self.inference!r}.")
        for name in ("noise_variance", "prior_scale"):
            if getattr(self, name) is not None:
                checks.positive(name, getattr(self, name))
        checks.positive("df", self.df)
        checks.positive("tol", self.tol, or_zero=True)
        checks.integer("max_iter", self.max_iter, minimum=1)


class _Problem:
    """The rows as a model of any noise variance and prior scale, and the search for the best ones."""

    def __init__(self, settings: SparseLinearRegression, X: Any, y: np.ndarray) -> None:
        self.settings, self.y = settings, y
        self.features = with_intercept(X) if settings.fit_intercept else X
        self.n_weights = X.shape[1]
        self.spread = float(np.std(y)) or float(np.abs(y).max()) or 1.0
        self.centre = float(np.mean(y))
        squares = X.multiply(X).sum() if sp.issparse(X) else np.einsum("ij,ij->", X, X)
        length = float(np.sqrt(squares / X.shape[0])) or 1.0
        # half of the outcomes' variance is noise, half of it what a typical row makes of the weights
        self.start = np.log([0.5 * self.spread**2, np.sqrt(0.5) * self.spread / length])

    def potential(self, log_scale: float) -> Any:
        """Prior of the weights."""
        return weight_potential(self.settings.prior, float(np.exp(log_scale)), self.settings.df)

    def model(self, point: np.ndarray) -> GLM:
        """At (ln noise variance, ln prior scale)."""
        unit = sp.eye_array(self.features.shape[1], format="csr")
        groups: list[tuple[Any, Any]] = [(unit[: self.n_weights], self.potential(point[1]))]
        if self.settings.fit_intercept:
            groups.append((unit[self.n_weights :], Gaussian((BROAD * self.spread) ** 2, self.centre)))
        return GLM(
            self.features,
            self.y,
            float(np.exp(point[0])),
            B=[rows for rows, _ in groups],
            potentials=[potential for _, potential in groups],
        )

    def infer(self, point: np.ndarray, warm: Any, tol: float | None = None) -> tuple[GLM, Any]:
        settings = self.settings
        name = DEFAULT_INFERENCE[settings.prior] if settings.inference is None else settings.inference
        engine = getattr(inference, name) if isinstance(name, str) else name
        model = self.model(point)
        tol = settings.tol if tol is None else tol
        with warnings.catch_warnings():  # a heavy-tailed prior may have several optima: that is in the documentation
            warnings.filterwarnings("ignore", message=".*several optima")
            posterior = engine(
                model, max_iter=settings.max_iter, tol=tol, random_state=settings.random_state, warm_start=warm
            )
        return model, posterior

    def slope(self, model: GLM, posterior: Any, point: np.ndarray) -> np.ndarray:
        """Derivatives of the log evidence in (ln noise variance, ln prior scale)."""
        residual = self.y - self.features @ posterior.mean
        square = float(residual @ residual) + float(np.sum(posterior.variances(self.features)))
        by_noise = 0.5 * (square / np.exp(point[0]) - len(self.y))
        low, high = (self.potential(point[1] + side * STEP / 2) for side in (-1.0, 1.0))
        if self.settings.prior == "gaussian":
            weights = posterior.mean[: self.n_weights] ** 2 + posterior.variances()[: self.n_weights]
            return np.array([by_noise, float(np.sum(weights)) / np.exp(2 * point[1]) - self.n_weights])
        return np.array([by_noise, inference.potential_gradient(model, posterior, 0, low, high, STEP)])

    def climbed(self, start: np.ndarray, free: np.ndarray, warm: Any) -> tuple[np.ndarray, Any]:
        """Where the evidence is largest in the free parameters, and the posterior there."""
        last = [warm]

        def objective(values: np.ndarray) -> tuple[float, np.ndarray]:
            point = start.copy()
            point[free] = values
            model, posterior = self.infer(point, last[0], max(self.settings.tol, ROUGH))
            last[0] = posterior
            return -posterior.log_evidence, -self.slope(model, posterior, point)[free]

        point = start.copy()
        if free.any():
            lowest = np.log(SMALLEST_NOISE * self.spread**2)
            bounds = [
                (lowest, start[0] + 10.0) if k == 0 else (start[1] - 15.0, start[1] + 15.0)
                for k in np.flatnonzero(free)
            ]
            origin, first = objective(start[free])
            unit = max(1.0, float(np.linalg.norm(first)))  # the first step is one unit long

            def relative(values: np.ndarray) -> tuple[float, np.ndarray]:
                value, slope = objective(values)
                return (value - origin) / unit, slope / unit

            found: Any = minimize(
                relative,
                start[free],
                jac=True,
                method="L-BFGS-B",
                bounds=bounds,
                options={"maxiter": 40, "ftol": 1e-4 / unit, "gtol": 1e-2 / unit},
            )
            point[free] = found.x
        return point, self.infer(point, last[0])[1]
