"""Answers of people about rows: who said what of which row, and the different rows that they are about."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.rows.labels import codes_of
from adaptive.estimators.rows.training import plain_table, stacked_rows, table_of

if TYPE_CHECKING:
    from adaptive.types import Matrix, State

__all__ = ["Answers"]


@dataclass(frozen=True, eq=False)
class Answers:
    """Labels (m,) by people about rows, in the order in which they were given.

    Attributes
    ----------
    X : (n, n_features) table
        The different rows, in the order in which they first were asked about.
    ids : (n,) array of int
        Their positions in the table that is labelled.
    rows : (m,) array of int
        Of each answer, which of the n rows it is about.
    people : list of labels
        In the order in which they first answered.
    who : (m,) array of int
        Of each answer, which of the people gave it.
    y : (m,) array of labels
    classes : (c,) array
        All that are known, sorted.
    """

    X: Any
    ids: np.ndarray
    rows: np.ndarray
    people: list[Any]
    who: np.ndarray
    y: np.ndarray
    classes: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_features(self) -> int:
        """Columns of a row."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes, two where fewer are known yet."""
        return max(2, len(self.classes))

    @cached_property
    def codes(self) -> np.ndarray:
        """(m,) positions of the labels in ``classes``; a lone class is number 1."""
        return codes_of(self.y, self.classes) + (len(self.classes) == 1)

    @property
    def sample_weight(self) -> np.ndarray:
        """(m,) ones: what an answer weighs is learnt."""
        return np.ones(len(self))

    def by_row(self, heard: np.ndarray) -> np.ndarray:
        """(n, c) sums over the answers about each row of what (m, c) they say."""
        found = np.zeros((len(self.ids), self.n_classes))
        np.add.at(found, self.rows, heard)
        return found

    def counts(self, truth: np.ndarray) -> np.ndarray:
        """(people, c, c) expected answers, with the probabilities (n, c) of the true labels."""
        found = np.zeros((len(self.people), self.n_classes, self.n_classes))
        np.add.at(found, (self.who, self.codes), truth[self.rows])
        return found.transpose(0, 2, 1).copy()

    @classmethod
    def of(
        cls, X: Matrix, ids: np.ndarray, who: list[Any], y: np.ndarray, classes: np.ndarray, earlier: Answers | None
    ) -> Answers:
        """Answers (m,) about rows X (m, n_features), after the earlier ones."""
        known = {} if earlier is None else {int(one): k for k, one in enumerate(earlier.ids)}
        people = {} if earlier is None else {one: k for k, one in enumerate(earlier.people)}
        fresh: list[int] = []
        rows, persons = np.empty(len(y), dtype=np.intp), np.empty(len(y), dtype=np.intp)
        for j, (one, person) in enumerate(zip(ids.tolist(), who, strict=True)):
            if one not in known:
                known[one] = len(known)
                fresh.append(j)
            rows[j] = known[one]
            persons[j] = people.setdefault(person, len(people))
        if earlier is None:
            return cls(X[fresh], ids[fresh], rows, list(people), persons, y, classes)
        return cls(
            stacked_rows(earlier.X, X[fresh]),
            np.concatenate([earlier.ids, ids[fresh]]),
            np.concatenate([earlier.rows, rows]),
            list(people),
            np.concatenate([earlier.who, persons]),
            np.concatenate([earlier.y, y]),
            classes,
        )

    def state(self) -> State:
        """Plain data."""
        return {
            "X": plain_table(self.X),
            "ids": self.ids,
            "rows": self.rows,
            "people": list(self.people),
            "who": self.who,
            "y": self.y,
            "classes": self.classes,
        }

    @classmethod
    def from_state(cls, state: State) -> Answers:
        """The answers that ``state`` described."""
        whole = {name: np.asarray(state[name], dtype=np.intp) for name in ("ids", "rows", "who")}
        return cls(table_of(state["X"]), people=list(state["people"]), y=state["y"], classes=state["classes"], **whole)
