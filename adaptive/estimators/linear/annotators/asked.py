"""Candidates that are a row and a person, checked, and what a user is to be told about people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool

if TYPE_CHECKING:
    from adaptive.types import Matrix

__all__ = ["FEWEST_LABELS", "AskedRows", "doubts_of_people", "pairs_of"]

FEWEST_LABELS = 5  # of a person about whom the answers say more than the prior does


@dataclass(frozen=True)
class AskedRows:
    """The different rows that candidates are about, and which of them, and whom, each candidate is.

    Attributes
    ----------
    X : (n, n_features) table
    ids : (n,) array of int
        Positions in the table that is labelled, ascending.
    rows : (m,) array of int
    people : list of labels
    who : (m,) array of int
    """

    X: Any
    ids: np.ndarray
    rows: np.ndarray
    people: list[Any]
    who: np.ndarray

    @classmethod
    def of(cls, candidates: Any, checked: Callable[[Any], Matrix]) -> AskedRows:
        """Candidates (m,), of whose rows ``checked`` makes a table."""
        ids, who = pairs_of(candidates)
        different, rows = np.unique(ids, return_inverse=True)
        people = {one: k for k, one in enumerate(dict.fromkeys(who))}
        persons = np.array([people[one] for one in who], dtype=np.intp)
        return cls(checked(pool.take(candidates.table, different)), different, rows, list(people), persons)


def pairs_of(candidates: Any) -> tuple[np.ndarray, list[Any]]:
    """Return positions of rows in their table, and people, (m,) both.

    Raises
    ------
    ValueError
        If the candidates are no pairs of a row and a person.
    """
    if not all(hasattr(candidates, name) for name in ("table", "rows", "annotators")):
        raise ValueError(
            "annotators=True takes pairs of a row and a person, a designs.pool.Annotated(X, annotators) or what "
            f"was taken from one, got {type(candidates).__name__}."
        )
    return np.asarray(candidates.rows), list(candidates.annotators)


def doubts_of_people(
    people: Sequence[Any], means: np.ndarray, labels: np.ndarray, known: Iterable[Any], two_classes: bool
) -> dict[str, str]:
    """Sentences about what rests on the prior alone, by their kind.

    ``one_person``: all labels are one person's; ``most_wrong``: most are wrong more often than right. Of those with few
    labels nothing is said: there the prior decides, by definition.

    Parameters
    ----------
    people : sequence of p labels
    means, labels : (p,) arrays
        Of their skills, and how many labels each has given.
    known : people whose skills were given
    two_classes : bool
    """
    found = {}
    if len(people) == 1 and labels[0] >= FEWEST_LABELS and not set(people) & set(known):
        found["one_person"] = (
            "All labels are from one person: errors and noise of the labels cannot be told apart, and the prior on "
            "skills decides."
        )
    heard = means[labels >= FEWEST_LABELS]
    wrong = int(np.count_nonzero(heard < 0.5)) if two_classes else 0
    if 2 * wrong > len(heard):
        found["most_wrong"] = (
            f"{wrong} of {len(heard)} people with {FEWEST_LABELS} labels or more are believed to be wrong more often "
            "than right: the classes may be the wrong way round; look at some rows yourself."
        )
    return found
