"""Exposure of a test's items: how many people were asked each, in the store, so that a cap holds over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adaptive.serve.store import Store

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
    store : Store

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

    def __init__(self, store: Store) -> None:
        self.store = store
        with store.transaction() as connection:
            for statement in TABLES:
                connection.execute(statement)

    def of_others(self, session: int) -> tuple[dict[int, int], int]:
        """Return how many other people were asked each position, and how many others there are."""
        own = {position for (position,) in self.store.rows("SELECT position FROM seen WHERE session = ?", (session,))}
        rows = self.store.rows("SELECT position, people FROM exposure")
        counts: dict[int, int] = {position: n - (position in own) for position, n in rows}
        people = counts.pop(EVERYBODY, 0)
        return {position: n for position, n in counts.items() if n}, people

    def count(self, session: int, position: int) -> None:
        """Note that a session is asked a position; the same one counts once."""
        with self.store.transaction() as connection:
            for one in (EVERYBODY, position):
                self._note(connection, session, one)

    @staticmethod
    def _note(connection: Any, session: int, position: int) -> None:
        new = connection.execute(
            "INSERT INTO seen VALUES (?, ?) ON CONFLICT (session, position) DO NOTHING", (session, position)
        ).rowcount
        if new:
            connection.execute(
                "INSERT INTO exposure VALUES (?, 1) ON CONFLICT (position) DO UPDATE SET people = exposure.people + 1",
                (position,),
            )
