"""The softmax likelihood of c classes, and a proved bound of its expectation under Gaussian scores.

    p(y | s) = exp(s_y - l(s)),    l(s) = ln sum_k exp s_k,

and for every distribution N(m, V) of the scores and every vector a that adds up to one,

    E l(s) <= ln sum_k exp( m_k + (e_k - a)' V (e_k - a) / 2 )                                               (tilted)

*Proof.*  l(s) = a's + ln sum_k exp(s_k - a's), since a's can be taken out of the logarithm.  The logarithm is concave,
so by Jensen's inequality  E l <= a'm + ln sum_k E exp((e_k - a)'s), and the scalar (e_k - a)'s is Gaussian with mean
m_k - a'm and variance (e_k - a)'V(e_k - a).

The right side is convex in a (a logarithm of a sum of exponentials of convex quadratics); its minimum has

    a = softmax(m_k + V_kk / 2 - (V a)_k),    slope in m: a,    slope in V: (diag(a) - a a') / 2,

so that a row adds the curvature of a softmax at the softened probabilities a, which couples the classes.

*Why this bound.*  At its minimum it is never above Boehning's fixed-curvature bound,  l(m) + tr((I - 11'/c) V) / 4:
both are l(m) at V = 0, and along t V the slope of the first is tr((diag a - a a') V) / 2 <= tr((I - 11'/c) V) / 4,
which is Boehning's own lemma.  Bouchard's bound, ln prod_k (1 + exp(s_k - alpha)) + alpha in place of the sum, is loose
by up to a nat even at V = 0, and its posterior has no correlation between classes.  The price is one factorisation of
all classes' weights together, where Boehning's matrix is fixed and Bouchard's falls into c blocks.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import linalg

__all__ = ["SoftmaxBound", "contrasts", "softmax_bound", "softmax_mode"]


class SoftmaxBound(NamedTuple):
    """Return for each row the bound of E l(s) (m,), the tilt a (m, c), and twice the slope in V (m, c, c)."""

    value: np.ndarray
    tilt: np.ndarray
    curvature: np.ndarray


@cache
def contrasts(n_classes: int) -> np.ndarray:
    """Return an orthonormal basis (c, c - 1) of score vectors that add up to zero; a softmax depends on these alone.

    Examples
    --------
    >>> contrasts(2).round(3)
    array([[ 0.707],
           [-0.707]])
    """
    basis = linalg.helmert(n_classes).T
    basis.setflags(write=False)
    return basis


def softmax_bound(
    mean: np.ndarray, covariance: np.ndarray, start: np.ndarray | None = None, tol: float = 1e-9
) -> SoftmaxBound:
    """Return the tilted bound of E ln sum_k exp s_k, minimised over the tilt by Newton's method.

    Parameters
    ----------
    mean : (m, c) array
        Of the scores.
    covariance : (m, c, c) array
    start : (m, c) array, optional
        Tilts to begin with, rows adding up to one.
    tol : float, default 1e-9
        Largest difference of the tilt from its fixed point.  The bound holds at any tilt.

    References
    ----------
    D. Knowles and T. Minka (2011), Non-conjugate variational message passing for multinomial and binary regression,
    section 5.1 (the tilted bound, there for independent scores).  D. Boehning (1992), Multinomial logistic regression
    algorithm.  G. Bouchard (2007), Efficient bounds for the softmax function.

    Examples
    --------
    >>> bound = softmax_bound(np.zeros((1, 3)), np.eye(3)[None])
    >>> bound.value.round(4), bound.tilt.round(4)
    (array([1.4319]), array([[0.3333, 0.3333, 0.3333]]))
    """
    from adaptive.potentials.softmax_tilts import tilts  # compiles when it is first used

    mean, covariance = np.ascontiguousarray(mean, dtype=float), np.ascontiguousarray(covariance, dtype=float)
    tilt = np.array(_softmax(mean)[1] if start is None else start, dtype=float)
    value, image = np.empty(len(mean)), np.empty_like(tilt)
    tilts(mean, covariance, tilt, tol, value, image)
    gap = image - tilt
    curvature = _softmax_curvature(image) + gap[:, :, None] * gap[:, None, :]
    return SoftmaxBound(value, image, curvature)


def softmax_mode(mean: np.ndarray, covariance: np.ndarray, start: np.ndarray | None = None) -> SoftmaxBound:
    """Return l, its slope and its curvature at the mean: what Laplace's method looks at, whatever the covariance."""
    value, probabilities = _softmax(mean)
    return SoftmaxBound(value, probabilities, _softmax_curvature(probabilities))


def _softmax(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logarithms of the sums of exponentials (m,), and the softmax (m, c), without SciPy's checks."""
    peak = scores.max(axis=1)
    table = np.exp(scores - peak[:, None])
    total = table.sum(axis=1)
    return peak + np.log(total), table / total[:, None]


def _softmax_curvature(p: np.ndarray) -> np.ndarray:
    """diag(p) - p p', (m, c, c)."""
    return p[:, :, None] * (np.eye(p.shape[1]) - p[:, None, :])
