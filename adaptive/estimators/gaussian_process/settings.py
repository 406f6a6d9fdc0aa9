"""Parameters of Gaussian process estimators as values: what the classifier and the regressor have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import pdist
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
    from adaptive.types import Inputs, RandomState

__all__ = ["ENGINES", "HYPERPARAMETERS", "REACH", "Engine", "ProcessSettings", "integrates", "typical_distance"]

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


HYPERPARAMETERS = ("auto", "integrated", "mode")
FEW = 4  # hyper-parameters of a kernel, up to which nodes about the top are on all sides of it
HEIGHT, HEIGHTS = 20.0, (0.1, 10_000.0)  # variance of latents at the start, and where it is looked for
REACH = 10.0  # times a typical distance, within which the length lies


def typical_distance(X: np.ndarray, most: int = 300) -> float:
    """Return the median distance of rows that differ, of at most so many, evenly spaced; 1 where there are none.

    Examples
    --------
    >>> typical_distance(np.array([[0.0], [0.0], [3.0]])), typical_distance(np.zeros((1, 2)))
    (3.0, 1.0)
    """
    rows = X[np.unique(np.linspace(0, len(X) - 1, min(len(X), most)).astype(np.intp))] if len(X) else X
    apart = pdist(rows) if len(rows) > 1 else np.zeros(0)
    return float(np.median(apart[apart > 0])) if np.any(apart > 0) else 1.0


def integrates(of: Any, several: bool = False) -> bool:
    """Return whether hyper-parameters are averaged over, by the parameters of settings or of an estimator.

    "auto" does so where a kernel has few of them, unless something is asked of the search for the highest evidence: an
    optimizer of the user's, restarts, a warm start, parameters of a mean (whose units nobody knows), or where the
    inference may tell no evidence. ``several`` problems, of more than two classes, have a kernel each by "auto".

    Examples
    --------
    >>> from adaptive import GaussianProcessRegressor
    >>> integrates(GaussianProcessRegressor()), integrates(GaussianProcessRegressor(RBF(1.0), n_restarts_optimizer=3))
    (True, False)
    """
    if of.optimizer is None or of.hyperparameters != "auto" or several:
        return of.optimizer is not None and of.hyperparameters == "integrated"
    searched = callable(of.optimizer) or of.n_restarts_optimizer != 0 or getattr(of, "warm_start", False)
    told = of.inference is None or (isinstance(of.inference, str) and of.inference != "annealed_importance")
    few = of.kernel is None or 0 < getattr(of.kernel, "n_dims", 0) <= FEW
    return few and told and of.mean is None and not searched


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

    @property
    def chooses_kernel(self) -> bool:
        """True where no kernel was given, so that height and length are learnt from where the rows say."""
        return self.kernel is None and self.optimizer is not None

    @property
    def tells_bounds(self) -> bool:
        """True where the bounds of the search are the user's, who can widen them."""
        return not self.chooses_kernel

    def start_kernel(self, X: Inputs | None = None) -> Kernel:
        """The kernel from which a search among these rows begins; None: the one before any fit."""
        if self.kernel is not None:
            return clone(self.kernel)
        if not self.chooses_kernel:
            return ConstantKernel(1.0, constant_value_bounds="fixed") * RBF(1.0, length_scale_bounds="fixed")
        return self.chosen_kernel(1.0 if X is None else typical_distance(np.asarray(X, dtype=float)))

    def chosen_kernel(self, length: float) -> Kernel:
        """Return what is learnt where no kernel was given: a height, and a length about a typical distance of rows."""
        return ConstantKernel(HEIGHT, HEIGHTS) * RBF(length, (length / REACH, length * REACH))

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
