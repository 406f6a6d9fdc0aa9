"""Loops of thirty answers: one by one, in batches, while others wait, about a target; the scorer changes at every turn.

A turn asks, answers what is due, and checks what the loop then believes. The scorers of a case take turns, so that one
loop meets all or most of them, at different states; loops in other clothes begin with another one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from adaptive import SequentialDesign, pool
from adaptive.predictive import Predictive
from tests.contract.case import Case
from tests.culprits import naming

__all__ = ["CLOTHES", "TURNS", "believed", "dressed", "numbers", "run"]

#: Candidates asked at a turn, how many queries may wait after it, and whether the score is about the case's target.
TURNS = [
    (1, 0, False), (1, 0, False), (1, 0, True), (5, 0, False), (1, 1, False), (1, 1, False), (1, 0, True),
    (5, 0, True), (1, 2, False), (1, 2, False), (1, 2, True), (5, 0, False), (1, 0, False), (5, 0, False),
]  # fmt: skip

#: What rows may come in.
CLOTHES: dict[str, Callable[[np.ndarray], Any]] = {
    "float64": lambda rows: rows,
    "float32": lambda rows: rows.astype(np.float32),
    "frame": lambda rows: pd.DataFrame(rows, columns=[f"x{k}" for k in range(rows.shape[1])]),
    "sparse": sp.csr_array,
}


def dressed(rows: Any, clothes: str) -> Any:
    """The rows in other clothes; what is no table of rows as it is."""
    return CLOTHES[clothes](rows) if isinstance(rows, np.ndarray) and rows.ndim == 2 else rows


def bare(rows: Any) -> Any:
    """What the case's own ``measure`` takes."""
    if sp.issparse(rows):
        return rows.toarray()
    return rows.to_numpy() if isinstance(rows, pd.DataFrame) else rows


def run(
    case: Case, estimator: Any, clothes: str = "float64", first: int = 0, turns: Sequence[Any] = TURNS,
    names: Sequence[str] | None = None,
) -> SequentialDesign:  # fmt: skip
    """Ask and answer as the turns say, as long as candidates are left, the scorers in turn from number ``first`` on."""
    names = case.scorers if names is None else names
    candidates, target = dressed(case.candidates, clothes), dressed(case.target, clothes)
    design = SequentialDesign(
        estimator, candidates, repeat=not case.once, exploration=0.0, joint=case.given is not None, random_state=1
    )
    waiting: list[Any] = []
    for number, (n, kept, aims) in enumerate(turns):
        name = names[(first + number) % len(names)]
        design.scorer, design.target = name, target if aims else dressed(case.about(name), clothes)
        with naming(f"{name}, turn {number}, {clothes}"):
            n = min(n, pool.length(candidates) - len(design.excluded()))
            if not n:
                break
            query = design.ask(n, another=bool(waiting))
            assert len(query) == n == len(set(query.positions))
            scores = np.asarray(query.scores, dtype=float)
            undecided = design.estimator_.predictive(pool.take(candidates, [0])).undecided
            assert undecided or (np.isfinite(scores).all() and scores.min() >= -1e-9)
            waiting.append(query)
            while len(waiting) > kept:
                answered = waiting.pop(0)
                design.tell(answered, case.measure(bare(answered.candidates)))
    for answered in waiting:
        design.tell(answered, case.measure(bare(answered.candidates)))
    return design


def believed(design: SequentialDesign, case: Case) -> np.ndarray:
    """The numbers that the design's last predictive states."""
    return numbers(design.estimator_.predictive(design.pool, random_state=1))


def numbers(predictive: Predictive) -> np.ndarray:
    """What tells one belief from another, a row per candidate; of one that is undecided nothing."""
    if predictive.undecided:
        return np.zeros((len(predictive), 0))
    if predictive.provides("probabilities"):
        return np.asarray(predictive.probabilities)
    if predictive.provides("mean"):
        return np.column_stack([predictive.mean, predictive.variance])
    return 0.5 * predictive.log_determinant()[0][:, None]
