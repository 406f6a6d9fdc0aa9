"""The model beside the classifier that a user would have taken instead, on the labels that there are.

    difference = mean over left-out labels of  log p_rival(y) - log p_model(y)   in nats, with its standard error

Both learn the same parts of the labels and predict the rest. These are the rows that a design chose, so that the losses
are those of hard rows; the difference is fair to both.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold

from adaptive import checks
from adaptive import pool as pools

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import ArrayLike, Pool

__all__ = ["beside_rival", "rival_in_words"]

LEAST = 20  # labels in all; fewer tell nothing
LEAST_OF_CLASS = 3
CERTAIN = 2.0  # standard errors


def beside_rival(
    design: SequentialDesign, known: tuple[Pool, ArrayLike] | None = None, *, rival: Any = None, n_folds: int = 5,
    random_state: int = 0,
) -> dict[str, Any] | None:  # fmt: skip
    """Return how the design's classifier and another one predict labels that were left out.

    Parameters
    ----------
    design : SequentialDesign over a fixed pool of rows, with a classifier
    known : (rows, labels), optional
        Labels from before the design, which both learn and which are judged, too.
    rival : classifier with ``predict_proba``, optional
        Default: scikit-learn's LogisticRegressionCV as it comes, with fewer folds where a class is small.
    n_folds : int, default 5
        Parts that are left out in turn, stratified by class.
    random_state : int, default 0
        Of the parts.

    Returns
    -------
    dict or None
        n, accuracy, log_loss (nats a label), rival_accuracy, rival_log_loss, difference (positive: the rival is ahead),
        standard_error. None where there are too few labels, or too few of a class, to tell.

    Raises
    ------
    ValueError
        If candidates are not rows of numbers, or outcomes are not classes.

    Examples
    --------
    >>> from adaptive import BayesianLogisticRegression, SequentialDesign
    >>> from adaptive.datasets import digits_pair
    >>> X, y = digits_pair(3, 5)
    >>> model = BayesianLogisticRegression(classes=[3, 5])
    >>> design = SequentialDesign(model, X, lambda query: y[query.positions], random_state=0).run(40)
    >>> found = beside_rival(design)
    >>> found["n"], found["difference"] < 2 * found["standard_error"]
    (40, True)
    """
    n_folds = checks.integer("n_folds", n_folds, minimum=2)
    if design.changing_pool or not hasattr(design.estimator_, "predict_proba"):
        raise ValueError("design must be over a fixed pool of rows, with a classifier that has predict_proba.")
    history = design.history_
    X = pools.take(design.pool, np.array(history["position"], dtype=np.intp))
    y = np.asarray(history["outcome"])
    if known is not None and np.size(known[1]):
        X, y = pools.concatenate([known[0], X]), np.concatenate([np.asarray(known[1]).astype(y.dtype), y])
    if not (isinstance(X, np.ndarray) and X.dtype.kind in "biuf") and not hasattr(X, "tocsr"):
        raise ValueError(f"candidates must be rows of numbers, got a {type(X).__name__}.")
    classes, counts = np.unique(y, return_counts=True)
    if len(y) < LEAST or len(classes) < 2 or counts.min() < LEAST_OF_CLASS:
        return None
    folds = StratifiedKFold(min(n_folds, int(counts.min())), shuffle=True, random_state=random_state)
    of_model, of_rival = np.zeros((2, len(y))), np.zeros((2, len(y)))  # log probability of the label, right or not
    for train, test in folds.split(np.zeros(len(y)), y):
        model = clone(_unfitted(design)).fit(X[train], y[train])
        of_model[:, test] = _judged(model, X[test], y[test])
        other = clone(rival) if rival is not None else _logistic(y[train], random_state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it has not converged, or will change its defaults
            other.fit(X[train], y[train])
        of_rival[:, test] = _judged(other, X[test], y[test])
    gained = of_rival[0] - of_model[0]
    return {
        "n": len(y), "accuracy": float(of_model[1].mean()), "log_loss": float(-of_model[0].mean()),
        "rival_accuracy": float(of_rival[1].mean()), "rival_log_loss": float(-of_rival[0].mean()),
        "difference": float(gained.mean()), "standard_error": float(gained.std(ddof=1) / np.sqrt(len(y))),
    }  # fmt: skip


def rival_in_words(found: dict[str, Any], rival: str = "scikit-learn's LogisticRegressionCV") -> str:
    """Return what `beside_rival` found as two sentences.

    Parameters
    ----------
    found : dict
        As it returned.
    rival : str
        What to call the other classifier.

    Returns
    -------
    str

    Examples
    --------
    >>> found = {"n": 60, "log_loss": 0.4, "rival_log_loss": 0.3, "difference": 0.1, "standard_error": 0.02}
    >>> print(rival_in_words(found))
    On 60 labels, each predicted while it was left out, the model has a log loss of 0.400 nats, scikit-learn's
    LogisticRegressionCV 0.300. It predicts certainly better here (by 0.100 +- 0.040): take it for predictions.
    """
    margin = CERTAIN * found["standard_error"]
    by = f"(by {abs(found['difference']):.3f} +- {margin:.3f})"
    if found["difference"] > margin:
        verdict = f"It predicts certainly better here {by}: take it for predictions."
    elif found["difference"] < -margin:
        verdict = f"The model predicts certainly better {by}."
    else:
        verdict = f"Which of them is better cannot be told {by}."
    return (
        f"On {found['n']} labels, each predicted while it was left out, the model has a log loss of "
        f"{found['log_loss']:.3f} nats, {rival}\n{found['rival_log_loss']:.3f}. {verdict}"
    )


def _unfitted(design: SequentialDesign) -> Any:
    """The classifier of a design as it was made, its classes named."""
    return getattr(design.start_, "pipeline", design.start_)


def _judged(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """Log probability of each label, and whether it was the most probable one."""
    probabilities, classes = np.asarray(model.predict_proba(X)), np.asarray(model.classes_)
    place = np.searchsorted(classes, y)
    known = (place < len(classes)) & (classes[np.minimum(place, len(classes) - 1)] == y)
    said = np.where(known, probabilities[np.arange(len(y)), np.minimum(place, len(classes) - 1)], 0.0)
    right = classes[np.argmax(probabilities, axis=1)] == y
    return np.stack([np.log(np.maximum(said, 1e-12)), right])


def _logistic(y: np.ndarray, random_state: int) -> Any:
    least = int(np.unique(y, return_counts=True)[1].min())
    if least < 2:
        return LogisticRegression(max_iter=1000)
    return LogisticRegressionCV(cv=min(5, least), max_iter=1000, random_state=random_state)
