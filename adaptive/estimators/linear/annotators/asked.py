"""Candidates that are a row and a person, checked, and what a user is to be told about people."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool

if TYPE_CHECKING:
    from adaptive.estimators.linear.annotators.rates import Skill
    from adaptive.types import Matrix

__all__ = ["AskedRows", "pairs_of", "warn_of_people"]

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


def warn_of_people(skills: Mapping[Any, Skill], known: Iterable[Any], two_classes: bool) -> None:
    """Say where skills rest on the prior alone: of one person, and where most are wrong more often than right."""
    if len(skills) == 1 and not set(skills) & set(known):
        warnings.warn(
            f"All labels are from one person, {next(iter(skills))!r}: errors and noise of the labels cannot be told "
            "apart, and the prior on skills decides.",
            UserWarning,
            stacklevel=3,
        )
    means = [one.mean for one in skills.values() if one.labels >= FEWEST_LABELS]
    wrong = sum(mean < 0.5 for mean in means) if two_classes else 0
    if 2 * wrong > len(means):
        warnings.warn(
            f"{wrong} of {len(means)} people with {FEWEST_LABELS} labels or more are believed to be wrong more often "
            "than right: the classes may be the wrong way round; look at some rows yourself.",
            UserWarning,
            stacklevel=3,
        )
