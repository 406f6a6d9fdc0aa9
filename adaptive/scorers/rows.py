"""Rows of numbers, dense or sparse: products and distances of all pairs, block by block in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from adaptive.types import Matrix

__all__ = ["blocks", "products", "squared_distances", "squared_norms"]


def blocks(m: int, width: int, numbers: int = 2**22) -> Iterator[slice]:
    """Yield slices that cover range(m), each with at most ``numbers / width`` entries (32 MiB of float64 by default).

    Examples
    --------
    >>> list(blocks(5, 10, numbers=20))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, numbers // max(1, width))
    for start in range(0, m, step):
        yield slice(start, min(start + step, m))


def squared_norms(rows: Matrix) -> np.ndarray:
    """Return |x|^2 of each row (m,)."""
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=float).ravel()  # type: ignore[union-attr, type-var]
    return np.einsum("ij,ij->i", rows, rows, dtype=float)


def products(rows: Matrix, others: Matrix) -> np.ndarray:
    """Return the inner products (m, k) of two sets of rows."""
    product: Any = rows @ others.T
    return product.toarray() if sparse.issparse(product) else np.asarray(product, dtype=float)


def squared_distances(rows: Matrix, others: Matrix) -> np.ndarray:
    """Return min_k |x - z_k|^2 over the ``others``, for each row (m,); infinity where there are none.

    Examples
    --------
    >>> squared_distances(np.array([[0.0], [3.0]]), np.array([[1.0], [5.0]]))
    array([1., 4.])
    """
    own, theirs = squared_norms(rows), squared_norms(others)
    nearest = np.full(len(own), np.inf)
    for part in blocks(len(own), len(theirs)):
        distances = own[part, None] + theirs - 2 * products(rows[part], others)
        # what is left of equal rows is rounding
        distances[distances < 1e-14 * (own[part, None] + theirs)] = 0.0
        nearest[part] = distances.min(axis=1, initial=np.inf)
    return nearest
