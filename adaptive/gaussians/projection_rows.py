"""The rows of B as a selective engine wants them: fast products with all of them, and single rows with few entries.

Short rows (differences, fine wavelets) are kept sparse, long ones (coarse wavelets, dense matrices) as an array;
products with all rows are those of the operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy.sparse
from scipy.linalg import get_blas_funcs

from adaptive.linalg.compiled_symmetric import add_gram
from adaptive.operators import Identity, Operator, Sparse, Wavelet

__all__ = ["ProjectionRows"]

SHORT = 1 / 32  # share of the unknowns up to which a row is short: its columns are gathered, not the matrix read
_SQUARE_CHECK = 1024  # unknowns up to which a matrix is checked for orthonormal rows


class ProjectionRows:
    """B, groups of real operators over one latent, one above the other.

    Parameters
    ----------
    operators : list of Operator

    Attributes
    ----------
    shape : (int, int)
        (q, n).
    short, long : integer arrays
        Positions of the rows of each kind.

    Examples
    --------
    >>> from adaptive.operators import FiniteDifference
    >>> rows = ProjectionRows([FiniteDifference(4), Identity(4)])
    >>> rows.shape, rows.forward(np.array([1.0, 2.0, 4.0, 4.0]))
    ((7, 4), array([1., 2., 0., 1., 2., 4., 4.]))
    """

    def __init__(self, operators: Sequence[Operator]):
        self.operators = list(operators)
        self.lengths = [b.shape[0] for b in self.operators]
        self.starts = np.cumsum([0, *self.lengths])
        self.shape = int(self.starts[-1]), self.operators[0].shape[1]
        matrix = scipy.sparse.vstack([_sparse(b) for b in self.operators], format="csr")
        matrix.sort_indices()
        counts = np.diff(matrix.indptr)
        is_long = counts > max(SHORT * self.shape[1], 4)
        self.short, self.long = np.flatnonzero(~is_long), np.flatnonzero(is_long)
        self._place = np.cumsum(is_long) - 1  # of a long row among the long ones
        self._is_long = is_long
        self._matrix = matrix
        self._short, self.long_rows = matrix[self.short], matrix[self.long].toarray()

    # ------------------------------------------------------------------ products with all rows
    def forward(self, u: np.ndarray) -> np.ndarray:
        """B u for u (n,), or B U for columns U (n, k): (q,) or (q, k)."""
        if u.ndim == 1:
            return np.concatenate([b.forward(u.reshape(b.input_shape)).ravel() for b in self.operators])
        columns = np.ascontiguousarray(u.T)
        parts = [b.forward(columns.reshape(-1, *b.input_shape)).reshape(len(columns), -1) for b in self.operators]
        return np.concatenate(parts, axis=1).T

    def adjoint(self, v: np.ndarray) -> np.ndarray:
        """B' v for v (q,)."""
        total = np.zeros(self.shape[1])
        for b, start, stop in zip(self.operators, self.starts[:-1], self.starts[1:], strict=True):
            total += b.adjoint(v[start:stop].reshape(b.output_shape)).ravel()
        return total

    # ------------------------------------------------------------------ single rows
    def is_long(self, i: int) -> bool:
        return bool(self._is_long[i])

    def row(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Indices and values of a short row."""
        part = slice(self._matrix.indptr[i], self._matrix.indptr[i + 1])
        return self._matrix.indices[part], self._matrix.data[part]

    def long_row(self, i: int) -> np.ndarray:
        """A long row as an array (n,)."""
        return self.long_rows[self._place[i]]

    def short_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Starts, indices and values of the short rows, compressed."""
        return self._short.indptr, self._short.indices, self._short.data

    def add_gram(self, lower: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Lower triangle (n, n) plus B' diag(weights) B, weights >= 0, in place."""
        add_gram(lower, *self.short_rows(), weights[self.short])
        if len(self.long):
            scaled = (self.long_rows * np.sqrt(weights[self.long])[:, None]).astype(lower.dtype, copy=False)
            syrk = get_blas_funcs("syrk", (lower,))
            lower = syrk(1.0, scaled.T, beta=1.0, c=lower, lower=1, overwrite_c=1)
        return lower

    # ------------------------------------------------------------------ what they are
    @cached_property
    def orthonormal(self) -> bool:
        """Return whether B is square with B B' = I: one group, an identity, a wavelet, or a matrix found to be so."""
        q, n = self.shape
        if q != n or len(self.operators) > 1:
            return False
        if isinstance(self.operators[0], (Identity, Wavelet)):
            return True
        return n <= _SQUARE_CHECK and bool(abs(self._matrix @ self._matrix.T - scipy.sparse.eye_array(n)).max() < 1e-12)

    def same_as(self, operators: Sequence[Operator]) -> bool:
        """Return whether these operators are the same ones, or multiply a random vector to the last bit alike."""
        if len(operators) != len(self.operators):
            return False
        probe = np.random.default_rng(0).standard_normal(self.shape[1])
        return all(
            a is b
            or (
                type(a) is type(b)
                and (a.input_shape, a.output_shape) == (b.input_shape, b.output_shape)
                and np.array_equal(a.forward(probe.reshape(a.input_shape)), b.forward(probe.reshape(b.input_shape)))
            )
            for a, b in zip(self.operators, operators, strict=True)
        )

    def group_of(self, operator: Operator) -> slice | None:
        """Return the place of this operator's rows in B, or None."""
        for b, start, stop in zip(self.operators, self.starts[:-1], self.starts[1:], strict=True):
            if b is operator or ProjectionRows.same_as(_Alone(b), [operator]):
                return slice(int(start), int(stop))
        return None


class _Alone(ProjectionRows):
    """One operator, to compare others with, without its rows."""

    def __init__(self, operator: Operator):
        self.operators, self.shape = [operator], operator.shape


def _sparse(operator: Operator) -> scipy.sparse.csr_array:
    """The operator's matrix in compressed rows, without the zeros of its columns."""
    if isinstance(operator, Sparse):
        return scipy.sparse.csr_array(operator.matrix, dtype=float)
    if isinstance(operator, Identity):
        return scipy.sparse.eye_array(operator.shape[0], format="csr")
    q, n = operator.shape
    blocks, step = [], max(1, 2**21 // max(q, n))
    for start in range(0, n, step):
        unit = np.zeros((min(step, n - start), n))
        unit[np.arange(len(unit)), start + np.arange(len(unit))] = 1.0
        images = operator.forward(unit.reshape(-1, *operator.input_shape)).reshape(len(unit), q)
        blocks.append(scipy.sparse.csr_array(images.astype(float, copy=False)))
    return scipy.sparse.vstack(blocks, format="csr").T.tocsr()
