"""Comparisons that it may take until the order, or the set, is known:  C_n^-1 = C^-1 + sum over steps of n_t L_t.

Truths are drawn from what is believed, and each is the end of a path. On it comparisons go where they are needed by
then, as a run that chooses would have it: to pairs that are in doubt, and of which one is among the best (for the set:
and the other is not). A comparison tells of a difference d what Fisher's information says. A path ends where the
likeliest order, or set, of its Gaussian is probable enough for the first time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr

from adaptive.estimators.preferences.strengths.outcomes import chances

if TYPE_CHECKING:
    from adaptive.estimators import BradleyTerry

__all__ = ["Further", "further"]

TRUTHS, DRAWS = 100, 256
GRID = 10 * np.unique(np.round(2.0 ** (0.5 * np.arange(27)))).astype(int)  # comparisons in lists of ten, to 82,000
STEP = 1e-3


class Further(NamedTuple):
    """Comparisons until the order, or the set, is known: half the truths need ``half`` at most, nine of ten ``most``.

    None: more than 82,000.
    """

    half: int | None
    most: int | None

    def words(self, sure: float, of: str = "") -> str:
        """Return what it says to a person, where ``of`` says what is to be known.

        Examples
        --------
        >>> Further(140, 610).words(0.9)
        'To be sure (0.9) it will take about 140 further comparisons, or with bad luck 610.'
        >>> Further(None, None).words(0.9, " of this order")
        'To be sure of this order (0.9) it will take more than 82,000 further comparisons: some are too alike.'
        """
        beyond = f"more than {GRID[-1] / 1000:.0f},000"
        start = f"To be sure{of} ({sure:g}) it will take"
        if self.half is None:
            return f"{start} {beyond} further comparisons: some are too alike."
        unlucky = f"{self.most:,}" if self.most else beyond
        return f"{start} about {self.half:,} further comparisons, or with bad luck {unlucky}."


def further(model: BradleyTerry, k: int, sure: float, seed: int, *, any_order: bool = False) -> Further:
    """Return how many further comparisons, well chosen, make the order of the best k probable enough.

    Parameters
    ----------
    model : BradleyTerry, fitted
    k : int
        1 to the number of items.
    sure : float
        The probability that is wanted.
    seed : int
    any_order : bool
        Who they are is enough.
    """
    belief, rng = model.belief_, np.random.default_rng(seed)
    mean, covariance = model.strengths()
    n = len(mean)
    k = min(k, n - 1)  # who is left is last
    drawn = belief.draws(1024, seed).strengths
    truths = drawn[rng.choice(len(drawn), TRUTHS, replace=False)]
    skill = np.mean([one.skill for one in model.judges_.values()]) if belief.settings.judged else 1.0
    gaps = truths[:, :, None] - truths[:, None, :]
    information = _information(model, gaps, float(skill))
    precision = np.tile(np.linalg.inv(covariance), (TRUTHS, 1, 1))
    shift = precision @ mean
    centre, after = np.tile(mean, (TRUTHS, 1)), np.tile(covariance, (TRUTHS, 1, 1))
    normals, key = rng.standard_normal((DRAWS, n)), rng.integers(2**40, size=k)
    known, shares = np.zeros(TRUTHS, dtype=bool), list[float]()
    for more in np.diff(GRID, prepend=0).tolist():
        told = more * information * _shares(centre, after, k, any_order)
        noise = np.triu(rng.standard_normal((TRUTHS, n, n)), 1)
        shift += (told * gaps + np.sqrt(told) * (noise - np.swapaxes(noise, 1, 2))).sum(axis=2)
        precision -= told
        precision[:, range(n), range(n)] += told.sum(axis=2)
        after = np.linalg.inv(precision)
        after = 0.5 * (after + np.swapaxes(after, 1, 2))
        centre = np.einsum("sij,sj->si", after, shift)
        roots = np.linalg.cholesky(after)
        for s in np.flatnonzero(~known).tolist():
            known[s] = _probability(centre[s] + normals @ roots[s].T, key, any_order) >= sure
        shares.append(float(np.mean(known)))
        if shares[-1] >= 0.9:
            break
    return Further(_reached(shares, 0.5), _reached(shares, 0.9))


def _shares(mean: np.ndarray, covariance: np.ndarray, k: int, any_order: bool) -> np.ndarray:
    """Shares (paths, n, n) of the comparisons, each pair twice: of pairs with one of the best k, by their doubt.

    For the set of these the other one is none of them.
    """
    n = mean.shape[1]
    rank = np.argsort(np.argsort(-mean, axis=1), axis=1)
    own = covariance[:, range(n), range(n)]
    deviation = np.sqrt(np.maximum(own[:, :, None] + own[:, None, :] - 2.0 * covariance, 1e-12))
    first = ndtr((mean[:, :, None] - mean[:, None, :]) / deviation)
    among = np.minimum(rank[:, :, None], rank[:, None, :]) < k
    if any_order:
        among &= np.maximum(rank[:, :, None], rank[:, None, :]) >= k
    shares = np.where(among, first * (1.0 - first), 0.0) + 1e-12
    shares[:, range(n), range(n)] = 0.0
    return shares / (0.5 * shares.sum(axis=(1, 2), keepdims=True))


def _information(model: BradleyTerry, gap: np.ndarray, skill: float) -> np.ndarray:
    """Fisher's information of a comparison about the difference of its two."""
    tau = np.array(model.belief_.posterior.mean[-1])

    def said(d: np.ndarray) -> np.ndarray:
        second, even, first = chances(d, tau, bool(model.ties))
        return np.stack([skill * first + (1 - skill) * second, even, skill * second + (1 - skill) * first])

    slope = (said(gap + STEP) - said(gap - STEP)) / (2 * STEP)
    return np.asarray((slope**2 / np.maximum(said(gap), 1e-300)).sum(axis=0))


def _probability(strengths: np.ndarray, key: np.ndarray, any_order: bool) -> float:
    """Share (draws, n) of the likeliest order, or set, of the first: the numbers ``key`` stand for its places."""
    if len(key) == 1:
        return float(np.bincount(np.argmax(strengths, axis=1)).max()) / len(strengths)
    first = np.argsort(-strengths, axis=1)[:, : len(key)]
    codes = (np.sort(first, axis=1) if any_order else first) @ key
    return float(np.unique(codes, return_counts=True)[1].max()) / len(strengths)


def _reached(shares: list[float], level: float) -> int | None:
    """Comparisons at which so many of the truths are known, to two figures; None: beyond the grid."""
    place = next((k for k, share in enumerate(shares) if share >= level), None)
    if place is None:
        return None
    count = float(GRID[place])
    if place > 3:  # between steps that are longer than a list
        low, high = shares[place - 1], shares[place]
        count = float(GRID[place - 1]) * (GRID[place] / GRID[place - 1]) ** ((level - low) / (high - low))
    return int(float(f"{count:.2g}"))
