"""Topics of each document, of groups and over time: three tables of the same shares.

share of a group             = mean share in its documents
effect of a group on a topic = mean share in its documents - mean share in all others
change of a topic            = mean share in the last three tenths of the time - mean share in the first three

The variance of each has two parts. One is that of documents as units (Welch's, with what is not known of each
document's share added): other documents like these would show others. The other is the mean square
distance to the same quantity by models of documents drawn anew, each from another start: with these documents the
topics and weights might have been found otherwise.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from adaptive.cli.job import Job
from adaptive.cli.topics.shares import matched, moments
from adaptive.cli.topics.stream import Stream
from adaptive.cli.topics.texts import Texts, Vocabulary

__all__ = ["Effects", "Found", "say", "write"]

BLOCK = 2000
LEVEL = 0.9
MOST_SAID = 3  # effects
EDGE = 0.3  # of the time, at either end


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

    def shares(self) -> dict[str, list[Any]]:
        """Return column, group, documents, topic, share, and the interval (NaN of one document), periods in order."""
        rows: list[tuple[Any, ...]] = []
        columns = list(dict.fromkeys(column for column, _ in self.groups))
        for column in columns:
            names = [group for at, group in self.groups if at == column]
            for group in sorted(names, key=float if column == self.time else str):
                own = self.groups[column, group]
                reach = np.full_like(own.mean, np.nan)
                if own.n > 1:
                    reach = _reach(own.error, np.full_like(own.mean, own.n - 1.0), own.anew - own.mean)
                rows += [
                    (column, group, own.n, k + 1, own.mean[k], max(own.mean[k] - reach[k], 0.0),
                     min(own.mean[k] + reach[k], 1.0)) for k in range(len(reach))
                ]  # fmt: skip
        return _named(("column", "group", "texts", "topic", "share", "lower", "upper"), rows)

    def columns(self) -> dict[str, list[Any]]:
        """Return column, group, topic (from 1), effect, and the interval; nothing of groups of one document."""
        rows: list[tuple[Any, ...]] = []
        for (column, group), own in sorted(self.groups.items()):
            if column != self.time:
                rows += _difference(column, group, own, self.every.less(own))
        return _named(("column", "group", "topic", "effect", "lower", "upper"), rows + self._change())

    def _change(self) -> list[tuple[Any, ...]]:
        """From the first three tenths of the time to the last three."""
        periods = {float(group): own for (column, group), own in self.groups.items() if column == self.time}
        if len(periods) < 2:
            return []
        first, last = self.span or (min(periods), max(periods))
        early, late = first + EDGE * (last - first), last - EDGE * (last - first)
        before = Moments.sum(own for at, own in periods.items() if at <= early)
        after = Moments.sum(own for at, own in periods.items() if at >= late)
        told = f"{_time(late)} to {_time(last)} less {_time(first)} to {_time(early)}"
        return _difference(str(self.time), told, after, before)


def _time(at: float) -> str:
    return f"{round(at, 1):g}"


def _difference(column: str, group: str, own: Moments, others: Moments) -> list[tuple[Any, ...]]:
    """Rows of a table, one a topic: a difference of means with its interval; none of one document."""
    if min(own.n, others.n) < 2:
        return []
    effect, errors = own.mean - others.mean, (own.error, others.error)
    free = sum(errors) ** 2 / np.maximum(
        errors[0] ** 2 / (own.n - 1) + errors[1] ** 2 / (others.n - 1), np.finfo(float).tiny
    )
    reach = _reach(sum(errors), np.maximum(free, 1.0), own.anew - others.anew - effect)
    low, high = np.maximum(effect - reach, -1.0), np.minimum(effect + reach, 1.0)
    return [(column, group, k + 1, effect[k], low[k], high[k]) for k in range(len(effect))]


def _reach(variance: Any, free: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """Half an interval by this variance (K,) of so many degrees of freedom, and distances to other models' (M, K)."""
    between, n = (apart**2).mean(axis=0) if len(apart) else np.zeros_like(variance), max(len(apart), 1)
    total = variance + between
    joint = total**2 / np.maximum(variance**2 / free + between**2 / n, np.finfo(float).tiny)  # Satterthwaite
    return np.asarray(stats.t.ppf(0.5 + 0.5 * LEVEL, np.maximum(joint, 1.0)) * np.sqrt(total))


def _named(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [_plain(row[k]) for row in rows] for k, name in enumerate(names)}


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
    """Write documents.csv, groups.csv and effects.csv."""
    model, others = stream.models["with metadata"], [m for name, m in stream.models.items() if "again" in name]
    K, order = model.n_topics, np.empty(0, dtype=int)
    pairs = [matched(model, other) for other in others]
    time = folder.settings["time"]
    effects = Effects(time, (vocabulary.first, vocabulary.last) if time else None)
    texts = np.zeros(K, dtype=int)
    path = folder.result("documents.csv")
    partial = path.with_name(f".{path.name}.partial")
    names = [*file.metadata, *filter(None, [file.time])]
    numbers = range(1, K + 1)
    with partial.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["line", *names, "topic", *(f"topic {k}" for k in numbers),
                         *(f"{side} {k}" for k in numbers for side in ("lower", "upper"))])  # fmt: skip
        for block in file.blocks(vocabulary, BLOCK):
            told = np.flatnonzero(np.asarray(block.counts.sum(axis=1)).ravel() > 0)
            if not len(told):
                continue
            counts, metadata = block.counts[told], {name: one[told] for name, one in block.metadata.items()}
            frame = pd.DataFrame(metadata)
            found = moments(model, counts, frame)
            order = order if len(order) else np.argsort(-found[0].mean(axis=0), kind="stable")
            shares, squares = (one[:, order] for one in found)
            again = np.empty((len(others), *shares.shape))
            for m, (other, (pair, _)) in enumerate(zip(others, pairs, strict=True)):
                again[m] = moments(other, counts, frame)[0][:, pair[order]]
            effects.add(shares, metadata, squares, again)
            most = shares.argmax(axis=1)
            texts += np.bincount(most, minlength=K)
            variance = np.maximum(squares - shares**2, 0.0)
            if others:
                variance = variance + ((again - shares) ** 2).mean(axis=0)
            sides = np.stack(_between(shares, variance), axis=2).reshape(len(shares), -1)
            writer.writerows(
                [block.lines[d], *(block.cells[name][d] for name in names), most[row] + 1,
                 *map(_plain, shares[row]), *map(_plain, sides[row])] for row, d in enumerate(told)
            )  # fmt: skip
    partial.replace(path)
    groups = effects.shares()
    if time:
        periods = [column == time for column in groups["column"]]
        spans = [vocabulary.span(group) if at else group for at, group in zip(periods, groups["group"], strict=True)]
        groups = {**groups, "group": spans}
    folder.write_csv("groups.csv", {name: ["" if value != value else value for value in one]
                                    for name, one in groups.items()})  # fmt: skip
    folder.write_csv("effects.csv", effects.columns())
    mutual = np.array([one for _, one in pairs]).reshape(len(others), K).sum(axis=0)[order]
    return Found(effects, order, effects.every.mean, texts, mutual)


def _between(mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the intervals of Beta distributions of these moments; the mean of a lopsided one is its end."""
    mean = np.clip(mean, 1e-6, 1.0 - 1e-6)
    weight = np.maximum(mean * (1.0 - mean) / np.maximum(variance, 1e-12) - 1.0, 1e-3)
    low, high = (stats.beta.ppf(at, mean * weight, (1.0 - mean) * weight) for at in (0.5 - LEVEL / 2, 0.5 + LEVEL / 2))
    return np.minimum(low, mean), np.maximum(high, mean)


def say(found: Found, lists: list[list[str]]) -> None:
    """Say the effects that are furthest from 0 in their own intervals, of each column and topic one."""
    columns, time, said = found.effects.columns(), found.effects.time, set[tuple[str, int]]()
    effect, low, high = (np.array(columns[name], dtype=float) for name in ("effect", "lower", "upper"))
    reach = np.where(effect > 0, effect - low, high - effect)  # the side of 0: the other may end at 1
    clear = np.abs(effect) / np.maximum(reach, np.finfo(float).tiny)
    for row in np.argsort(-clear, kind="stable").tolist():
        number, column, group = (columns[name][row] for name in ("topic", "column", "group"))
        if clear[row] <= 1 or len(said) == MOST_SAID or (column, number) in said:
            continue
        said.add((column, number))
        ends = sorted(abs(100 * one) for one in (low[row], high[row]))
        points = f"{abs(100 * effect[row]):.0f} points (90% interval {ends[0]:.0f} to {ends[1]:.0f})"
        topic, more = f"topic {number} ({' '.join(lists[number - 1][:3])})", effect[row] > 0
        if column == time:
            told = f"{'rises' if more else 'falls'} by {points}, {group.replace(' less ', ' against ')}"
        else:
            told = f"is {points} {'larger' if more else 'smaller'} than in the other texts"
        print(f"{column if column == time else f'{column} {group}'}: the share of {topic} {told}.")


def _plain(value: Any) -> Any:
    return round(float(value), 6) if isinstance(value, float | np.floating) else value
