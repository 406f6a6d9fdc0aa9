"""The joint Gaussian of candidates (part 0) and target (part 1), of which blocks are computed when they are asked for.

Conditioning on one candidate i, whose moments become (m', v') by whatever was learnt about it, is a rank-one
correction:

    w = Cov(., s_i) / v,    mean += w (m' - m),    Cov -= w w' (v - v')

A what-if therefore costs one column of the covariance; the corrections are kept as a list.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse

if TYPE_CHECKING:
    from adaptive.types import Index, Matrix

__all__ = [
    "Conditioned",
    "ConditionedSource",
    "LinearSource",
    "Moment",
    "Parts",
    "Source",
    "StatedSource",
    "pivoted_root",
    "root_of",
]

MOST_ROOTED = 3_000  # candidates whose dense covariance is factorised
ROUNDED = 1e-14  # of the largest variance: less is left over by rounding

CANDIDATES, TARGET = 0, 1
Moment: TypeAlias = npt.ArrayLike | Callable[[], npt.ArrayLike]  # stated, or computed when it is needed
Blocks: TypeAlias = dict[tuple[int, int], Callable[[np.ndarray, np.ndarray], np.ndarray]]
Draws: TypeAlias = Callable[[int, np.random.Generator], np.ndarray | Sequence[np.ndarray]]


class Parts(Protocol):
    """Something jointly Gaussian, of candidates and a target."""

    n_parts: int

    def mean(self, part: int) -> np.ndarray: ...
    def variance(self, part: int) -> np.ndarray: ...
    def draw(self, n: int, generator: np.random.Generator) -> list[np.ndarray]: ...


class Source(Parts, Protocol):
    """The joint Gaussian of projections."""

    def block(self, a: int, i: Index, b: int, j: Index) -> np.ndarray: ...
    def rooted(self) -> np.ndarray | None: ...


class StatedSource:
    """Moments of the parts as stated: arrays, or functions that return them; blocks by functions of index arrays.

    Parameters
    ----------
    moments : list of (mean, variance)
        For the candidates and, if there is one, the target.
    blocks : dict (part, part) -> function (i, j) -> (len i, len j)
        Of candidates with candidates, candidates with target, target with target.
    projection_draws : function (n, generator) -> list of (n, size) arrays, optional
        Joint draws of the parts.
    """

    def __init__(
        self, moments: list[tuple[Moment, Moment]], blocks: Blocks, projection_draws: Draws | None = None
    ) -> None:
        self._moments, self._blocks, self._draws = list(moments), blocks, projection_draws
        self.n_parts = len(self._moments)

    def _moment(self, part: int, which: int) -> np.ndarray:
        value = self._moments[part][which]
        if callable(value) or not isinstance(value, np.ndarray) or value.dtype != float:
            value = np.asarray(value() if callable(value) else value, dtype=float)
            mean, variance = self._moments[part]
            self._moments[part] = (mean, value) if which else (value, variance)
        return value

    def mean(self, part: int) -> np.ndarray:
        return self._moment(part, 0)

    def variance(self, part: int) -> np.ndarray:
        return self._moment(part, 1)

    def block(self, a: int, i: Index, b: int, j: Index) -> np.ndarray:
        if (a, b) == (TARGET, CANDIDATES):
            return self.block(b, j, a, i).T
        i, j = self._positions(a, i), self._positions(b, j)
        return np.asarray(self._blocks[a, b](i, j), dtype=float).reshape(len(i), len(j))

    def rooted(self) -> np.ndarray | None:
        """Return R (m, r) with  R R' = Cov of the candidates;  None where they are too many."""
        if len(self.mean(CANDIDATES)) > MOST_ROOTED:
            return None
        return pivoted_root(self.block(CANDIDATES, slice(None), CANDIDATES, slice(None)))

    def _positions(self, part: int, i: Index) -> np.ndarray:
        return np.arange(len(self.mean(part)))[i] if isinstance(i, slice) else np.asarray(i)

    def draw(self, n: int, generator: np.random.Generator) -> list[np.ndarray]:
        """Return joint draws of the parts; without a function for them from the dense covariance of all parts."""
        if self._draws is not None:
            drawn = self._draws(n, generator)
            return [drawn] if isinstance(drawn, np.ndarray) else list(drawn)
        every = slice(None)
        parts = range(self.n_parts)
        covariance = np.block([[self.block(a, every, b, every) for b in parts] for a in parts])
        root = root_of(covariance)
        latent = generator.standard_normal((n, root.shape[1])) @ root.T
        splits = np.cumsum([len(self.mean(part)) for part in parts])[:-1]
        return [self.mean(part) + s for part, s in zip(parts, np.split(latent, splits, axis=1), strict=True)]


class LinearSource:
    """Projections  rows @ u  (+ u_n with an intercept)  of a latent u with Gaussian moments.

    Parameters
    ----------
    rows : list of (m, n) arrays or sparse matrices, or None
        Of the candidates and of the target; None stands for the latents themselves.
    mean : (n,) array
    root : (n, r) array with covariance = root @ root.T, or None
    covariance : (n, n) array, (n,) its diagonal, or None
    intercept : bool
        The last latent is added to every projection; rows have n - 1 columns.
    moments : (mean, variance), optional
        Of the candidates' projections, (m,) arrays or functions that return them, where they are known already.
    """

    def __init__(
        self,
        rows: Sequence[Matrix | None],
        mean: np.ndarray,
        root: np.ndarray | None,
        covariance: np.ndarray | None,
        intercept: bool,
        moments: tuple[Moment, Moment] | None = None,
    ) -> None:
        if intercept and root is None:  # both sides of the covariance need the column of ones
            rows, intercept = [part if part is None else _with_ones(part) for part in rows], False
        self._rows, self._mean, self._intercept = rows, mean, intercept
        self._root: Any = root
        self._covariance: Any = covariance
        self._factors: list[tuple[Any, Any] | None] = [None] * len(rows)
        self._means: list[np.ndarray | None] = [None] * len(rows)
        self._moments = moments
        self.n_parts = len(rows)

    def mean(self, part: int) -> np.ndarray:
        mean = self._means[part]
        if mean is None and self._moments is not None and part == CANDIDATES:
            mean = self._means[part] = _value(self._moments[0])
        if mean is None:
            mean = self._means[part] = self._times(part, self._mean)
        return mean

    def steepness(self) -> tuple[float, float]:
        """Return |mean| and the largest deviation of a latent direction, of the latents that rows multiply."""
        n = len(self._mean) - self._intercept
        if self._root is not None:
            largest = float(np.linalg.norm(self._root[:n], 2)) if n <= 500 else float(np.linalg.norm(self._root[:n]))
        elif np.ndim(self._covariance) == 1:
            largest = float(np.sqrt(self._covariance[:n].max()))
        else:
            largest = float(np.sqrt(np.linalg.norm(self._covariance[:n, :n], 2)))
        return float(np.linalg.norm(self._mean[:n])), largest

    def _times(self, part: int, latents: np.ndarray) -> np.ndarray:
        rows = self._rows[part]
        if rows is None:
            return latents
        return rows @ latents[:-1] + latents[-1] if self._intercept else rows @ latents

    def _factor(self, part: int) -> tuple[Any, Any]:
        """Return (left, right) with  Cov(a, b) = left_a @ right_b.T."""
        factor = self._factors[part]
        if factor is None:
            rows: Any = self._rows[part]
            if self._root is not None:
                left = right = self._times(part, self._root)
            elif np.ndim(self._covariance) == 1:
                right = sparse.eye(len(self._mean), format="csr") if rows is None else rows
                diagonal = self._covariance
                left = right.multiply(diagonal).tocsr() if sparse.issparse(right) else right * diagonal
            else:
                right = np.eye(len(self._mean)) if rows is None else rows
                left = self._covariance if rows is None else rows @ self._covariance
            factor = self._factors[part] = (left, right)
        return factor

    def variance(self, part: int) -> np.ndarray:
        if self._moments is not None and part == CANDIDATES:
            return _value(self._moments[1])
        left, right = self._factor(part)
        if sparse.issparse(right):
            return np.asarray(right.multiply(left).sum(axis=1)).ravel()
        return np.einsum("ij,ij->i", left, right)

    def block(self, a: int, i: Index, b: int, j: Index) -> np.ndarray:
        rows = self._rows[b]
        if self._root is not None and self._factors[a] is None and rows is not None and not isinstance(j, slice):
            few = rows[j] @ (self._root[:-1] if self._intercept else self._root)
            if self._intercept:
                few = few + self._root[-1]
            if len(few) < len(self._mean) and isinstance(i, slice):  # many rows with few: all unknowns with these first
                return np.asarray(self._times(a, self._root @ few.T))[i]
        product = self._factor(a)[0][i] @ self._factor(b)[1][j].T
        return product.toarray() if sparse.issparse(product) else np.asarray(product)

    def rooted(self) -> np.ndarray | None:
        """Return R (m, r) with  R R' = Cov of the candidates, and no more columns than candidates or latents."""
        m, width = len(self.mean(CANDIDATES)), len(self._mean) if self._root is None else self._root.shape[1]
        if width > m:
            return pivoted_root(self.block(CANDIDATES, slice(None), CANDIDATES, slice(None)))
        if self._root is not None:
            root = self._factor(CANDIDATES)[0]
        elif np.ndim(self._covariance) == 1:
            rows, scale = self._factor(CANDIDATES)[1], np.sqrt(self._covariance)
            root = rows.multiply(scale).tocsr() if sparse.issparse(rows) else rows * scale
        else:
            root = self._factor(CANDIDATES)[1] @ root_of(self._covariance)
        return root.toarray() if sparse.issparse(root) else np.asarray(root)

    def draw(self, n: int, generator: np.random.Generator) -> list[np.ndarray]:
        """Return joint draws of the parts, by draws of u: the same in every chunk."""
        root: Any
        if self._root is not None:
            root = self._root
        elif np.ndim(self._covariance) == 1:
            root = sparse.diags(np.sqrt(self._covariance))
        else:
            root = root_of(self._covariance)
        latents = self._mean[:, None] + root @ generator.standard_normal((root.shape[1], n))
        return [self._times(part, latents).T for part in range(self.n_parts)]


def _value(moment: Moment) -> np.ndarray:
    return np.asarray(moment() if callable(moment) else moment, dtype=float)


def _with_ones(rows: Matrix) -> Matrix:
    ones = np.ones((rows.shape[0], 1))
    return sparse.hstack([rows, ones], format="csr") if sparse.issparse(rows) else np.hstack([rows, ones])


class ConditionedSource(ABC):
    """A source after something was learnt about one of its candidates; the parent may itself be one.

    A subclass says what it learnt: the moments of a part after its step, given those before, and where draws move.
    """

    def __init__(self, parent: Parts) -> None:
        self.n_parts = parent.n_parts
        self._parent = parent
        self._origin: Any = getattr(parent, "_origin", parent)  # the source before any fit
        self._means: dict[int, np.ndarray] = {}
        self._variances: dict[int, np.ndarray] = {}

    def mean(self, part: int) -> np.ndarray:
        for step in self._steps(lambda step: part in step._means):
            step._means[part] = step._mean_after(part, step._parent.mean(part))
        return self._means[part]

    def variance(self, part: int) -> np.ndarray:
        for step in self._steps(lambda step: part in step._variances):
            step._variances[part] = step._variance_after(part, step._parent.variance(part))
        return self._variances[part]

    def draw(self, n: int, generator: np.random.Generator) -> list[np.ndarray]:
        """Return the origin's draws, moved at each step so that its candidate has its new moments (Matheron's rule)."""
        drawn = self._origin.draw(n, generator)
        for step in self._steps():
            drawn = step._moved(drawn)
        return drawn

    def _steps(self, done: Callable[[Self], bool] = lambda step: False) -> list[Self]:
        """Return what was learnt after the last step that is ``done``, earliest first (a loop: batches may be long)."""
        steps: list[Any] = []
        step: Any = self
        while isinstance(step, ConditionedSource) and not done(step):  # type: ignore[arg-type]
            steps.append(step)
            step = step._parent
        return steps[::-1]

    @abstractmethod
    def _mean_after(self, part: int, mean: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _variance_after(self, part: int, variance: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _moved(self, drawn: list[np.ndarray]) -> list[np.ndarray]: ...


class Conditioned(ConditionedSource):
    """Projections after the moments of one changed.

    Parameters
    ----------
    parent : a source
    column : Column
        Of that candidate in ``parent``; shared by the what-ifs that differ in the outcome only.
    mean, variance : float
        What the candidate's projection has now.
    """

    def __init__(self, parent: Source, column: Column, mean: float, variance: float) -> None:
        super().__init__(parent)
        self._column = column
        self._shift = mean - column.mean
        self._shrink = column.variance - variance
        self._stretch = np.sqrt(max(variance, 0.0) / column.variance)
        self._corrections = [*getattr(parent, "_corrections", ()), (column, self._shrink)]

    def _mean_after(self, part: int, mean: np.ndarray) -> np.ndarray:
        return mean + self._column[part] * self._shift

    def _variance_after(self, part: int, variance: np.ndarray) -> np.ndarray:
        return np.maximum(variance - self._shrink * self._column[part] ** 2, 0.0)  # rounding: it cannot be negative

    def _moved(self, drawn: list[np.ndarray]) -> list[np.ndarray]:
        s = drawn[CANDIDATES][:, self._column.i]
        move = self._shift + (self._stretch - 1.0) * (s - self._column.mean)
        return [draws + np.multiply.outer(move, self._column[part]) for part, draws in enumerate(drawn)]

    def block(self, a: int, i: Index, b: int, j: Index) -> np.ndarray:
        block = self._origin.block(a, i, b, j)
        for column, shrink in self._corrections:
            block = block - np.multiply.outer(shrink * column[a][i], column[b][j])
        return block

    def rooted(self) -> np.ndarray | None:
        """Return R (m, r) with  R R' = Cov of the candidates: that of the origin times a root of what is left of I."""
        root = self._origin.rooted()
        if root is None:
            return None
        left = np.eye(root.shape[1])  # Cov = root left root'; a column of it is root left r_i
        for column, shrink in self._corrections:
            direction = left @ root[column.i] / column.variance
            left -= np.multiply.outer(shrink * direction, direction)
        return root @ root_of(left)


class Column:
    """Regression of everything on candidate ``i``: Cov(., s_i) / var(s_i), computed for a part when it is needed."""

    def __init__(self, source: Source, i: int) -> None:
        self.i = i
        self._source = source
        self.mean = float(source.mean(CANDIDATES)[i])
        self.variance = float(source.variance(CANDIDATES)[i])
        self._parts: dict[int, np.ndarray] = {}

    def __getitem__(self, part: int) -> np.ndarray:
        if part not in self._parts:
            column = self._source.block(part, slice(None), CANDIDATES, np.array([self.i]))
            self._parts[part] = column[:, 0] / self.variance
        return self._parts[part]


def root_of(covariance: np.ndarray) -> np.ndarray:
    """Return a square root of a covariance that may be singular, or of each of a stack of them.

    Examples
    --------
    >>> root = root_of(np.ones((2, 2)))
    >>> np.allclose(root @ root.T, 1.0)
    True
    """
    values, vectors = linalg.eigh(covariance) if covariance.ndim == 2 else np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]


def pivoted_root(covariance: np.ndarray) -> np.ndarray:
    """Return a root (m, r) of a covariance that may be singular, r its rank but for rounding, by pivoted Cholesky.

    Examples
    --------
    >>> root = pivoted_root(np.ones((3, 3)))
    >>> root.shape, np.allclose(root @ root.T, 1.0)
    ((3, 1), True)
    """
    largest = float(np.max(np.diagonal(covariance), initial=0.0))
    if largest <= 0.0:
        return np.zeros((len(covariance), 0))
    factor, pivots, rank, _ = linalg.lapack.dpstrf(covariance, tol=ROUNDED * largest, lower=1)
    root = np.empty((len(covariance), rank))
    root[pivots - 1] = np.tril(factor[:, :rank])
    return root
