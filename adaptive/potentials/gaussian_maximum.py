"""The larger of two correlated Gaussians, forward and inverse:  m = max(x_1, x_2),  x ~ N(mean, covariance).

Without a message about m, with a^2 = v_1 + v_2 - 2 c, k = (m_1 - m_2)/a, P = Phi(k), Q = 1 - P (Clark, 1961):

    E m = m_2 + (m_1 - m_2) P + a phi,    Var m = v_1 P + v_2 Q + a^2 [k^2 P Q + k phi (Q - P) - phi^2],
    Cov(y, m) = P Cov(y, x_1) + Q Cov(y, x_2)        for any y that is jointly Gaussian with x.

With a message exp(e m - p m^2/2), either input is the larger one: conditioned on the message and cut to x_i > x_j it is
a Gaussian whose moments have closed forms, and the two cases are weighed by their masses.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from adaptive.potentials.truncated_gaussian import positive_part

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Maximum", "larger", "maximum", "minimum", "with_message"]

_ROOT_HALF = math.sqrt(0.5)
_SQRT_2PI = math.sqrt(2 * math.pi)
_CERTAIN = 39.0  # standard deviations: erfc and density are zero beyond
_EQUAL = 1e-12  # share of the variances below which a difference has none: perfect correlation, equal variances


@njit(cache=True)
def larger(m1: float, v1: float, m2: float, v2: float, c: float) -> tuple[float, float, float]:
    """Return mean and variance of the larger one, and P that it is the first."""
    d = m1 - m2
    a2 = v1 + v2 - 2.0 * c
    if a2 <= _EQUAL * (v1 + v2):
        if d > 0.0 or (d == 0.0 and v1 >= v2):
            return m1, v1, 1.0
        return m2, v2, 0.0
    a = math.sqrt(a2)
    k = d / a
    if abs(k) > _CERTAIN:  # products below underflow to zero, or where k^2 overflows to NaN
        return (m1, v1, 1.0) if k > 0.0 else (m2, v2, 0.0)
    first = 0.5 * math.erfc(-k * _ROOT_HALF)
    second = 0.5 * math.erfc(k * _ROOT_HALF)
    density = math.exp(-0.5 * k * k) / _SQRT_2PI
    mean = m2 + d * first + a * density if first < 0.5 else m1 - d * second + a * density
    spread = k * k * first * second + k * density * (second - first) - density * density
    return mean, max(v1 * first + v2 * second + a2 * spread, 0.0), first


@njit(cache=True)
def with_message(mean: np.ndarray, s: np.ndarray, p: float, e: float, out: np.ndarray) -> None:
    """Write log mass, E m, Var m, weights (2), E x (2), Cov x (11, 12, 22) given the message exp(e m - p m^2 / 2).

    The mass is that of the message as it stands, about mean[0]: exp(e' (m - mean[0]) - p (m - mean[0])^2 / 2).
    """
    shifted = e - p * mean[0]
    logs, centre, spread = np.empty(2), np.empty((2, 2)), np.empty((2, 3))
    for i in range(2):
        j = 1 - i
        at = mean[i] - mean[0]
        left = 1.0 + p * s[i, i]
        gain = (shifted - p * at) / left
        own, other = mean[i] + s[i, i] * gain, mean[j] + s[j, i] * gain
        v_own, v_cross = s[i, i] / left, s[i, j] / left
        v_other = s[j, j] - s[j, i] * s[j, i] * p / left
        logs[i] = -0.5 * math.log(left) + 0.5 * (shifted * shifted * s[i, i] + 2 * shifted * at - p * at * at) / left
        c_own, c_other = v_own - v_cross, v_cross - v_other  # covariances with the difference x_i - x_j
        v = c_own - c_other
        if v <= _EQUAL * (v_own + v_other):
            certain = own > other or (own == other and i == 0)
            logs[i] += 0.0 if certain else -math.inf
            shift, shrink = 0.0, 0.0
        else:
            z = (own - other) / math.sqrt(v)
            log_mass, delta, relative = positive_part(z)
            if z < 0.0:
                log_mass -= 0.5 * z * z
                ratio = delta - z
            else:
                ratio = math.exp(-0.5 * z * z - log_mass) / _SQRT_2PI
            logs[i] += log_mass
            shift, shrink = ratio / math.sqrt(v), (1.0 - relative) / v
        centre[i, i], centre[i, j] = own + c_own * shift, other + c_other * shift
        spread[i, 2 * i] = v_own - c_own * c_own * shrink
        spread[i, 2 * j] = v_other - c_other * c_other * shrink
        spread[i, 1] = v_cross - c_own * c_other * shrink
    top = max(logs[0], logs[1])
    total = top + math.log(math.exp(logs[0] - top) + math.exp(logs[1] - top))
    first, second = math.exp(logs[0] - total), math.exp(logs[1] - total)
    d0, d1, d = centre[0, 0] - centre[1, 0], centre[0, 1] - centre[1, 1], centre[0, 0] - centre[1, 1]
    between = first * second
    out[0] = total
    out[1] = first * centre[0, 0] + second * centre[1, 1]
    out[2] = max(first * spread[0, 0] + second * spread[1, 2] + between * d * d, 0.0)
    out[3], out[4] = first, second
    out[5] = first * centre[0, 0] + second * centre[1, 0]
    out[6] = first * centre[0, 1] + second * centre[1, 1]
    out[7] = first * spread[0, 0] + second * spread[1, 0] + between * d0 * d0
    out[8] = first * spread[0, 1] + second * spread[1, 1] + between * d0 * d1
    out[9] = first * spread[0, 2] + second * spread[1, 2] + between * d1 * d1


class Maximum(NamedTuple):
    """Beliefs about the larger (smaller) of two and about both, after the message.

    Attributes
    ----------
    log_normaliser : float
        log of the integral of the message over the belief; 0 without one.
    mean, variance : float
        Of the maximum.
    weights : (2,) array
        Probability of either to be it.
    input_mean : (2,) array
    input_covariance : (2, 2) array
    """

    log_normaliser: float
    mean: float
    variance: float
    weights: np.ndarray
    input_mean: np.ndarray
    input_covariance: np.ndarray


def maximum(
    mean: ArrayLike, covariance: ArrayLike, message_mean: float = 0.0, message_variance: float = math.inf
) -> Maximum:
    """Return moments of max(x_1, x_2) and of the inputs, x ~ N(mean, covariance), given a message N(m; mean, variance).

    Parameters
    ----------
    mean : (2,) array-like
    covariance : (2, 2) array-like
    message_mean, message_variance : float
        What is known of the maximum from elsewhere; an infinite variance says nothing.

    References
    ----------
    P. Hennig (2010), appendix A; C. E. Clark (1961), The greatest of a finite set of random variables.

    Examples
    --------
    The inverse problem of figure A.4:

    >>> found = maximum([1.0, 1.0], [[1.0, -0.5], [-0.5, 1.0]], message_mean=2.0, message_variance=1.0)
    >>> found.input_mean.round(3), found.input_covariance.diagonal().round(3)
    (array([1.059, 1.059]), array([0.943, 0.943]))
    """
    inputs, s = np.asarray(mean, dtype=float), np.asarray(covariance, dtype=float)
    if not message_variance > 0:
        raise ValueError(f"message_variance must be positive, got {message_variance}.")
    p = 1.0 / message_variance
    out = np.empty(10)
    with_message(inputs, s, p, p * message_mean, out)
    log_normaliser = 0.0
    if p > 0:
        away = message_mean - inputs[0]
        log_normaliser = float(out[0] + 0.5 * math.log(p / (2 * math.pi)) - 0.5 * p * away * away)
    return Maximum(
        log_normaliser, float(out[1]), float(out[2]), out[3:5].copy(), out[5:7].copy(),
        np.array([[out[7], out[8]], [out[8], out[9]]]),
    )  # fmt: skip


def minimum(
    mean: ArrayLike, covariance: ArrayLike, message_mean: float = 0.0, message_variance: float = math.inf
) -> Maximum:
    """Return the same of the smaller one:  min(x) = -max(-x).

    Examples
    --------
    >>> round(minimum([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]).mean, 6)
    -0.56419
    """
    found = maximum(-np.asarray(mean, dtype=float), covariance, -message_mean, message_variance)
    return found._replace(mean=-found.mean, input_mean=-found.input_mean)
