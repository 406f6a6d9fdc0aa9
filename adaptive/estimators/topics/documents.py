"""Documents as users give them, checked: word counts (sparse), and metadata as rows of features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np
import scipy.sparse as sp

from adaptive.checks import finite, short
from adaptive.estimators.topics.columns import Columns, as_metadata
from adaptive.pool import has_columns

if TYPE_CHECKING:
    from adaptive.types import Table

    Words: TypeAlias = Sequence[str]  # of a document, one after the other
    Vocabulary: TypeAlias = Sequence[str] | Mapping[str, int] | None  # names of columns, or their positions
    Read: TypeAlias = Sequence[sp.csr_array | np.ndarray | Words] | np.ndarray | sp.csr_array  # as a reader reports it

__all__ = ["Documents", "counts_of_words", "halves"]


@dataclass(frozen=True, eq=False)
class Documents:
    """D documents.

    Attributes
    ----------
    columns : Columns
    counts : (D, V) CSR array
        Whole numbers of type float.
    rows : (D, F) CSR array
        Features of the metadata, F = 0 without.
    """

    columns: Columns
    counts: sp.csr_array
    rows: sp.csr_array

    @classmethod
    def of(cls, X: Table, metadata: Table | None, known: Columns | None = None) -> Documents:
        """X and metadata, checked against the columns that are ``known``.

        Raises
        ------
        ValueError
            If counts are negative, fractional or NaN, words or columns are others than before, or metadata are not
            known.
        """
        counts, words = _counts(X), _names(X)
        metadata = as_metadata(metadata)
        if known is None:
            known = Columns.of(counts.shape[1], words, metadata)
        elif known.n_words != counts.shape[1]:
            raise ValueError(f"X must have {known.n_words} columns, the words known before, got {counts.shape[1]}.")
        elif words is not None and known.words is not None and words != known.words:
            raise ValueError("X must have the words it had before as columns, in the same order, got others.")
        elif known.has_metadata and metadata is None:
            raise ValueError("metadata is missing: the model was fitted with metadata for every document.")
        columns, rows = known.encoded(metadata, counts.shape[0])
        return cls(columns, counts, rows)

    def not_empty(self) -> Documents:
        """Those that have words."""
        there = np.diff(self.counts.indptr) > 0
        if there.all():
            return self
        return Documents(self.columns, self.counts[there], self.rows[there])


def _counts(X: Table) -> sp.csr_array:
    if has_columns(X):
        X = X.to_numpy()
    try:
        counts = sp.csr_array(X if sp.issparse(X) else np.atleast_2d(np.asarray(X)), dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"X must be a table of word counts, got {type(X).__name__}.") from None
    if not np.isfinite(counts.data).all():
        raise ValueError("X contains NaN or infinity; expected word counts.")
    if (counts.data < 0).any():
        raise ValueError(f"X must hold word counts, got the negative {counts.data.min():g}.")
    if (counts.data != np.round(counts.data)).any():
        raise ValueError("X must hold whole numbers, how often each word occurs, got fractions (weights of tf-idf?).")
    if not counts.has_canonical_format:
        counts = counts.copy()
        counts.sum_duplicates()
    if (counts.data == 0).any():
        counts = counts.copy()
        counts.eliminate_zeros()
    return counts


def _names(X: Table) -> tuple[str, ...] | None:
    return tuple(map(str, X.columns)) if has_columns(X) else None


def counts_of_words(documents: Read, n_words: int | None, vocabulary: Vocabulary) -> tuple[sp.csr_array, int]:
    """Outcomes of reading as one table of counts, and how many words were not known.

    Parameters
    ----------
    documents : list of sparse rows, arrays of counts, or lists of words; or a table of counts
    n_words : int or None
        The table's width, where it is known.
    vocabulary : list of str, mapping word -> column, or None
        For lists of words.
    """
    if sp.issparse(documents) or (isinstance(documents, np.ndarray) and documents.dtype.kind in "fiub"):
        return documents, 0
    parts, unknown = [], 0
    if isinstance(documents, (str, bytes, Mapping)) or not isinstance(documents, Iterable):
        raise ValueError(f"documents must hold word counts or a list of words each, got {short(documents)}.")
    for document in documents:
        if sp.issparse(document):
            parts.append(sp.csr_array(document).reshape(1, -1))
        elif not isinstance(document, (np.ndarray, Sequence)) or np.ndim(document) == 0:
            if not isinstance(document, (str, bytes)):
                raise ValueError(f"documents must hold word counts or a list of words each, got {short(document)}.")
            raise ValueError(
                "documents must hold word counts or a list of words each, got one text; split it into words."
            )
        elif isinstance(document, (str, bytes)) or (len(document) and isinstance(document[0], str)):
            row, missed = _row_of(cast("Words", document), n_words, vocabulary)
            parts.append(row)
            unknown += missed
        else:
            parts.append(sp.csr_array(finite("documents", document).reshape(1, -1)))
    if not parts:
        raise ValueError("documents must hold at least one document, got none.")
    widths = {part.shape[1] for part in parts}
    if len(widths) > 1:
        raise ValueError(f"documents must be counts of the same words, got rows of {sorted(widths)} columns.")
    return sp.vstack(parts, format="csr"), unknown


def _row_of(words: Words, n_words: int | None, vocabulary: Vocabulary) -> tuple[sp.csr_array, int]:
    if isinstance(words, (str, bytes)):
        raise ValueError("documents must hold word counts or a list of words each, got one text; split it into words.")
    if vocabulary is None:
        raise ValueError("documents given as words need the vocabulary: reader(vocabulary=names of the columns).")
    positions = vocabulary if isinstance(vocabulary, Mapping) else {word: j for j, word in enumerate(vocabulary)}
    found = Counter(positions[word] for word in words if word in positions)
    width = n_words if n_words is not None else len(positions)
    columns = sorted(found)
    row = sp.csr_array(([float(found[j]) for j in columns], ([0] * len(columns), columns)), shape=(1, width))
    return row, len(words) - sum(found.values())


def halves(counts: sp.csr_array, seed: int) -> tuple[sp.csr_array, sp.csr_array]:
    """Every document's tokens in two random halves, the first the longer by at most one.

    Examples
    --------
    >>> first, second = halves(sp.csr_array(np.array([[3.0, 2.0], [0.0, 1.0]])), 0)
    >>> first.sum(axis=1).tolist(), second.sum(axis=1).tolist()
    ([3.0, 1.0], [2.0, 0.0])
    """
    repeats = counts.data.astype(np.int64)
    entry = np.repeat(np.arange(counts.nnz), repeats)
    document = np.repeat(np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), repeats)
    order = np.lexsort((np.random.default_rng(seed).random(len(entry)), document))
    place = np.arange(len(order)) - np.searchsorted(document, document[order])
    odd = np.zeros(len(entry), dtype=bool)
    odd[order] = place % 2 == 1

    def part(chosen: np.ndarray) -> sp.csr_array:
        data = np.bincount(entry[chosen], minlength=counts.nnz).astype(float)
        half = sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape, copy=True)
        half.eliminate_zeros()
        return half

    return part(~odd), part(odd)
