"""Arguments of ``select``, checked: one clear line where one is wrong."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks, pool

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Cost, Mask, Pool

__all__ = [
    "Allowed",
    "all_prices",
    "allowed_positions",
    "check_enough",
    "checked_positions",
    "checked_price",
    "checked_prices",
    "prices_of",
    "written_out",
]

AT_ONCE = 16_384  # candidates about which a mask is asked


@dataclass(frozen=True)
class Allowed:
    """Which of m candidates may be chosen, of which no list is made that is as long as the pool.

    Attributes
    ----------
    m : int
    free : (m,) array of bool or None
        None: all but those excluded.
    excluded : array of int
        Ascending and different, where ``free`` is None.
    size : int
        How many may be chosen.
    """

    m: int
    free: np.ndarray | None
    excluded: np.ndarray
    size: int

    @classmethod
    def among(cls, m: int, mask: ArrayLike | None, exclude: ArrayLike | Collection[int]) -> Allowed:
        """Return those of m candidates that a mask allows, less some positions."""
        if m == 0:
            raise ValueError("candidates is empty: there is nothing to select from.")
        excluded = np.unique(checked_positions("exclude", exclude, m))
        if mask is None:
            return cls(m, None, excluded, m - len(excluded))
        given = np.asarray(mask)
        if given.dtype != bool or given.shape != (m,):
            raise ValueError(
                f"mask must be {m} booleans, one per candidate (True = allowed), "
                f"got dtype {given.dtype} and shape {given.shape}."
            )
        free = given.copy() if len(excluded) else given
        free[excluded] = False
        return cls(m, free, excluded[:0], int(np.count_nonzero(free)))

    def within(self, start: int, stop: int) -> np.ndarray | None:
        """Return the positions from ``start`` to ``stop - 1`` that may be chosen; None: all of them."""
        if self.free is not None:
            part = self.free[start:stop]
            return None if part.all() else start + np.flatnonzero(part)
        first, last = np.searchsorted(self.excluded, [start, stop])
        if first == last:
            return None
        left = np.ones(stop - start, dtype=bool)
        left[self.excluded[first:last] - start] = False
        return start + np.flatnonzero(left)


def allowed_positions(m: int, mask: ArrayLike | None, exclude: ArrayLike | Collection[int]) -> np.ndarray | None:
    """Return the positions that may be chosen, None if all may."""
    return Allowed.among(m, mask, exclude).within(0, m)


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
    found = np.zeros(m, dtype=bool)
    for start in range(0, m, AT_ONCE):
        stop = min(start + AT_ONCE, m)
        part = np.asarray(mask(pool.read(candidates, start, stop)))
        if part.dtype != bool or part.shape != (stop - start,):
            raise ValueError(
                f"mask(candidates) must return {stop - start} booleans, one per candidate (True = allowed), got dtype "
                f"{part.dtype} and shape {part.shape}."
            )
        found[start:stop] = part
    return found


def check_enough(n_select: int, m: int, n_allowed: int) -> None:
    """Refuse to choose ``n_select`` where only ``n_allowed`` of the m candidates may be chosen."""
    if n_allowed == 0:
        raise ValueError(f"mask and exclude leave none of the {m} candidates to select from.")
    if n_select > n_allowed:
        raise ValueError(f"n_select is {n_select}, but only {n_allowed} of {m} candidates are allowed.")


def checked_price(price: float | None, cost: Cost, certified: bool) -> float | None:
    """Return the price of a unit of cost, refused where there is no cost, or a certificate is wanted."""
    if price is None:
        return None
    if cost is None:
        raise ValueError("price needs cost, of which it says what one unit is worth.")
    if certified:
        raise ValueError("return_certificate goes with costs and not with a price; leave price out.")
    return float(checks.positive("price", price, or_zero=True))


def prices_of(cost: Cost, candidates: Pool, m: int, allowed: np.ndarray | None) -> np.ndarray | None:
    """Return the costs of the allowed candidates, None if all cost the same."""
    prices = all_prices(cost, candidates, m)
    if prices is None:
        return None
    positions = np.arange(m) if allowed is None else allowed
    return checked_prices(prices[positions], positions)  # what may not be chosen needs no price


def all_prices(cost: Cost, candidates: Pool, m: int) -> np.ndarray | None:
    """Return the costs of m candidates as they were given, None if all cost the same."""
    if cost is None:
        return None
    try:
        prices = np.asarray(cost(candidates) if callable(cost) else cost, dtype=float)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"cost must be {m} numbers > 0, one per candidate ({problem}).") from None
    if prices.shape != (m,):
        raise ValueError(f"cost must have one entry for each of the {m} candidates, got shape {prices.shape}.")
    return prices


def checked_prices(prices: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return the costs of these ``positions``, refused where they are no positive numbers."""
    bad = ~(np.isfinite(prices) & (prices > 0))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(f"cost must be finite and > 0, got {float(prices[at])!r} at position {int(positions[at])}.")
    return prices
