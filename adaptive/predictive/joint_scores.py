"""The joint Gaussian of the class scores of candidates (part 0) and target (part 1), on k = c - 1 contrasts per row.

    t(x) = (I x phi(x)') beta + remainder(x),    beta ~ N(mean, covariance),

where the remainder is what the coordinates phi leave out of a row: it is Gaussian with mean zero, independent of beta,
and the same for every contrast.  Conditioning on the contrasts of candidate i, which become N(m', V'), is a correction
of rank k:

    W = Cov(., t_i) V^+,    mean += W (m' - m),    Cov -= W (V - V') W'.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from adaptive.predictive.joint_gaussian import CANDIDATES, ConditionedSource, Parts, root_of

if TYPE_CHECKING:
    from adaptive.types import Index

__all__ = ["ConditionedScores", "Gain", "LinearScores", "Scores"]

_SUPPORT = 1e-12  # eigenvalues below this share of the largest are zero but for rounding


class Scores(Parts, Protocol):
    """The joint Gaussian of contrasts, k per row."""

    k: int

    def size(self, part: int) -> int: ...
    def cross(self, a: int, i: Index, b: int, j: Index) -> np.ndarray: ...
    def column(self, part: int, i: int) -> np.ndarray: ...


class LinearScores:
    """Contrasts of scores that are linear in a Gaussian.

    Parameters
    ----------
    rows : list of (m, r) arrays
        Coordinates of the candidates and, if there is one, the target.
    mean : (k, r) array
    blocks : (k, r, k, r) array
        Covariance.
    remainder : function (part, i, other part, j) -> (len i, len j), optional
        Covariance of the remainders; default none.
    remainder_variance : function (part) -> (m,), optional
        Its diagonal, with ``remainder``.
    remainder_draws : function (n, k, generator) -> list of (n, m, k) arrays, optional
        Joint draws, the same in every chunk of a pool, with ``remainder``.
    """

    def __init__(
        self,
        rows: list[np.ndarray],
        mean: np.ndarray,
        blocks: np.ndarray,
        *,
        remainder: Callable[..., np.ndarray] | None = None,
        remainder_variance: Callable[[int], np.ndarray] | None = None,
        remainder_draws: Callable[..., list[np.ndarray]] | None = None,
    ) -> None:
        self._rows, self._mean, self._blocks = rows, mean, blocks
        self._remainder, self._remainder_variance = remainder, remainder_variance
        self._remainder_draws = remainder_draws
        self.n_parts, self.k = len(rows), len(mean)
        self._variances: dict[int, np.ndarray] = {}
        self._means: dict[int, np.ndarray] = {}
        self._columns: dict[tuple[int, int], np.ndarray] = {}

    def size(self, part: int) -> int:
        return len(self._rows[part])

    def mean(self, part: int) -> np.ndarray:
        """(m, k)."""
        if part not in self._means:
            self._means[part] = self._rows[part] @ self._mean.T
        return self._means[part]

    def variance(self, part: int) -> np.ndarray:
        """(m, k, k)."""
        if part not in self._variances:
            rows, k = self._rows[part], self.k
            variance = np.empty((len(rows), k, k))
            for a in range(k):
                for b in range(a + 1):
                    values = np.einsum("ij,ij->i", rows @ self._blocks[a, :, b, :], rows)
                    variance[:, a, b] = variance[:, b, a] = values
            if self._remainder_variance is not None:
                variance += self._remainder_variance(part)[:, None, None] * np.eye(k)
            self._variances[part] = variance
        return self._variances[part]

    def cross(self, a: int, i: Index, b: int, j: Index) -> np.ndarray:
        """Return the covariances (len i, len j, k, k) of rows i of one part and rows j of another."""
        first, second = self._rows[a][i], self._rows[b][j]
        block = np.einsum("ip,kplq,jq->ijkl", first, self._blocks, second, optimize=True)
        if self._remainder is not None:
            block += self._remainder(a, i, b, j)[:, :, None, None] * np.eye(self.k)
        return block

    def column(self, part: int, i: int) -> np.ndarray:
        """Return the covariances (m, k, k) of a part with candidate i, kept: all that follow from here need them."""
        if (part, i) not in self._columns:
            self._columns[part, i] = self.cross(part, slice(None), CANDIDATES, np.array([i]))[:, 0]
        return self._columns[part, i]

    @cached_property
    def _root(self) -> np.ndarray:
        n = self._mean.size
        covariance = self._blocks.reshape(n, n)
        try:
            return np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:  # singular
            return root_of(covariance)

    def draw(self, n: int, generator: np.random.Generator) -> list[np.ndarray]:
        """Return joint draws (n, m, k) of the parts, by draws of beta: the same in every chunk."""
        k, r = self._mean.shape
        beta = (self._mean.ravel() + generator.standard_normal((n, k * r)) @ self._root.T).reshape(n, k, r)
        drawn = [np.matmul(beta, rows.T).transpose(0, 2, 1) for rows in self._rows]
        if self._remainder_draws is not None:
            drawn = [a + b for a, b in zip(drawn, self._remainder_draws(n, k, generator), strict=True)]
        return drawn


class Gain:
    """Regression of everything on the contrasts of candidate ``i``; shared by the what-ifs of its outcomes."""

    def __init__(self, source: Scores, i: int) -> None:
        self.i, self._source = i, source
        self.mean = source.mean(CANDIDATES)[i]
        self.variance = source.variance(CANDIDATES)[i]
        values, vectors = np.linalg.eigh(self.variance)
        kept = values > _SUPPORT * max(values[-1], 0.0)
        vectors, values = vectors[:, kept], values[kept]
        self.inverse = (vectors / values) @ vectors.T
        self.inverse_root = (vectors / np.sqrt(values)) @ vectors.T
        self._parts: dict[int, np.ndarray] = {}

    def __getitem__(self, part: int) -> np.ndarray:
        """W (m, k, k)."""
        if part not in self._parts:
            self._parts[part] = _each(self._source.column(part, self.i), self.inverse)
        return self._parts[part]


class ConditionedScores(ConditionedSource):
    """Contrasts after the moments of those of one candidate changed.

    Parameters
    ----------
    parent : a source
    gain : Gain
        Of that candidate in ``parent``.
    mean, variance : (k,) and (k, k) arrays
        What its contrasts have now.
    """

    def __init__(self, parent: Scores, gain: Gain, mean: np.ndarray, variance: np.ndarray) -> None:
        super().__init__(parent)
        self.k, self.size = parent.k, parent.size
        self._gain = gain
        self._shift, self._shrink = mean - gain.mean, gain.variance - variance
        self._stretch = _symmetric_root(variance) @ gain.inverse_root

    def _mean_after(self, part: int, mean: np.ndarray) -> np.ndarray:
        return mean + self._gain[part] @ self._shift

    def _variance_after(self, part: int, variance: np.ndarray) -> np.ndarray:
        W = self._gain[part]
        return variance - _each(W, self._shrink) @ W.transpose(0, 2, 1)

    def _moved(self, drawn: list[np.ndarray]) -> list[np.ndarray]:
        move = self.moves(drawn[CANDIDATES][:, self._gain.i])
        return [draws + self.spread(move, part) for part, draws in enumerate(drawn)]

    def moves(self, t: np.ndarray) -> np.ndarray:
        """Return by how much draws ``t`` (n, k) of the candidate's contrasts move to have its new moments."""
        return self._gain.mean + self._shift + (t - self._gain.mean) @ self._stretch.T - t

    def spread(self, move: np.ndarray, part: int) -> np.ndarray:
        """Return by how much draws of a part move (n, m, k) with those of the candidate (n, k): one product."""
        W = self._gain[part].astype(move.dtype, copy=False)
        return (move @ W.reshape(-1, W.shape[2]).T).reshape(len(move), len(W), W.shape[1])

    def cross(self, a: int, i: Index, b: int, j: Index) -> np.ndarray:
        block = self._origin.cross(a, i, b, j)
        for step in self._steps():
            left, right = step._gain[a][i] @ step._shrink, step._gain[b][j]
            block = block - np.einsum("ikp,jlp->ijkl", left, right)
        return block

    def column(self, part: int, i: int) -> np.ndarray:
        column = self._origin.column(part, i).copy()
        for step in self._steps():
            column -= _each(step._gain[part], step._shrink @ step._gain[CANDIDATES][i].T)
        return column


def _each(blocks: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return blocks (m, k, k) times a matrix (k, k), by one product of all."""
    return (blocks.reshape(-1, blocks.shape[2]) @ matrix).reshape(len(blocks), -1, matrix.shape[1])


def _symmetric_root(matrix: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
