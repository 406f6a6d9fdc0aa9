"""Were outcomes as probable as the model said, along the run?

On labelled rows after every answer; or, with no labelled rows at hand, on the answers themselves: each was predicted
before it was learnt. What a model believes is conditional on what was asked, so that a right model is calibrated on
questions of its own choice too; that the questions are the hard ones shows in the expected accuracy, not in the gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError

from adaptive import checks
from adaptive import pool as pools
from adaptive.diagnostics.replayed import checkpoints, replayed
from adaptive.loop.metrics import binned_gap

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import ArrayLike, Estimator, Pool

__all__ = ["calibration"]

COLUMNS = ("n_labelled", "n_events", "expected_accuracy", "accuracy", "expected_log_loss", "log_loss", "gap")


def calibration(
    design: SequentialDesign, X: Pool | None = None, y: ArrayLike | None = None, *, every: int = 1
) -> dict[str, list[Any]]:
    """Return stated and observed accuracy and log loss along the run.

    Parameters
    ----------
    design : SequentialDesign over a fixed pool, with discrete outcomes
    X, y : pool of length m and its (m,) labels, optional
        Rows that the design does not ask for. Without them the answers are judged, each as it was predicted before it
        was learnt, all up to now together (left out where the label was not known to the estimator yet).
    every : int, default 1
        A row after each ``every``-th step, and after the last.

    Returns
    -------
    dict of lists
        n_labelled; n_events (labels judged); expected_accuracy and accuracy: the mean probability of the most probable
        label, and how often it was right; expected_log_loss and log_loss (nats): the mean entropy, and the mean of
        -log p(label); gap: mean distance of probabilities and frequencies over ten bins of all classes.

    Raises
    ------
    ValueError
        If outcomes are not discrete, or X and y do not fit.

    Examples
    --------
    >>> from adaptive import BayesianLogisticRegression, SequentialDesign
    >>> from adaptive.datasets import digits_pair
    >>> X, y = digits_pair(3, 5)
    >>> model = BayesianLogisticRegression(classes=[3, 5])
    >>> design = SequentialDesign(model, X[:60], lambda query: y[query.positions], random_state=0).run(10)
    >>> table = calibration(design, X[60:], y[60:], every=5)
    >>> table["n_labelled"], table["n_events"], table["accuracy"][-1] > 0.9
    ([5, 10], [305, 305], True)
    """
    every = checks.integer("every", every, minimum=1)
    if (X is None) != (y is None):
        raise ValueError("X and y come together: rows and their labels, or neither.")
    table: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    if X is not None:
        labels = np.asarray(y)
        checks.shape("y", labels, (pools.length(X),))
        for step in checkpoints(design, every):
            believed = _believed(step.estimator, X)
            if believed is not None:
                _add(table, step.n_labelled, believed, _happened(believed[1], labels))
        return table
    said: list[tuple[np.ndarray, np.ndarray]] = []  # of each answer: probabilities, and which outcome it was
    for number, step in enumerate(replayed(design, look_ahead=lambda model, rows, _: _believed(model, rows)), start=1):
        if step.before is not None:
            happened = _happened(step.before[1], np.asarray(step.outcomes))
            said.extend(pair for pair in zip(step.before[0], happened, strict=True) if pair[1].any())
        if said and (number % every == 0 or step.last):
            width = max(len(probabilities) for probabilities, _ in said)
            stated, happened = (np.stack([_padded(pair[k], width) for pair in said]) for k in (0, 1))
            _add(table, step.n_labelled, (stated, None), happened > 0)
    return table


def _believed(estimator: Estimator, X: Pool) -> tuple[np.ndarray, np.ndarray] | None:
    """Return probabilities (m, c) and outcomes (c,); None where nothing tells candidates apart yet."""
    try:
        predictive = estimator.predictive(X)
    except NotFittedError:
        return None
    if predictive.undecided:
        return None
    if not predictive.provides("probabilities"):
        raise ValueError(f"calibration needs discrete outcomes, which {type(estimator).__name__} does not predict.")
    return np.asarray(predictive.probabilities, dtype=float), np.asarray(predictive.outcomes)


def _happened(outcomes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return labels[:, None] == outcomes


def _padded(values: np.ndarray, width: int) -> np.ndarray:
    return np.pad(np.asarray(values, dtype=float), (0, width - len(values)))


def _add(table: dict[str, list[Any]], n: int, believed: tuple[np.ndarray, Any], happened: np.ndarray) -> None:
    p = believed[0]
    of_label = np.maximum((p * happened).sum(axis=1), np.finfo(float).eps)
    best = p.argmax(axis=1)
    entropies = -np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1.0)), 0.0), axis=1)
    right = happened[np.arange(len(p)), best]
    values = (
        n, len(p), p.max(axis=1).mean(), right.mean(), entropies.mean(), -np.log(of_label).mean(),
        binned_gap(p, happened),
    )  # fmt: skip
    for column, value in zip(table.values(), values, strict=True):
        column.append(value if isinstance(value, int) else float(value))
