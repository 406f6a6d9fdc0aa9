"""Blocks of candidates that keep the memory of (candidates x targets) tables bounded."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["blocks"]

_NUMBERS = 2**22  # 32 MiB of float64 per table


def blocks(m: int, width: int) -> Iterator[slice]:
    """Yield slices that cover range(m), each with at most 2^22 / width entries.

    Examples
    --------
    >>> list(blocks(5, 2**21))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, _NUMBERS // max(1, width))
    for start in range(0, m, step):
        yield slice(start, min(start + step, m))
