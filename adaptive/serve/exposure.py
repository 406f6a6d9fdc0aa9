"""Exposure of a test's items: how many people were asked each, in the store, so that a cap holds over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adaptive.serve.stores.any_store import AnyStore, Run

__all__ = ["Exposure"]

EVERYBODY = -1  # stands for an item that all have seen: how many they are
TABLES = (
    "CREATE TABLE IF NOT EXISTS seen (session INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY "
    "(session, position))",
    "CREATE TABLE IF NOT EXISTS exposure (position INTEGER PRIMARY KEY, people INTEGER NOT NULL)",
)


class Exposure:
    """Counts of people by item.

    Parameters
    ----------
    store : AnyStore

    Examples
    --------
    >>> import tempfile
    >>> from adaptive.serve import Store
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
    ...     exposure = Exposure(store)
    ...     exposure.count(1, 4)
    ...     exposure.count(1, 7)
    ...     exposure.of_others(2), exposure.of_others(1)
    (({4: 1, 7: 1}, 1), ({}, 0))
    """

    def __init__(self, store: AnyStore) -> None:
        self.store = store
        with store.transaction() as run:
            for statement in TABLES:
                run(statement)

    def of_others(self, session: int) -> tuple[dict[int, int], int]:
        """Return how many other people were asked each position, and how many others there are."""
        own = {position for (position,) in self.store.rows("SELECT position FROM seen WHERE session = ?", (session,))}
        rows = self.store.rows("SELECT position, people FROM exposure")
        counts: dict[int, int] = {position: n - (position in own) for position, n in rows}
        people = counts.pop(EVERYBODY, 0)
        return {position: n for position, n in counts.items() if n}, people

    def count(self, session: int, position: int) -> None:
        """Note that a session is asked a position; the same one counts once."""
        with self.store.transaction() as run:
            for one in (EVERYBODY, position):
                self._note(run, session, one)

    @staticmethod
    def _note(run: Run, session: int, position: int) -> None:
        new = run(
            "INSERT INTO seen VALUES (?, ?) ON CONFLICT (session, position) DO NOTHING RETURNING session",
            (session, position),
        )
        if new:
            run(
                "INSERT INTO exposure VALUES (?, 1) ON CONFLICT (position) DO UPDATE SET people = exposure.people + 1",
                (position,),
            )
