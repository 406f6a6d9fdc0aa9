"""The arguments of a design that need more than one line of checking."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from adaptive import checks
from adaptive import pool as pools

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Cost, Pool

    CheckedCost: TypeAlias = np.ndarray | Callable[[Any], ArrayLike] | None

__all__ = ["check_cost", "check_initial", "check_mask", "check_positions", "costs_of"]


def check_mask(mask: ArrayLike | None, length: int | None) -> np.ndarray | None:
    """Return the mask of a pool of this length (None: a callable pool) as booleans."""
    if mask is None:
        return None
    if length is None:
        raise ValueError("mask must be None with a callable pool; let the callable return allowed candidates only.")
    array = np.asarray(mask)
    if array.dtype != bool:
        raise ValueError(f"mask must hold booleans (True = allowed), got dtype {array.dtype}.")
    checks.shape("mask", array, (length,))
    if not array.any():
        raise ValueError("mask allows no candidate at all.")
    return array


def check_cost(cost: Cost, length: int | None) -> CheckedCost:
    """Return the costs of a pool of this length (None: a callable pool): an array, a callable or None."""
    if cost is None or callable(cost):
        return cost
    if length is None:
        raise ValueError("cost must be a callable(candidates) -> (m,) with a callable pool, got an array.")
    array = checks.positive("cost", cost)
    checks.shape("cost", array, (length,))
    return array


def costs_of(cost: CheckedCost, pool: Pool, positions: np.ndarray) -> np.ndarray:
    """Return what asking these positions costs; 1 each where no cost was given."""
    if cost is None:
        return np.ones(len(positions))
    if not callable(cost):
        return cost[positions]
    costs = checks.positive("cost", cost(pools.take(pool, positions)))
    checks.shape("cost", costs, (len(positions),))
    return costs


def check_initial(
    initial: ArrayLike,
    length: int,
    mask: np.ndarray | None,
    repeat: bool,
    seed: np.random.SeedSequence | None,
) -> np.ndarray:
    """Return the positions that are asked first.

    Parameters
    ----------
    initial : sequence of int, or int
        The positions, or how many to draw at random, without replacement.
    length : int
        Of the pool.
    mask : (length,) array of bool, or None
    repeat : bool
        Whether a position may stand there twice.
    seed : SeedSequence, or None where positions are given

    Examples
    --------
    >>> check_initial([4, 2], 5, None, False, None)
    array([4, 2])
    """
    if np.ndim(initial) == 0:
        allowed = length if mask is None else np.flatnonzero(mask)
        most = length if mask is None else int(np.count_nonzero(mask))
        n = checks.integer("initial", initial, minimum=0)
        if n > most:
            raise ValueError(f"initial must be at most {most}, the number of allowed candidates, got {n}.")
        return np.random.default_rng(seed).choice(allowed, size=n, replace=False).astype(np.intp)
    return check_positions(initial, length, mask, repeat, name="initial")


def check_positions(
    given: ArrayLike, length: int, mask: np.ndarray | None, repeat: bool = False, *, name: str = "positions"
) -> np.ndarray:
    """Return given positions of a pool of this length that may be asked.

    Examples
    --------
    >>> check_positions([4, 2], 5, None)
    array([4, 2])
    """
    positions = np.asarray(given)
    if positions.ndim != 1 or (positions.dtype.kind not in "iu" and positions.size > 0):
        number = " or a number of candidates" if name == "initial" else ""
        raise ValueError(f"{name} must be positions (integers){number}, got {given!r}.")
    outside = (positions < 0) | (positions >= length)
    if outside.any():
        raise ValueError(f"{name} must hold positions from 0 to {length - 1}, got {positions[outside][0]}.")
    positions = positions.astype(np.intp)
    if mask is not None and not mask[positions].all():
        raise ValueError(f"{name} holds position {positions[~mask[positions]][0]}, which mask does not allow.")
    if not repeat and len(np.unique(positions)) < len(positions):
        raise ValueError(
            f"{name} must hold every position once" + (" unless repeat=True." if name == "initial" else ".")
        )
    return positions
