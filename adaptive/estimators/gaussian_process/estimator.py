"""Base of the Gaussian process estimators: their inputs, and the attributes that say what was fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from adaptive.estimators.belief import BeliefEstimator, of_belief
from adaptive.estimators.rows.tables import check_kind, in_plain_words, refuse_extremes
from adaptive.estimators.rows.vector_cells import spread
from adaptive.kernels import Masked

if TYPE_CHECKING:
    from sklearn.gaussian_process.kernels import Kernel

    from adaptive.types import ArrayLike, Inputs, Options, Table

__all__ = ["ProcessEstimator"]


class ProcessEstimator(BeliefEstimator):
    """Kernels on vectors take tables; kernels on other things take lists as they are."""

    kernel: Kernel | None
    copy_X_train: bool

    @property
    def compares_columns(self) -> bool:
        """True where the kernel has one length for all columns, and no part of some of them."""
        if self.kernel is None:
            return True
        parts = (self.kernel, *self.kernel.get_params().values())
        masked = any(isinstance(part, Masked) for part in parts)
        return not masked and all(parameter.n_elements == 1 for parameter in self.kernel.hyperparameters)

    def _inputs(self, X: Table, y: ArrayLike = "no_validation", *, reset: bool, **options: Any) -> Any:
        """X (and y), checked."""
        X = spread(X) if self._as["ensure_2d"] else X
        check_kind("X", X)
        if not isinstance(y, str):
            check_kind("y", y)
            refuse_extremes("y", y)
        refuse_extremes("X", X)
        with in_plain_words(X, y):
            X = self._as_array(X)
            return validate_data(self, X, y, reset=reset, **self._as, **options)

    def _candidates(self, X: Table) -> Any:
        if self.__sklearn_is_fitted__():
            return self._inputs(X, reset=False)
        X = spread(X) if self._as["ensure_2d"] else X
        check_kind("X", X)
        refuse_extremes("X", X)
        with in_plain_words(X):
            return check_array(self._as_array(X), input_name="X", **self._as)

    def _as_array(self, X: Table) -> Any:
        """Listed rows as an array of numbers: scikit-learn takes a list with objects, None among them, as it is."""
        vectors = self.kernel is None or self.kernel.requires_vector_input
        return np.asarray(X, dtype=float) if vectors and isinstance(X, (list, tuple)) else X

    @property
    def _as(self) -> Options:
        vectors = self.kernel is None or self.kernel.requires_vector_input
        return {"ensure_2d": vectors, "dtype": "numeric" if vectors else None}

    def _kept(self, X: Inputs) -> Inputs:
        """The inputs that are kept, a copy where ``copy_X_train`` says so."""
        return np.copy(X) if self.copy_X_train and isinstance(X, np.ndarray) else X

    processes_ = of_belief("processes", "The belief about every function.")
    leave_one_out_ = of_belief(
        "left_out", "Log score (m,), and of two classes probabilities (m, 2), of the training rows without themselves."
    )
    learnt_rows_ = of_belief("learnt_rows", "How many rows there were when hyper-parameters were fitted.")
    X_train_ = of_belief("data.X", "The training inputs.")
    y_train_ = of_belief("data.y", "Their outcomes.")
