"""The search beside what one would have counted: results of the games so far that began with the same move.

Every game is predicted before it is learnt, by a search that learns them one after another again. Of games won or lost
the loss is - log P(result); where there are draws it is the square error of the mean. Flat Monte Carlo chooses by the
same means.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import diagnostics

__all__ = ["beside_frequencies", "most_won"]

UNTIL = 20  # games that are not judged
MOST = 500  # that are looked at, the first


def beside_frequencies(model: Any, nodes: list[tuple[Any, ...]], outcomes: list[Any]) -> dict[str, Any] | None:
    """Return how the games were predicted before they were played on.

    Parameters
    ----------
    model : GameTreeSearch, unfitted
    nodes, outcomes : lists
        The games, in order: where each began, and (result, length).
    """
    signs = model.results == "sign"
    ours: list[float] = []
    theirs: list[float] = []
    seen: dict[Any, list[float]] = {}
    every: list[float] = []
    for node, outcome in list(zip(nodes, outcomes, strict=True))[:MOST]:
        first, result = node[:1], float(outcome[0])
        if len(every) >= UNTIL and first:
            overall = sum(every) / (len(every) + 1)
            before = seen.get(first, [])
            mean = (sum(before) + overall) / (len(before) + 1)  # one game more about the mean of all
            if signs:
                ours.append(-float(model.log_predictive([node], [outcome])[0]))
                theirs.append(-float(np.log(0.5 * (1.0 + result * mean))))
            else:
                ours.append((float(model.predict_score([node])[0]) - result) ** 2)
                theirs.append((mean - result) ** 2)
        every.append(result)
        seen.setdefault(first, []).append(result)
        model.partial_fit([node], [outcome])
    return diagnostics.beside(
        {"log_loss" if signs else "square_error": (ours, theirs)}, "counting results of each first move", of="games"
    )


def most_won(game: Any, nodes: list[tuple[Any, ...]], outcomes: list[Any]) -> Any:
    """Return the first move whose games ended best for whoever moves, as flat Monte Carlo does; None of none."""
    results: dict[Any, list[float]] = {}
    for node, outcome in zip(nodes, outcomes, strict=True):
        if node:
            results.setdefault(node[0], []).append(float(outcome[0]))
    sign = game.player(game.start)
    return max(results, key=lambda move: sign * float(np.mean(results[move])), default=None)
