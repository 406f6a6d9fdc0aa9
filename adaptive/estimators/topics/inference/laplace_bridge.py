"""Dirichlet <-> Gaussian in the softmax basis y, proportions = softmax(y), sum y = 0 (appendix C of the source).

    "laplace"   mean_k = log a_k - mean(log a)          variance_k = (1 - 2/K) / a_k + sum_l (1 / a_l) / K^2
    "moments"   mean_k = psi(a_k) - mean(psi(a))        variance_k = (1 - 2/K) psi'(a_k) + sum_l psi'(a_l) / K^2

The first is Laplace's: in this basis the density is prop to prod softmax(y)_k^a_k, whose mode is there also where
a_k < 1. The second has the exact moments, which for sparse proportions are far wider (K = 5, a = .1: 81 against 8).
Back, Laplace's bridge takes a_k = (1 - 2/K + exp(mean_k) sum_l exp(-mean_l) / K^2) / variance_k, and that of moments
the one Dirichlet that has these means and this sum of variances. Forward then back is the identity; back then forward
is not.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numba
import numpy as np

from adaptive import checks
from adaptive.estimators.topics.inference.special import digamma, inverse_digamma, trigamma

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["covariance", "dirichlet", "gaussian"]

KINDS = ("laplace", "moments")


def gaussian(concentration: ArrayLike, kind: str = "laplace") -> tuple[np.ndarray, np.ndarray]:
    """Means and variances, in the softmax basis, of Dirichlet distributions.

    Parameters
    ----------
    concentration : (..., K) array, positive, K >= 2
    kind : {"laplace", "moments"}
        Laplace's approximation, or the exact moments.

    Returns
    -------
    mean, variance : (..., K) arrays

    References
    ----------
    P. Hennig (2010), appendix C; D. MacKay (1998), Choice of basis for Laplace approximation.

    Examples
    --------
    >>> mean, variance = gaussian([1.0, 1.0, 4.0])
    >>> dirichlet(mean, variance).round(12)
    array([1., 1., 4.])
    """
    exact = checks.choice("kind", kind, KINDS) == "moments"
    rows, shape = _rows("concentration", concentration)
    checks.positive("concentration", rows)
    mean, variance = np.empty_like(rows), np.empty_like(rows)
    for row, m, v in zip(rows, mean, variance, strict=True):
        to_gaussian(row, exact, m, v)
    return mean.reshape(shape), variance.reshape(shape)


def covariance(concentration: ArrayLike) -> np.ndarray:
    """Laplace's covariance (K, K) of one Dirichlet,  Q diag(1 / a) Q  with  Q = I - 1 1' / K.

    Examples
    --------
    >>> np.allclose(np.diag(covariance([1.0, 2.0, 3.0])), gaussian([1.0, 2.0, 3.0])[1])
    True
    """
    inverse = 1.0 / checks.positive("concentration", concentration)
    share = inverse / len(inverse)
    return np.diag(inverse) - share[:, None] - share[None, :] + inverse.mean() / len(inverse)


def dirichlet(mean: ArrayLike, variance: ArrayLike, kind: str = "laplace") -> np.ndarray:
    """Dirichlet distributions for Gaussians of the softmax basis; a shift of all means changes nothing.

    Parameters
    ----------
    mean, variance : (..., K) arrays, K >= 2
    kind : {"laplace", "moments"}
        Which bridge is taken back. That of moments keeps the means and the sum of the variances.

    Returns
    -------
    concentration : (..., K) array
    """
    exact = checks.choice("kind", kind, KINDS) == "moments"
    means, shape = _rows("mean", mean)
    variances = _rows("variance", np.broadcast_to(checks.positive("variance", variance), shape))[0]
    found = np.empty_like(means)
    for m, v, row in zip(means, variances, found, strict=True):
        to_dirichlet(m, v, exact, row)
    return found.reshape(shape)


def _rows(name: str, values: ArrayLike) -> tuple[np.ndarray, tuple[int, ...]]:
    array = checks.finite(name, values)
    if array.ndim == 0 or array.shape[-1] < 2:
        raise ValueError(f"{name} must have two or more entries along its last axis, got shape {array.shape}.")
    return np.ascontiguousarray(array).reshape(-1, array.shape[-1]), array.shape


# The same for one distribution, in place, for compiled loops.
@numba.njit(cache=True)
def to_gaussian(concentration: np.ndarray, exact: bool, mean: np.ndarray, variance: np.ndarray) -> None:
    """Fill ``mean`` and ``variance``."""
    K = len(concentration)
    centre = spread = 0.0
    for k in range(K):
        a = concentration[k]
        mean[k] = digamma(a) if exact else math.log(a)
        variance[k] = trigamma(a) if exact else 1.0 / a
        centre += mean[k] / K
        spread += variance[k] / (K * K)
    for k in range(K):
        mean[k] -= centre
        variance[k] = variance[k] * (1.0 - 2.0 / K) + spread


@numba.njit(cache=True)
def to_dirichlet(mean: np.ndarray, variance: np.ndarray, exact: bool, concentration: np.ndarray) -> None:
    """Fill ``concentration``."""
    if exact:
        _of_moments(mean, variance, concentration)
        return
    K = len(mean)
    lowest = mean.min()
    total = 0.0
    for k in range(K):
        total += math.exp(lowest - mean[k])
    shift = math.log(total) - lowest - 2.0 * math.log(K)
    for k in range(K):
        concentration[k] = (1.0 - 2.0 / K + math.exp(min(mean[k] + shift, 700.0))) / variance[k]


@numba.njit(cache=True)
def _of_moments(mean: np.ndarray, variance: np.ndarray, concentration: np.ndarray) -> None:
    """psi(a_k) = mean_k + c, where c solves  sum psi'(a_k) = T := sum(variances) / (1 - 1/K),  falling in c.

    Newton's method on the logarithm of the sum, inside a bracket: the largest term, of the smallest a, is between T / K
    and T, and  1 / a + 1 / (2 a^2) <= psi'(a) <= 1 / a + 1 / a^2.
    """
    K = len(mean)
    lowest = mean.min()
    total = variance.sum() / (1.0 - 1.0 / K)
    wanted = math.log(total)
    low = digamma((1.0 + math.sqrt(1.0 + 2.0 * total)) / (2.0 * total)) - lowest
    high = digamma((1.0 + math.sqrt(1.0 + 4.0 * total / K)) / (2.0 * total / K)) - lowest
    shift = 0.5 * (low + high)
    for _ in range(200):
        found = slope = 0.0
        for k in range(K):
            a = inverse_digamma(mean[k] + shift)
            concentration[k] = a
            found += trigamma(a)
            slope += _tetragamma(a) / trigamma(a)
        excess = math.log(found) - wanted
        if excess > 0.0:
            low = shift
        else:
            high = shift
        if abs(excess) < 1e-15 or high - low < 1e-15 * (1.0 + abs(shift)):
            return
        newton = shift - excess * found / slope
        shift = newton if low < newton < high else 0.5 * (low + high)


@numba.njit(cache=True)
def _tetragamma(x: float) -> float:
    """The derivative of trigamma at x > 0, negative; good to a few digits, which a Newton step needs."""
    total = 0.0
    while x < 6.0:
        total -= 2.0 / (x * x * x)
        x += 1.0
    square = 1.0 / (x * x)
    return total - square * (1.0 + 1.0 / x + square * (0.5 - square / 6.0))
