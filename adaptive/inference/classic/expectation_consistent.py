"""Expectation-consistent inference: a free energy whose stationary points are those of expectation propagation.

    ln Z_EC = ln Z_q + ln Z_r - ln Z_s,
    q: all potentials with a factorised Gaussian,  r: the Gaussian part with one,  s: a factorised Gaussian alone,

parameters lambda_s = lambda_q + lambda_r; stationary where the three agree about means and variances. The double loop
always converges: the inner problem, over lambda_q at fixed lambda_s, is convex; the outer step sets lambda_s to the
moments that q and r agree on, and ln Z_EC rises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import integer, positive
from adaptive.inference.dense.problem import DenseProblem
from adaptive.inference.model import GLM
from adaptive.inference.posterior import Posterior

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["expectation_consistent"]

_START_PRECISION = 0.3  # of lambda_s beyond the prior's
_INNER_STEPS, _INNER_TOL = 50, 1e-14


def expectation_consistent(
    model: GLM,
    *,
    max_iter: int = 200,
    tol: float = 1e-7,
    random_state: RandomState = None,
    warm_start: Posterior | None = None,
    form: str | None = None,
) -> Posterior:
    """The double loop of expectation-consistent inference; expectation_propagation gets to the same point sooner.

    Parameters
    ----------
    model : GLM
        Log-concave potentials, and a Gaussian part that determines the latent.
    max_iter : int, default 200
        Outer steps.
    tol : float, default 1e-7
        Stop when an outer step raises ln Z_EC by less than this, relative to 1 + |ln Z_EC|.
    random_state, warm_start : ignored
        Every engine takes them.
    form : {"precision", "covariance"}, optional

    Returns
    -------
    Posterior
        ``evidence_kind`` is "approximation"; ``objective_trace`` is -ln Z_EC and never rises.

    Raises
    ------
    ValueError
        If the Gaussian part does not determine every unknown.

    References
    ----------
    Opper and Winther (2005), Expectation consistent approximate inference, section 4.

    Examples
    --------
    >>> from adaptive.inference import GLM, expectation_propagation
    >>> from adaptive.potentials import BernoulliLogit
    >>> model = GLM(potentials=BernoulliLogit([1, -1]), prior_covariance=[[4.0, 1.0], [1.0, 4.0]])
    >>> gap = expectation_consistent(model).log_evidence - expectation_propagation(model).log_evidence
    >>> bool(abs(gap) < 1e-5)
    True
    """
    max_iter, tol = integer("max_iter", max_iter, minimum=0), float(positive("tol", tol, or_zero=True))
    problem = DenseProblem(model, "expectation_propagation", None, form)
    problem.engine = "expectation_consistent"
    if problem.size == 0:
        return problem.exact()
    if not problem.gaussian.determined:
        raise ValueError("expectation_consistent needs a Gaussian part that determines every unknown.")
    energy = _FreeEnergy(problem)
    trace: list[float] = []
    value, n_iter, converged = -np.inf, 0, False
    while n_iter < max_iter and not converged:
        n_iter += 1
        before, value = value, energy.inner()
        trace.append(-max(value, before))
        converged = value - before <= tol * (1.0 + abs(value))
        if not converged:
            energy.outer()
    problem.refit(*energy.sites)
    return problem.finish(value, "approximation", trace, n_iter=n_iter, converged=converged)


class _FreeEnergy:
    """ln Z_EC at (linear, precision) parameters of s and q, one pair per projection."""

    def __init__(self, problem: DenseProblem):
        self.problem, self.potential = problem, problem.potential
        none = np.zeros(problem.size)
        problem.refit(none, none)
        mean, variance = problem.gaussian.marginals()
        self.s = np.stack([mean / variance, 1.0 / variance + _START_PRECISION])
        self.q = np.stack([mean / variance, 1.0 / variance])

    @property
    def sites(self) -> np.ndarray:
        """Precision and precision-mean of r's factors."""
        linear, precision = self.s - self.q
        return np.stack([precision, linear])

    def _value(self, q: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """ln Z_q + ln Z_r, the moments (mean, variance) of q and of r, and r's covariance."""
        linear, precision = q
        site_linear, site_precision = self.s - q
        gaussian = self.problem.gaussian
        gaussian.refit(site_precision, site_linear)
        s, rows = gaussian.projections, self.problem.rows
        log_r = gaussian.log_volume + float(site_linear @ s - 0.5 * site_precision @ s**2)
        log_normaliser, mean, variance = self.potential.tilted_moments(linear / precision, 1.0 / precision)
        log_q = float(np.sum(log_normaliser + _log_gaussian(linear, precision)))
        covariance = gaussian.project_covariance(rows, rows)
        return log_q + log_r, np.stack([mean, variance]), np.stack([s, covariance.diagonal()]), covariance

    def inner(self) -> float:
        """Minimise over q by Newton's method, q's own moments taken for a Gaussian's; ln Z_EC there."""
        value, of_q, of_r, covariance = self._value(self.q)
        for _ in range(_INNER_STEPS):
            gradient = np.concatenate([of_q[0] - of_r[0], 0.5 * (_second(of_r) - _second(of_q))])
            step = -np.linalg.solve(_fisher(of_q[0], np.diag(of_q[1])) + _fisher(of_r[0], covariance), gradient)
            slope = float(gradient @ step)
            if -slope < _INNER_TOL * (1.0 + abs(value)):
                break
            length = 1.0
            while length > 1e-8:
                q = self.q + length * step.reshape(2, -1)
                try:
                    if np.all(q[1] > 0):
                        trial = self._value(q)
                        if trial[0] <= value + 1e-4 * length * slope:
                            break
                except np.linalg.LinAlgError:
                    pass
                length *= 0.5
            else:
                break
            self.q = q
            value, of_q, of_r, covariance = trial
        value, of_q, of_r, _ = self._value(self.q)
        self._moments = 0.5 * (of_q + of_r)
        return value - float(np.sum(_log_gaussian(*self.s)))

    def outer(self) -> None:
        """Set s to the moments that q and r agree on; r's factors stay what they are."""
        mean, variance = self._moments
        sites = self.s - self.q
        self.s = np.stack([mean / variance, 1.0 / variance])
        q = self.s - sites
        self.q = np.where(q[1] > 0, q, self.q)


def _log_gaussian(linear: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """ln int exp(linear s - precision s^2 / 2) ds."""
    return 0.5 * (linear**2 / precision + np.log(2 * np.pi / precision))


def _second(moments: np.ndarray) -> np.ndarray:
    """E s^2."""
    return moments[0] ** 2 + moments[1]


def _fisher(mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Covariance of (s, -s^2 / 2) under N(mean, covariance): the Hessian in (linear, precision)."""
    cross = -covariance * mean
    square = 0.5 * covariance**2 + mean[:, None] * covariance * mean
    return np.block([[covariance, cross], [cross.T, square]])
