"""The best pairs of two uncertain vectors by  mean + deviations * sd  of their product, or another score of the two.

    u ~ N(m, S),  v ~ N(n, T)  independent:      E u.v = m.n,     Var u.v = m'T m + n'S n + tr(S T)

For two blocks the mean is bounded by balls and cones, the variance by the largest diagonals that dominate S and T (the
row sums of |S|, or its largest eigenvalue: D - S is positive semi-definite), the largest squares of m and n.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from adaptive import checks
from adaptive.search.balls import Balls, largest_products
from adaptive.search.bounded import Found, best_of_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from adaptive.types import ArrayLike, Matrix

__all__ = ["best_pairs"]

_MOST_BLOCKS = 2**23  # pairs of blocks at most, 64 MiB of bounds
_SIZES = (32, 4)  # vectors per block, without and with a score
_TOGETHER = 1024  # pairs that are scored in one call, at first
_LEVELS = 96  # of mean, and of variance, of the corners of blocks
_SMALLEST = 1e-9  # of the largest variance: where the grid of variances begins
_CORNERS = 4096  # corners that are scored in one call


def best_pairs(
    users: ArrayLike | tuple[ArrayLike, ArrayLike],
    items: ArrayLike | tuple[ArrayLike, ArrayLike],
    n: int = 10,
    *,
    deviations: float = 2.0,
    score: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    symmetric: bool = False,
    exclude: Matrix | ArrayLike | None = None,
    cost: ArrayLike | None = None,
    size: int | None = None,
) -> Found:
    """Return the n best pairs (user, item) by ``mean + deviations * sd`` of u . v, or by a ``score``, exactly.

    Parameters
    ----------
    users, items : (m, r) array, or tuple (means, covariances)
        Covariances: (m, r, r), or (m, r) variances; an array alone is known for sure.
    n : int, default 10
    deviations : float >= 0, default 2
        Of the upper confidence bound; 0 is the maximum inner product.
    score : function of means (p,) and variances (p,) of products -> (p,), optional
        In place of ``mean + deviations * sd``; it may fall neither with the mean nor with the variance.
    symmetric : bool, default False
        The score falls with |mean| and not with the mean, as what an answer yes or no teaches does.
    exclude : sparse matrix (n_users, n_items) or (k, 2) array of int, optional
        Pairs that may not be chosen: where the matrix is not zero, or as listed.
    cost : array that broadcasts to (n_users, n_items), optional
        Positive; (n_items,) is a cost per item, (n_users, 1) per user. Scores are divided by it.
    size : int, optional
        Vectors per block; more where there would be too many blocks. None: 32, and 4 with a ``score``, which costs more
        than the bound that saves it.

    Returns
    -------
    Found
        ``.pairs`` (n, 2), ``.scores``, ``.share`` of the pairs that were scored.

    Raises
    ------
    ValueError
        If shapes disagree, a covariance is not positive semi-definite, or fewer than n pairs are allowed.

    Warns
    -----
    UserWarning
        If the bounds excluded next to nothing.

    References
    ----------
    P. Ram and A. Gray (2012), Maximum inner-product search using cone trees.  A. Shrivastava and P. Li (2014), for why
    lengths matter.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> users, items = (rng.standard_normal((1000, 4)) * rng.lognormal(0, 1, (1000, 1)) for _ in range(2))
    >>> found = best_pairs(users, items, 3, deviations=0)
    >>> bool(np.isclose(found.scores[0], (users @ items.T).max())), found.share < 0.1
    (True, True)
    """
    n = checks.integer("n", n, minimum=1)
    deviations = float(checks.positive("deviations", deviations, or_zero=True))
    if symmetric and score is None:
        raise ValueError("symmetric=True is about a score; give score=, a function of means and variances.")
    mean, covariance, diagonal = _uncertain("users", users)
    other_mean, other_covariance, other_diagonal = _uncertain("items", items)
    if mean.shape[1] != other_mean.shape[1]:
        raise ValueError(f"users have {mean.shape[1]} factors and items {other_mean.shape[1]}; expected the same.")
    m, k = len(mean), len(other_mean)
    forbidden = _forbidden(exclude, m, k)
    n_allowed = m * k - len(forbidden)
    if n > n_allowed:
        raise ValueError(f"n is {n}, but only {n_allowed} of {m * k} pairs are allowed.")
    prices = _prices(cost, m, k)

    size = _SIZES[score is not None] if size is None else checks.integer("size", size, minimum=1)
    size = max(size, int(np.ceil(np.sqrt(m * k / _MOST_BLOCKS))))
    ours, theirs = Balls(mean, size, shells=True), Balls(other_mean, size, shells=True)
    bounds = largest_products(ours, theirs)
    if symmetric:  # the mean nearest to zero that a pair of the two blocks can have, its sign the falling one
        opposite = largest_products(ours.mirrored(), theirs)
        bounds = -np.maximum(np.maximum(-opposite, -bounds), 0.0)
    uncertain = score is not None or deviations > 0
    if uncertain:
        largest = ours.largest(mean**2 + diagonal) @ theirs.largest(other_diagonal).T
        largest += ours.largest(diagonal) @ theirs.largest(other_mean**2).T
    if score is not None:
        bounds = _bounds_of_corners(score, bounds, largest)
    elif uncertain:
        bounds += deviations * np.sqrt(largest)
    bounds += 1e-12 * (1.0 + np.abs(bounds).max())  # rounding
    if prices is not None:
        lowest, highest = _per_block(prices, ours, theirs, np.minimum), _per_block(prices, ours, theirs, np.maximum)
        bounds = np.where(bounds > 0, bounds / lowest, bounds / highest)
    left, right = _variance_factors(mean, covariance, other_mean, other_covariance)
    rows, columns = ours.members, theirs.members

    def scored(blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        at, beside = np.divmod(blocks, len(theirs.starts))
        i, j = rows[at][:, :, None], columns[beside][:, None, :]
        positions = i * np.int64(k) + j
        free = (i >= 0) & (j >= 0) & ~_listed(positions, forbidden)
        means = (mean[i[:, :, 0]] @ other_mean[j[:, 0]].transpose(0, 2, 1))[free]
        variances = np.zeros_like(means)
        if uncertain:
            variances = np.maximum((left[i[:, :, 0]] @ right[j[:, 0]].transpose(0, 2, 1))[free], 0.0)
        scores = means + deviations * np.sqrt(variances) if score is None else score(means, variances)
        worths = scores
        if prices is not None:
            here = prices[i if prices.shape[0] > 1 else 0, j if prices.shape[1] > 1 else 0]
            worths = scores / np.broadcast_to(here, free.shape)[free]
        return worths, positions[free], scores

    return best_of_blocks(bounds.ravel(), scored, n, m * k, together=max(_TOGETHER // size**2, 1), n_items=k)


def _uncertain(name: str, given: ArrayLike | tuple[ArrayLike, ArrayLike]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means (m, r), variances (m, r) or covariances (m, r, r) S, and diagonals D (m, r) that dominate these.

    D - S is positive semi-definite for the row sums of |S|, and for the largest eigenvalue; the smaller one is taken.
    """
    mean, covariance = given if isinstance(given, tuple) else (given, None)
    mean = checks.finite(name, mean)
    if mean.ndim != 2 or not mean.size:
        raise ValueError(f"{name} must be an array (m, factors), or a tuple (means, covariances), got {mean.shape}.")
    if covariance is None:
        return mean, np.zeros_like(mean), np.zeros_like(mean)
    covariance = checks.finite(f"{name} covariances", covariance)
    if covariance.shape not in (mean.shape, (*mean.shape, mean.shape[1])):
        wanted = f"{mean.shape} or {(*mean.shape, mean.shape[1])}"
        raise ValueError(f"{name} covariances must have shape {wanted}, got {covariance.shape}.")
    eigenvalues = covariance if covariance.ndim == 2 else np.linalg.eigvalsh(covariance)
    if eigenvalues.min() < -1e-9 * np.abs(covariance).max():
        raise ValueError(
            f"{name} covariances must be positive semi-definite, got {eigenvalues.min():.3g} at the least."
        )
    if covariance.ndim == 2:
        return mean, np.maximum(covariance, 0.0), np.maximum(covariance, 0.0)
    sums, largest = np.abs(covariance).sum(axis=2), np.repeat(eigenvalues[:, -1:], mean.shape[1], axis=1)
    smaller = sums.sum(axis=1, keepdims=True) < largest.sum(axis=1, keepdims=True)
    return mean, covariance, np.where(smaller, sums, largest)


def _variance_factors(
    mean: np.ndarray, covariance: np.ndarray, other_mean: np.ndarray, other_covariance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (m, f) and (k, f) tables whose products are the variances of all pairs."""
    if covariance.ndim == other_covariance.ndim == 2:
        return np.hstack([mean**2 + covariance, covariance]), np.hstack([other_covariance, other_mean**2])
    first, second = _packed(covariance), _packed(other_covariance)
    squares, others = (_packed(vectors[:, :, None] * vectors[:, None, :]) for vectors in (mean, other_mean))
    return np.hstack([squares + first, first]), np.hstack([second, others])


def _bounds_of_corners(
    score: Callable[[np.ndarray, np.ndarray], np.ndarray], mean: np.ndarray, variance: np.ndarray
) -> np.ndarray:
    """Return upper bounds of ``score`` where mean and variance are at most as given:  score(largest, largest).

    Corners are rounded up to a grid, so that of millions of blocks few different ones are scored.

    Parameters
    ----------
    score : function of means (m,) and variances (m,) -> (m,), which falls in neither
    mean, variance : arrays of one shape

    Examples
    --------
    >>> mean, variance = np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.5, 0.0])
    >>> bool(np.all(_bounds_of_corners(lambda m, v: m + v, mean, variance) >= mean + variance))
    True
    """
    means = np.linspace(mean.min(), mean.max(), _LEVELS)
    largest = max(float(variance.max()), 1e-300)
    variances = np.concatenate([[0.0], largest * np.geomspace(_SMALLEST, 1.0, _LEVELS)])
    means[-1], variances[-1] = mean.max(), largest
    corner = np.searchsorted(means, mean) * len(variances) + np.searchsorted(variances, variance)
    different, which = np.unique(corner, return_inverse=True)
    i, j = np.divmod(different, len(variances))
    found = [score(means[i[k : k + _CORNERS]], variances[j[k : k + _CORNERS]]) for k in range(0, len(i), _CORNERS)]
    return np.concatenate(found)[which.reshape(mean.shape)]


def moments_of_products(
    users: tuple[np.ndarray, np.ndarray], items: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return means and variances (m, k) of the products of all users and items, (means, covariances) each."""
    left, right = _variance_factors(*users, *items)
    return users[0] @ items[0].T, np.maximum(left @ right.T, 0.0)


def _packed(matrices: np.ndarray) -> np.ndarray:
    """Return symmetric matrices as vectors (m, r (r + 1) / 2) whose inner products are the traces of products."""
    if matrices.ndim == 2:
        matrices = np.einsum("ij,jk->ijk", matrices, np.eye(matrices.shape[1]))
    rows, columns = np.triu_indices(matrices.shape[1])
    return matrices[:, rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))


def _listed(positions: np.ndarray, forbidden: np.ndarray) -> np.ndarray:
    """Return whether positions are among the ascending ``forbidden``."""
    if not len(forbidden):
        return np.zeros(positions.shape, dtype=bool)
    return forbidden[np.minimum(np.searchsorted(forbidden, positions), len(forbidden) - 1)] == positions


def _forbidden(exclude: Matrix | ArrayLike | None, m: int, k: int) -> np.ndarray:
    """Return positions of excluded pairs, ascending."""
    if exclude is None:
        return np.zeros(0, dtype=np.int64)
    if sparse.issparse(exclude):
        table: Any = exclude
        if table.shape != (m, k):
            raise ValueError(f"exclude must have shape ({m}, {k}), users x items, got {table.shape}.")
        users, items = (table != 0).nonzero()
    else:
        listed = np.asarray(exclude).reshape(-1, 2) if np.size(exclude) == 0 else np.asarray(exclude)
        if listed.ndim != 2 or listed.shape[1] != 2 or (listed.size and listed.dtype.kind not in "iu"):
            raise ValueError(
                f"exclude must be a sparse matrix or (k, 2) integers (user, item), got shape {listed.shape}."
            )
        outside = (listed < 0) | (listed >= [m, k])
        if outside.any():
            raise ValueError(f"exclude holds the pair {listed[outside.any(axis=1)][0].tolist()}, outside ({m}, {k}).")
        users, items = listed.T
    return np.unique(users.astype(np.int64) * k + items)


def _prices(cost: ArrayLike | None, m: int, k: int) -> np.ndarray | None:
    """Return costs as (m or 1, k or 1), None if all are the same."""
    if cost is None:
        return None
    prices = np.atleast_2d(checks.positive("cost", cost))
    if prices.ndim != 2 or prices.shape[0] not in (1, m) or prices.shape[1] not in (1, k):
        raise ValueError(f"cost must broadcast to ({m}, {k}), users x items, got shape {np.shape(cost)}.")
    return prices


def _per_block(prices: np.ndarray, ours: Balls, theirs: Balls, reduce: np.ufunc) -> np.ndarray:
    """Return the smallest or largest cost in each pair of blocks."""
    for axis, balls in enumerate((ours, theirs)):
        if prices.shape[axis] > 1:
            prices = reduce.reduceat(np.take(prices, balls.order, axis=axis), balls.starts, axis=axis)
    return prices
