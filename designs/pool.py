"""Pools that are never written out: products of lists, rows put together from factors, grids, several pools as one;
files that may be larger than memory (`stored`); and boxes, whose points are chosen anew at every step (`box`).

Arrays, sparse matrices, frames and lists are pools as they are. What is too long for that has a length and is built
only where it is taken: ``take(positions)`` gives plain entries, a list of tuples for pools of labels and an array (or a
sparse matrix) of rows for pools of features. So ten million pairs of a user and an item cost what the users and items
cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from adaptive import pool as plain
from designs.annotated import Annotated
from designs.box import box, corners
from designs.lazy_pool import Joined, LazyPool
from designs.standardised import Standardised
from designs.stored import Npy, Parquet, stored

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Matrix, Pool

__all__ = [
    "Annotated",
    "Joined",
    "LazyPool",
    "Npy",
    "Pairs",
    "Parquet",
    "Product",
    "RowProduct",
    "Standardised",
    "box",
    "grid",
    "stored",
]


class Product(LazyPool):
    """All tuples with one entry of each factor, the last one changing fastest.

    Parameters
    ----------
    *factors : pools of labels
        Lists, ranges, one-dimensional arrays, or lazy pools of tuples (whose entries enter the tuple one by one).

    Raises
    ------
    ValueError
        If there is no list.

    Examples
    --------
    >>> pool = Product(range(1_000_000), ["film", "book"])
    >>> len(pool), pool.take([0, 3])
    (2000000, [(0, 'film'), (1, 'book')])
    >>> pool.positions([(1, "book")])
    array([3])
    """

    def __init__(self, *factors: Pool):
        if not factors:
            raise ValueError("factors must hold at least one list, got none.")
        self.factors = [_factor(factor, f"factors[{k}]") for k, factor in enumerate(factors)]
        self._lengths = tuple(plain.length(factor) for factor in self.factors)
        self._length = _product(self._lengths)

    def _entries(self, positions: np.ndarray) -> list[tuple[Any, ...]]:
        columns = []
        for factor, index in zip(self.factors, np.unravel_index(positions, self._lengths), strict=True):
            chosen = plain.take(factor, index)
            chosen = chosen.tolist() if isinstance(chosen, np.ndarray) else chosen
            columns.append([entry if isinstance(entry, tuple) else (entry,) for entry in chosen])
        return [sum(parts, ()) for parts in zip(*columns, strict=True)]

    def labels(self, positions: ArrayLike) -> list[tuple[Any, ...]]:
        """The tuples themselves."""
        return self.take(positions)

    def positions(self, entries: Sequence[tuple[Any, ...]]) -> np.ndarray:
        """Positions of given tuples, for ``exclude=``; factors must be plain lists without repetitions."""
        index = []
        for k, factor in enumerate(self.factors):
            if isinstance(factor, LazyPool):
                raise ValueError(f"positions needs plain lists as factors, factors[{k}] is a {type(factor).__name__}.")
            where = {label: i for i, label in enumerate(plain.take(factor, np.arange(self._lengths[k])))}
            try:
                index.append(np.array([where[entry[k]] for entry in entries], dtype=np.int64))
            except (KeyError, IndexError) as problem:
                raise ValueError(
                    f"entries must be tuples of the factors' labels, got {problem} for factor {k}."
                ) from None
        return np.ravel_multi_index(tuple(index), self._lengths) if len(entries) else np.empty(0, np.int64)

    def _parts(self) -> list[Any]:
        return self.factors


class Pairs(LazyPool):
    """All unordered pairs of different items, (0, 1), (0, 2), ..., (1, 2), ...: what can be compared.

    Parameters
    ----------
    items : pool of labels
        A list, range or one-dimensional array of two or more.

    Raises
    ------
    ValueError
        If there are fewer than two items.

    Examples
    --------
    >>> list(Pairs(["a", "b", "c"]))
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    >>> Product(["Ann"], Pairs(["a", "b", "c"])).take([2])
    [('Ann', 'b', 'c')]
    """

    def __init__(self, items: Pool):
        self.items = _factor(items, "items")
        self._n = plain.length(self.items)
        if self._n < 2:
            raise ValueError(f"items must be at least two to make a pair, got {self._n}.")
        self._length = self._n * (self._n - 1) // 2

    def _entries(self, positions: np.ndarray) -> list[tuple[Any, Any]]:
        first, second = self._index(positions)
        chosen = [plain.take(self.items, index) for index in (first, second)]
        left, right = (c.tolist() if isinstance(c, np.ndarray) else c for c in chosen)
        return list(zip(left, right, strict=True))

    def _index(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # Counted from the end, row i of the triangle begins at i (i + 1) / 2; the root is corrected for rounding.
        back = self._length - 1 - positions
        row = ((np.sqrt(8.0 * back + 1) - 1) / 2).astype(np.int64)
        row -= row * (row + 1) // 2 > back
        row += (row + 1) * (row + 2) // 2 <= back
        return self._n - 2 - row, self._n - 1 - (back - row * (row + 1) // 2)

    def labels(self, positions: ArrayLike) -> list[tuple[Any, Any]]:
        """The pairs themselves."""
        return self.take(positions)

    def _parts(self) -> list[Any]:
        return [self.items]


class RowProduct(LazyPool):
    """Feature rows put together from one row of each factor, the last factor changing fastest.

    Parameters
    ----------
    *factors : arrays or sparse matrices (n_k, d_k)
        Rows of features; a sparse factor makes the rows sparse.
    combine : {"concatenate", "multiply"}, default "concatenate"
        Rows side by side (sum of the d_k columns), or all products of their entries (product of the d_k columns), as a
        bilinear model needs them.

    Raises
    ------
    ValueError
        If there is no table, or ``combine`` is unknown.

    Examples
    --------
    >>> pool = RowProduct(np.eye(2), np.array([[3.0], [4.0], [5.0]]))
    >>> len(pool)
    6
    >>> pool.take([1, 5])
    array([[1., 0., 4.],
           [0., 1., 5.]])
    """

    def __init__(self, *factors: ArrayLike | Matrix, combine: str = "concatenate"):
        if not factors:
            raise ValueError("factors must hold at least one table of features, got none.")
        if combine not in ("concatenate", "multiply"):
            raise ValueError(f"combine must be one of 'concatenate', 'multiply', got {combine!r}.")
        self.factors = [_table(factor, f"factors[{k}]") for k, factor in enumerate(factors)]
        self.combine = combine
        self._lengths = tuple(factor.shape[0] for factor in self.factors)
        self._length = _product(self._lengths)

    @property
    def shape(self) -> tuple[int, int]:
        """Length and number of columns."""
        widths = [factor.shape[1] for factor in self.factors]
        return self._length, int(np.sum(widths) if self.combine == "concatenate" else np.prod(widths))

    def _entries(self, positions: np.ndarray) -> Any:
        index = np.unravel_index(positions, self._lengths)
        rows = [factor[i] for factor, i in zip(self.factors, index, strict=True)]
        if not any(sparse.issparse(block) for block in rows):
            if self.combine == "concatenate":
                return np.concatenate(rows, axis=1)
            result = rows[0]
            for block in rows[1:]:
                result = np.einsum("ni,nj->nij", result, block).reshape(len(positions), -1)
            return result
        blocks = [sparse.csr_matrix(block) for block in rows]
        if self.combine == "concatenate":
            return sparse.hstack(blocks, format="csr")
        result = blocks[0]
        for block in blocks[1:]:  # Khatri-Rao product of the rows: every entry of one with every entry of the other
            wide, narrow = block.shape[1], result.shape[1]
            left = result[:, np.repeat(np.arange(narrow), wide)]
            result = left.multiply(sparse.hstack([block] * narrow)).tocsr()
        return result

    def labels(self, positions: ArrayLike) -> list[tuple[int, ...]]:
        """For every row the positions in the factors it was put together from."""
        index = np.unravel_index(np.asarray(positions, dtype=np.int64), self._lengths)
        return list(zip(*[i.tolist() for i in index], strict=True))

    def _parts(self) -> list[Any]:
        return [self.combine, *self.factors]


def grid(
    lower: float | Sequence[float] | np.ndarray,
    upper: float | Sequence[float] | np.ndarray,
    points: int | Sequence[int] | np.ndarray,
) -> RowProduct:
    """All points of a regular grid over a box, as a lazy pool of rows.

    Parameters
    ----------
    lower, upper : (d,) array-like
        Corners of the box, both included.
    points : int or (d,) array-like of int
        Number of points along every axis.

    Returns
    -------
    RowProduct
        Rows (prod(points), d), the last axis fastest.

    Raises
    ------
    ValueError
        If ``points`` holds something else than positive integers.

    Examples
    --------
    >>> pool = grid([0, 10], [1, 12], 3)
    >>> len(pool), pool.take([0, 5])
    (9, array([[ 0. , 10. ],
           [ 0.5, 12. ]]))
    """
    low, high = corners(lower, upper)
    counts = np.broadcast_to(np.asarray(points), low.shape)
    if counts.dtype.kind not in "iu" or (counts < 1).any():
        raise ValueError(f"points must be positive integers, one or one per axis, got {points}.")
    return RowProduct(*[np.linspace(a, b, n)[:, None] for a, b, n in zip(low, high, counts.tolist(), strict=True)])


def _factor(factor: Pool, name: str) -> Pool:
    if isinstance(factor, (str, bytes)) or not hasattr(factor, "__len__") or getattr(factor, "ndim", 1) != 1:
        raise ValueError(f"{name} must be a list of labels, a range or a one-dimensional array, got {factor!r}.")
    return factor


def _table(factor: Any, name: str) -> Any:
    table = factor.tocsr() if sparse.issparse(factor) else np.asarray(factor)
    if table.ndim != 2 or table.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be a table of numbers (n, d), got {table.dtype} of shape {table.shape}.")
    return table


def _product(lengths: tuple[int, ...]) -> int:
    total = 1
    for length in lengths:
        total *= length
    if total >= 2**62:
        raise ValueError(f"the factors make {total} candidates, more than can be counted; leave some out.")
    return total
