"""Content constraints of a test: at most so many items of each content, as a callable pool for the loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from adaptive import checks

__all__ = ["ContentPool"]


class ContentPool:
    """Items whose content is not used up: ``pool(respondent)`` is a list of labels.

    Parameters
    ----------
    items : sequence of labels
    content : mapping from items to contents, or a sequence with one entry per item
    at_most : int, or mapping from contents to int
        How many items of a content a person is asked; contents that a mapping leaves out are not bounded.
    """

    def __init__(self, items: Sequence[Any], content: Any, at_most: Any) -> None:
        self.items = tuple(items)
        listed = content if isinstance(content, Mapping) else dict(zip(self.items, content, strict=False))
        missing = [item for item in self.items if item not in listed]
        if missing or (not isinstance(content, Mapping) and len(content) != len(self.items)):
            raise ValueError(f"content must have an entry for each of {len(self.items)} items.")
        self.content = {item: listed[item] for item in self.items}
        kinds = set(self.content.values())
        bounds = at_most if isinstance(at_most, Mapping) else dict.fromkeys(kinds, at_most)
        self.at_most = {kind: checks.integer("at_most", n, minimum=0) for kind, n in bounds.items()}

    def __call__(self, person: Any) -> list[Any]:
        """Items that this respondent may still be asked."""
        asked = set(person.items)
        used = Counter(self.content[item] for item in asked if item in self.content)
        return [
            item
            for item in self.items
            if item not in asked and used[self.content[item]] < self.at_most.get(self.content[item], len(self.items))
        ]
