"""A run: ask, measure, tell, again and again - and no measurement is made in vain.

An interrupt or a full disk may come between a measurement and its place in the log.  What was measured is therefore
kept until it is written: an interrupt writes it down before it goes on, a full disk leaves it to the next run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from adaptive.loop.log.journal import Journal
from adaptive.loop.query import Query, as_outcomes
from adaptive.pool import PoolExhausted

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import Outcomes

__all__ = ["Runner"]

LOGGER = logging.getLogger("adaptive.loop")


class Runner:
    """Drives a design by its ``measure``.

    Parameters
    ----------
    design : SequentialDesign
    journal : Journal
    measure : callable(query) -> outcomes, or None
        None: queries are only handed out.
    """

    def __init__(self, design: SequentialDesign, journal: Journal, measure: Callable[[Query], Outcomes] | None) -> None:
        self.design, self.journal, self.measure = design, journal, measure
        # measured but not told: number of events before, query, rows of it, outcomes
        self._measured: tuple[int, Query, list[int], Outcomes] | None = None

    def queries(self, steps: int | None) -> Iterator[Query]:
        """Yield queries, already answered if there is a measure, until the design is finished or the pool exhausted."""
        self._step(None)  # what an earlier run measured and could not write
        done = 0
        while steps is None or done < steps:
            if self.design.finished:
                return self._stopped(f"{self.design.stop!r} holds")
            try:
                query = self.design.ask()
            except PoolExhausted:
                return self._stopped("no candidate is left to ask")
            self._step(query)
            done += 1
            yield query
        self._stopped(f"{steps} steps are done")

    def _stopped(self, why: str) -> None:
        LOGGER.info("stopped after %d answers: %s", self.journal.state.iteration, why)

    def _step(self, query: Query | None) -> None:
        try:
            if query is not None and self.measure is not None:
                rows = self.journal.state.find(query)[1].tolist()
                self._measured = self.journal.log.n_events, query, rows, self.measure(query)
            self._tell()
        except KeyboardInterrupt:
            self._write_down()
            raise

    def _tell(self) -> None:
        if self._measured is None:
            return
        query = self._measured[1]
        if self._measured[3] is None:
            self._measured = None
            raise ValueError(
                f"measure must return one outcome for each of the {len(query)} candidates of the query, got None; does "
                "it lack a return?"
            )
        try:
            self.design.tell(query, self._measured[3])
        except OSError:
            if query.id in self.journal.state.open:  # not written: the next run tells it
                raise
            self._measured = None
            raise
        except Exception:  # refused: the query waits for another answer
            self._measured = None
            raise
        self._measured = None

    def _write_down(self) -> None:
        if self._measured is not None and self._measured[3] is not None:
            since, query, rows, outcomes = self._measured
            event = {"event": "tell", "query": query.id, "rows": rows, "outcomes": as_outcomes(outcomes, len(rows))}
            self.journal.write_if_missing(event, since)
            self._measured = None
