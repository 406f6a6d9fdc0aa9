"""Algebra of the Gaussian over the weights of c classes, with one site per row on the c - 1 contrasts of its scores.

One matrix of all (c - 1) r unknowns costs O((c r)^3) to factorise.  A site that is the curvature of a softmax,
w (diag(a) - a a'), falls into classes but for one direction per row.  With a prior on each class's weights in place of
the contrasts' (it adds the mean over classes, which no row sees), with S_k = diag(sqrt(w) a_k) and Phi the rows,

    precision = blockdiag(B_k) - R R',    B_k = I + Phi' diag(w a_k) Phi,    R = stack(Phi' S_k),
    covariance = blockdiag(B_k^-1) + Z Z',    Z = stack(B_k^-1 Phi' S_k) L'^-1,
    L L' = M = I - sum_k S_k Phi B_k^-1 Phi' S_k,    ln|precision| = sum_k ln|B_k| + ln|M|,

O(c n^3) for n rows and r <= n.  Where n is large beside (c - 1) r the whole matrix is cheaper.

References
----------
C. Rasmussen and C. Williams (2006), Gaussian Processes for Machine Learning, section 3.5, algorithm 3.3.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

from adaptive.potentials.softmax import contrasts

__all__ = ["ClassBlocks", "WholeMatrix", "block_moments"]

_LEAST = 1e-7  # a pivot of M below this leaves fewer than eight figures


def block_moments(features: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Return the covariances (m, k, k) of ``features @ u[a]``, where u has the covariance ``blocks`` (k, r, k, r)."""
    k = len(blocks)
    covariance = np.empty((len(features), k, k))
    for a in range(k):
        for b in range(a + 1):
            block = np.einsum("ij,ij->i", features @ blocks[a, :, b, :], features)
            covariance[:, a, b] = covariance[:, b, a] = block
    return covariance


class WholeMatrix:
    """Any sites, by the one matrix of all contrasts.

    Parameters
    ----------
    features : (m, r) array
    precision : (m, k, k) array
    precision_mean : (m, k) array

    Attributes
    ----------
    half_log_determinant : float
        Of the precision.
    weights : (k, r) array
        Mean.
    blocks : (k, r, k, r) array
        Covariance.
    """

    def __init__(self, features: np.ndarray, precision: np.ndarray, precision_mean: np.ndarray) -> None:
        r, k = features.shape[1], precision_mean.shape[1]
        n = k * r
        lower = np.empty((k, r, k, r))
        for a in range(k):
            weighted = precision[:, a, : a + 1, None] * features[:, None, :]
            block = features.T @ weighted.reshape(len(features), -1)
            lower[a, :, : a + 1, :] = block.reshape(r, a + 1, r)  # only the lower triangle is read
        matrix = lower.reshape(n, n)
        matrix[np.diag_indices(n)] += 1.0
        factor, failed = dpotrf(matrix.T, lower=0, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("the precision of the class weights is singular to working precision")
        self.half_log_determinant = float(np.log(factor.diagonal()).sum())
        pulled = np.ascontiguousarray((features.T @ precision_mean).T).ravel()
        self.weights = dpotrs(factor, pulled, lower=0)[0].reshape(k, r)
        inverse = np.triu(dpotri(factor, lower=0, overwrite_c=1)[0])
        inverse += np.triu(inverse, 1).T
        self.blocks = inverse.reshape(k, r, k, r)

    def covariance_times(self, weights: np.ndarray) -> np.ndarray:
        """Return the covariance times a vector of weights (k, r)."""
        return (self.blocks.reshape(weights.size, -1) @ weights.ravel()).reshape(weights.shape)

    def variance(self, features: np.ndarray) -> np.ndarray:
        """Return the covariances (m, k, k) of the contrasts of rows."""
        return block_moments(features, self.blocks)


class ClassBlocks:
    """Sites that are curvatures of softmaxes, class by class; attributes as in :class:`WholeMatrix`.

    Parameters
    ----------
    features : (m, r) array
    masses : (m, c) array
        w a: weights of rows times probabilities.
    precision_mean : (m, k) array

    Raises
    ------
    LinAlgError
        Where M is nearly singular: so certain a posterior leaves too few figures.
    """

    def __init__(self, features: np.ndarray, masses: np.ndarray, precision_mean: np.ndarray) -> None:
        m, c = masses.shape
        rows = np.ascontiguousarray(features.T)
        weights = masses.sum(axis=1)
        scale = masses / np.sqrt(np.where(weights > 0, weights, 1.0))[:, None]
        self._roots = []
        middle, half = np.eye(m), 0.0
        for k in range(c):
            block = (rows * masses[:, k]) @ features
            block[np.diag_indices(len(block))] += 1.0
            root = np.linalg.cholesky(block)
            half += float(np.log(root.diagonal()).sum())
            whitened = solve_triangular(root, rows * scale[:, k], lower=True, check_finite=False)
            middle -= whitened.T @ whitened
            self._roots.append((root, whitened))
        root = np.linalg.cholesky(middle)
        if root.diagonal().min() ** 2 < _LEAST:
            raise np.linalg.LinAlgError("rounding has eaten the difference of the classes' own terms and 1")
        self.half_log_determinant = half + float(np.log(root.diagonal()).sum())
        for k, (own, whitened) in enumerate(self._roots):  # L^-1 S_k Phi C_k'^-1, with B_k = C_k C_k'
            self._roots[k] = own, solve_triangular(root, whitened.T, lower=True, check_finite=False)
        self.weights = self.covariance_times((rows @ precision_mean).T)

    def covariance_times(self, weights: np.ndarray) -> np.ndarray:
        """Return the covariance times a vector of weights (k, r)."""
        basis = contrasts(len(self._roots))
        first = [solve_triangular(own, x, lower=True) for x, (own, _) in zip(basis @ weights, self._roots, strict=True)]
        shared = np.sum([low @ x for x, (_, low) in zip(first, self._roots, strict=True)], axis=0)
        solved = [
            solve_triangular(own, x + low.T @ shared, lower=True, trans=1)
            for x, (own, low) in zip(first, self._roots, strict=True)
        ]
        return basis.T @ np.array(solved)

    @cached_property
    def blocks(self) -> np.ndarray:
        """(k, r, k, r) covariance."""
        basis = contrasts(len(self._roots))
        r, k = len(self._roots[0][0]), basis.shape[1]
        alone, low = np.empty((len(basis), r, r)), np.empty((len(basis), r, len(self._roots[0][1])))
        for j, (own, whitened) in enumerate(self._roots):
            inverse = np.triu(dpotri(own.T, lower=0)[0])
            alone[j] = inverse + np.triu(inverse, 1).T
            low[j] = solve_triangular(own, whitened.T, lower=True, trans=1, check_finite=False)
        pairs = (basis[:, :, None] * basis[:, None, :]).reshape(len(basis), -1)
        blocks = (pairs.T @ alone.reshape(len(basis), -1)).reshape(k, k, r, r).transpose(0, 2, 1, 3)
        joint = (basis.T @ low.reshape(len(basis), -1)).reshape(k * r, -1)
        return np.ascontiguousarray(blocks) + (joint @ joint.T).reshape(k, r, k, r)

    def variance(self, features: np.ndarray) -> np.ndarray:
        """Return the covariances (m, k, k) of the contrasts of rows."""
        basis, rows = contrasts(len(self._roots)), np.ascontiguousarray(features.T)
        alone, low = np.empty((len(features), len(basis))), []
        for k, (own, whitened) in enumerate(self._roots):
            seen = solve_triangular(own, rows, lower=True, check_finite=False)
            alone[:, k] = np.einsum("ij,ij->j", seen, seen)
            low.append((whitened @ seen).T)
        joint = np.stack(low, axis=1)  # (m, c, n)
        joint = np.matmul(basis.T, joint)
        return (basis.T * alone[:, None, :]) @ basis + joint @ joint.transpose(0, 2, 1)
