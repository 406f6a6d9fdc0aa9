"""The posterior precision: A = Re(X^H X) / noise variance + B^T diag(site precision) B + prior precision.

A is the inverse of the posterior covariance, in raw units. Nothing is formed: ``apply`` multiplies a batch of columns,
through the operators' own normal products. Unknowns are real arrays; a complex unknown is the real-stacked one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from adaptive.checks import finite, positive
from adaptive.operators import Operator, as_operator

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, OperatorLike, Projections

__all__ = ["PrecisionOperator"]

LARGEST_DENSE = 2**27  # entries of to_dense(): one GB in float64


class PrecisionOperator:
    """A = Re(X^H X) / noise_variance + B^T diag(site_precision) B + prior_precision.

    Parameters
    ----------
    X : Operator or matrix, optional
        Measurement operator, real or complex (the rows Re X and Im X then count separately, as for a real unknown).
    noise_variance : float, default 1.0
        Of every real component of a measurement.
    B : Operator, matrix or list of them, optional
        Groups of projections; their outputs are real.
    site_precision : array (q,), scalar or None
        One precision >= 0 for each projection, all groups one after the other; default 1.
    prior_precision : scalar, array of the unknown's shape, matrix (n, n) or None
        Inverse of a Gaussian prior's covariance.
    shape : tuple of int, optional
        Shape of the unknown, needed where neither X nor B says it.

    Attributes
    ----------
    input_shape : tuple of int
        Shape of one unknown.
    n, n_projections : int
        Number of unknowns and of projections.
    n_products : int
        Columns multiplied with A so far, here and in every system derived by `with_sites`.

    Raises
    ------
    ValueError
        If nothing tells the shape of the unknown, the operators act on several shapes, or some B is complex.

    References
    ----------
    Nickisch (2010), chapter 3, for the precision of a model with sites.

    Examples
    --------
    >>> A = PrecisionOperator([[1.0, 0.0]], 0.5, B=np.eye(2), site_precision=[1.0, 3.0])
    >>> A.apply([[1.0, 1.0]])
    array([[3., 3.]])
    >>> A.n_products
    1
    """

    def __init__(
        self,
        X: OperatorLike | None = None,
        noise_variance: float = 1.0,
        *,
        B: Projections | None = None,
        site_precision: ArrayLike | None = None,
        prior_precision: ArrayLike | None = None,
        shape: tuple[int, ...] | None = None,
    ):
        self.X = None if X is None else as_operator(X, "X")
        self.noise_variance = float(positive("noise_variance", noise_variance))
        groups = [] if B is None else list(B) if _is_list_of_groups(B) else [B]
        self.groups = [as_operator(group, "B") for group in groups]
        known = [part.input_shape for part in (self.X, *self.groups) if part is not None]
        if shape is not None:
            known.append(tuple(shape))
        if not known:
            raise ValueError("a precision needs X, B or shape to know the unknown's shape.")
        if any(other != known[0] for other in known):
            raise ValueError(f"X and every B must act on unknowns of one shape, got {sorted(set(known))}.")
        for group in self.groups:
            if group.dtype.kind == "c":
                raise ValueError(f"the projections B must be real, got {group}: stack real and imaginary part.")
        self.input_shape = known[0]
        self.n = int(np.prod(self.input_shape))
        stops = np.cumsum([0] + [group.shape[0] for group in self.groups])
        self.slices = [slice(int(a), int(b)) for a, b in pairwise(stops)]
        self.n_projections = int(stops[-1])
        self.site_precision = self._site_precision(site_precision)
        self.prior_precision = self._prior_precision(prior_precision)
        self._count = [0]
        self._casts: dict[np.dtype, tuple[list[np.ndarray], np.ndarray | None]] = {}

    @property
    def n_products(self) -> int:
        return self._count[0]

    def __getstate__(self) -> dict[str, Any]:
        """A copy counts its own products."""
        return {**self.__dict__, "_count": [0], "_casts": {}}

    def with_sites(self, site_precision: ArrayLike | None) -> PrecisionOperator:
        """The same system at other site precisions; products are counted together."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.site_precision = self._site_precision(site_precision, copy=False)  # one array with the caller's
        other._casts = {}
        return other

    def with_measurements(self, X: OperatorLike | None, noise_variance: float | None = None) -> PrecisionOperator:
        """The same projections, sites and prior with another X; products are counted together."""
        other = PrecisionOperator(
            X,
            self.noise_variance if noise_variance is None else noise_variance,
            B=self.groups,
            site_precision=self.site_precision,
            prior_precision=self.prior_precision,
            shape=self.input_shape,
        )
        other._count = self._count
        return other

    def apply(self, u: ArrayLike) -> np.ndarray:
        """A u for columns ``u`` of shape (b, *input_shape), in the precision of ``u``."""
        u = np.asarray(u)
        if u.dtype.char not in "fd":
            u = u.astype(float)
        weights, prior = self._cast(u.dtype)
        self._count[0] += len(u)
        result = None
        if self.X is not None:
            result = self.X.normal(u).astype(u.dtype, copy=False)
            result *= u.dtype.type(1 / self.noise_variance)
        for group, weight in zip(self.groups, weights, strict=True):
            part = group.normal(u, weight)
            result = part if result is None else np.add(result, part, out=result)
        if prior is not None:
            part = (u.reshape(len(u), -1) @ prior).reshape(u.shape) if self._dense_prior else prior * u
            result = part if result is None else np.add(result, part, out=result)
        return np.zeros_like(u) if result is None else result

    __call__ = apply

    def project(self, u: ArrayLike) -> np.ndarray:
        """B u, all groups flat, for ``u`` of shape (b, *input_shape); returns (b, q)."""
        u = np.asarray(u)
        if len(self.groups) == 1:
            return self.groups[0].forward(u).reshape(len(u), -1)
        result = np.empty((len(u), self.n_projections), u.dtype if u.dtype.char in "fd" else float)
        for group, rows in zip(self.groups, self.slices, strict=True):
            result[:, rows] = group.forward(u).reshape(len(u), -1)
        return result

    def back_project(self, s: ArrayLike) -> np.ndarray:
        """B^T s for ``s`` of shape (b, q); returns (b, *input_shape)."""
        s = np.asarray(s)
        result = np.zeros((len(s), *self.input_shape), s.dtype if s.dtype.char in "fd" else float)
        for group, rows in zip(self.groups, self.slices, strict=True):
            result += group.adjoint(np.ascontiguousarray(s[:, rows]).reshape(len(s), *group.output_shape))
        return result

    def prior_root(self, c: np.ndarray) -> np.ndarray:
        """L c for columns c, prior precision = L L^T: what the prior adds to a perturbation."""
        prior = self.prior_precision
        if prior is None:
            return np.zeros_like(c)
        if self._dense_prior:
            root = np.linalg.cholesky(prior).astype(c.dtype)
            return (c.reshape(len(c), -1) @ root.T).reshape(c.shape)
        return np.sqrt(prior).astype(c.dtype) * c

    def to_dense(self) -> np.ndarray:
        """The matrix (n, n), refused above 2^27 entries; its products are not counted."""
        if self.n**2 > LARGEST_DENSE:
            raise ValueError(
                f"a dense precision of {self.n} unknowns needs {8e-9 * self.n**2:.1f} GB; expected n <= 11585."
            )
        matrix = np.empty((self.n, self.n))
        step = max(1, 2**22 // self.n)
        before = self._count[0]
        for first in range(0, self.n, step):
            stop = min(first + step, self.n)
            unit = np.zeros((stop - first, self.n))
            unit[np.arange(stop - first), np.arange(first, stop)] = 1
            matrix[first:stop] = self.apply(unit.reshape(-1, *self.input_shape)).reshape(stop - first, self.n)
        self._count[0] = before
        return (matrix + matrix.T) / 2

    def _site_precision(self, values: ArrayLike | None, copy: bool = True) -> np.ndarray:
        if values is None:
            return np.broadcast_to(1.0, (self.n_projections,))
        single = isinstance(values, np.ndarray) and values.dtype == np.float32 and not copy
        values = positive("site_precision", values, or_zero=True, dtype=None if single else float)
        if values.ndim and values.shape != (self.n_projections,):
            raise ValueError(f"site_precision must have shape ({self.n_projections},), got {values.shape}.")
        return values if values.ndim and not copy else np.broadcast_to(values, (self.n_projections,)).copy()

    def _prior_precision(self, values: ArrayLike | None) -> np.ndarray | None:
        self._dense_prior = False
        if values is None:
            return None
        values = finite("prior_precision", values)
        self._dense_prior = values.shape == (self.n, self.n) and values.shape != self.input_shape
        if self._dense_prior:
            return values
        positive("prior_precision", values, or_zero=True)
        if values.shape == (self.n,):
            values = values.reshape(self.input_shape)
        if values.ndim and values.shape != self.input_shape:
            raise ValueError(f"prior_precision must be a scalar or have shape {self.input_shape}, got {values.shape}.")
        return values

    def _cast(self, dtype: np.dtype) -> tuple[list[np.ndarray], np.ndarray | None]:
        """Weights of each group and the prior's, in the precision of the columns; kept, since every product asks."""
        if dtype not in self._casts:
            sites = self.site_precision.astype(dtype, copy=False)
            prior = None if self.prior_precision is None else self.prior_precision.astype(dtype)
            shaped = [
                sites[rows].reshape(group.output_shape) for group, rows in zip(self.groups, self.slices, strict=True)
            ]
            self._casts[dtype] = shaped, prior
        return self._casts[dtype]


def _is_list_of_groups(B: object) -> TypeGuard[Sequence[OperatorLike]]:
    """A list of operators or matrices, as against one matrix written as nested lists."""
    if not isinstance(B, (list, tuple)):
        return False
    return all(isinstance(part, Operator) or np.ndim(part) == 2 or hasattr(part, "tocsr") for part in B)


def groups_of(rows: Projections) -> list[Operator]:
    """Rows as a list of operators."""
    return [as_operator(group, "rows") for group in (rows if _is_list_of_groups(rows) else [rows])]
