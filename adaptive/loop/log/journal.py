"""Log and state in step: an event is written, then applied; whatever comes in between is mended from the log.

commit:   stale = True;  write;  apply;  stale = False
session:  if stale: state = replay(log)
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adaptive.loop.log.event_log import EventLog
from adaptive.loop.log.events import check_events
from adaptive.loop.log.replay import rejection, replay, restore_snapshot, take_snapshot
from adaptive.loop.log.retracting import told, unsettled_by
from adaptive.loop.state import DesignState

if TYPE_CHECKING:
    from adaptive.loop.query import Query
    from adaptive.types import ArrayLike

__all__ = ["Journal"]


class Journal:
    """The state of a design, and the log that it is the replay of.

    Parameters
    ----------
    log : EventLog
        Created or opened already.
    start : callable() -> DesignState
        The state before the first event.
    learnt : callable()
        Called after every fitted answer, also in a replay.
    notify : callable(event)
        Called after every event of now.
    """

    def __init__(
        self,
        log: EventLog,
        start: Callable[[], DesignState],
        learnt: Callable[[], None],
        notify: Callable[[dict[str, Any]], None],
    ) -> None:
        self.log = log
        self.state = start()
        self._start, self._learnt, self._notify = start, learnt, notify
        self._guard = threading.RLock()
        self._stale = False  # whether the log may know more than the state
        self._clock = time.monotonic()
        self._snapshot_at = 0
        self.applied = log.n_events  # so many events are in the state

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_guard": None, "_clock": self.seconds}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._guard, self._clock = threading.RLock(), time.monotonic() - state["_clock"]

    @property
    def seconds(self) -> float:
        """Seconds that the design has been running, pauses between save and load left out."""
        return time.monotonic() - self._clock

    @contextmanager
    def session(self) -> Iterator[DesignState]:
        """One caller at a time, on a state that agrees with the log."""
        with self._guard:
            if self._stale:
                self.recover()
            yield self.state

    def commit(self, event: dict[str, Any]) -> dict[str, Any]:
        """Write one event, apply it, and return it as the log has it.

        Raises
        ------
        OSError
            If it could not be written; nothing has changed.
        Exception
            What the estimator raises when it refuses an answer; the log says so, nothing else has changed.
        """
        self._stale = True
        try:
            event = self.log.append({**event, "seconds": self.seconds})
        except (OSError, ValueError):
            self._stale = False  # the log has taken it back
            raise
        try:
            self.state.apply(event)
        except Exception as refusal:
            reject = self.log.append(rejection(event, refusal), may_wait=True)
            # with these two an estimator refuses and is unchanged; after anything else its state is anybody's guess
            self._stale, self.applied = not isinstance(refusal, (ValueError, TypeError)), self.log.n_events
            self._notify(reject)
            raise
        if event["event"] == "tell":
            self._learnt()
        self._stale, self.applied = False, self.log.n_events
        self._snapshot_if_due()
        self._notify(event)
        return event

    def follow(self, fetch: Callable[[int], list[dict[str, Any]]]) -> list[dict[str, Any]]:
        """Apply the events that somebody else has appended to the log; return them.

        Parameters
        ----------
        fetch : callable(n_events) -> list of dict
            The events of the log behind the first ``n_events``.

        Raises
        ------
        Exception
            What the estimator raises when it refuses an answer; the state is rebuilt from the log at the next call.
        """
        with self._guard:
            if self._stale:
                self.recover()
            events = fetch(self.applied)
            if not events:
                return events
            self._stale = True
            if any(event["event"] in ("retract", "reject") for event in events):
                self._rebuild(fetch(0))
            else:
                check_events(self.log.name, events)
                for event in events:
                    self.state.apply(event)
                    if event["event"] == "tell":
                        self._learnt()
            self._stale, self.applied = False, self.applied + len(events)
            due = self.applied - self._snapshot_at >= self.log.snapshot_every
            if self.log.storage.shared and due and self.applied <= self.log.n_events:
                self._snapshot_at = self.applied
                take_snapshot(self.log, self.log.storage, self.state, self.applied)
            for event in events:
                self._notify(event)
            return events

    def retract(self, query: Query | ArrayLike) -> dict[str, Any]:
        """Write that answers were taken back, and rebuild the state without them; return the event.

        Parameters
        ----------
        query : Query, or positions
            Whose answers; of several to one position the last.

        Raises
        ------
        ValueError
            If there is no such answer, or what was asked and said later makes no sense without it: nothing has changed.
        OSError
            If it could not be written; nothing has changed.
        """
        events, before = self.log.reload(), self.state
        number, rows = told(events, query)
        event = {"event": "retract", "query": number, "rows": rows, "seconds": self.seconds}
        self._stale = True
        try:
            self._rebuild([*events, event])  # first: what cannot be replayed is not written
            event = self.log.append(event)
        except (OSError, ValueError):
            self.state, self._stale = before, False
            raise
        self._stale, self.applied = False, self.log.n_events
        self._notify(event)
        return event

    def write_if_missing(self, event: dict[str, Any], since: int) -> None:
        """After an interrupt: see that an answer is in the log, and leave learning it to the next call.

        Parameters
        ----------
        event : dict
            A tell.
        since : int
            How many events there were before it can have been written.
        """
        with self._guard:
            self._stale = True
            later = self.log.reload()[since:]
            if not any(other["event"] == "tell" and other["query"] == event["query"] for other in later):
                self.log.append({**event, "seconds": self.seconds})

    def recover(self) -> None:
        """Rebuild the state from the log."""
        self._stale = True
        self._rebuild(self.log.reload())
        self._clock = time.monotonic() - self.state.seconds
        self._snapshot_at = self.applied = self.log.n_events
        self._stale = False

    def _rebuild(self, events: list[dict[str, Any]]) -> None:
        """Put the state in place that these events make."""
        check_events(self.log.name, events)
        self.state = self._start()
        try:
            covered = restore_snapshot(self.log, self.state)
            if unsettled_by(events, covered):
                self.state, covered = self._start(), 0
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            warnings.warn(
                f"the snapshot of log {self.log.name} cannot be used here ({error}); replaying.", stacklevel=2
            )
            self.state, covered = self._start(), 0
        replay(self.log, events, covered, self.state.apply, self._learnt)

    def _snapshot_if_due(self) -> None:
        if self.log.storage.shared and self.log.n_events - self._snapshot_at >= self.log.snapshot_every:
            self._snapshot_at = self.log.n_events
            if take_snapshot(self.log, self.log.storage, self.state):
                self.log.append({"event": "snapshot", "n_events": self._snapshot_at}, may_wait=True)
                self.applied = self.log.n_events
