"""The pool as the loop sees it: fixed, or a callable ``estimator -> pool`` where it changes with what is known.

Both answer the same questions: what the pool is now, how its entries are recognised later (in a fixed pool by position,
in a changing one by equality of plain data), what of a query goes into the log, and how the log gives it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set, Sized
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from adaptive import pool as pools
from adaptive.loop.log.plain_data import identity, is_plain

if TYPE_CHECKING:
    from adaptive.types import Estimator, Pool

__all__ = ["Candidates", "ChangingCandidates", "FixedCandidates", "candidates_of"]


class Candidates(Protocol):
    """Protocol of a pool as the loop sees it; ``event`` is an ask or skip as the log holds it."""

    fixed: bool
    restorable: bool  # whether the log alone gives every query back

    def now(self, estimator: Estimator, knowledge: int) -> Any:
        """Return the pool at the present state of knowledge (the number of answers fitted)."""

    def keys(self, event: Mapping[str, Any]) -> list[Any]:
        """Return what recognises the entries of a query later."""

    def find(self, keys: Set[Any], pool: Pool) -> np.ndarray:
        """Return the positions in ``pool`` of the entries with these keys, ascending."""

    def describe(self, pool: Pool, positions: np.ndarray) -> dict[str, Any]:
        """Return what the log keeps of these entries."""

    def restore(self, event: Mapping[str, Any], estimator: Estimator, knowledge: int) -> tuple[Any, list[Any]]:
        """Return candidates and labels of a logged query."""

    def summary(self) -> dict[str, Any]:
        """Return what a log must agree with to be continued on this pool."""


def candidates_of(candidates: Pool | Callable[[Any], Pool]) -> Candidates:
    """Return the loop's view of what the user gave."""
    if callable(candidates) and not isinstance(candidates, Sized):
        return ChangingCandidates(candidates)
    return FixedCandidates(candidates)


class FixedCandidates:
    """A pool that stays as it is."""

    fixed = True
    restorable = True

    def __init__(self, pool: Pool) -> None:
        if pools.length(pool) == 0:
            raise ValueError("candidates is empty; expected at least one candidate.")
        self.pool = pool

    def now(self, estimator: Estimator, knowledge: int) -> Any:
        return self.pool

    def keys(self, event: Mapping[str, Any]) -> list[Any]:
        return event["positions"]

    def find(self, keys: Set[Any], pool: Pool) -> np.ndarray:
        return np.sort(np.fromiter(keys, dtype=np.intp, count=len(keys)))

    def describe(self, pool: Pool, positions: np.ndarray) -> dict[str, Any]:
        return {
            "positions": positions.tolist(),
            "labels": [_readable(label) for label in pools.labels(pool, positions)],
        }

    def restore(self, event: Mapping[str, Any], estimator: Estimator, knowledge: int) -> tuple[Any, list[Any]]:
        positions = np.array(event["positions"], dtype=np.intp)
        return pools.take(self.pool, positions), list(pools.labels(self.pool, positions))

    def summary(self) -> dict[str, Any]:
        summary = {"kind": "fixed", "length": pools.length(self.pool), "fingerprint": pools.fingerprint(self.pool)}
        parts = pools.part_fingerprints(self.pool)
        return summary if parts is None else {**summary, "parts": parts}


class ChangingCandidates:
    """A callable ``estimator -> pool``; what was asked is written into the log."""

    fixed = False

    def __init__(self, function: Callable[[Any], Pool]) -> None:
        self.function = function
        self.restorable = True
        self._made: tuple[int, Any] | None = None

    def now(self, estimator: Estimator, knowledge: int) -> Any:
        """Return the pool, made anew only when something was fitted."""
        if self._made is None or self._made[0] != knowledge:
            self._made = knowledge, self.function(estimator)
        return self._made[1]

    def keys(self, event: Mapping[str, Any]) -> list[Any]:
        return [identity(entry) for entry in event.get("candidates", event["labels"])]

    def find(self, keys: Set[Any], pool: Pool) -> np.ndarray:
        if not keys or pools.length(pool) == 0:
            return np.zeros(0, dtype=np.intp)
        entries: Any = pool if _has_plain_entries(pool) else _labels(pool)
        return np.array([k for k, entry in enumerate(entries) if identity(entry) in keys], dtype=np.intp)

    def describe(self, pool: Pool, positions: np.ndarray) -> dict[str, Any]:
        labels = list(pools.labels(pool, positions))
        event = {"positions": positions.tolist(), "labels": [_readable(label) for label in labels]}
        if _has_plain_entries(pool):
            return {**event, "candidates": pools.take(pool, positions)}
        if not _names_its_entries(pool) or not is_plain(labels):
            raise ValueError(
                "the entries of a callable pool, or their labels, must be plain data (numbers, strings, arrays, "
                f"tuples), got a {type(pool).__name__} without."
            )
        return event

    def restore(self, event: Mapping[str, Any], estimator: Estimator, knowledge: int) -> tuple[Any, list[Any]]:
        if "candidates" in event:
            return event["candidates"], event["labels"]
        self.restorable = False
        pool = self.now(estimator, knowledge)
        where = {identity(label): position for position, label in enumerate(_labels(pool))}
        for label in event["labels"]:
            if identity(label) not in where:
                raise ValueError(f"the callable pool no longer holds the logged candidate {label!r}; was it changed?")
        positions = np.array([where[identity(label)] for label in event["labels"]], dtype=np.intp)
        return pools.take(pool, positions), event["labels"]

    def summary(self) -> dict[str, Any]:
        return {"kind": "callable"}


def _labels(pool: Pool) -> list[Any]:
    return list(pools.labels(pool, np.arange(pools.length(pool))))


def _has_plain_entries(pool: Pool) -> bool:
    if isinstance(pool, np.ndarray):
        return pool.dtype.kind in "biufcSUMm"
    return isinstance(pool, (list, tuple)) and all(is_plain(entry) for entry in pool[:1])


def _names_its_entries(pool: Pool) -> bool:
    return hasattr(pool, "iloc") or callable(getattr(pool, "labels", None))


def _readable(label: object) -> object:
    if isinstance(label, np.generic) and label.dtype.kind in "biufSU":
        return label.item()
    return label if is_plain(label) else str(label)
