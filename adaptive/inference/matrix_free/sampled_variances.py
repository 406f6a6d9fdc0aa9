"""Marginal variances of a large Gaussian N(0, A^-1) from a few samples, a circulant M close to A as control variate.

s = B A^-1 g,    control  s' = B M^-1 g,    E s s' = diag(B M^-1 B')  in closed form  (`linalg.control_variates`)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adaptive.linalg import Circulant, circulant_variances, controlled_variance
from adaptive.operators import Operator

__all__ = ["sampled_variances"]


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


def _of_unknowns(inverse: Circulant, n: int) -> np.ndarray:
    """diag(M^-1): the same for every pixel of an image."""
    flat = np.full(inverse.image_shape, 1.0 / np.prod(inverse.image_shape))  # |F e|^2 of a pixel e
    parts = [inverse.quadratic_form(flat, part) for part in range(2 if inverse.stacked else 1)]
    return np.repeat(parts, n // len(parts))


def _projected(groups: Sequence[Operator], samples: np.ndarray) -> np.ndarray:
    return np.concatenate([group.forward(samples).reshape(len(samples), -1) for group in groups], axis=1)
