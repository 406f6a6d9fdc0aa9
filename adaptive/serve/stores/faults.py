"""Faults of a store: on opening, and while it is used."""

from __future__ import annotations

__all__ = ["StoreError", "StoreFault"]


class StoreError(ValueError):
    """A store that cannot be opened; the message says why in one sentence."""


class StoreFault(OSError):
    """The store could not be read or written just now; nothing of what was to be written is kept.

    Attributes
    ----------
    conflict : bool
        Whether a row was there already that may be there once only.
    """

    def __init__(self, number: int, message: str, *, conflict: bool = False) -> None:
        super().__init__(number, message)
        self.conflict = conflict
