"""Who answered what: a table of people and items in which NaN means "not asked", or triples (person, item, answer)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

import numpy as np

from adaptive import checks
from adaptive.pool import has_columns, without_names

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Outcomes, State, Table

__all__ = [
    "MOST",
    "Answers",
    "Given",
    "Label",
    "Pairs",
    "categories_in",
    "categories_of",
    "is_triples",
    "log_of",
    "numbers_of",
    "pairs_of",
    "positions_of",
    "table_of",
]

Label: TypeAlias = Hashable  # of a person, an item or a trait: whole numbers or text
Pairs: TypeAlias = Sequence[tuple[Label, Label]]  # (person, item)
Given: TypeAlias = "Table | Outcomes"  # a table (people, items), triples or pairs

LARGEST = 1e6  # categories are numbered by it at most
MOST = 10  # categories of an item


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers in the order in which they came.

    Attributes
    ----------
    people, items : tuples of labels
    person, item : (n,) arrays of int, positions in these
    answer : (n,) array, the category from 0; not whole where it lies between two
    categories : tuple of int, what people call the categories, in order
    """

    people: tuple[Label, ...]
    items: tuple[Label, ...]
    person: np.ndarray
    item: np.ndarray
    answer: np.ndarray
    categories: tuple[int, ...]

    n_features = None

    def __len__(self) -> int:
        return len(self.answer)

    @classmethod
    def none(cls, items: Sequence[Label], categories: Sequence[int]) -> Self:
        """No answers yet, of nobody."""
        empty = np.zeros(0, dtype=np.intp)
        return cls((), tuple(items), empty, empty, empty, tuple(categories))

    @classmethod
    def of_table(cls, table: Table, categories: Sequence[int] | None, between: bool = False) -> Self:
        """A (people, items) table or frame."""
        values, people, items = table_of(table)
        person, item = np.nonzero(~np.isnan(values))
        known, answer = categories_of(values[person, item], categories, between)
        return cls(tuple(people), tuple(items), person, item, answer, known)

    @classmethod
    def of_pairs(
        cls, pairs: Pairs, answers: ArrayLike, categories: Sequence[int] | None, between: bool = False
    ) -> Self:
        """(person, item) pairs and their answers."""
        values = numbers_of(answers)
        if values.shape != (len(pairs),):
            raise ValueError(f"there must be one answer per (person, item) pair, got {values.shape} for {len(pairs)}.")
        known, answer = categories_of(values, categories, between)
        made = cls.none((), known)._named([p for p, _ in pairs], [i for _, i in pairs])
        return replace(made, answer=answer).checked()

    def followed_by(self, pairs: Pairs, answers: ArrayLike) -> Self:
        """These and further ones, of people and items that may be new."""
        further = type(self).of_pairs(pairs, answers, self.categories, self.answer.dtype.kind == "f")
        grown = self._named([p for p, _ in pairs], [i for _, i in pairs])
        return replace(grown, answer=np.concatenate([self.answer, further.answer])).checked()

    def _named(self, people: Sequence[Label], items: Sequence[Label]) -> Self:
        parts = []
        for known, names in ((self.people, people), (self.items, items)):
            place = {name: k for k, name in enumerate(known)}
            parts.append((np.array([place.setdefault(n, len(place)) for n in names], dtype=np.intp), tuple(place)))
        (person, everybody), (item, everything) = parts
        return replace(
            self, people=everybody, items=everything,
            person=np.concatenate([self.person, person]), item=np.concatenate([self.item, item]),
        )  # fmt: skip

    def checked(self) -> Self:
        """Refuse a (person, item) pair that is there twice."""
        _, first, counts = np.unique(self.keys, return_index=True, return_counts=True)
        if (counts > 1).any():
            n = int(first[counts > 1].min())
            who, what = self.people[self.person[n]], self.items[self.item[n]]
            raise ValueError(f"person {who!r} answers item {what!r} twice; each is asked once.")
        return self

    def of_people(self, people: np.ndarray) -> Self:
        """The answers of some people (positions), numbered as these are."""
        number = np.full(len(self.people), -1)
        number[people] = np.arange(len(people))
        kept = number[self.person] >= 0
        return replace(
            self, people=tuple(self.people[k] for k in people), person=number[self.person[kept]],
            item=self.item[kept], answer=self.answer[kept],
        )  # fmt: skip

    def of_items(self, items: np.ndarray) -> Self:
        """The answers to some items (positions), numbered as these are."""
        number = np.full(len(self.items), -1)
        number[items] = np.arange(len(items))
        kept = number[self.item] >= 0
        return replace(
            self, items=tuple(self.items[k] for k in items), person=self.person[kept],
            item=number[self.item[kept]], answer=self.answer[kept],
        )  # fmt: skip

    @property
    def keys(self) -> np.ndarray:
        """(n,) one number per (person, item)."""
        return self.person * max(len(self.items), 1) + self.item

    def with_items(self, items: Sequence[Label]) -> Self:
        """The same answers with the items in this order (which holds all of them)."""
        place = positions_of(items, self.items, "item")
        return replace(self, items=tuple(items), item=place[self.item])

    def by_person(self) -> tuple[np.ndarray, np.ndarray]:
        """The order of the answers by person, then item, and where in it each person's begin (people + 1,)."""
        order = np.lexsort((self.item, self.person))
        return order, np.searchsorted(self.person[order], np.arange(len(self.people) + 1))

    def reversed_for(self, items: np.ndarray) -> Self:
        """The answers with the scale of some items (booleans) turned round."""
        turned = items[self.item]
        return replace(self, answer=np.where(turned, len(self.categories) - 1 - self.answer, self.answer))

    def unused(self) -> tuple[int, ...]:
        """The categories that nobody answered."""
        used = np.bincount(self.answer, minlength=len(self.categories)) > 0
        return tuple(one for one, there in zip(self.categories, used, strict=True) if not there)

    def table(self) -> np.ndarray:
        """(people, items) categories from 0, -1 where not asked."""
        table = np.full((len(self.people), len(self.items)), -1, dtype=self.answer.dtype)
        table[self.person, self.item] = self.answer
        return table

    def state(self) -> State:
        """Plain data."""
        return {
            "people": list(self.people), "items": list(self.items), "categories": list(self.categories),
            "person": self.person, "item": self.item, "answer": self.answer,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The answers that ``state`` described."""
        person, item = (np.asarray(state[name], dtype=np.intp) for name in ("person", "item"))
        answer = np.asarray(state["answer"])
        answer = answer if answer.dtype.kind == "f" and len(answer) else answer.astype(np.intp)
        return cls(tuple(state["people"]), tuple(state["items"]), person, item, answer, tuple(state["categories"]))


def is_triples(answers: Given) -> bool:
    """Return whether a user gave (person, item, answer) triples: a list of them, or a frame of these columns."""
    if has_columns(answers):
        return list(map(str, answers.columns)) == ["person", "item", "answer"]
    return isinstance(answers, (list, tuple)) and len(answers) > 0 and all(
        isinstance(row, tuple) and len(row) == 3 for row in answers
    )  # fmt: skip


def pairs_of(pairs: Given) -> list[tuple[Label, Label]]:
    """(person, item) pairs as a list of tuples of labels."""
    checks.refuse_masked("pairs", pairs)
    rows: Any = without_names(pairs)
    if not isinstance(rows, Iterable) or np.ndim(cast("ArrayLike", rows)) == 0:
        raise ValueError(f"pairs must be a list of (person, item), got {checks.short(pairs)}.")
    rows = rows.tolist() if isinstance(rows, np.ndarray) else [tuple(row) if _is_pair(row) else row for row in rows]
    for row in rows:
        if not _is_pair(row) or len(row) != 2 or not all(isinstance(label, Hashable) for label in row):
            raise ValueError(f"pairs must be (person, item) each, got {checks.short(row)}.")
    return [(_plain(person), _plain(item)) for person, item in rows]


def _is_pair(row: object) -> bool:
    return isinstance(row, (tuple, list, np.ndarray))


def positions_of(known: Sequence[Label], labels: Sequence[Label], what: str) -> np.ndarray:
    """Positions of the labels; a sentence that names the first that is not there."""
    place = {label: k for k, label in enumerate(known)}
    for label in labels:
        if not isinstance(label, Hashable) or label not in place:
            shown = ", ".join(map(repr, list(known)[:8])) + (", ..." if len(known) > 8 else "")
            raise ValueError(f"{what} {label!r} is not known; there are {shown}.")
    return np.array([place[label] for label in labels], dtype=np.intp)


def table_of(table: Table) -> tuple[np.ndarray, list[Label], list[Label]]:
    """Values (people, items), labels of people and of items."""
    items = list(table.columns) if has_columns(table) else None
    index: Any = getattr(table, "index", None) if items is not None else None  # of pandas
    people = None if index is None else index.tolist()
    try:
        values = np.asarray(without_names(table), dtype=float)
    except (TypeError, ValueError):
        raise ValueError("answers must be numbers (NaN where not asked), one row per person.") from None
    if values.ndim != 2 or 0 in values.shape:
        raise ValueError(f"answers must be a (people, items) table that is not empty, got shape {values.shape}.")
    named: list[list[Label]] = [
        [_plain(one) for one in labels] if labels is not None else list(range(n))
        for labels, n in zip((people, items), values.shape, strict=True)
    ]
    for what, labels in zip(("person", "item"), named, strict=True):
        if len(set(labels)) < len(labels):
            twice = next(one for k, one in enumerate(labels) if one in labels[:k])
            raise ValueError(f"two rows or columns are called {twice!r}; each {what} needs a label of its own.")
    return values, named[0], named[1]


def categories_of(
    values: np.ndarray, categories: Sequence[int] | None, between: bool = False
) -> tuple[tuple[int, ...], np.ndarray]:
    """The categories, and each value's place among them; without categories those of `categories_in`.

    Places are whole numbers; where values may lie ``between`` the categories, which must then be given, they are not.
    """
    if between and categories is not None:
        known = tuple(int(one) for one in categories)
        outside = values[(values < known[0]) | (values > known[-1])]
        if len(outside):
            raise ValueError(f"answers must be from {known[0]} to {known[-1]}, got {float(outside[0])!r}.")
        return known, np.interp(values, known, np.arange(float(len(known))))
    whole = np.round(values)
    if len(values) and abs(values).max() > LARGEST:
        raise ValueError(f"answers must be categories of at most {LARGEST:g}, got {values[abs(values).argmax()]:g}.")
    if not np.array_equal(whole, values):
        raise ValueError(f"answers must be whole numbers, got {float(values[whole != values][0])!r}.")
    known = categories_in(values) if categories is None else tuple(int(one) for one in categories)
    if not 2 <= len(known) <= MOST or any(b <= a for a, b in pairwise(known)):
        raise ValueError(
            f"answers must have 2 to {MOST} categories in increasing order, got {list(known)[: MOST + 1]}."
        )
    place = np.searchsorted(known, values)
    wrong = (place == len(known)) | (np.asarray(known)[np.minimum(place, len(known) - 1)] != values)
    if wrong.any():
        raise ValueError(
            f"answers must be among {list(known)}, got {int(values[wrong][0])}; name other categories in categories."
        )
    return known, place.astype(np.intp)


def categories_in(values: np.ndarray) -> tuple[int, ...]:
    """The categories that answers suggest: 0 and 1 where nothing else is there, else from 1, or 0, to the highest.

    Examples
    --------
    >>> categories_in(np.array([0, 1])), categories_in(np.array([2, 4])), categories_in(np.array([0, 3]))
    ((0, 1), (1, 2, 3, 4), (0, 1, 2, 3))
    """
    lowest, highest = (int(values.min()), int(values.max())) if len(values) else (0, 1)
    if lowest < 0 or highest > MOST:  # codes of what is missing, slips: no category unless somebody says so
        wrong = lowest if lowest < 0 else highest
        raise ValueError(f"answers must be from 0 to {MOST}, or of the categories that are given, got {wrong}.")
    first = 0 if lowest == 0 or highest <= 1 else 1
    return tuple(range(first, max(highest, 1) + 1))


def log_of(p: np.ndarray, places: np.ndarray, least: float = 0.0) -> np.ndarray:
    """(n,) log probabilities of answers by ``p`` (n, R), of those between two categories linear between theirs."""
    rows, below = np.arange(len(places)), np.asarray(places).astype(np.intp)
    with np.errstate(divide="ignore"):
        found: np.ndarray = np.log(np.maximum(p[rows, below], least))
        share = places - below
        if share.any():
            above = np.log(np.maximum(p[rows, np.minimum(below + 1, p.shape[1] - 1)], least))
            found = np.where(share > 0, (1.0 - share) * found + share * above, found)
    return found


def numbers_of(answers: ArrayLike) -> np.ndarray:
    """Answers as finite numbers."""
    try:
        return checks.finite("answers", answers)
    except ValueError as problem:
        raise ValueError(f"{str(problem)[:-1]}; leave out what was not asked.") from None


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
