"""What was asked and answered, one row per answer."""

from __future__ import annotations

from typing import Any

__all__ = ["COLUMNS", "to_frame"]

COLUMNS = ("step", "position", "label", "outcome", "score", "seconds")


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
