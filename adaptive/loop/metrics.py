"""Metrics of a comparison, on rows that are never asked: (estimator, X, y) -> float."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from adaptive.types import Classifier, Pool, Predictor

__all__ = ["METRICS", "Metric", "accuracy", "calibration_error", "log_loss", "root_mean_square_error", "score"]

Metric: TypeAlias = Callable[[Any, Any, np.ndarray], float]  # (estimator, X, y)


def accuracy(estimator: Predictor, X: Pool, y: np.ndarray) -> float:
    """Return the share of correct labels."""
    return float(np.mean(np.asarray(estimator.predict(X)) == y))


def log_loss(estimator: Classifier, X: Pool, y: np.ndarray) -> float:
    """Return the mean of -log p(label), in nats; probabilities are taken as at least 2.2e-16, as scikit-learn does."""
    if hasattr(estimator, "log_predictive"):
        return float(-np.mean(estimator.log_predictive(X, y)))
    probabilities = np.asarray(estimator.predict_proba(X))
    of_label = (probabilities * _is_label(estimator, y)).sum(axis=1)
    return float(-np.mean(np.log(np.maximum(of_label, np.finfo(float).eps))))


def calibration_error(estimator: Classifier, X: Pool, y: np.ndarray, n_bins: int = 10) -> float:
    """Return the mean distance of stated probabilities and frequencies, over bins of equal width of all classes."""
    probabilities = np.asarray(estimator.predict_proba(X))
    return binned_gap(probabilities, _is_label(estimator, y), n_bins)


def binned_gap(probabilities: np.ndarray, happened: np.ndarray, n_bins: int = 10) -> float:
    """Return the mean over events of |mean probability - frequency| of the bin that an event is in.

    Examples
    --------
    >>> binned_gap(np.array([0.9, 0.9, 0.1, 0.1]), np.array([True, False, False, False]))
    0.25
    """
    p, event = np.ravel(probabilities), np.ravel(happened).astype(float)
    bins = np.minimum((p * n_bins).astype(int), n_bins - 1)
    return float(np.abs(np.bincount(bins, p - event, minlength=n_bins)).sum() / len(p))


def root_mean_square_error(estimator: Predictor, X: Pool, y: np.ndarray) -> float:
    """Return the root of the mean squared error of ``predict``."""
    return float(np.sqrt(np.mean((np.asarray(estimator.predict(X)) - y) ** 2)))


def score(estimator: Predictor, X: Pool, y: np.ndarray) -> float:
    """Return ``estimator.score``: accuracy or R^2."""
    return float(estimator.score(X, y))


def _is_label(estimator: Classifier, y: np.ndarray) -> np.ndarray:
    """Which column of ``predict_proba`` is each row's label."""
    fitted: Any = getattr(estimator, "classifier_", estimator)  # a view knows more than it has seen
    return y[:, None] == np.asarray(fitted.classes_)


METRICS: dict[str, Metric] = {
    "accuracy": accuracy,
    "log_loss": log_loss,
    "calibration_error": calibration_error,
    "rmse": root_mean_square_error,
    "score": score,
}
