"""What the two Gaussian process estimators share: inputs, engines, learning hyper-parameters, plain state."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from adaptive import checks, inference
from adaptive.estimators.base import DesignMixin
from adaptive.estimators.gaussian_process.evidence import Evidence
from adaptive.estimators.gaussian_process.hyperparameters import optimised
from adaptive.estimators.gaussian_process.latent_process import LatentProcess
from adaptive.estimators.gaussian_process.low_rank import LowRank
from adaptive.means import as_mean

__all__ = ["ENGINES", "Engine", "ProcessEstimator"]

ENGINES = (
    "laplace_approximation",
    "expectation_propagation",
    "variational_gaussian",
    "variational_bounds",
    "mean_field",
    "annealed_importance",
)
WHOLE_MATRIX = ("mean_field", "annealed_importance")  # engines that write the covariance of all latents out
STATIONARY = ("expectation_propagation", "variational_gaussian")  # an error of the sites enters the evidence squared
SEARCH_TOL = 1e-4
LOG_SCALE_BOUNDS = (-12.0, 12.0)


@dataclass(frozen=True)
class Engine:
    """An inference function with settings of its own, which a call may override.

    Attributes
    ----------
    function : callable (model, **settings) -> Posterior
    settings : dict
    search : dict
        Others for the search for hyper-parameters, whose posteriors need not be the last.
    """

    function: Any
    settings: dict[str, Any]
    search: dict[str, Any] = field(default_factory=dict)

    def __call__(self, model: Any, **more: Any) -> Any:
        return self.function(model, **{**self.settings, **more})


class ProcessEstimator(DesignMixin, BaseEstimator):
    """A Gaussian process whose evidence can be climbed; subclasses say what outcomes are."""

    kernel: Any
    mean: Any
    processes_: list[LatentProcess]
    optimizer: Any
    n_restarts_optimizer: int
    copy_X_train: bool
    random_state: Any
    tol: float
    rank: int | None
    low_rank: str

    # -- inputs --------------------------------------------------------------------------------------------------------

    def _inputs(self, X: Any, y: Any = "no_validation", *, reset: bool, **options: Any) -> Any:
        """X (and y), checked; kernels on other things than vectors take lists as they are."""
        vectors = self.kernel is None or self.kernel.requires_vector_input
        how: dict[str, Any] = {"ensure_2d": vectors, "dtype": "numeric" if vectors else None, "reset": reset}
        return validate_data(self, X, y, **how, **options)

    def _fresh(self, X: Any) -> Any:
        """X before any fit: of whatever width."""
        vectors = self.kernel is None or self.kernel.requires_vector_input
        return check_array(X, ensure_2d=vectors, dtype="numeric" if vectors else None)

    def _start_kernel(self) -> Any:
        if self.kernel is None:
            return ConstantKernel(1.0, constant_value_bounds="fixed") * RBF(1.0, length_scale_bounds="fixed")
        return clone(self.kernel)

    def _prior(self, X: Any) -> LatentProcess:
        """The belief before any fit."""
        return LatentProcess(self._start_kernel(), as_mean(self.mean).prepared(X), X)

    def _named_engine(self, name: Any, max_iter: int) -> Engine:
        """The engine with this estimator's settings."""
        if isinstance(name, str):
            function = getattr(inference, checks.choice("inference", name, ENGINES))
        elif callable(name):
            function = name
        else:
            raise ValueError(f"inference must be a name or a callable (model, **settings), got {name!r}.")
        settings: dict[str, Any] = {"max_iter": max_iter}
        if name != "annealed_importance":  # its tolerance is a standard error
            settings["tol"] = self.tol
        settings["random_state"] = self.random_state if isinstance(self.random_state, int) else 0
        search = {"tol": max(self.tol, SEARCH_TOL)} if name in STATIONARY else {}
        return Engine(function, settings, search)

    def _low_rank(self) -> LowRank | None:
        """How the kernel matrix is approximated."""
        if self.rank is None:
            return None
        return LowRank(self.rank, self.low_rank, self.random_state if isinstance(self.random_state, int) else 0)

    def _check_low_rank(self, engine: Any) -> None:
        checks.choice("low_rank", self.low_rank, ("incomplete_cholesky", "nystroem"))
        if self.rank is None:
            return
        checks.integer("rank", self.rank, minimum=1)
        if isinstance(engine, str) and engine in WHOLE_MATRIX:
            raise ValueError(f"rank must be None with inference={engine!r}, which needs the whole covariance matrix.")

    def _check_parameters(self) -> None:
        checks.positive("tol", self.tol, or_zero=True)
        checks.integer("n_restarts_optimizer", self.n_restarts_optimizer, minimum=0)
        as_mean(self.mean)
        if self.optimizer is not None and not callable(self.optimizer):
            checks.choice("optimizer", self.optimizer, ("fmin_l_bfgs_b",))

    # -- learning ------------------------------------------------------------------------------------------------------

    def _climbed(self, evidence: Evidence, search: bool) -> tuple[Evidence, list[LatentProcess]]:
        """The evidence at its largest (or where it is) and the beliefs there, inferred from scratch."""
        if search and self.optimizer is not None and len(evidence.theta):
            evidence = evidence.with_pivots()
            bounds = [np.reshape(evidence.kernel.bounds, (-1, 2))]
            bounds.append(np.tile([-np.inf, np.inf], (len(evidence.mean.theta), 1)))
            if evidence.log_scale is not None:
                bounds.append(np.array([LOG_SCALE_BOUNDS]) + evidence.log_scale)
            evidence = optimised(
                evidence, self.optimizer, self.n_restarts_optimizer, np.concatenate(bounds), self.random_state
            )
            if self.low_rank == "incomplete_cholesky":  # the pivots that the learnt kernel asks for
                evidence = replace(evidence, pivots=None)
            return evidence, evidence.processes()
        return evidence, evidence.processes(warm=True)

    @staticmethod
    def _marginal(evidence: Evidence, theta: Any, eval_gradient: bool) -> Any:
        """Log evidence at theta, with its gradient in as many parameters as theta has."""
        moved = evidence.at(evidence.theta if theta is None else theta)
        if not eval_gradient:
            return moved.value()
        value, gradient = moved.value_and_gradient()
        return value, gradient[: len(moved.theta if theta is None else np.asarray(theta))]

    # -- what the inference says of itself --------------------------------------------------------------------------

    @property
    def _posteriors(self) -> list:
        return [process.posterior for process in self.processes_]

    log_evidence_ = property(lambda self: float(sum(p.log_evidence for p in self._posteriors)), doc="Log evidence.")
    evidence_kind_ = property(lambda self: self._posteriors[0].evidence_kind, doc="Of the inference.")
    objective_trace_ = property(lambda self: self._posteriors[0].objective_trace, doc="Of the (first) inference.")
    converged_ = property(lambda self: all(p.converged for p in self._posteriors), doc="Whether it met ``tol``.")

    # -- plain state ---------------------------------------------------------------------------------------------------

    @staticmethod
    def _process_state(evidence: Evidence, processes: list[LatentProcess]) -> dict[str, Any]:
        return {
            "theta": evidence.theta,
            "pivots": evidence.pivots,
            "posteriors": [inference.posterior_state(process.posterior) for process in processes],
        }

    @staticmethod
    def _restored(evidence: Evidence, state: dict[str, Any]) -> tuple[Evidence, list[LatentProcess]]:
        evidence = evidence.at(np.asarray(state["theta"], dtype=float))
        if state.get("pivots") is not None:
            evidence.pivots = np.asarray(state["pivots"], dtype=np.intp)
        pairs = zip(evidence.models(), state["posteriors"], strict=True)
        posteriors = [inference.restored_posterior(model, part) for model, part in pairs]
        evidence.warm = posteriors
        return evidence, [evidence.process(posterior) for posterior in posteriors]
