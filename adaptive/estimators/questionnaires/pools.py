"""Items that a person may still be asked: bounds on contents, and on how many people see an item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Self, TypeAlias

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.answers import Label
    from adaptive.estimators.questionnaires.respondent import Respondent
    from adaptive.types import State

__all__ = ["ContentPool", "ExposurePool", "ItemRules"]

Content: TypeAlias = "Mapping[Label, Label] | Sequence[Label]"  # of each item
AtMost: TypeAlias = "int | Mapping[Label, int]"  # of each content
Within: TypeAlias = "Callable[[Respondent], Sequence[Label]]"


class ContentPool:
    """Items whose content is not used up: ``pool(respondent)`` is a list of labels.

    Parameters
    ----------
    items : sequence of labels
    content : mapping from items to contents, or a sequence with one entry per item
    at_most : int, or mapping from contents to int
        How many items of a content a person is asked; contents that a mapping leaves out are not bounded.
    """

    def __init__(self, items: Sequence[Label], content: Content, at_most: AtMost) -> None:
        self.items = tuple(items)
        listed = content if isinstance(content, Mapping) else dict(zip(self.items, content, strict=False))
        missing = [item for item in self.items if item not in listed]
        if missing or (not isinstance(content, Mapping) and len(content) != len(self.items)):
            raise ValueError(f"content must have an entry for each of {len(self.items)} items.")
        self.content = {item: listed[item] for item in self.items}
        kinds = set(self.content.values())
        bounds = at_most if isinstance(at_most, Mapping) else dict.fromkeys(kinds, at_most)
        self.at_most = {kind: checks.integer("at_most", n, minimum=0) for kind, n in bounds.items()}

    def __call__(self, person: Respondent) -> list[Label]:
        """Items that this respondent may still be asked."""
        asked = set(person.items)
        used = Counter(self.content[item] for item in asked if item in self.content)
        return [
            item
            for item in self.items
            if item not in asked and used[self.content[item]] < self.at_most.get(self.content[item], len(self.items))
        ]


class ExposurePool:
    """Items that few enough people saw: ``pool(respondent)`` is a list of labels.

    An item is out of the pool while more than the share ``cap`` of the people tested so far were asked it, so that
    after n people it was asked of at most cap n + 1.

    Parameters
    ----------
    items : sequence of labels
    cap : float
        In (0, 1].
    within : callable (respondent) -> list of labels, optional
        Another pool that bounds this one.

    Attributes
    ----------
    people : int
        Tests that were counted.
    counts : dict
        In how many of these each item was asked.

    References
    ----------
    J. Revuelta and V. Ponsoda (1998), A comparison of item exposure control methods in computerized adaptive testing.
    """

    def __init__(self, items: Sequence[Label], cap: float, within: Within | None = None) -> None:
        if not 0 < checks.positive("cap", cap) <= 1:
            raise ValueError(f"cap must be a share in (0, 1], got {cap!r}.")
        self.items, self.cap, self.within = tuple(items), float(cap), within
        self.people, self.counts = 0, dict.fromkeys(self.items, 0)

    def __call__(self, person: Respondent) -> list[Label]:
        """Items that this respondent may still be asked."""
        asked = set(person.items)
        there = self.items if self.within is None else self.within(person)
        most = self.cap * self.people
        return [item for item in there if item not in asked and self.counts[item] <= most]

    def tested(self, person: Respondent) -> Self:
        """Count a test that is over."""
        for item in person.items:
            self.counts[item] += 1
        self.people += 1
        return self

    def state(self) -> State:
        """Plain data."""
        return {"people": self.people, "items": list(self.counts), "counts": list(self.counts.values())}

    def restore(self, state: State) -> Self:
        """Take over what ``state`` returned, of the same items."""
        counts = dict(zip(state["items"], map(int, state["counts"]), strict=True))
        if set(counts) != set(self.items):
            raise ValueError("state must come from a pool of the same items.")
        self.people, self.counts = int(state["people"]), {item: counts[item] for item in self.items}
        return self


class ItemRules:
    """Items that may come next for one of many people: a first item, shares of contents, a cap on exposure.

    Of the items that a person has not been asked, those may come whose content is furthest behind its share. Of these
    those that more than the share ``exposure`` of the other people were asked are out, as in an `ExposurePool`; where
    that leaves none, those stay that fewest were asked. The first item has no cap.

    Parameters
    ----------
    items : sequence of labels
    first : label, optional
        Asked of everybody before all others.
    exposure : float, optional
        In (0, 1], and enough for the questions that each is asked.
    content : mapping from items to contents, optional
    shares : mapping from contents to shares of the questions, optional
        Of every content that an item has.
    questions : int, optional
        How many each is asked at most.

    Raises
    ------
    ValueError
        If the exposure is no share, or too small for so many questions.

    References
    ----------
    G. G. Kingsbury and A. R. Zara (1989), Procedures for selecting items for computerized adaptive tests.
    J. Revuelta and V. Ponsoda (1998), A comparison of item exposure control methods in computerized adaptive testing.

    Examples
    --------
    >>> rules = ItemRules("abcd", first="a", content=dict(a=1, b=1, c=2, d=2), shares={1: 0.5, 2: 0.5})
    >>> rules.barred([]), rules.barred(["a"]), rules.barred(["a", "c"])
    ([1, 2, 3], [0, 1], [0, 2])
    """

    def __init__(
        self, items: Sequence[Label], first: Label | None = None, exposure: float | None = None,
        content: Mapping[Label, Label | None] | None = None, shares: Mapping[Label, float] | None = None,
        questions: int | None = None,
    ) -> None:  # fmt: skip
        self.items, self.first, self.exposure = tuple(items), first, exposure
        self.content, self.shares = dict(content or {}), dict(shares or {})
        if exposure is not None:
            if not 0 < exposure <= 1:
                raise ValueError(f"exposure must be a share in (0, 1], got {exposure!r}.")
            self._check(exposure, questions or 1)

    def _check(self, exposure: float, questions: int) -> None:
        """Refuse an exposure by which so many questions cannot be asked of each."""
        per_item = (questions - (self.first is not None)) / max(1, len(self.items) - (self.first is not None))
        least, what = per_item, f"{questions} questions of {len(self.items)} items"
        for kind, share in self.shares.items():
            n = sum(self.content[item] == kind for item in self.items)
            if (own := share * questions / n) > least and self.first is None:
                least, what = own, f"{share * questions:.3g} questions of {n} items about {kind}"
        if exposure < least - 1e-9:
            raise ValueError(f"exposure must be at least {least:.3g}, for {what}, got {exposure!r}.")

    @property
    def any(self) -> bool:
        """Return whether anything is ever barred."""
        return self.first is not None or self.exposure is not None or bool(self.shares)

    def barred(self, asked: Sequence[Label], counts: Mapping[Label, int] | None = None, people: int = 0) -> list[int]:
        """Return positions of the items that may not be asked next, those asked before among them.

        Parameters
        ----------
        asked : sequence of labels
            What this person was asked, skipped items included.
        counts : mapping from items to int, optional
            How many other people were asked each.
        people : int
            How many others there are.
        """
        used, seen = set(asked), counts or {}
        left = [item for item in self.items if item not in used]
        if self.first is not None and not used:
            left = [self.first]
        elif left:
            if self.shares:
                had = Counter(self.content[item] for item in asked)
                behind = {kind: share * (len(asked) + 1) - had[kind] for kind, share in self.shares.items()}
                most = max(behind[self.content[item]] for item in left)  # type: ignore[index]
                left = [item for item in left if behind[self.content[item]] >= most - 1e-9]  # type: ignore[index]
            if self.exposure is not None:
                most = max(self.exposure * people, min(seen.get(item, 0) for item in left))
                left = [item for item in left if seen.get(item, 0) <= most]
        may = set(left)
        return [k for k, item in enumerate(self.items) if item not in may]
