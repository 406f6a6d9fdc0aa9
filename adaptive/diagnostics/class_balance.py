"""Which outcomes have come back so far, beside what share of the pool each is believed to be."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks
from adaptive import pool as pools

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign

__all__ = ["class_balance"]


def class_balance(design: SequentialDesign, *, every: int = 1) -> dict[str, list[Any]]:
    """Return the share of each outcome among the answers, along the run.

    Uncertain rows are rarely in proportion to the classes: where a class is rare, a design that asks for more of it is
    doing its work, and a sample that is asked by design does not estimate the share of a class.

    Parameters
    ----------
    design : SequentialDesign with discrete outcomes
    every : int, default 1
        Rows after each ``every``-th answer, and after the last.

    Returns
    -------
    dict of lists
        Columns n_labelled, outcome, count, share (among the answers so far), believed (share of the pool, by the mean
        of the estimator's present probabilities; nan where it states none), one entry per moment and outcome.

    Raises
    ------
    ValueError
        If ``every`` is no integer of at least 1, or the design has learnt no answer yet.

    Examples
    --------
    >>> from adaptive import BayesianLogisticRegression, SequentialDesign
    >>> design = SequentialDesign(BayesianLogisticRegression(), np.eye(4), initial=[0, 1, 2])
    >>> balance = class_balance(design.tell(design.ask(3), ["ham", "spam", "ham"]))
    >>> balance["outcome"][-2:], balance["count"][-2:]
    (['ham', 'spam'], [2, 1])
    """
    every = checks.integer("every", every, minimum=1)
    outcomes = design.history_["outcome"]
    if not outcomes:
        raise ValueError("the design has learnt no answer yet; there is nothing to show.")
    believed = _believed(design)
    known = sorted(set(outcomes) | set(believed), key=lambda one: (str(type(one)), one))
    table: dict[str, list[Any]] = {name: [] for name in ("n_labelled", "outcome", "count", "share", "believed")}
    counts: Counter[Any] = Counter()
    for n, outcome in enumerate(outcomes, start=1):
        counts[outcome] += 1
        if n % every and n < len(outcomes):
            continue
        for one in known:
            row = (n, one, counts[one], counts[one] / n, believed.get(one, 0.0 if believed else np.nan))
            for column, value in zip(table.values(), row, strict=True):
                column.append(value)
    return table


def _believed(design: SequentialDesign) -> dict[Any, float]:
    """Return the mean predictive probability of each outcome over the pool; empty where there is none."""
    if design.changing_pool or pools.length(design.pool) == 0:
        return {}
    predictive = design.estimator_.predictive(design.pool)
    if predictive.undecided or not predictive.provides("probabilities"):
        return {}
    shares = np.asarray(predictive.probabilities).mean(axis=0)
    return dict(zip(np.asarray(predictive.outcomes).tolist(), shares.tolist(), strict=True))
