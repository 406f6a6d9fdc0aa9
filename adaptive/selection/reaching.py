"""Candidates whose score may reach what the leaders have: the others' moments are never computed.

Vote entropy and information gain of two outcomes that are mirror images are, with p_k the probability (or the share of
votes) of an outcome under component k and E_k its expected entropy given the projection (0 of votes),

    score  =  H( sum_k w_k p_k )  -  sum_k w_k E_k.

The rarer outcome's probability falls with |mean| and grows with the variance; E falls with |mean| and is least at one
end of any interval of variances.  So one table over cells of (mean / sqrt(3 + size), size) bounds all three from the
`Envelope` of a candidate: the score is at most that of the sum nearest to 1/2, with the least E.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit
from scipy.special import entr, ndtr

from adaptive import scorers

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.predictive.envelope import Envelope

__all__ = ["reaching"]

ROUNDING = 3e-6  # of tabulated averages
OCTAVES, PER_OCTAVE = (-10, 14), 8  # of sizes
STEPS, AT_ONE = 96, 48.0  # cells of the root of |mean| / sqrt(3 + size), those up to 1; the last goes on to infinity
FINE = 4096  # cells of a probability
_BITS = 23 - 3  # of the fraction of a number in single precision, all but three: 8 cells an octave


class _Cells(NamedTuple):
    scales: np.ndarray  # (sizes,) of means
    table: np.ndarray  # (sizes, k, STEPS, 3): w times the least and largest probability of the rarer, and the least E
    weights: np.ndarray  # (k,)
    slack: float  # of scaled means
    first: int  # the first cell of sizes, as bits


def _edges() -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest size of each cell; the first begins at 0."""
    octave, eighth = np.divmod(np.arange((OCTAVES[1] - OCTAVES[0]) * PER_OCTAVE + 1), PER_OCTAVE)
    edges = 2.0 ** (octave + OCTAVES[0]) * (1.0 + eighth / PER_OCTAVE)
    return np.concatenate([[0.0], edges[1:-1]]), edges[1:]


def _votes(family: Any, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return ndtr(-mean / np.sqrt(np.maximum(variance, 1e-300))), np.zeros(mean.shape)


def _averages(family: Any, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    probability, _, expected = family.outcome_averages(-mean, variance)
    return probability, expected


SIDES: dict[Any, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    scorers.query_by_committee: _votes,
    scorers.information_gain: _averages,
}


def reaching(score: Any, predictive: Predictive, floor: float) -> np.ndarray | None:
    """Return the positions of the candidates whose score may be ``floor`` or more; None where that is not known.

    Parameters
    ----------
    score : scorer
    predictive : Predictive
    floor : float

    Returns
    -------
    (j,) array of int, or None
    """
    side, envelope = SIDES.get(score), predictive.envelope() if np.isfinite(floor) else None
    if side is None or envelope is None:
        return None
    family = predictive.components[0][1].likelihood
    if not hasattr(family, "outcome_averages"):  # Bernoulli of the logit, whose outcomes are mirror images
        return None
    name = side.__name__
    if name not in envelope.kept:
        envelope.kept[name] = _cells(side, family, envelope)
    cells: _Cells = envelope.kept[name]
    marks = np.empty(len(envelope.sizes), dtype=np.bool_)
    bits = envelope.sizes.view(np.int32)
    _mark(envelope.means, bits, *cells, _ENTROPIES, float(floor) - ROUNDING, marks)
    return np.flatnonzero(marks)


def _cells(side: Callable[..., Any], family: Any, envelope: Envelope) -> _Cells:
    least, largest = _edges()
    scales = 1.0 / np.sqrt(3.0 + largest)
    slack = float((envelope.slack * np.sqrt(largest / (3.0 + largest)).max()).max()) + 1e-6
    edges = np.square(np.arange(STEPS) / AT_ONE)
    near, far = np.maximum(edges - slack, 0.0), edges[1:] + slack
    table = np.zeros((len(scales), len(envelope.weights), STEPS, 3))  # nothing is left at infinity
    shape = len(scales), STEPS
    for k, (weight, low, high) in enumerate(zip(envelope.weights, envelope.low, envelope.high, strict=True)):
        top = np.broadcast_to((high * largest)[:, None], shape)
        bottom = np.broadcast_to((low * least)[:, None], shape)
        close, distant = near / scales[:, None], far / scales[:, None]
        table[:, k, :, 1] = weight * np.minimum(side(family, close, top)[0] + ROUNDING, 0.5)
        (least_p, at_bottom), (_, at_top) = (side(family, distant, one[:, :-1]) for one in (bottom, top))
        table[:, k, :-1, 0] = weight * np.maximum(least_p - ROUNDING, 0.0)
        table[:, k, :-1, 2] = weight * np.maximum(np.minimum(at_bottom, at_top) - ROUNDING, 0.0)
    first = int(np.float32(2.0 ** OCTAVES[0]).view(np.int32)) >> _BITS
    weights = envelope.weights.astype(np.float32)
    return _Cells(scales.astype(np.float32), table.astype(np.float32), weights, slack, first)


def _entropies() -> np.ndarray:
    """Return the largest binary entropy in each cell of probabilities up to 1/2."""
    ends = np.minimum((np.arange(FINE // 2 + 1) + 1.0) / FINE, 0.5)
    return entr(ends) + entr(1.0 - ends)


_ENTROPIES = _entropies()


@njit(cache=True, nogil=True)
def _mark(
    means: np.ndarray,
    bits: np.ndarray,
    scales: np.ndarray,
    table: np.ndarray,
    weights: np.ndarray,
    slack: float,
    first: int,
    entropies: np.ndarray,
    floor: float,
    marks: np.ndarray,
) -> None:
    """Mark candidates whose bound is ``floor`` or more; sizes beyond the table always are."""
    for i in range(len(bits)):
        cell = (bits[i] >> _BITS) - first
        if cell >= len(scales):
            marks[i] = True
            continue
        cell = max(cell, 0)
        scale, lower, upper, expected = scales[cell], 0.0, 0.0, 0.0
        for k in range(means.shape[0]):
            x = means[k, i] * scale
            least, most, left = table[cell, k, min(int(math.sqrt(abs(x)) * AT_ONE), STEPS - 1)]
            expected += left
            if x > slack:
                lower += weights[k] - most
                upper += weights[k] - least
            elif x < -slack:
                lower += least
                upper += most
            else:
                lower += least
                upper += weights[k] - least
        nearest = min(max(1.0 - lower if lower > 0.5 else upper, 0.0), 0.5)
        marks[i] = entropies[int(nearest * FINE)] - expected >= floor
