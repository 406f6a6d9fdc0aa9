"""Non-greedy designs: exchange one line for another while that lowers a cost.

    chosen  <-  chosen - {out} + {in}      whenever      cost(chosen - {out} + {in}) < cost(chosen) - margin

A greedy design never takes a line back. A cost may be an error on images whose truth is known (several of them: with
one image the lines learn its details), or minus an information.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adaptive.checks import generator, integer, positive
from designs.kspace.cartesian import as_lines

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["Swapped", "improve_by_swaps"]


class Swapped(NamedTuple):
    """Result of the exchanges.

    Attributes
    ----------
    lines : ndarray of int, shape (m,)
        Sorted.
    costs : ndarray of float, shape (1 + kept exchanges,)
        At the start, and after every exchange that was kept.
    n_tried : int

    Examples
    --------
    >>> from designs.kspace import improve_by_swaps
    >>> cost = lambda lines, limit: float(abs(lines - 8).sum())
    >>> found = improve_by_swaps(16, [1, 2, 8], cost, n_trials=5, random_state=0)
    >>> found.lines.shape, found.n_tried
    ((3,), 5)
    """

    lines: np.ndarray
    costs: np.ndarray
    n_tried: int


def improve_by_swaps(
    n: int,
    lines: ArrayLike,
    cost: Callable[[np.ndarray, float], float],
    *,
    fixed: Sequence[int] | np.ndarray = (),
    candidates: ArrayLike | None = None,
    n_trials: int = 100,
    reach: int | None = 6,
    margin: float = 0.0,
    random_state: RandomState = None,
) -> Swapped:
    """Exchange lines of a design at random, and keep what lowers the cost.

    Parameters
    ----------
    n : int
        Number of phase encodes.
    lines : array-like of int, shape (m,)
        The design to start from.
    cost : callable
        Maps (sorted lines, limit) to a number. Where it is clear that the cost exceeds the limit, any number above it
        may be returned at once: a sum over images need not be finished.
    fixed : array-like of int, default ()
        Lines that stay, as the central ones.
    candidates : array-like of int, shape (c,), optional
        Lines that may come in; default all.
    n_trials : int, default 100
        Exchanges tried.
    reach : int or None, default 6
        Every other exchange moves a line by at most so many places; None: all are anywhere.
    margin : float, default 0
        What an exchange must gain.
    random_state : None, int or NumPy generator

    Returns
    -------
    Swapped

    Raises
    ------
    ValueError
        In one sentence: lines that do not exist or come twice, fixed ones that the design has not.

    Examples
    --------
    >>> result = improve_by_swaps(16, [1, 2, 8], lambda lines, limit: float(abs(lines - 8).sum()), fixed=[8],
    ...                           n_trials=200, random_state=0)
    >>> result.lines
    array([7, 8, 9])
    >>> bool((np.diff(result.costs) < 0).all())
    True
    """
    n, n_trials = integer("n", n, minimum=1), integer("n_trials", n_trials, minimum=0)
    chosen, stay = as_lines(n, lines, 0), as_lines(n, fixed, 0) if len(fixed) else np.empty(0, int)
    absent = np.setdiff1d(stay, chosen)
    if len(absent):
        raise ValueError(f"fixed holds line {absent[0]}, which is not among lines.")
    pool = np.arange(n) if candidates is None else as_lines(n, candidates, 0)
    least, rng = float(positive("margin", margin, or_zero=True)), generator(random_state)
    costs, n_tried = [float(cost(chosen, np.inf))], 0
    for trial in range(n_trials):
        out = _draw(rng, np.setdiff1d(chosen, stay))
        free = np.setdiff1d(pool, chosen)
        if reach is not None and trial % 2 == 0 and out is not None:
            near = free[np.abs(free - out) <= integer("reach", reach, minimum=1)]
            free = near if len(near) else free
        into = _draw(rng, free)
        if out is None or into is None:
            break
        other = np.sort(np.append(chosen[chosen != out], into))
        limit = costs[-1] - least
        n_tried += 1
        value = float(cost(other, limit))
        if value < limit:
            chosen = other
            costs.append(value)
    return Swapped(chosen, np.array(costs), n_tried)


def _draw(rng: np.random.Generator, from_: np.ndarray) -> int | None:
    return int(from_[rng.integers(len(from_))]) if len(from_) else None
