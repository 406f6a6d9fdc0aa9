"""Texts in a table file, read in blocks as often as they are needed: memory does not grow with their number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from math import floor
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from adaptive.tables import Cells, TableError, TableFile
from adaptive.tables.values import DATES, dates_of

__all__ = ["LOOKED_AT", "Block", "Texts", "Vocabulary", "group_of", "words_of"]

WORD = re.compile(r"[^\W\d_]{3,}")
MOST_COUNTED = 500_000  # words held while the vocabulary is counted; beyond them those seen once are dropped
N_PERIODS = 10
YEAR = 365.2425 * 86400.0  # seconds
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LOOKED_AT = 2000  # lines at a time


@dataclass(frozen=True)
class Vocabulary:
    """Findings of a first look at the file.

    Attributes
    ----------
    words : list of str
    n_texts : int
    first, last : float
        Of the time column; 0 without one.
    form : str
        Of its dates, which count in years; "" of numbers.
    """

    words: list[str]
    n_texts: int
    first: float = 0.0
    last: float = 0.0
    form: str = ""

    def period(self, time: float) -> str:
        """The tenth of the time that a moment lies in, by its middle; outside the time one that no text has."""
        width = (self.last - self.first) / N_PERIODS or 1.0
        number = floor((time - self.first) / width)
        if self.first <= time <= self.last:
            number = min(number, N_PERIODS - 1)
        return f"{self.first + (number + 0.5) * width:g}"

    def span(self, period: str) -> str:
        """From when to when the tenth lasts that has this middle."""
        half = (self.last - self.first) / N_PERIODS / 2
        return f"{round(float(period) - half, 1):g} to {round(float(period) + half, 1):g}"


@dataclass(frozen=True)
class Block:
    """Some lines of the file.

    Attributes
    ----------
    counts : (m, V) CSR array
    metadata : dict of column -> (m,) array of str
    lines : (m,) list of int
        Where they stand, 1 the header.
    has_text : (m,) array of bool
    cells : dict of column -> (m,) list of str
        The metadata as they stand in the file.
    """

    counts: sp.csr_array
    metadata: dict[str, np.ndarray]
    lines: list[int]
    has_text: np.ndarray
    cells: dict[str, list[str]]


class Texts:
    """A table file with a text column.

    Parameters
    ----------
    path : Path
    text : str
        The column of texts; an empty cell is a text that nobody has read yet.
    metadata : list of str
    time : str or None
        A column of numbers or dates.
    """

    def __init__(self, path: Path, text: str, metadata: list[str], time: str | None) -> None:
        self.text, self.metadata, self.time = text, metadata, time
        self.file = TableFile(path)
        self.file.require(text, *metadata, *([time] if time else []))

    def vocabulary(self, n_words: int) -> Vocabulary:
        """The words that stand in most texts, of those in at most half of them and in five or more."""
        found: Counter[str] = Counter()
        n_texts, ranges = 0, dict.fromkeys(("", *DATES), (np.inf, -np.inf))  # of the forms that fit so far
        for cells in self.file.blocks(LOOKED_AT):
            if self.time:
                ranges = _narrowed(ranges, cells, self.time)
            for text in cells.frame[self.text]:
                if text:
                    n_texts += 1
                    found.update(set(words_of(text)))
                    if len(found) > MOST_COUNTED:
                        found = Counter({word: count for word, count in found.items() if count > 1})
        least = min(5, max(1, n_texts // 20))
        ranked = sorted((-count, word) for word, count in found.items() if least <= count <= 0.5 * n_texts)
        words = sorted(word for _, word in ranked[:n_words])
        if not self.time or not np.isfinite(next(iter(ranges.values()))[0]):
            return Vocabulary(words, n_texts)
        form, (first, last) = next(iter(ranges.items()))
        return Vocabulary(words, n_texts, first, last, form)

    def moments(self, cells: Cells, known: Vocabulary) -> np.ndarray:
        """(m,) times of some lines, in the form of those that are known; a cell in another form is refused."""
        assert self.time is not None
        found = _moments(cells, self.time, known.form)
        if found is None:
            if not known.form:
                cells.numbers(self.time, "a number")
            one_by_one = (cells.frame[self.time].iloc[[k]] for k in range(len(cells.frame)))
            bad = np.array([dates_of(cell, [known.form]) is None for cell in one_by_one])
            example = "2024-05-31" if known.form == "ISO8601" else f"{datetime(2024, 5, 31):{known.form}}"
            cells.refuse(bad, self.time, f"a date such as {example}")
        assert found is not None
        return found

    def blocks(self, vocabulary: Vocabulary, size: int, after: int = 0) -> Iterator[Block]:
        """The file in blocks of ``size`` lines, without the first ``after`` of them."""
        positions = {word: j for j, word in enumerate(vocabulary.words)}
        for cells in islice(self.file.blocks(size), after, None):
            yield self._block(cells, positions, vocabulary)

    def _block(self, cells: Cells, positions: dict[str, int], known: Vocabulary) -> Block:
        data: list[float] = []
        indices: list[int] = []
        indptr = [0]
        texts = cells.frame[self.text]
        for text in texts:
            found = Counter(positions[w] for w in WORD.findall(text.lower()) if w in positions)
            indices.extend(sorted(found))
            data.extend(float(found[j]) for j in sorted(found))
            indptr.append(len(indices))
        metadata = {name: np.array([group_of(cell) for cell in cells.frame[name]]) for name in self.metadata}
        if self.time:
            moments = self.moments(cells, known)
            metadata[self.time] = np.array([known.period(moment) for moment in moments.tolist()])
        counts = sp.csr_array((data, indices, indptr), shape=(len(texts), len(positions)))
        told = {name: cells.frame[name].tolist() for name in (*self.metadata, *filter(None, [self.time]))}
        return Block(counts, metadata, cells.frame.index.tolist(), (texts != "").to_numpy(), told)


def words_of(text: str) -> list[str]:
    """Words of three letters or more, one after the other, but for the commonest of English.

    Examples
    --------
    >>> words_of("The oak, and the other OAK of 1900")
    ['oak', 'oak']
    """
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [word for word in WORD.findall(text.lower()) if word not in ENGLISH_STOP_WORDS]


def group_of(cell: str) -> str:
    """The group that a cell of metadata names."""
    return cell or "(empty)"


def _narrowed(ranges: dict[str, tuple[float, float]], cells: Cells, time: str) -> dict[str, tuple[float, float]]:
    """The forms in which these cells are times, too, with their ranges."""
    kept = {}
    for form, (first, last) in ranges.items():
        moments = _moments(cells, time, form)
        if moments is not None:
            kept[form] = (min(first, float(moments.min())), max(last, float(moments.max())))
    if not kept:
        cells.numbers(time, "a number or a date")  # refuses the first cell that is none
        raise TableError(f"{cells.path}: the column {time!r} holds numbers and dates; expected one of them.")
    return kept


def _moments(cells: Cells, time: str, form: str) -> np.ndarray | None:
    """Numbers, or years by dates of this form; None where some cell is none."""
    if form:
        found = dates_of(cells.frame[time], [form])
        return None if found is None else 1970.0 + (found[1] - EPOCH).dt.total_seconds().to_numpy() / YEAR
    try:
        return cells.numbers(time)
    except TableError:
        return None
