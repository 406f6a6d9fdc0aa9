"""Progress of labelling: how often answers were predicted right, and whether it is time to stop.

Both replay the answers, which takes its time: they are made again only when enough has come in since.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from adaptive import diagnostics

if TYPE_CHECKING:
    from adaptive.loop import SequentialDesign

__all__ = ["Progress"]

LEAST = 5  # answers before anything is said
SHARE = 20  # of the time at most one part in so many goes into it


class Progress:
    """The last report and when a new one is due.

    Examples
    --------
    >>> Progress()._made is None
    True
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._made: dict[str, Any] | None = None
        self._at, self._took = 0.0, 0.0

    def of(self, design: SequentialDesign) -> dict[str, Any]:
        """Return words on when to stop, and the learning curve as (answers, share predicted right) pairs."""
        nothing: dict[str, Any] = {"words": [], "curve": []}
        n = design.iteration
        if n < LEAST:
            return nothing
        with self._guard:
            due = time.monotonic() - self._at >= SHARE * self._took
            if self._made is None or (due and self._made["n"] != n):
                begun = time.monotonic()
                self._made = {"n": n, **_report(design)}
                self._at, self._took = time.monotonic(), time.monotonic() - begun
            return self._made


def _report(design: SequentialDesign) -> dict[str, Any]:
    every = max(1, design.iteration // 20)
    judged = diagnostics.calibration(design, every=every)
    stopping = diagnostics.when_to_stop(design, every=every)
    curve = list(zip(judged["n_labelled"], judged["accuracy"], strict=True))
    return {"words": diagnostics.in_words(stopping, judged).split("\n"), "curve": curve}
