"""Comparisons that it may take until the order, or the set, is known:  C_n^-1 = C^-1 + sum over steps of n_t L_t.

Truths are drawn from what is believed, and each is the end of a path. On it comparisons go where they are needed by
then, as a run that chooses would have it: to pairs that are in doubt, and of which one is among the best (for the set:
and the other is not). A comparison tells of a difference d what Fisher's information says. A path ends where the
likeliest order, or set, of its Gaussian is probable enough for the first time.

What a list of comparisons is worth is the mean of that probability after it:  x + C H' (H C H' + R)^-1 (y - H x - e)
turns draws x of what is believed into draws given the answers y of one truth (Matheron's rule), with R the inverse of
the information of the list about its differences H.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from adaptive.estimators.preferences.strengths.outcomes import chances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adaptive.estimators import BradleyTerry

__all__ = ["Further", "Promise", "expected", "further"]

TRUTHS, DRAWS = (100, 400), 256  # paths of many items, of few
FUTURES, WIDE = 400, 1024  # truths on which a list is tried, and draws of what is believed by then
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
        'To be sure (0.9) it will take roughly 140 further comparisons, or with bad luck 610.'
        >>> Further(None, None).words(0.9, " of this order")
        'To be sure of this order (0.9) it will take more than 82,000 further comparisons: some are too alike.'
        """
        beyond = f"more than {GRID[-1] / 1000:.0f},000"
        start = f"To be sure{of} ({sure:g}) it will take"
        if self.half is None:
            return f"{start} {beyond} further comparisons: some are too alike."
        unlucky = f"{self.most:,}" if self.most else beyond
        return f"{start} roughly {self.half:,} further comparisons, or with bad luck {unlucky}."


class Promise(NamedTuple):
    """Worth of a list of comparisons.

    Attributes
    ----------
    probability : float
        Of the likeliest order, or set, once they are answered: its mean.
    reached : float
        Chance that it is as high as is wanted then.
    """

    probability: float
    reached: float


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
    paths = int(np.clip(12_000 // n, *TRUTHS))
    truths = drawn[rng.choice(len(drawn), paths, replace=False)]
    gaps = truths[:, :, None] - truths[:, None, :]
    information = _information(model, gaps, _skills(model)[1])
    precision = np.tile(np.linalg.inv(covariance), (paths, 1, 1))
    shift = precision @ mean
    centre, after = np.tile(mean, (paths, 1)), np.tile(covariance, (paths, 1, 1))
    normals, key = rng.standard_normal((DRAWS, n)), rng.integers(2**40, size=k)
    known, shares = np.zeros(paths, dtype=bool), list[float]()
    for more in np.diff(GRID, prepend=0).tolist():
        told = more * information * _shares(centre, after, k, any_order)
        noise = np.triu(rng.standard_normal((paths, n, n)), 1)
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


def expected(
    model: BradleyTerry, listed: Sequence[tuple[str, ...]], k: int, sure: float, seed: int, *, any_order: bool = False
) -> Promise:
    """Return how probable the likeliest order of the best k is expected to be after a list of comparisons.

    Parameters
    ----------
    model : BradleyTerry, fitted
    listed : list of (left, right) or (left, right, judge)
        What is to be compared; a pair stands in it as often as it is.
    k : int
        1 to the number of items.
    sure : float
        The probability that is wanted.
    seed : int
    any_order : bool
        Who they are is enough.
    """
    rng = np.random.default_rng(seed)
    mean, covariance = model.strengths()
    k = min(k, len(mean) - 1)  # who is left is last
    place = {name: row for row, name in enumerate(model.items_.tolist())}
    ends = [tuple(sorted((place[one[0]], place[one[1]]))) for one in listed]
    often = Counter((pair, one[2] if one[2:] else None) for pair, one in zip(ends, listed, strict=True))
    pairs = sorted(set(ends))
    skills, usual = _skills(model)
    differences = np.zeros((len(pairs), len(mean)))
    for row, (first, second) in enumerate(pairs):
        differences[row, first], differences[row, second] = 1.0, -1.0
    spread = covariance @ differences.T
    truths = rng.permutation(model.belief_.draws(1024, seed).strengths)[:FUTURES]
    gaps = truths @ differences.T
    told = np.zeros_like(gaps)
    for (pair, judge), times in often.items():
        row = pairs.index(pair)
        told[:, row] += times * _information(model, gaps[:, row], skills.get(judge, usual))
    drawn = rng.multivariate_normal(mean, covariance, WIDE, method="cholesky")
    key, seen = rng.integers(2**40, size=k), drawn @ differences.T
    after = []
    for gap, known in zip(gaps, told, strict=True):
        deviation = np.maximum(known, 1e-12) ** -0.5
        noise = deviation * rng.standard_normal((WIDE + 1, len(pairs)))  # of the answers, and of each draw
        away = gap + noise[0] - seen - noise[1:]
        gain = np.linalg.solve(differences @ spread + np.diag(deviation**2), away.T)
        after.append(_probability(drawn + (spread @ gain).T, key, any_order))
    now = (model.top_set(k) if any_order else model.order(k))[1]
    moved = np.clip(now + np.array(after) - _probability(drawn, key, any_order), 0.0, 1.0)
    return Promise(max(float(np.mean(moved)), now), float(np.mean(moved >= sure)))


def _skills(model: BradleyTerry) -> tuple[dict[Any, float], float]:
    """Return the judges' skills, where they are learnt, and their mean."""
    skills = {name: one.skill for name, one in model.judges_.items()} if model.belief_.settings.judged else {}
    return skills, float(np.mean(list(skills.values()))) if skills else 1.0


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
