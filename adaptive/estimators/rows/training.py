"""The rows an estimator has learnt from: features and outcomes as they were given; of classifiers codes and weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from adaptive import checks
from adaptive.estimators.rows.labels import codes_of
from adaptive.estimators.rows.linear_predictive import with_intercept

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Inputs, Matrix, State

__all__ = ["LabelledRows", "Rows", "checked_weights", "labels_of", "plain_table", "stacked_rows", "table_of"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows (m, n_features), or a list of other things, and their outcomes (m,) or (m, outputs).

    Parameters
    ----------
    X : array or sparse matrix (m, n_features), or list
    y : array (m,) or (m, outputs)

    Examples
    --------
    >>> rows = Rows(np.zeros((3, 2)), np.ones(3)).followed_by(np.ones((1, 2)), np.ones(1))
    >>> len(rows), rows.n_features
    (4, 2)
    """

    X: Any
    y: np.ndarray

    def __len__(self) -> int:
        return len(self.y)

    @property
    def n_features(self) -> int | None:
        """Columns of a row; None where they are no vectors."""
        return None if isinstance(self.X, list) or self.X.ndim < 2 else self.X.shape[1]

    def followed_by(self, X: Inputs, y: np.ndarray) -> Self:
        """These rows and further ones."""
        if y.shape[1:] != self.y.shape[1:]:
            raise ValueError(
                f"y must be like the earlier answers, of shape (m, {self.y.shape[1]}), got {y.shape}."
                if self.y.ndim > 1
                else f"y must hold one number for each row, as before, got shape {y.shape}."
            )
        return replace(self, X=stacked_rows(self.X, X), y=np.concatenate([self.y, y]))

    def features(self, intercept: bool) -> Matrix:
        """The rows, with the constant feature of the intercept last."""
        return self._with_intercept if intercept else self.X

    @cached_property
    def _with_intercept(self) -> Matrix:
        """One table for all nodes of a mixture."""
        return with_intercept(self.X)

    @property
    def typical_length(self) -> float:
        """Root mean square length of a row."""
        X = self.X
        squares = np.einsum("ij,ij->", X, X) if isinstance(X, np.ndarray) else X.multiply(X).sum()
        return float(np.sqrt(squares / self.X.shape[0])) or 1.0

    def state(self) -> State:
        """Plain data."""
        return {"X": plain_table(self.X), "y": self.y}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The rows that ``state`` described."""
        return cls(table_of(state["X"]), state["y"])


@dataclass(frozen=True, eq=False)
class LabelledRows(Rows):
    """Rows whose outcomes are labels.

    Attributes
    ----------
    classes : (c,) array
        All that are known, sorted.
    weights : (m,) array or None
        How many answers a row counts for; None: one each.
    said : (m, c) array or None
        Log likelihoods of every class, 0 of the likeliest, where labels are in doubt and ``y`` holds the likeliest.
    """

    classes: np.ndarray
    weights: np.ndarray | None = None
    said: np.ndarray | None = None

    @property
    def n_classes(self) -> int:
        """Number of known classes."""
        return len(self.classes)

    @property
    def labels(self) -> np.ndarray | None:
        """The classes, where there are two or more."""
        return labels_of(self.classes)

    @cached_property
    def codes(self) -> np.ndarray:
        """(m,) positions of the labels in ``classes``."""
        return codes_of(self.y, self.classes)

    @cached_property
    def evidence(self) -> np.ndarray:
        """(m, c) likelihoods of every class, 1 of the likeliest; 0 of all others where labels are not in doubt."""
        return np.eye(self.n_classes)[self.codes] if self.said is None else np.exp(self.said)

    @property
    def sample_weight(self) -> np.ndarray:
        """(m,) weights."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def first(self, m: int) -> LabelledRows:
        """The first m rows."""
        weights = None if self.weights is None else self.weights[:m]
        said = None if self.said is None else self.said[:m]
        return LabelledRows(self.X[:m], self.y[:m], self.classes, weights, said)

    def against_the_rest(self, k: int) -> LabelledRows:
        """The same rows with two classes: number k, and all others."""
        return LabelledRows(self.X, (self.codes == k).astype(int), np.arange(2), self.weights)

    @property
    def typical_length(self) -> float:
        """Root mean square length of a row, by weight."""
        if self.weights is None:
            return super().typical_length
        X = self.X
        if isinstance(X, np.ndarray):
            of_rows = np.einsum("ij,ij->i", X, X)
        else:
            of_rows = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        return float(np.sqrt(of_rows @ self.weights / self.weights.sum())) or 1.0

    def state(self) -> State:
        """Plain data."""
        return {**super().state(), "sample_weight": self.sample_weight, "classes": self.classes}

    @classmethod
    def from_state(cls, state: State) -> LabelledRows:
        """The rows that ``state`` described."""
        weights = state.get("sample_weight")
        known = weights is not None and not np.all(np.asarray(weights) == 1.0)
        return cls(table_of(state["X"]), state["y"], state["classes"], np.asarray(weights, float) if known else None)


def labels_of(classes: ArrayLike | None) -> np.ndarray | None:
    """The classes as outcomes of a predictive: sorted; None where fewer than two are known, and -1 and +1 stand in."""
    return None if classes is None or len(np.asarray(classes)) < 2 else np.unique(classes)


def checked_weights(sample_weight: ArrayLike | None, m: int) -> np.ndarray:
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
    if isinstance(first, list):
        return [*first, *second]
    if sp.issparse(first) or sp.issparse(second):
        return sp.vstack([first, second], format="csr")
    return np.concatenate([first, second])


def plain_table(X: Any) -> np.ndarray | State:
    """Return rows as plain data."""
    if isinstance(X, (np.ndarray, list)):
        return np.asarray(X)
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": list(X.shape)}


def table_of(state: np.ndarray | State) -> Matrix:
    """Return the rows that `plain_table` made plain."""
    if isinstance(state, dict):
        return sp.csr_array((state["data"], state["indices"], state["indptr"]), shape=tuple(state["shape"]))
    return state
