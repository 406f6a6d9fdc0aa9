"""Counts as outcomes: mixtures of Poisson, negative binomial or binomial distributions on few places.

    sum_y f(y)  =  sum_y s(y) f(y)  +  int (1 - s(y)) f(y) dy,        s falls smoothly from 1 to 0 between 100 and 300

Small counts are places of their own.  Beyond, what is added up is smooth in y, so that an integral is the sum; it is
taken in the scale in which every distribution is about as wide,

    Poisson  t = sqrt(y)    negative binomial  t = asinh(sqrt(a y)) / sqrt(a)    binomial  t = sqrt(n) asin sqrt(y/n)

by the trapezoidal rule: places grow with the square root of the largest count, and errors are far below 1e-4 nats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numba
import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import expit, gammaln

__all__ = ["CountMixture", "Places", "binomial_places", "mixture_of_counts", "poisson_places", "thinned"]

EXACT, SMOOTH = 100.0, 300.0  # counts up to the first are places of their own; beyond the second none is
STEP = 0.2  # of the scale t, in which a distribution has a deviation of 1/2
FAR = 5.0  # of the scale: ten deviations
NEGLIGIBLE = 1e-14  # beside the largest probability
MOST_SHARES = 20_000
DEEP = 40.0  # nats below its top where a distribution ends
NEAR_END = 2.0  # of the scale
FINE = 0.05  # of the scale, between points that particles are put on


@dataclass(frozen=True, eq=False)
class Places:
    """Counts and their weights: sum_y f(y) ~ sum_j weights_j f(counts_j).

    Attributes
    ----------
    counts, weights : (J,) arrays, counts ascending
    constant : (J,) array
        log of what of a probability no parameter touches: -log y!, or log of n over y.
    trials : float or None
        n of a binomial.
    """

    counts: np.ndarray
    weights: np.ndarray
    constant: np.ndarray
    trials: float | None = None


def _share(y: np.ndarray) -> np.ndarray:
    """s(y): 1 up to `EXACT`, 0 from `SMOOTH` on, all derivatives continuous."""
    u = np.clip((y - EXACT) / (SMOOTH - EXACT), 1e-9, 1.0 - 1e-9)
    return expit(1.0 / u - 1.0 / (1.0 - u))


def poisson_places(low: float, high: float, least: float = 0.0, most: float = 0.0) -> Places:
    """Return places for means from ``low`` to ``high``, of overdispersion (variance - mean) / mean^2 ``least`` to
    ``most``.

    Examples
    --------
    >>> places = poisson_places(0.01, 1e6)
    >>> len(places.counts) < 6000
    True
    """
    bottom, top = max(math.sqrt(low) - FAR, 0.0) ** 2, (math.sqrt(high) + FAR) ** 2
    if most > 0:
        deviation, tail = math.sqrt(high + most * high * high), 1.0 + most * high  # Gaussian near, exponential far
        bottom, top = 0.0, high + 2.0 * FAR * deviation + DEEP * tail
    lattice = np.arange(0.0, math.ceil(min(top, 2.0 * SMOOTH)) + 1.0)
    if top <= 2.0 * SMOOTH:
        return Places(lattice, np.ones(len(lattice)), -gammaln(lattice + 1.0))
    lattice = lattice[lattice < SMOOTH] if bottom < SMOOTH else lattice[:0]
    root = math.sqrt(least)

    def scale(y: float) -> float:
        return math.asinh(root * math.sqrt(y)) / root if root > 0 else math.sqrt(y)

    step = min(STEP, (scale(SMOOTH) - scale(EXACT)) / 36.0)
    t = np.arange(scale(max(bottom, EXACT)), scale(top) + step, step)
    y = np.square(np.sinh(root * t) / root if root > 0 else t)
    weights = 2.0 * np.sqrt(y * (1.0 + least * y)) * step * (1.0 - _share(y))
    counts = np.concatenate([lattice, y])
    order = np.argsort(counts, kind="stable")
    counts, weights = counts[order], np.concatenate([_share(lattice), weights])[order]
    return Places(counts, weights, -gammaln(counts + 1.0))


def binomial_places(trials: float) -> Places:
    """Return places for the counts of so many trials.

    Examples
    --------
    >>> places = binomial_places(10)
    >>> round(float(places.weights @ np.exp(places.constant)))  # all subsets
    1024
    """
    n = float(trials)
    if n <= 2.0 * SMOOTH:
        counts = np.arange(0.0, n + 1.0)
        weights = np.ones(len(counts))
    else:
        lattice = np.arange(0.0, SMOOTH)
        t = np.arange(
            math.asin(math.sqrt(EXACT / n)), 0.5 * np.pi - math.asin(math.sqrt(EXACT / n)), STEP / math.sqrt(n)
        )
        y = n * np.square(np.sin(t))
        inner = STEP * math.sqrt(n) * np.sin(2.0 * t) * (1.0 - _share(y)) * (1.0 - _share(n - y))
        counts = np.concatenate([lattice, y, n - lattice])
        weights = np.concatenate([_share(lattice), inner, _share(lattice)])
        order = np.argsort(counts, kind="stable")
        counts, weights = counts[order], weights[order]
    return Places(counts, weights, gammaln(n + 1.0) - gammaln(counts + 1.0) - gammaln(n - counts + 1.0), n)


@dataclass(frozen=True, eq=False)
class CountMixture:
    """A mixture on places: p(y) there, and the mean entropy of its parts.

    Attributes
    ----------
    places : Places
    probabilities : (J,) array
    part_entropy : float
        sum_k w_k H(y | k), nats.
    """

    places: Places
    probabilities: np.ndarray
    part_entropy: float

    @property
    def entropy(self) -> float:
        """H(y), nats."""
        p = self.probabilities
        positive = p > 0
        return float(-(self.places.weights[positive] * p[positive]) @ np.log(p[positive]))

    @cached_property
    def shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Counts (n,) and their probabilities: one by one, or of many the probabilities of as many steps."""
        places, p = self.places, self.probabilities
        if (places.weights == 1.0).all():
            return places.counts, p
        likely = np.flatnonzero(p > NEGLIGIBLE * p.max())
        counts, first = np.unique(places.counts[likely], return_index=True)
        if len(counts) < 4:
            return places.counts, places.weights * p
        between = CubicSpline(np.sqrt(counts), np.log(p[likely][first]))
        low, high = math.ceil(counts[0]), math.floor(counts[-1])
        step = max(1, -(-(high - low + 1) // MOST_SHARES))
        found = np.arange(low, high + 1.0, step)
        return found, step * np.exp(between(np.sqrt(found)))

    def quantiles(self, levels: np.ndarray) -> np.ndarray:
        """Return the least counts (q,) up to which at least these shares lie."""
        counts, shares = self.shares
        below = np.cumsum(shares)
        at = np.searchsorted(below, np.asarray(levels) * below[-1] * (1.0 - 1e-12), side="left")
        return counts[np.minimum(at, len(below) - 1)]


def thinned(weights: np.ndarray, scale: np.ndarray, end: float = np.inf) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and places (g,) of the scale that stand for many particles (k,), by cubic interpolation.

    Those near 0 and near ``end``, where entropies are not smooth, stay as they are, and so do all where others would
    not be fewer.  Weights may be slightly negative.
    """
    inner = (scale > NEAR_END) & (scale < end - NEAR_END)
    if not inner.any():
        return weights, scale
    own, low = scale[inner], float(scale[inner].min())
    n = math.ceil((float(own.max()) - low) / FINE) + 4
    if 2 * n > len(own):
        return weights, scale
    x = (own - low) / FINE
    i = np.minimum(x.astype(np.intp), n - 4)
    f = x - i
    parts = (
        -f * (f - 1.0) * (f - 2.0) / 6.0, (f + 1.0) * (f - 1.0) * (f - 2.0) / 2.0,
        -(f + 1.0) * f * (f - 2.0) / 2.0, (f + 1.0) * f * (f - 1.0) / 6.0,
    )  # fmt: skip
    masses = np.zeros(n)
    for k, part in enumerate(parts):
        masses += np.bincount(i + k, weights[inner] * part, minlength=n)
    at = low + FINE * (np.arange(n) - 1.0)
    return np.concatenate([weights[~inner], masses]), np.concatenate([scale[~inner], at])


def mixture_of_counts(
    places: Places, weights: np.ndarray, means: np.ndarray, overdispersion: np.ndarray | None = None
) -> CountMixture:
    """Return the mixture of particles (k,) of these weights: of mean counts, or of a binomial's chances.

    Parameters
    ----------
    places : Places
    weights : (k,) array
    means : (k,) array
    overdispersion : (k,) array, optional
        (variance - mean) / mean^2 of negative binomials.
    """
    spread, constant, common = np.zeros(0), places.constant, False
    if overdispersion is not None and overdispersion.max() > 0:
        spread = np.ascontiguousarray(overdispersion)
        common = bool(spread.min() == spread.max())
        if common:  # what one overdispersion makes of all counts is said once
            constant = constant + gammaln(places.counts + 1.0 / spread[0]) - gammaln(1.0 / spread[0])
    elif places.trials is None:
        weights, scale = thinned(weights, np.sqrt(means))
        means = np.square(scale)
    else:
        root = math.sqrt(places.trials)
        weights, scale = thinned(weights, root * np.arcsin(np.sqrt(means)), 0.5 * np.pi * root)
        means = np.square(np.sin(scale / root))
    p = np.zeros(len(places.counts))
    trials = -1.0 if places.trials is None else places.trials
    entropy = _add(
        p, places.counts, places.weights, constant, np.ascontiguousarray(weights),
        np.ascontiguousarray(means), spread, common, trials, DEEP,
    )  # fmt: skip
    return CountMixture(places, np.maximum(p, 0.0), entropy)


@numba.njit(cache=True, nogil=True)
def _log_probability(y: float, constant: float, mean: float, spread: float, common: bool, trials: float) -> float:
    tiny = 1e-300
    if trials >= 0:
        return constant + y * math.log(max(mean, tiny)) + (trials - y) * math.log(max(1.0 - mean, tiny))
    if spread > 0:
        r = 1.0 / spread
        log_ratio = -math.log1p(mean * spread)  # of r / (r + mean)
        odds = math.log(max(mean * spread, tiny)) + log_ratio
        shared = 0.0 if common else math.lgamma(y + r) - math.lgamma(r)
        return constant + shared + r * log_ratio + y * odds
    return constant + y * math.log(max(mean, tiny)) - mean


@numba.njit(cache=True, nogil=True)
def _add(
    p: np.ndarray, counts: np.ndarray, sizes: np.ndarray, constant: np.ndarray, weights: np.ndarray,
    means: np.ndarray, spread: np.ndarray, common: bool, trials: float, deep: float,
) -> float:  # fmt: skip
    """Add all parts to p (J,), from the top of each to both sides; return sum_k w_k H(y | k)."""
    n, total = len(counts), 0.0
    for k in range(len(weights)):
        if weights[k] == 0.0:
            continue
        mean, own = means[k], spread[k] if len(spread) else 0.0
        top = mean * trials if trials >= 0 else max(mean * (1.0 - own), 0.0)
        start = min(np.searchsorted(counts, top), n - 1)
        highest, entropy = -np.inf, 0.0
        for direction in (1, -1):
            j = start if direction == 1 else start - 1
            while 0 <= j < n:
                log_p = _log_probability(counts[j], constant[j], mean, own, common, trials)
                highest = max(highest, log_p)
                if log_p < highest - deep:
                    break
                each = math.exp(log_p)
                p[j] += weights[k] * each
                entropy -= sizes[j] * each * log_p
                j += direction
        total += weights[k] * entropy
    return total
