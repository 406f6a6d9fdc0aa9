"""Refusals of a page, with the status that says so; nothing has changed then."""

from __future__ import annotations

__all__ = ["Refused"]


class Refused(Exception):
    """A request that is not taken.

    Parameters
    ----------
    status : int
        4xx.
    message : str
        One sentence for the person.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message
