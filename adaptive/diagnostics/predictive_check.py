"""Surprise of each answer of a design under what was believed before it was fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adaptive.diagnostics.replayed import replayed
from adaptive.loop.predictive_check import overall_probability, tail_probabilities
from adaptive.loop.seeds import Purpose

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign

__all__ = ["predictive_check"]


def predictive_check(design: SequentialDesign) -> dict[str, list[Any]]:
    """Return how probable answers at least as surprising were, one by one and all up to then together.

    Parameters
    ----------
    design : SequentialDesign over a fixed pool
        Its answers are fitted again, on a copy.

    Returns
    -------
    dict of lists
        Columns n_labelled, position, outcome, probability, overall; one row per answer. See
        :class:`adaptive.loop.PredictiveCheck`, which says the same while a design runs.

    Examples
    --------
    >>> import numpy as np
    >>> from adaptive import BayesianLogisticRegression, SequentialDesign
    >>> model = BayesianLogisticRegression(classes=[0, 1], prior_scale=1.0)
    >>> design = SequentialDesign(model, np.eye(3), lambda q: [1], random_state=0).run(3)
    >>> [round(p, 2) for p in predictive_check(design)["probability"]]
    [1.0, 1.0, 1.0]
    """
    table: dict[str, list[Any]] = {name: [] for name in ("n_labelled", "position", "outcome", "probability", "overall")}
    seed = design.seed(Purpose.PREDICTIVE_CHECK, 0)
    for step in replayed(design, look_ahead=lambda model, rows, y: tail_probabilities(model, rows, y, seed)):
        first = step.n_labelled - len(step.positions)
        for k, p in enumerate(step.before):
            said = [*table["probability"], p]
            outcome = design.history_["outcome"][first + k]
            row = first + k + 1, int(step.positions[k]), outcome, p, overall_probability(said)
            for column, value in zip(table.values(), row, strict=True):
                column.append(value)
    return table
