"""A score from 0 to 1 as people, files and programs write it."""

from __future__ import annotations

import math
from typing import Any

from adaptive.tables.values import MISSING, number_of

__all__ = ["EXPECTED", "score_of", "scores_of"]

EXPECTED = "a score from 0 to 1, or right or wrong"
WORDS = {
    "right": 1.0, "correct": 1.0, "true": 1.0, "yes": 1.0, "pass": 1.0, "passed": 1.0,
    "wrong": 0.0, "incorrect": 0.0, "false": 0.0, "no": 0.0, "fail": 0.0, "failed": 0.0,
}  # fmt: skip
SHOWN = 60

_number = number_of(",")


def score_of(answer: Any) -> float:
    """Return the score that an answer says: a number from 0 to 1, or a word such as right, wrong, true, false.

    Parameters
    ----------
    answer : str, bool or number
        Of a text of several lines the last that is not empty counts.

    Raises
    ------
    ValueError
        If it says none, in one sentence.

    Examples
    --------
    >>> score_of("Loading the model ...\\nright"), score_of(0.25), score_of("0")
    (1.0, 0.25, 0.0)
    >>> score_of("42")
    Traceback (most recent call last):
    ...
    ValueError: expected a score from 0 to 1, or right or wrong, got '42'.
    """
    text = str(answer).strip()
    last = text.splitlines()[-1].strip() if text else ""
    found = WORDS.get(last.lower().rstrip(".!"))
    if found is None:
        found = _number(last)
    if found is None or not math.isfinite(found) or not 0 <= found <= 1:
        shown = last if len(last) <= SHOWN else f"{last[: SHOWN - 3]}..."
        raise ValueError(f"expected {EXPECTED}, got {shown!r}.")
    return float(found)


def scores_of(cells: Any) -> dict[str, float]:
    """Return what each of these texts says: NaN for a gap, None for what is no score.

    Parameters
    ----------
    cells : iterable of str
    """
    found: dict[str, Any] = {}
    for cell in set(cells):
        try:
            found[cell] = math.nan if cell.lower() in MISSING else score_of(cell)
        except ValueError:
            found[cell] = None
    return found
