"""Faults of files: bits that flipped, what was cut off, doubled, lost or overwritten, and numbers that cannot be."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

__all__ = ["mutated"]

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_WORDS = (
    b"",
    b"nan",
    b"NA",
    b"inf",
    b"-1",
    b"1e999",
    b"9" * 20,
    b"0",
    b'"',
    b"[",
    b"[1, 2]",
    b"\xe4",
    b"=1+1",
    b"\x00",
)


def mutated(content: bytes, rng: np.random.Generator, text: bool) -> bytes:
    """Return the content with one fault, drawn; of text half of the faults are words in the place of numbers.

    Parameters
    ----------
    content : bytes
    rng : Generator
    text : bool
    """
    if text and rng.random() < 0.5:
        return _another_word(content, rng)
    fault = _FAULTS[int(rng.integers(len(_FAULTS)))]
    return fault(content, rng)


def _another_word(content: bytes, rng: np.random.Generator) -> bytes:
    found = list(_NUMBER.finditer(content))
    if not found:
        return _flipped(content, rng)
    one = found[int(rng.integers(len(found)))]
    return content[: one.start()] + _WORDS[int(rng.integers(len(_WORDS)))] + content[one.end() :]


def _span(content: bytes, rng: np.random.Generator, most: int = 512) -> tuple[int, int]:
    start = int(rng.integers(max(len(content), 1)))
    return start, min(start + 1 + int(rng.integers(most)), len(content))


def _flipped(content: bytes, rng: np.random.Generator) -> bytes:
    """A bit, early in the file as often as anywhere: there the headers are."""
    most = min(len(content), 600) if rng.random() < 0.5 else len(content)
    at, bit = int(rng.integers(max(most, 1))), int(rng.integers(8))
    return content[:at] + bytes([content[at] ^ (1 << bit)]) + content[at + 1 :] if content else b"\x01"


def _several(content: bytes, rng: np.random.Generator) -> bytes:
    for _ in range(8):
        content = _flipped(content, rng)
    return content


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(max(len(content), 1)))]


def _zeroed(content: bytes, rng: np.random.Generator) -> bytes:
    start, stop = _span(content, rng)
    return content[:start] + bytes(stop - start) + content[stop:]


def _noise(content: bytes, rng: np.random.Generator) -> bytes:
    start, stop = _span(content, rng, 32)
    return content[:start] + rng.bytes(stop - start) + content[stop:]


def _lost(content: bytes, rng: np.random.Generator) -> bytes:
    start, stop = _span(content, rng)
    return content[:start] + content[stop:]


def _doubled(content: bytes, rng: np.random.Generator) -> bytes:
    start, stop = _span(content, rng)
    return content[:stop] + content[start:]


def _exchanged(content: bytes, rng: np.random.Generator) -> bytes:
    (a, b), (c, d) = sorted((_span(content, rng), _span(content, rng)))
    return content if c < b else content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]


def _more(content: bytes, rng: np.random.Generator) -> bytes:
    return content + rng.bytes(1 + int(rng.integers(64)))


_FAULTS: tuple[Callable[[bytes, np.random.Generator], bytes], ...] = (
    _flipped, _flipped, _several, _cut, _zeroed, _noise, _lost, _doubled, _exchanged, _more,
)  # fmt: skip
