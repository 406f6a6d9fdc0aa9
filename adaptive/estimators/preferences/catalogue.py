"""Items that are known before any comparison, and how alike they are by their features or by a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from adaptive import checks
from adaptive.estimators.ids import ids_of
from adaptive.estimators.rows.vector_cells import spread
from adaptive.pool import without_names

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.types import ArrayLike, Id, Table

__all__ = ["catalogue_of", "refuse_half_a_kernel"]


def refuse_half_a_kernel(kernel: Kernel | Table | None, item_features: Table | Mapping[Id, ArrayLike] | None) -> None:
    """Refuse features without a kernel that compares them, and such a kernel without features."""
    if item_features is not None and not callable(kernel):
        given = "None" if kernel is None else "a matrix"
        raise ValueError(f"item_features needs a kernel of scikit-learn that compares them, got kernel={given}.")
    if callable(kernel) and item_features is None:
        raise ValueError("kernel compares items by their features: give item_features, a row per item.")


def catalogue_of(
    kernel: Kernel | Table | None, item_features: Table | Mapping[Id, ArrayLike] | None, alpha: float
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return ids (n,) of the items that are known by features or a matrix, and K (n, n); None without a kernel."""
    if kernel is None:
        return np.zeros(0, dtype=np.int64), None
    if callable(kernel):
        ids, rows = _labelled(item_features)
        features = checks.finite("item_features", rows)
        if features.ndim != 2 or not len(features):
            raise ValueError(f"item_features must have a row per item, got shape {features.shape}.")
        matrix = np.asarray(kernel(features), dtype=float) + alpha * np.eye(len(features))
    else:
        ids, rows = _labelled(kernel)
        matrix = checks.finite("kernel", rows)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.allclose(matrix, matrix.T):
            raise ValueError(f"kernel must be a symmetric matrix (items, items), got shape {matrix.shape}.")
    if len(np.unique(ids)) < len(ids):
        raise ValueError("items must have one row each: one id occurs twice in item_features or kernel.")
    try:
        linalg.cholesky(matrix, lower=True)
    except linalg.LinAlgError:
        lowest = float(np.linalg.eigvalsh(matrix)[0])
        raise ValueError(
            "kernel must be positive definite over the items, got a matrix whose lowest eigenvalue is "
            f"{lowest:.2g}; add a variance of each item's own to its diagonal (alpha)."
        ) from None
    return ids, matrix


def _labelled(table: Table | Mapping[Id, ArrayLike] | None) -> tuple[np.ndarray, ArrayLike]:
    """Ids and rows: of a frame its index, of a mapping its keys, else 0, 1, ..."""
    if isinstance(table, Mapping):
        return ids_of("items", np.array(list(table))), list(table.values())
    rows = without_names(spread(table))
    index = getattr(table, "index", None) if hasattr(table, "to_numpy") else None  # of a frame, or a series of vectors
    if index is not None:
        return ids_of("items", np.asarray(index)), rows
    rows = np.asarray(rows)
    if rows.ndim != 2:
        raise ValueError(
            "kernel must be None, a kernel of scikit-learn or a matrix over items, and item_features a table, got "
            f"{type(table).__name__} {table!r:.60}."
        )
    return np.arange(len(rows)), rows
