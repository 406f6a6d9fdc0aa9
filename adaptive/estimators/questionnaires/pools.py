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

__all__ = ["ContentPool", "ExposurePool"]

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
            raise ValueError("state must be of a pool of the same items.")
        self.people, self.counts = int(state["people"]), {item: counts[item] for item in self.items}
        return self
