"""Exposure of rows: the column that says for how long, or how large an area, was counted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from adaptive.estimators.rows.tables import LARGEST
from adaptive.estimators.rows.training import Rows

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from adaptive.types import Matrix, Number, State

__all__ = ["CountRows", "Exposed", "check_column", "column_of", "exposed"]


@dataclass(frozen=True, eq=False)
class Exposed:
    """Rows without the column of the exposure, and the exposures (m,); 1.0 where there is no such column."""

    rows: Matrix
    exposure: Number

    def __len__(self) -> int:
        return self.rows.shape[0]


@dataclass(frozen=True, eq=False)
class CountRows(Rows):
    """Rows as they were given, and their counts.

    Attributes
    ----------
    column : int or None
        Which one is the exposure.
    """

    column: int | None = None

    @cached_property
    def exposed(self) -> Exposed:
        """Features and exposures."""
        return exposed(self.X, self.column)

    @cached_property
    def plain(self) -> Rows:
        """The features alone, and the counts."""
        return Rows(self.exposed.rows, self.y)

    @property
    def mean_rate(self) -> float:
        """Counts per unit of exposure, with half a count more than there were."""
        return float((self.y.sum() + 0.5) / np.broadcast_to(self.exposed.exposure, self.y.shape).sum())

    def state(self) -> State:
        """Plain data."""
        return {**super().state(), "exposure_column": self.column}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The rows that ``state`` described."""
        return replace(super().from_state(state), column=state["exposure_column"])


def check_column(column: object) -> None:
    """Refuse what names no column."""
    if column is None or isinstance(column, str):
        return
    if isinstance(column, (bool, np.bool_)) or not isinstance(column, (int, np.integer)):
        raise ValueError(f"exposure must be the number or the name of a column of X, or None, got {column!r}.")


def column_of(estimator: BaseEstimator, X: Matrix, column: int | str | None) -> int | None:
    """Return the position of the exposure among the columns of X (m, n); None where there is none."""
    if column is None:
        return None
    width = X.shape[1]
    if isinstance(column, str):
        names = list(getattr(estimator, "feature_names_in_", getattr(X, "columns", [])))
        if column not in names:
            raise ValueError(f"exposure names the column {column!r}, which X does not have; columns: {names}.")
        return names.index(column)
    if not -width <= column < width:
        raise ValueError(f"exposure is column {column}, but X has {width} columns.")
    return int(column) % width


def exposed(X: Matrix, column: int | None) -> Exposed:
    """Return rows and exposures of a checked table (m, n)."""
    if column is None:
        return Exposed(X, 1.0)
    kept = np.delete(np.arange(X.shape[1]), column)
    if sp.issparse(X):
        table: Any = X
        columns = table.tocsc()
        values, rows = columns[:, [column]].toarray().ravel(), columns[:, kept].tocsr()
    else:
        values, rows = X[:, column], X[:, kept]
    wrong = ~((values > 0) & (values >= 1.0 / LARGEST) & (values <= LARGEST))
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        within = "" if values[k] <= 0 else f", between {1.0 / LARGEST:g} and {LARGEST:g}"
        raise ValueError(f"exposure must be positive{within}, got {float(values[k]):g} in row {k}.")
    return Exposed(rows, np.array(values, dtype=float))
