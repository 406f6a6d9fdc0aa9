"""Belief about several classes jointly: one score per class and row,

p(y | x, W, b) = softmax(W x + b)_y,    q(W, b) = one Gaussian over the weights of all classes.

The prior is the same for all classes, and such that the difference of the weights of any two has the standard deviation
``prior_scale`` (the intercepts: 3): with two classes this is the binary model.  Adding the same function to all scores
changes nothing; beliefs are kept about contrasts of scores, orthonormal vectors that add up to zero.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.belief import Inferred
from adaptive.estimators.linear.scale_slopes import laplace_slope
from adaptive.estimators.linear.settings import INTERCEPT_SCALE, LARGEST_TYPICAL_LATENT, SETTLED, LogisticSettings
from adaptive.estimators.rows.leave_one_out import LeaveOneOut
from adaptive.estimators.rows.training import LabelledRows, labels_of
from adaptive.inference.evidence.maximise import Evaluation, LogNormal, Newton, maximise
from adaptive.inference.softmax.row_space import RowSpace
from adaptive.inference.softmax.softmax_posterior import SoftmaxPosterior, SoftmaxSites
from adaptive.inference.softmax.softmax_regression import softmax_regression
from adaptive.potentials.softmax import contrasts
from adaptive.predictive import Predictive, SoftmaxProjections
from adaptive.predictive.joint_scores import LinearScores
from adaptive.predictive.softmax_integrals import softmax_moments

if TYPE_CHECKING:
    from adaptive.estimators.linear.bayesian_logistic_regression import BayesianLogisticRegression
    from adaptive.types import Matrix, RandomState, State

__all__ = ["SoftmaxBelief"]

METHODS = {
    "expectation_propagation": "variational_bounds",  # there is no expectation propagation here: the bound stands in
    "variational_bounds": "variational_bounds",
    "laplace_approximation": "laplace_approximation",
}
LAPLACE = "laplace_approximation"
CLOSE = 1e-7  # tolerance of a mode where the evidence's slope is asked for
_ROWS_AT_ONCE = 16_384
_DIAGNOSTICS = ("log_evidence", "evidence_kind", "objective_trace", "n_iter", "converged", "engine")


@dataclass(frozen=True, eq=False)
class SoftmaxBelief(Inferred):
    """A joint Gaussian over the weights of all classes, by a proved bound or by Laplace's method.

    Attributes
    ----------
    settings : LogisticSettings
    data : LabelledRows
    space : RowSpace
        Coordinates of rows.
    posterior : SoftmaxPosterior
        Over the weights of contrasts, in these coordinates.
    prior_scale : float
    n_included : int
        Of the last rows, those that were included since the last fit.
    followed_evidence : float or None
        Laplace's log evidence of the last fit and the log probabilities of the answers included since; None: a fit.
    """

    settings: LogisticSettings
    data: LabelledRows
    space: RowSpace
    posterior: SoftmaxPosterior
    prior_scale: float
    n_included: int = 0
    followed_evidence: float | None = None

    # -- learning ------------------------------------------------------------------------------------------------------

    @staticmethod
    def supports(settings: LogisticSettings | BayesianLogisticRegression) -> bool:
        """Return whether there is a softmax belief with this prior, link and inference."""
        named = isinstance(settings.inference, str) and settings.inference in METHODS
        return settings.prior == "gaussian" and settings.link == "logit" and named

    @classmethod
    def learnt(cls, settings: LogisticSettings, data: LabelledRows, earlier: object = None) -> SoftmaxBelief:
        """Fit at the given prior scale, or at that of Laplace's highest evidence; warm from an ``earlier`` belief.

        With ``update="inclusion"`` rows that are new are included, and a block of them is followed by a fit.
        """
        if isinstance(earlier, SoftmaxBelief) and earlier.may_include(settings, data):
            return earlier.including(settings, data)
        problem = _Problem(settings, data)
        before = earlier if isinstance(earlier, SoftmaxBelief) and earlier.data.n_classes == data.n_classes else None
        warm = None if before is None else before.posterior
        if settings.prior_scale is not None:
            scale = float(settings.prior_scale)
            return cls(settings, data, problem.space(scale), problem.fit(scale, warm), scale)
        centre = float(np.log(LARGEST_TYPICAL_LATENT / data.typical_length))
        start = centre if before is None else float(np.log(before.prior_scale))
        found = maximise(problem.evaluate, start, prior=LogNormal(centre), iteration=Newton(SETTLED), warm_start=warm)
        scale = float(np.exp(found.point))
        posterior = found.posterior if problem.method == LAPLACE else problem.fit(scale, warm or found.posterior)
        return cls(settings, data, problem.space(scale), posterior, scale)

    def may_include(self, settings: LogisticSettings, data: LabelledRows) -> bool:
        """True where the rows that are new fit into the block of those included."""
        n_new = len(data) - len(self.data)
        same = self.data.n_classes == data.n_classes and n_new + self.n_included <= settings.block_size
        return same and settings.includes(data, n_new)

    def including(self, settings: LogisticSettings, data: LabelledRows) -> SoftmaxBelief:
        """The belief after the rows that are new to it, one by one, each with one step of the inference.

        Its evidence is followed: that of the last fit times the predictive probabilities of the new answers.
        """
        belief = self
        for n in range(len(self.data), len(data)):
            belief = belief._including(settings, data.first(n + 1))
        return belief

    @staticmethod
    def all_including(
        beliefs: Sequence[SoftmaxBelief], settings: LogisticSettings, data: LabelledRows
    ) -> list[SoftmaxBelief]:
        """Beliefs at scales of their own after the rows that are new to them."""
        return [belief.including(settings, data) for belief in beliefs]

    def _including(self, settings: LogisticSettings, data: LabelledRows) -> SoftmaxBelief:
        """The belief after the last of the rows."""
        chosen = float(self.probabilities(data.X[-1:])[0, data.codes[-1]])
        count = 1.0 if data.weights is None else float(data.weights[-1])
        evidence = self.scale_evidence + count * float(np.log(max(chosen, np.finfo(float).tiny)))
        problem = _Problem(settings, data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # that it has not converged goes without saying
            posterior = problem.fit(self.prior_scale, self.posterior, max_iter=1)
        posterior.converged = self.posterior.converged
        space = problem.space(self.prior_scale)
        return SoftmaxBelief(settings, data, space, posterior, self.prior_scale, self.n_included + 1, evidence)

    @cached_property
    def scale_evidence(self) -> float:
        """The log evidence that prior scales are compared by: Laplace's, followed where answers were included since."""
        if self.followed_evidence is not None:
            return self.followed_evidence
        if self.posterior.engine == LAPLACE:
            return self.log_evidence
        problem = _Problem(self.settings, self.data)
        return problem.evaluate(float(np.log(self.prior_scale)), self.posterior, False).value

    # -- belief --------------------------------------------------------------------------------------------------------

    @classmethod
    def prior_predictive(
        cls, settings: LogisticSettings, rows: Matrix, *, target: Matrix | None = None, random_state: RandomState = None
    ) -> Predictive:
        """The predictive of the prior; a scale that is to be fitted counts as 1."""
        _method(settings)
        labels = labels_of(settings.classes)
        assert labels is not None
        scale = 1.0 if settings.prior_scale is None else float(settings.prior_scale)
        space, k = _space(settings, rows[:0], scale), len(labels) - 1
        nothing = np.zeros((k, 0)), np.zeros((k, 0, k, 0))  # without training rows everything is remainder
        return _predictive(space, *nothing, rows, labels, target, random_state)

    def predictive(self, rows: Matrix, *, target: Matrix | None = None, random_state: RandomState = None) -> Predictive:
        """Joint Gaussian scores of the rows, with the classes as outcomes."""
        return self._predictive(rows, self.data.labels, target, random_state, measured=self.space.rows)

    def _predictive(self, *args: Any, **fields: Any) -> SoftmaxProjections:
        return _predictive(self.space, self.posterior.weights, self.posterior.blocks, *args, **fields)

    def probabilities(self, rows: Matrix, gamma: float = 1.0) -> np.ndarray:
        """(m, n_classes) predictive probabilities, of scores whose covariances are ``gamma`` times those believed."""
        table = np.empty((rows.shape[0], self.data.n_classes))
        for start in range(0, len(table), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            scores = self._predictive(rows[part], np.arange(self.data.n_classes), None, 0)
            table[part] = softmax_moments(scores.score_mean, gamma * scores.score_covariance)[0]
        return table

    @cached_property
    def cavities(self) -> tuple[np.ndarray, np.ndarray]:
        """Means (m, c) and covariances (m, c, c) of the training rows' scores without their own sites.

        With V and H the covariance and the site's precision, (I - V H)^-1 (m - V nu) and (I - V H)^-1 V.
        """
        mean, covariance = self.posterior.of_rows
        sites = self.posterior.sites
        counts = np.ones(len(mean)) if self.data.weights is None else np.maximum(self.data.weights, 1.0)
        precision = sites.precision / counts[:, None, None]
        system = np.eye(mean.shape[1]) - covariance @ precision
        pulled = mean - np.einsum("ikl,il->ik", covariance, sites.precision_mean / counts[:, None])
        without = np.linalg.solve(system, np.concatenate([pulled[:, :, None], covariance], axis=2))
        basis = contrasts(self.data.n_classes)
        spread = 0.5 * (without[:, :, 1:] + without[:, :, 1:].transpose(0, 2, 1))
        return without[:, :, 0] @ basis.T, basis @ spread @ basis.T

    @cached_property
    def left_out(self) -> LeaveOneOut:
        """Predictions of the training rows without themselves."""
        return self.left_out_at(1.0)

    def left_out_at(self, gamma: float) -> LeaveOneOut:
        """The same of scores whose covariances are ``gamma`` times those of the cavities."""
        mean, covariance = self.cavities
        table = softmax_moments(mean, gamma * covariance)[0]
        heard = np.einsum("mc,mc->m", table, self.data.evidence)
        return LeaveOneOut(table, np.log(np.maximum(heard, 1e-300)))

    def winners(self, rows: Matrix) -> np.ndarray:
        """(m,) codes of the most probable class."""
        return np.argmax(self.probabilities(rows), axis=1)

    def coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """Posterior means of the classes' weights (c, n_features) and intercepts (c,), which add up to zero."""
        weights, intercepts = self.space.slopes(self.posterior.weights)
        basis = contrasts(self.data.n_classes)
        return basis @ weights, basis @ intercepts

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Plain data from which ``from_state`` makes this belief again, to the last bit."""
        sites = self.posterior.sites
        diagnostics = {name: getattr(self.posterior, name) for name in _DIAGNOSTICS}
        return {
            "prior_scale": self.prior_scale,
            "precision": sites.precision,
            "precision_mean": sites.precision_mean,
            "masses": sites.masses,
            "n_included": self.n_included,
            "followed_evidence": self.followed_evidence,
            **diagnostics,
        }

    @classmethod
    def from_state(cls, settings: LogisticSettings, data: LabelledRows, state: State) -> SoftmaxBelief:
        """The belief that ``state`` described."""
        scale = float(state["prior_scale"])
        space = _Problem(settings, data).space(scale)
        masses = state.get("masses")
        sites = SoftmaxSites(
            np.asarray(state["precision"]),
            np.asarray(state["precision_mean"]),
            None if masses is None else np.asarray(masses),
        )
        posterior = SoftmaxPosterior(space.coordinates(data.X), sites)
        for name in _DIAGNOSTICS:
            setattr(posterior, name, state[name])
        posterior.objective_trace = np.asarray(state["objective_trace"], dtype=float)
        followed = state.get("followed_evidence")
        n_included = int(state.get("n_included", 0))
        return cls(settings, data, space, posterior, scale, n_included, None if followed is None else float(followed))


class _Problem:
    """The training rows, as a regression at any prior scale."""

    def __init__(self, settings: LogisticSettings, data: LabelledRows) -> None:
        self.settings, self.data, self.method = settings, data, _method(settings)

    def space(self, scale: float) -> RowSpace:
        return _space(self.settings, self.data.X, scale)

    def fit(self, scale: float, warm: SoftmaxPosterior | None, max_iter: int | None = None) -> SoftmaxPosterior:
        return self._fit(scale, warm, self.method, self.settings.tol, max_iter)

    def evaluate(self, log_scale: float, warm: SoftmaxPosterior | None, rough: bool) -> Evaluation:
        """Laplace's evidence and its slope in ln scale; Newton's method is too quick for rough fits to be worth it."""
        scale = float(np.exp(log_scale))
        posterior = self._fit(scale, warm, LAPLACE, min(self.settings.tol, CLOSE))
        slope, determined = laplace_slope(self.space(scale), posterior, self.data.weights)
        return Evaluation(posterior, posterior.log_evidence, slope, determined)

    def _fit(
        self, scale: float, warm: SoftmaxPosterior | None, method: str, tol: float, max_iter: int | None = None
    ) -> SoftmaxPosterior:
        return softmax_regression(
            self.space(scale).coordinates(self.data.X),
            self.data.codes,
            self.data.n_classes,
            weights=self.data.weights,
            method=method,
            max_iter=self.settings.max_iter if max_iter is None else max_iter,
            tol=tol,
            warm_start=warm,
            said=self.data.said,
        )


def _method(settings: LogisticSettings) -> str:
    """Return the way to fit; refuse what the softmax has no way for."""
    if not SoftmaxBelief.supports(settings):
        raise ValueError(
            "Only binary classification is supported with a prior, link or inference other than "
            f'"gaussian", "logit" and {tuple(METHODS)}, got {settings.prior!r}, {settings.link!r} and '
            f'{settings.inference!r}; for more than two classes use these, or multi_class="one_vs_rest".'
        )
    return METHODS[str(settings.inference)]


def _space(settings: LogisticSettings, rows: Matrix, scale: float) -> RowSpace:
    """Contrasts are scores over sqrt(2) where two classes differ: their weights have the prior scale over sqrt(2)."""
    return RowSpace(rows, scale / np.sqrt(2.0), INTERCEPT_SCALE / np.sqrt(2.0) if settings.fit_intercept else 0.0)


def _predictive(
    space: RowSpace,
    mean: np.ndarray,
    blocks: np.ndarray,
    rows: Matrix,
    labels: np.ndarray,
    target: Matrix | None,
    random_state: RandomState,
    **fields: Any,
) -> SoftmaxProjections:
    parts = [rows] if target is None else [rows, target]
    phi = [space.coordinates(part) for part in parts]
    remainder: dict[str, Any] = {}
    if not space.direct:
        remainder = {
            "remainder": lambda a, i, b, j: space.remainder(parts[a][i], parts[b][j], phi[a][i], phi[b][j]),
            "remainder_variance": lambda part: space.remainder_variance(parts[part], phi[part]),
            "remainder_draws": lambda n, k, generator: space.remainder_draws(parts, n, k, generator, phi),
        }
    source = LinearScores(phi, mean, blocks, **remainder)
    basis = contrasts(len(labels))
    return SoftmaxProjections(
        source, contrasts=basis, outcomes=labels, random_state=random_state, features=rows, **fields
    )
