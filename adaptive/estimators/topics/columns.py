"""Columns of word counts and of metadata: fixed by the first documents, but that categories may be added.

Metadata become rows of features: a constant first, then numbers as they are, then one indicator per category of a text
column, in the order in which the categories first appear, so that a stream meets new authors as it goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import scipy.sparse as sp

from adaptive import checks
from adaptive.estimators.rows.tables import refuse_extremes
from adaptive.pool import has_columns

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.types import ArrayLike, State, Table

    Metadata: TypeAlias = pd.DataFrame | sp.csr_array  # of pandas or polars

__all__ = ["Columns", "Metadata", "as_metadata"]


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns that a model knows.

    Attributes
    ----------
    n_words : int or None
        Columns of the word counts; None: not known yet.
    words : tuple of str or None
        Their names, where they have any.
    numbers : tuple of str or int, or None
        Names of the numeric metadata, or their number; None: the documents have no metadata.
    texts : tuple of str
        Names of the text columns.
    categories : tuple of (str, str)
        Text column and category of each indicator.
    """

    n_words: int | None = None
    words: tuple[str, ...] | None = None
    numbers: tuple[str, ...] | int | None = None
    texts: tuple[str, ...] = ()
    categories: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, n_words: int | None, words: tuple[str, ...] | None, metadata: Metadata | None) -> Columns:
        """Those of the first documents; their categories are added by ``encoded``."""
        if metadata is None:
            return cls(n_words, words)
        if not has_columns(metadata):
            return cls(n_words, words, int(metadata.shape[1]))
        texts = tuple(name for name in map(str, metadata.columns) if _is_text(_column(metadata, name)))
        return cls(n_words, words, tuple(name for name in map(str, metadata.columns) if name not in texts), texts)

    def __len__(self) -> int:
        """No documents are kept."""
        return 0

    @property
    def n_features(self) -> int | None:
        """Columns of the word counts."""
        return self.n_words

    @property
    def has_metadata(self) -> bool:
        """Topics are forecast from metadata."""
        return self.numbers is not None

    @property
    def width(self) -> int:
        """Features of a document, with the constant; 0 without metadata."""
        return 1 + self._n_numbers + len(self.categories) if self.has_metadata else 0

    @property
    def _n_numbers(self) -> int:
        return self.numbers if isinstance(self.numbers, int) else len(self.numbers or ())

    @property
    def typical(self) -> int:
        """Number of features that a document is taken to have, where the prior's variance is shared among them."""
        if isinstance(self.numbers, int):
            return 2 if self.numbers else 1
        return 1 + self._n_numbers + len(self.texts)

    @property
    def names(self) -> list[str]:
        """Names of all features, the constant first."""
        numbers = [f"x{j}" for j in range(self.numbers)] if isinstance(self.numbers, int) else list(self.numbers or ())
        return ["constant", *numbers, *(f"{column}={category}" for column, category in self.categories)]

    def position(self, column: str | int | tuple[str, str]) -> int:
        """Which feature a user means by its name, (column, category), or its place among the metadata's columns."""
        if isinstance(column, tuple) and len(column) == 2:
            column = f"{column[0]}={column[1]}"
        if isinstance(column, (int, np.integer)) and not isinstance(column, bool):
            if not 0 <= column < self.width - 1:
                raise ValueError(f"column must be from 0 to {self.width - 2}, got {column}.")
            return int(column) + 1
        checks.choice("column", column, self.names)
        return self.names.index(str(column))

    def encoded(self, metadata: Metadata | None, n_documents: int) -> tuple[Columns, sp.csr_array]:
        """These columns with the categories that are new, and the rows (n_documents, width).

        Raises
        ------
        ValueError
            If the metadata have other columns than before, or are not known everywhere.
        """
        if not self.has_metadata:
            if metadata is not None:
                raise ValueError("metadata was given, but the model was fitted without it; fit it with metadata.")
            return self, sp.csr_array((n_documents, 0))
        assert metadata is not None
        if metadata.shape[0] != n_documents:
            raise ValueError(f"metadata must have one row for each document, {n_documents}, got {metadata.shape[0]}.")
        constant = sp.csr_array(np.ones((n_documents, 1)))
        if isinstance(self.numbers, int):
            given = "columns with names" if has_columns(metadata) else metadata.shape[1]
            if given != self.numbers:
                raise ValueError(f"metadata must have {self.numbers} columns as before, got {given}.")
            return self, sp.csr_array(sp.hstack([constant, metadata], format="csr"))
        return self._encoded_frame(metadata, constant)

    def _encoded_frame(self, metadata: Metadata, constant: sp.csr_array) -> tuple[Columns, sp.csr_array]:
        names = set(map(str, metadata.columns)) if has_columns(metadata) else None
        named = self.numbers if isinstance(self.numbers, tuple) else ()
        wanted = {*named, *self.texts}
        if names != wanted:
            given = sorted(names) if names is not None else f"{metadata.shape[1]} without names"
            raise ValueError(f"metadata must have the columns {sorted(wanted)} as before, got {given}.")
        numbers = [checks.finite(f"metadata column {name}", _column(metadata, name)) for name in named]
        parts = [constant, *(sp.csr_array(column[:, None]) for column in numbers)]
        known = {pair: position for position, pair in enumerate(self.categories)}
        values = [_categories(name, _column(metadata, name)) for name in self.texts]
        codes = np.empty((len(self.texts), metadata.shape[0]), dtype=np.int64)
        for row in range(metadata.shape[0]):  # document by document: the same order however a stream is cut
            for column, name in enumerate(self.texts):
                codes[column, row] = known.setdefault((name, values[column][row]), len(known))
        ones, rows = np.ones(codes.size), np.tile(np.arange(metadata.shape[0]), len(self.texts))
        parts.append(sp.csr_array((ones, (rows, codes.ravel())), shape=(metadata.shape[0], len(known))))
        return replace(self, categories=tuple(known)), sp.csr_array(sp.hstack(parts, format="csr"))

    def state(self) -> State:
        """Return plain data."""
        numbers = self.numbers if self.numbers is None or isinstance(self.numbers, int) else list(self.numbers)
        words = None if self.words is None else list(self.words)
        pairs = [list(pair) for pair in self.categories]
        return {"n_words": self.n_words, "words": words, "numbers": numbers, "texts": list(self.texts), "pairs": pairs}

    @classmethod
    def from_state(cls, state: State) -> Columns:
        """The columns that ``state`` described."""
        numbers = state["numbers"]
        if numbers is not None and not isinstance(numbers, (int, np.integer)):
            numbers = tuple(map(str, numbers))
        words = None if state["words"] is None else tuple(map(str, state["words"]))
        pairs = tuple((str(column), str(category)) for column, category in state["pairs"])
        return cls(state["n_words"], words, numbers, tuple(map(str, state["texts"])), pairs)


def as_metadata(metadata: Table | None) -> Metadata | None:
    """A frame as it is; other metadata as a sparse table of numbers, or as a frame where they are texts."""
    if metadata is None:
        return metadata
    checks.refuse_masked("metadata", metadata)
    if has_columns(metadata):
        refuse_extremes("metadata", metadata)
        return metadata
    if isinstance(metadata, (str, bytes, Mapping)) or (
        not sp.issparse(metadata) and np.ndim(cast("ArrayLike", metadata)) == 0
    ):
        raise ValueError(f"metadata must be a table with one row for each document, got {checks.short(metadata)}.")
    if sp.issparse(metadata):
        table = sp.csr_array(metadata, dtype=float)
        checks.finite("metadata", table.data)
        refuse_extremes("metadata", table)
        return table
    array = np.asarray(metadata)
    if array.dtype.kind in "OUS":
        import pandas as pd

        array = array[:, None] if array.ndim == 1 else array
        return pd.DataFrame({str(j): array[:, j] for j in range(array.shape[1])}).infer_objects()
    array = checks.finite("metadata", metadata)
    refuse_extremes("metadata", array)
    if array.ndim != 2:
        raise ValueError(f"metadata must have one row for each document, got an array of shape {array.shape}.")
    return sp.csr_array(array)


def _column(frame: pd.DataFrame, name: str) -> np.ndarray:
    (own,) = (own for own in frame.columns if str(own) == name)
    return frame[own].to_numpy()


def _is_text(column: np.ndarray) -> bool:
    return column.dtype.kind not in "fiub"


def _categories(name: str, column: np.ndarray) -> list[str]:
    for row, value in enumerate(column):
        if value is None or value != value:
            raise ValueError(
                f"metadata column {name} contains {value} in row {row}; give unknown values a category of their own."
            )
    return [str(value) for value in column]
