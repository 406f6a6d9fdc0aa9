"""The model beside the one that a user would have taken instead, on the outcomes that there are.

Both learn the same parts of them and predict the rest (`beside`). Of a design these are rows that it chose, so that the
losses are those of hard rows; the difference is fair to both.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from adaptive import checks
from adaptive import pool as pools
from adaptive.diagnostics.beside import beside
from adaptive.diagnostics.rankings import beside_rankings, held_out_items, rankings_of
from adaptive.diagnostics.rivals import rival_of

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Pool

__all__ = ["beside_rival", "in_order", "judged_labels"]

LEAST = 20  # outcomes in all; fewer tell nothing
LEAST_OF_CLASS = 3


def beside_rival(
    model: Any, known: tuple[Pool, ArrayLike] | None = None, *, rival: Any = None, n_folds: int = 5,
    n_tried: int | None = None, random_state: int = 0,
) -> dict[str, Any] | None:  # fmt: skip
    """Return how an estimator and the simplest rival of its field predict outcomes that were left out.

    Parameters
    ----------
    model : SequentialDesign over a fixed pool, or estimator
        An estimator is cloned; it need not be fitted.
    known : (candidates, outcomes)
        What an estimator learns; of a design, outcomes from before it, which both learn and which are judged, too.
    rival : estimator with ``fit`` and ``predict_proba`` (labels) or ``log_predictive`` (pairs: a ranking), optional
        Default: that of the field. LogisticRegressionCV of labels, RidgeCV of numbers (LassoCV beside a
        `SparseLinearRegression`), PoissonRegressor of counts, a kernel smoother of a `CoxProcess`, a user's mean times
        an item's of a `PoissonFactorization`, one ranking for everybody of a `CollaborativePreference`, of
        `PairedSymbols` and a `PoissonFactorization` with zeros observed popularity or a ridge regression of each item
        on the others, whichever ranks better.
    n_folds : int, default 5
        Parts that are left out in turn, stratified by class where outcomes are labels. Where pairs are ranked, one pair
        of each user who has three (that were not shown, or with a count above 0) is left out, once.
    n_tried : int, optional
        How many of these parts are predicted (default: all): as many fits of the estimator.
    random_state : int, default 0
        Of the parts.

    Returns
    -------
    dict or None
        As of `beside`: n, log_loss (nats an outcome), rival_log_loss, difference (positive: the rival is ahead),
        standard_error, margin; of labels accuracy, of numbers square_error, of counts of pairs share_in_order (of its
        user's other held-out counts, of another size), with their differences; where pairs are ranked mean_rank alone.
        None where there are too few outcomes, or too few of a class, to tell.

    Raises
    ------
    ValueError
        If candidates are not rows of numbers, where the rival needs them, or nothing is known.

    Examples
    --------
    >>> from adaptive import BayesianLogisticRegression, GaussianProcessRegressor, SequentialDesign
    >>> from adaptive.datasets import digits_pair
    >>> X, y = digits_pair(3, 5)
    >>> model = BayesianLogisticRegression(classes=[3, 5])
    >>> design = SequentialDesign(model, X, lambda query: y[query.positions], random_state=0).run(40)
    >>> found = beside_rival(design)
    >>> found["n"], found["difference"] < found["margin"]
    (40, True)
    >>> rows = np.linspace(-3, 3, 40)[:, None]  # of a wave, which no line fits
    >>> found = beside_rival(GaussianProcessRegressor(), (rows, np.sin(2 * rows[:, 0])))
    >>> found["rival"], found["difference"] < -found["margin"]
    ("scikit-learn's RidgeCV", True)
    """
    n_folds = checks.integer("n_folds", n_folds, minimum=2)
    tried = n_folds if n_tried is None else checks.integer("n_tried", n_tried, minimum=1)
    start, X, y = _outcomes(model, known)
    zeros = getattr(start, "zeros", "") == "observed"  # where a count that is left out would be taught as 0
    if zeros or any(kind.__name__ == "PairedSymbols" for kind in type(start).__mro__):
        return _ranked(start, X, y, rival, random_state)
    other = rival_of(start, random_state) if rival is None else rival
    labels = hasattr(other, "predict_proba") and not hasattr(other, "log_predictive")
    if not hasattr(other, "by_user") and not (_numbers(X) or hasattr(X, "tocsr") or hasattr(X, "iloc")):
        raise ValueError(f"candidates must be rows of numbers, got a {type(X).__name__}.")
    folds: Any = KFold(n_folds, shuffle=True, random_state=random_state)
    if labels:
        counts = np.unique(y, return_counts=True)[1]
        if len(counts) < 2 or counts.min() < LEAST_OF_CLASS:
            return None
        folds = StratifiedKFold(min(n_folds, int(counts.min())), shuffle=True, random_state=random_state)
    if len(y) < LEAST:
        return None
    found: dict[str, tuple[list[np.ndarray], list[np.ndarray]]] = {}
    groups: list[Any] = []
    for train, test in list(folds.split(np.zeros(len(y)), y))[:tried]:
        parts = (pools.take(X, train), y[train]), (pools.take(X, test), y[test])
        for side, one in enumerate((clone(start), clone(other) if hasattr(other, "get_params") else other)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # the fit on all says so
                one.fit(*parts[0])
            judged = _judged(one, *parts[1], labels)
            if hasattr(other, "ranks"):
                pairs, counts = parts[1]
                judged["share_in_order"] = in_order([user for user, _ in pairs], counts, one.predict(pairs))
            for judge, values in judged.items():
                found.setdefault(judge, ([], []))[side].append(values)
        groups += [X[k][0] for k in test] if hasattr(other, "by_user") else test.tolist()
    judges = {
        judge: (np.concatenate(ours), np.concatenate(theirs))
        for judge, (ours, theirs) in found.items()
        if ours and theirs
    }
    name = getattr(other, "name", type(other).__name__)
    return beside(judges, name, of=getattr(other, "of", "labels" if labels else "outcomes"), groups=groups)


def _outcomes(model: Any, known: tuple[Pool, ArrayLike] | None) -> tuple[Any, Any, np.ndarray]:
    """The estimator as it was made, and all that is known."""
    if not hasattr(model, "history_"):
        if known is None:
            raise ValueError("known must hold candidates and outcomes, where the model is an estimator.")
        start = getattr(model, "pipeline", model)
        return start, known[0], np.asarray(known[1])
    if model.changing_pool:
        raise ValueError("model must be a design over a fixed pool of rows.")
    history = model.history_
    X: Any = pools.take(model.pool, np.array(history["position"], dtype=np.intp))
    y = np.asarray(history["outcome"])
    if known is not None and np.size(known[1]):
        told = np.asarray(known[1])
        X, y = (
            (pools.concatenate([known[0], X]), np.concatenate([told.astype(y.dtype), y]))
            if y.size
            else (known[0], told)
        )
    return getattr(model.start_, "pipeline", model.start_), X, y


def _ranked(model: Any, X: Any, y: np.ndarray, rival: Any, random_state: int) -> dict[str, Any] | None:
    """Rank one pair of each user among those that happened: without an answer, or with a count above 0."""
    pairs = [tuple(pair) for pair in np.asarray(X, dtype=object).tolist()]
    answers = y.tolist() if y.ndim else [None] * len(pairs)
    counts = hasattr(model, "zeros")
    happened = [pair for pair, one in zip(pairs, answers, strict=True) if (one > 0 if counts else one is None)]
    held_out = held_out_items(happened, random_state)
    if len(held_out) < LEAST:
        return None
    out = set(held_out)
    rest = [k for k, pair in enumerate(pairs) if pair not in out]
    given = [pairs[k] for k in rest], [answers[k] for k in rest]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one = clone(model).fit(*given)
    rivals = rankings_of(*given, random_state) if rival is None else [rival.fit(*given)]
    return beside_rankings(one, rivals, held_out)[0]


def _numbers(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.dtype.kind in "biuf"


def _judged(model: Any, X: Any, y: np.ndarray, labels: bool) -> dict[str, np.ndarray]:
    """Losses and gains of each outcome."""
    if not labels:
        found = {"log_loss": -np.asarray(model.log_predictive(X, y))}
        if y.dtype.kind == "f" and _numbers(X) and hasattr(model, "predict"):
            found["square_error"] = (np.asarray(model.predict(X)) - y) ** 2
        return found
    return judged_labels(model, X, y)


def in_order(users: list[Any], y: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Return of each count (n,) the share of its user's others, of another size, that are said in the right order.

    One half where there are none.
    """
    found, codes = np.full(len(y), 0.5), np.unique(np.array(users, dtype=object).astype(str), return_inverse=True)[1]
    for rows in np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1]):
        truth = np.sign(y[rows, None] - y[rows])
        agreed = 0.5 * (1.0 + truth * np.sign(said[rows, None] - said[rows]))
        differ = np.sum(truth != 0, axis=1)
        some = differ > 0
        found[rows[some]] = np.sum(np.where(truth != 0, agreed, 0.0), axis=1)[some] / differ[some]
    return found


def judged_labels(model: Any, X: Any, y: np.ndarray) -> dict[str, np.ndarray]:
    """Return of each label (n,) its log loss, and 1 where it was the most probable one."""
    probabilities, classes = np.asarray(model.predict_proba(X)), np.asarray(model.classes_)
    place = np.searchsorted(classes, y)
    known = (place < len(classes)) & (classes[np.minimum(place, len(classes) - 1)] == y)
    said = np.where(known, probabilities[np.arange(len(y)), np.minimum(place, len(classes) - 1)], 0.0)
    right = classes[np.argmax(probabilities, axis=1)] == y
    return {"log_loss": -np.log(np.maximum(said, 1e-12)), "accuracy": right.astype(float)}
