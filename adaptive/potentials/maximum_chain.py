"""The largest of many correlated Gaussians, two at a time, forward and inverse:

    m_1 = x_1,  m_j = max(m_{j-1}, x_j),    c <- P c + Q S[j]        covariances of the running maximum with all

Each running maximum is taken for a Gaussian: good where one input dominates or all are alike, poor for nested scales.
The inverse goes backwards: the message about m_j is its posterior over its prior.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from adaptive.potentials.gaussian_maximum import larger, with_message

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["LargestOf", "largest_of", "smallest_of"]

_LEAST = 1e-3  # of 1 + p v: a message of negative precision never makes a belief broader than 1000 times


@njit(cache=True)
def _chain(
    mean: np.ndarray, s: np.ndarray, p: float, e: float, moments: np.ndarray, shared: np.ndarray, inputs: np.ndarray
) -> None:
    """Fill moments of the maximum, its covariances and weights (shared), and moments of the inputs."""
    n = len(mean)
    means, variances, cross = np.empty(n), np.empty(n), np.zeros(n)
    means[0], variances[0] = mean[0], s[0, 0]
    covariances, weights = s[0].copy(), np.zeros(n)
    weights[0] = 1.0
    for j in range(1, n):
        cross[j] = covariances[j]
        means[j], variances[j], first = larger(means[j - 1], variances[j - 1], mean[j], s[j, j], cross[j])
        for i in range(n):
            covariances[i] = first * covariances[i] + (1.0 - first) * s[j, i]
        weights[:j] *= first
        weights[j] = 1.0 - first
    moments[0], moments[1] = means[n - 1], variances[n - 1]
    shared[0], shared[1] = covariances, weights
    two, block, out = np.empty(2), np.empty((2, 2)), np.empty(10)
    for j in range(n - 1, 0, -1):
        two[0], two[1] = means[j - 1], mean[j]
        block[0, 0], block[1, 1], block[0, 1], block[1, 0] = variances[j - 1], s[j, j], cross[j], cross[j]
        p = max(p, (_LEAST - 1.0) / max(block[0, 0], block[1, 1]))
        with_message(two, block, p, e, out)
        if j == n - 1:
            moments[0], moments[1] = out[1], out[2]
        inputs[0, j], inputs[1, j] = out[6], out[9]
        after, before = max(out[7], 1e-300), variances[j - 1]
        if before <= 0.0:
            p, e = 0.0, 0.0
        else:
            p, e = 1.0 / after - 1.0 / before, out[5] / after - means[j - 1] / before
        if j == 1:
            inputs[0, 0], inputs[1, 0] = out[5], out[7]
    if n == 1:
        left = 1.0 + p * s[0, 0]
        inputs[0, 0], inputs[1, 0] = mean[0] + s[0, 0] * (e - p * mean[0]) / left, s[0, 0] / left
        moments[0], moments[1] = inputs[0, 0], inputs[1, 0]


class LargestOf(NamedTuple):
    """Moments of the largest (smallest) of n, and of all after what is known of it.

    Attributes
    ----------
    mean, variance : float
    covariances : (n,) array
        Of the maximum with each input, before the message.
    weights : (n,) array
        Probability of each to be it, at the chain's moments; they sum to one.
    input_mean, input_variance : (n,) arrays
        After the message.
    """

    mean: float
    variance: float
    covariances: np.ndarray
    weights: np.ndarray
    input_mean: np.ndarray
    input_variance: np.ndarray


def largest_of(
    mean: ArrayLike, covariance: ArrayLike, message_mean: float = 0.0, message_variance: float = math.inf
) -> LargestOf:
    """Return moments of max(x_1, ..., x_n), x ~ N(mean, covariance), given a message N(m; mean, variance) about it.

    Parameters
    ----------
    mean : (n,) array-like
    covariance : (n, n) array-like
    message_mean, message_variance : float
        An infinite variance says nothing.

    References
    ----------
    P. Hennig (2010), appendix A.4; C. E. Clark (1961).

    Examples
    --------
    Of five independent standard normals (exact: 1.163 and 0.4475):

    >>> found = largest_of([0.0] * 5, np.eye(5))
    >>> round(found.mean, 3), round(found.variance, 3)
    (1.164, 0.42)
    """
    inputs, s = np.array(mean, dtype=float), np.ascontiguousarray(covariance, dtype=float)
    n = len(inputs)
    if n == 0 or s.shape != (n, n):
        raise ValueError(f"covariance must be (n, n) beside mean (n,), got {s.shape} beside {inputs.shape}.")
    if not message_variance > 0:
        raise ValueError(f"message_variance must be positive, got {message_variance}.")
    p = 1.0 / message_variance
    moments, shared, after = np.empty(2), np.empty((2, n)), np.empty((2, n))
    _chain(inputs, s, p, p * message_mean, moments, shared, after)
    return LargestOf(float(moments[0]), float(moments[1]), shared[0], shared[1], after[0], after[1])


def smallest_of(
    mean: ArrayLike, covariance: ArrayLike, message_mean: float = 0.0, message_variance: float = math.inf
) -> LargestOf:
    """Return the same of the smallest:  min(x) = -max(-x)."""
    found = largest_of(-np.asarray(mean, dtype=float), covariance, -message_mean, message_variance)
    return found._replace(mean=-found.mean, input_mean=-found.input_mean)
