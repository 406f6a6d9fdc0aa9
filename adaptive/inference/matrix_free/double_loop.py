"""The double loop by products only: marginal variances from samples (or Lanczos), the rest from conjugate gradients.

    inner   u, gamma minimise  |X u - y|^2 / (2 noise) + sum_j inner(s_j; z1, z2, z3),   s = B u     (`Reweighted`)
    outer   nu = diag(B A^-1 B'),  A = X' X / noise + B' diag(1 / gamma) B,  and z from nu by the log-determinant bound

Samples are drawn with the same random numbers in every outer step (`Perturbations`), so that nu changes only as far as
gamma does; they start from those of the step before. A step ends with nu, so that mean, gamma and samples belong to one
Gaussian. Unknowns are real; a complex one is its real and imaginary part (`RealStacked`).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.checks import choice, generator, integer, positive
from adaptive.gaussians.gaussian_part import LOG_2PI
from adaptive.inference.compatibility import require_compatible
from adaptive.inference.matrix_free.large_posterior import LargePosterior
from adaptive.inference.matrix_free.reweighted_least_squares import Reweighted
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior, kept_rows
from adaptive.linalg import Perturbations, stochastic_log_determinant, variances

if TYPE_CHECKING:
    from adaptive.linalg import LowRankCovariance
    from adaptive.types import Covariance, DType, Number, RandomState

__all__ = ["VARIANCES", "matrix_free_bounds"]

VARIANCES = ("sampled", "lanczos")
_FLOOR = 0.1  # of its standard error: the least an estimate may be, since a variance of zero would never rise again
_SMALLEST = 1e-12  # of the largest variance


def matrix_free_bounds(
    model: GLM,
    *,
    variances: str = "sampled",
    logdet_bound: int | None = None,
    max_iter: int = 20,
    tol: float = 1e-2,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
    n_samples: int = 16,
    n_steps: int = 100,
    reorthogonalise: str = "full",
    inner_steps: int = 3,
    inner_tol: float = 1e-4,
    reduction: float = 0.1,
    sample_tol: float = 2e-2,
    dtype: DType = float,
    evidence: bool = False,
) -> LargePosterior:
    """`variational_bounds` for ``variances="sampled"`` or ``"lanczos"``; see there.

    Parameters
    ----------
    n_samples : int, default 16
        Perturb-and-MAP samples; a relative error of sqrt(2 / n_samples) without, and much less with, the circulant
        control variate.
    n_steps : int, default 100
        Lanczos products in each outer step.
    reorthogonalise : {"full", "none"}, default "full"
        Of the Lanczos vectors.
    inner_steps : int, default 3
        Least-squares problems in each outer step, at most.
    inner_tol : float, default 1e-4
        An inner loop ends when a step is this much shorter than the image.
    reduction : float, default 0.1
        By which conjugate gradients reduce the residual of each of these problems.
    sample_tol : float, default 2e-2
        Relative residual of the samples, in the norm of the preconditioner.
    dtype : {float32, float64}, default float64
        Precision of images.
    evidence : bool, default False
        Estimate the log evidence, by a stochastic log-determinant (300 products).
    """
    options = _checked(n_samples, n_steps, inner_steps, dtype)
    choice("variances", variances, VARIANCES)
    if logdet_bound not in (None, 1, 2):
        raise ValueError(f"logdet_bound must be 1, 2 or None, got {logdet_bound!r}.")
    loop = DoubleLoop(
        model,
        variances=variances,
        logdet_bound=logdet_bound,
        random_state=random_state,
        warm_start=warm_start,
        reorthogonalise=reorthogonalise,
        inner_tol=inner_tol,
        reduction=reduction,
        sample_tol=sample_tol,
        **options,
    )
    max_iter, tol = integer("max_iter", max_iter, minimum=0), float(positive("tol", tol, or_zero=True))
    change = np.inf
    trace: list[float] = []
    while len(trace) < max_iter and change > tol:
        change = loop.step()
        trace.append(loop.objective)
    converged = change <= tol or max_iter == 0
    if not converged:
        warnings.warn(
            f"variational_bounds has not converged after {len(trace)} outer steps: the widths still change by "
            f"{change:.1e} (tol {tol:.1e}); raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return loop.posterior(trace, converged, evidence)


class DoubleLoop:
    """The state of the double loop: the mean, the widths of the Gaussian bounds, and the marginal variances.

    Parameters
    ----------
    model : GLM
    warm_start : Posterior, optional
        Over the same latent; groups may have grown at their ends. A `LargePosterior` also hands on its samples and
        their random numbers.
    others
        As in `matrix_free_bounds`.

    Attributes
    ----------
    u : array (1, *latent shape)
    s, width, z : arrays (q,)
        Projections of u, widths gamma, marginal variances nu.
    objective : float
        Minus the certain part of the decrease so far: a bound on the objective up to a constant, if nu were exact.
    """

    def __init__(
        self,
        model: GLM,
        *,
        variances: str = "sampled",
        logdet_bound: int | None = None,
        random_state: RandomState = None,
        warm_start: Posterior | None = None,
        n_samples: int = 16,
        n_steps: int = 100,
        reorthogonalise: str = "full",
        inner_steps: int = 3,
        inner_tol: float = 1e-4,
        reduction: float = 0.1,
        sample_tol: float = 2e-2,
        dtype: DType = float,
    ):
        require_compatible(model, "variational_bounds")
        potential = model.potential
        if potential is None:
            raise ValueError(f'variances="{variances}" needs potentials; without any, variances="exact" is direct.')
        self.model, self.kind, self.potential = model, variances, potential
        self.least_squares = Reweighted(model, dtype)
        self.dtype = np.dtype(dtype)
        self.log_concave = bool(self.potential.log_concave)
        self.bound = logdet_bound or (2 if self.log_concave else 1)
        self.inner_steps, self.inner_tol, self.reduction = inner_steps, inner_tol, reduction
        self.n_steps, self.reorthogonalise, self.sample_tol = n_steps, reorthogonalise, sample_tol
        tilt, location = np.asarray(self.potential.tilt), np.asarray(self.potential.location)
        self.shifted = bool(np.any(tilt) or np.any(location) or not np.all(self.potential.super_gaussian))
        self.tilt, self.location = tilt, location
        self.share_clipped, self.objective = np.nan, 0.0
        self.samples: np.ndarray | None = None
        self._start(warm_start, n_samples, random_state)

    def _start(self, warm: Posterior | None, n_samples: int, random_state: RandomState) -> None:
        shape = self.least_squares.system.input_shape
        spread = np.concatenate(
            [np.broadcast_to(getattr(p, "spread", 1.0), (b.shape[0],)) for b, p in self.model.groups]
        ).astype(float)
        start = np.asarray(self.model.prior_mean) if warm is None else warm.mean
        self.width, self.z = self.potential.tight_width(self.location + spread), spread**2
        if warm is not None:
            rows = kept_rows(warm, self.model)
            kept = slice(None) if len(rows) == len(spread) else rows  # all of them: no need to gather
            with np.errstate(divide="ignore"):
                self.width[kept] = np.where(warm.sites[0] > 0, 1.0 / warm.sites[0], spread[kept] ** 2)
            known = warm.variance_estimates if isinstance(warm, LargePosterior) else None
            self.z[kept] = np.minimum(spread[kept] ** 2, self.width[kept]) if known is None else known
        self.u = start.reshape(1, *shape).astype(self.dtype)
        self.s = self.least_squares.system.project(self.u)[0]
        self.energy = self.least_squares.energy(self.u)
        if isinstance(warm, LargePosterior) and warm.perturbations.dtype == self.dtype:
            self.perturbations = warm.perturbations
            self.samples = warm.__dict__.get("samples")  # where they were drawn
        else:
            self.perturbations = Perturbations(n_samples, generator(random_state), self.dtype)
        self.start_seed = int(generator(0 if random_state is None else random_state).integers(2**31))

    # ------------------------------------------------------------------------------------------------------- one step
    def step(self) -> float:
        """One outer step; returns the root mean square change of ln gamma."""
        self._linearise()
        before = self.energy + self._minimum(self.s)[0]
        self.u, self.s, _, _ = self.least_squares.descend(
            self.u, self._sites, steps=self.inner_steps, reduction=self.reduction, tol=self.inner_tol, s=self.s
        )
        self.energy = self.least_squares.energy(self.u)
        old = self.width
        penalty, self.width = self._minimum(self.s)
        self.objective -= max(before - self.energy - penalty, 0.0)
        self.measure_variances()
        with np.errstate(divide="ignore", invalid="ignore"):
            change = np.log(self.width / old)
        return float(np.sqrt(np.mean(np.square(change[np.isfinite(change)]))))

    def measure_variances(self) -> None:
        """nu at the present widths, within [0, gamma]."""
        self.least_squares.weigh(1.0 / self.width)
        system = self.least_squares.system
        if self.kind == "lanczos":
            self.z = variances.lanczos(
                system, self.n_steps, reorthogonalise=self.reorthogonalise, random_state=self.start_seed
            ).estimate
        else:
            self.least_squares.precondition()
            z, error, info = variances.sampled(
                system,
                self.perturbations,
                circulant=self.least_squares.circulant,
                start=self.samples,
                tol=self.sample_tol,
            )
            self.samples, self.share_clipped = info["samples"], info["share_clipped"]
            self.least_squares.n_preconditionings += info["n_preconditionings"]
            self.z = np.clip(z, np.minimum(_FLOOR * error, self.width), self.width)
        self.z = np.maximum(self.z, _SMALLEST * self.z.max())

    def _linearise(self) -> None:
        """Coefficients of the bounds that are tight at the present widths."""
        self.z1: Number = 0.0
        self.z2: Number = self.z
        self.z3: Number = 0.0
        if self.bound == 1:
            self.z1, self.z2, self.z3 = np.maximum((1.0 - self.z / self.width) / self.width, 0.0), 0.0, 1.0
        if not self.log_concave:  # the height's concave part is replaced by its tangent
            self.z1 = self.z1 + self.potential.concave_height_slope(self.width)

    def _inner(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        return self.potential.inner(s, self.z1, self.z2, self.z3)

    def _minimum(self, s: np.ndarray) -> tuple[float, np.ndarray]:
        """The penalty at s, and the minimising widths."""
        value, width = self.potential.inner_minimum(s, self.z1, self.z2, self.z3)
        tilted = np.sum(self.tilt * (s - self.location)) if self.shifted else 0.0
        return float(np.sum(value) - tilted), width

    def _sites(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Precision and precision-mean of the parabola that touches the penalty at s."""
        if not self.shifted:
            return 1.0 / self.potential.inner_minimum(s, self.z1, self.z2, self.z3)[1], None
        _, first, _, width = self._inner(s)
        return 1.0 / width, s / width - (first - self.tilt)

    # ---------------------------------------------------------------------------------------------------------- the end
    def posterior(self, trace: list[float], converged: bool, evidence: bool) -> LargePosterior:
        precision = 1.0 / self.width
        self.least_squares.weigh(precision)
        if trace:
            shift = self._sites_at_end(precision)
        else:
            shift = precision * self.location + self.tilt
            if self.kind == "sampled":
                self.measure_variances()
        log_evidence, std = (np.nan, 0.0) if not evidence else self._log_evidence()
        if evidence and trace:
            trace = list(np.array(trace) - trace[-1] - log_evidence)
        return LargePosterior(
            self.least_squares.system,
            mean=self.u.astype(float).ravel(),
            perturbations=self.perturbations,
            samples=self.samples if self.kind == "sampled" else None,
            variance_estimates=self.z,
            share_clipped=self.share_clipped,
            sample_tol=self.sample_tol,
            lanczos_run=(self.n_steps, self.start_seed) if self.kind == "lanczos" else None,
            sites=(precision, shift),
            group_lengths=self.model.group_lengths,
            log_evidence=log_evidence,
            log_evidence_std=std,
            evidence_kind="approximation" if evidence else "none",
            objective_trace=trace,
            n_iter=len(trace),
            n_products=self.least_squares.system.n_products,
            converged=converged,
            engine="variational_bounds",
        )

    def _sites_at_end(self, precision: np.ndarray) -> np.ndarray:
        if not self.shifted:
            return np.zeros_like(precision)
        self._linearise()
        return precision * self.s - (self._inner(self.s)[1] - self.tilt)

    def _log_evidence(self) -> tuple[float, float]:
        """ln of the bounds' Gaussian integral, which takes an estimate of ln|A|; its standard error."""
        model, system = self.model, self.least_squares.system
        x = self.s.astype(float) - self.location
        bound = 0.0
        start = 0
        for b, p in model.groups:
            rows = slice(start, start + b.shape[0])
            start = rows.stop
            if p.bound == "contact":
                bound += float(np.sum(p.log_density(self.s[rows])))
            else:
                parabola = -0.5 * (x[rows] ** 2 / self.width[rows] + p.height(self.width[rows]))
                bound += float(np.sum(parabola + p.tilt * x[rows]))
        value = bound - self.least_squares.energy(self.u) + 0.5 * model.n * LOG_2PI
        value -= 0.5 * model.measurements * np.log(2 * np.pi * model.noise_variance)
        if model.prior_covariance is not None:
            value -= 0.5 * (model.n * LOG_2PI + _log_determinant(model.prior_covariance, model.n))
        self.least_squares.precondition()
        logdet, error = stochastic_log_determinant(
            system, circulant=self.least_squares.circulant, random_state=self.start_seed
        )
        return value - 0.5 * logdet, 0.5 * error


def _log_determinant(covariance: Covariance | LowRankCovariance, n: int) -> float:
    if np.ndim(covariance) == 2:
        return float(np.linalg.slogdet(np.asarray(covariance))[1])
    return float(np.sum(np.log(np.broadcast_to(np.asarray(covariance), (n,)))))


def _checked(n_samples: int, n_steps: int, inner_steps: int, dtype: DType) -> dict[str, Any]:
    precision = np.dtype(dtype)
    if precision.char not in "fd":
        raise ValueError(
            f"dtype must be float32 or float64 (a complex unknown is its two real parts, RealStacked), got {dtype!r}."
        )
    return {
        "n_samples": integer("n_samples", n_samples, minimum=2),
        "n_steps": integer("n_steps", n_steps, minimum=1),
        "inner_steps": integer("inner_steps", inner_steps, minimum=1),
        "dtype": precision,
    }
