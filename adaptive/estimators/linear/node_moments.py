"""Moments of rows' latents at every node of a mixture: rows are multiplied once with what all nodes ask of them.

    many rows learnt    m_k = [x 1] . mean_k,          v_k = |[x 1] R_k|^2,                       R_k R_k' = V_k
    few, F              g = F x,  q_k = p_k g + c,     m_k = q_k . alpha_k,   v_k = p_k |x|^2 + c - |H_k q_k|^2

with p_k and c the prior variances of a weight and of the intercept, H_k' H_k = (K_k + W_k^-1)^-1, and W_k the sites.
Rows of single precision are cast a block at a time, while it is in the processor's cache: products in single precision
would round a row differently from one place in a chunk to another, and break ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from adaptive.estimators.rows.linear_predictive import LARGEST_ROOT
from adaptive.gaussians import CovarianceForm
from adaptive.inference import IncludedPosterior

if TYPE_CHECKING:
    from adaptive.inference import Posterior
    from adaptive.types import Matrix

__all__ = ["Moments", "NodeMoments", "RowMoments", "times"]

IN_CACHE = 2**18  # numbers of a block and of its products
FEW, MANY = 16, 2**13  # directions and rows of single precision from which on a compiled product is the quicker
WIDE = 256  # unknowns from which on half of a triangular root is worth leaving out
Computed: TypeAlias = Callable[[], np.ndarray]


class Moments(Protocol):
    """Means and variances of any rows at every node, (nodes, m) each."""

    roots: list[np.ndarray | None]
    n_columns: int

    def __call__(self, rows: Matrix) -> tuple[np.ndarray, np.ndarray]: ...


class NodeMoments:
    """Means and variances of any rows at every node.

    Parameters
    ----------
    parts : one for each node, ``(mean (n,), root (n, r))``
        Of weights and, last, the intercept if there is one.
    intercept : bool

    Attributes
    ----------
    roots : list of (n, r) arrays, or None where none is cheap
    n_columns : int
        What rows are multiplied with.
    """

    def __init__(self, parts: Sequence[tuple[np.ndarray, np.ndarray]], intercept: bool) -> None:
        self.roots: list[np.ndarray | None] = [root for _, root in parts]
        self.intercept, self.parts = intercept, list(parts)
        self._means = np.column_stack([mean for mean, _ in parts])
        self.n_columns = len(parts) + sum(root.shape[1] for _, root in parts)
        # columns of all roots in strips, and which node each is of; of a wide root what is above its triangle only
        n, self._strips = len(self._means), []
        if n < WIDE:
            sizes = [root.shape[1] for _, root in parts]
            self._strips.append((n, np.concatenate([root for _, root in parts], axis=1), _owners(sizes)))
        else:
            for k, (_, root) in enumerate(parts):
                for strip in gen_batches(root.shape[1], WIDE // 2):
                    used = np.flatnonzero(root[:, strip].any(axis=1))
                    depth = int(used[-1]) + 1 if len(used) else 0
                    sizes = [(j == k) * root[:, strip].shape[1] for j in range(len(parts))]
                    self._strips.append((depth, root[:depth, strip], _owners(sizes)))

    @staticmethod
    def of(posteriors: Sequence[Posterior], intercept: bool) -> Moments | None:
        """Return what computes the moments under these posteriors; None where there is no common way."""
        few = FewRowsMoments.at(posteriors, intercept)
        if few is not None:
            return few
        n = posteriors[0].n
        if n > LARGEST_ROOT or any(posterior.n != n for posterior in posteriors):
            return None
        parts = []
        for posterior in posteriors:
            root = posterior.projection_root(np.eye(n))
            if root is None:
                return None
            parts.append((posterior.mean, root))
        return NodeMoments(parts, intercept)

    def __call__(self, rows: Matrix) -> tuple[np.ndarray, np.ndarray]:
        """Return means and variances (nodes, m)."""
        count, m = len(self.roots), rows.shape[0]
        mean, variance = np.empty((count, m)), np.zeros((count, m))
        width = max(strip.shape[1] for _, strip, _ in self._strips)
        for part, block in _blocks(rows, self._means.shape[1] + width):
            mean[:, part] = _times(block, self._means, self.intercept).T
            for depth, strip, owners in self._strips:
                inner = self.intercept and depth == len(self._means)
                products = _times(block if inner or depth == block.shape[1] else block[:, :depth], strip, inner)
                np.square(products, out=products)
                variance[:, part] += (products @ owners).T
        return mean, variance


class FewRowsMoments:
    """The same where fewer rows were learnt than there are unknowns, by their products with the rows in question.

    Parameters
    ----------
    learnt : (q, d) array
        Rows without the constant feature.
    scales : (nodes,) array
        Prior variances p of a weight.
    constant : float
        Prior variance c of the intercept, 0 without one.
    slopes : (nodes, q) array
        alpha.
    whiteners : (nodes, q, q) array
        H.
    included : sequence of (node, direction (n,), step, factor)
        Rows that were included since: mean += step (x . direction), variance -= factor (x . direction)^2.
    intercept : bool
    """

    def __init__(
        self,
        learnt: np.ndarray,
        scales: np.ndarray,
        constant: float,
        slopes: np.ndarray,
        whiteners: np.ndarray,
        included: Sequence[tuple[int, np.ndarray, float, float]],
        intercept: bool,
    ) -> None:
        self.roots: list[np.ndarray | None] = [None] * len(scales)
        self.intercept = intercept
        self._scales, self._constant, self._included = scales, constant, list(included)
        self._count, count = len(learnt), len(scales)
        self._stacked = np.concatenate([learnt.T, np.zeros((int(intercept), len(learnt)))])
        if self._included:
            self._stacked = np.column_stack([self._stacked, *(direction for _, direction, _, _ in self._included)])
        self.n_columns = self._stacked.shape[1]
        # of g: alpha . q and H q of every node, and what is added for the intercept
        every = np.concatenate([slopes[:, None], whiteners], axis=1)  # (nodes, 1 + q, q)
        self._of_products = (scales[:, None, None] * every).reshape(-1, len(learnt)).T
        self._added = (constant * every.sum(axis=2)).ravel()
        self._shape = (count, 1 + len(learnt))

    @classmethod
    def at(cls, posteriors: Sequence[Posterior], intercept: bool) -> FewRowsMoments | None:
        """Return the moments under posteriors of one set of rows, each at a prior scale of its own; else None."""
        bases = [posterior.base if isinstance(posterior, IncludedPosterior) else posterior for posterior in posteriors]
        forms: list[Any] = [base.gaussian for base in bases]
        if not all(isinstance(form, CovarianceForm) and isinstance(form.rows, np.ndarray) for form in forms):
            return None
        rows, width, found = forms[0].rows, forms[0].n - intercept, []
        for form in forms:
            prior, whitener = np.asarray(form.prior_covariance, dtype=float), form.whitener()
            plain = prior.ndim == 1 and form.data_count == 0 and not form.shift.any() and np.ptp(prior[:width]) == 0.0
            if whitener is None or not plain or (form.rows is not rows and not np.array_equal(form.rows, rows)):
                return None
            found.append((prior[0], prior[width] if intercept else 0.0, form.slope, whitener))
        constants = {constant for _, constant, _, _ in found}
        if width == 0 or len(constants) > 1:
            return None
        included = [
            (k, update.direction, update.step, update.factor)
            for k, posterior in enumerate(posteriors)
            if isinstance(posterior, IncludedPosterior)
            for update in posterior.updates
        ]
        scales, _, slopes, whiteners = (np.array(values) for values in zip(*found, strict=True))
        return cls(rows[:, :width], scales, constants.pop(), slopes, whiteners, included, intercept)

    def __call__(self, rows: Matrix) -> tuple[np.ndarray, np.ndarray]:
        """Return means and variances (nodes, m)."""
        m, count = rows.shape[0], self._shape[0]
        mean, variance = np.empty((count, m)), np.empty((count, m))
        columns = self._stacked.shape[1] + self._of_products.shape[1]
        for part, block in _blocks(rows, columns):
            products, squares = _times(block, self._stacked, self.intercept), np.einsum("ij,ij->i", block, block)
            nodes = (products[:, : self._count] @ self._of_products + self._added).reshape(-1, *self._shape)
            mean[:, part] = nodes[:, :, 0].T
            prior = np.multiply.outer(self._scales, squares) + self._constant
            variance[:, part] = prior - np.einsum("bkq,bkq->kb", nodes[:, :, 1:], nodes[:, :, 1:])
            np.maximum(variance[:, part], 0.0, out=variance[:, part])
            for (k, _, step, factor), along in zip(self._included, products[:, self._count :].T, strict=True):
                mean[k, part] += step * along
                variance[k, part] -= factor * np.square(along)
        return mean, np.maximum(variance, 0.0)


class RowMoments:
    """Means and variances of some rows at every node, computed for all when the first is asked for.

    Parameters
    ----------
    moments : Moments
    rows : (m, d) array
    """

    def __init__(self, moments: Moments, rows: Matrix) -> None:
        self._moments, self._rows = moments, rows
        self._found: tuple[np.ndarray, np.ndarray] | None = None

    def _at(self, which: int, k: int) -> np.ndarray:
        if self._found is None:
            self._found = self._moments(self._rows)
        return self._found[which][k]

    def of_node(self, k: int) -> tuple[Computed, Computed]:
        """Return functions that give mean and variance (m,) at node ``k``."""
        return (lambda: self._at(0, k)), (lambda: self._at(1, k))


def times(rows: Matrix, vectors: np.ndarray, intercept: bool) -> np.ndarray:
    """Return the projections (m, c) of rows onto vectors (n, c), whose last entries are added with ``intercept``.

    Examples
    --------
    >>> times(np.array([[1.0, 2.0]], dtype=np.float32), np.array([[1.0], [1.0], [0.5]]), intercept=True)
    array([[3.5]])
    """
    if sp.issparse(rows):
        return np.asarray(rows @ vectors[:-1]) + vectors[-1] if intercept else np.asarray(rows @ vectors)
    found = np.empty((rows.shape[0], vectors.shape[1]), order="F")
    if rows.dtype == np.float32 and rows.flags.c_contiguous and vectors.shape[1] <= FEW and rows.shape[0] >= MANY:
        from adaptive.linalg.compiled import single_times  # compiles when it is first used

        single_times(rows, np.ascontiguousarray(vectors[: rows.shape[1]].T), found)
        if intercept:
            found += vectors[-1]
        return found
    for part, block in _blocks(rows, vectors.shape[1]):
        found[part] = _times(block, vectors, intercept)
    return found


def _blocks(rows: Any, columns: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield blocks of rows in double precision that stay in cache beside their products, of so many columns."""
    for part in gen_batches(rows.shape[0], max(64, IN_CACHE // (rows.shape[1] + columns))):
        yield part, np.asarray(rows[part], dtype=float)


def _times(block: np.ndarray, matrix: np.ndarray, intercept: bool) -> np.ndarray:
    return block @ matrix[:-1] + matrix[-1] if intercept else block @ matrix


def _owners(sizes: Sequence[int]) -> np.ndarray:
    """Return (columns, nodes): 1 where a column is of a node, of which each has so many that stand together."""
    return np.repeat(np.eye(len(sizes)), sizes, axis=0)
