"""Memory: whether what is asked for fits, estimated before it is tried; and keeping what was freed for the next use."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from adaptive.types import DType

__all__ = ["keep_freed_memory", "memory_there", "require_memory"]


@cache
def keep_freed_memory() -> None:
    """Memory that was freed stays with this process: called before the first large arrays; further calls do nothing.

    The C library of Linux otherwise returns image-sized blocks to the system after every call and fetches them again
    page by page, which took three times as long as the transforms did (256 x 256, measured). Having freed one large
    block, never touched, it keeps what is smaller.
    """
    np.empty(31 * 2**20, np.uint8)


_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container


def memory_there() -> float:
    """Bytes of memory of this machine, or of the container around it; infinite where the system does not say."""
    found = math.inf
    with suppress(AttributeError, ValueError, OSError):
        found = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for limit in _LIMITS:
        with suppress(ValueError, OSError):  # "max": none
            found = min(found, float(Path(limit).read_text(encoding="ascii")))
    return found


def require_memory(name: str, shape: Sequence[int], dtype: DType, copies: int = 2) -> None:
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
