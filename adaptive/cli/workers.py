"""Calls spread over worker processes, with progress on a terminal and a clean end on Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import resource_tracker as multiprocessing_tracker
from typing import Any, TypeVar

import joblib
from joblib.externals.loky.backend import resource_tracker as loky_tracker

from adaptive.cli import progress
from adaptive.cli.errors import warnings_in_one_line

__all__ = ["n_workers", "spread", "stop_if_orphaned"]

Result = TypeVar("Result")


def n_workers(jobs: int, n_calls: int) -> int:
    """Return how many processes to use: ``jobs``, or as many as there are cores; never more than calls."""
    return max(1, min(jobs or joblib.cpu_count(), n_calls))


def spread(
    call: Callable[..., Result], tasks: Sequence[dict[str, Any]], *, jobs: int, title: str, unit: str = "runs"
) -> list[Result]:
    """Return ``[call(**task) for task in tasks]``, by ``jobs`` processes (0: one per core).

    Shows a bar on stderr if that is a terminal. What a worker raises is raised here; then, and on Ctrl-C, all workers
    are ended first.
    """
    workers = n_workers(jobs, len(tasks))
    parallel = joblib.Parallel(n_jobs=workers, return_as="generator_unordered")
    results: dict[int, Result] = {}
    with _bar(title, len(tasks), unit) as advance:
        try:
            numbered = (joblib.delayed(_numbered)(os.getpid(), k, call, task) for k, task in enumerate(tasks))
            with _held_back() if workers > 1 else contextlib.nullcontext():
                found = parallel(numbered)  # starts the workers
            for number, result in found:
                results[number] = result
                advance()
        except BaseException:
            if workers > 1:
                from joblib.externals.loky import get_reusable_executor

                get_reusable_executor().shutdown(wait=True, kill_workers=True)
            raise
    return [results[k] for k in range(len(tasks))]


def stop_if_orphaned(parent: int) -> None:
    """End a worker whose command was killed: another may continue the run already."""
    if parent not in (os.getpid(), os.getppid()):
        os._exit(1)


def _numbered(parent: int, number: int, call: Callable[..., Result], task: dict[str, Any]) -> tuple[int, Result]:
    if os.getpid() != parent:  # Ctrl-C reaches the whole process group: the command ends its workers itself
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with warnings_in_one_line():
            return number, call(**task)
    return number, call(**task)


@contextlib.contextmanager
def _held_back() -> Iterator[None]:
    """Hold Ctrl-C back: it comes at the end of the block, and never to processes that were started in it.

    A worker that Ctrl-C finds importing would write the lines where it stood over the one that says how to go on.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    for tracker in (multiprocessing_tracker, loky_tracker):
        tracker.ensure_running()  # on its start it lets signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _bar(title: str, total: int, unit: str) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(f"{unit},"))
    elapsed = TimeElapsedColumn()
    with progress.hushed(), Progress(*columns, elapsed, console=console, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)
