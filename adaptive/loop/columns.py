"""Tables as columns: a dictionary of lists, one entry per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["columns_of", "to_frame"]


def columns_of(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """Return rows as columns of these names.

    Examples
    --------
    >>> columns_of(("step", "score"), [(1, 0.5), (2, 0.25)])
    {'step': [1, 2], 'score': [0.5, 0.25]}
    """
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def to_frame(columns: dict[str, list[Any]]) -> Any:
    """Return columns as a pandas DataFrame.

    Raises
    ------
    ImportError
        If pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise ImportError("to_frame needs pandas (pip install pandas); the plain columns are in history_.") from None
    # an outcome may be an array or a tuple: a series of objects takes whatever there is, one entry per row
    frame = {}
    for name, values in columns.items():
        nested = any(isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0 for value in values)
        frame[name] = pandas.Series(values, dtype=object) if nested else values
    return pandas.DataFrame(frame)
