"""The noise variance, read off the samples where they show it.

k-space                  the image of the highest frequencies alone is noise wherever there is no edge
pictures                 (the image, or it blurred) so are the finest wavelet coefficients, sd = median|c| / .6745
more rows than pixels    what least squares leaves over, |y - X u|^2 / (m - n)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pywt

from adaptive.estimators.imaging.blocks import RowsOnImages
from adaptive.operators import Convolution, FourierLines, Identity, NonuniformFourier, Stacked

if TYPE_CHECKING:
    from adaptive.estimators.imaging.measurements import MeasuredBlocks

__all__ = ["noise_variance"]

_HIGHEST = 0.4  # cycles per pixel
_LOWEST = 0.1  # share of pixels taken for pure noise
_MEDIAN = 0.6744897501960817  # of |z|, z of the standard normal distribution
_SPARE = 16  # rows that there must be beyond the unknowns
_LARGEST = 4096  # unknowns up to which rows are solved by least squares


def noise_variance(measured: MeasuredBlocks) -> float | None:
    """Noise variance per real component; None where the samples do not show it.

    Parameters
    ----------
    measured : MeasuredBlocks

    Notes
    -----
    What edges there are make the estimates from k-space and from pictures too large: from k-space up to twice in heads
    at an SNR of 200, more in photographs. Of several coils the mean is taken.

    References
    ----------
    Donoho and Johnstone (1994), Ideal spatial adaptation by wavelet shrinkage (the median of wavelet coefficients).
    """
    found = _of_kspace(measured) if measured.fourier else _of_pixels(measured)
    return None if found is None else max(found, 1e-12 * measured.largest**2)


def _of_kspace(measured: MeasuredBlocks) -> float | None:
    """Estimate from the image of the highest frequencies, where noise |pixel|^2 is exponential: by its lowest tenth."""
    shape, mask, points = measured.shape, measured.mask, measured.points
    if mask.any():
        frequencies = np.meshgrid(*[(np.arange(side) - side // 2) / side for side in shape], indexing="ij")
        height = np.max(np.abs(frequencies), axis=0)
        kept = mask & (height >= min(_HIGHEST, np.quantile(height[mask], 0.8)))
        images = FourierLines(shape, range(shape[0])).adjoint(measured.kspace * kept)
        count = int(kept.sum())
    elif len(points):
        height = np.max(np.abs(points), axis=1) / (2 * np.pi)
        high = height >= min(_HIGHEST, np.quantile(height, 0.8))
        values = np.concatenate([values for _, values in measured.trajectories], axis=-1)
        images = NonuniformFourier(shape, points[high]).adjoint(values[..., high])
        count = int(high.sum())
    else:
        return None
    pixels = (np.abs(images) ** 2).reshape(-1, mask.size)
    mean = float(np.mean(np.quantile(pixels, _LOWEST, axis=1))) / -np.log1p(-_LOWEST)
    return mean * mask.size / count / 2


def _of_pixels(measured: MeasuredBlocks) -> float | None:
    pictures = [values for block, values in measured.others if isinstance(block, (Identity, Convolution))]
    if pictures:
        finest = [pywt.dwtn(values, "db2", mode="symmetric")["d" * values.ndim].ravel() for values in pictures]
        return float(np.median(np.abs(np.concatenate(finest))) / _MEDIAN) ** 2
    rows = [block for block, _ in measured.others if isinstance(block, RowsOnImages)]
    spare = sum(block.shape[0] for block in rows) - int(np.prod(measured.shape))
    if len(rows) < len(measured.others) or spare < _SPARE or np.prod(measured.shape) > _LARGEST:
        return None
    matrix, y = Stacked(rows).to_dense(), measured.samples()
    solution, _, rank, _ = np.linalg.lstsq(matrix, y, rcond=None)
    return float(np.sum((y - matrix @ solution) ** 2)) / (len(y) - rank)
