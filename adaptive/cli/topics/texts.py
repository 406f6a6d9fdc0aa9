"""Texts in a CSV file, read in blocks as often as they are needed: memory does not grow with their number."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from adaptive.cli.errors import CommandError

__all__ = ["Block", "Texts", "Vocabulary"]

WORD = re.compile(r"[^\W\d_]{3,}")
MOST_COUNTED = 500_000  # words held while the vocabulary is counted; beyond them those seen once are dropped
N_PERIODS = 10


@dataclass(frozen=True)
class Vocabulary:
    """What a first look at the file found.

    Attributes
    ----------
    words : list of str
    n_texts : int
    first, last : float
        Of the time column; 0 without one.
    """

    words: list[str]
    n_texts: int
    first: float
    last: float

    def period(self, time: float) -> str:
        """The tenth of the time that a moment lies in, by its middle."""
        width = (self.last - self.first) / N_PERIODS or 1.0
        number = min(int((time - self.first) / width), N_PERIODS - 1)
        return f"{self.first + (number + 0.5) * width:g}"


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
    """

    counts: sp.csr_array
    metadata: dict[str, np.ndarray]
    lines: list[int]
    has_text: np.ndarray


class Texts:
    """A CSV file with a text column.

    Parameters
    ----------
    path : Path
    text : str
        The column of texts; an empty cell is a text that nobody has read yet.
    metadata : list of str
    time : str or None
        A column of numbers.
    """

    def __init__(self, path: Path, text: str, metadata: list[str], time: str | None) -> None:
        self.path, self.text, self.metadata, self.time = path, text, metadata, time
        if not path.is_file():
            raise CommandError(f"there is no file {path}.")
        with self._open() as stream:
            header = next(csv.reader(stream), [])
        for column in [text, *metadata, *([time] if time else [])]:
            if column not in header:
                raise CommandError(f"{path} has no column {column!r}; its columns are {', '.join(header) or 'none'}.")

    def _open(self) -> Any:
        csv.field_size_limit(2**31 - 1)
        return self.path.open(newline="", encoding="utf-8-sig")

    def _rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        try:
            with self._open() as stream:
                reader = csv.DictReader(stream)
                for row in reader:
                    if None in row or None in row.values():
                        raise CommandError(f"{self.path}, line {reader.line_num}: not as many fields as in the header.")
                    yield reader.line_num, row
        except (UnicodeDecodeError, csv.Error) as error:
            raise CommandError(f"{self.path} is not a CSV file in UTF-8: {error}.") from None

    def _moment(self, line: int, row: dict[str, str]) -> float:
        try:
            value = float(row[self.time or ""])
        except ValueError:
            value = float("nan")
        if not np.isfinite(value):
            given = row[self.time or ""]
            raise CommandError(f"{self.path}, line {line}, column {self.time!r}: expected a number, got {given!r}.")
        return value

    def vocabulary(self, n_words: int) -> Vocabulary:
        """The words that stand in most texts, of those in at most half of them and in five or more."""
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        found: Counter[str] = Counter()
        n_texts, first, last = 0, np.inf, -np.inf
        for line, row in self._rows():
            if self.time:
                moment = self._moment(line, row)
                first, last = min(first, moment), max(last, moment)
            if row[self.text].strip():
                n_texts += 1
                found.update(set(WORD.findall(row[self.text].lower())) - ENGLISH_STOP_WORDS)
                if len(found) > MOST_COUNTED:
                    found = Counter({word: count for word, count in found.items() if count > 1})
        least = min(5, max(1, n_texts // 20))
        ranked = sorted((-count, word) for word, count in found.items() if least <= count <= 0.5 * n_texts)
        return Vocabulary(
            sorted(word for _, word in ranked[:n_words]), n_texts, *((first, last) if self.time else (0.0, 0.0))
        )

    def blocks(self, vocabulary: Vocabulary, size: int, after: int = 0) -> Iterator[Block]:
        """The file in blocks of ``size`` lines, without the first ``after`` of them."""
        positions = {word: j for j, word in enumerate(vocabulary.words)}
        kept: list[tuple[int, dict[str, str]]] = []
        number = 0
        for entry in self._rows():
            kept.append(entry)
            if len(kept) == size:
                if number >= after:
                    yield self._block(kept, positions, vocabulary)
                kept, number = [], number + 1
        if kept and number >= after:
            yield self._block(kept, positions, vocabulary)

    def _block(self, rows: list[tuple[int, dict[str, str]]], positions: dict[str, int], known: Vocabulary) -> Block:
        data: list[float] = []
        indices: list[int] = []
        indptr = [0]
        for _, row in rows:
            found = Counter(positions[w] for w in WORD.findall(row[self.text].lower()) if w in positions)
            indices.extend(sorted(found))
            data.extend(float(found[j]) for j in sorted(found))
            indptr.append(len(indices))
        metadata = {name: np.array([row[name].strip() or "(empty)" for _, row in rows]) for name in self.metadata}
        if self.time:
            metadata[self.time] = np.array([known.period(self._moment(line, row)) for line, row in rows])
        return Block(
            sp.csr_array((data, indices, indptr), shape=(len(rows), len(positions))),
            metadata,
            [line for line, _ in rows],
            np.array([bool(row[self.text].strip()) for _, row in rows]),
        )
