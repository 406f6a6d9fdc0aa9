"""How many comparisons it may take until the order is known:  C_n = (C^-1 + n L)^-1,  L by where the truth lies.

Truths are drawn from what is believed. Of each, comparisons go where they are needed, as a run that chooses would have
it: to those whose order counts, the more the less they differ. A comparison tells of a difference d what Fisher's
information says. The Gaussian after n of them follows along a path, and the run ends where its likeliest order is
probable enough for the first time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adaptive.estimators.preferences.strengths.outcomes import chances

if TYPE_CHECKING:
    from adaptive.estimators import BradleyTerry

__all__ = ["Further", "further"]

TRUTHS, DRAWS = 100, 256
GRID = np.round(5 * 2.0 ** (0.5 * np.arange(29))).astype(int)  # comparisons: 5 to 82,000
CLOSE = 0.1  # logits: items closer than this share comparisons as if they were so far apart
STEP = 1e-3


class Further(NamedTuple):
    """Comparisons until the order is known: half of the truths need no more than ``half``, nine of ten than ``most``.

    None: more than 82,000.
    """

    half: int | None
    most: int | None

    def words(self, sure: float) -> str:
        """Return what it says to a person.

        Examples
        --------
        >>> Further(140, 610).words(0.9)
        'To be sure (0.9) it will take about 140 further comparisons, or with bad luck 610.'
        >>> Further(None, None).words(0.9)
        'To be sure (0.9) it will take more than 82,000 further comparisons: some are too alike.'
        """
        beyond = f"more than {GRID[-1] // 1000 * 1000:,}"
        start = f"To be sure ({sure:g}) it will take"
        if self.half is None:
            return f"{start} {beyond} further comparisons: some are too alike."
        unlucky = f"{self.most:,}" if self.most else beyond
        return f"{start} about {self.half:,} further comparisons, or with bad luck {unlucky}."


def further(model: BradleyTerry, k: int, sure: float, seed: int) -> Further:
    """Return how many further comparisons, well chosen, make the order of the best k probable enough.

    Parameters
    ----------
    model : BradleyTerry, fitted
    k : int
        1 to the number of items.
    sure : float
        The probability that is wanted.
    seed : int
    """
    belief, rng = model.belief_, np.random.default_rng(seed)
    mean, covariance = model.strengths()
    n = len(mean)
    k = min(k, n - 1)  # who is left is last
    drawn = belief.draws(1024, seed).strengths
    truths = drawn[rng.choice(len(drawn), TRUTHS, replace=False)]
    skill = np.mean([one.skill for one in model.judges_.values()]) if belief.settings.judged else 1.0
    told = _information(model, truths[:, :, None] - truths[:, None, :], float(skill)) * _shares(truths, k)
    before = np.linalg.inv(covariance)
    laplacian = -told
    laplacian[:, range(n), range(n)] = told.sum(axis=2)
    toward = np.einsum("sij,sj->si", laplacian, truths)
    normals, key = rng.standard_normal((DRAWS, n)), rng.integers(2**40, size=k)
    known, push, shares = np.zeros(TRUTHS, dtype=bool), np.zeros((TRUTHS, n)), list[float]()
    for count, more in zip(GRID.tolist(), np.diff(GRID, prepend=0).tolist(), strict=True):
        noise = np.triu(rng.standard_normal((TRUTHS, n, n)), 1)
        push += (np.sqrt(more * told) * (noise - np.swapaxes(noise, 1, 2))).sum(axis=2)  # ~ N(0, count L) in all
        after = np.linalg.inv(before + count * laplacian)
        centre = np.einsum("sij,sj->si", after, before @ mean + count * toward + push)
        roots = np.linalg.cholesky(0.5 * (after + np.swapaxes(after, 1, 2)))
        for s in np.flatnonzero(~known).tolist():
            known[s] = _probability(centre[s] + normals @ roots[s].T, key) >= sure
        shares.append(float(np.mean(known)))
        if shares[-1] >= 0.9:
            break
    return Further(_reached(shares, 0.5), _reached(shares, 0.9))


def _shares(truths: np.ndarray, k: int) -> np.ndarray:
    """Shares (truths, n, n) of the comparisons, each pair twice: every one of the best k against all behind it."""
    rank = np.argsort(np.argsort(-truths, axis=1), axis=1)
    gap = truths[:, :, None] - truths[:, None, :]
    ahead = np.minimum(rank[:, :, None], rank[:, None, :]) < k
    shares = np.where(ahead, 1.0 / (gap**2 + CLOSE**2), 0.0)
    shares[:, range(truths.shape[1]), range(truths.shape[1])] = 0.0
    return shares / (0.5 * shares.sum(axis=(1, 2), keepdims=True))


def _information(model: BradleyTerry, gap: np.ndarray, skill: float) -> np.ndarray:
    """Fisher's information of a comparison about the difference of its two."""
    tau = np.array(model.belief_.posterior.mean[-1])

    def said(d: np.ndarray) -> np.ndarray:
        second, even, first = chances(d, tau, bool(model.ties))
        return np.stack([skill * first + (1 - skill) * second, even, skill * second + (1 - skill) * first])

    slope = (said(gap + STEP) - said(gap - STEP)) / (2 * STEP)
    return np.asarray((slope**2 / np.maximum(said(gap), 1e-300)).sum(axis=0))


def _probability(strengths: np.ndarray, key: np.ndarray) -> float:
    """Share (draws, n) of the likeliest order of the first, which has the numbers ``key`` for its places."""
    if len(key) == 1:
        return float(np.bincount(np.argmax(strengths, axis=1)).max()) / len(strengths)
    codes = np.argsort(-strengths, axis=1)[:, : len(key)] @ key
    return float(np.unique(codes, return_counts=True)[1].max()) / len(strengths)


def _reached(shares: list[float], level: float) -> int | None:
    """Comparisons at which so many of the truths are known, to two figures; None: beyond the grid."""
    place = next((k for k, share in enumerate(shares) if share >= level), None)
    if place is None:
        return None
    count = float(GRID[place])
    if place:
        low, high = shares[place - 1], shares[place]
        count = float(GRID[place - 1]) * (GRID[place] / GRID[place - 1]) ** ((level - low) / (high - low))
    return int(float(f"{count:.2g}"))
