"""Rows whose cells hold vectors, as frames keep embeddings: each vector becomes as many columns as it has numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from adaptive.pool import has_columns
from adaptive.tables.vectors import numbers_in, unequal

__all__ = ["spread"]

NESTED = ("object", "List", "Array", "list", "large_list", "fixed_size_list")  # kinds of columns that may hold vectors


def spread(X: Any) -> Any:
    """Return rows with every vector in a cell spread over columns; what has none as it is.

    Parameters
    ----------
    X : frame, series, array, list or sparse matrix
        A series, or an array of objects with one axis, of vectors is one column of them.

    Returns
    -------
    A frame where X is one, else an (m, d) array; the precision of the vectors stays.

    Raises
    ------
    ValueError
        If a column holds vectors of different lengths, or something else beside vectors.

    Examples
    --------
    >>> import pandas as pd
    >>> spread(pd.DataFrame({"e": [[1.0, 2.0], [3.0, 4.0]], "age": [41, 30]})).columns.tolist()
    ['e 1', 'e 2', 'age']
    >>> spread(pd.Series([[1.0, 2.0], [3.0, 4.0]])).shape
    (2, 2)
    """
    if sp.issparse(X) or (isinstance(X, np.ndarray) and X.dtype != object):
        return X
    if has_columns(X):
        return _frame(X)
    if isinstance(X, np.ndarray) and X.ndim == 2:
        held = [_holds_vectors(column) for column in X.T]
        if not any(held):
            return X
        return np.column_stack([_block(f"column {k}", c) if held[k] else c.astype(float) for k, c in enumerate(X.T)])
    if isinstance(X, (list, tuple)):  # rows of one length NumPy reads by itself
        return _block("its cells", X) if _holds_vectors(X) and len({np.size(row) for row in X}) > 1 else X
    if isinstance(X, np.ndarray) and X.ndim != 1:
        return X
    cells = _cells(X) if hasattr(X, "to_numpy") or isinstance(X, np.ndarray) else ()
    return _block("its cells", cells) if _holds_vectors(cells) else X


def _frame(X: Any) -> Any:
    if not any(str(dtype).startswith(NESTED) for dtype in X.dtypes) or len(set(X.columns)) < len(X.columns):
        return X
    columns = [(name, _cells(X[name])) for name in X.columns]
    if not any(_holds_vectors(cells) for _, cells in columns):
        return X
    import pandas as pd

    index = X.index if hasattr(X, "index") else None
    parts = []
    for name, cells in columns:
        if _holds_vectors(cells):
            block = _block(f"column {str(name)!r}", cells)
            names = [f"{name} {k + 1}" for k in range(block.shape[1])]
            parts.append(pd.DataFrame(block, index=index, columns=names))
        else:
            parts.append(pd.DataFrame({str(name): np.asarray(X[name])}, index=index))
    return pd.concat(parts, axis=1)


def _cells(column: Any) -> Any:
    cells = column if isinstance(column, np.ndarray) else column.to_numpy()
    return list(cells) if cells.ndim == 2 else cells  # polars' arrays of one width are a table


def _holds_vectors(cells: Any) -> bool:
    """Look at the first cell that is not empty."""
    if isinstance(cells, np.ndarray) and cells.dtype != object:
        return False
    for cell in cells:
        if cell is not None and not (isinstance(cell, float) and np.isnan(cell)):
            return numbers_in(cell) is not None
    return False


def _block(name: str, cells: Any) -> np.ndarray:
    found = [numbers_in(cell) for cell in cells]
    usual, bad = unequal(found)
    if len(bad):
        place = int(bad[0])
        numbers = found[place]
        got = f"{len(numbers)} numbers" if numbers is not None else repr(cells[place])[:60]
        raise ValueError(
            f"X must hold vectors of one length in {name}, where most have {usual} numbers, got {got} in row {place}."
        )
    block = np.stack(found)  # type: ignore[arg-type]
    return block if block.dtype.kind == "f" else block.astype(float)
