"""Splits of people by family, so that nobody who is judged has a relative, or a copy, among those who calibrated.

Systems of one publisher, patients of one clinic: what is learnt from one tells of the others, and of a copy everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.answers import Label

__all__ = ["copies", "family_folds", "without_relatives"]

ALIKE = 0.02  # share of the answers that differ at most between copies
OVERLAP = 20  # items that both answered, at fewer of which nobody is a copy
BLOCK = 500


def copies(table: np.ndarray, of: np.ndarray, alike: float = ALIKE) -> np.ndarray:
    """(people,) whether somebody of another table answered nearly the same.

    Parameters
    ----------
    table, of : (people, items), (others, items) arrays of int
        Places of answers, -1 where not asked.
    alike : float
        Share of the answers to items that both were asked that differs at most; at a bound of one item.

    Examples
    --------
    >>> known = np.eye(30, dtype=int)[:2]
    >>> copies(np.concatenate([known, 1 - known]), known).tolist()
    [True, True, False, False]
    """
    found = np.zeros(len(table), dtype=bool)
    answers = [r for r in np.unique(of) if r >= 0]
    seen, marks = (of >= 0).astype(np.float32).T, [(of == r).astype(np.float32).T for r in answers]
    for start in range(0, len(table), BLOCK):
        rows = table[start : start + BLOCK]
        both = (rows >= 0).astype(np.float32) @ seen
        same = np.add.reduce([(rows == r).astype(np.float32) @ mark for r, mark in zip(answers, marks, strict=True)])
        least = np.maximum(alike * both, np.minimum(1.0, 0.05 * both))
        found[start : start + BLOCK] = ((both >= OVERLAP) & (both - same <= least)).any(axis=1)
    return found


def without_relatives(
    table: np.ndarray, families: Sequence[Label], judged: np.ndarray, alike: float = ALIKE
) -> np.ndarray:
    """Positions of those who may teach what ``judged`` are judged by: of other families, and no copies of them.

    Parameters
    ----------
    table : (people, items) array of int
    families : sequence of labels
        One for each person.
    judged : (n,) array of int
        Positions.
    """
    codes = _codes(families, len(table))
    others = np.flatnonzero(~np.isin(codes, codes[judged]))
    return others[~copies(table[others], table[judged], alike)]


def family_folds(
    table: np.ndarray, families: Sequence[Label], n_folds: int = 5, seed: int = 0
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Each fold of the families once: positions of those who teach, and of those who are judged.

    Parameters
    ----------
    table : (people, items) array of int
        Places of answers, -1 where not asked.
    families : sequence of labels
        One for each person.
    n_folds : int
        At most as many as there are families.
    seed : int

    Raises
    ------
    ValueError
        If there are too few families, or another number of them than people.

    Examples
    --------
    >>> for teach, judge in family_folds(np.eye(4, dtype=int), ["a", "a", "b", "b"], 2):
    ...     print(teach.tolist(), judge.tolist())
    [2, 3] [0, 1]
    [0, 1] [2, 3]
    """
    codes = _codes(families, len(table))
    n = int(codes.max()) + 1
    if n < checks.integer("n_folds", n_folds, minimum=2):
        raise ValueError(f"there must be at least {n_folds} families, one for each fold, got {n}.")
    fold = np.random.default_rng(seed).permutation(n) % n_folds
    for k in range(n_folds):
        judged = np.flatnonzero(fold[codes] == k)
        yield without_relatives(table, families, judged), judged


def _codes(families: Sequence[Label], n: int) -> np.ndarray:
    if len(families) != n:
        raise ValueError(f"families must have one entry for each of the {n} people, got {len(families)}.")
    place: dict[Label, int] = {}
    return np.array([place.setdefault(one, len(place)) for one in families], dtype=np.intp)
