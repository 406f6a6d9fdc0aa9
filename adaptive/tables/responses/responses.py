"""A table of systems and items: who got what score where, and what is known of both."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adaptive.tables.cells import TableError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Record", "Responses"]


class Record(NamedTuple):
    """One answer: whose, to what, and what is known of both; "" where nothing is."""

    system: str
    item: str
    score: float
    benchmark: str = ""
    text: str = ""
    family: str = ""


@dataclass(frozen=True, eq=False)
class Responses:
    """Scores of systems on items.

    Attributes
    ----------
    scores : (systems, items) array
        From 0 to 1, NaN where a system was not asked.
    systems, items : tuples of str
        Their names.
    benchmarks, texts : tuples of str
        Of each item: what it belongs to, and how it reads; "" where that is not known.
    families : tuple of str
        Of each system, such as who made it; "" where that is not known.

    Examples
    --------
    >>> table = Responses.of_records([Record("m1", "q1", 1.0), Record("m2", "q1", 0.0), Record("m1", "q2", 0.0)])
    >>> table.scores
    array([[ 1.,  0.],
           [ 0., nan]])
    >>> table.without(["m1"]).systems
    ('m2',)
    """

    scores: np.ndarray
    systems: tuple[str, ...]
    items: tuple[str, ...]
    benchmarks: tuple[str, ...]
    texts: tuple[str, ...]
    families: tuple[str, ...]

    @classmethod
    def of_records(cls, records: Iterable[Record], source: object = "the table") -> Responses:
        """Put answers one by one into a table, in the order in which systems and items appear.

        Raises
        ------
        TableError
            If a system answered an item twice with different scores, or there is no answer; it names the ``source``.
        """
        systems: dict[str, int] = {}
        items: dict[str, int] = {}
        benchmarks: dict[int, str] = {}
        texts: dict[int, str] = {}
        families: dict[int, str] = {}
        rows: list[tuple[int, int, float]] = []
        for one in records:
            i, j = systems.setdefault(one.system, len(systems)), items.setdefault(one.item, len(items))
            rows.append((i, j, one.score))
            for kept, at, value in ((benchmarks, j, one.benchmark), (texts, j, one.text), (families, i, one.family)):
                if value:
                    kept.setdefault(at, value)
        if not rows:
            raise TableError(f"{source} holds no answers.")
        scores = np.full((len(systems), len(items)), np.nan)
        for i, j, score in rows:
            if not np.isnan(scores[i, j]) and scores[i, j] != score:
                system, item = list(systems)[i], list(items)[j]
                raise TableError(f"{source}: {system!r} has two scores for the item {item!r}.")
            scores[i, j] = score
        return cls(
            scores, tuple(systems), tuple(items), tuple(benchmarks.get(j, "") for j in range(len(items))),
            tuple(texts.get(j, "") for j in range(len(items))), tuple(families.get(i, "") for i in range(len(systems))),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.systems)

    def records(self) -> Iterable[Record]:
        """Yield the answers one by one."""
        for i, j in zip(*np.nonzero(~np.isnan(self.scores)), strict=True):
            yield Record(
                self.systems[i], self.items[j], float(self.scores[i, j]), self.benchmarks[j], self.texts[j],
                self.families[i],
            )  # fmt: skip

    def rows(self, positions: Sequence[int] | np.ndarray) -> Responses:
        """Return some systems, all items."""
        at = np.asarray(positions, dtype=np.intp)
        return Responses(
            self.scores[at], tuple(self.systems[k] for k in at), self.items, self.benchmarks, self.texts,
            tuple(self.families[k] for k in at),
        )  # fmt: skip

    def without(self, systems: Collection[str]) -> Responses:
        """Leave out these systems."""
        return self.rows([k for k, system in enumerate(self.systems) if system not in systems])

    def joined(self, other: Responses) -> Responses:
        """Return all systems of both tables; items that only the other has are left out."""
        place = {item: j for j, item in enumerate(self.items)}
        common = [(place[item], j) for j, item in enumerate(other.items) if item in place]
        more = np.full((len(other), len(self.items)), np.nan)
        for here, there in common:
            more[:, here] = other.scores[:, there]
        return Responses(
            np.concatenate([self.scores, more]), self.systems + other.systems, self.items, self.benchmarks, self.texts,
            self.families + other.families,
        )  # fmt: skip

    def units(self) -> np.ndarray:
        """Return (systems,) numbers: systems of one family, and copies of each other, have the same.

        Copies are those whose answers are the same wherever they were asked. A split by these numbers has no copy of a
        system on both sides.
        """
        parent = list(range(len(self)))

        def root(k: int) -> int:
            while parent[k] != k:
                parent[k] = parent[parent[k]]
                k = parent[k]
            return k

        first: dict[object, int] = {}
        filled = np.where(np.isnan(self.scores), -1.0, self.scores)
        for k, (row, family) in enumerate(zip(filled, self.families, strict=True)):
            for key in (row.tobytes(), family):
                if key:
                    parent[root(k)] = root(first.setdefault(key, k))
        return np.unique([root(k) for k in range(len(self))], return_inverse=True)[1]

    def distinct(self) -> np.ndarray:
        """Return the positions of the first of each set of copies, ascending."""
        filled = np.where(np.isnan(self.scores), -1.0, self.scores)
        return np.sort(np.unique(filled, axis=0, return_index=True)[1])

    def digest(self) -> str:
        """Return a hash of the content, texts left out."""
        found = hashlib.sha256(np.ascontiguousarray(self.scores).tobytes())
        for names in (self.systems, self.items, self.benchmarks, self.families):
            found.update("\x1f".join(names).encode() + b"\x1e")
        return found.hexdigest()

    def to_frame(self) -> pd.DataFrame:
        """Return scores as a pandas DataFrame of systems and items."""
        import pandas as pd

        return pd.DataFrame(self.scores, index=list(self.systems), columns=list(self.items))
