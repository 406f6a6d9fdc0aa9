"""Whether what is asked for fits into the memory there is: estimated before it is tried."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["memory_there", "require_memory"]


def memory_there() -> float:
    """Bytes of memory of this machine; infinite where the system does not say."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return math.inf


def require_memory(name: str, shape: Sequence[int], dtype: Any, copies: int = 2) -> None:
    """Refuse, in one sentence, an array that does not fit.

    Parameters
    ----------
    name : str
        What it is called in the refusal.
    shape : sequence of int
    dtype : dtype
    copies : int, default 2
        How many arrays of that size there are at a time: what is stored, and what it is turned into.
    """
    needed = float(np.prod([float(side) for side in shape])) * np.dtype(dtype).itemsize * copies
    there = memory_there()
    if needed > there:
        raise ValueError(
            f"{name} is too large: an array of shape {tuple(int(side) for side in shape)} takes about "
            f"{needed / 1e9:.3g} GB to read, and there are {there / 1e9:.3g} GB of memory; read a part of it."
        )
