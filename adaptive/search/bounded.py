"""Best-first search over blocks of candidates: no block is scored whose bound is below the n-th best score."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adaptive.selection.ranking import SAME, best_positions

__all__ = ["Found", "best_of_blocks"]

_USELESS = 0.9  # a share scored from which on the search says that it saved nothing


@dataclass(frozen=True)
class Found:
    """Result of a search, and what it cost.

    Attributes
    ----------
    positions : (n,) array of int
        The best first; of pairs ``user * n_items + item``, as in ``designs.pool.Product(users, items)``.
    scores : (n,) array of float
        Not divided by cost.
    n_scored, n_candidates : int
        How many were scored, of how many.
    n_items : int
        Of pairs, else 1.

    Examples
    --------
    >>> from adaptive.search import best_rows
    >>> from adaptive import BayesianLogisticRegression
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> found = best_rows(BayesianLogisticRegression(prior_scale=1.0).fit(X[:30], X[:30, 0] > 0.5), X, 3)
    >>> found.positions.shape, found.scores.shape, found.n_candidates
    ((3,), (3,), 500)
    """

    positions: np.ndarray
    scores: np.ndarray
    n_scored: int
    n_candidates: int
    n_items: int = 1

    @property
    def share(self) -> float:
        """The share of the candidates that were scored."""
        return self.n_scored / self.n_candidates

    @property
    def pairs(self) -> np.ndarray:
        """(n, 2) positions of user and item."""
        return np.column_stack(np.divmod(self.positions, self.n_items))

    def __str__(self) -> str:
        scored = f"{self.n_scored:,} of {self.n_candidates:,} candidates scored ({self.share:.2%})"
        return f"best {len(self.positions)}: {scored}" + (
            ", the bounds excluded next to nothing" if self.useless else ""
        )

    @property
    def useless(self) -> bool:
        """Return whether the bounds excluded less than a tenth of the candidates."""
        return self.share > _USELESS


def best_of_blocks(
    bounds: np.ndarray,
    score: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]],
    n: int,
    n_candidates: int,
    *,
    together: int = 1,
    n_items: int = 1,
) -> Found:
    """Return the n best candidates of all blocks.

    Parameters
    ----------
    bounds : (b,) array of float
        No candidate of block k is worth more than ``bounds[k]``.
    score : function of block numbers -> (worths, positions, scores)
        Of the allowed candidates of these blocks; what is worth most is best (the score, per cost).
    n : int
        At most as many as there are allowed candidates.
    n_candidates : int
    together : int, default 1
        How many blocks are scored in one call, at first; if more than one, twice as many in each round.
    """
    # what a tie may differ by: `best_positions` calls values equal that are as close as this
    slack = 4 * SAME * float(np.abs(bounds[np.isfinite(bounds)]).max(initial=0.0))
    worths, positions, scores = np.empty(0), np.empty(0, dtype=np.int64), np.empty(0)
    floor, n_scored = -np.inf, 0
    left, width = np.arange(len(bounds)), 64
    while True:
        left = left[bounds[left] >= floor]
        if not len(left):
            break
        highest = np.argpartition(-bounds[left], width - 1)[:width] if len(left) > width else np.arange(len(left))
        group = left[highest]
        left = np.delete(left, highest)
        group = group[np.argsort(-bounds[group], kind="stable")]
        for k in range(0, len(group), together):
            blocks = group[k : k + together]
            blocks = blocks[bounds[blocks] >= floor]
            if not len(blocks):
                break
            found = score(blocks)
            n_scored += len(found[0])
            better = found[0] >= floor
            if not better.any():
                continue
            worths, positions, scores = (
                np.concatenate([old, new[better]]) for old, new in zip((worths, positions, scores), found, strict=True)
            )
            if len(worths) >= n:
                floor = -np.partition(-worths, n - 1)[n - 1] - slack
                kept = worths >= floor
                worths, positions, scores = worths[kept], positions[kept], scores[kept]
        width *= 4
        together *= 2 if together > 1 else 1  # the longer it goes on, the less a batch too large can cost
    order = np.argsort(positions)  # ties go to the lowest position
    chosen = order[best_positions(worths[order], n)]
    found_ = Found(positions[chosen], scores[chosen], n_scored, n_candidates, n_items)
    if found_.useless and n_candidates > 1_000:
        warnings.warn(f"{found_}: a search with bounds does not help here.", stacklevel=3)
    return found_
