"""Somebody outside who answers: a shell command or a Python function that is given a text.

An answer that does not come (the command fails, hangs, or prints what cannot be read) is asked for again, and then told
in one sentence; other answers are not touched by it.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import IO, Any, Generic, NamedTuple, TypeVar

from adaptive.cli.errors import CommandError

__all__ = ["Asked", "Outside", "OutsideError", "PythonFunction", "Reply", "ShellCommand"]

KEPT = 1 << 16  # bytes of what a command prints: the end of it
PATIENCE = 1.0  # seconds for what a command has left behind to close its output
SHOWN = 80  # letters in a message

Value = TypeVar("Value")


class OutsideError(ValueError):
    """Raised where there is no answer; the message is one sentence."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class Asked(NamedTuple):
    """A question to somebody outside: a text, and names such as ``{"item": "q17"}``."""

    text: str
    names: Mapping[str, str] = {}


class Reply(NamedTuple):
    """An answer from outside, or why there is none.

    Attributes
    ----------
    value : what was read, None where there is none
    printed : str
        The end of what was printed, or what a function returned.
    seconds : float
        Of the last attempt.
    problem : str or None
        Why there is no value, in one sentence.
    """

    value: Any
    printed: str
    seconds: float
    problem: str | None = None


class ShellCommand:
    """A shell command that gets a text on standard input and prints an answer.

    Names are in its environment: ``item`` is ``$ADAPTIVE_ITEM``. What it prints beyond the last 64 KiB is dropped, so
    that a command which never stops printing costs its time only.

    Parameters
    ----------
    command : str
        For the system's shell.
    timeout : float, optional
        Seconds after which it is ended, with all that it has started.

    Examples
    --------
    >>> ShellCommand("tr a-z A-Z")("hello")
    'HELLO'
    >>> ShellCommand("echo no such model >&2; exit 3")("hello")
    Traceback (most recent call last):
    ...
    adaptive.cli.outside.OutsideError: the command ended with code 3 (no such model).
    """

    def __init__(self, command: str, timeout: float | None = None) -> None:
        self.command, self.timeout = command, timeout
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock, self._stopped = threading.Lock(), False

    def __call__(self, text: str, **names: str) -> str:
        """Return what the command printed, without white space around it."""
        environment = os.environ | {f"ADAPTIVE_{name.upper()}": value for name, value in names.items()}
        with tempfile.TemporaryFile() as given:  # not a pipe: nobody has to read it
            given.write(text.encode())
            given.seek(0)
            with self._lock:
                if self._stopped:
                    raise OutsideError("the command was stopped.")
                process = subprocess.Popen(
                    self.command, shell=True, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    env=environment, start_new_session=True,
                )  # fmt: skip
                self._running.add(process)
        try:
            out, err = (_Tail(stream) for stream in (process.stdout, process.stderr))
            try:
                code = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                raise OutsideError(f"the command gave no answer within {self.timeout:g} seconds.") from None
            printed, told = out.text(), err.text()
        finally:
            if process.poll() is None:
                _end(process)
            with self._lock:
                self._running.discard(process)
        if code:
            last = told.splitlines()[-1] if told else ""
            raise OutsideError(f"the command ended with code {code}{f' ({_short(last)})' if last else ''}.")
        return printed

    def stop(self) -> None:
        """End all that runs, and start no more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _end(process)


class _Tail:
    """The end of a stream, read by a thread of its own."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        assert stream is not None
        self._stream, self._kept = stream, bytearray()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._stream, contextlib.suppress(OSError, ValueError):
            while part := os.read(self._stream.fileno(), KEPT):
                self._kept += part
                del self._kept[:-KEPT]

    def text(self) -> str:
        """Everything printed; of a stream that a child holds open, what there is."""
        self._thread.join(PATIENCE)
        return bytes(self._kept).decode(errors="replace").strip()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and what it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:  # Windows
            process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)


class PythonFunction:
    """A function ``package.module:function`` of the text; it is given those names that it has parameters for.

    It runs in threads of this process: what it waits for is its own matter, a timeout, too.

    Parameters
    ----------
    place : str

    Raises
    ------
    CommandError
        If there is no such function.

    Examples
    --------
    >>> PythonFunction("textwrap:dedent")("  hello")
    'hello'
    """

    def __init__(self, place: str) -> None:
        module, colon, name = place.partition(":")
        if not (module and colon and name):
            raise CommandError(f"a Python function is written package.module:function, got {place!r}.")
        if "" not in sys.path:
            sys.path.insert(0, "")  # as `python -m` has it: modules of the folder where one stands
        try:
            found: Any = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
        except Exception as problem:  # whatever a module does when it is imported
            raise CommandError(f"{place} cannot be imported: {type(problem).__name__}: {problem}.") from None
        if not callable(found):
            raise CommandError(f"{place} is no function.")
        self.place, self._function = place, found
        try:
            parameters = inspect.signature(found).parameters.values()
        except (TypeError, ValueError):
            parameters = {}.values()  # type: ignore[assignment]
        self._any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)
        self._named = {one.name for one in list(parameters)[1:]}

    def __call__(self, text: str, **names: str) -> Any:
        """Return what the function does."""
        wanted = {name: value for name, value in names.items() if self._any or name in self._named}
        try:
            return self._function(text, **wanted)
        except Exception as problem:  # a user's function may raise anything
            raise OutsideError(f"{self.place} raised {type(problem).__name__}: {_short(str(problem))}.") from None

    def stop(self) -> None:
        """Nothing can be done about a function that runs."""


@dataclass
class Outside(Generic[Value]):
    """Answers from outside, several at a time.

    Parameters
    ----------
    source : ShellCommand or PythonFunction
    read : callable(what was printed or returned) -> value
        Raises a ValueError of one sentence where that is no answer.
    attempts : int, default 2
        How often somebody is asked before there is no answer.
    jobs : int, default 1
        How many are asked at a time.

    Examples
    --------
    >>> outside = Outside(ShellCommand("wc -c"), int, jobs=2)
    >>> sorted((k, reply.value) for k, reply in outside.replies([Asked("one"), Asked("three")]))
    [(0, 3), (1, 5)]
    """

    source: ShellCommand | PythonFunction
    read: Callable[[Any], Value]
    attempts: int = 2
    jobs: int = 1
    _leave: threading.Event = field(default_factory=threading.Event)

    def reply(self, asked: Asked) -> Reply:
        """Ask until there is an answer, or often enough."""
        printed: Any = ""
        for attempt in range(self.attempts):
            start = time.perf_counter()
            try:
                printed = ""
                printed = self.source(asked.text, **asked.names)
                value = self.read(printed)
            except ValueError as problem:
                found = Reply(None, str(printed), time.perf_counter() - start, str(problem))
            else:
                return Reply(value, str(printed), time.perf_counter() - start)
            if self._leave.is_set() or attempt + 1 == self.attempts:
                break
        return found

    def replies(self, questions: Sequence[Asked]) -> Iterator[tuple[int, Reply]]:
        """Yield (number of the question, reply) as they come; where the caller leaves, all that runs is ended."""
        if self.jobs == 1 or len(questions) == 1:
            try:
                for k, one in enumerate(questions):
                    yield k, self.reply(one)
            except BaseException:
                self.stop()
                raise
            return
        pool = ThreadPoolExecutor(min(self.jobs, len(questions)))
        waiting = {pool.submit(self.reply, one): k for k, one in enumerate(questions)}
        try:
            while waiting:
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for ended in sorted(done, key=waiting.__getitem__):
                    yield waiting.pop(ended), ended.result()
        finally:
            if waiting:  # Ctrl-C, or somebody who has seen enough
                self.stop()
            pool.shutdown(wait=not waiting, cancel_futures=True)

    def stop(self) -> None:
        """End what runs."""
        self._leave.set()
        self.source.stop()


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
