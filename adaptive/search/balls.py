"""Points in blocks: halved where the place varies most or, within shells of similar length, the direction.

Of each block the centre c and radius r (a ball), and the axis a and opening angle (a cone) bound every product:

    x . y  <=  c . c' + r |c'| + r' |c| + r r'                                     x and y in two balls
    x . y  <=  |x| |y| cos(max(0, angle(a, a') - opening - opening'))              x and y in two cones
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["Balls", "largest_products"]

_SHELL = 8  # blocks per shell


class Balls:
    """Points (m, d) in blocks of neighbours; made once, searched many times.

    Parameters
    ----------
    points : (m, d) array of finite numbers
    size : int, default 32
        Points per block at most: fewer make tighter bounds, more make fewer blocks.
    shells : bool, default False
        Blocks of similar length and direction (for products, which grow with the length), not of similar place.

    Attributes
    ----------
    points : (m, d) array
    order : (m,) array of int
        The points' positions, block after block.
    starts : (b,) array of int
        Where each block begins in ``order``.
    centres, radii, lengths : (b, d), (b,), (b,) arrays
        Centre, largest distance from it, largest length of a point.
    axes, openings : (b, d), (b,) arrays
        Mean direction, largest angle to it in radians.

    Raises
    ------
    ValueError
        If there is no row, a number is not finite, or ``size`` no integer of at least 1.

    Examples
    --------
    >>> balls = Balls([[3.0, 0.0], [0.0, 0.1], [2.9, 0.1], [0.0, 0.2]], size=2)
    >>> [sorted(block.tolist()) for block in np.split(balls.order, balls.starts[1:])]
    [[1, 3], [0, 2]]
    """

    def __init__(self, points: ArrayLike, size: int = 32, *, shells: bool = False) -> None:
        self.points = checks.finite("points", points)
        checks.shape("points", self.points, (None, None))
        if not len(self.points):
            raise ValueError("points must hold at least one row, got none.")
        size = checks.integer("size", size, minimum=1)
        lengths = np.linalg.norm(self.points, axis=1)
        directions = self.points / np.where(lengths > 0, lengths, 1.0)[:, None]
        if shells:
            by_length, width = np.argsort(lengths, kind="stable"), size * _SHELL
            starts = range(0, len(by_length), width)
            blocks = [block for k in starts for block in _halved(directions, by_length[k : k + width], size)]
        else:
            blocks = _halved(self.points, np.arange(len(self.points)), size)
        self.order = np.concatenate(blocks)
        counts = np.array([len(block) for block in blocks])
        self.starts = np.cumsum(counts) - counts
        self._set_geometry(lengths, directions, counts)

    def _set_geometry(self, lengths: np.ndarray, directions: np.ndarray, counts: np.ndarray) -> None:
        self.lengths = self.largest(lengths)
        self.centres = np.add.reduceat(self.points[self.order], self.starts) / counts[:, None]
        away = np.linalg.norm(self.points[self.order] - np.repeat(self.centres, counts, axis=0), axis=1)
        self.radii = np.maximum.reduceat(away, self.starts)
        axes = np.add.reduceat(directions[self.order], self.starts)
        norms = np.linalg.norm(axes, axis=1, keepdims=True)
        self.axes = axes / np.where(norms > 0, norms, 1.0)
        cosines = np.einsum("ij,ij->i", directions[self.order], np.repeat(self.axes, counts, axis=0))
        opening = np.arccos(np.clip(np.minimum.reduceat(cosines, self.starts), -1.0, 1.0))
        self.openings = np.where(self.lengths > 0, opening + 1e-7, np.pi)  # arccos is rough near 1

    def __len__(self) -> int:
        return len(self.points)

    def block(self, k: int) -> np.ndarray:
        """Return the positions of the points of block ``k``."""
        end = self.starts[k + 1] if k + 1 < len(self.starts) else len(self.order)
        return self.order[self.starts[k] : end]

    @property
    def members(self) -> np.ndarray:
        """The positions (b, size) of every block's points, -1 beyond its end."""
        counts = np.diff(np.append(self.starts, len(self.order)))
        along = np.arange(counts.max())
        there = along < counts[:, None]
        return np.where(there, self.order[np.where(there, self.starts[:, None] + along, 0)], -1)

    def mirrored(self) -> Balls:
        """Return the same blocks of the points with the other sign."""
        other = copy.copy(self)
        other.points, other.centres, other.axes = -self.points, -self.centres, -self.axes
        return other

    def largest(self, values: np.ndarray) -> np.ndarray:
        """Return the largest value in each block, of values (m,) or (m, k)."""
        return np.maximum.reduceat(values[self.order], self.starts)

    def smallest(self, values: np.ndarray) -> np.ndarray:
        """Return the smallest value in each block."""
        return np.minimum.reduceat(values[self.order], self.starts)


def _halved(points: np.ndarray, positions: np.ndarray, size: int) -> list[np.ndarray]:
    """Return blocks of at most ``size``, halved at the median of the coordinate that varies most."""
    blocks, stack = [], [positions]
    while stack:
        part = stack.pop()
        if len(part) <= size:
            blocks.append(part)
            continue
        here = points[part]
        widest = int(np.argmax(here.max(axis=0) - here.min(axis=0)))
        middle = len(part) // 2
        split = np.argpartition(here[:, widest], middle)
        stack += [part[split[middle:]], part[split[:middle]]]
    return blocks


def largest_products(first: Balls, second: Balls) -> np.ndarray:
    """Return a bound (b, b') of x . y over every two blocks, the smaller one of balls and cones."""
    norms, others = np.linalg.norm(first.centres, axis=1), np.linalg.norm(second.centres, axis=1)
    ball = first.centres @ second.centres.T + np.multiply.outer(first.radii, others + second.radii)
    ball += np.multiply.outer(norms, second.radii)
    between = np.arccos(np.clip(first.axes @ second.axes.T, -1.0, 1.0))
    between -= first.openings[:, None] + second.openings
    cone = np.multiply.outer(first.lengths, second.lengths) * np.cos(np.clip(between, 0.0, 0.5 * np.pi))
    return np.minimum(ball, cone)
