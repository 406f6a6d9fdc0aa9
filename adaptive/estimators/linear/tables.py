"""Tables of features as users give them: what scikit-learn checks, and that sparse indices point into the table.

SciPy follows the indices of a sparse matrix without a look; those that ran over 32 bits lead out of memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

__all__ = ["checked_table", "has_columns"]

UNLABELLED: Any = object()
MOST_COLUMNS = 2**31 - 1
KINDS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


def checked_table(estimator: Any, X: Any, y: Any = UNLABELLED, *, reset: bool = False, numbers: bool = False) -> Any:
    """Return the rows, and the outcomes where ``y`` is given, checked against the features of the last fit.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Before any fit a pool may have whatever width.
    X : (m, n_features) array, sparse matrix or frame
    y : (m,) array, optional
        None is refused: no labels where there should be some.
    reset : bool, default False
        The features are these from now on.
    numbers : bool, default False
        Outcomes are numbers, and all is in double precision; else they are labels, and rows keep single precision.

    Raises
    ------
    ValueError
        If X is not finite, its columns are not those of the last fit, or its sparse indices point out of it.
    """
    if sp.issparse(X):
        _check_indices(X)
    kinds = {**KINDS, "dtype": float} if numbers else KINDS
    try:
        if y is not UNLABELLED:
            rows, outcomes = validate_data(estimator, X, y, reset=reset, y_numeric=numbers, **kinds)
            return rows, np.asarray(outcomes, dtype=float) if numbers else outcomes
        if hasattr(estimator, "n_features_in_"):
            return validate_data(estimator, X, reset=False, **kinds)
        return check_array(X, **kinds)
    except ValueError as problem:
        first = str(problem).splitlines()[0]
        if not first.startswith("Input X contains"):
            raise
        raise ValueError(
            f"{first[:-1]}, first in row {_first_bad_row(X)}; leave out rows that are not known."
        ) from None


def has_columns(X: Any) -> bool:
    """Whether X is a frame, of pandas or polars."""
    return hasattr(X, "columns")


def _first_bad_row(X: Any) -> int:
    if sp.issparse(X):
        rows, _ = X.tocoo().coords
        return int(rows[~np.isfinite(X.tocoo().data)].min())
    rows = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X, dtype=float)
    return int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])


def _check_indices(X: Any) -> None:
    width = X.shape[1]
    if width > MOST_COLUMNS:
        raise ValueError(
            f"X must have at most {MOST_COLUMNS} columns, what 32-bit indices reach, got {width}; hash the features "
            "into fewer."
        )
    if X.format not in ("csr", "csc"):
        return  # of triplets and the like SciPy checks the indices itself, when they are put into rows
    across = X.shape[1 if X.format == "csr" else 0]
    ends = X.indptr
    if ends[0] != 0 or ends[-1] > len(X.indices) or np.any(ends[1:] < ends[:-1]):
        raise ValueError("X is a broken sparse matrix: its indptr does not rise from 0 to the number of its entries.")
    if len(X.indices) and not 0 <= int(X.indices.min()) <= int(X.indices.max()) < across:
        raise ValueError(
            f"X is a broken sparse matrix: its indices run from {X.indices.min()} to {X.indices.max()}, outside of its "
            f"{across} {'columns' if X.format == 'csr' else 'rows'}; did they overflow 32 bits?"
        )
