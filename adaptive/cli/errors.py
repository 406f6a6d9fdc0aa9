"""What a command says when it cannot go on: one line on stderr and an exit code."""

from __future__ import annotations

__all__ = ["CommandError"]


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
