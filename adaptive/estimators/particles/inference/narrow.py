"""Entropy of one mixture whose noise is too narrow for one grid: the octaves of its noise one after another.

    H  =  sum_o integral [ f(P_o) - f(P_o+1) ],        f(p) = -p log p,        P_o = the components of octave o or wider

Each difference is nought but near the components of its own octave, and smooth on their scale: the sum over a grid of
half their deviation, of which only those stretches exist, is as good as one over the whole line.  Wider components come
from the grid of the octave above, by six points.  Errors below 1e-3 nats at noise of 1e-9 beside 1.
"""

from __future__ import annotations

import warnings

import numpy as np

from adaptive.estimators.particles.inference.compiled import add_gaussians, from_coarser, minus_p_log_p

__all__ = ["narrow_entropy"]

REACH = 8.0  # deviations to either side of a mean
RESOLVED = 2.0**-44  # of the whole length: means of double precision are not told apart on less


def narrow_entropy(weights: np.ndarray, means: np.ndarray, deviations: np.ndarray) -> float:
    """Return the entropy of sum_k w_k N(m_k, s_k^2), nats, by k operations for each octave of noise.

    Parameters
    ----------
    weights : (k,) array, > 0, adding up to 1
    means : (k,) array
    deviations : (k,) array, > 0
        Below 2^-44 of the length of it all they are taken as so much, with a warning.

    Examples
    --------
    >>> far = narrow_entropy(np.array([0.5, 0.5]), np.array([0.0, 1.0]), np.array([1e-6, 1e-6]))
    >>> bool(abs(far - (0.5 * np.log(2 * np.pi * np.e) + np.log(1e-6) + np.log(2))) < 1e-6)
    True
    """
    low = float((means - REACH * deviations).min())
    resolved = RESOLVED * (float((means + REACH * deviations).max()) - low)
    if deviations.min() < resolved:
        warnings.warn(
            f"noise of {deviations.min():.3g} is too small for double precision beside outcomes that span "
            f"{resolved / RESOLVED:.3g}; entropies are those of noise {resolved:.3g}",
            stacklevel=2,
        )
        deviations = np.maximum(deviations, resolved)
    smallest = float(deviations.min())
    octave = np.floor(np.log2(deviations / smallest)).astype(int)
    octaves, members = np.unique(octave, return_inverse=True)
    components: list[tuple[np.ndarray, np.ndarray, np.ndarray, float]] = []
    spans: list[tuple[np.ndarray, np.ndarray]] = []
    for o, now in enumerate(octaves):
        own, step = members == o, 0.5 * smallest * 2.0**now
        places, spreads = (means[own] - low) / step, deviations[own] / step
        first, last = np.floor(places - REACH * spreads), np.ceil(places + REACH * spreads)
        if o:  # the stretches of finer grids need this one below them, and two more points on either side
            shift = now - octaves[o - 1]
            first = np.concatenate([first, (spans[-1][0] >> shift) - 3])
            last = np.concatenate([last, (spans[-1][1] >> shift) + 4])
        components.append((weights[own] / step, places, spreads, step))
        spans.append(_union(first.astype(np.int64), last.astype(np.int64)))
    total = 0.0
    wider, below = np.empty(0), spans[-1]
    for o in range(len(octaves) - 1, -1, -1):
        first, last = spans[o]
        own_weights, places, spreads, step = components[o]
        values = np.zeros(int((last - first + 1).sum()))
        if o < len(octaves) - 1:
            from_coarser(values, first, last, wider, *below, int(octaves[o + 1] - octaves[o]))
            total -= step * minus_p_log_p(values)
        add_gaussians(values, first, last, own_weights, places, spreads, REACH)
        total += step * minus_p_log_p(values)
        wider, below = values, (first, last)
    return total


def _union(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the stretches, in order and apart, that hold all first..last."""
    order = np.argsort(first, kind="stable")
    first, last = first[order], np.maximum.accumulate(last[order])
    fresh = np.flatnonzero(first[1:] > last[:-1] + 1) + 1
    return first[np.concatenate([[0], fresh])], last[np.concatenate([fresh - 1, [len(last) - 1]])]
