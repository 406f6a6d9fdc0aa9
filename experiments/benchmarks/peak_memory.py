"""What a call needs at once, by what Python allocates."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

__all__ = ["peak_memory"]


def peak_memory(call: Callable[[], Any]) -> float:
    """Return the bytes that a call has allocated at its peak, beside what was there before."""
    tracemalloc.start()
    call()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(found)
