"""Belief about two classes: one latent per row,

p(y | x, w, b) = link(y (w . x + b)),    w ~ prior(scale),    q(w, b) = N(mean, covariance) by approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from adaptive import inference
from adaptive.estimators.belief import Inferred
from adaptive.estimators.linear.pool_marginals import KeptPool, KeptRows, PoolMarginals
from adaptive.estimators.linear.scale_slopes import weight_scale_slope
from adaptive.estimators.linear.settings import INTERCEPT_SCALE, LARGEST_TYPICAL_LATENT, SETTLED, LogisticSettings
from adaptive.estimators.rows.labels import LINKS, labelled
from adaptive.estimators.rows.leave_one_out import LeaveOneOut, cavities, left_out
from adaptive.estimators.rows.linear_predictive import (
    block_wise_predictive,
    linear_predictive,
    products_with,
    with_intercept,
)
from adaptive.estimators.rows.training import LabelledRows, labels_of
from adaptive.estimators.searches import due
from adaptive.inference import GLM, IncludedPosterior, Posterior
from adaptive.inference.evidence.maximise import Evaluation, LogNormal, Newton, maximise
from adaptive.inference.inclusion import include_together
from adaptive.potentials import Flipped, Gaussian
from adaptive.potentials.weighted import Weighted
from adaptive.predictive import GaussianProjections, Predictive

if TYPE_CHECKING:
    from adaptive.potentials.likelihood import Likelihood
    from adaptive.predictive.joint_gaussian import Moment
    from adaptive.types import Matrix, Pool, RandomState, State

__all__ = ["BinaryBelief", "Problem"]

ROUGH = 1e-2  # tolerance while the prior scale is still being sought
STATIONARY = ("expectation_propagation", "variational_bounds")  # a rough fit has a good slope already


@dataclass(frozen=True, eq=False)
class BinaryBelief(Inferred):
    """A Gaussian over weights and intercept, by any engine of :mod:`adaptive.inference`.

    Attributes
    ----------
    settings : LogisticSettings
    data : LabelledRows
        Of one or two classes; a lone one is +1.
    posterior : Posterior over the weights and, last, the intercept
    prior_scale : float
    scale_rows : int
        From how many rows the prior scale was fitted.
    """

    settings: LogisticSettings
    data: LabelledRows
    posterior: Posterior
    prior_scale: float
    scale_rows: int
    _kept: KeptPool = field(default_factory=KeptPool, repr=False)

    # -- learning ------------------------------------------------------------------------------------------------------

    @classmethod
    def learnt(cls, settings: LogisticSettings, data: LabelledRows, earlier: object = None) -> BinaryBelief:
        """Fit at the given prior scale, or at the one of the highest evidence; warm from an ``earlier`` belief.

        With ``update="inclusion"`` the rows that are new to the earlier belief are included one by one, with one step
        of the engine after every block; a prior scale is fitted again when there are a quarter more rows.
        """
        before = earlier if isinstance(earlier, BinaryBelief) and earlier.data.n_classes == data.n_classes else None
        if (
            before is not None
            and settings.includes(data, len(data) - len(before.data))
            and not (settings.prior_scale is None and due(len(data), before.scale_rows, None, ()))
        ):
            return before.including(settings, data)
        start = None if before is None else before.posterior
        problem = Problem(settings, data)
        if settings.prior_scale is not None:
            scale = float(settings.prior_scale)
            posterior = settings.infer(problem.model(scale), start)
        else:
            centre = float(np.log(LARGEST_TYPICAL_LATENT / data.typical_length))
            found = maximise(
                problem.evaluate,
                centre if before is None else float(np.log(before.prior_scale)),
                prior=LogNormal(centre),
                iteration=Newton(SETTLED),
                warm_start=start,
            )
            scale, posterior = float(np.exp(found.point)), found.posterior
        return cls(settings, data, posterior, scale, len(data))

    def including(self, settings: LogisticSettings, data: LabelledRows) -> BinaryBelief:
        """The belief after the rows that are new to it."""
        return self.all_including([self], settings, data)[0]

    @staticmethod
    def all_including(
        beliefs: Sequence[BinaryBelief], settings: LogisticSettings, data: LabelledRows
    ) -> list[BinaryBelief]:
        """Beliefs about the same rows, at scales of their own, after those that are new to them."""
        posteriors: list[Any] = [belief.posterior for belief in beliefs]
        problem = Problem(settings, data)
        site = "bound" if posteriors[0].engine == "variational_bounds" else "moments"
        for j in range(posteriors[0].group_lengths[0], len(data)):
            posteriors = list(
                include_together(posteriors, problem.features[[j]], problem.likelihood[j : j + 1], site=site)
            )
            for k, belief in enumerate(beliefs):
                if posteriors[k].n_included >= settings.block_size:
                    model = Problem(settings, data.first(j + 1)).model(belief.prior_scale)
                    posteriors[k] = settings.one_step(model, posteriors[k])
        return [
            BinaryBelief(settings, data, posterior, belief.prior_scale, belief.scale_rows, belief._kept)
            for belief, posterior in zip(beliefs, posteriors, strict=True)
        ]

    # -- belief --------------------------------------------------------------------------------------------------------

    @classmethod
    def prior_predictive(
        cls, settings: LogisticSettings, rows: Matrix, *, target: Matrix | None = None, random_state: RandomState = None
    ) -> Predictive:
        """The predictive of the prior; outcomes are the two classes, -1 and +1 where they are not known."""
        variances = settings.prior_variances(rows.shape[1])
        if settings.fit_intercept:
            rows, target = with_intercept(rows), None if target is None else with_intercept(target)
        return GaussianProjections.from_rows(
            rows,
            np.zeros(len(variances)),
            covariance=variances,
            likelihood=_family(settings, labels_of(settings.classes)),
            target=target,
            random_state=random_state,
        )

    @property
    def labelled_family(self) -> Likelihood:
        """The likelihood of the classes, -1 and +1 where fewer than two are known."""
        return _family(self.settings, self.data.labels)

    def predictive(
        self,
        rows: Matrix | KeptRows,
        *,
        target: Matrix | None = None,
        random_state: RandomState = None,
        family: Likelihood | None = None,
        moments: tuple[Moment, Moment] | None = None,
        root: np.ndarray | None = None,
    ) -> Predictive:
        """Gaussian latents of the rows, with the classes as outcomes.

        Where several nodes are asked about the same rows: the ``family`` that they share, moments of the rows, and a
        root of the posterior's covariance.
        """
        family = self.labelled_family if family is None else family
        if isinstance(rows, KeptRows):
            return block_wise_predictive(
                self.posterior,
                rows.mean[:, 0],
                np.maximum(rows.variance[:, 0], 0.0),
                lambda i: self._features(rows.rows_at(i)),
                family,
                target=None if target is None else self._features(target),
                random_state=random_state,
                along=lambda i, vectors: products_with(rows.rows(), i, vectors, bool(self.settings.fit_intercept)),
                features=rows.rows,
                measured=self.data.X,
            )
        return linear_predictive(
            self.posterior,
            rows,
            family,
            target=target,
            intercept=bool(self.settings.fit_intercept),
            random_state=random_state,
            moments=moments,
            root=root,
            measured=self.data.X,
        )

    def marginals(self, pool: Pool, table: Callable[[], Matrix], keep: bool = True) -> PoolMarginals:
        """Marginals of a pool whose checked rows ``table`` returns; kept for the next call about the same pool."""
        holder = self._kept if keep else KeptPool()
        return holder.followed(pool, table, bool(self.settings.fit_intercept), [self.posterior])

    def probabilities(self, rows: Matrix, gamma: float = 1.0) -> np.ndarray:
        """(m, n_classes) predictive probabilities, of latents whose variances are ``gamma`` times those believed."""
        if self.data.n_classes == 1:
            return np.ones((rows.shape[0], 1))
        mean, variance = self.posterior.projection_moments(self._features(rows))
        return self.of_moments(mean, gamma * variance)

    def of_moments(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """(m, n_classes) probabilities of latents with these moments."""
        if self.data.n_classes == 1:
            return np.ones((len(mean), 1))
        return self.family.outcome_probabilities(mean, variance)[1]

    @property
    def family(self) -> Likelihood:
        """The likelihood of -1 and +1."""
        return LINKS[self.settings.link]()

    @cached_property
    def left_out(self) -> LeaveOneOut | None:
        """Predictions of the training rows without themselves; None where there are no cavities."""
        if not self.has_cavities:
            return None
        moments = cavities(self.posterior, self.data.features(bool(self.settings.fit_intercept)), self.data.weights)
        return left_out(np.ones(1), [moments], self.family, self.data.codes)

    @property
    def has_cavities(self) -> bool:
        """True of two classes by expectation propagation."""
        return self.data.n_classes == 2 and self.posterior.engine == "expectation_propagation"

    def winners(self, rows: Matrix) -> np.ndarray:
        """(m,) codes of the more probable class: the sign of the mean latent."""
        if self.data.n_classes == 1:
            return np.zeros(rows.shape[0], dtype=int)
        return (self._features(rows) @ self.posterior.mean > 0).astype(int)

    @property
    def scale_evidence(self) -> float:
        """The log evidence that prior scales are compared by."""
        return self.log_evidence

    def scale_slope(self) -> float:
        """Slope of the log evidence in ln prior scale, which engines have that do not say the evidence itself."""
        problem = Problem(self.settings, self.data)
        return problem.slope(problem.model(self.prior_scale), self.posterior, self.prior_scale)[0]

    def coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """Posterior means of the weights (1, n_features) and of the intercept (1,), 0 without one."""
        n_weights = self.posterior.n - bool(self.settings.fit_intercept)
        mean = self.posterior.mean
        return mean[None, :n_weights], mean[n_weights:] if self.settings.fit_intercept else np.zeros(1)

    def _features(self, rows: Matrix) -> Matrix:
        return with_intercept(rows) if self.settings.fit_intercept else rows

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        posterior, sites = self.posterior, np.empty((0, 3))
        if isinstance(posterior, IncludedPosterior):
            sites = np.array([[update.pi, update.nu, update.gain] for update in posterior.updates])
            posterior = posterior.base
        return {
            "prior_scale": self.prior_scale,
            "scale_rows": self.scale_rows,
            "posterior": inference.posterior_state(posterior),
            "included": sites,
        }

    @classmethod
    def from_state(cls, settings: LogisticSettings, data: LabelledRows, state: State) -> BinaryBelief:
        """The belief that ``state`` described."""
        scale, sites = float(state["prior_scale"]), np.asarray(state["included"], dtype=float)
        problem, first = Problem(settings, data), len(data) - len(sites)
        model = Problem(settings, data.first(first)).model(scale)
        posterior = inference.restored_posterior(model, state["posterior"])
        for j, (pi, nu, gain) in zip(range(first, len(data)), sites, strict=True):
            posterior = inference.include_site(posterior, problem.features[[j]], pi, nu, gain)
        return cls(settings, data, posterior, scale, int(state["scale_rows"]))


class Problem:
    """Features and signs of the training rows, as models of any prior scale."""

    def __init__(self, settings: LogisticSettings, data: LabelledRows) -> None:
        self.settings = settings
        self.features = data.features(bool(settings.fit_intercept))
        self.signs = np.where(data.codes == data.n_classes - 1, 1.0, -1.0)
        self.likelihood: Any = LINKS[settings.link](self.signs)
        if data.said is not None:
            evidence = data.evidence
            rates = evidence[:, 0], evidence[:, 1]
            self.likelihood = Flipped(LINKS[settings.link](), rates, np.ones(len(evidence)))
        if data.weights is not None:
            self.likelihood = Weighted(self.likelihood, data.weights)

    def model(self, scale: float) -> GLM:
        settings, n = self.settings, self.features.shape[1]
        n_weights = n - bool(settings.fit_intercept)
        if settings.prior == "gaussian":
            variances = settings.prior_variances(n_weights, scale)
            return GLM(B=self.features, potentials=self.likelihood, prior_covariance=variances)
        unit = sp.eye_array(n, format="csr")
        groups: list[tuple[Any, Any]] = [
            (self.features, self.likelihood),
            (unit[:n_weights], settings.weight_potential(scale)),
        ]
        if settings.fit_intercept:
            groups.append((unit[n_weights:], Gaussian(INTERCEPT_SCALE**2)))
        return GLM(B=[rows for rows, _ in groups], potentials=[potential for _, potential in groups])

    def evaluate(self, log_scale: float, warm: Posterior | None, rough: bool) -> Evaluation:
        """Evidence and its slope in ln scale."""
        settings = self.settings
        rough = rough and settings.inference in STATIONARY and settings.prior != "student_t"
        scale = float(np.exp(log_scale))
        model = self.model(scale)
        posterior = settings.infer(model, warm, max(settings.tol, ROUGH) if rough else settings.tol)
        slope, determined = self.slope(model, posterior, scale)
        return Evaluation(posterior, posterior.log_evidence, slope, max(determined, 0.0))

    def slope(self, model: GLM, posterior: Posterior, scale: float) -> tuple[float, float]:
        """Slope of the evidence in ln scale, and how many weights the rows determine."""
        return weight_scale_slope(
            model,
            posterior,
            scale,
            model.n - bool(self.settings.fit_intercept),
            potential=None if self.settings.prior == "gaussian" else self.settings.weight_potential,
            intercept_variance=INTERCEPT_SCALE**2,
        )


def _family(settings: LogisticSettings, labels: np.ndarray | None) -> Likelihood:
    return labelled(LINKS[settings.link](), labels)
