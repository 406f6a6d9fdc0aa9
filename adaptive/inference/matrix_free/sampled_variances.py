"""Marginal variances of a large Gaussian N(0, A^-1) from a few samples, a circulant M close to A as control variate.

s = B A^-1 g,    control  s' = B M^-1 g,    E s s' = diag(B M^-1 B')  in closed form  (`linalg.control_variates`)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import chi2

from adaptive.linalg import Circulant, circulant_variances, controlled_variance
from adaptive.operators import Operator

__all__ = ["chi_square_limits", "sampled_variances"]


def sampled_variances(
    samples: np.ndarray,
    control: np.ndarray | None,
    inverse: Circulant | None,
    groups: Sequence[Operator] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Variances of projections, at least zero, and their standard errors.

    Parameters
    ----------
    samples : array (n_samples, *latent shape)
        Of N(0, A^-1).
    control : array (n_samples, *latent shape), optional
        M^-1 g of the same g.
    inverse : Circulant, optional
        M^-1, where there is a control.
    groups : list of Operator, optional
        The projections; None: the unknowns themselves.

    Returns
    -------
    variances, standard_errors : array (q,)
    """
    known = None
    if groups is None:
        if control is not None and inverse is not None:
            known = _of_unknowns(inverse, samples[0].size)
    else:
        known = None if inverse is None else circulant_variances(inverse, groups)
        samples = _projected(groups, samples)
        control = None if control is None else _projected(groups, control)
    flat = samples.reshape(len(samples), -1)
    value, error = controlled_variance(flat, None if control is None else control.reshape(flat.shape), known)
    return np.maximum(value, 0.0), error


def chi_square_limits(
    value: np.ndarray, error: np.ndarray, sizes: Sequence[int], level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """Limits of variances that were estimated from samples: value / variance is chi-square over its degrees of freedom.

        degrees = 2 sum value^2 / sum error^2 - 2,      pooled over each group of projections

    which are the number of samples where nothing helps, and more with a control variate. Symmetric limits of 1.96
    standard errors cover 81% with eight samples: the error is small where the estimate is.

    Parameters
    ----------
    value, error : array (q,)
        As of `sampled_variances`.
    sizes : sequence of int
        Of the groups; they add up to q.
    level : float in (0, 1), default .95

    Returns
    -------
    low, high : array (q,)

    Examples
    --------
    >>> s = np.random.default_rng(0).standard_normal((8, 40000))
    >>> low, high = chi_square_limits(*controlled_variance(s), [40000])
    >>> print(round(np.mean((low < 1) & (1 < high)), 2))
    0.95
    """
    low, high, start = np.empty_like(value), np.empty_like(value), 0
    for size in sizes:
        rows = slice(start, start + size)
        ratio = 2 * np.sum(value[rows] ** 2) / max(float(np.sum(error[rows] ** 2)), np.finfo(float).tiny)
        degrees = max(ratio - 2, 1.0)  # E value^2 = (1 + 2 / degrees) variance^2
        tails = chi2.ppf([(1 + level) / 2, (1 - level) / 2], degrees) / degrees
        low[rows], high[rows] = value[rows] / tails[0], value[rows] / tails[1]
        start += size
    return low, high


def _of_unknowns(inverse: Circulant, n: int) -> np.ndarray:
    """diag(M^-1): the same for every pixel of an image."""
    flat = np.full(inverse.image_shape, 1.0 / np.prod(inverse.image_shape))  # |F e|^2 of a pixel e
    parts = [inverse.quadratic_form(flat, part) for part in range(2 if inverse.stacked else 1)]
    return np.repeat(parts, n // len(parts))


def _projected(groups: Sequence[Operator], samples: np.ndarray) -> np.ndarray:
    return np.concatenate([group.forward(samples).reshape(len(samples), -1) for group in groups], axis=1)
