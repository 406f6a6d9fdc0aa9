"""A metric on labelled rows after every answer of one design."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError

from adaptive import checks
from adaptive import pool as pools
from adaptive.diagnostics.replayed import checkpoints
from adaptive.loop.metrics import METRICS, Metric

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import ArrayLike, Pool

__all__ = ["learning_curve"]


def learning_curve(
    design: SequentialDesign,
    X: Pool,
    y: ArrayLike,
    *,
    metric: str | Metric = "accuracy",
    every: int = 1,
) -> dict[str, list[Any]]:
    """Return what the design would have scored on labelled rows after every ``every``-th step.

    Parameters
    ----------
    design : SequentialDesign over a fixed pool
    X : pool of length m
        Rows that the design does not ask for.
    y : (m,) array-like
        Their labels.
    metric : str or callable(estimator, X, y) -> float, default "accuracy"
        A name in :data:`adaptive.loop.METRICS`.
    every : int, default 1

    Returns
    -------
    dict of lists
        Columns scorer, n_labelled, mean, lower, upper, as `plots.learning_curve` takes them; one run sets no limits, so
        that lower and upper are infinite. Of several runs see `compare_with_random`. It begins where the estimator can
        predict.

    Raises
    ------
    ValueError
        If ``y`` has another length than ``X``, ``every`` is no integer of at least 1, or ``metric`` is unknown.

    Examples
    --------
    >>> from adaptive import BayesianLogisticRegression, SequentialDesign
    >>> X = np.linspace(-1, 1, 40)[:, None]
    >>> y = X[:, 0] > 0.2
    >>> design = SequentialDesign(BayesianLogisticRegression(), X, lambda query: y[query.positions], random_state=0)
    >>> learning_curve(design.run(6), X, y, every=3)["n_labelled"]
    [3, 6]
    """
    y = np.asarray(y)
    checks.shape("y", y, (pools.length(X),))
    every = checks.integer("every", every, minimum=1)
    measure = metric if callable(metric) else METRICS[checks.choice("metric", metric, METRICS)]
    rows = []
    for step in checkpoints(design, every):
        try:
            rows.append((step.n_labelled, float(measure(step.estimator, X, y))))
        except NotFittedError:  # has seen one class only
            continue
    return {
        "scorer": [getattr(design.scorer, "__name__", design.scorer)] * len(rows),
        "n_labelled": [n for n, _ in rows],
        "mean": [value for _, value in rows],
        "lower": [-np.inf] * len(rows),
        "upper": [np.inf] * len(rows),
    }
