"""Leaps ahead of a map that creeps to its fixed point:  x + length (x - x before),  as long as they pay.

Rounds that maximise one part of a bound at a time, and EM, go on in nearly the same direction for hundreds of rounds.
Each starts from a point ahead of the last two, and is taken back where that ends no higher than the round before.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Leaps"]

LONGER, LEAST = 1.1, 0.5  # a round that is taken back costs as much as one that is kept


@dataclass
class Leaps:
    """Length of the next leap, in steps of the map.

    Attributes
    ----------
    length : float

    Examples
    --------
    >>> leaps = Leaps()
    >>> leaps.kept()
    >>> round(leaps.length, 2)
    1.1
    >>> leaps.taken_back()
    >>> round(leaps.length, 2)
    0.55
    """

    length: float = 1.0

    def kept(self) -> None:
        """The last one paid: the next is a little longer."""
        self.length *= LONGER

    def taken_back(self) -> None:
        """The last one did not: the next is half as long."""
        self.length = max(LEAST, 0.5 * self.length)
