"""Topics of each document, and what its metadata have to do with them.

effect of a group on a topic = mean share in its documents - mean share in all others,  interval by Welch's t
trend of a topic             = slope of its share over the periods x (last - first),    interval by Student's t

Shares are read from the words alone, so that no document is taken for what others of its group are, and documents are
the units: an interval says what other documents like these would show, with these topics.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from adaptive.cli.job import Job
from adaptive.cli.topics.texts import Texts, Vocabulary
from adaptive.estimators import MetadataTopicModel

__all__ = ["Effects", "write"]

BLOCK = 2000
LEVEL = 0.9
MOST_SAID = 3  # effects


@dataclass
class Moments:
    """Sums over documents: their number, and (K,) sums of shares and of squares."""

    n: int = 0
    first: Any = 0.0
    second: Any = 0.0

    def add(self, shares: np.ndarray) -> None:
        """Add documents (m, K)."""
        self.n += len(shares)
        self.first, self.second = self.first + shares.sum(axis=0), self.second + (shares**2).sum(axis=0)

    def less(self, other: Moments) -> Moments:
        """Return the moments of the documents that are not in ``other``."""
        return Moments(self.n - other.n, self.first - other.first, self.second - other.second)

    @property
    def mean(self) -> np.ndarray:
        """(K,)."""
        return np.asarray(self.first / self.n)

    @property
    def error(self) -> np.ndarray:
        """(K,) variance of the mean."""
        spread = np.maximum(self.second / self.n - self.mean**2, 0.0) * self.n / (self.n - 1)
        return np.asarray(spread / self.n)


@dataclass
class Effects:
    """Moments of shares by group and period, gathered a block at a time.

    Parameters
    ----------
    time : str or None
        The column whose groups are periods, named by a number.
    """

    time: str | None
    every: Moments = field(default_factory=Moments)
    groups: dict[tuple[str, str], Moments] = field(default_factory=dict)

    def add(self, shares: np.ndarray, metadata: dict[str, np.ndarray]) -> None:
        """Add documents: shares (m, K), and of each column the (m,) groups."""
        self.every.add(shares)
        for column, groups in metadata.items():
            for group in np.unique(groups):
                self.groups.setdefault((column, str(group)), Moments()).add(shares[groups == group])

    def columns(self) -> dict[str, list[Any]]:
        """Return column, group, topic (from 1), effect, and the interval; nothing of groups of one document."""
        rows: list[tuple[Any, ...]] = []
        for (column, group), own in sorted(self.groups.items()):
            others = self.every.less(own)
            if column == self.time or min(own.n, others.n) < 2:
                continue
            effect, errors = own.mean - others.mean, (own.error, others.error)
            free = sum(errors) ** 2 / np.maximum(
                errors[0] ** 2 / (own.n - 1) + errors[1] ** 2 / (others.n - 1), np.finfo(float).tiny
            )
            reach = stats.t.ppf(0.5 + 0.5 * LEVEL, np.maximum(free, 1.0)) * np.sqrt(sum(errors))
            rows += [(column, group, k + 1, effect[k], effect[k] - reach[k], effect[k] + reach[k])
                     for k in range(len(effect))]  # fmt: skip
        rows += self._trend()
        names = ("column", "group", "topic", "effect", "lower", "upper")
        return {name: [_plain(row[k]) for row in rows] for k, name in enumerate(names)}

    def _trend(self) -> list[tuple[Any, ...]]:
        """Change from the first period to the last, by least squares over documents."""
        periods = {float(group): own for (column, group), own in self.groups.items() if column == self.time}
        n = self.every.n
        if len(periods) < 2 or n < 3:
            return []
        first, last = min(periods), max(periods)
        middle = sum(at * own.n for at, own in periods.items()) / n
        spread = sum((at - middle) ** 2 * own.n for at, own in periods.items())
        slope = sum((at - middle) * own.first for at, own in periods.items()) / spread
        left = np.maximum(self.every.second - n * self.every.mean**2 - slope**2 * spread, 0.0)
        reach = stats.t.ppf(0.5 + 0.5 * LEVEL, n - 2) * np.sqrt(left / (n - 2) / spread) * (last - first)
        change = slope * (last - first)
        return [
            (self.time, f"{first:g} to {last:g}", k + 1, change[k], change[k] - reach[k], change[k] + reach[k])
            for k in range(len(change))
        ]


def write(model: MetadataTopicModel, file: Texts, vocabulary: Vocabulary, folder: Job) -> None:
    """Write documents.csv and effects.csv, and print the clearest effects."""
    effects = Effects(folder.settings["time"])
    path = folder.result("documents.csv")
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["line", "topic", *(f"topic {k + 1}" for k in range(model.n_topics))])
        for lines, shares, metadata in _read(model, file, vocabulary):
            effects.add(shares, metadata)
            most = shares.argmax(axis=1) + 1
            writer.writerows([line, k, *map(_plain, row)] for line, k, row in zip(lines, most, shares, strict=True))
    partial.replace(path)
    columns = effects.columns()
    folder.write_csv("effects.csv", columns)
    _print(columns, model, vocabulary)


def _read(
    model: MetadataTopicModel, file: Texts, vocabulary: Vocabulary
) -> Iterator[tuple[list[int], np.ndarray, dict[str, np.ndarray]]]:
    """Yield lines, shares (m, K) and metadata of the documents that have words, a block at a time."""
    for block in file.blocks(vocabulary, BLOCK):
        told = np.flatnonzero(np.asarray(block.counts.sum(axis=1)).ravel() > 0)
        if len(told):
            shares = model.transform(block.counts[told])
            yield [block.lines[k] for k in told], shares, {name: one[told] for name, one in block.metadata.items()}


def _print(columns: dict[str, list[Any]], model: MetadataTopicModel, vocabulary: Vocabulary) -> None:
    """Say the effects that are furthest from 0 in their own intervals."""
    effect, low, high = (np.array(columns[name], dtype=float) for name in ("effect", "lower", "upper"))
    clear = np.abs(effect) / np.maximum(high - effect, np.finfo(float).tiny)
    words = model.top_words(4)
    for row in [int(k) for k in np.argsort(-clear, kind="stable")[:MOST_SAID] if clear[k] > 1]:
        topic = " ".join(vocabulary.words[j] for j in words[columns["topic"][row] - 1])
        points = f"{100 * effect[row]:+.1f} points (90% interval {100 * low[row]:+.1f} to {100 * high[row]:+.1f})"
        print(
            f"{columns['column'][row]} {columns['group'][row]}: the share of the topic '{topic}' differs by {points}."
        )


def _plain(value: Any) -> Any:
    return round(float(value), 6) if isinstance(value, float | np.floating) else value
