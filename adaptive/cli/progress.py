"""Progress of any command, on a terminal: a line within two seconds, and further ones at longer and longer intervals.

    adaptive: at work for 2 s: learning 469 comparisons

Commands say what they do with ``job.doing``. Where a person is asked, or a bar is shown, there are no lines.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import IO, Self

__all__ = ["Progress", "hushed", "say"]

FIRST, FACTOR, LONGEST = 1.5, 2.5, 60.0  # seconds: the first line, how the gaps grow, and to what
_shown: list[Progress] = []  # the command at work, the innermost last


class Progress:
    """Lines about a command, from entering to leaving.

    Parameters
    ----------
    stream : text stream, optional
        Default stderr, if that is a terminal; a log, or a program that reads it, gets no lines.
    first : float, default 1.5
        Seconds until the first line.
    """

    def __init__(self, stream: IO[str] | None = None, first: float = FIRST) -> None:
        self.stream = stream or (sys.stderr if sys.stderr.isatty() else None)
        self.doing: Callable[[], str] = lambda: "reading"
        self.hushed = 0
        self._first, self._begun, self._over = first, time.monotonic(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        _shown.append(self)
        if self.stream is not None:
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        _shown.remove(self)
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        if hasattr(signal, "pthread_sigmask"):  # Ctrl-C is the main thread's, which may hold it back
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        gap = self._first
        while not self._over.wait(gap):
            gap = min(gap * FACTOR, LONGEST)
            if not self.hushed and self.stream is not None:
                seconds = time.monotonic() - self._begun
                print(f"adaptive: at work for {seconds:.0f} s: {self.doing()}", file=self.stream, flush=True)


def say(doing: Callable[[], str]) -> None:
    """Have the lines of the command at work say what ``doing()`` returns."""
    if _shown:
        _shown[-1].doing = doing


@contextmanager
def hushed() -> Iterator[None]:
    """Write no lines meanwhile: a person is asked something, or sees a bar."""
    at_work = _shown[-1:]
    for one in at_work:
        one.hushed += 1
    try:
        yield
    finally:
        for one in at_work:
            one.hushed -= 1
