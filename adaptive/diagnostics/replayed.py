"""The same answers in the same order, learnt again: what the estimator knew after each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool as pools
from adaptive.loop.query import as_outcomes

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import Estimator

__all__ = ["Step", "checkpoints", "replayed"]


@dataclass(frozen=True)
class Step:
    """One learnt answer (or batch of answers).

    Attributes
    ----------
    n_labelled : int
        Answers learnt, this one included.
    last : bool
        Whether the design has learnt no more.
    positions : (k,) array of int
    outcomes : array or list of length k
    before, estimator : the estimator before and after; ``before`` is None where it was not asked for.
    """

    n_labelled: int
    last: bool
    positions: np.ndarray
    outcomes: np.ndarray | list[Any]
    before: Any
    estimator: Estimator


def replayed(
    design: SequentialDesign, *, look_ahead: Callable[[Estimator, Any, np.ndarray | list[Any]], Any] | None = None
) -> Iterator[Step]:
    """Yield the steps of a design, with the estimator after each.

    Parameters
    ----------
    design : SequentialDesign over a fixed pool
    look_ahead : callable(estimator, candidates, outcomes) -> anything, optional
        Called before a step is learnt; what it returns is the step's ``before``.
    """
    if design.changing_pool:
        raise ValueError("diagnostics replay answers by position, but the design's pool is a callable.")
    history = design.history_
    if not history["step"]:
        raise ValueError("the design has learnt no answer yet; there is nothing to show.")
    steps, positions = np.array(history["step"]), np.array(history["position"])
    estimator, pool = design.start_, design.pool
    for number in np.unique(steps):
        rows = np.flatnonzero(steps == number)
        candidates = pools.take(pool, positions[rows])
        outcomes = as_outcomes([history["outcome"][row] for row in rows], len(rows))
        before = None if look_ahead is None else look_ahead(estimator, candidates, outcomes)
        estimator.partial_fit(candidates, outcomes)
        yield Step(int(rows[-1]) + 1, rows[-1] + 1 == len(steps), positions[rows], outcomes, before, estimator)


def checkpoints(design: SequentialDesign, every: int) -> Iterator[Step]:
    """Yield every ``every``-th step and the last."""
    for number, step in enumerate(replayed(design), start=1):
        if number % every == 0 or step.last:
            yield step
