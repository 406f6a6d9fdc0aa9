"""A bar on a terminal for runs longer than two seconds; nothing anywhere else."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adaptive.loop.stopping import StoppingRule

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign

__all__ = ["fraction_done", "reporter"]

_PATIENCE = 2.0  # seconds


def fraction_done(design: SequentialDesign, done: int, steps: int | None) -> float:
    """Return how far a run is, between 0 and 1: by its steps or its stopping rule, whichever is further."""
    by_steps = done / steps if steps else 0.0
    rule = design.stop
    by_rule = rule.fraction_done(design) if isinstance(rule, StoppingRule) else 0.0
    return float(min(1.0, max(by_steps, by_rule)))


@contextmanager
def reporter(
    progress: bool | Callable[[float, Any], None], design: SequentialDesign, steps: int | None
) -> Iterator[Callable[[int], None]]:
    """Yield ``report(done)``, to be called after each step.

    Parameters
    ----------
    progress : bool or callable(fraction, design)
    design : SequentialDesign
    steps : int or None
    """
    if callable(progress):
        call = progress
        yield lambda done: call(fraction_done(design, done, steps), design)
        return
    if not progress:
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done: None
        return
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn(),
        console=console, transient=True,
    )  # fmt: skip
    task = bar.add_task("", total=1.0)
    start, shown = time.monotonic(), False

    def report(done: int) -> None:
        nonlocal shown
        if time.monotonic() - start < _PATIENCE:
            return
        if not shown:
            bar.start()
            shown = True
        text = f"{design.iteration} answers"
        bar.update(task, completed=fraction_done(design, done, steps), description=text)

    try:
        yield report
    finally:
        if shown:
            bar.stop()
