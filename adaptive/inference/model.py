"""The model: u | y ~ N(y | X u, noise_variance I) N(u | prior_mean, prior_covariance) prod_j T_j(b_j . u)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse
from sklearn import get_config

from adaptive.checks import finite, positive
from adaptive.linalg.low_rank_covariance import LowRankCovariance
from adaptive.linalg.matrices import dense, stacked
from adaptive.operators import Dense, Identity, Operator, Reshaped, Sparse, Wavelet, as_operator
from adaptive.potentials.grouped import grouped

if TYPE_CHECKING:
    from adaptive.potentials import Potential
    from adaptive.types import ArrayLike, Covariance, Matrix, Potentials, Rows

    Projections: TypeAlias = Rows | ArrayLike | Sequence[Rows | ArrayLike | None] | None

__all__ = ["GLM", "matrix_of"]

_LARGEST_RANK_CHECK = 1500  # unknowns up to which a model without prior is checked for directions nothing determines


class GLM:
    """Generalised linear model: Gaussian measurements, a Gaussian prior, and potentials on linear projections.

    Parameters
    ----------
    X : array, sparse matrix or Operator (m, n), optional
        Rows of the Gaussian measurements; a complex operator on a real latent counts real and imaginary parts.
    y : array (m,), optional
        Their values.
    noise_variance : float, default 1.0
        Per real component.
    B : array, sparse matrix or Operator (q, n), or a list of them, optional
        Projections s = B u; None means the identity.
    potentials : Potential or list of Potential
        One group per entry of ``B``; each holds one potential per row, or scalars that serve every row. An empty list
        makes the model Gaussian.
    prior_mean : float or array (n,), optional
        Default zero; needs ``prior_covariance``.
    prior_covariance : float, array (n,) of variances, array (n, n) or LowRankCovariance, optional
        None: no Gaussian prior; then X and B together must determine every unknown.

    Attributes
    ----------
    n, projection_rows : int
        Unknowns, and rows of B in all groups together.
    latent_shape : tuple of int
        Shape of one latent as the operators see it.
    groups : list of (Operator, Potential)
        The projections with their potentials.

    Raises
    ------
    ValueError
        In one sentence: shapes that do not fit, NaN or infinity, a noise variance <= 0, a prior covariance that is not
        positive definite, outcomes missing from a likelihood, or unknowns that nothing determines.

    References
    ----------
    Nickisch (2010), Bayesian inference and experimental design for large generalised linear models, section 2.1.

    Examples
    --------
    >>> from adaptive.potentials import BernoulliLogit
    >>> model = GLM(B=[[1.0, 0.5], [0.0, 2.0]], potentials=BernoulliLogit([1, -1]), prior_covariance=1.0)
    >>> model
    GLM(n=2, measurements=0, projections=2 BernoulliLogit, prior covariance of scale)
    """

    def __init__(
        self,
        X: Rows | ArrayLike | None = None,
        y: ArrayLike | None = None,
        noise_variance: float = 1.0,
        *,
        B: Projections = None,
        potentials: Potentials,
        prior_mean: ArrayLike | None = None,
        prior_covariance: ArrayLike | LowRankCovariance | None = None,
    ):
        noise = positive("noise_variance", noise_variance)
        if noise.ndim:
            raise ValueError(f"noise_variance must be one number > 0, got an array of shape {noise.shape}.")
        self.noise_variance = float(noise)
        self.X = None if X is None else as_operator(X, "X")
        self.y = _outcomes(self.X, y)
        operators, families = _paired(B, potentials)
        self.n, self.latent_shape = _latent(self.X, operators, families, prior_mean, prior_covariance)
        self.groups = [
            _group(Identity(self.latent_shape) if b is None else b, p, self.n, k if len(families) > 1 else None)
            for k, (b, p) in enumerate(zip(operators, families, strict=True))
        ]
        self.group_lengths = [b.shape[0] for b, _ in self.groups]
        self.projection_rows = sum(self.group_lengths)
        self.prior_covariance = None if prior_covariance is None else _covariance(prior_covariance, self.n)
        self.prior_mean = _prior_mean(prior_mean, self.n, self.prior_covariance)
        self._check_determined()

    def __repr__(self) -> str:
        names = ", ".join(f"{b.shape[0]} {p.name}" for b, p in self.groups) or "none"
        prior = "no prior"
        if self.prior_covariance is not None:
            prior = "prior covariance " + ["of scale", "diagonal", "full"][np.ndim(self.prior_covariance)]
            if isinstance(self.prior_covariance, LowRankCovariance):
                prior = "prior covariance of low rank"
        return f"GLM(n={self.n}, measurements={self.measurements}, projections={names}, {prior})"

    @property
    def has_prior(self) -> bool:
        return self.prior_covariance is not None

    @property
    def measurements(self) -> int:
        """Number of real Gaussian measurements."""
        return 0 if self.y is None else self.y.size * (2 if self.y.dtype.kind == "c" else 1)

    @cached_property
    def potential(self) -> Potential | None:
        """All groups' potentials as one, over all projection rows."""
        if not self.groups:
            return None
        return grouped([p for _, p in self.groups], self.group_lengths)

    # ------------------------------------------------------------------ what matrix-free engines use, on flat latents
    def measure(self, u: np.ndarray) -> np.ndarray:
        """X u, flat (m,), complex where X is."""
        assert self.X is not None
        return self.X.forward(u.reshape(self.X.input_shape)).ravel()

    def back_measure(self, v: np.ndarray) -> np.ndarray:
        """Re X^H v, flat (n,)."""
        assert self.X is not None
        return np.ascontiguousarray(self.X.adjoint(v.reshape(self.X.output_shape)).real).ravel()

    def project(self, u: np.ndarray) -> np.ndarray:
        """B u over all groups, flat (q,)."""
        if not self.groups:
            return np.empty(0)
        return np.concatenate([b.forward(u.reshape(b.input_shape)).ravel() for b, _ in self.groups])

    def back_project(self, v: np.ndarray) -> np.ndarray:
        """B' v, flat (n,)."""
        total, start = np.zeros(self.n), 0
        for b, _ in self.groups:
            part = v[start : start + b.shape[0]]
            total += b.adjoint(part.reshape(b.output_shape)).ravel()
            start += b.shape[0]
        return total

    # ------------------------------------------------------------------ what dense engines use
    def measurement_rows(self) -> tuple[Matrix, np.ndarray]:
        """X and y as a real matrix and vector: for a complex X, Re X above Im X."""
        assert self.X is not None and self.y is not None
        matrix = matrix_of(self.X)
        if matrix.dtype.kind != "c" and self.y.dtype.kind != "c":
            return matrix, self.y
        return stacked([matrix.real, matrix.imag]), np.concatenate([self.y.real, self.y.imag])

    def beginning(self, lengths: Sequence[int]) -> GLM:
        """The model with so many first rows of every group, and their potentials, only."""
        pairs = zip(self.groups, lengths, strict=True)
        groups = [(b, p) if k == b.shape[0] else (matrix_of(b)[:k], p[:k]) for (b, p), k in pairs]
        return GLM(
            self.X,
            self.y,
            self.noise_variance,
            B=[b for b, _ in groups],
            potentials=[p for _, p in groups],
            prior_mean=self.prior_mean if self.has_prior else None,
            prior_covariance=self.prior_covariance,
        )

    def _each_alone(self, rows: list[Any]) -> bool:
        """Return whether rows look at unknowns one by one and at all of them, as priors of weights do."""
        if not rows or not all(np.all(np.diff(row.tocsr().indptr) <= 1) for row in rows):
            return False
        seen = sum(np.asarray(row.multiply(row).sum(axis=0)).ravel() for row in rows)
        return bool(np.all(np.asarray(seen) > 0))

    def _check_determined(self) -> None:
        if self.has_prior or self.n > _LARGEST_RANK_CHECK:
            return
        if any(isinstance(b, (Identity, Wavelet)) for b in (self.X, *(b for b, _ in self.groups))):
            return  # orthonormal: it determines everything by itself
        rows = ([] if self.X is None else [self.measurement_rows()[0]]) + [matrix_of(b) for b, _ in self.groups]
        if self._each_alone([row for row in rows if scipy.sparse.issparse(row)]):
            return
        gram = np.zeros((self.n, self.n))
        for row in rows:
            gram += dense(row.T @ row)
        scale = np.sqrt(np.diagonal(gram))
        unseen = int(np.argmin(scale))
        if rows and scale[unseen] > 0:
            values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
            if values[0] > self.n * np.finfo(float).eps:
                return
            unseen = int(np.argmax(np.abs(vectors[:, 0])))
        raise ValueError(
            f"the design is singular: without a prior, X and B together must have rank {self.n}, but nothing "
            f"determines unknown {unseen} (alone or with others); add rows, or give prior_covariance."
        )


def matrix_of(operator: Operator) -> Matrix:
    """The operator's matrix: sparse for Sparse and Identity, else dense."""
    while isinstance(operator, Reshaped):
        operator = operator.operator
    if isinstance(operator, (Dense, Sparse)):
        return operator.matrix
    if isinstance(operator, Identity):
        return scipy.sparse.eye_array(operator.shape[0], format="csr")
    return operator.to_dense()


def _paired(B: Projections, potentials: Potentials) -> tuple[list[Operator | None], list[Potential]]:
    families: list[Any] = list(potentials) if isinstance(potentials, (list, tuple)) else [potentials]
    many = isinstance(B, (list, tuple)) and any(b is None or isinstance(b, Operator) or np.ndim(b) == 2 for b in B)
    if isinstance(B, (list, tuple)) and (many or not len(B)):
        operators: list[Any] = list(B)
    else:
        operators = [B] * (1 if families or B is not None else 0)
    if len(operators) != len(families):
        raise ValueError(
            f"potentials must have one entry per entry of B ({len(operators)}), got {len(families)}; "
            "pass lists of equal length."
        )
    for family in families:
        if not hasattr(family, "log_density"):
            raise ValueError(f"potentials must be a Potential or a list of them, got {type(family).__name__}.")
    name = "B" if len(operators) == 1 else "every entry of B"
    return [None if b is None else as_operator(b, name) for b in operators], families


def _latent(
    X: Operator | None,
    operators: Sequence[Operator | None],
    families: Sequence[Potential],
    mean: ArrayLike | None,
    covariance: ArrayLike | LowRankCovariance | None,
) -> tuple[int, tuple[int, ...]]:
    """The number of unknowns and the latent's shape, from whatever says it; disagreement is an error."""
    found: list[tuple[str, tuple[int, ...]]] = [] if X is None else [("X", X.input_shape)]
    found += [("B", b.input_shape) for b in operators if b is not None]
    if covariance is not None and np.ndim(covariance):  # type: ignore[arg-type]
        found.append(("prior_covariance", (np.shape(covariance)[0],)))  # type: ignore[arg-type]
    if mean is not None and np.ndim(mean):
        found.append(("prior_mean", (np.size(mean),)))
    if not found:
        sizes = [p.size for b, p in zip(operators, families, strict=True) if b is None and p.size is not None]
        found = [("potentials", (k,)) for k in sizes]
    if not found:
        raise ValueError("the number of unknowns is not given: pass X, B, or a prior_mean or prior_covariance array.")
    name, shape = found[0]
    for other, given in found[1:]:
        if math.prod(given) != math.prod(shape):
            raise ValueError(f"{name} speaks about {math.prod(shape)} unknowns but {other} about {math.prod(given)}.")
    return math.prod(shape), shape


def _outcomes(X: Operator | None, y: ArrayLike | None) -> np.ndarray | None:
    if X is None or y is None:
        if X is None and y is None:
            return None
        missing = "X" if X is None else "y"
        raise ValueError(f"X and y belong together, {missing} is missing (for direct measurements X is the identity).")
    array = finite("y", y, dtype=None)
    kind = "c" if array.dtype.kind == "c" or X.dtype.kind == "c" else "f"
    if array.shape not in (X.output_shape, (X.shape[0],)):
        raise ValueError(f"y must have one value per row of X, shape {X.output_shape}, got {array.shape}.")
    if array.dtype.kind == "c" and X.dtype.kind != "c":
        raise ValueError("y is complex but X is real; pass real and imaginary parts as separate rows.")
    return array.ravel().astype(complex if kind == "c" else float)


def _group(operator: Operator, potential: Potential, n: int, k: int | None) -> tuple[Operator, Potential]:
    label = "potentials" if k is None else f"potentials[{k}]"
    if operator.dtype.kind == "c":
        raise ValueError("B must be real: wrap a complex operator in RealStacked, whose latent holds both parts.")
    if potential.size is not None and potential.size != operator.shape[0]:
        raise ValueError(f"{label} must hold one potential per row of B ({operator.shape[0]}), got {potential.size}.")
    parameters = potential.parameters
    if "y" in parameters and parameters["y"] is None:
        raise ValueError(
            f"{label} is the likelihood family {potential.name} without outcomes; pass {potential.name}(y)."
        )
    return operator, potential


def _covariance(covariance: ArrayLike | LowRankCovariance, n: int) -> Covariance | LowRankCovariance:
    if isinstance(covariance, LowRankCovariance):  # positive semi-definite by construction
        return covariance
    array = finite("prior_covariance", covariance)
    if array.ndim == 0 or array.shape == (n,):
        positive("prior_covariance", array)
        return float(array) if array.ndim == 0 else array
    if array.shape != (n, n):
        raise ValueError(f"prior_covariance must be a number or have shape ({n},) or ({n}, {n}), got {array.shape}.")
    if get_config()["assume_finite"]:  # scikit-learn's word for data that were checked before
        return array
    size = float(np.abs(array).max())
    if np.abs(array - array.T).max() > 1e-8 * size:
        raise ValueError("prior_covariance must be symmetric.")
    try:
        np.linalg.cholesky(array)
    except np.linalg.LinAlgError:  # semi-definite to rounding is legal: duplicate inputs of a kernel
        smallest = float(np.linalg.eigvalsh(array)[0])
        if smallest < -1e-10 * n * size or size == 0:
            raise ValueError(
                f"prior_covariance must be positive definite, its smallest eigenvalue is {smallest:.3g}."
            ) from None
    return array


def _prior_mean(mean: ArrayLike | None, n: int, covariance: Covariance | LowRankCovariance | None) -> np.ndarray:
    if mean is None:
        return np.zeros(n)
    if covariance is None:
        raise ValueError("prior_mean was given without prior_covariance.")
    array = finite("prior_mean", mean)
    if array.shape not in ((), (n,)):
        raise ValueError(f"prior_mean must be a number or have shape ({n},), got {array.shape}.")
    return np.broadcast_to(array, (n,)).copy()
