"""Attention items: questions with one right answer, for those who read them. They are no part of the test's design.

Answers stand in a table of their own, with what was right and whether the test ended there.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adaptive.serve.stores.any_store import AnyStore

__all__ = ["Attention", "AttentionItems"]

TABLE = """
CREATE TABLE IF NOT EXISTS attention (
    session INTEGER NOT NULL, number INTEGER NOT NULL, time DOUBLE PRECISION NOT NULL, item TEXT NOT NULL,
    answer TEXT NOT NULL, correct INTEGER NOT NULL, ended INTEGER NOT NULL, PRIMARY KEY (session, number)
)
"""


@dataclass(frozen=True)
class Attention:
    """A question to which there is one right answer.

    Attributes
    ----------
    text : str
    answers : sequence of str
    right : int
        Place of the right answer.
    after : int, default 5
        It comes after so many answers of the test, where that still goes on.

    Examples
    --------
    >>> Attention("Please choose 'often'.", ["never", "often"], right=1).after
    5
    """

    text: str
    answers: Sequence[str]
    right: int
    after: int = 5


class AttentionItems:
    """The attention items of a test, and who has answered them how.

    Parameters
    ----------
    items : sequence of Attention
    store : AnyStore
    screen_out : int
        The test ends after so many wrong answers; 0: never.
    """

    def __init__(self, items: Sequence[Attention], store: AnyStore, screen_out: int = 0) -> None:
        self.items, self.store, self.screen_out = list(items), store, screen_out
        if self.items:
            with store.transaction() as run:
                run(TABLE)

    def _said(self, session: int) -> list[tuple[Any, ...]]:
        if not self.items:
            return []
        return self.store.rows("SELECT number, correct, ended FROM attention WHERE session = ?", (session,))

    def sessions(self) -> set[int]:
        """Return who has answered any."""
        found = self.store.rows("SELECT DISTINCT session FROM attention") if self.items else []
        return {session for (session,) in found}

    def due(self, session: int, count: int) -> int | None:
        """Return the number of the item that comes after ``count`` answers; None where there is none."""
        known = {number for number, _, _ in self._said(session)}
        return next((k for k, one in enumerate(self.items) if one.after <= count and k not in known), None)

    def over(self, session: int) -> bool:
        """Return whether a session was screened out."""
        return any(ended for _, _, ended in self._said(session))

    def keep(self, session: int, number: int, chosen: int) -> None:
        """Keep an answer; the first one stands."""
        item = self.items[number]
        correct = chosen == item.right
        wrong = sum(not one for _, one, _ in self._said(session)) + (not correct)
        ended = not correct and 0 < self.screen_out <= wrong
        said = (session, number, time.time(), item.text, item.answers[chosen], int(correct), int(ended))
        with self.store.transaction() as run:
            run("INSERT INTO attention VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session, number) DO NOTHING", said)
