"""Rows and people as positions in the pool of a design: a candidate is a row, or a row and a person's place.

position  =  row * number of places + place         one place, that of anybody, where skills are not learnt
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool as pools
from adaptive.labelling.standing import Standing

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign

__all__ = ["Candidates"]


class Candidates:
    """Candidates of a design, each a row (of a table, or a task) or a row and a place.

    Parameters
    ----------
    design : SequentialDesign
        Its log says who has which place: the person who answered first has the first that was free.
    n_rows : int
    first : int, default 0
        The first place that is a person's; those before it are nobody's, such as a table's whose labels are known.

    Attributes
    ----------
    of_people : bool
        Whether candidates are pairs (`designs.pool.Annotated`).
    n_places : int
    places : dict
        The place of each person; of those beyond the last a number that is no place.

    Raises
    ------
    ValueError
        If the design has another number of candidates, or cannot take several answers to a row.
    """

    def __init__(self, design: SequentialDesign, n_rows: int, first: int = 0) -> None:
        self.design, self.n_rows, self.first = design, n_rows, first
        pool: Any = design.pool
        self.of_people = pools.has_people(pool)
        self.table = pool.table if self.of_people else pool  # what a row is, not who is asked about it
        self.n_places = len(pool.people) if self.of_people else 1
        n = pools.length(self.table)
        if n != n_rows:
            raise ValueError(f"the design must have one candidate for each of {n_rows} rows, got {n}.")
        if not self.of_people and not design.repeat:
            raise ValueError("the design must have repeat=True: a row may be labelled by several people.")
        if self.of_people and pool.people != list(range(self.n_places)):
            raise ValueError(f"the people of the pairs must be the places 0, 1, ..., got {pool.people[:10]}.")
        self.places: dict[str, int] = {}
        if self.of_people:
            self.places = {str(said.who): said.position % self.n_places for said in Standing(design).said}

    def position(self, row: int, who: str | None) -> int | None:
        """Return where a row stands in the pool, as a person's; None where no place is left for that person."""
        if not self.of_people:
            return row
        place = self.places.setdefault(str(who), self._free())
        return row * self.n_places + place if place < self.n_places else None

    def row(self, position: int) -> int:
        """Return the row of a position."""
        return position // self.n_places

    def of_rows(self, rows: set[int]) -> np.ndarray:
        """Return the positions of rows, as those of everybody."""
        first = np.array(sorted(rows), dtype=np.intp)[:, None] * self.n_places
        return (first + np.arange(self.n_places)).ravel()

    def open(self) -> list[int]:
        """Return the rows of the queries that wait, the oldest first."""
        waiting = [position for query in self.design.pending for position in query.positions.tolist()]
        return list(dict.fromkeys(map(self.row, waiting)))

    def closed(self) -> set[int]:
        """Return the rows that are set aside for everybody, or may not be asked."""
        aside = set() if self.of_people else {*self.design.excluded().tolist()}
        if self.design.mask is not None:
            allowed = self.design.mask.reshape(-1, self.n_places).any(axis=1)
            aside |= {*np.flatnonzero(~allowed).tolist()}
        return aside

    def known(self, people: Iterable[str]) -> list[int]:
        """Return the places of those of these people who have one."""
        return [place for who in people if (place := self.places.get(who, self.n_places)) < self.n_places]

    def free(self) -> int:
        """Return the place of whoever comes next; the last one where all are taken."""
        return min(self._free(), self.n_places - 1)

    def asked(self, present: list[str], turn: int) -> int | None:
        """Return the place of whom a row is chosen for: of those at work in turn, else the first that is free.

        None where it is for anybody.
        """
        if not self.of_people:
            return None
        known = self.known(present)
        return known[turn % len(known)] if known else self.free()

    def _free(self) -> int:
        taken = set(self.places.values())
        return next(k for k in range(self.first, self.first + len(taken) + 1) if k not in taken)
