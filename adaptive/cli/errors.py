"""Errors of a command that cannot go on: one line on stderr and an exit code."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["CommandError", "warnings_in_one_line"]


class CommandError(Exception):
    """A problem that the user can mend; the message is one clear sentence.

    Parameters
    ----------
    message : str
    exit_code : int, default 2
        2 for bad input, 1 for a machine that fails (a full disk).
    """

    def __init__(self, message: str, exit_code: int = 2):
        super().__init__(" ".join(message.split()))
        self.exit_code = exit_code


@contextmanager
def warnings_in_one_line() -> Iterator[None]:
    """Show each warning once, as a line of the command, without the place in the library that it comes from."""
    seen: set[str] = set()

    def show(message: Warning | str, *where: Any, **more: Any) -> None:
        text = " ".join(str(message).split())
        if text not in seen:
            seen.add(text)
            print(f"adaptive: warning: {text}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield
