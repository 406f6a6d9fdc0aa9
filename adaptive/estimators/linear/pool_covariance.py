"""Weights that vary as the rows of a pool do:  w ~ N(0, s^2 C),  C = X' X / N  of the pool's N rows.

It is the same as N(0, s^2) weights of the features  C^(1/2) x,  which are taken from a singular value decomposition

    X = U S V',    x -> S V' x / sqrt(N),

cut off after so many directions: no p x p matrix. They are divided by what makes the pool's mean square length 1. An
isotropic prior leaves variance in directions that no document of a pool of texts has; of tables this takes it from
directions that matter.

    results/tables/hyper-text.csv     what it does to texts
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

if TYPE_CHECKING:
    from adaptive.types import Matrix

__all__ = ["RANK", "pool_directions"]

RANK = 300  # directions: variances fall with the square of singular values
_DENSE = 2_000_000  # numbers up to which the decomposition is an exact one


def pool_directions(pool: Matrix, rank: int = RANK) -> np.ndarray:
    """Return D (p, r) with  D D' = C / mean of x C x' over the pool,  exact where r >= the pool's rank.

    Parameters
    ----------
    pool : (N, p) array or sparse matrix
    rank : int, default 300
        Directions kept at most.

    Examples
    --------
    >>> rows = np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> directions = pool_directions(rows)
    >>> covariance = rows.T @ rows / 3
    >>> unit = np.mean(np.einsum("ij,jk,ik->i", rows, covariance, rows))
    >>> bool(np.allclose(directions @ directions.T, covariance / unit))
    True
    """
    count, p = pool.shape
    if count * p <= _DENSE:
        matrix: Any = pool
        dense = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix, dtype=float)
        _, singular, right = np.linalg.svd(dense, full_matrices=False)
    else:
        _, singular, right = randomized_svd(pool, min(rank, min(count, p) - 1), n_iter=4, random_state=0)
    kept = singular[:rank] > 1e-10 * singular[0]
    directions = right[:rank][kept].T * singular[:rank][kept]  # of C, times sqrt(N)
    lengths = np.square(np.asarray(pool @ directions)).sum(axis=1)
    return directions / np.sqrt(np.mean(lengths))
