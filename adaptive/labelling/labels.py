"""Labels of answers in the type that the estimator knows: those of its classes, else of earlier answers.

declared classes  >  the labels learnt so far  >  numbers, where all are  >  text as it stands
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.labelling.answers import Answer
from adaptive.labelling.naming import doubts, folded, meant, number_in

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign

__all__ = ["typed"]


def typed(
    answers: Sequence[Answer], design: SequentialDesign, classes: Sequence[Any] | np.ndarray | None = None
) -> list[Answer]:
    """Return the answers with the outcomes that a design takes; skipped ones as they are.

    Raises
    ------
    ValueError
        If a label is none of the classes, or no number where the earlier answers are numbers.
    """
    declared = classes if classes is not None else getattr(design.estimator_, "classes", None)
    if declared is not None:
        known = [_item(label) for label in declared]
        return [one if one.skipped else one._replace(outcome=_declared(one, known)) for one in answers]
    before = list(dict.fromkeys(one for one in design.history_["outcome"] if isinstance(one, (str, bool, int, float))))
    numeric = all(_number(one) is not None and not isinstance(one, str) for one in before) and (
        bool(before) or all(_number(one.outcome) is not None for one in answers if not one.skipped)
    )
    found = [one if one.skipped else one._replace(outcome=_undeclared(one, before, numeric)) for one in answers]
    _warn_of_twins([*before, *(one.outcome for one in found if not one.skipped)])
    return found


def _declared(answer: Answer, known: list[Any]) -> Any:
    places = meant(str(_item(answer.outcome)), known)
    if len(places) == 1:
        return known[places[0]]
    said = doubts(str(_item(answer.outcome)), known, places)
    raise ValueError(
        f"{answer.where}: the label {_item(answer.outcome)!r} is unknown; the known classes are {known}: {said}."
    )


def _undeclared(answer: Answer, before: list[Any], numeric: bool) -> Any:
    outcome = _item(answer.outcome)
    same = [label for label in before if str(label) == str(outcome)]
    if same:
        return same[0]
    if not numeric:
        return str(outcome)
    number = _number(outcome)
    if number is None:
        raise ValueError(f"{answer.where}: {answer.outcome!r} is not a finite number, as earlier answers are.")
    return number


def _warn_of_twins(labels: list[Any]) -> None:
    """Say that two labels differ in their case alone; they may well be two."""
    seen: dict[str, str] = {}
    for label in dict.fromkeys(one for one in labels if isinstance(one, str)):
        other = seen.setdefault(folded(label), label)
        if other != label:
            warnings.warn(
                f"the answers {other!r} and {label!r} differ only in case or blanks and count as two labels; give "
                "classes to have them compared.",
                UserWarning,
                stacklevel=4,
            )
            return


def _number(value: object) -> int | float | None:
    """Return a finite number or the number that a text is the usual print of; else None."""
    if isinstance(value, str):
        return number_in(value)
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        return None
    return _item(value) if math.isfinite(value) else None


def _item(value: object) -> Any:
    return value.item() if isinstance(value, np.generic) else value
