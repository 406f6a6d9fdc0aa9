"""Topics of groups and over time, by the shares that documents.csv has of each document.

share of a group             = mean share in its documents
effect of a group on a topic = mean share in its documents - mean share in all others
change of a topic            = mean share in the last three tenths of the time - mean share in the first three
effect at equal times        = mean of the effects within each tenth, by how many documents the tenth has

The variance of each has two parts. One is that of documents as units (Welch's, with what is not known of each
document's share added): other documents like these would show others. The other is the mean square
distance to the same quantity by models of documents drawn anew, each from another start: with these documents the
topics and weights might have been found otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from adaptive.cli.job import Job
from adaptive.cli.topics.later import Learnt
from adaptive.cli.topics.stream import Stream
from adaptive.cli.topics.table import LEVEL, Models, plain, written
from adaptive.cli.topics.texts import Texts, Vocabulary

__all__ = ["Effects", "Found", "say", "write"]

MOST_SAID = 3  # effects
EDGE = 0.3  # of the time, at either end
CHANGE = " less "  # between the last times and the first


@dataclass
class Moments:
    """Sums over documents: their number, (K,) sums of shares and of squares, (M, K) of shares by the other models."""

    n: int = 0
    first: Any = 0.0
    second: Any = 0.0
    again: Any = 0.0

    def add(self, shares: np.ndarray, squares: np.ndarray, again: np.ndarray) -> None:
        """Add documents (m, K), (m, K) and (M, m, K)."""
        self.n += len(shares)
        self.first, self.second = self.first + shares.sum(axis=0), self.second + squares.sum(axis=0)
        self.again = self.again + again.sum(axis=1)

    def less(self, other: Moments) -> Moments:
        """Return the moments of the documents that are not in ``other``."""
        left = (getattr(self, name) - getattr(other, name) for name in ("n", "first", "second", "again"))
        return Moments(*left)

    @classmethod
    def sum(cls, parts: Iterable[Moments]) -> Moments:
        """Return the moments of all documents of these."""
        total = cls()
        for one in parts:
            names = ("n", "first", "second", "again")
            total = cls(*(getattr(total, name) + getattr(one, name) for name in names))
        return total

    @property
    def mean(self) -> np.ndarray:
        """(K,)."""
        return np.asarray(self.first / self.n)

    @property
    def error(self) -> np.ndarray:
        """(K,) variance of the mean."""
        spread = np.maximum(self.second / self.n - self.mean**2, 0.0) * self.n / (self.n - 1)
        return np.asarray(spread / self.n)

    @property
    def anew(self) -> np.ndarray:
        """(M, K) means by the other models."""
        return np.asarray(self.again / self.n)


@dataclass
class Effects:
    """Moments of shares by group and period, gathered a block at a time.

    Parameters
    ----------
    time : str or None
        The column whose groups are periods, named by a number.
    span : (float, float), optional
        The first time and the last; None: of the periods.
    """

    time: str | None
    span: tuple[float, float] | None = None
    every: Moments = field(default_factory=Moments)
    groups: dict[tuple[str, str], Moments] = field(default_factory=dict)
    within: dict[tuple[str, str, str], Moments] = field(default_factory=dict)  # a group in a period
    changes: set[tuple[str, str]] = field(default_factory=set)  # rows of `columns` that are about the time

    def add(self, shares: np.ndarray, metadata: dict[str, np.ndarray], squares: Any = None, again: Any = None) -> None:
        """Add documents: means of shares (m, K), of each column the (m,) groups, means of squares, shares by others."""
        squares = shares**2 if squares is None else squares
        again = np.empty((0, *shares.shape)) if again is None else again
        self.every.add(shares, squares, again)
        for column, groups in metadata.items():
            for group in np.unique(groups):
                here = groups == group
                own = self.groups.setdefault((column, str(group)), Moments())
                own.add(shares[here], squares[here], again[:, here])
                if self.time in metadata and column != self.time:
                    periods = metadata[self.time]
                    for period in np.unique(periods[here]):
                        both = here & (periods == period)
                        own = self.within.setdefault((column, str(group), str(period)), Moments())
                        own.add(shares[both], squares[both], again[:, both])

    def shares(self) -> dict[str, list[Any]]:
        """Return column, group, documents, topic, share, and the interval (NaN of one document), periods in order."""
        rows: list[tuple[Any, ...]] = []
        columns = list(dict.fromkeys(column for column, _ in self.groups))
        for column in columns:
            names = [group for at, group in self.groups if at == column]
            for group in sorted(names, key=float if column == self.time else str):
                rows += _means((column, group), self.groups[column, group])
        return _named(("column", "group", "texts", "topic", "share", "lower", "upper"), rows)

    def shares_within(self) -> dict[str, list[Any]]:
        """Return the same of each group within each period that has texts of it, with the period as ``time``."""
        rows: list[tuple[Any, ...]] = []
        for column, group, period in sorted(self.within, key=lambda at: (at[0], at[1], float(at[2]))):
            rows += _means((column, group, period), self.within[column, group, period])
        return _named(("column", "group", "time", "texts", "topic", "share", "lower", "upper"), rows)

    def columns(self) -> dict[str, list[Any]]:
        """Return column, group, topic (from 1), effect, and the interval; nothing of groups of one document.

        With periods also the effect of each group at equal times, and the change within the group.
        """
        rows: list[tuple[Any, ...]] = []
        periods = {at: own for (column, at), own in self.groups.items() if column == self.time}
        within: dict[tuple[str, str], dict[str, Moments]] = {}
        for (column, group, at), part in self.within.items():
            within.setdefault((column, group), {})[at] = part
        for (column, group), own in sorted(self.groups.items()):
            if column == self.time:
                continue
            rows += _difference(column, group, [(own, self.every.less(own))])
            inside = within.get((column, group), {})
            pairs = [(part, periods[at].less(part)) for at, part in inside.items()]
            rows += _difference(column, f"{group}, at equal times", pairs)
            rows += self._change(column, inside, f"{group}, ")
        return _named(("column", "group", "topic", "effect", "lower", "upper"), rows + self._change(self.time, periods))

    def _change(self, column: str | None, periods: dict[str, Moments], whose: str = "") -> list[tuple[Any, ...]]:
        """From the first three tenths of the time to the last three."""
        if len(periods) < 2:
            return []
        times = [float(at) for column, at in self.groups if column == self.time]
        first, last = self.span or (min(times), max(times))
        early, late = first + EDGE * (last - first), last - EDGE * (last - first)
        before = Moments.sum(own for at, own in periods.items() if float(at) <= early)
        after = Moments.sum(own for at, own in periods.items() if float(at) >= late)
        told = f"{whose}{_time(late)} to {_time(last)}{CHANGE}{_time(first)} to {_time(early)}"
        self.changes.add((str(column), told))
        return _difference(str(column), told, [(after, before)])


def _time(at: float) -> str:
    return f"{round(at, 1):g}"


def _means(names: tuple[str, ...], own: Moments) -> list[tuple[Any, ...]]:
    """Rows of a table, one a topic: a mean share with its interval, which is NaN of one document."""
    reach = np.full_like(own.mean, np.nan)
    if own.n > 1:
        reach = _reach(own.error, np.full_like(own.mean, own.n - 1.0), own.anew - own.mean)
    low, high = np.maximum(own.mean - reach, 0.0), np.minimum(own.mean + reach, 1.0)
    return [(*names, own.n, k + 1, own.mean[k], low[k], high[k]) for k in range(len(reach))]


def _difference(column: str, group: str, pairs: list[tuple[Moments, Moments]]) -> list[tuple[Any, ...]]:
    """Rows of a table, one a topic: a difference of means with Welch's interval; none of one document.

    Of several pairs, those of a group and of the other documents in each period, the mean by their documents.
    """
    pairs = [pair for pair in pairs if min(one.n for one in pair) > 1]
    if not pairs:
        return []
    share = np.array([own.n + others.n for own, others in pairs], dtype=float)
    share /= share.sum()
    effect = sum(w * (own.mean - others.mean) for w, (own, others) in zip(share, pairs, strict=True))
    anew = sum(w * (own.anew - others.anew) for w, (own, others) in zip(share, pairs, strict=True))
    parts = [(w**2 * one.error, one.n - 1) for w, pair in zip(share, pairs, strict=True) for one in pair]
    variance = sum(error for error, _ in parts)
    free = variance**2 / np.maximum(sum(error**2 / n for error, n in parts), np.finfo(float).tiny)
    reach = _reach(variance, np.maximum(free, 1.0), anew - effect)
    low, high = np.maximum(effect - reach, -1.0), np.minimum(effect + reach, 1.0)
    return [(column, group, k + 1, effect[k], low[k], high[k]) for k in range(len(effect))]


def _reach(variance: Any, free: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """Half an interval by this variance (K,) of so many degrees of freedom, and distances to other models' (M, K)."""
    between, n = (apart**2).mean(axis=0) if len(apart) else np.zeros_like(variance), max(len(apart), 1)
    total = variance + between
    joint = total**2 / np.maximum(variance**2 / free + between**2 / n, np.finfo(float).tiny)  # Satterthwaite
    return np.asarray(stats.t.ppf(0.5 + 0.5 * LEVEL, np.maximum(joint, 1.0)) * np.sqrt(total))


def _named(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [plain(row[k]) for row in rows] for k, name in enumerate(names)}


@dataclass
class Found:
    """Findings of all documents.

    Attributes
    ----------
    effects : Effects
    order : (K,) array
        Of the model's topics, the largest in the first block first: topic 1 of all tables is the first of these.
    share : (K,) array
        Mean share in all documents, in this order.
    texts : (K,) array
        Documents whose largest share it has.
    again : (K,) array
        Models of texts drawn anew, of those there are, that found it.
    """

    effects: Effects
    order: np.ndarray
    share: np.ndarray
    texts: np.ndarray
    again: np.ndarray


def write(stream: Stream, file: Texts, vocabulary: Vocabulary, folder: Job) -> Found:
    """Write the tables of documents, groups and effects, and what texts that come later need of the run."""
    models, time = Models(stream.models), folder.settings["time"]
    effects = Effects(time, (vocabulary.first, vocabulary.last) if time else None)
    texts = np.zeros(models.model.n_topics, dtype=int)
    for block, shares in written(models, file, vocabulary, folder):
        metadata = {name: one[shares.places] for name, one in block.metadata.items()}
        effects.add(shares.mean, metadata, shares.square, shares.again)
        texts += np.bincount(shares.mean.argmax(axis=1), minlength=len(texts))
    groups = effects.shares()
    if time:
        periods = [column == time for column in groups["column"]]
        spans = [vocabulary.span(group) if at else group for at, group in zip(periods, groups["group"], strict=True)]
        groups = {**groups, "group": spans}
    folder.write_csv("groups.csv", _without_gaps(groups))
    if effects.within:
        within = effects.shares_within()
        within["time"] = [vocabulary.span(period) for period in within["time"]]
        folder.write_csv("groups_over_time.csv", _without_gaps(within))
    folder.write_csv("effects.csv", effects.columns())
    known = {name: [group for column, group in effects.groups if column == name] for name, _ in effects.groups}
    Learnt(file.text, file.metadata, file.time, vocabulary, models.order.tolist(), known).write(folder.log)
    return Found(effects, models.order, effects.every.mean, texts, models.found_again)


def _without_gaps(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The interval of one document is an empty cell."""
    return {name: ["" if value != value else value for value in one] for name, one in table.items()}


def say(found: Found, lists: list[list[str]]) -> None:
    """Say the effects that are furthest from 0 in their own intervals, of each column and topic one."""
    columns, said = found.effects.columns(), set[tuple[str, int, bool]]()
    effect, low, high = (np.array(columns[name], dtype=float) for name in ("effect", "lower", "upper"))
    reach = np.where(effect > 0, effect - low, high - effect)  # the side of 0: the other may end at 1
    clear = np.abs(effect) / np.maximum(reach, np.finfo(float).tiny)
    for row in np.argsort(-clear, kind="stable").tolist():
        number, column, group = (columns[name][row] for name in ("topic", "column", "group"))
        change = (column, group) in found.effects.changes
        if clear[row] <= 1 or len(said) == MOST_SAID or (column, number, change) in said:
            continue
        said.add((column, number, change))
        ends = sorted(abs(100 * one) for one in (low[row], high[row]))
        points = f"{abs(100 * effect[row]):.0f} points (90% interval {ends[0]:.0f} to {ends[1]:.0f})"
        topic, more = f"topic {number} ({' '.join(lists[number - 1][:3])})", effect[row] > 0
        whose, _, times = group.rpartition(", ") if change else (group, "", "")
        if change:
            told = f"{'rises' if more else 'falls'} by {points}, {times.replace(CHANGE, ' against ')}"
        else:
            told = f"is {points} {'larger' if more else 'smaller'} than in the other texts"
        print(f"{f'{column} {whose}'.strip()}: the share of {topic} {told}.")
