"""The precision of a Gaussian prior: a diagonal (n,), a matrix (n, n), or None where there is no prior."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["precision_of_prior", "precision_times"]


def precision_of_prior(covariance: Any, n: int) -> tuple[np.ndarray | None, float]:
    """Inverse and log-determinant of a prior covariance; None where there is none, LinAlgError if it is singular."""
    if covariance is None:
        return None, 0.0
    if np.ndim(covariance) < 2:
        variance = np.broadcast_to(np.asarray(covariance, dtype=float), (n,)).copy()
        return 1.0 / variance, float(np.log(variance).sum())
    root = np.linalg.inv(np.linalg.cholesky(covariance))
    return root.T @ root, -2.0 * float(np.log(root.diagonal()).sum())


def precision_times(precision: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """The precision times vectors (n,) or (n, k)."""
    if precision.ndim == 2:
        return precision @ vectors
    return precision * vectors if vectors.ndim == 1 else precision[:, None] * vectors
