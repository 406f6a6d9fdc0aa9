"""Arguments of ``select``, checked: one clear line where one is wrong."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from adaptive import pool

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Cost, Mask, Pool

__all__ = ["allowed_positions", "check_enough", "checked_positions", "prices_of", "written_out"]

AT_ONCE = 16_384  # candidates about which a mask is asked


def allowed_positions(m: int, mask: ArrayLike | None, exclude: ArrayLike | Collection[int]) -> np.ndarray | None:
    """Return the positions that may be chosen, None if all may."""
    if m == 0:
        raise ValueError("candidates is empty: there is nothing to select from.")
    excluded = checked_positions("exclude", exclude, m)
    if mask is None and not len(excluded):
        return None
    free = np.ones(m, dtype=bool)
    if mask is not None:
        given = np.asarray(mask)
        if given.dtype != bool or given.shape != (m,):
            raise ValueError(
                f"mask must be {m} booleans, one per candidate (True = allowed), "
                f"got dtype {given.dtype} and shape {given.shape}."
            )
        free &= given
    free[excluded] = False
    return None if free.all() else np.flatnonzero(free)


def checked_positions(name: str, positions: ArrayLike | Collection[int], m: int) -> np.ndarray:
    """Return positions as an array, refused where they are no integers or outside of m candidates."""
    values = np.asarray(list(positions) if isinstance(positions, (set, frozenset)) else positions)
    if values.size == 0:
        return np.empty(0, dtype=np.intp)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a sequence of integer positions, got dtype {values.dtype} and shape {values.shape}."
        )
    outside = (values < 0) | (values >= m)
    if outside.any():
        raise ValueError(f"{name} contains {values[outside][0]}, but positions go from 0 to {m - 1}.")
    return values


def written_out(mask: Mask, candidates: Pool, m: int) -> ArrayLike | None:
    """Return the mask of m candidates where it may be a function, which is asked about some at a time.

    Examples
    --------
    >>> written_out(lambda numbers: numbers > 0, np.arange(3), 3).tolist()
    [False, True, True]
    """
    if not callable(mask):
        return mask
    parts = [np.arange(start, min(start + AT_ONCE, m)) for start in range(0, m, AT_ONCE)]
    found = [np.asarray(mask(pool.take(candidates, part))) for part in parts]
    for part, one in zip(parts, found, strict=True):
        if one.dtype != bool or one.shape != part.shape:
            raise ValueError(
                f"mask(candidates) must return {len(part)} booleans, one per candidate (True = allowed), got dtype "
                f"{one.dtype} and shape {one.shape}."
            )
    return np.concatenate(found)


def check_enough(n_select: int, m: int, n_allowed: int) -> None:
    """Refuse to choose ``n_select`` where only ``n_allowed`` of the m candidates may be chosen."""
    if n_allowed == 0:
        raise ValueError(f"mask and exclude leave none of the {m} candidates to select from.")
    if n_select > n_allowed:
        raise ValueError(f"n_select is {n_select}, but only {n_allowed} of {m} candidates are allowed.")


def prices_of(cost: Cost, candidates: Pool, m: int, allowed: np.ndarray | None) -> np.ndarray | None:
    """Return the costs of the allowed candidates, None if all cost the same."""
    if cost is None:
        return None
    try:
        prices = np.asarray(cost(candidates) if callable(cost) else cost, dtype=float)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"cost must be {m} numbers > 0, one per candidate ({problem}).") from None
    if prices.shape != (m,):
        raise ValueError(f"cost must have one entry for each of the {m} candidates, got shape {prices.shape}.")
    if allowed is not None:
        prices = prices[allowed]  # what may not be chosen needs no price
    bad = ~(np.isfinite(prices) & (prices > 0))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        position = at if allowed is None else int(allowed[at])
        raise ValueError(f"cost must be finite and > 0, got {float(prices[at])!r} at position {position}.")
    return prices
