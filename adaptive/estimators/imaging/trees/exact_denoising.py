"""The exact posterior under a tree-structured scale mixture where every pixel was measured: a tree of 1-D integrals.

    y = u + noise,   w = W y:    P(w | d) = prod_j int T_d(s) N(w_j | s, noise) ds

so that one pass of sum-product gives ln P(y), P(d | y), and E[s_j | y] as a mixture of two tilted means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adaptive.checks import finite, positive
from adaptive.estimators.imaging.trees.mixture import TreeMixture

if TYPE_CHECKING:
    from adaptive.potentials import Potential
    from adaptive.types import ArrayLike

__all__ = ["ExactDenoising", "exact_denoising"]

CHUNK = 4096  # coefficients


class ExactDenoising(NamedTuple):
    """Result of `exact_denoising`.

    Attributes
    ----------
    mean : array (*shape)
        E[u | y].
    wide : array (*shape)
        P(state = wide | y) of every coefficient.
    coefficient_variances : array (*shape)
        Var[s_j | y].
    log_evidence : float
        ln P(y), in nats.

    Examples
    --------
    >>> from adaptive.estimators.imaging.trees import TreeMixture, exact_denoising
    >>> from adaptive.operators import Wavelet
    >>> found = exact_denoising(np.ones((8, 8)), 0.01, TreeMixture.generic(Wavelet((8, 8), "haar"), scale=0.05))
    >>> found.mean.shape, found.wide.shape
    ((8, 8), (8, 8))
    """

    mean: np.ndarray
    wide: np.ndarray
    coefficient_variances: np.ndarray
    log_evidence: float


def exact_denoising(y: ArrayLike, noise_variance: float, prior: TreeMixture) -> ExactDenoising:
    """Mean, variances, states and evidence of a noisy image, without approximation.

    Parameters
    ----------
    y : array of the wavelet's shape
    noise_variance : float
    prior : TreeMixture
        With its parameters, which are not fitted here (`tree_bounds` learns them).

    Returns
    -------
    ExactDenoising

    Raises
    ------
    ValueError
        If ``y`` has another shape than the wavelet's images.

    References
    ----------
    Crouse, Nowak and Baraniuk (1998), Wavelet-based statistical signal processing using hidden Markov models.

    Examples
    --------
    >>> from adaptive.operators import Wavelet
    >>> prior = TreeMixture.generic(Wavelet((8, 8), "haar"), scale=0.05)
    >>> exact = exact_denoising(np.ones((8, 8)), 0.01, prior)
    >>> exact.mean.shape, bool(np.abs(exact.mean - 1).max() < 0.1)
    ((8, 8), True)
    """
    wavelet = prior.wavelet
    values, noise = finite("y", y), float(positive("noise_variance", noise_variance))
    if values.shape != wavelet.input_shape:
        raise ValueError(f"y must have the shape {wavelet.input_shape} of the wavelet's images, got {values.shape}.")
    w = wavelet.forward(values).ravel()
    tilted = [_tilted(potential, w, noise) for potential in prior.potentials]
    beliefs = prior.beliefs(np.stack([log_normaliser for log_normaliser, _, _ in tilted]))
    weights = np.stack([1 - beliefs.wide, beliefs.wide])
    means, variances = (np.stack([moments[k] for moments in tilted]) for k in (1, 2))
    mean = np.sum(weights * means, axis=0)
    variance = np.sum(weights * (variances + (means - mean) ** 2), axis=0)
    shape = wavelet.output_shape
    return ExactDenoising(
        wavelet.adjoint(mean.reshape(shape)),
        beliefs.wide.reshape(shape),
        variance.reshape(shape),
        beliefs.log_normaliser,
    )


def _tilted(potential: Potential, w: np.ndarray, noise: float) -> np.ndarray:
    """Log normalisers, means and variances (3, n), some thousand at a time: quadrature has many nodes for each."""
    rows = np.array_split(np.arange(len(w)), -(-len(w) // CHUNK))
    return np.concatenate([potential[part].tilted_moments(w[part], np.full(len(part), noise)) for part in rows], axis=1)
