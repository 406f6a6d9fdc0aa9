"""Tables of features as users give them: what scikit-learn checks, and that sparse indices point into the table.

SciPy follows the indices of a sparse matrix without a look; those that ran over 32 bits lead out of memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from adaptive import checks
from adaptive.estimators.rows.vector_cells import spread
from adaptive.pool import has_columns, without_names

if TYPE_CHECKING:
    from adaptive.types import Matrix, Outcomes, Pool, Table

__all__ = [
    "LARGEST",
    "check_kind",
    "checked_pool",
    "checked_table",
    "in_plain_words",
    "is_fitted",
    "refuse_extremes",
    "refuse_unknown",
]

UNLABELLED: Any = object()
MOST_COLUMNS = 2**31 - 1
LARGEST = 1e100  # in size; squares of it, and sums of these, are far from overflowing
KINDS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


def checked_table(
    estimator: object, X: Pool, y: Outcomes = UNLABELLED, *, reset: bool = False, numbers: bool = False
) -> Any:
    """Return the rows, and the outcomes where ``y`` is given, checked against the features of the last fit.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Before any fit a pool may have whatever width.
    X : (m, n_features) array, sparse matrix or frame, or a series of vectors
        A vector in a cell of a frame is as many features as it has numbers.
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
    X = spread(X)
    check_kind("X", X)
    if y is not UNLABELLED:
        check_kind("y", y)
    kinds = {**KINDS, "dtype": float} if numbers else KINDS
    with in_plain_words(X, y):
        if y is not UNLABELLED:
            refuse_extremes("X", X)
            if numbers:
                refuse_extremes("y", y)
            rows, outcomes = validate_data(estimator, X, y, reset=reset, y_numeric=numbers, **kinds)
            return rows, checks.finite("y", outcomes, dtype=float) if numbers else outcomes  # None became nan just now
        if hasattr(estimator, "n_features_in_"):
            rows = validate_data(estimator, X, reset=False, **kinds)
        else:
            rows = check_array(X, input_name="X", **kinds)
    refuse_extremes("X", rows)
    return rows


def refuse_extremes(name: str, values: Any) -> None:
    """Refuse finite numbers whose squares would overflow, before anything is kept of them; others are not looked at."""
    if sp.issparse(values) and values.format in ("lil", "dok"):  # they keep no array of numbers
        values = values.tocsr()
    numbers = values.data if sp.issparse(values) else without_names(values)
    try:
        numbers = np.asarray(numbers)
    except ValueError:  # ragged: said elsewhere
        return
    if numbers.dtype.kind not in "iuf" or not numbers.size:
        return
    low, high = numbers.min(), numbers.max()
    if max(-float(low), float(high)) > LARGEST and np.isfinite([low, high]).all():
        largest = float(high) if high > -low else float(low)
        raise ValueError(
            f"{name} must hold numbers of at most {LARGEST:g} in size, got {largest:g}; give them in a larger unit."
        )


def checked_pool(pool: Table) -> Matrix:
    """Return the rows of an argument ``pool``, checked as those of X are; what is refused names it."""
    try:
        return checked_table(None, pool)
    except ValueError as problem:
        raise ValueError(f"pool must hold rows of features: {problem}") from None


@contextmanager
def in_plain_words(X: Pool, y: Outcomes = UNLABELLED) -> Iterator[None]:
    """Let what scikit-learn and NumPy refuse of X and y be refused in one sentence that names the argument."""
    try:
        yield
    except (ValueError, TypeError, OverflowError) as problem:
        first, *more = str(problem).strip().splitlines() or ["no reason given"]
        said = _in_words(first, X, y)
        if said is None and not more and _NAMED.search(first) and isinstance(problem, (ValueError, TypeError)):
            raise
        kind = TypeError if isinstance(problem, TypeError) else ValueError
        wrong = "X" if _is_none(y) or "y" not in _suspects(X, y) else "y" if "X" not in _suspects(X, y) else "X or y"
        raise kind(said or f"{wrong} cannot be used: {' '.join([first, *more])[:300]}") from None


_NAMED = re.compile(r"\b(X|y|columns?|features)\b")


def _is_none(y: Any) -> bool:
    return y is UNLABELLED or (isinstance(y, str) and y == "no_validation")


def _suspects(X: Any, y: Any) -> str:
    """Which of the two are no plain arrays of numbers (or, y, of labels) of one or two axes."""
    found = ""
    for name, value, axes in (("X", X, 2), ("y", y, 1)):
        array = _array_of(without_names(value)) if not sp.issparse(value) else value
        sound = getattr(array, "ndim", 0) == axes and 0 not in array.shape and array.dtype.kind in "biufU"
        found += "" if sound and (name == "y" or array.dtype.kind != "U") else name
    return found or "Xy"


def refuse_unknown(estimator: object, X: Pool, name: str) -> None:
    """Refuse NaN and infinity in a table of numbers, an argument of this name, unless the estimator takes them."""
    if not hasattr(estimator, "__sklearn_tags__") or get_tags(estimator).input_tags.allow_nan:
        return
    table: Any = X
    if not isinstance(table, (list, tuple)):  # those may be candidates of any kind, such as paths of moves
        table = spread(table)
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
    if problem.startswith("float() argument"):
        column, entry = _first_text(X)
        return f"X must hold numbers, got {checks.short(entry)} in column {column}: {problem}."
    if problem.startswith("could not convert string to float"):
        column, text = _first_text(X)
        return (
            f"X must hold numbers, got {text!r} in column {column}: make columns of numbers of it, as in make_pipeline("
            "make_column_transformer((OneHotEncoder(), columns), remainder='passthrough'), estimator)."
        )
    if problem.startswith("int too large"):
        return "X and y must hold numbers, got a whole number that no float can hold."
    if problem.startswith("Input should have at least 1 dimension"):
        return f"y must hold one outcome for each row, shape (m,), got {checks.short(y)}."
    if problem.startswith("dtype='numeric' is not compatible"):
        return "X must hold numbers, got text; convert it to numbers first."
    if problem.startswith("y should be a 1d array") and np.ndim(y) == 2:
        return (
            f"y must hold one outcome for each row, shape (m,), got an array of shape {np.shape(y)}; of columns of 0 "
            "and 1, one for each class, y.argmax(axis=1) makes labels."
        )
    return None


def _first_text(X: Pool) -> tuple[int | str, object]:
    """Column (by name where it has one) and text of the first entry that is no number."""
    rows = np.atleast_1d(np.asarray(without_names(X), dtype=object))
    for row in rows:
        for column, entry in enumerate(np.atleast_1d(row)):
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
    rows = np.asarray(without_names(spread(X)), dtype=float)
    bad = np.flatnonzero(~(abs(rows) <= LARGEST).all(axis=1))
    return int(bad[0]) if len(bad) else int(np.flatnonzero(~np.isfinite(rows.astype(np.float32)).all(axis=1))[0])


def check_kind(name: str, values: Any) -> None:
    """Refuse what would become numbers without a word: masked cells, dates, imaginary parts that are dropped."""
    if sp.issparse(values):
        _check_indices(values)
    if name == "X" and (isinstance(values, (str, bytes, Mapping, type)) or np.ndim(_array_of(values)) == 0):
        raise ValueError(f"X must be a table of numbers, rows and features, got {checks.short(values)}.")
    checks.as_given(name, values)
    dtypes = getattr(values, "dtypes", None)
    kinds = [getattr(values, "dtype", None)] if dtypes is None or not hasattr(dtypes, "__iter__") else [*dtypes]
    if any(getattr(kind, "kind", "") == "c" for kind in kinds) or (
        isinstance(values, (list, tuple)) and np.iscomplexobj(_array_of(values))
    ):
        raise ValueError(
            f"Complex data not supported: {name} must hold real numbers; its real and imaginary parts may stand in two "
            "columns."
            if name == "X"
            else f"Complex data not supported: {name} must hold real numbers or labels."
        )


def _array_of(values: Any) -> np.ndarray:
    try:
        return np.asarray(values) if not sp.issparse(values) else np.zeros((1, 1))
    except (ValueError, TypeError, OverflowError):  # ragged: said elsewhere
        return np.zeros(1, dtype=object)


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
