"""CPU seconds of a call: those of this process and its threads, which others on the machine do not lengthen much."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

__all__ = ["least_seconds", "median_seconds"]


def median_seconds(call: Callable[[], object], repeats: int, *, total: float = 0.0) -> float:
    """Return the median CPU seconds of ``repeats`` calls, or of as many as take ``total`` seconds together.

    What compiles is called once before.
    """
    taken = _taken(call, repeats)
    while sum(taken) < total:
        taken += _taken(call, 1)
    return float(np.median(taken))


def least_seconds(call: Callable[[], object], repeats: int) -> float:
    """Return the CPU seconds of the quickest of ``repeats`` calls."""
    return min(_taken(call, repeats))


def _taken(call: Callable[[], object], repeats: int) -> list[float]:
    found = []
    for _ in range(repeats):
        begun = time.process_time()
        call()
        found.append(time.process_time() - begun)
    return found
