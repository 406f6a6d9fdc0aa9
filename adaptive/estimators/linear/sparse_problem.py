"""Linear regression as a model of any noise variance and prior scale, and the search for the best of them:

theta = (ln noise variance, ln prior scale),    f(theta) = Z(theta) p(theta),    theta_i ~ N(start_i, width_i^2)

At the start half of the outcomes' variance is noise, and half of it what a typical row makes of the weights. The prior
is weak; without it few rows are best explained without noise, or by noise alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from adaptive import checks, inference
from adaptive.estimators.belief import Settings, returned
from adaptive.estimators.places import log_prior
from adaptive.estimators.rows.training import Rows
from adaptive.estimators.rows.weight_priors import PRIORS, weight_potential
from adaptive.inference import GLM, Posterior
from adaptive.inference.evidence.maximise import LBFGS, Evaluation, Maximum, maximise
from adaptive.potentials import Gaussian

if TYPE_CHECKING:
    from adaptive.potentials import Potential
    from adaptive.types import RandomState

__all__ = ["BROAD", "SparseProblem", "SparseSettings"]

DEFAULT_INFERENCE = {
    "laplace": "expectation_propagation",
    "student_t": "variational_gaussian",
    "gaussian": "expectation_propagation",  # exact, whatever the engine
}
ENGINES = ("expectation_propagation", "variational_bounds", "variational_gaussian")
HYPERPARAMETERS = ("integrated", "mode")
BROAD = 10.0  # prior standard deviation of the intercept, in standard deviations of y
WIDTHS = np.array([2.0, 1.5])  # of the priors: 95% of noise variances within a factor of 50, of scales within 19
STEP = 1e-4  # in ln scale
REACH = 15.0  # of the search, in logarithms, on both sides of the start
ROUGH = 1e-5  # tolerance of the inference while parameters are sought: looser, and the evidence depends on the path
MOST = 16  # iterations of a bound while parameters are sought: it stays a bound, and tells that this is no place to be
CLIMB = LBFGS(max_iter=40, ftol=1e-4, gtol=1e-2, relative=True, warns=False)


@dataclass(frozen=True, eq=False)
class SparseSettings(Settings):
    """Parameters of :class:`~adaptive.SparseLinearRegression`, under the same names."""

    prior: str = "student_t"
    noise_variance: float | None = None
    prior_scale: float | None = None
    df: float = 3.0
    inference: str | Callable[..., Posterior] | None = None
    fit_intercept: bool = True
    max_iter: int = 200
    tol: float = 1e-5
    random_state: RandomState = None
    hyperparameters: str = "integrated"

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
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
        checks.choice("hyperparameters", self.hyperparameters, HYPERPARAMETERS)

    @property
    def engine(self) -> Callable[..., Posterior]:
        """The inference that runs."""
        name = DEFAULT_INFERENCE[self.prior] if self.inference is None else self.inference
        return getattr(inference, name) if isinstance(name, str) else name

    @property
    def free(self) -> np.ndarray:
        """(2,) which of noise variance and prior scale are learnt."""
        return np.array([self.noise_variance is None, self.prior_scale is None])


class SparseProblem:
    """The rows as a model of any noise variance and prior scale, and the search for the best ones."""

    def __init__(self, settings: SparseSettings, data: Rows) -> None:
        y = data.y
        self.settings, self.y = settings, y
        self.features = data.features(bool(settings.fit_intercept))
        self.n_weights = data.n_features
        self.spread = float(np.std(y)) or float(np.abs(y).max()) or 1.0
        self.centre = float(np.mean(y))
        unit = sp.eye_array(self.features.shape[1], format="csr")
        self._weights, self._intercept = unit[: self.n_weights], unit[self.n_weights :]
        self.start = np.log([0.5 * self.spread**2, np.sqrt(0.5) * self.spread / data.typical_length])
        for k, value in enumerate((settings.noise_variance, settings.prior_scale)):
            if value is not None:
                self.start[k] = np.log(float(value))

    @property
    def widths(self) -> np.ndarray:
        """(p,) of the priors of what is learnt."""
        return WIDTHS[self.settings.free]

    @property
    def bounds(self) -> np.ndarray:
        """(p, 2) within which it is sought."""
        return (self.start[:, None] + np.array([-REACH, REACH]))[self.settings.free]

    def potential(self, log_scale: float) -> Potential:
        """Prior of the weights."""
        return weight_potential(self.settings.prior, float(np.exp(log_scale)), self.settings.df)

    def model(self, point: np.ndarray) -> GLM:
        """At (ln noise variance, ln prior scale)."""
        groups: list[tuple[Any, Any]] = [(self._weights, self.potential(point[1]))]
        if self.settings.fit_intercept:
            groups.append((self._intercept, Gaussian((BROAD * self.spread) ** 2, self.centre)))
        return GLM(
            self.features,
            self.y,
            float(np.exp(point[0])),
            B=[rows for rows, _ in groups],
            potentials=[potential for _, potential in groups],
        )

    def infer(self, point: np.ndarray, warm: Posterior | None, tol: float | None = None) -> tuple[GLM, Posterior]:
        """The model at a point, and its posterior; at a tolerance ``tol`` on the way to others."""
        settings, model = self.settings, self.model(point)
        bounded = tol is not None and settings.engine is inference.variational_gaussian
        with warnings.catch_warnings():  # a heavy-tailed prior may have several optima: that is in the documentation
            warnings.filterwarnings("ignore", message=".*several optima")
            if bounded:
                warnings.simplefilter("ignore", ConvergenceWarning)
            posterior = settings.engine(
                model,
                max_iter=min(settings.max_iter, MOST) if bounded else settings.max_iter,
                tol=settings.tol if tol is None else tol,
                random_state=settings.random_state,
                warm_start=warm,
            )
        return model, returned(posterior)

    def slope(self, model: GLM, posterior: Posterior, point: np.ndarray) -> np.ndarray:
        """Derivatives of the log evidence in (ln noise variance, ln prior scale)."""
        residual = self.y - self.features @ posterior.mean
        square = float(residual @ residual) + float(np.sum(posterior.variances(self.features)))
        by_noise = 0.5 * (square / np.exp(point[0]) - len(self.y))
        low, high = (self.potential(point[1] + side * STEP / 2) for side in (-1.0, 1.0))
        if self.settings.prior == "gaussian":
            weights = posterior.mean[: self.n_weights] ** 2 + posterior.variances()[: self.n_weights]
            return np.array([by_noise, float(np.sum(weights)) / np.exp(2 * point[1]) - self.n_weights])
        return np.array([by_noise, inference.potential_gradient(model, posterior, 0, low, high, STEP)])

    def log_prior(self, values: np.ndarray) -> np.ndarray:
        """Log prior densities of what is learnt, at points (..., p)."""
        return log_prior(values, self.start[self.settings.free], self.widths)

    def point(self, values: np.ndarray) -> np.ndarray:
        """The whole theta, of what is learnt."""
        point = self.start.copy()
        point[self.settings.free] = values
        return point

    def evaluate(self, values: np.ndarray, warm: Posterior | None, rough: bool) -> Evaluation:
        """ln f and its slopes in what is learnt."""
        free, point = self.settings.free, self.point(values)
        model, posterior = self.infer(point, warm, max(self.settings.tol, ROUGH))
        slope = self.slope(model, posterior, point)[free] - (values - self.start[free]) / self.widths**2
        return Evaluation(posterior, posterior.log_evidence + float(self.log_prior(values)), slope)

    def top(self, start: np.ndarray | None = None, warm: Posterior | None = None) -> Maximum:
        """Top of f in what is learnt, climbing from a whole theta; None: from the start."""
        begin = np.clip((self.start if start is None else start)[self.settings.free], *self.bounds.T)
        return maximise(self.evaluate, begin, self.bounds, iteration=CLIMB, warm_start=warm)
