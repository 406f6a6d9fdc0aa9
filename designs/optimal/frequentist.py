"""The gain of further rows: Bayesian, 1/2 ln|I + X V X^T / sigma^2|, and that of a penalised estimate.

With A = X^T X + P a penalised estimate has the covariance sigma^2 A^-1 X^T X A^-1, so that rows X* shrink its volume by

    2 ln|I + X* A^-1 X*^T| - ln|I + X* (X^T X)^-1 X*^T|          (frequentist)

which has no value while there are fewer independent rows than unknowns; as that is approached, directions not yet
measured score minus infinity and the criterion repeats what was measured, where the Bayesian asks for what was not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite, positive, shape

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["bayesian_gain", "best_direction", "frequentist_gain"]


def bayesian_gain(rows: ArrayLike, covariance: ArrayLike, noise_variance: float = 1.0) -> float:
    """Information in nats that noisy measurements along ``rows`` give about a Gaussian unknown.

    Parameters
    ----------
    rows : array-like (d,) or (m, d)
        What is measured.
    covariance : array-like (d, d)
        Covariance of the unknown before.
    noise_variance : float, default 1.0
        Of each measurement.

    Returns
    -------
    float
        Nats.

    References
    ----------
    MacKay (1992), Information-based objective functions for active data selection.

    Examples
    --------
    >>> round(bayesian_gain([1.0, 0.0], np.diag([3.0, 1.0])), 4)  # half of ln 4
    0.6931
    """
    block, V = _rows_and_matrix(rows, "covariance", covariance)
    gram = block @ V @ block.T / float(positive("noise_variance", noise_variance))
    return 0.5 * float(np.linalg.slogdet(np.eye(len(block)) + gram)[1])


def best_direction(covariance: ArrayLike) -> np.ndarray:
    """The unit row of largest Bayesian gain: the leading eigenvector, its largest entry positive.

    Parameters
    ----------
    covariance : array-like (d, d)
        Of the unknown before.

    Returns
    -------
    ndarray (d,)
        Of length one.

    References
    ----------
    MacKay (1992), Information-based objective functions for active data selection.

    Examples
    --------
    >>> best_direction([[2.0, 0.0], [0.0, 1.0]])
    array([1., 0.])
    """
    _, V = _rows_and_matrix(np.zeros(np.shape(covariance)[-1]), "covariance", covariance)
    row = np.linalg.eigh(V)[1][:, -1]
    return row * np.sign(row[np.abs(row).argmax()]) + 0.0


def frequentist_gain(rows: ArrayLike, X: ArrayLike, prior_precision: ArrayLike) -> float:
    """Reduction by ``rows`` of ln|covariance| of the penalised estimate (X^T X + P)^-1 X^T y.

    Parameters
    ----------
    rows : array-like (d,) or (m, d)
        Further measurements.
    X : array-like (n, d)
        Measurements so far, of full column rank.
    prior_precision : array-like (d, d)
        P, in units of the noise variance.

    Returns
    -------
    float
        Larger is better.

    Raises
    ------
    ValueError
        If X has fewer than d independent rows: the criterion is not defined there.

    References
    ----------
    Fedorov (1972), Theory of optimal experiments.

    Examples
    --------
    >>> gain = frequentist_gain([1.0, 0.0], np.eye(2), np.zeros((2, 2)))  # a flat prior: twice the Bayesian one
    >>> round(gain, 10) == round(2 * bayesian_gain([1.0, 0.0], np.eye(2)), 10)
    True
    """
    block, P = _rows_and_matrix(rows, "prior_precision", prior_precision)
    design = finite("X", X)
    shape("X", design, (None, block.shape[1]))
    gram = design.T @ design
    rank = int(np.linalg.matrix_rank(design)) if design.size else 0
    if rank < block.shape[1]:
        raise ValueError(
            f"X must have {block.shape[1]} independent rows for the frequentist score to be defined, got {rank}; "
            "the Bayesian score (bayesian_gain) needs none."
        )
    identity = np.eye(len(block))
    both = np.linalg.slogdet(identity + block @ np.linalg.solve(gram + P, block.T))[1]
    data = np.linalg.slogdet(identity + block @ np.linalg.solve(gram, block.T))[1]
    return float(2 * both - data)


def _rows_and_matrix(rows: ArrayLike, name: str, matrix: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    block, square = np.atleast_2d(finite("rows", rows)), finite(name, matrix)
    shape(name, square, (block.shape[1], block.shape[1]))
    return block, square
