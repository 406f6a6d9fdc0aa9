"""The rows a classifier has learnt from: features, class codes, weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from adaptive import checks
from adaptive.estimators.linear.linear_predictive import with_intercept

__all__ = ["Training"]


@dataclass(frozen=True)
class Training:
    """Rows (m, n_features), their class codes (m,) in 0 .. n_classes - 1, and their weights (m,), None for all one."""

    X: Any
    codes: np.ndarray
    n_classes: int
    weights: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    def first(self, m: int) -> Training:
        """The first m rows."""
        weights = None if self.weights is None else self.weights[:m]
        return Training(self.X[:m], self.codes[:m], self.n_classes, weights)

    def features(self, intercept: bool) -> Any:
        """The rows, with the constant feature of the intercept last."""
        return with_intercept(self.X) if intercept else self.X

    @property
    def typical_length(self) -> float:
        """Root mean square length of a row, by weight."""
        if self.weights is None:
            squares = self.X.multiply(self.X).sum() if sp.issparse(self.X) else np.einsum("ij,ij->", self.X, self.X)
            return float(np.sqrt(squares / self.X.shape[0])) or 1.0
        of_rows = (
            np.asarray(self.X.multiply(self.X).sum(axis=1)).ravel()
            if sp.issparse(self.X)
            else np.einsum("ij,ij->i", self.X, self.X)
        )
        return float(np.sqrt(of_rows @ self.weights / self.weights.sum())) or 1.0


def checked_weights(sample_weight: Any, m: int) -> np.ndarray:
    """Weights of m rows, finite and >= 0, not all zero; None is all one."""
    if sample_weight is None:
        return np.ones(m)
    weights = checks.positive("sample_weight", sample_weight, or_zero=True)
    weights = np.full(m, float(weights)) if weights.ndim == 0 else weights
    checks.shape("sample_weight", weights, (m,))
    if not weights.any():
        raise ValueError("sample_weight must not be zero everywhere: no row would be left to learn from.")
    return weights


def stacked_rows(first: Any, second: Any) -> Any:
    """One table above the other; sparse where either is."""
    if sp.issparse(first) or sp.issparse(second):
        return sp.vstack([first, second], format="csr")
    return np.concatenate([first, second])


def rows_state(X: Any) -> Any:
    """Rows as plain data."""
    if sp.issparse(X):
        return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": list(X.shape)}
    return X


def restored_rows(state: Any) -> Any:
    """Rows from plain data."""
    if isinstance(state, dict):
        return sp.csr_array((state["data"], state["indices"], state["indptr"]), shape=tuple(state["shape"]))
    return state
