"""Verdicts by equivalence: an interval inside the band shows a claim, one outside refutes it, any other cannot tell.

A test that does not reject shows nothing: with few repetitions it never rejects. Where a claim says that something is
as good, honest or no worse, its 95% interval has to lie inside what the claim allows.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

__all__ = ["all_of", "inside"]


def inside(low: float, high: float, least: float = -inf, most: float = inf) -> bool | None:
    """Return whether [low, high] lies inside [least, most]; None where it lies neither inside nor wholly outside.

    Examples
    --------
    >>> inside(-0.001, 0.004, least=-0.002), inside(-0.009, -0.003, least=-0.002)
    (True, False)
    >>> print(inside(-0.009, 0.004, least=-0.002))
    None
    """
    if low >= least and high <= most:
        return True
    return False if high < least or low > most else None


def all_of(parts: Iterable[bool | None]) -> bool | None:
    """Return False where one part is, None where one cannot tell, else True.

    Examples
    --------
    >>> all_of([True, None, False]), all_of([True, True])
    (False, True)
    >>> print(all_of([True, None]))
    None
    """
    parts = list(parts)
    return False if False in parts else None if None in parts else True
