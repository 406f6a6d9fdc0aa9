"""Belief about a linear function of few weights, its outcomes with Gaussian noise:

y = X w + b + noise,    q(w, b) Gaussian,    noise variance and prior scale given, or the most probable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import inference
from adaptive.estimators.belief import Inferred
from adaptive.estimators.linear.sparse_problem import BROAD, SparseProblem, SparseSettings
from adaptive.estimators.rows.leave_one_out import LeaveOneOut, log_scores
from adaptive.estimators.rows.linear_predictive import linear_predictive, with_intercept
from adaptive.estimators.rows.training import Rows
from adaptive.estimators.rows.weight_priors import weight_variance
from adaptive.estimators.searches import due, highest
from adaptive.inference import Posterior
from adaptive.potentials import Gaussian
from adaptive.predictive import GaussianProjections

if TYPE_CHECKING:
    from adaptive.inference.evidence.maximise import Maximum
    from adaptive.types import Matrix, RandomState, State

__all__ = ["SparseBelief", "searched"]


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
    searched_rows : int
        How many rows there were when these were last sought from the start.
    """

    settings: SparseSettings
    data: Rows
    posterior: Posterior
    noise_variance: float
    prior_scale: float

    searched_rows: int

    @classmethod
    def learnt(cls, settings: SparseSettings, data: Rows, earlier: SparseBelief | None = None) -> SparseBelief:
        """Fit at the given parameters, or where evidence times prior is largest; warm from an ``earlier`` belief."""
        problem = SparseProblem(settings, data)
        if not settings.free.any():
            warm = None if earlier is None else earlier.posterior
            return cls.at(problem, data, np.zeros(0), warm, len(data))
        top, rows = searched(problem, data, earlier, earlier)
        return cls.at(problem, data, top.point, top.posterior, rows)

    @classmethod
    def at(
        cls, problem: SparseProblem, data: Rows, values: np.ndarray, warm: Posterior | None, rows: int
    ) -> SparseBelief:
        """The belief at these values of what is learnt, warm from a posterior nearby."""
        point = problem.point(values)
        noise, scale = (float(value) for value in np.exp(point))
        return cls(problem.settings, data, problem.infer(point, warm)[1], noise, scale, rows)

    @property
    def point(self) -> np.ndarray:
        """(ln noise variance, ln prior scale)."""
        return np.log([self.noise_variance, self.prior_scale])

    @property
    def n_iter(self) -> int:
        """Iterations of the last inference; at least 1, as scikit-learn wants it."""
        return max(1, self.posterior.n_iter)

    def features(self, rows: Matrix) -> Matrix:
        """The rows with the constant feature of the intercept."""
        return with_intercept(rows) if self.settings.fit_intercept else rows

    def moments(self, rows: Matrix) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances (m,) of outcomes, noise included."""
        mean, variance = self.posterior.projection_moments(self.features(rows))
        return mean, variance + self.noise_variance

    def log_predictive(self, rows: Matrix, y: np.ndarray) -> np.ndarray:
        """(m,) natural-log predictive densities of outcomes."""
        mean, variance = self.moments(rows)
        return -0.5 * ((y - mean) ** 2 / variance + np.log(2 * np.pi * variance))

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
            "searched_rows": self.searched_rows,
            "posterior": inference.posterior_state(self.posterior),
        }

    @classmethod
    def from_state(cls, settings: SparseSettings, data: Rows, state: State) -> SparseBelief:
        """The belief that ``state`` described."""
        noise, scale = float(state["noise_variance"]), float(state["prior_scale"])
        model = SparseProblem(settings, data).model(np.log([noise, scale]))
        posterior = inference.restored_posterior(model, state["posterior"])
        return cls(settings, data, posterior, noise, scale, int(state["searched_rows"]))


def searched(problem: SparseProblem, data: Rows, earlier: Any, near: SparseBelief | None) -> tuple[Maximum, int]:
    """Return the higher of the tops that are found from an earlier belief's and, where due, from the start.

    And how many rows there were when the start was last searched. ``near`` is what the earlier belief has at its top.
    """
    if near is None:
        return problem.top(), len(data)
    known, before = len(near.data), near.point
    searches = [lambda: problem.top(before, near.posterior)]
    rows = near.searched_rows
    if due(len(data), rows, lambda: earlier.predictive(data.X[known:]), data.y[known:]):
        searches, rows = [problem.top, *searches], len(data)
    return highest(searches, lambda top: top.value), rows
