"""Criteria of a design: Kiefer's phi_p(V) = (trace(V^p) / d)^(1/p) of the covariance V = (X^T X + P)^-1.

    p -> 0      det(V)^(1/d)          D    the volume of the confidence ellipsoid (the product of the eigenvalues)
    p = 1       trace(V) / d          A    the mean variance
    p -> inf    largest eigenvalue    E    the worst direction
    I, V        trace(V W)                 the mean variance of predictions, W the mean of x x^T over a region or points

Smaller is better. A criterion knows its value and, for a run that is replaced, the values with each candidate in its
place: closed forms of rank two for D, A, I and V, eigenvalues for all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from adaptive.checks import finite

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["Criterion", "Determinant", "Eigenvalues", "MeanVariance", "kiefer"]


def kiefer(covariance: ArrayLike, p: float) -> float:
    """Kiefer's phi_p of a covariance matrix.

    Parameters
    ----------
    covariance : array-like (d, d)
        Symmetric, positive definite.
    p : float >= 0
        0 for the D-, 1 for the A-, infinity for the E-criterion.

    Returns
    -------
    float
        In the units of a variance; a multiple of the identity has its factor as the value, whatever p.

    Raises
    ------
    ValueError
        If the covariance is not square, symmetric and positive definite, or p is negative.

    References
    ----------
    Kiefer (1974), General equivalence theory for optimum designs.

    Examples
    --------
    >>> [round(kiefer(np.diag([1.0, 4.0]), p), 3) for p in (0, 1, np.inf)]
    [2.0, 2.5, 4.0]
    """
    matrix = finite("covariance", covariance)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise ValueError(f"covariance must be a square matrix, got shape {matrix.shape}.")
    if not np.allclose(matrix, matrix.T):
        raise ValueError("covariance must be symmetric.")
    if np.isnan(p) or p < 0:
        raise ValueError(f"p must be 0 or larger (infinity allowed), got {p}.")
    values = np.linalg.eigvalsh(matrix)
    if values[0] <= 0:
        raise ValueError(f"covariance must be positive definite, its smallest eigenvalue is {values[0]:.3g}.")
    return float(_power_mean(values, p))


def _power_mean(values: np.ndarray, p: float) -> np.ndarray:
    """Power mean over the last axis, scaled by the largest value so that no power overflows."""
    largest = values.max(axis=-1)
    if p == np.inf:
        return largest
    ratio = values / largest[..., None]
    if p == 0:
        return largest * np.exp(np.log(ratio).mean(axis=-1))
    return largest * (ratio**p).mean(axis=-1) ** (1 / p)


class Criterion:
    """Smaller is better; everything is a function of the information M = X^T X + P and of V = M^-1."""

    def stages(self) -> list[Criterion]:
        """Criteria to minimise one after the other, itself last."""
        return [self]

    def value(self, information: np.ndarray) -> float:
        """The criterion; infinite where the information is singular."""
        raise TypeError(f"{type(self).__name__} must define value(information).")

    def swapped(self, information: np.ndarray, covariance: np.ndarray, out: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Values (n,) after row ``out`` (d,) has left the design and each of ``rows`` (n, d) has come in its place."""
        raise TypeError(f"{type(self).__name__} must define swapped(information, covariance, out, rows).")


def _quadratics(covariance: np.ndarray, out: np.ndarray, rows: np.ndarray) -> tuple[Number, np.ndarray, np.ndarray]:
    """x^T V x for the row that leaves, for those that may come, and their mixed terms."""
    left = covariance @ out
    return out @ left, rows @ left, np.einsum("ni,ni->n", rows @ covariance, rows)


def _determinant_ratio(leaving: Number, mixed: np.ndarray, coming: np.ndarray) -> np.ndarray:
    """|M + x x^T - z z^T| / |M|, Fedorov's function plus one."""
    return (1 + coming) * (1 - leaving) + mixed**2


class Determinant(Criterion):
    """det(V)^(1/d): the D-criterion.

    Parameters
    ----------
    d : int
        Number of unknowns that count.
    offset : float, default 0.0
        ln|M| of the nuisance unknowns alone, a constant of the design.

    References
    ----------
    Fedorov (1972), Theory of optimal experiments, chapter 3.
    """

    def __init__(self, d: int, offset: float = 0.0):
        self.d, self.offset = d, offset

    def value(self, information: np.ndarray) -> float:
        sign, log_determinant = np.linalg.slogdet(information)
        return float(np.exp((self.offset - log_determinant) / self.d)) if sign > 0 else np.inf

    def swapped(self, information: np.ndarray, covariance: np.ndarray, out: np.ndarray, rows: np.ndarray) -> np.ndarray:
        ratio = _determinant_ratio(*_quadratics(covariance, out, rows))
        with np.errstate(divide="ignore", over="ignore"):
            return self.value(information) * np.maximum(ratio, 0.0) ** (-1 / self.d)


class MeanVariance(Criterion):
    """trace(V W): A with W = I / d, I and V with the second moments of a region or of points.

    Parameters
    ----------
    weight : array (d, d)
        W, symmetric and positive semi-definite.
    """

    def __init__(self, weight: np.ndarray):
        self.weight = weight

    def value(self, information: np.ndarray) -> float:
        try:
            factor = scipy.linalg.cho_factor(information)
        except np.linalg.LinAlgError:
            return np.inf
        return float(np.trace(scipy.linalg.cho_solve(factor, self.weight)))

    def swapped(self, information: np.ndarray, covariance: np.ndarray, out: np.ndarray, rows: np.ndarray) -> np.ndarray:
        leaving, mixed, coming = _quadratics(covariance, out, rows)
        spread = covariance @ self.weight @ covariance
        ratio = _determinant_ratio(leaving, mixed, coming)
        lost, cross, gained = _quadratics(spread, out, rows)
        # Woodbury with two rows: the matrix [[1 + coming, mixed], [mixed, leaving - 1]] has the determinant -ratio
        change = (gained * (1 - leaving) + 2 * mixed * cross - (1 + coming) * lost) / np.where(ratio > 0, ratio, 1.0)
        return np.where(ratio > 0, np.sum(covariance * self.weight) - change, np.inf)


class Eigenvalues(Criterion):
    """phi_p of any p by the eigenvalues of the information; p = infinity is the E-criterion.

    Parameters
    ----------
    p : float >= 0
        The power.
    part : slice, optional
        The unknowns that count, when nuisance unknowns (block effects) stand beside them.
    """

    def __init__(self, p: float, part: slice | None = None):
        self.p, self.part = p, part

    def stages(self) -> list[Criterion]:
        # Where several eigenvalues share the first place no single exchange lowers them all: a smooth power goes ahead.
        return [Eigenvalues(4.0, self.part), self] if self.p > 4 else [self]

    def value(self, information: np.ndarray) -> float:
        return float(self._values(information[None])[0])

    def swapped(self, information: np.ndarray, covariance: np.ndarray, out: np.ndarray, rows: np.ndarray) -> np.ndarray:
        rest = information - np.outer(out, out)
        step = max(1, 2**22 // information.size)  # blocks of candidates, so that memory stays small
        pieces = [rows[start : start + step] for start in range(0, len(rows), step)]
        return np.concatenate([self._values(rest + piece[:, :, None] * piece[:, None, :]) for piece in pieces])

    def _values(self, information: np.ndarray) -> np.ndarray:
        values = np.linalg.eigvalsh(information)
        regular = values[:, 0] > 1e-12 * values[:, -1]
        result = np.full(len(values), np.inf)
        if regular.any():
            if self.part is None:
                inverse = 1 / values[regular]
            else:
                covariance = np.linalg.inv(information[regular])
                inverse = np.linalg.eigvalsh(covariance[:, self.part, self.part])
            result[regular] = _power_mean(inverse, self.p)
        return result
