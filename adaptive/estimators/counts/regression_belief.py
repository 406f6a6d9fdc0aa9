"""Belief about counts of rows:

y ~ Poisson(exposure rate(x . w + b)),    w ~ prior(scale),    q(w, b) Gaussian by approximation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from adaptive import checks, inference
from adaptive.estimators.belief import Inferred, Settings, returned
from adaptive.estimators.counts.exposure import CountRows, Exposed, check_column
from adaptive.estimators.rows.leave_one_out import LeaveOneOut, log_scores, without_sites
from adaptive.estimators.rows.linear_predictive import linear_predictive, with_intercept
from adaptive.estimators.rows.weight_priors import PRIORS, weight_potential, weight_variance
from adaptive.estimators.scatter import LeftOut, Scatter, Scattering, Widening
from adaptive.inference import GLM, Posterior
from adaptive.inference.compatibility import refusal
from adaptive.inference.evidence.maximise import Evaluation, LogNormal, Newton, maximise
from adaptive.potentials import Gaussian, Poisson
from adaptive.potentials.poisson import LARGEST_COUNT
from adaptive.predictive import GaussianProjections

if TYPE_CHECKING:
    from adaptive.potentials import Potential
    from adaptive.types import Number, RandomState, State

__all__ = ["ENGINES", "RATES", "RegressionBelief", "RegressionSettings", "inverse_rate", "typical_change"]

RATES = ("exp", "rectified", "softplus")
ENGINES = ("expectation_propagation", "laplace_approximation", "variational_gaussian")
BROAD = 3.0  # prior standard deviation of the intercept: in log rates, or in typical rates
STEP = 1e-4  # in ln scale
CLOSE = 1e-3  # nats, to which the scale is learnt: whatever the order of the rows


def inverse_rate(rate: str, value: float) -> float:
    """Return the projection whose rate is ``value``."""
    if rate == "exp":
        return float(np.log(value))
    return value if rate == "rectified" or value > 40 else float(np.log(np.expm1(value)))


def typical_change(rate: str, value: float) -> float:
    """Return by how much projections differ where rates about ``value`` differ noticeably.

    Of "exp" by 1, of "rectified" by the rate; "softplus" is as the one where rates are small, the other where large.
    """
    if rate == "exp":
        return 1.0
    value = max(value, 1e-3)
    return value if rate == "rectified" else float(-value / np.expm1(-value))


@dataclass(frozen=True, eq=False)
class RegressionSettings(Settings):
    """Parameters of :class:`~adaptive.PoissonRegression`, under the same names."""

    rate: str = "exp"
    prior: str = "gaussian"
    prior_scale: float | None = None
    exposure: int | str | None = None
    inference: str | Callable[..., Posterior] | None = None
    fit_intercept: bool = True
    df: float = 3.0
    max_iter: int = 200
    tol: float = 1e-6
    random_state: RandomState = None

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        checks.choice("rate", self.rate, RATES)
        checks.choice("prior", self.prior, PRIORS)
        if self.prior_scale is not None:
            checks.positive("prior_scale", self.prior_scale)
        check_column(self.exposure)
        checks.positive("df", self.df)
        checks.positive("tol", self.tol, or_zero=True)
        checks.integer("max_iter", self.max_iter, minimum=1)
        if self.inference is not None and not callable(self.inference):
            checks.choice("inference", self.inference, ENGINES)
        if self.inference is None and (self.rate, self.prior) == ("rectified", "student_t"):
            raise ValueError(
                'rate="rectified" and prior="student_t" cannot be used together: the rate needs expectation '
                'propagation, which a prior that is not log-concave cannot use; give prior="laplace", or another '
                "rate."
            )
        engine = self.engine_name
        if isinstance(engine, str):
            for potential in (Poisson([1.0], self.rate), weight_potential(self.prior, 1.0, self.df)):
                sentence = refusal(potential, engine)
                if sentence is not None:
                    raise ValueError(sentence)

    @property
    def engine_name(self) -> str | Callable[..., Posterior]:
        """Expectation propagation, but where the variational Gaussian is closed, or the prior is not log-concave."""
        if self.inference is not None:
            return self.inference
        closed = self.rate == "exp" or self.prior == "student_t"
        return "variational_gaussian" if closed else "expectation_propagation"

    @property
    def engine(self) -> Callable[..., Posterior]:
        """The inference that runs."""
        name = self.engine_name
        return getattr(inference, name) if isinstance(name, str) else name

    def intercept(self, rate: float) -> tuple[float, float]:
        """Prior mean and variance of the intercept where ``rate`` is typical."""
        return inverse_rate(self.rate, rate), (BROAD * typical_change(self.rate, rate)) ** 2

    def family(self, exposure: Number) -> Poisson:
        """The family of the outcomes."""
        return Poisson(rate=self.rate, exposure=exposure)

    def observed(self, y: np.ndarray, exposure: Number) -> Poisson:
        """The potentials of the counts; where the rate is smooth, of any y >= 0, as in scikit-learn."""
        if self.rate == "rectified":
            return Poisson(y, self.rate, exposure)
        if (y < 0).any():
            raise ValueError(f"y must be >= 0 (counts), got {float(y.min()):g}.")
        if (y > LARGEST_COUNT).any():
            raise ValueError(f"y must hold counts up to {LARGEST_COUNT:g}, got {float(y.max()):g}.")
        return Poisson.of_weights(y, self.rate, exposure)


@dataclass(frozen=True, eq=False)
class RegressionBelief(Scattering, Inferred):
    """A Gaussian over weights and, last, the intercept.

    Attributes
    ----------
    settings : RegressionSettings
    data : CountRows
    posterior : Posterior
    prior_scale : float
        Given, or fitted.
    """

    settings: RegressionSettings
    data: CountRows
    posterior: Posterior
    prior_scale: float

    @classmethod
    def learnt(
        cls, settings: RegressionSettings, data: CountRows, earlier: RegressionBelief | None = None
    ) -> RegressionBelief:
        """Fit at the given prior scale, or at the one of the highest evidence; warm from an ``earlier`` belief."""
        problem, warm = _Problem(settings, data), None if earlier is None else earlier.posterior
        if settings.prior_scale is not None:
            scale = float(settings.prior_scale)
            return cls(settings, data, problem.infer(problem.model(scale), warm), scale)
        centre = float(np.log(typical_change(settings.rate, data.mean_rate) / data.plain.typical_length))
        start = centre if earlier is None else float(np.log(earlier.prior_scale))
        found = maximise(problem.evaluate, start, prior=LogNormal(centre), iteration=Newton(CLOSE), warm_start=warm)
        return cls(settings, data, found.posterior, float(np.exp(found.point)))

    @property
    def n_iter(self) -> int:
        """Iterations of the last inference; at least 1, as scikit-learn wants it."""
        return max(1, self.posterior.n_iter)

    @property
    def left_out(self) -> LeaveOneOut | None:
        """Log probabilities of the training rows without themselves, by expectation propagation, with the scatter."""
        given, y = self.data.exposed, self.data.y
        observed, moments = self.settings.observed(y, given.exposure), self.moments(given)
        scores = log_scores(self.posterior, observed, moments)
        if scores is None or self._rows_left_out is None:
            return None if scores is None else LeaveOneOut(None, scores)
        pi, nu = self.posterior.sites[0][: len(y)], self.posterior.sites[1][: len(y)]
        weights, scatters = self.possible_scatters
        cavities = without_sites(*moments, pi, nu)
        each = np.array([observed.tilted_moments(*one.of(cavities))[0] for one in scatters])
        return LeaveOneOut(None, logsumexp(each, axis=0, b=weights[:, None]))

    @property
    def scatter(self) -> Scatter | None:  # type: ignore[override]
        """Scatter of counts beyond Poisson's, by the training rows without themselves."""
        return None if self._rows_left_out is None else self._rows_left_out.scatter

    @cached_property
    def possible_scatters(self) -> tuple[np.ndarray, tuple[Widening, ...]]:
        """Scatters that the rows leave possible, and the weight of each."""
        rows = self._rows_left_out
        return (np.ones(1), (Widening(0.0, False),)) if rows is None else rows.possible()

    @cached_property
    def _rows_left_out(self) -> LeftOut | None:
        given, y, sites = self.data.exposed, self.data.y, getattr(self.posterior, "sites", None)
        if sites is None:
            return None
        exposure = np.broadcast_to(np.asarray(given.exposure, dtype=float), y.shape)
        own = sites[0][: len(y)], sites[1][: len(y)]
        return LeftOut.of(lambda at: self.settings.observed(y[at], exposure[at]), self.moments(given), own)

    def scattered(self, given: Exposed) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights (k,), means and variances (k, m) of the projections as counts see them: a mixture over scatters."""
        weights, scatters = self.possible_scatters
        moments = self.moments(given)
        means, variances = zip(*(one.of(moments) for one in scatters), strict=True)
        return weights, np.array(means), np.array(variances)

    def moments(self, given: Exposed) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance (m,) of the projections of rows."""
        features = with_intercept(given.rows) if self.settings.fit_intercept else given.rows
        return self.posterior.projection_moments(features)

    def predictive(
        self, given: Exposed, *, target: Exposed | None = None, random_state: RandomState = None
    ) -> GaussianProjections:
        """The belief about rows: jointly Gaussian projections, and their counts over the exposures."""
        return linear_predictive(
            self.posterior,
            given.rows,
            self.settings.family(given.exposure),
            target=None if target is None else target.rows,
            target_likelihood=None if target is None else self.settings.family(target.exposure),
            intercept=bool(self.settings.fit_intercept),
            random_state=random_state,
            measured=self.data.exposed.rows,
        )

    @classmethod
    def prior_predictive(
        cls,
        settings: RegressionSettings,
        given: Exposed,
        *,
        target: Exposed | None = None,
        random_state: RandomState = None,
    ) -> GaussianProjections:
        """The same before any fit; a scale that is to be fitted counts as 1, the rate of no event as 1."""
        scale = 1.0 if settings.prior_scale is None else float(settings.prior_scale)
        n = given.rows.shape[1]
        mean, variances = np.zeros(n), np.full(n, weight_variance(settings.prior, scale, settings.df))
        if settings.fit_intercept:
            centre, spread = settings.intercept(1.0)
            mean, variances = np.append(mean, centre), np.append(variances, spread)
        return GaussianProjections.from_rows(
            given.rows,
            mean,
            covariance=variances,
            likelihood=settings.family(given.exposure),
            target=None if target is None else target.rows,
            target_likelihood=None if target is None else settings.family(target.exposure),
            intercept=bool(settings.fit_intercept),
            random_state=random_state,
        )

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        return {"prior_scale": self.prior_scale, "posterior": inference.posterior_state(self.posterior)}

    @classmethod
    def from_state(cls, settings: RegressionSettings, data: CountRows, state: State) -> RegressionBelief:
        """The belief that ``state`` described."""
        scale = float(state["prior_scale"])
        model = _Problem(settings, data).model(scale)
        return cls(settings, data, inference.restored_posterior(model, state["posterior"]), scale)


class _Problem:
    """The rows as a model of any prior scale, and its evidence."""

    def __init__(self, settings: RegressionSettings, data: CountRows) -> None:
        self.settings = settings
        self.n_weights = data.exposed.rows.shape[1]
        self.features = data.plain.features(bool(settings.fit_intercept))
        self.likelihood = settings.observed(data.y, data.exposed.exposure)
        self.centre, self.spread = settings.intercept(data.mean_rate)

    def potential(self, log_scale: float) -> Potential:
        """Prior of the weights."""
        return weight_potential(self.settings.prior, float(np.exp(log_scale)), self.settings.df)

    def model(self, scale: float) -> GLM:
        n, intercept = self.features.shape[1], bool(self.settings.fit_intercept)
        if self.settings.prior == "gaussian":
            mean, variances = np.zeros(n), np.full(n, float(scale) ** 2)
            if intercept:
                mean[-1], variances[-1] = self.centre, self.spread
            return GLM(B=self.features, potentials=self.likelihood, prior_mean=mean, prior_covariance=variances)
        unit = sp.eye_array(n, format="csr")
        groups: list[tuple[Any, Any]] = [
            (self.features, self.likelihood),
            (unit[: self.n_weights], self.potential(np.log(scale))),
        ]
        if intercept:
            groups.append((unit[self.n_weights :], Gaussian(self.spread, self.centre)))
        return GLM(B=[rows for rows, _ in groups], potentials=[potential for _, potential in groups])

    def infer(self, model: GLM, warm: Posterior | None) -> Posterior:
        settings = self.settings
        posterior = settings.engine(
            model, max_iter=settings.max_iter, tol=settings.tol, random_state=settings.random_state, warm_start=warm
        )
        return returned(posterior)

    def evaluate(self, log_scale: float, warm: Posterior | None, rough: bool) -> Evaluation:
        """Evidence, its slope in ln scale, and how many weights the data determine."""
        scale = float(np.exp(log_scale))
        model = self.model(scale)
        posterior = self.infer(model, warm)
        mean, variance = posterior.mean[: self.n_weights], posterior.variances()[: self.n_weights]
        prior_variance = weight_variance(self.settings.prior, scale, self.settings.df)
        determined = float(np.sum(1.0 - np.minimum(variance / prior_variance, 1.0)))
        if self.settings.prior == "gaussian":
            slope = float(mean @ mean + variance.sum()) / scale**2 - self.n_weights
        else:
            low, high = (self.potential(log_scale + side * STEP / 2) for side in (-1.0, 1.0))
            slope = inference.potential_gradient(model, posterior, 1, low, high, STEP)
        return Evaluation(posterior, posterior.log_evidence, slope, determined)
