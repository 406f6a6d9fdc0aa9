"""Searches for hyper-parameters as rows come one by one: follow the top that is known, and look for another when due.

An evidence has several tops, few rows hardly tell which is the highest, and a climb from the one that is known never
leaves it. Where a first fit would start from is therefore searched again, too, whenever there are a quarter more rows
than the last time or an answer is a surprise: one that the belief says to come but once in a hundred.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from adaptive.predictive import MissingField, Predictive

__all__ = ["due", "highest"]

GROWTH = 1.25  # of the number of rows
RARE = 0.01  # probability of an outcome at least as far out

T = TypeVar("T")


def due(rows: int, searched_rows: int, said: Callable[[], Predictive] | None, outcomes: Iterable[Any]) -> bool:
    """Return True where hyper-parameters are to be sought from the start as well.

    Parameters
    ----------
    rows, searched_rows : int
        How many there are, and were at the last such search.
    said : callable -> Predictive, or None
        What was believed about the new rows; None: nothing that can be a surprise.
    outcomes : iterable
        Theirs.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> from adaptive.potentials import Gaussian
    >>> said = lambda: StatedPredictive(mean=[0.0], variance=[0.5], likelihood=Gaussian(0.5))
    >>> due(12, 10, said, [1.0]), due(12, 10, said, [3.0]), due(13, 10, said, [1.0])
    (False, True, True)
    """
    if rows >= GROWTH * searched_rows:
        return True
    if said is None:
        return False
    predictive = said()
    with suppress(MissingField):  # of some outcomes nobody can say how rare they are
        return any(predictive.tail_probability(i, outcome) < RARE for i, outcome in enumerate(outcomes))
    return False


def highest(searches: Sequence[Callable[[], T]], value: Callable[[T], float]) -> T:
    """Return what the best of the searches found; the first of equals. Only its warnings are passed on.

    Examples
    --------
    >>> highest([lambda: 1.0, lambda: 2.0], value=lambda found: found)
    2.0
    """
    found = []
    for search in searches:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found.append((search(), said))
    best, said = max(found, key=lambda one: value(one[0]))
    for one in said:
        warnings.warn(one.message, one.category, stacklevel=3)
    return best
