"""One wavelet coefficient per measurement, coarse to fine: the heuristic that is hard to beat.

The order: the coarsest approximation, then scale by scale the horizontal, vertical and diagonal details.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from adaptive.operators import Wavelet
from designs.filters.normalised import number_of
from designs.filters.transform_rows import TransformRows

__all__ = ["coarse_to_fine", "details_of", "wavelets"]


def wavelets(
    shape: int | Sequence[int], n_filters: int | None = None, *, name: str = "db2", level: int | None = None
) -> TransformRows:
    """Orthonormal wavelet coefficients, from the coarsest to the finest.

    Parameters
    ----------
    shape : int or tuple of int
        Of the image; every side divisible by ``2**level``, so even.
    n_filters : int, optional
        How many; default all.
    name : str, default "db2"
        An orthonormal wavelet of PyWavelets; "db2" has four taps.
    level : int, optional
        Number of scales; default as deep as :class:`adaptive.operators.Wavelet` goes.

    Returns
    -------
    TransformRows
        A pool of ``n_filters`` rows (pixels,): approximation, then at every scale the details of horizontal edges,
        vertical edges and diagonals, each from top left to bottom right.

    References
    ----------
    Nickisch (2010), section 5.4, "heur wave".

    Examples
    --------
    >>> wavelets((4, 4), 8, name="haar").labels(range(8))
    [0, 4, 1, 5, 8, 9, 12, 13]
    """
    transform = Wavelet(shape, name, level)
    n = number_of(n_filters, transform.input_shape, f"{name} coefficients")
    return TransformRows(transform, coarse_to_fine(transform)[:n])


def coarse_to_fine(transform: Wavelet) -> np.ndarray:
    """All coefficients (flat index) in the order of the heuristic."""
    sides = transform.output_shape
    positions = np.arange(transform.shape[0]).reshape(sides)
    corner = tuple(slice(0, side // 2**transform.level) for side in sides)
    parts = [positions[corner].ravel()]
    parts += [positions[block].ravel() for _, _, block in details_of(transform)]
    return np.concatenate(parts)


def details_of(transform: Wavelet) -> list[tuple[int, tuple[int, ...], tuple[slice, ...]]]:
    """(scale, halves, index) of every block of details, coarse to fine; scale 1 is the finest.

    ``halves`` has a 1 for every axis along which the block holds differences: (1, 0) horizontal edges, (0, 1)
    vertical ones, (1, 1) diagonals.
    """
    sides = transform.output_shape
    mixtures = [halves for halves in itertools.product([0, 1], repeat=len(sides)) if any(halves)]
    mixtures.sort(key=lambda halves: (sum(halves), [-half for half in halves]))
    blocks = []
    for scale in range(transform.level, 0, -1):
        half = [side // 2**scale for side in sides]
        for halves in mixtures:
            block = tuple(slice(h * m, (h + 1) * m) for h, m in zip(halves, half, strict=True))
            blocks.append((scale, halves, block))
    return blocks
