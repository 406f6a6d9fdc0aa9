"""Bands that measured lines confirm: some are held out, and what is said of them is compared with what they are.

    factor^2 = sum |X^H (y - X u)|^2 / sum E |X^H (y - X u)|^2,      u, E from the other lines, sums inside the object

The double loop's variances are conditional on the widths it found, and samples that no line measured are believed to be
small: bands are too narrow where few lines were measured, too wide where many were. Central lines are never held out:
the phase, and most of the image, are read from them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from adaptive.estimators.imaging.measurements import MeasuredBlocks
    from adaptive.estimators.imaging.model import ImageModel
    from adaptive.inference import LargePosterior
    from adaptive.operators import Operator

__all__ = ["band_factor", "held_out_lines"]

INSIDE = 0.05  # of the largest magnitude: where the object is
EVERY, LEAST = 4, 2  # one frequency in so many is held out, and so many lines at least


def held_out_lines(measured: MeasuredBlocks) -> np.ndarray:
    """Lines of every fourth frequency outside the centre, from the second largest on; none where there are too few.

    A line and its mirror go together: of an image that is nearly real one shows what the other is.
    """
    if measured.axis is None or measured.trajectories or measured.others:
        return np.empty(0, int)
    n, inner = measured.shape[measured.axis], measured.n_central()
    lines = measured.lines
    frequencies = np.abs(lines - n // 2)
    outside = np.unique(frequencies[frequencies > (inner + 1) // 2])[::-1]
    chosen = lines[np.isin(frequencies, outside[1::EVERY])]
    return chosen if len(chosen) >= LEAST else np.empty(0, int)


def band_factor(model: ImageModel, lines: np.ndarray, mode: np.ndarray, posterior: LargePosterior) -> float:
    """Factor of the standard deviations.

    Parameters
    ----------
    model : ImageModel
        With all measurements.
    lines : array of int
        That are held out.
    mode : array (*shape)
        The image from the other lines.
    posterior : LargePosterior
        Its posterior.
    """
    axis, shape = model.measured.axis, model.measured.shape
    assert axis is not None
    X, y = replace(model, measured=model.measured.of_lines(lines)).measurements()
    assert y is not None
    parts = np.stack([mode.real, mode.imag]) if model.prior.complex else mode.real
    apart = y.reshape(1, *X.output_shape) - X.forward(parts[None].astype(model.precision))
    found, spread = (np.square(_seen(X, one, shape)) for one in (apart, X.forward(posterior.samples)))
    share = len(lines) / shape[axis] * (1 if model.maps is None else np.sum(np.abs(model.maps) ** 2, axis=0))
    believed = spread.mean(axis=0) + model.noise_variance * share * (2 if model.prior.complex else 1)
    inside = np.abs(mode) > INSIDE * model.prior.largest
    if not inside.any():
        return 1.0
    return float(np.sqrt(found[0][inside].sum() / believed[inside].sum()))


def _seen(X: Operator, samples: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Magnitudes of the images (b, *shape) that samples show."""
    images = X.adjoint(samples).real
    return np.sqrt(np.sum(np.square(images.reshape(len(samples), -1, *shape)), axis=1))
