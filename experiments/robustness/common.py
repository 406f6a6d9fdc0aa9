"""Trying something that ought to be refused or to be right, and counting what came of it.

    right       it was taken, and what came out is what was given
    sentence    it was refused: an exception that a caller expects, one sentence, raised by this library on purpose
    traceback   any other exception, and one that some library below raised
    wrong       it was taken, and what came out is something else
    hang        it took longer than it may
    bloat       it took more memory than it may, whatever came of it

``python -m experiments.robustness.files`` tries files; calls and logs have a script each.
"""

from __future__ import annotations

import linecache
import multiprocessing
import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

__all__ = ["FAULTS", "KINDS", "Tried", "added", "apart", "counted", "one_table", "peak_bytes", "sentence", "tried"]

KINDS = ("right", "sentence", "traceback", "wrong", "hang", "bloat")
FAULTS = KINDS[2:]
OURS = ("/adaptive/", "/designs/")
EXAMPLES = 3  # of each fault, kept for people to look at


class _TimeOver(BaseException):
    """Raised in a call that takes too long; no ``except Exception`` holds it."""


@dataclass(frozen=True)
class Tried:
    """One thing that was tried.

    Attributes
    ----------
    kind : str
        Of `KINDS`.
    says : str
        The refusal, the exception, or what is wrong.
    seconds : float
    peak : int
        Bytes beside what the process held before, at most; 0 where the system does not say.
    warned : int
        Most warnings of one kind: one category, said at one place.
    """

    kind: str
    says: str = ""
    seconds: float = 0.0
    peak: int = 0
    warned: int = 0


def tried(
    call: Callable[[], Any], wrong: Callable[[Any], str] = lambda value: "", *,
    refusals: tuple[type[BaseException], ...] = (ValueError, TypeError, OSError, ImportError), seconds: float = 20.0,
    most: float = np.inf, also: Sequence[str] = (), raised_by: Sequence[str] = OURS,
) -> Tried:  # fmt: skip
    """Call, and say what came of it.

    Parameters
    ----------
    call : callable
    wrong : callable
        Of what the call returned: what is wrong with it, "" where nothing is.
    refusals : tuple of exception types
        What callers expect.
    seconds : float
        What takes longer hangs.
    most : float
        Bytes; what takes more is bloat.
    also : sequence of str
        Beginnings of sentences of other libraries that are as good as ours.
    raised_by : sequence of str
        Parts of the path of the files whose ``raise`` counts as on purpose.
    """
    begun = time.perf_counter()
    with warnings.catch_warnings(record=True) as said, peak_bytes() as peak:
        warnings.simplefilter("always")
        try:
            with _at_most(seconds):
                value = call()
                fault = wrong(value)
                found = Tried("wrong" if fault else "right", fault)
                del value
        except _TimeOver:
            found = Tried("hang", f"more than {seconds:g} s")
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            fault = sentence(error, refusals, also, raised_by)
            found = Tried("traceback" if fault else "sentence", f"{type(error).__name__}: {fault or error}")
    took = int(peak[0])
    if took > most and found.kind in ("right", "sentence"):
        found = replace(found, kind="bloat", says=f"{took / 1e6:.0f} MB where {most / 1e6:.0f} are allowed")
    places = Counter((one.category, one.filename, one.lineno) for one in said)
    return replace(
        found, seconds=time.perf_counter() - begun, peak=took, warned=max(places.values(), default=0)
    )  # fmt: skip


def sentence(
    error: BaseException, refusals: tuple[type[BaseException], ...], also: Sequence[str] = (),
    raised_by: Sequence[str] = OURS,
) -> str:  # fmt: skip
    """Say why a refusal is none in one sentence, raised on purpose; "" where it is."""
    text = str(error)
    if isinstance(error, SystemExit):
        return "" if error.code in (1, 2) else f"ends with {error.code!r}"
    if not isinstance(error, refusals):
        return f"{text[:200]} ({_where(error.__traceback__)})"
    if any(text.startswith(beginning) for beginning in also):
        return ""
    if "\n" in text.strip() or not text.strip():
        return f"not one sentence: {text[:200]!r}"
    if not _on_purpose(error.__traceback__, raised_by):
        return f"{text[:200]} ({_where(error.__traceback__)})"
    return ""


@contextmanager
def peak_bytes() -> Iterator[list[int]]:
    """Measure the bytes that a block takes at most beside what was there; 0 where the system does not say (Linux)."""
    found, status = [0], Path("/proc/self/status")
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = _resident(status, "VmRSS")
    except OSError:
        yield found
        return
    try:
        yield found
    finally:
        found[0] = max(_resident(status, "VmHWM") - before, 0)


def apart(one: Callable[[int], Tried], numbers: Sequence[int], seconds: float = 40.0) -> list[Tried]:
    """Call ``one`` with each number in a process beside this one, which is killed where nothing can interrupt it.

    Parameters
    ----------
    one : callable
        Of a number; it may hang in a library's own code, or take the process down.
    numbers : sequence of int
    seconds : float
        What answers nothing for so long hangs.
    """
    found: list[Tried] = []
    context = multiprocessing.get_context("fork")
    while len(found) < len(numbers):
        ours, theirs = context.Pipe(duplex=False)
        worker = context.Process(target=_answer, args=(one, numbers[len(found) :], theirs))
        worker.start()
        theirs.close()
        try:
            while len(found) < len(numbers):
                if not ours.poll(seconds):
                    found.append(Tried("hang", f"number {numbers[len(found)]}: nothing within {seconds:g} s"))
                    break
                found.append(ours.recv())
        except EOFError:
            found.append(Tried("traceback", f"number {numbers[len(found)]}: the process died"))
        worker.kill()
        worker.join()
        ours.close()
    return found


def _answer(one: Callable[[int], Tried], numbers: Sequence[int], pipe: Any) -> None:
    for number in numbers:
        pipe.send(one(number))


def counted(all_tried: Iterable[Tried]) -> dict[str, np.ndarray]:
    """Count what came of many, as arrays that a run can be kept as."""
    rows = list(all_tried)
    examples = [f"{kind}: {one.says}" for kind in FAULTS for one in [r for r in rows if r.kind == kind][:EXAMPLES]]
    return {
        **{kind: np.array(sum(one.kind == kind for one in rows)) for kind in KINDS},
        "spam": np.array(sum(one.warned > 1 for one in rows)),
        "seconds": np.array(max((one.seconds for one in rows), default=0.0)),
        "peak": np.array(max((one.peak for one in rows), default=0)),
        "examples": np.array(examples, dtype=str),
    }


def added(parts: Sequence[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Add what parts of one run counted."""
    return {
        **{name: np.array(sum(int(part[name]) for part in parts)) for name in (*KINDS, "spam")},
        **{name: np.array(max(part[name] for part in parts)) for name in ("seconds", "peak")},
        "examples": np.concatenate([part["examples"] for part in parts]),
    }


def one_table(found: dict[str, dict[str, np.ndarray]], subject: str) -> dict[str, list[Any]]:
    """Return the columns of a table with a row for each subject, and one for all."""
    rows = {**found, "all": added(list(found.values()))}
    columns: dict[str, list[Any]] = {subject: list(rows)}
    columns["tries"] = [sum(int(one[kind]) for kind in KINDS) for one in rows.values()]
    for name in (*KINDS, "spam"):
        columns[name] = [int(one[name]) for one in rows.values()]
    columns["longest_seconds"] = [round(float(one["seconds"]), 2) for one in rows.values()]
    columns["peak_megabytes"] = [round(float(one["peak"]) / 1e6, 1) for one in rows.values()]
    return columns


def _resident(status: Path, name: str) -> int:
    line = next(line for line in status.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def over(number: int, frame: object) -> None:
        raise _TimeOver

    former = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, former)


def _frames(trace: TracebackType | None) -> list[tuple[str, int]]:
    found = []
    while trace is not None:
        found.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    return found


def _on_purpose(trace: TracebackType | None, raised_by: Sequence[str]) -> bool:
    """Tell a ``raise`` of ours from an exception that some call below raised."""
    frames = _frames(trace)
    if not frames:
        return False
    file, line = frames[-1]
    return any(part in file for part in raised_by) and "raise " in linecache.getline(file, line)


def _where(trace: TracebackType | None) -> str:
    """Name the last place of ours that an exception came through."""
    ours = [(file, line) for file, line in _frames(trace) if any(part in file for part in OURS)]
    with suppress(IndexError):
        file, line = ours[-1]
        return f"{'/'.join(Path(file).parts[-3:])}:{line}"
    return "outside"
