"""Belief about functions: processes, one per output or binary problem, and the evidences they came from.

The evidences hold what was found of hyper-parameters and the posteriors to go on from; the processes answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from adaptive import inference
from adaptive.estimators.belief import Inferred
from adaptive.estimators.gaussian_process.evidence import Evidence
from adaptive.estimators.gaussian_process.hyperparameters import FOLLOW, optimised
from adaptive.estimators.gaussian_process.latent_process import LatentProcess
from adaptive.estimators.rows.leave_one_out import LeaveOneOut, log_scores
from adaptive.estimators.searches import highest
from adaptive.means import as_mean

if TYPE_CHECKING:
    from adaptive.estimators.gaussian_process.settings import ProcessSettings
    from adaptive.estimators.rows.training import Rows
    from adaptive.inference import Posterior
    from adaptive.types import ArrayLike, Inputs, State

__all__ = ["ProcessBelief", "bounds_of", "evidence_state", "inferred", "learnt", "prior_process", "restored"]

LOG_SCALE_BOUNDS = (-12.0, 12.0)
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ProcessBelief(Inferred):
    """Processes and evidences.

    Attributes
    ----------
    settings : ProcessSettings
    data : Rows or None
        None: before any fit, when the prior answers.
    evidences : sequence of Evidence
    processes : sequence of LatentProcess
    learnt_rows : int
        How many rows there were when hyper-parameters were fitted.
    """

    settings: ProcessSettings
    data: Rows | None
    evidences: Sequence[Evidence]
    processes: Sequence[LatentProcess]
    learnt_rows: int

    @property
    def posteriors(self) -> list[Posterior]:
        """One for each process."""
        return [process.posterior for process in self.processes]

    @property
    def posterior(self) -> Posterior | list[Posterior]:
        """The only one, or all."""
        return one_or_all(self.posteriors)

    @property
    def left_out(self) -> LeaveOneOut | None:
        """Predictions of the training rows without themselves, of all outputs together."""
        several = len(self.evidences) != len(self.processes)
        pairs = [(self.evidences[0 if several else k], process) for k, process in enumerate(self.processes)]
        total: Any = 0.0
        for k, (evidence, process) in enumerate(pairs):
            posterior, potential = process.posterior, evidence.outputs[k if several else 0](evidence.scale)
            if posterior is None or len(posterior.mean) != len(evidence.X):
                return None  # an approximation that keeps a few of the inputs
            scores = log_scores(posterior, potential, (posterior.mean, posterior.variances()))
            if scores is None:
                return None
            total = total + scores
        return LeaveOneOut(None, total)

    @property
    def thetas(self) -> list[np.ndarray]:
        """Hyper-parameters, of every evidence."""
        return [evidence.theta for evidence in self.evidences]


def one_or_all(values: list[T]) -> T | list[T]:
    """The only value, or the list of several."""
    return values[0] if len(values) == 1 else values


def prior_process(settings: ProcessSettings, X: Inputs) -> LatentProcess:
    """The belief about the function before any fit."""
    return LatentProcess(settings.start_kernel(), as_mean(settings.mean).prepared(X), X)


def bounds_of(evidence: Evidence) -> np.ndarray:
    """Bounds (p, 2) within which theta is searched."""
    bounds = [np.reshape(evidence.kernel.bounds, (-1, 2)), np.tile([-np.inf, np.inf], (len(evidence.mean.theta), 1))]
    if evidence.log_scale is not None:
        bounds.append(np.array([LOG_SCALE_BOUNDS]) + evidence.log_scale)
    return np.concatenate(bounds)


def learnt(
    settings: ProcessSettings, start: Evidence, near: Evidence | None, again: bool
) -> tuple[Evidence, list[LatentProcess]]:
    """The higher of what is found from an earlier evidence and, where it is time ``again``, from the start.

    Beside an earlier top the search ends sooner, for it begins there; an optimizer of the user's is not asked at every
    row.
    """
    if near is None:
        return inferred(settings, start, True)
    searches = [lambda: inferred(settings, near, settings.optimizer == "fmin_l_bfgs_b", n_restarts=0, climb=FOLLOW)]
    if again and settings.optimizer is not None and len(start.theta):
        searches.insert(0, lambda: inferred(settings, start, True))
    return highest(searches, value=lambda found: sum(one.posterior.log_evidence for one in found[1]))


def inferred(
    settings: ProcessSettings, evidence: Evidence, search: bool, n_restarts: int | None = None, **climb: Any
) -> tuple[Evidence, list[LatentProcess]]:
    """The evidence at its largest (or where it is, without ``search``) and the processes there."""
    if search and settings.optimizer is not None and len(evidence.theta):
        evidence = evidence.with_pivots()
        evidence = optimised(
            evidence,
            settings.optimizer,
            settings.n_restarts_optimizer if n_restarts is None else n_restarts,
            bounds_of(evidence),
            settings.random_state,
            tells_bounds=settings.tells_bounds,
            **climb,
        )
        if settings.low_rank == "incomplete_cholesky":  # the pivots that the fitted kernel asks for
            evidence = replace(evidence, pivots=None)
        try:
            processes = evidence.processes(warm=True)
        except (ValueError, np.linalg.LinAlgError):
            processes = evidence.processes()
    else:
        processes = evidence.processes(warm=True)
    evidence.warm = [process.posterior for process in processes]
    return evidence, processes


def log_marginal_likelihood(
    evidence: Evidence, theta: ArrayLike | None, eval_gradient: bool
) -> float | tuple[float, np.ndarray]:
    """Log evidence at theta, with its gradient in as many parameters as theta has."""
    moved = evidence.at(evidence.theta if theta is None else theta)
    if not eval_gradient:
        return moved.value()
    value, gradient = moved.value_and_gradient()
    return value, gradient[: len(moved.theta if theta is None else np.asarray(theta))]


def evidence_state(evidence: Evidence, processes: Sequence[LatentProcess]) -> State:
    """An evidence and its processes as plain data."""
    return {
        "theta": evidence.theta,
        "pivots": evidence.pivots,
        "posteriors": [inference.posterior_state(process.posterior) for process in processes],
    }


def restored(evidence: Evidence, state: State) -> tuple[Evidence, list[LatentProcess]]:
    """The evidence and the processes that ``state`` described; ``evidence`` is that of the problem anywhere."""
    evidence = evidence.at(np.asarray(state["theta"], dtype=float))
    if state.get("pivots") is not None:
        evidence.pivots = np.asarray(state["pivots"], dtype=np.intp)
    pairs = zip(evidence.models(), state["posteriors"], strict=True)
    posteriors = [inference.restored_posterior(model, part) for model, part in pairs]
    evidence.warm = posteriors
    return evidence, [evidence.process(posterior) for posterior in posteriors]
