"""A bar on a terminal for runs longer than two seconds; nothing anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from adaptive.loop.stopping import StoppingRule
from adaptive.showing import bar

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign

__all__ = ["fraction_done", "reporter"]


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
    with bar() as show:
        yield lambda done: show(fraction_done(design, done, steps), f"{design.iteration} answers")
