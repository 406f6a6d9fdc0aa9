"""A block of vectors, centred and on one scale."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

__all__ = ["VectorScaler"]


class VectorScaler(TransformerMixin, BaseEstimator):
    """Scaler of a block of vectors: their mean becomes 0, and one number divides all entries, so that angles stay.

    Entries have a mean square of 1 then, as those of a standardised column; a vector that is missing is the mean. The
    precision stays.

    Examples
    --------
    >>> VectorScaler().fit_transform(np.array([[3.0, 0.0], [-3.0, 0.0]])).round(3).tolist()
    [[1.414, 0.0], [-1.414, 0.0]]
    """

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn mean and scale of the rows that are known."""
        rows = np.asarray(X)
        rows = rows[~np.isnan(rows).any(axis=1)]
        self.n_features_in_ = rows.shape[1]
        mean = rows.mean(axis=0, dtype=float) if len(rows) else np.zeros(rows.shape[1])
        squares = np.zeros(rows.shape[1])
        for start in range(0, len(rows), 4096):  # the whole in double precision would be three times the block
            squares += np.sum((rows[start : start + 4096] - mean) ** 2, axis=0, dtype=float)
        scale = float(np.sqrt(squares.mean() / max(len(rows), 1))) if len(squares) else 0.0
        self.mean_, self.scale_ = mean, scale or 1.0
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the rows, centred and divided."""
        rows = np.array(X)  # its own copy
        dtype = rows.dtype.type if rows.dtype.kind == "f" else np.float64
        rows -= self.mean_.astype(dtype)
        rows /= dtype(self.scale_)
        rows[np.isnan(rows)] = 0.0
        return rows

    def get_feature_names_out(self, names: Any = None) -> np.ndarray:
        """Return the names of the columns, which stay."""
        return np.asarray(names, dtype=object)
