"""What is believed about two classes: one latent per row,

p(y | x, w, b) = link(y (w . x + b)),    w ~ prior(scale),    q(w, b) = N(mean, covariance) by approximation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from adaptive import inference
from adaptive.estimators.linear.evidence_slope import evidence_slope
from adaptive.estimators.linear.labelled import Labelled
from adaptive.estimators.linear.linear_predictive import block_wise_predictive, linear_predictive, with_intercept
from adaptive.estimators.linear.pool_marginals import KeptPool, KeptRows, PoolMarginals
from adaptive.estimators.linear.prior_scale import Evaluation, maximise
from adaptive.estimators.linear.settings import INTERCEPT_SCALE, LARGEST_TYPICAL_LATENT, Settings
from adaptive.estimators.linear.training import Training
from adaptive.inference import GLM, IncludedPosterior
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian
from adaptive.potentials.weighted import Weighted
from adaptive.predictive import GaussianProjections, Predictive

__all__ = ["BinaryBelief"]

LINKS = {"logit": BernoulliLogit, "probit": BernoulliProbit}
ROUGH = 1e-2  # tolerance while the prior scale is still being sought
STATIONARY = ("expectation_propagation", "variational_bounds")  # a rough fit has a good slope already


class BinaryBelief:
    """A Gaussian over weights and intercept, by any engine of :mod:`adaptive.inference`.

    Parameters
    ----------
    settings : Settings
    posterior : Posterior over the weights and, last, the intercept
    prior_scale : float
    n_classes : {1, 2}
        Classes known so far; a lone one is +1.
    measured : (n, n_features) rows learnt from
    scale_rows : int
        How many of them the prior scale was learnt from.
    """

    def __init__(
        self, settings: Settings, posterior: Any, prior_scale: float, n_classes: int, measured: Any, scale_rows: int
    ) -> None:
        self.settings, self.posterior, self.measured = settings, posterior, measured
        self.prior_scale, self.n_classes, self.scale_rows = prior_scale, n_classes, scale_rows
        self._kept = KeptPool()

    log_evidence = property(lambda self: self.posterior.log_evidence)
    evidence_kind = property(lambda self: self.posterior.evidence_kind)
    objective_trace = property(lambda self: self.posterior.objective_trace)
    n_iter = property(lambda self: self.posterior.n_iter)
    converged = property(lambda self: self.posterior.converged)

    # -- learning ------------------------------------------------------------------------------------------------------

    @classmethod
    def learnt(cls, settings: Settings, training: Training, earlier: Any = None) -> BinaryBelief:
        """Fit at the given prior scale, or at the one of the highest evidence; warm from an ``earlier`` belief.

        With ``update="inclusion"`` the rows that are new to the earlier belief are included one by one, with one step
        of the engine after every block; a prior scale is learnt again when there are twice as many rows.
        """
        warm = isinstance(earlier, BinaryBelief) and earlier.n_classes == training.n_classes
        if (
            warm
            and settings.update == "inclusion"
            and not (settings.prior_scale is None and len(training) >= 2 * earlier.scale_rows)
        ):
            return earlier._including(training)
        start = earlier.posterior if warm else None
        problem = _Problem(settings, training)
        if settings.prior_scale is not None:
            scale = float(settings.prior_scale)
            posterior = settings.infer(problem.model(scale), start)
        else:
            centre = float(np.log(LARGEST_TYPICAL_LATENT / training.typical_length))
            log_scale, found = maximise(
                problem.evaluate, float(np.log(earlier.prior_scale)) if warm else centre, centre, warm_start=start
            )
            scale, posterior = float(np.exp(log_scale)), found.posterior
        return cls(settings, posterior, scale, training.n_classes, training.X, len(training))

    def _including(self, training: Training) -> BinaryBelief:
        """The belief after the rows that are new to it."""
        settings, posterior = self.settings, self.posterior
        problem = _Problem(settings, training)
        engine = posterior.engine
        for j in range(posterior.group_lengths[0], len(training)):
            site = "bound" if engine == "variational_bounds" else "moments"
            posterior = inference.include(posterior, problem.features[[j]], problem.likelihood[j : j + 1], site=site)
            if posterior.n_included >= settings.block_size:
                model = _Problem(settings, training.first(j + 1)).model(self.prior_scale)
                posterior = settings.one_step(model, posterior)
        after = BinaryBelief(settings, posterior, self.prior_scale, self.n_classes, training.X, self.scale_rows)
        after._kept = self._kept
        return after

    # -- belief --------------------------------------------------------------------------------------------------------

    @staticmethod
    def unfitted_predictive(
        settings: Settings, rows: Any, labels: Any, *, target: Any = None, random_state: Any = None
    ) -> Predictive:
        """The predictive of the prior; ``labels`` are the two classes, or None."""
        variances = settings.prior_variances(rows.shape[1])
        if settings.fit_intercept:
            rows, target = with_intercept(rows), None if target is None else with_intercept(target)
        return GaussianProjections.from_rows(
            rows,
            np.zeros(len(variances)),
            covariance=variances,
            likelihood=_family(settings, labels),
            target=target,
            random_state=random_state,
        )

    def predictive(self, rows: Any, labels: Any, *, target: Any = None, random_state: Any = None) -> Predictive:
        """Gaussian latents of the rows, with the classes' ``labels`` as outcomes (None: -1 and +1)."""
        family = _family(self.settings, labels)
        if isinstance(rows, KeptRows):
            return block_wise_predictive(
                self.posterior,
                rows.mean,
                np.maximum(rows.variance, 0.0),
                lambda i: self._features(rows.rows_at(i)),
                family,
                target=None if target is None else self._features(target),
                random_state=random_state,
                features=rows.rows,
                measured=self.measured,
            )
        return linear_predictive(
            self.posterior,
            rows,
            family,
            target=target,
            intercept=bool(self.settings.fit_intercept),
            random_state=random_state,
            measured=self.measured,
        )

    def marginals(self, pool: Any, table: Callable[[], Any], keep: bool = True) -> PoolMarginals:
        """Marginals of a pool whose checked rows ``table`` returns; kept for the next call about the same pool."""
        holder = self._kept if keep else KeptPool()
        return holder.followed(pool, table, bool(self.settings.fit_intercept), self.posterior)

    def probabilities(self, rows: Any) -> np.ndarray:
        """(m, n_classes) predictive probabilities."""
        if self.n_classes == 1:
            return np.ones((rows.shape[0], 1))
        mean, variance = self.posterior.projection_moments(self._features(rows))
        return LINKS[self.settings.link]().outcome_probabilities(mean, variance)[1]

    def winners(self, rows: Any) -> np.ndarray:
        """(m,) codes of the more probable class: the sign of the mean latent."""
        if self.n_classes == 1:
            return np.zeros(rows.shape[0], dtype=int)
        return (self._features(rows) @ self.posterior.mean > 0).astype(int)

    def coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """Posterior means of the weights (1, n_features) and of the intercept (1,), 0 without one."""
        n_weights = self.posterior.n - bool(self.settings.fit_intercept)
        mean = self.posterior.mean
        return mean[None, :n_weights], mean[n_weights:] if self.settings.fit_intercept else np.zeros(1)

    def _features(self, rows: Any) -> Any:
        return with_intercept(rows) if self.settings.fit_intercept else rows

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Plain data from which ``restored`` makes this belief again, to the last bit."""
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
    def restored(cls, settings: Settings, training: Training, state: dict[str, Any]) -> BinaryBelief:
        """The belief that ``state`` described."""
        scale, sites = float(state["prior_scale"]), np.asarray(state["included"], dtype=float)
        problem, first = _Problem(settings, training), len(training) - len(sites)
        model = _Problem(settings, training.first(first)).model(scale)
        posterior = inference.restored_posterior(model, state["posterior"])
        for j, (pi, nu, gain) in zip(range(first, len(training)), sites, strict=True):
            posterior = inference.include_site(posterior, problem.features[[j]], pi, nu, gain)
        return cls(settings, posterior, scale, training.n_classes, training.X, int(state["scale_rows"]))


class _Problem:
    """Features and signs of the training rows, as models of any prior scale."""

    def __init__(self, settings: Settings, training: Training) -> None:
        self.settings = settings
        self.features = training.features(bool(settings.fit_intercept))
        signs = np.where(training.codes == training.n_classes - 1, 1.0, -1.0)
        self.likelihood: Any = LINKS[settings.link](signs)
        if training.weights is not None:
            self.likelihood = Weighted(self.likelihood, training.weights)

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

    def evaluate(self, log_scale: float, warm: Any, rough: bool) -> Evaluation:
        """Evidence and its slope in ln scale."""
        settings = self.settings
        rough = rough and settings.inference in STATIONARY and settings.prior != "student_t"
        scale = float(np.exp(log_scale))
        model = self.model(scale)
        posterior = settings.infer(model, warm, max(settings.tol, ROUGH) if rough else settings.tol)
        n_weights = model.n - bool(settings.fit_intercept)
        slope, determined = evidence_slope(model, posterior, settings, scale, n_weights)
        return Evaluation(posterior, posterior.log_evidence, slope, max(determined, 0.0))


def _family(settings: Settings, labels: Any) -> Any:
    family: Any = LINKS[settings.link]()
    return family if labels is None or len(labels) != 2 else Labelled(family, np.asarray(labels))
