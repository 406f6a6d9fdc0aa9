"""Log-determinants of correlated samples along a readout, from few posterior samples: variances, and a chain.

By the chain rule the information of a block is that of its first sample, of the second given the first, and so on,

    log|I + C / noise| = sum_j log|I + C_(j | j-1, ..., j-memory) / noise|,

cut off where older samples add nothing. Every j is a node of several channels (coils, or a sample and its mirror
image). The variances are estimates of their own, helped by control variates; correlations between channels and along
the readout come from the posterior's samples, pooled over a window of neighbours, since they change slowly where
variances do not. A sample covariance of the whole block, of rank n_samples, finds a sixth of the information; this
finds it within a few percent, and ranks blocks nearly as exact determinants do.
"""

from __future__ import annotations

import numpy as np

__all__ = ["chained_log_determinant", "folded"]

MEMORY = 2  # nodes that are conditioned on
WINDOW = 9  # neighbours that correlations are pooled over, at least


def chained_log_determinant(
    samples: np.ndarray,
    variance: np.ndarray,
    error: np.ndarray,
    noise_variance: float,
    memory: int = MEMORY,
    window: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """log|I + C / noise| of real-stacked blocks, circularly symmetric, and standard errors.

    Parameters
    ----------
    samples : complex array (n_samples, blocks, channels, nodes)
        Zero-mean samples of what the blocks measure, in the order of the readout.
    variance, error : array (blocks, channels, nodes)
        E |sample|^2 and its standard error; a channel that is not there has variance zero.
    noise_variance : float
        Per real component.
    memory : int, default 2
        Nodes that each is conditioned on.
    window : int, optional
        Nodes whose correlations are pooled; default 9, and more where channels are many and samples few.

    Returns
    -------
    values, errors : array (blocks,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> draws = rng.standard_normal((64, 1, 1, 50)) + 1j * rng.standard_normal((64, 1, 1, 50))
    >>> twice = np.concatenate([draws, draws], axis=2)  # two channels that see the same
    >>> value, _ = chained_log_determinant(twice, np.full((1, 2, 50), 2.0), np.zeros((1, 2, 50)), 1.0)
    >>> bool(abs(value[0] - 2 * 50 * np.log(3.0)) < 3.0)
    True
    """
    n_samples, blocks, channels, nodes = samples.shape
    memory = min(memory, nodes - 1)
    width = (memory + 1) * channels
    if window is None:
        window = max(WINDOW, 2 * (-(-3 * width // n_samples) // 2) + 1)
    from adaptive.estimators.imaging.scores.compiled_chain import chain_terms  # imported where used, with numba

    noise, terms = 2 * noise_variance, np.empty((blocks, nodes))
    spread = np.sqrt(np.asarray(variance, dtype=float) / noise)
    chain_terms(np.ascontiguousarray(samples), spread, memory, min(window, nodes), terms)
    single, relative = np.log1p(variance / noise).sum(axis=1), (error / (noise + variance)).sum(axis=1)
    # each node counts as so many independent channels of the mean variance: their estimates err together
    share = np.divide(relative, single, out=np.zeros_like(terms), where=terms > 0)
    return 2 * terms.sum(axis=1), 2 * np.sqrt(np.sum((share * terms) ** 2, axis=1))


def folded(
    samples: np.ndarray, variance: np.ndarray, error: np.ndarray, nodes: np.ndarray, partners: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Samples and their mirror images, where a real unknown has conjugate samples at k and -k, as channels of one node.

    Parameters
    ----------
    samples, variance, error
        As of `chained_log_determinant`.
    nodes, partners : array of int
        Which samples are nodes, and which is at the opposite frequency; -1: none is, or the sample itself.
    """
    there = partners >= 0
    own, mirrored = samples[..., nodes], np.conj(samples[..., partners])
    return (
        np.concatenate([own, np.where(there, mirrored, own)], axis=2),  # correlations are pooled: no holes in them
        np.concatenate([variance[..., nodes], np.where(there, variance[..., partners], 0.0)], axis=1),
        np.concatenate([error[..., nodes], np.where(there, error[..., partners], 0.0)], axis=1),
    )
