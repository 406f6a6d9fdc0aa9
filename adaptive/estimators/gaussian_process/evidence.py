"""Log evidence of a Gaussian process and its gradient in theta = (kernel, mean, likelihood).

Kernel parameters are logarithms, as in scikit-learn; those of the mean are themselves; the scale of a likelihood is
again a logarithm. One factorisation gives the gradient in kernel and mean. In the scale of the likelihood it is
that of the normalisers of tilted distributions, where expectation propagation is stationary in its sites and potentials
are smooth and log-concave; else of two warm refits. Several outputs share theta, and their evidences add up.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive import inference
from adaptive.estimators.gaussian_process.latent_process import LatentProcess
from adaptive.estimators.gaussian_process.low_rank import Basis, LowRank, LowRankProcess, kernel_gradient, subset
from adaptive.estimators.rows.leave_one_out import without_sites
from adaptive.inference import GLM, Posterior
from adaptive.potentials import BernoulliLogit

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.linalg import LowRankCovariance
    from adaptive.means import Mean
    from adaptive.potentials import Potential
    from adaptive.types import ArrayLike, Inputs, Number, Options

    Prior = np.ndarray | LowRankCovariance

__all__ = ["Evidence"]

_STEP = 1e-3  # in the logarithm of the likelihood's scale
_TIGHT = 1e-9  # tolerance of the refits whose difference is taken
_SMALL = 1e-12  # of the mean prior variance: what keeps repeated inputs from being the same to the last bit


@dataclass
class Evidence:
    """The evidence at some parameters, with posteriors to start the next ones from.

    Attributes
    ----------
    kernel, mean : kernel and mean function
    X : inputs
    outputs : sequence of callables: scale of the likelihood -> potential with the outcomes inside
    engine : callable (model, **settings) -> Posterior
    log_scale : float or None
        Of the likelihood; None: it has none that is fitted.
    nugget : float or (n,) array
        Added to the diagonal of the kernel matrix.
    warm : list of Posterior, one per output
    low_rank : LowRank or None
        How the kernel matrix is approximated; None: not at all.
    pivots : (r,) array or None
        Of the approximation, which stay where they are when theta moves; None: found when they are needed.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from adaptive.inference import expectation_propagation
    >>> from adaptive.means import Zero
    >>> from adaptive.potentials import BernoulliProbit
    >>> X, y = np.array([[0.0], [1.0]]), [-1, 1]
    >>> found = Evidence(RBF(1.0), Zero(), X, [lambda scale: BernoulliProbit(y)], expectation_propagation)
    >>> round(found.value(), 3)  # nats
    -1.604
    """

    kernel: Kernel
    mean: Mean
    X: Inputs
    outputs: Sequence[Callable[[float], Potential]]
    engine: Callable[..., Posterior]
    log_scale: float | None = None
    nugget: Number = 0.0
    warm: Any = field(default=None, repr=False)
    low_rank: LowRank | None = None
    pivots: np.ndarray | None = None

    @property
    def theta(self) -> np.ndarray:
        own = [] if self.log_scale is None else [self.log_scale]
        return np.concatenate([self.kernel.theta, self.mean.theta, own])

    @property
    def scale(self) -> float:
        """Scale of the likelihood; 1 where it has none that is fitted."""
        return 1.0 if self.log_scale is None else float(np.exp(self.log_scale))

    def at(self, theta: ArrayLike) -> Evidence:
        """The same at other parameters; a theta of the kernel alone leaves the others."""
        theta, k, m = np.asarray(theta, dtype=float), len(self.kernel.theta), len(self.mean.theta)
        full = np.concatenate([theta, self.theta[k:]]) if len(theta) == k else theta
        if len(full) != len(self.theta):
            raise ValueError(f"theta must have {k} (kernel) or {len(self.theta)} (all) entries, got {len(theta)}.")
        return replace(
            self,
            kernel=self.kernel.clone_with_theta(full[:k]),
            mean=self.mean.with_theta(full[k : k + m]),
            log_scale=None if self.log_scale is None else float(full[-1]),
        )

    def move(self, theta: np.ndarray) -> None:
        """Move to a whole theta, the kernel in place: what only a search holds need not be cloned for every step."""
        k = len(theta) - len(self.mean.theta) - (self.log_scale is not None)
        self.kernel.theta = theta[:k]
        if k < len(theta):
            self.mean = self.mean.with_theta(theta[k : k + len(self.mean.theta)])
        if self.log_scale is not None:
            self.log_scale = float(theta[-1])

    def processes(self, *, warm: bool = False, quiet: bool = False, **settings: Any) -> list[LatentProcess]:
        """The beliefs at these parameters, one per output; from scratch, or from the last ones."""
        found = self._infer(warm, quiet, settings)
        return [self.process(posterior) for _, posterior in found]

    def process(self, posterior: Posterior) -> LatentProcess:
        """The belief about the function that a posterior over the latents at X makes."""
        if self.low_rank is None:
            return LatentProcess(self.kernel, self.mean, self.X, posterior)
        return LowRankProcess(self.kernel, self.mean, self.X, posterior, basis=self._basis())

    def with_pivots(self) -> Evidence:
        """The same with its pivots found, so that they stay when theta moves."""
        if self.low_rank is not None and self.pivots is None:
            self.pivots = self.low_rank.pivots(self.kernel, self.X)
        return self

    def _basis(self) -> Basis:
        pivots = self.with_pivots().pivots
        assert pivots is not None
        return Basis(self.kernel, subset(self.X, pivots))

    def _covariance(self, eval_gradient: bool = False) -> tuple[Any, Any]:
        """Covariance of the latents at X; and its derivatives (n, n, p), if asked for and the matrix is written out."""
        if self.low_rank is not None:
            extra = self.nugget + _SMALL * np.mean(self.kernel.diag(self.X))
            return self._basis().covariance(self.X, extra), None
        K, dK = self.kernel(self.X, eval_gradient=True) if eval_gradient else (self.kernel(self.X), None)
        K = np.array(K, dtype=float)
        if not np.isfinite(K).all():
            raise ValueError(f"kernel {self.kernel} gives values at X that are not finite.")
        K[np.diag_indices(len(K))] += self.nugget + _SMALL * np.mean(K.diagonal())
        return K, dK

    def models(self, covariance: Prior | None = None) -> list[GLM]:
        """The models of the latents at X, one per output; their covariance where it is known already."""
        K, mean = self._covariance()[0] if covariance is None else covariance, self.mean(self.X)
        try:
            return [GLM(potentials=output(self.scale), prior_mean=mean, prior_covariance=K) for output in self.outputs]
        except ValueError as error:
            if "prior_covariance" not in str(error):
                raise
            raise ValueError(f"the kernel matrix of {self.kernel} at X is not positive definite: {error}") from None

    def _infer(self, warm: bool, quiet: bool, settings: Options, K: Prior | None = None) -> list[tuple[Any, Any]]:
        if quiet and (found := self._searched(warm, settings, K)) is not None:
            return found
        models = self.models(K)
        starts = self.warm if warm and self.warm is not None else [None] * len(models)
        with warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", ConvergenceWarning)
            return [
                (model, self.engine(model, warm_start=_over(start, model.n), form="covariance", **settings))
                for model, start in zip(models, starts, strict=True)
            ]

    def _searched(self, warm: bool, settings: Options, K: Prior | None) -> list[tuple[None, Any]] | None:
        """Logit labels by expectation propagation without its checks; None where the engine itself is to be asked."""
        engine: Any = self.engine
        if getattr(engine, "function", None) is not inference.expectation_propagation or self.low_rank is not None:
            return None
        labels: list[Any] = [output(self.scale) for output in self.outputs]
        if any(type(one) is not BernoulliLogit for one in labels):
            return None
        from adaptive.estimators.gaussian_process.logit_latents import logit_latents  # compiles when it is first used

        settings = {**engine.settings, **settings}
        covariance: Any = self._covariance()[0] if K is None else K
        mean = self.mean(self.X)
        starts = self.warm if warm and self.warm is not None else [None] * len(labels)
        found = [
            logit_latents(
                covariance, mean, one.y, tol=settings["tol"], max_iter=settings["max_iter"], start=start and start.sites
            )
            for one, start in zip(labels, starts, strict=True)
        ]
        return None if any(one is None for one in found) else [(None, one) for one in found if one is not None]

    def value(self, quiet: bool = False, **settings: Any) -> float:
        """Log evidence."""
        found = self._infer(True, quiet, settings)
        self.warm = [posterior for _, posterior in found]
        return float(sum(posterior.log_evidence for posterior in self.warm))

    def value_and_gradient(self, quiet: bool = False, **settings: Any) -> tuple[float, np.ndarray]:
        """Log evidence and its derivatives in theta."""
        K, dK = self._covariance(eval_gradient=True)
        found = self._infer(True, quiet, settings, K)
        self.warm = [posterior for _, posterior in found]
        by_kernel, by_mean = self._slopes(found, dK)
        gradient = [by_kernel, by_mean @ self.mean.gradient(self.X)]
        if self.log_scale is not None:
            gradient.append(np.array([self._slope_of_scale(K)]))
        return float(sum(posterior.log_evidence for posterior in self.warm)), np.concatenate(gradient)

    def _slope_of_scale(self, K: Prior) -> float:
        assert self.log_scale is not None
        low, high = (replace(self, log_scale=self.log_scale + step) for step in (-_STEP, _STEP))
        pairs = [(output(self.scale), posterior) for output, posterior in zip(self.outputs, self.warm, strict=True)]
        if all(
            one.smooth and one.log_concave and said.engine == "expectation_propagation" and said.n == len(self.X)
            for one, said in pairs
        ):
            change = 0.0
            for output, posterior in zip(self.outputs, self.warm, strict=True):
                mean, variance = without_sites(posterior.mean, posterior.variances(), *posterior.sites)
                more, less = (output(side.scale).tilted_moments(mean, variance)[0] for side in (high, low))
                change += float(np.sum(more - less))
        else:
            more, less = (
                sum(posterior.log_evidence for _, posterior in side._infer(True, True, {"tol": _TIGHT}, K))
                for side in (high, low)
            )
            change = more - less
        return change / (2 * _STEP)

    def _slopes(self, found: list[tuple[GLM, Any]], dK: Any) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives in the kernel's parameters, and in the values of the mean function at X."""
        if self.low_rank is None:
            sensitivities = [
                posterior.sensitivity() if model is None else inference.evidence_sensitivity(model, posterior)
                for model, posterior in found
            ]
            by_covariance, by_mean = (np.sum(part, axis=0) for part in zip(*sensitivities, strict=True))
            return by_covariance.ravel() @ dK.reshape(by_covariance.size, -1), by_mean
        by_mean = np.zeros(len(self.X))

        def along(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            nonlocal by_mean
            parts = [inference.evidence_sensitivity(model, posterior, columns) for model, posterior in found]
            product, diagonal, by_mean = (np.sum(part, axis=0) for part in zip(*parts, strict=True))
            return product, diagonal

        return kernel_gradient(self._basis(), self.X, along), by_mean


def _over(posterior: Any, n: int) -> Posterior | None:
    """The posterior's sites as a start where there are further inputs by now."""
    if posterior is None or (isinstance(posterior, Posterior) and posterior.n == n):
        return posterior
    return Posterior(None, mean=np.zeros(n), sites=posterior.sites, group_lengths=[len(posterior.sites[0])])
