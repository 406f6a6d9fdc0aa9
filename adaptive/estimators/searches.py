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

__all__ = ["due", "grown", "highest"]

ALIKE = 0.1  # nats: tops that the answers do not tell apart
GROWTH = 1.25  # of the number of rows
HELD = 1.01  # growth up to which what all rows share is held, where learning it takes all of them
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


def grown(rows: int, learnt_rows: int) -> bool:
    """Return True where what all rows share is to be learnt again: at a hundredth more of them than there were.

    Of a hundred and fewer rows every one counts; of more, one costs the same share of a fit however many there are.

    Examples
    --------
    >>> grown(31, 30), grown(1001, 1000), grown(1010, 1000)
    (True, False, True)
    """
    return rows >= HELD * learnt_rows


def highest(searches: Sequence[Callable[[], T]], value: Callable[[T], float], apart: float = 0.0) -> T:
    """Return what the first search found that is within a tenth of a nat of the best. Only its warnings are passed on.

    Tops that near to each other the answers do not tell apart, nor do searches that stop ``apart`` nats below theirs.
    With the search of ``fit`` first, answers one by one end there where ``fit`` does.

    Examples
    --------
    >>> highest([lambda: 1.0, lambda: 2.0], value=lambda found: found)
    2.0
    >>> highest([lambda: 1.95, lambda: 2.0], value=lambda found: found)
    1.95
    """
    found = []
    for search in searches:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found.append((search(), said))
    values = [value(one) for one, _ in found]
    best, said = found[next(k for k, v in enumerate(values) if not v < max(values) - ALIKE - apart)]
    for one in said:
        warnings.warn(one.message, one.category, stacklevel=3)
    return best
