"""From the answers of several runs to a learning curve: what was learnt after 1, 2, ... answers, averaged over seeds.

band        = mean +- t(0.975, n - 1) sd / sqrt(n) over the n seeds, cut off at 0 and 1; none for one seed
difference  = the same interval of (scorer - random), paired by seed: both start from the same split and questions
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adaptive.loop.comparison import interval

__all__ = ["answers_to_match", "learning_curve", "summary"]


def learning_curve(accuracies: Mapping[str, np.ndarray]) -> dict[str, list[Any]]:
    """Return the columns scorer, n_labelled, mean, lower, upper.

    Parameters
    ----------
    accuracies : dict name -> (n_seeds, n_answers) array
        Accuracy after 1, 2, ... answers.
    """
    columns: dict[str, list[Any]] = {name: [] for name in ("scorer", "n_labelled", "mean", "lower", "upper")}
    for scorer, values in accuracies.items():
        mean, lower, upper = interval(values)
        columns["scorer"] += [scorer] * values.shape[1]
        columns["n_labelled"] += range(1, values.shape[1] + 1)
        columns["mean"] += mean.tolist()
        columns["lower"] += [_limit(end, 0.0, 1.0) for end in lower]
        columns["upper"] += [_limit(end, 0.0, 1.0) for end in upper]
    return columns


def answers_to_match(values: np.ndarray, reference: np.ndarray) -> int | None:
    """Return after how many answers the mean accuracy first reaches the last one of ``reference``; None if never."""
    reached = np.flatnonzero(values.mean(axis=0) >= reference.mean(axis=0)[-1])
    return int(reached[0]) + 1 if reached.size else None


def summary(accuracies: Mapping[str, np.ndarray]) -> dict[str, dict[str, Any]]:
    """Return for each scorer its accuracy at the end and over the whole run, and how it compares with "random"."""
    result: dict[str, dict[str, Any]] = {}
    for scorer, values in accuracies.items():
        result[scorer] = {
            "accuracy_at_end": _triple(values[:, -1], 0.0, 1.0),
            "accuracy_over_run": _triple(values.mean(axis=1), 0.0, 1.0),
        }
        if scorer != "random" and "random" in accuracies:
            random = accuracies["random"]
            result[scorer] |= {
                "above_random_at_end": _triple(values[:, -1] - random[:, -1]),
                "above_random_over_run": _triple((values - random).mean(axis=1)),
                "answers_to_match_random": answers_to_match(values, random),
            }
    return result


def _triple(values: np.ndarray, least: float = -1.0, most: float = 1.0) -> dict[str, float | None]:
    ends = (_limit(float(end), least, most) for end in interval(values))
    return dict(zip(("mean", "lower", "upper"), ends, strict=True))


def _limit(end: float, least: float, most: float) -> float | None:
    """A limit cut off at what is possible; None where one seed sets none."""
    return float(np.clip(end, least, most)) if np.isfinite(end) else None
