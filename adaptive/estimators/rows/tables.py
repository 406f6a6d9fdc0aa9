"""Tables of features as users give them: what scikit-learn checks, and that sparse indices point into the table.

SciPy follows the indices of a sparse matrix without a look; those that ran over 32 bits lead out of memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from adaptive.pool import has_columns, without_names

if TYPE_CHECKING:
    from adaptive.types import Matrix, Outcomes, Pool, Table

__all__ = [
    "checked_pool",
    "checked_table",
    "in_plain_words",
    "is_fitted",
    "refuse_unknown",
]

UNLABELLED: Any = object()
MOST_COLUMNS = 2**31 - 1
LARGEST = 1e100  # number in a row
KINDS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


def checked_table(
    estimator: object, X: Pool, y: Outcomes = UNLABELLED, *, reset: bool = False, numbers: bool = False
) -> Any:
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
    with in_plain_words(X, y):
        if y is not UNLABELLED:
            _refuse_huge(X)  # before anything is set
            rows, outcomes = validate_data(estimator, X, y, reset=reset, y_numeric=numbers, **kinds)
            return rows, np.asarray(outcomes, dtype=float) if numbers else outcomes
        known = hasattr(estimator, "n_features_in_")
        rows = validate_data(estimator, X, reset=False, **kinds) if known else check_array(X, input_name="X", **kinds)
        _refuse_huge(rows)
        return rows


def _refuse_huge(X: Any) -> None:
    """Refuse numbers of which squares, variances and their products overflow."""
    table: Any = X
    values = (table if hasattr(table, "data") else table.tocsr()).data if sp.issparse(X) else without_names(X)
    if not isinstance(values, np.ndarray) or values.dtype != np.float64 or not values.size:
        return
    largest = max(values.max(), -values.min())
    if LARGEST < largest < np.inf:  # infinity and NaN are refused in other words
        raise ValueError(
            f"X must hold numbers up to {LARGEST:g}, with whose squares one can still compute, got {largest:g}; scale "
            "the columns, as in make_pipeline(StandardScaler(), estimator)."
        )


def checked_pool(pool: Table) -> Matrix:
    """Return the rows of an argument ``pool``, checked as those of X are; what is refused names it."""
    try:
        return checked_table(None, pool)
    except ValueError as problem:
        raise ValueError(f"pool must hold rows of features: {problem}") from None


@contextmanager
def in_plain_words(X: Pool, y: Outcomes = UNLABELLED) -> Iterator[None]:
    """Let what scikit-learn refuses of X and y be refused in one sentence with the cure."""
    try:
        yield
    except ValueError as problem:
        said = _in_words(str(problem).splitlines()[0], X, y)
        if said is None:
            raise
        raise ValueError(said) from None


def refuse_unknown(estimator: object, X: Pool, name: str) -> None:
    """Refuse NaN and infinity in a table of numbers, an argument of this name, unless the estimator takes them."""
    if not hasattr(estimator, "__sklearn_tags__") or get_tags(estimator).input_tags.allow_nan:
        return
    table: Any = X
    values = table.data if sp.issparse(table) else without_names(table)
    if not isinstance(values, np.ndarray) or values.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        sound = np.isfinite(values.sum())  # no table of booleans, unless the sum overflows
    if not sound and not np.isfinite(values).all():
        raise ValueError(
            f"{name} contains NaN or infinity, first in row {_first_bad_row(X)}: leave such rows out, or fill them in, "
            "as in make_pipeline(SimpleImputer(), StandardScaler(), estimator)."
        )


def _in_words(problem: str, X: Any, y: Outcomes) -> str | None:
    """Scikit-learn's complaint about a table in one sentence with the cure; None: its own words are good."""
    if problem.startswith("Input X contains"):
        return f"{problem[:-1]}, first in row {_first_bad_row(X)}; leave out rows that are not known."
    if problem.startswith("Expected 2D array"):
        shape = np.shape(X)
        return (
            f"X must have two axes, rows and features, got an array of shape {shape}. Reshape your data: X[:, None] is "
            "one feature of many rows, X[None] one row of many features."
        )
    if problem.startswith("could not convert string to float"):
        column, text = _first_text(X)
        return (
            f"X must hold numbers, got {text!r} in column {column}: make columns of numbers of it, as in make_pipeline("
            "make_column_transformer((OneHotEncoder(), columns), remainder='passthrough'), estimator)."
        )
    if problem.startswith("y should be a 1d array") and np.ndim(y) == 2:
        return (
            f"y must hold one outcome for each row, shape (m,), got an array of shape {np.shape(y)}; of columns of 0 "
            "and 1, one for each class, y.argmax(axis=1) makes labels."
        )
    return None


def _first_text(X: Pool) -> tuple[int | str, object]:
    """Column (by name where it has one) and text of the first entry that is no number."""
    rows = np.asarray(without_names(X), dtype=object)
    for row in rows:
        for column, entry in enumerate(row):
            try:
                float(entry)
            except (TypeError, ValueError):
                return (repr(str(X.columns[column])) if has_columns(X) else column), entry
    return 0, ""


def is_fitted(step: object) -> bool:
    """Return whether scikit-learn takes it for fitted; what needs no fit is, unless it says otherwise itself."""
    if hasattr(step, "__sklearn_is_fitted__"):
        return bool(step.__sklearn_is_fitted__())
    try:
        check_is_fitted(step)
    except (NotFittedError, TypeError):  # of something else than an estimator of scikit-learn nothing is known
        return False
    return True


def _first_bad_row(X: Any) -> int:
    if sp.issparse(X):
        rows, _ = X.tocoo().coords
        return int(rows[~np.isfinite(X.tocoo().data)].min())
    rows = np.asarray(without_names(X), dtype=float)
    return int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])


def _check_indices(X: sp.sparray) -> None:
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
