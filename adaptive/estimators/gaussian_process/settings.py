"""Parameters of Gaussian process estimators as values: what the classifier and the regressor have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from adaptive import checks, inference
from adaptive.estimators.belief import Settings, returned
from adaptive.estimators.gaussian_process.low_rank import LowRank
from adaptive.means import as_mean

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.inference import GLM, Posterior
    from adaptive.means import Mean
    from adaptive.types import RandomState

__all__ = ["ENGINES", "Engine", "ProcessSettings"]

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
SEARCH_TOL = 3e-5  # of the last steps of a search


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

    function: Callable[..., Posterior]
    settings: dict[str, Any]
    search: dict[str, Any] = field(default_factory=dict)

    def __call__(self, model: GLM, **more: Any) -> Posterior:
        return returned(self.function(model, **{**self.settings, **more}))


@dataclass(frozen=True, eq=False)
class ProcessSettings(Settings):
    """Parameters of both estimators, under the same names."""

    kernel: Kernel | None = None
    inference: str | Callable[..., Posterior] | None = None
    mean: Mean | float | None = None
    optimizer: str | Callable[..., Any] | None = "fmin_l_bfgs_b"
    n_restarts_optimizer: int = 0
    random_state: RandomState = None
    tol: float = 1e-6
    rank: int | None = None
    low_rank: str = "incomplete_cholesky"

    def check(self) -> None:
        """Refuse what is wrong in one sentence."""
        checks.positive("tol", self.tol, or_zero=True)
        checks.integer("n_restarts_optimizer", self.n_restarts_optimizer, minimum=0)
        as_mean(self.mean)
        if self.optimizer is not None and not callable(self.optimizer):
            checks.choice("optimizer", self.optimizer, ("fmin_l_bfgs_b",))

    def check_engine(self) -> None:
        """Refuse an inference that is not known, or not there with a kernel matrix of low rank."""
        if isinstance(self.inference, str):
            checks.choice("inference", self.inference, ENGINES)
        checks.choice("low_rank", self.low_rank, ("incomplete_cholesky", "nystroem"))
        if self.rank is None:
            return
        checks.integer("rank", self.rank, minimum=1)
        if isinstance(self.inference, str) and self.inference in WHOLE_MATRIX:
            raise ValueError(
                f"rank must be None with inference={self.inference!r}, which needs the whole covariance matrix."
            )

    @property
    def seed(self) -> int:
        """Seed of draws: the random state where it is a number, else 0."""
        return self.random_state if isinstance(self.random_state, int) else 0

    def start_kernel(self) -> Kernel:
        """The kernel before any fit."""
        if self.kernel is None:
            return ConstantKernel(1.0, constant_value_bounds="fixed") * RBF(1.0, length_scale_bounds="fixed")
        return clone(self.kernel)

    def engine(self, name: str | Callable[..., Posterior] | None, max_iter: int) -> Engine:
        """The inference of this name, or this inference, with these parameters."""
        if isinstance(name, str):
            function = getattr(inference, checks.choice("inference", name, ENGINES))
        elif callable(name):
            function = name
        else:
            raise ValueError(f"inference must be a name or a callable (model, **settings), got {name!r}.")
        settings: dict[str, Any] = {"max_iter": max_iter}
        if name != "annealed_importance":  # its tolerance is a standard error
            settings["tol"] = self.tol
        settings["random_state"] = self.seed
        search = {"tol": max(self.tol, SEARCH_TOL)} if name in STATIONARY else {}
        return Engine(function, settings, search)

    def approximation(self) -> LowRank | None:
        """The approximation of the kernel matrix; None: there is none."""
        return None if self.rank is None else LowRank(self.rank, self.low_rank, self.seed)
