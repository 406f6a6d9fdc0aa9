"""From a log to the state it stands for: the snapshot, then the events after it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from adaptive.loop.log.event_log import EventLog, LogError
from adaptive.loop.log.retracting import standing
from adaptive.loop.log.snapshots import packed_snapshot, read_snapshot
from adaptive.loop.log.storage import Storage
from adaptive.loop.state import DesignState
from adaptive.loop.stopping import StoppingRule

__all__ = ["Restorable", "rejection", "replay", "restore_snapshot", "take_snapshot"]

LOGGER = logging.getLogger("adaptive.loop")


@runtime_checkable
class Restorable(Protocol):
    """An estimator that says what it has fitted, as plain data; others are taught all answers again."""

    def state(self) -> dict[str, Any]: ...
    def restore(self, state: dict[str, Any]) -> Any: ...


def rejection(event: dict[str, Any], refusal: BaseException) -> dict[str, Any]:
    """Return the event that says an answer was refused; it directly follows that answer's ``tell``."""
    return {"event": "reject", "query": event["query"], "reason": f"{type(refusal).__name__}: {refusal}"}


def replay(
    log: EventLog,
    events: list[dict[str, Any]],
    covered: int,
    apply: Callable[[dict[str, Any], bool], None],
    learnt: Callable[[], None],
) -> None:
    """Apply all events but answers refused or taken back; those that a snapshot has covered without learning.

    Parameters
    ----------
    log : EventLog
        Gets the rejection of its last event where a crash came between an answer and its rejection.
    events : list of dict
    covered : int
        How many events the snapshot stands for.
    apply : callable(event, learn)
    learnt : callable()
        Called after each answer that was fitted here.
    """
    for k, event in enumerate(standing(events)):
        last = k + 1 == len(events)
        if event is None:
            continue
        try:
            apply(event, k >= covered)
        except Exception as refusal:
            if event["event"] == "tell" and last:
                log.append(rejection(event, refusal), may_wait=True)
                continue
            raise LogError(
                f"log {log.name} cannot be replayed with this estimator and pool: its event {k + 1} ({event['event']}) "
                f"ends in {type(refusal).__name__}: {refusal}"
            ) from refusal
        if event["event"] == "tell" and k >= covered:
            learnt()


def take_snapshot(log: EventLog, storage: Storage, state: DesignState, n_events: int | None = None) -> bool:
    """Store with ``storage`` what replaying ``log`` would compute; return whether there is such a state to store.

    Parameters
    ----------
    log : EventLog
    storage : Storage
    state : DesignState
    n_events : int, optional
        How many events the state stands for, where the log holds more.
    """
    if not (isinstance(state.estimator, Restorable) and state.candidates.restorable):
        return False
    try:
        remembered = state.stop.state() if isinstance(state.stop, StoppingRule) else None
        content = {"estimator": state.estimator.state(), "rule": repr(state.stop), "remembered": remembered}
        n_events, header = log.n_events if n_events is None else n_events, log.check_after(0)
        storage.write_snapshot(packed_snapshot(content, n_events, log.check_after(n_events), header))
    except (OSError, ValueError) as error:  # a convenience: the log alone suffices
        warnings.warn(f"no snapshot was written beside {storage.name} (it is replayed instead): {error}", stacklevel=2)
        return False
    LOGGER.info("snapshot of %d events beside %s", n_events, storage.name)
    return True


def restore_snapshot(log: EventLog, state: DesignState) -> int:
    """Restore estimator and rule from the snapshot of ``log``; return how many events it stands for (0: none)."""
    if not isinstance(state.estimator, Restorable):
        return 0
    snapshot = read_snapshot(log.storage)
    if snapshot is None or snapshot["header"] != log.check_after(0):  # of another log that had this name
        return 0
    if snapshot["n_events"] > log.n_events or log.check_after(snapshot["n_events"]) != snapshot["check"]:
        return 0
    content, rule = snapshot["state"], state.stop
    if isinstance(rule, StoppingRule) and rule.state() is not None:
        if repr(rule) != content["rule"]:  # another rule has to see all answers
            return 0
        rule.restore(content["remembered"])
    state.estimator.restore(content["estimator"])
    return snapshot["n_events"]
