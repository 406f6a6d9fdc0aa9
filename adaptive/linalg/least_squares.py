"""Reconstruction without a prior: X u = y in the least-squares sense, or X^H G y with weights G for uneven sampling.

    minimum norm    u = X^H (X X^H)^-1 y            by LSQR, for any operator
    weighted        u = X^H G y                     G: the share of k-space around each sample (density compensation)

The weights are those of `voronoi`. A half-plane design of a real image is completed by the mirrored samples
(-k, conj y).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.checks import finite, integer, positive
from adaptive.operators import as_operator

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, OperatorLike

__all__ = ["density_compensated", "least_squares"]


def least_squares(
    X: OperatorLike, y: ArrayLike, *, damping: float = 0.0, tol: float = 1e-8, max_iter: int = 500, real: bool = False
) -> np.ndarray:
    """argmin |X u - y|^2 + damping^2 |u|^2, of least norm where several are minimal, by LSQR.

    Parameters
    ----------
    X : Operator or matrix
        The measurement operator.
    y : array (*output_shape)
        Measurements.
    damping : float, default 0
        Weight of a ridge.
    tol : float, default 1e-8
        Stops when |X^H r| <= tol |X| |r| or |r| <= tol |y|.
    max_iter : int, default 500
        Products with X and with X^H.
    real : bool, default False
        The unknown is real although X is complex.

    Returns
    -------
    array (*input_shape)

    Raises
    ------
    ValueError
        If ``y`` has another shape than the operator's output.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` was reached first.

    References
    ----------
    Paige and Saunders (1982), LSQR. Nickisch (2010), table 6.1.

    Examples
    --------
    >>> least_squares([[1.0, 1.0]], [2.0]).round(9)
    array([1., 1.])
    """
    X = as_operator(X, "X")
    y = finite("y", y, dtype=None)
    if y.shape != X.output_shape:
        raise ValueError(f"y must have shape {X.output_shape}, got {y.shape}.")
    tol, damping = float(positive("tol", tol)), float(positive("damping", damping, or_zero=True))
    kind = complex if X.dtype.kind == "c" or y.dtype.kind == "c" else float

    def adjoint(v: np.ndarray) -> np.ndarray:
        back = X.adjoint(v)
        return back.real if real else back

    # Golub-Kahan bidiagonalisation with plane rotations; names as in Paige and Saunders.
    u, beta = _normalised(y.astype(kind))
    x = np.zeros(X.input_shape, float if real else kind)
    if beta == 0:
        return x
    v, alpha = _normalised(adjoint(u))
    w, phi, rho_bar = v.copy(), beta, alpha
    size, residual_of_damping = alpha**2 + damping**2, 0.0  # |X|_F^2 so far
    for _ in range(integer("max_iter", max_iter, minimum=1)):
        if alpha == 0:
            return x
        u, beta = _normalised(X.forward(v) - alpha * u)
        v, alpha = _normalised(adjoint(u) - beta * v)
        size += alpha**2 + beta**2 + damping**2
        # Rotate the damping away, then the subdiagonal.
        rho_one = np.hypot(rho_bar, damping)
        psi = damping / rho_one * phi
        phi *= rho_bar / rho_one
        rho = np.hypot(rho_one, beta)
        c, s = rho_one / rho, beta / rho
        theta, rho_bar = s * alpha, -c * alpha
        x += c * phi / rho * w
        w = v - theta / rho * w
        phi_next = s * phi
        residual_of_damping += psi**2
        residual = np.hypot(phi_next, np.sqrt(residual_of_damping))
        gradient = abs(phi_next * alpha * c)
        phi = phi_next
        if gradient <= tol * np.sqrt(size) * residual or residual <= tol * np.linalg.norm(y):
            return x
    warnings.warn(
        f"LSQR stopped after {max_iter} iterations at a relative residual of {residual / np.linalg.norm(y):.1e}.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return x


def density_compensated(X: OperatorLike, y: ArrayLike, weights: ArrayLike, *, mirror: bool = False) -> np.ndarray:
    """X^H G y, G = diag(weights).

    Parameters
    ----------
    X : Operator or matrix
        The measurement operator.
    y : array (*output_shape)
        Measurements.
    weights : array
        Broadcasts to the output shape, for example `line_weights` with axes of length one added.
    mirror : bool, default False
        Add the conjugate measurements (rows conj X, outcomes conj y) that a real image has as well; the weights must be
        those of the completed set.

    Returns
    -------
    ndarray of the unknown's shape

    Raises
    ------
    ValueError
        If ``y`` has another shape than the operator's output, or a weight is negative or does not broadcast to it.

    References
    ----------
    Pipe and Menon (1999), Sampling density compensation in MRI.

    Examples
    --------
    >>> density_compensated(np.eye(2), [1.0, 2.0], [1.0, 3.0])
    array([1., 6.])
    """
    X = as_operator(X, "X")
    y = finite("y", y, dtype=None)
    if y.shape != X.output_shape:
        raise ValueError(f"y must have shape {X.output_shape}, got {y.shape}.")
    try:
        weighted = y * np.broadcast_to(positive("weights", weights, or_zero=True), X.output_shape)
    except ValueError as error:
        raise ValueError(f"weights must be >= 0 and broadcast to the output shape {X.output_shape}: {error}") from None
    image = X.adjoint(weighted)
    return 2 * image.real if mirror else image


def _normalised(v: np.ndarray) -> tuple[np.ndarray, float]:
    norm = float(np.linalg.norm(v))
    return (v / norm if norm > 0 else v), norm
