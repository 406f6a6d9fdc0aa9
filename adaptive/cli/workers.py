"""Calls spread over worker processes, with progress on a terminal and a clean end on Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import joblib

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
            for number, result in parallel(numbered):
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
    return number, call(**task)


@contextlib.contextmanager
def _bar(title: str, total: int, unit: str) -> Iterator[Callable[[], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(f"{unit},"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)
