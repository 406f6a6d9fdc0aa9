"""One held-out pair per user: the split, the normalised rank, hits among the first ten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

__all__ = ["Split", "judged", "split_pairs"]

TOGETHER = 256


@dataclass(frozen=True)
class Split:
    """A table of counts, and a pair of each user that is not in it.

    Attributes
    ----------
    table : sparse (users, items)
    users, items : (n,) arrays
    """

    table: sparse.csr_matrix
    users: np.ndarray
    items: np.ndarray


def split_pairs(table: sparse.csr_matrix, seed: int, least: int = 2) -> Split:
    """Leave out one different item, at random, of each user who has so many."""
    rng, table = np.random.default_rng(seed), table.copy()
    users = np.flatnonzero(np.diff(table.indptr) >= least)
    at = table.indptr[users] + np.floor(rng.random(len(users)) * np.diff(table.indptr)[users]).astype(np.int64)
    items = table.indices[at].copy()
    table.data[at] = 0.0
    table.eliminate_zeros()
    return Split(table, users, items)


def judged(score: Callable[[np.ndarray], np.ndarray], split: Split) -> dict[str, np.ndarray]:
    """Ranks of the held-out items, ties at random ("rank") or lost ("strict"), and whether among the first ten ("hit").

    ``score`` takes users (n,) and returns (n, items).
    """
    found: dict[str, np.ndarray] = {name: np.empty(len(split.users)) for name in ("rank", "strict", "hit")}
    for first in range(0, len(split.users), TOGETHER):
        users, items = (part[first : first + TOGETHER] for part in (split.users, split.items))
        scores = np.array(score(users), dtype=float)
        own = scores[np.arange(len(users)), items]
        scores[split.table[users].nonzero()] = np.nan
        left = np.sum(~np.isnan(scores), axis=1)
        below, equal = np.sum(scores < own[:, None], axis=1), np.sum(scores == own[:, None], axis=1) - 1
        above = left - below - equal - 1
        part = slice(first, first + len(users))
        found["rank"][part], found["strict"][part] = (below + 0.5 * equal) / left, below / left
        found["hit"][part] = np.clip((10 - above) / (equal + 1.0), 0.0, 1.0)
    return found
