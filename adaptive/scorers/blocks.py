"""Blocks of candidates that keep the memory of (candidates x targets) tables bounded."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["blocks"]


def blocks(m: int, width: int, numbers: int = 2**22) -> Iterator[slice]:
    """Yield slices that cover range(m), each with at most ``numbers / width`` entries (32 MiB of float64 by default).

    Examples
    --------
    >>> list(blocks(5, 10, numbers=20))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, numbers // max(1, width))
    for start in range(0, m, step):
        yield slice(start, min(start + step, m))
