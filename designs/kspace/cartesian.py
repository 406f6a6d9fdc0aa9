"""Lines of a Cartesian scan: what one read-out measures, as candidates of a design.

A scan of an image of shape (n0, n1) with phase encodes along ``axis`` measures whole lines of its centred, orthonormal
Fourier transform. Line index 0 is frequency -n/2 and index n // 2 is DC, so that

    frequency(line) = line - n // 2,        mirror(line) = the line of frequency -frequency(line), modulo n

and a real image has the conjugate samples on the mirror of every line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import choice, finite, integer
from adaptive.operators import FourierLines

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Line", "LinePool", "as_lines", "central", "lines", "mirror"]


class Line(FourierLines):
    """One line of k-space: the operator that measures it, and its index.

    Parameters
    ----------
    shape : tuple of two int
        Shape of the image.
    line : int
        Index of the line, 0 (frequency -n/2) to n - 1.
    axis : int, default 0
        Axis of the phase encodes.

    Attributes
    ----------
    line, axis : int
    mask : ndarray of bool, shape of the image
        Mask of what it measures in k-space.

    Notes
    -----
    Two lines are equal when shape, axis and index are.

    Examples
    --------
    >>> dc = Line((4, 6), 2)
    >>> dc
    Line((4, 6), 2, axis=0)
    >>> dc.shape, dc == Line((4, 6), 2), dc == Line((4, 6), 2, axis=1)
    ((6, 24), True, False)
    >>> dc.mask.sum(axis=1)
    array([0, 0, 6, 0])
    """

    def __init__(self, shape: Sequence[int], line: int, axis: int = 0):
        super().__init__(shape, [integer("line", line)], axis)
        self.line = int(line)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Line) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"Line({self.input_shape}, {self.line}, axis={self.axis})"

    def _key(self) -> tuple[tuple[int, ...], int, int]:
        return self.input_shape, self.line, self.axis


class LinePool:
    """Candidate lines of one scan; a line's operator is made when it is looked at.

    Parameters
    ----------
    shape : tuple of two int
        Shape of the image.
    lines : array-like of int, shape (m,)
        Indices of the candidate lines, in any order, none twice.
    axis : int, default 0
        Axis of the phase encodes.

    Attributes
    ----------
    image_shape : tuple of two int
    lines : ndarray of int, shape (m,)
    axis : int

    Examples
    --------
    >>> pool = LinePool((8, 6), [3, 4, 5])
    >>> len(pool), pool[1].line, pool.take([2, 0]).labels()
    (3, 4, [5, 3])
    """

    def __init__(self, shape: Sequence[int], lines: ArrayLike, axis: int = 0):
        self.image_shape, self.axis = _checked_scan(shape, axis)
        self.lines = _checked_lines(self.image_shape[self.axis], lines)

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, position: int) -> Line:
        return Line(self.image_shape, int(self.lines[position]), self.axis)

    def __iter__(self) -> Iterator[Line]:
        return (self[position] for position in range(len(self)))

    def __repr__(self) -> str:
        return f"LinePool({self.image_shape}, {len(self)} lines, axis={self.axis})"

    def take(self, positions: ArrayLike) -> LinePool:
        """The pool of the lines at ``positions``."""
        return self._with(self.lines[np.asarray(positions, dtype=int)])

    def concatenate(self, pools: Sequence[LinePool]) -> LinePool:
        """The lines of several pools of this scan, one after the other."""
        for pool in pools:
            if not isinstance(pool, LinePool) or (pool.image_shape, pool.axis) != (self.image_shape, self.axis):
                raise ValueError(f"only line pools of the same scan can be joined, got {self!r} and {pool!r}")
        return self._with(np.concatenate([pool.lines for pool in pools]))

    def labels(self, positions: ArrayLike | None = None) -> list[int]:
        """Line indices as plain integers: of all lines, or of those at ``positions``."""
        chosen = self.lines if positions is None else self.lines[np.asarray(positions, dtype=int)]
        return chosen.tolist()

    def fingerprint(self) -> str:
        """The same for equal pools: shape, axis and lines as a SHA-256 digest."""
        text = f"kspace lines {self.image_shape} {self.axis} {self.lines.tolist()}"
        return hashlib.sha256(text.encode()).hexdigest()

    def positions(self, lines: ArrayLike) -> np.ndarray:
        """Positions of these lines in the pool, in their order; what a loop's ``initial`` wants.

        Raises
        ------
        ValueError
            If a line is not in the pool.
        """
        where = {line: position for position, line in enumerate(self.lines.tolist())}
        wanted = np.atleast_1d(np.asarray(lines, dtype=int)).tolist()
        absent = [line for line in wanted if line not in where]
        if absent:
            raise ValueError(f"line {absent[0]} is not among the {len(self)} candidates of this pool.")
        return np.array([where[line] for line in wanted], dtype=int)

    def _with(self, lines: np.ndarray) -> LinePool:
        # Without the check for duplicates: pending and further candidates are joined while they are scored.
        pool = object.__new__(LinePool)
        pool.image_shape, pool.axis, pool.lines = self.image_shape, self.axis, lines
        return pool


def lines(shape: Sequence[int], axis: int = 0, half_plane: bool = False, n_central: int = 1) -> LinePool:
    """All candidate lines of a Cartesian scan, in order of frequency.

    Parameters
    ----------
    shape : tuple of two int
        Shape of the image.
    axis : int, default 0
        Axis of the phase encodes.
    half_plane : bool, default False
        Leave out the lines of positive frequency, except the central ones: nobody can then choose a line together with
        its mirror.
    n_central : int, default 1
        Number of central lines, which are candidates on both sides.

    Returns
    -------
    LinePool

    Examples
    --------
    >>> len(lines((256, 256))), len(lines((256, 256), half_plane=True, n_central=32))
    (256, 144)
    >>> lines((8, 6), axis=1, half_plane=True, n_central=2).labels()
    [0, 1, 2, 3]
    """
    image_shape, axis = _checked_scan(shape, axis)
    n = image_shape[axis]
    inside = central(n, n_central)
    every = np.arange(n)
    return LinePool(image_shape, every[every <= inside[-1]] if half_plane else every, axis)


def central(n: int, n_central: int) -> np.ndarray:
    """The ``n_central`` lines around DC: frequencies -n_central/2 to n_central/2 - 1 (symmetric where it is odd).

    Parameters
    ----------
    n : int
        Number of phase encodes.
    n_central : int
        How many lines; at most n.

    Returns
    -------
    ndarray of int, shape (n_central,)
        Sorted.

    Raises
    ------
    ValueError
        If ``n_central`` is larger than n.

    Examples
    --------
    >>> central(256, 32)[[0, -1]]
    array([112, 143])
    """
    n, n_central = integer("n", n, minimum=1), integer("n_central", n_central, minimum=1)
    if n_central > n:
        raise ValueError(f"n_central must be at most n = {n}, got {n_central}.")
    start = n // 2 - n_central // 2
    return np.arange(start, start + n_central)


def mirror(n: int, lines: ArrayLike) -> np.ndarray:
    """The lines of opposite frequency; DC is its own mirror, and so is line 0 where n is even.

    Parameters
    ----------
    n : int
        Number of phase encodes.
    lines : array-like of int, shape (m,)

    Returns
    -------
    ndarray of int, shape (m,)
        In the order given.

    Examples
    --------
    >>> mirror(8, [0, 1, 3, 4, 5])
    array([0, 7, 5, 4, 3])
    """
    return (2 * (n // 2) - np.asarray(lines, dtype=int)) % n


def as_lines(n: int, lines: ArrayLike, n_central: int = 1) -> np.ndarray:
    """Check a design given as line indices, and sort it.

    Parameters
    ----------
    n : int
        Number of phase encodes.
    lines : array-like of int, shape (m,)
        Line indices, in any order.
    n_central : int, default 1
        So many lines around DC must be among them; 0 asks for none.

    Returns
    -------
    ndarray of int, shape (m,)
        Sorted.

    Raises
    ------
    ValueError
        If a line is given twice, is no integer, does not exist, or a central line is absent.

    Examples
    --------
    >>> as_lines(8, [5, 4, 3], n_central=2)
    array([3, 4, 5])
    >>> as_lines(8, [0, 1])
    Traceback (most recent call last):
    ValueError: lines must hold the central line 4 (DC): without it an image has no scale or phase.
    """
    n, n_central = integer("n", n, minimum=1), integer("n_central", n_central, minimum=0)
    checked = np.sort(_checked_lines(n, lines))
    if n_central:
        absent = np.setdiff1d(central(n, n_central), checked)
        if len(absent):
            which = "DC" if absent[0] == n // 2 else f"frequency {absent[0] - n // 2}"
            raise ValueError(
                f"lines must hold the central line {absent[0]} ({which}): without it an image has no scale or phase."
            )
    return checked


def _checked_lines(n: int, lines: ArrayLike) -> np.ndarray:
    array = finite("lines", lines, dtype=None)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise ValueError(f"lines must be a list of line indices (integers), got {array.dtype} of shape {array.shape}.")
    array = array.astype(int)
    outside = array[(array < 0) | (array >= n)]
    if len(outside):
        raise ValueError(f"lines must be between 0 and {n - 1} (there are {n}; DC is {n // 2}), got {outside[0]}.")
    values, counts = np.unique(array, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"lines holds line {values[counts > 1][0]} twice; each line can be measured once.")
    return array


def _checked_scan(shape: Sequence[int], axis: int) -> tuple[tuple[int, int], int]:
    sides = tuple(shape) if np.ndim(shape) == 1 else ()
    if len(sides) != 2:
        raise ValueError(f"shape must be the two sides of an image, got {shape!r}.")
    choice("axis", str(axis), ("0", "1"))
    return (integer("shape", sides[0], minimum=1), integer("shape", sides[1], minimum=1)), int(axis)
