"""Belief about a linear function of few weights, its outcomes with Gaussian noise:

y = X w + b + noise,    q(w, b) Gaussian,    noise variance and prior scale where the evidence is largest.
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
from adaptive.estimators.belief import Inferred, Settings, returned
from adaptive.estimators.rows.leave_one_out import LeaveOneOut, log_scores
from adaptive.estimators.rows.linear_predictive import linear_predictive, with_intercept
from adaptive.estimators.rows.training import Rows
from adaptive.estimators.rows.weight_priors import PRIORS, weight_potential, weight_variance
from adaptive.inference import GLM, Posterior
from adaptive.inference.evidence.maximise import LBFGS, Evaluation, maximise
from adaptive.potentials import Gaussian
from adaptive.predictive import GaussianProjections

if TYPE_CHECKING:
    from adaptive.potentials import Potential
    from adaptive.types import Matrix, RandomState, State

__all__ = ["SparseBelief", "SparseSettings"]

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

    @property
    def engine(self) -> Callable[..., Posterior]:
        """The inference that runs."""
        name = DEFAULT_INFERENCE[self.prior] if self.inference is None else self.inference
        return getattr(inference, name) if isinstance(name, str) else name


@dataclass(frozen=True, eq=False)
class SparseBelief(Inferred):
    """A Gaussian over weights and, last, the intercept.

    Attributes
    ----------
    settings : SparseSettings
    data : Rows
    posterior : Posterior
    noise_variance, prior_scale : float
        Given, or fitted.
    """

    settings: SparseSettings
    data: Rows
    posterior: Posterior
    noise_variance: float
    prior_scale: float

    @classmethod
    def learnt(cls, settings: SparseSettings, data: Rows, earlier: SparseBelief | None = None) -> SparseBelief:
        """Fit at the given parameters, or where the evidence is largest; from where the ``earlier`` belief was."""
        problem, warm = _Problem(settings, data), None
        start = problem.start
        if earlier is not None:
            start, warm = np.log([earlier.noise_variance, earlier.prior_scale]), earlier.posterior
        given = (settings.noise_variance, settings.prior_scale)
        for k, value in enumerate(given):
            if value is not None:
                start[k] = np.log(float(value))
        point, posterior = problem.learnt(start, np.array([value is None for value in given]), warm)
        noise, scale = (float(value) for value in np.exp(point))
        return cls(settings, data, posterior, noise, scale)

    @property
    def n_iter(self) -> int:
        """Iterations of the last inference; at least 1, as scikit-learn wants it."""
        return max(1, self.posterior.n_iter)

    def features(self, rows: Matrix) -> Matrix:
        """The rows with the constant feature of the intercept."""
        return with_intercept(rows) if self.settings.fit_intercept else rows

    @property
    def left_out(self) -> LeaveOneOut | None:
        """Log densities of the training rows without themselves."""
        marginals = self.posterior.projection_moments(self.features(self.data.X))
        scores = log_scores(self.posterior, Gaussian(self.noise_variance, self.data.y), marginals)
        return None if scores is None else LeaveOneOut(None, scores)

    def predictive(
        self, rows: Matrix, *, target: Matrix | None = None, random_state: RandomState = None
    ) -> GaussianProjections:
        """Rows: jointly Gaussian, the noise apart."""
        return linear_predictive(
            self.posterior,
            rows,
            Gaussian(self.noise_variance),
            target=target,
            intercept=bool(self.settings.fit_intercept),
            random_state=random_state,
            measured=self.data.X,
        )

    @classmethod
    def prior_predictive(
        cls, settings: SparseSettings, rows: Matrix, *, target: Matrix | None = None, random_state: RandomState = None
    ) -> GaussianProjections:
        """The same before any fit; what would be fitted by evidence counts as 1."""
        scale = 1.0 if settings.prior_scale is None else float(settings.prior_scale)
        intercept = bool(settings.fit_intercept)
        variance = weight_variance(settings.prior, scale, settings.df)
        variances = np.append(np.full(rows.shape[1], variance), [BROAD**2] * intercept)
        return GaussianProjections.from_rows(
            with_intercept(rows) if intercept else rows,
            np.zeros(len(variances)),
            covariance=variances,
            likelihood=Gaussian(1.0 if settings.noise_variance is None else float(settings.noise_variance)),
            target=with_intercept(target) if intercept and target is not None else target,
            random_state=random_state,
        )

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        return {
            "noise_variance": self.noise_variance,
            "prior_scale": self.prior_scale,
            "posterior": inference.posterior_state(self.posterior),
        }

    @classmethod
    def from_state(cls, settings: SparseSettings, data: Rows, state: State) -> SparseBelief:
        """The belief that ``state`` described."""
        noise, scale = float(state["noise_variance"]), float(state["prior_scale"])
        model = _Problem(settings, data).model(np.log([noise, scale]))
        return cls(settings, data, inference.restored_posterior(model, state["posterior"]), noise, scale)


class _Problem:
    """The rows as a model of any noise variance and prior scale, and the search for the best ones."""

    def __init__(self, settings: SparseSettings, data: Rows) -> None:
        y = data.y
        self.settings, self.y = settings, y
        self.features = data.features(bool(settings.fit_intercept))
        self.n_weights = data.n_features
        self.spread = float(np.std(y)) or float(np.abs(y).max()) or 1.0
        self.centre = float(np.mean(y))
        # half of the outcomes' variance is noise, half of it what a typical row makes of the weights
        self.start = np.log([0.5 * self.spread**2, np.sqrt(0.5) * self.spread / data.typical_length])

    def potential(self, log_scale: float) -> Potential:
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

    def learnt(self, start: np.ndarray, free: np.ndarray, warm: Posterior | None) -> tuple[np.ndarray, Posterior]:
        """Point where the evidence is largest in the free parameters, and the posterior there."""
        point, last = start.copy(), warm
        if free.any():
            lowest = np.log(SMALLEST_NOISE * self.spread**2)
            bounds = np.array([(lowest, start[0] + 10.0), (start[1] - 15.0, start[1] + 15.0)])[free]

            def evaluate(values: np.ndarray, warm_start: Posterior | None, rough: bool) -> Evaluation:
                at = start.copy()
                at[free] = values
                model, posterior = self.infer(at, warm_start, max(self.settings.tol, ROUGH))
                return Evaluation(posterior, posterior.log_evidence, self.slope(model, posterior, at)[free])

            found = maximise(evaluate, start[free], bounds, iteration=CLIMB, warm_start=warm)
            point[free], last = found.point, found.posterior
        return point, self.infer(point, last)[1]
