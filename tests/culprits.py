"""Several of a kind in one test: which of them failed stands below its message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["naming"]


@contextmanager
def naming(culprit: object) -> Iterator[None]:
    """What fails within says of whom."""
    try:
        yield
    except Exception as failure:
        failure.add_note(f"of {culprit}")
        raise
