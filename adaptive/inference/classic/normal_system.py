"""(X'X + rho K) u = b for many rho and b, while rows are appended to X; K = B'B.

By the matrix inversion lemma only an m x m matrix depends on rho:

    u = ( K^-1 b - K^-1 X' (rho I + X K^-1 X')^-1 X K^-1 b ) / rho.

K^-1 is a cosine transform where that diagonalises K, as it does for orthonormal transforms and for differences without
wrap-around; else a Cholesky factor of K. With more rows than unknowns, or where K is singular, X'X + rho K is
factorised.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dpotrf, dpotrs

from adaptive.inference.model import GLM, matrix_of
from adaptive.linalg.growing_rows import GrowingRows
from adaptive.linalg.matrices import dense

__all__ = ["NormalSystem"]


class NormalSystem:
    """The systems of one model.

    Parameters
    ----------
    model : GLM
        X, and the operators B of its groups.
    earlier : NormalSystem, optional
        Of a model with the same operators, to whose rows these are appended; only the new ones are solved for.
    """

    def __init__(self, model: GLM, earlier: NormalSystem | None = None):
        self.X = np.ascontiguousarray(dense(model.measurement_rows()[0]), dtype=float)
        self.operators = [b for b, _ in model.groups]
        m, self.n = self.X.shape
        if earlier is not None and not (
            len(earlier.operators) == len(self.operators)
            and all(old is new for old, new in zip(earlier.operators, self.operators, strict=True))
            and earlier.X.shape[1] == self.n
        ):
            earlier = None
        self.penalty: _Penalty = _Penalty(model) if earlier is None else earlier.penalty
        self._by_rows = m <= self.n and self.penalty.invertible
        self.solved, self.gram = GrowingRows(self.n), np.zeros((0, 0))  # X K^-1 and X K^-1 X'
        if self._by_rows:
            if earlier is not None and np.array_equal(self.X[: len(earlier.X)], earlier.X):
                self.solved, self.gram = earlier.solved, earlier.gram
            known = len(self.gram)
            fresh = self.penalty.solve(self.X[known:])
            self.solved = self.solved.appended(fresh)
            right = self.X @ fresh.T
            self.gram = np.block([[self.gram, right[:known]], [right[:known].T, right[known:]]])
        self._weight, self._factor = np.nan, np.empty(0)

    def solve(self, b: np.ndarray, weight: float) -> np.ndarray:
        """u at rho = ``weight``."""
        if weight != self._weight:
            if self._by_rows:
                matrix = self.gram.copy(order="F")
                matrix[np.diag_indices(len(matrix))] += weight
            else:
                matrix = np.asfortranarray(self.X.T @ self.X + weight * self.penalty.matrix())
            self._factor, info = dpotrf(matrix, lower=1, clean=0, overwrite_a=1)
            if info:
                raise LinAlgError("X'X + rho B'B is singular to rounding")
            self._weight = weight
        if not self._by_rows:
            return dpotrs(self._factor, b, lower=1)[0]
        u = self.penalty.solve(b[None])[0]
        if len(self.gram):
            rows = self.solved.rows
            u -= dpotrs(self._factor, rows @ b, lower=1)[0] @ rows
        return u / weight


class _Penalty:
    """K = B'B with its inverse."""

    def __init__(self, model: GLM):
        self._groups = [b for b, _ in model.groups]
        self._shape = max((b.input_shape for b in self._groups), key=len)
        self._spectrum = self._cosine_spectrum()
        self._factor: Any = None
        if self._spectrum is not None:
            self.invertible = bool(self._spectrum.min() > 1e-10 * self._spectrum.max())
            return
        try:
            self._factor = cho_factor(self.matrix(), lower=True)
            pivots = self._factor[0].diagonal()
            self.invertible = bool(pivots.min() > 1e-6 * pivots.max())
        except LinAlgError:
            self.invertible = False

    def _times(self, u: np.ndarray) -> np.ndarray:
        u = u.reshape(-1, *self._shape)
        return sum(b.normal(u.reshape(-1, *b.input_shape)).reshape(u.shape) for b in self._groups)  # type: ignore[return-value]

    def _cosine_spectrum(self) -> np.ndarray | None:
        """Eigenvalues of K, if cosines are its eigenvectors (which random vectors tell)."""
        axes = tuple(range(1, 1 + len(self._shape)))
        spectrum = scipy.fft.dctn(
            self._times(scipy.fft.idctn(np.ones((1, *self._shape)), axes=axes, norm="ortho")), axes=axes, norm="ortho"
        )
        probe = np.random.default_rng(0).standard_normal((2, *self._shape))
        image = scipy.fft.idctn(spectrum * scipy.fft.dctn(probe, axes=axes, norm="ortho"), axes=axes, norm="ortho")
        gap = np.abs(image - self._times(probe)).max()
        return spectrum[0] if gap < 1e-10 * np.abs(spectrum).max() else None

    def matrix(self) -> np.ndarray:
        """K, dense."""
        total = np.zeros((int(np.prod(self._shape)),) * 2)
        for operator in self._groups:
            rows = matrix_of(operator)
            total += dense(rows.T @ rows)
        return total

    def solve(self, rows: np.ndarray) -> np.ndarray:
        """K^-1 u for each row u."""
        if self._spectrum is None:
            return cho_solve(self._factor, rows.T).T
        images = rows.reshape(-1, *self._shape)
        axes = tuple(range(1, images.ndim))
        images = scipy.fft.dctn(images, axes=axes, norm="ortho") / self._spectrum
        return scipy.fft.idctn(images, axes=axes, norm="ortho", overwrite_x=True).reshape(rows.shape)
