"""Cells that hold a vector each: lists of numbers, as Parquet keeps them or as Python, NumPy and torch print them.

A column of them is one block of numbers in single precision, never a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

__all__ = ["block_of", "is_cut", "numbers_in", "printed", "shortened", "unequal"]

_PRINTED = re.compile(r"(?:(?:array|tensor)\()?\s*[\[(]([^\[\]()]*)[\])]\s*(?:,[^()\[\]]*)?\)?", re.DOTALL)
_SHOWN = 3  # numbers of a vector that a person sees


def numbers_in(cell: object) -> np.ndarray | None:
    """Return the numbers of a cell that is a sequence of them, NaN for None; of anything else None.

    Parameters
    ----------
    cell : object

    Returns
    -------
    (d,) array or None

    Examples
    --------
    >>> numbers_in([0.5, 2]).tolist(), numbers_in(["a", "b"]), numbers_in(0.5)
    ([0.5, 2.0], None, None)
    """
    if not isinstance(cell, (list, tuple, np.ndarray)) and not (hasattr(cell, "to_numpy") and hasattr(cell, "__len__")):
        return None
    try:
        array = np.asarray(cell)
    except (ValueError, TypeError):  # lists of lists of different lengths
        return None
    if array.ndim != 1:
        return None
    if array.dtype == object:
        entries = array.tolist()
        if not all(one is None or isinstance(one, (bool, int, float, Decimal)) for one in entries):
            return None
        try:
            return np.array([np.nan if one is None else float(one) for one in entries])
        except OverflowError:  # a whole number of hundreds of digits
            return None
    return array if array.dtype.kind in "fiub" else None


def printed(cell: str) -> np.ndarray | None:
    """Return the numbers of a printed vector, "[0.1, 0.2]", "[0.1 0.2]" or "tensor([0.1, 0.2])"; of other text None.

    Parameters
    ----------
    cell : str

    Returns
    -------
    (d,) array or None

    Examples
    --------
    >>> printed("[0.5, 2]").tolist(), printed("[ 1. -2.]").tolist(), printed("[sic] a text")
    ([0.5, 2.0], [1.0, -2.0], None)
    """
    cell = cell.strip()
    if not cell.startswith(("[", "(", "array(", "tensor(")):
        return None
    try:
        if cell.startswith("["):
            return numbers_in(json.loads(cell))
    except (ValueError, RecursionError):
        pass
    found = _PRINTED.fullmatch(cell)
    if found is None or "_" in cell:
        return None
    inside = found[1].strip()
    parts = inside.removesuffix(",").split("," if "," in inside else None)
    try:
        return np.array([float(part) for part in parts])
    except ValueError:
        return None


def is_cut(cell: str) -> bool:
    """Return whether this is a vector that was printed with numbers left out, "[0.1 0.2 ... 0.9]".

    Parameters
    ----------
    cell : str

    Returns
    -------
    bool

    Examples
    --------
    >>> is_cut("[0.1 0.2 ... 0.9]"), is_cut("[and so on ...]")
    (True, False)
    """
    return "..." in cell and printed(re.sub(r",?\s*\.\.\.", "", cell)) is not None


def shortened(cell: Any) -> str:
    """Return a sequence as text: the first numbers of a vector and how many there are, all entries of others.

    Parameters
    ----------
    cell : sequence

    Returns
    -------
    str

    Examples
    --------
    >>> shortened([0.5, 2.0]), shortened(range(300)), shortened(["red", "blue"])
    ('[0.5, 2]', '[0, 1, 2, ...] (300 numbers)', 'red, blue')
    """
    numbers = numbers_in(list(cell))
    if numbers is None:
        return ", ".join(map(str, cell))
    first = ", ".join(f"{one:.6g}" for one in numbers[:_SHOWN])
    return f"[{first}]" if len(numbers) <= _SHOWN else f"[{first}, ...] ({len(numbers)} numbers)"


def unequal(vectors: Sequence[np.ndarray | None]) -> tuple[int, np.ndarray]:
    """Return the length that most vectors have, and the positions of what is none of that length.

    Parameters
    ----------
    vectors : sequence of (d,) arrays, or None

    Returns
    -------
    int, (k,) array of positions

    Examples
    --------
    >>> unequal([np.zeros(2), None, np.zeros(2), np.zeros(3)])
    (2, array([1, 3]))
    """
    lengths = np.array([-1 if one is None else len(one) for one in vectors])
    known, counts = np.unique(lengths[lengths >= 0], return_counts=True)
    usual = int(known[np.argmax(counts)]) if len(known) else 0
    return usual, np.flatnonzero(lengths != usual)


def block_of(vectors: Sequence[np.ndarray | None], places: np.ndarray, n: int) -> np.ndarray:
    """Return vectors of one length as one block in single precision, NaN in rows that have none.

    Parameters
    ----------
    vectors : sequence of (d,) arrays
    places : (k,) array of int
        The row of each.
    n : int
        How many rows there are.

    Returns
    -------
    (n, d) float32 array

    Examples
    --------
    >>> block_of([np.array([1.0, 2.0])], np.array([1]), 2).tolist()
    [[nan, nan], [1.0, 2.0]]
    """
    block = np.full((n, len(vectors[0]) if len(vectors) else 0), np.nan, dtype=np.float32)  # type: ignore[arg-type]
    with np.errstate(over="ignore"):
        for place, one in zip(places.tolist(), vectors, strict=True):
            block[place] = one
    return block
