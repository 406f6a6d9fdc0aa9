"""State of a design: the fold of its events.

    state = apply(event n, ... apply(event 2, apply(event 1, start)))

Nothing else changes the state, so a replayed design and one that never stopped are the same.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool as pools
from adaptive.loop.candidates import Candidates
from adaptive.loop.columns import columns_of
from adaptive.loop.query import Query, as_positions

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import ArrayLike, Estimator, Pool

__all__ = ["DesignState", "OpenQuery"]

HISTORY = ("step", "position", "label", "outcome", "score", "seconds")


@dataclass
class OpenQuery:
    """A query that somebody may still answer.

    Attributes
    ----------
    query : Query
    n : int
        How many candidates were asked for; there may have been fewer.
    keys : list
        What recognises its candidates later.
    costs : array of float
    answered, skipped : arrays of bool
    volunteered : bool
        Nobody asked: it waits for no answer, and counts from its answer on.
    """

    query: Query
    n: int
    keys: list[Any]
    costs: np.ndarray
    answered: np.ndarray
    skipped: np.ndarray
    volunteered: bool = False

    @property
    def waiting(self) -> np.ndarray:
        return np.zeros(len(self.query), dtype=bool) if self.volunteered else ~(self.answered | self.skipped)

    def rest(self) -> Query:
        """Return what of the query waits for answers."""
        return self.query if self.waiting.all() else self.query.part(np.flatnonzero(self.waiting))


class DesignState:
    """Estimator, stopping rule, open queries and history after some events.

    Parameters
    ----------
    estimator, stop : copied
    candidates : Candidates
    """

    def __init__(
        self, estimator: Estimator, stop: Callable[[SequentialDesign], bool] | None, candidates: Candidates
    ) -> None:
        self.estimator = copy.deepcopy(estimator)
        self.stop = copy.deepcopy(stop)
        self.candidates = candidates
        self.iteration = 0
        self.spent = 0.0
        self.seconds = 0.0
        self.n_queries = 0
        self.n_initial = 0  # initial positions asked so far
        self.rows: list[tuple[Any, ...]] = []  # of the history
        self.open: dict[int, OpenQuery] = {}
        self.last: Any = None  # a pool of one: what was asked last
        self.asked: set[Any] = set()
        self.aside: set[Any] = set()
        self.retracted: Counter[int] = Counter()  # how often an answer to a query was taken back

    @property
    def pool(self) -> Pool:
        """The pool as it is now."""
        return self.candidates.now(self.estimator, self.iteration)

    def history(self) -> dict[str, list[Any]]:
        """Return the columns ``HISTORY``, one entry per answer."""
        return columns_of(HISTORY, self.rows)

    def waiting(self) -> list[OpenQuery]:
        """Return the queries that wait for answers, oldest first."""
        return [entry for _, entry in sorted(self.open.items()) if entry.waiting.any()]

    def unanswered(self) -> list[OpenQuery]:
        """Return the queries of which something was not answered, oldest first, what was set aside included."""
        return [entry for _, entry in sorted(self.open.items()) if not entry.volunteered]

    def apply(self, event: dict[str, Any], learn: bool = True) -> None:
        """Change the state by one event; if the estimator refuses an answer, nothing has changed.

        Parameters
        ----------
        event : dict
            As the log gives it back.
        learn : bool, default True
            False where a snapshot holds what the estimator had fitted.
        """
        kind = event["event"]
        if kind == "ask":
            self._ask(event)
        elif kind == "tell":
            self._tell(event, learn)
        elif kind == "skip":
            self._skip(event)
        elif kind == "retract":  # the answer itself was left out of the replay
            self.n_queries = max(self.n_queries, event["query"] + 1)  # of one that was volunteered
            self.retracted[event["query"]] += 1  # all else (rejects, snapshots) is for readers of the log
        self.seconds = max(self.seconds, event.get("seconds", 0.0))

    def _ask(self, event: dict[str, Any]) -> None:
        candidates, labels = self.candidates.restore(event, self.estimator, self.iteration)
        positions, scores = np.array(event["positions"], dtype=np.intp), np.array(event["scores"], dtype=float)
        query = Query(positions, labels, candidates, scores, event["query"], event.get("worker"))
        keys, none = self.candidates.keys(event), np.zeros(len(query), dtype=bool)
        volunteered = event.get("volunteered", False)
        costs = np.array(event["costs"])
        self.open[query.id] = OpenQuery(query, event["n"], keys, costs, none, none.copy(), volunteered)
        if volunteered:  # its answer may be refused: until then nothing has changed, not even the next number
            return
        self.n_queries = query.id + 1
        self.last = pools.take(candidates, [len(query) - 1])
        self.asked.update(keys)
        self.n_initial += len(query) if event["initial"] else 0

    def _tell(self, event: dict[str, Any], learn: bool) -> None:
        entry, rows, outcomes = self.open[event["query"]], np.array(event["rows"], dtype=np.intp), event["outcomes"]
        if learn:
            self.estimator.partial_fit(pools.take(entry.query.candidates, rows), outcomes)
        self.iteration += 1
        self.spent += float(entry.costs[rows].sum())
        entry.answered[rows] = True
        if entry.volunteered:
            self.asked.update(entry.keys[row] for row in rows)
            self.n_queries = max(self.n_queries, event["query"] + 1)
        if entry.answered.all():
            del self.open[event["query"]]
        for row, outcome in zip(rows, outcomes, strict=True):
            label, score = _plain(entry.query.labels[row]), float(entry.query.scores[row])
            position = int(entry.query.positions[row])
            self.rows.append((self.iteration, position, label, _plain(outcome), score, event["seconds"]))

    def _skip(self, event: dict[str, Any]) -> None:
        entry = self.open[event["query"]]
        entry.skipped[event["rows"]] = True
        self.aside.update(entry.keys[row] for row in event["rows"])

    def find(self, query: Query | ArrayLike) -> tuple[OpenQuery, np.ndarray]:
        """Return the open query, and the rows of it, that a Query or positions mean.

        Raises
        ------
        ValueError
            If no query waits for answers at these positions, or was set aside with them.
        """
        if isinstance(query, Query):
            if query.id not in self.open:
                if query.id >= self.n_queries:
                    raise ValueError(f"query {query.id} was never asked.")
                raise ValueError(
                    f"query {query.id} has been answered already; until then ask() returns the same query again: "
                    "ask(another=True) or ask(worker=name) gives a further one."
                )
            positions, entries = query.positions, [self.open[query.id]]
        else:
            positions = as_positions(query)
            entries = self.unanswered()
        for late in (False, True):  # what waits goes before what was set aside
            for entry in entries:
                rows = _rows(entry.query.positions, ~entry.answered if late else entry.waiting, positions)
                if -1 not in rows:
                    return entry, np.array(rows, dtype=np.intp)
        open_queries = [entry.rest() for entry in self.waiting()]
        known = "; ".join(f"query {q.id}: {q.positions.tolist()}" for q in open_queries) or "none waits"
        raise ValueError(f"positions {positions.tolist()} are not those of one query that waits for answers ({known}).")

    def unasked(self, query: Query | ArrayLike) -> np.ndarray | None:
        """Return the positions that are meant where no query at all is open about any of them; else None."""
        if isinstance(query, Query):
            return None
        positions = as_positions(query)
        about = [entry.query.positions[~entry.answered] for entry in self.unanswered()]
        return None if np.isin(positions, np.concatenate([positions[:0], *about])).any() else positions


def _rows(asked: np.ndarray, free: np.ndarray, positions: np.ndarray) -> list[int]:
    """Return for each position the next free row of a query that asks it, -1 where there is none."""
    rows_of: dict[int, list[int]] = {}
    for row in np.flatnonzero(free):
        rows_of.setdefault(int(asked[row]), []).append(int(row))
    return [(rows_of.get(int(position)) or [-1]).pop(0) for position in positions]


def _plain(value: object) -> object:
    """Return NumPy numbers and text as Python's own."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind in "biufcSU" else value
