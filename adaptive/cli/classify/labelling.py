"""One simulated labelling run: a scorer asks for labels of pool rows one by one, held-out rows say what was learnt.

What a run reports follows from its questions and answers alone: the accuracies are those of a model that learns them
one by one. Those of answers that were logged before a resume are computed again, so that a run that was stopped reports
what an uninterrupted one does, to the last bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from adaptive.cli.classify.table import Table
from adaptive.cli.job import design_in
from adaptive.cli.label.classifier import classifier_of
from adaptive.cli.workers import stop_if_orphaned
from adaptive.diagnostics.beside_rival import judged_labels
from adaptive.diagnostics.rivals import Logistic
from adaptive.estimators import BayesianLogisticRegression
from adaptive.loop import SequentialDesign

__all__ = ["HELD_OUT", "Run", "Split", "ask_questions", "log_file", "split"]

HELD_OUT = 0.3  # share of the rows on which accuracy is measured


class Split(NamedTuple):
    """Rows of the data (positions from 0) that may be asked, and those that are held out."""

    pool: np.ndarray
    held_out: np.ndarray


class Run(NamedTuple):
    """One run, one entry per answer; ``warnings`` are the distinct messages that came up.

    ``judged`` holds of every held-out row, after the last answer, the log loss of the model, whether it was right, and
    the same of scikit-learn's LogisticRegressionCV by the same labels.
    """

    seed: int
    scorer: str
    position: np.ndarray
    label: np.ndarray
    outcome: list[Any]
    score: np.ndarray
    accuracy: np.ndarray
    n_features: int
    judged: np.ndarray
    warnings: list[str]


def split(y: np.ndarray, seed: int) -> Split:
    """Split the rows at random, with every class in the same proportion on both sides.

    Examples
    --------
    >>> parts = split(np.array([3, 5] * 10), seed=0)
    >>> len(parts.pool), len(parts.held_out)
    (14, 6)
    """
    from sklearn.model_selection import train_test_split

    rows = np.arange(len(y))
    pool, held_out = train_test_split(rows, test_size=HELD_OUT, stratify=y, random_state=seed)
    return Split(np.sort(pool), np.sort(held_out))


def log_file(folder: Path, scorer: str, seed: int) -> Path:
    """Return where the log of a run lies."""
    return folder / f"{scorer}-seed{seed}.jsonl"


def ask_questions(
    table: Table,
    scorer: str,
    seed: int,
    *,
    exploration: float,
    questions: int,
    initial: int,
    log: Path,
    parent: int,
) -> Run:
    """Ask ``questions`` rows, the first ``initial`` at random, going on from ``log`` where it exists.

    Parameters
    ----------
    table : Table
        Its features are prepared by what the rows of the pool show.
    scorer : str
    seed : int
        Of the split and the random choices; the initial questions are the same for every scorer.
    exploration : float
        Share of the questions drawn at random; none where all are.
    questions, initial : int
    log : path
        The event log of this run.
    parent : int
        Process id of the command; a worker that has lost it stops.
    """
    y = table.y
    parts = split(y, seed)
    X = table.X(parts.pool)
    pool, labels, held_out = X[parts.pool], y[parts.pool], (X[parts.held_out], y[parts.held_out])
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = classifier_of(np.unique(y).tolist(), pool if table.of_texts else None)
        accuracy: list[float] = []
        with _design(model, pool, scorer, seed, exploration, initial, log) as design:
            if design.iteration:
                accuracy += _relearn(model, pool, labels, design.history_["position"], *held_out)
            while design.iteration < questions:
                stop_if_orphaned(parent)
                query = design.ask()
                design.tell(query, labels[query.positions])
                accuracy.append(_accuracy(design.estimator_, *held_out))
            history = design.history_
            known = np.asarray(history["position"], dtype=np.int64)
            judged = _judged(design.estimator_, (pool[known], labels[known]), held_out)
    position = np.array(history["position"], dtype=np.int64)
    said = list(dict.fromkeys(" ".join(str(one.message).split()) for one in caught))
    score = np.array(history["score"], dtype=float)
    return Run(
        seed, scorer, position, parts.pool[position], labels[position].tolist(), score, np.array(accuracy),
        X.shape[1], judged, said,
    )  # fmt: skip


def _design(
    model: BayesianLogisticRegression,
    pool: np.ndarray,
    scorer: str,
    seed: int,
    exploration: float,
    initial: int,
    log: Path,
) -> SequentialDesign:
    share = 0.0 if scorer == "random" else exploration
    return design_in(log, model, pool, scorer=scorer, exploration=share, initial=initial or None, random_state=seed)


def _judged(model: BayesianLogisticRegression, labelled: tuple[Any, Any], held_out: tuple[Any, Any]) -> np.ndarray:
    """Rows: log loss and whether right, of the model and of its rival; (4, rows held out)."""
    rival: Any = model  # of one class, or with fewer labels than classes, nothing else can be fitted
    if len(np.unique(labelled[1])) > 1:
        rival = Logistic().fit(*labelled)
    found = [judged_labels(one, *held_out) for one in (model, rival)]
    return np.stack([one[judge] for one in found for judge in ("log_loss", "accuracy")])


def _accuracy(model: BayesianLogisticRegression, X: np.ndarray, y: np.ndarray) -> float:
    return float(np.mean(model.predict(X) == y))


def _relearn(
    model: BayesianLogisticRegression,
    pool: np.ndarray,
    labels: np.ndarray,
    positions: list[int],
    X: np.ndarray,
    y: np.ndarray,
) -> Iterator[float]:
    """Yield the accuracy on (X, y) after each of the answers at these positions."""
    learner = clone(model)
    for row in positions:
        learner.partial_fit(pool[row : row + 1], labels[row : row + 1])
        yield _accuracy(learner, X, y)
