"""Heaps of HDF5 that the library would look through for ever.

    collection   "GCOL", 1, three zeros, its length (8 bytes); then objects
    object       index (2 bytes), references (2), four zeros, its length (8); of index 0 the free space at the end

The library goes from object to object by their lengths; where a bit that flipped made a free space of length 0, it
stays there, and no signal of Python reaches it. Such a file is damaged, and is not opened.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

__all__ = ["has_endless_heap"]

_MARK = b"GCOL\x01\x00\x00\x00"
_HEADER = 16  # bytes, of a collection and of an object
_LOOKED_THROUGH = 2**30  # bytes of a file; of larger ones the first so many


def has_endless_heap(path: Path) -> bool:
    """Return whether reading text or lists of this file would not end.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bool
    """
    if path.stat().st_size < _HEADER:
        return False
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        at = content.find(_MARK, 0, _LOOKED_THROUGH)
        while at >= 0:
            (length,) = struct.unpack_from("<Q", content, at + 8) if at + _HEADER <= len(content) else (0,)
            if _endless(content, at + _HEADER, min(at + length, len(content))):
                return True
            at = content.find(_MARK, at + _HEADER, _LOOKED_THROUGH)
    return False


def _endless(content: mmap.mmap, at: int, end: int) -> bool:
    while at + _HEADER <= end:
        index, length = struct.unpack_from("<HxxxxxxQ", content, at)
        if index == 0:
            if length < _HEADER:
                return True
            at += length
        else:
            at += _HEADER + (length + 7) // 8 * 8
    return False
