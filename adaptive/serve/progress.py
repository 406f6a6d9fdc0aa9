"""Progress of labelling: how often answers were predicted right, and whether it is time to stop.

Both replay the answers, which takes its time: they are made again only when enough has come in since.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, ClassVar

from scipy import stats

from adaptive import diagnostics

if TYPE_CHECKING:
    from adaptive.loop import SequentialDesign

__all__ = ["Progress", "from_zero"]

LEAST = 5  # answers before anything is said
FEWEST = 30  # answers before anybody is told that they may stop
FURTHER, POINT = 20, 0.01  # so many more answers are expected to bring less than this share of the pool
SHARE = 20  # of the time at most one part in so many goes into it


class Progress:
    """The last report and when a new one is due.

    Examples
    --------
    >>> Progress()._made is None
    True
    """

    NOTHING: ClassVar[dict[str, Any]] = {"words": [], "curve": [], "may_stop": False}  # before there are enough answers

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._made: dict[str, Any] | None = None
        self._at, self._took = 0.0, 0.0

    def of(self, design: SequentialDesign, share: int = SHARE) -> dict[str, Any]:
        """Return words on when to stop, the learning curve with its 90% band, and whether one may stop.

        The curve has an entry (answers, share predicted right, low, high) for each moment. At most one part of the time
        in ``share`` goes into it.
        """
        n = design.iteration
        if n < LEAST:
            return dict(self.NOTHING)
        with self._guard:
            due = time.monotonic() - self._at >= share * self._took
            if self._made is None or (due and self._made["n"] != n):
                begun = time.monotonic()
                self._made = {"n": n, **_report(design)}
                self._at, self._took = time.monotonic(), time.monotonic() - begun
            return self._made


def from_zero(fraction: float, first: float) -> float:
    """Return how far one is where the way began at ``first``.

    Examples
    --------
    >>> from_zero(0.5, 0.5), from_zero(0.75, 0.5), from_zero(0.2, 0.5)
    (0.0, 0.5, 0.0)
    """
    return max(0.0, fraction - first) / (1.0 - first) if first < 1.0 else 1.0


def _report(design: SequentialDesign) -> dict[str, Any]:
    every = max(1, design.iteration // 20)
    judged = diagnostics.calibration(design, every=every)
    stopping = diagnostics.when_to_stop(design, every=every)
    n_right = [n * share for n, share in zip(judged["n_events"], judged["accuracy"], strict=True)]
    bands = [_band(k, n) for k, n in zip(n_right, judged["n_events"], strict=True)]
    curve = [(n, share, *band) for n, share, band in zip(judged["n_labelled"], judged["accuracy"], bands, strict=True)]
    words = [
        line for line in diagnostics.in_words(stopping, judged).split("\n") if " nats" not in line
    ]  # for labellers
    return {"words": words, "curve": curve, "may_stop": _may_stop(stopping)}


def _band(right: float, n: int) -> tuple[float, float]:
    """90% interval of a share, by Jeffreys."""
    low, high = stats.beta.ppf([0.05, 0.95], right + 0.5, n - right + 0.5)
    return float(low), float(high)


def _may_stop(table: dict[str, list[Any]]) -> bool:
    """Return whether the next answers are expected to bring less than a point, and the last ones moved less."""
    if not table["n_labelled"] or table["n_labelled"][-1] < FEWEST:
        return False
    return bool(FURTHER * table["expected_gain"][-1] < POINT and table["change"][-1] < POINT)
