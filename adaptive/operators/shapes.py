"""Small things that operators share: the shapes users give, and arrays as compiled loops want them."""

from __future__ import annotations

import numpy as np

__all__ = ["image_shape", "plain"]


def image_shape(name: str, value: object) -> tuple[int, ...]:
    """Return ``value`` as a tuple of positive integers.

    Examples
    --------
    >>> image_shape("shape", 4)
    (4,)
    """
    items = value if isinstance(value, (tuple, list, np.ndarray)) else (value,)
    good = len(items) > 0 and all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) and k > 0 for k in items)
    if not good:
        raise ValueError(f"{name} must be a positive integer or a tuple of positive integers, got {value!r}.")
    return tuple(int(k) for k in items)


def plain(array: np.ndarray) -> np.ndarray:
    """Return ``array``, or a copy, C-contiguous and writeable: one type for compiled loops."""
    return array if array.flags.c_contiguous and array.flags.writeable else np.array(array, order="C")
