"""Reconstruction without a prior: X u = y in the least-squares sense, or X^H G y with weights G for uneven sampling.

    minimum norm    u = X^H (X X^H)^-1 y            by LSQR, for any operator
    weighted        u = X^H G y                     G: the share of k-space around each sample (density compensation)

Weights of samples on a line or in the plane are the sizes of their Voronoi cells, those at the edge clipped to the
measured region. A half-plane design of a real image is completed by the mirrored samples (-k, conj y).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.spatial import Voronoi
from sklearn.exceptions import ConvergenceWarning

from ..checks import finite, integer, positive
from ..operators import as_operator

__all__ = ["density_compensated", "least_squares", "line_weights", "sample_weights"]


def least_squares(
    X: Any, y: Any, *, damping: float = 0.0, tol: float = 1e-8, max_iter: int = 500, real: bool = False
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


def density_compensated(X: Any, y: Any, weights: Any, *, mirror: bool = False) -> np.ndarray:
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


def line_weights(lines: Any, n_lines: int, *, mirror: bool = False) -> np.ndarray:
    """Half the distances to both neighbours, for lines of a k-space with ``n_lines`` of them.

    Parameters
    ----------
    lines : array of int
        Line indices; index ``n_lines // 2`` is frequency zero.
    n_lines : int
        Number of all lines; the outermost cells end half a line beyond the first and the last.
    mirror : bool, default False
        The lines of frequency -k stand for measured ones, too: the weights are those of the completed set, a frequency
        that is its own mirror (or whose mirror is measured as well) shared between both.

    Examples
    --------
    >>> line_weights([0, 1, 2, 3], 4)
    array([1., 1., 1., 1.])
    >>> line_weights([0, 2], 4)
    array([1.5, 2.5])
    """
    lines = finite("lines", lines)
    n_lines = integer("n_lines", n_lines, minimum=1)
    if lines.ndim != 1 or len(lines) == 0 or (lines < 0).any() or (lines >= n_lines).any() or (lines % 1).any():
        raise ValueError(f"lines must be one or more integers in [0, {n_lines}), got {lines!r}.")
    frequencies = lines - n_lines // 2
    both = np.concatenate([frequencies, -frequencies]) if mirror else frequencies
    low = -(n_lines // 2) - 0.5
    both = np.where(both > low + n_lines, both - n_lines, both)  # N/2 is -N/2
    places, position, count = np.unique(both, return_inverse=True, return_counts=True)
    edges = np.concatenate([[low], (places[1:] + places[:-1]) / 2, [low + n_lines]])
    return (np.diff(edges)[position] / count[position])[: len(lines)]


def sample_weights(samples: Any, radius: float) -> np.ndarray:
    """Areas of the Voronoi cells of samples in the plane, clipped to the disc of a radius.

    Parameters
    ----------
    samples : array (m, 2)
        Frequencies, inside the disc; repeated ones share their cell.
    radius : float
        Of the measured disc, N / 2 as a rule.

    Returns
    -------
    array (m,)
        Areas; they add up to the area of the disc.

    Examples
    --------
    >>> areas = sample_weights([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], 2.0)
    >>> areas.round(2)
    array([1.  , 2.89, 2.89, 2.89, 2.89])
    """
    samples = finite("samples", samples)
    radius = float(positive("radius", radius))
    if samples.ndim != 2 or samples.shape[1] != 2:
        raise ValueError(f"samples must have shape (m, 2), got {samples.shape}.")
    if (np.hypot(*samples.T) > radius * (1 + 1e-9)).any():
        raise ValueError(
            f"samples must lie in the disc of radius {radius:g}, got one at {np.hypot(*samples.T).max():g}."
        )
    places, position, count = np.unique(samples, axis=0, return_inverse=True, return_counts=True)
    # Far points bound every cell; the area within the disc is summed over the edges of the cell.
    corners = 100 * radius * np.exp(0.25j * np.pi * np.arange(8))
    diagram = Voronoi(np.concatenate([places, np.stack([corners.real, corners.imag], axis=1)]))
    ends = np.asarray(diagram.ridge_vertices)
    bounded = (ends >= 0).all(axis=1)
    p, q = diagram.vertices[ends[bounded, 0]], diagram.vertices[ends[bounded, 1]]
    wedge = _wedge(p, q, radius)
    areas = np.zeros(len(diagram.points))
    for site in diagram.ridge_points[bounded].T:
        left = np.sign(_cross(q - p, diagram.points[site] - p))  # whether the edge goes round the site anticlockwise
        np.add.at(areas, site, left * wedge)
    return areas[: len(places)][position.ravel()] / count[position.ravel()]


def _wedge(p: np.ndarray, q: np.ndarray, radius: float) -> np.ndarray:
    """Signed area that the triangles (0, p, q) have in common with a disc round 0."""
    d = q - p
    a, b, c = (d * d).sum(axis=1), (p * d).sum(axis=1), (p * p).sum(axis=1) - radius**2
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))  # the line p + t d meets the circle at (-b -+ root) / a
    first, last = (np.clip((-b + sign * root) / a, 0.0, 1.0)[:, None] for sign in (-1, 1))
    entry, leaving = p + first * d, p + last * d
    sectors = _angle(p, entry) + _angle(leaving, q)
    return (_cross(entry, leaving) + radius**2 * sectors) / 2


def _angle(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    return np.arctan2(_cross(p, q), (p * q).sum(axis=1))


def _cross(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    return p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]


def _normalised(v: np.ndarray) -> tuple[np.ndarray, float]:
    norm = float(np.linalg.norm(v))
    return (v / norm if norm > 0 else v), norm
