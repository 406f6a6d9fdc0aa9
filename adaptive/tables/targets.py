"""The column of labels: which rows have one, which classes there are, and whether it is one of classes at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from adaptive.tables.cells import TableError

__all__ = ["class_labels", "refuse_continuous"]

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})([.,]0+)?")
MOST_CLASSES = 50


def class_labels(labels: Sequence[str]) -> np.ndarray:
    """Classes as integers where each is the print of one, also as pandas prints it beside gaps ("1.0"); else text.

    Parameters
    ----------
    labels : sequence of str

    Returns
    -------
    ndarray (n,), int64 or text

    Examples
    --------
    >>> class_labels(["1.0", "0.0"]).tolist(), class_labels(["1", "01"]).tolist()
    ([1, 0], ['1', '01'])
    """
    if labels and all(_WHOLE.fullmatch(label) for label in labels):
        return np.array([int(re.split("[.,]", label)[0]) for label in labels], dtype=np.int64)
    return np.array(labels)


def refuse_continuous(labels: Sequence[str], target: str, path: Path) -> None:
    """Refuse a target of many different numbers with a fractional part: what is measured there is no class.

    Parameters
    ----------
    labels : sequence of str
    target : str
        Name of the column, for the message.
    path : Path
        Of the table, for the message.

    Raises
    ------
    TableError
        If that is so.

    Examples
    --------
    >>> refuse_continuous(["yes", "no", "yes"], "label", Path("table.csv"))  # classes: nothing is said
    """
    different = set(labels)
    try:
        numbers = [float(label.replace(",", ".")) for label in different]
    except ValueError:
        return
    fractions = any(number % 1 for number in numbers)
    if len(different) > MOST_CLASSES or (fractions and len(different) > max(10, len(labels) // 10)):
        raise TableError(
            f"the target {target!r} of {path} looks continuous: {len(different)} different numbers in {len(labels)} "
            "rows; expected classes, so name another column, or cut it into classes first."
        )
