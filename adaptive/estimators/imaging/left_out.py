"""Samples of a picture without themselves, and by how much the pixels' variances are too small.

    ln p(y_j | others)  =  ln N(y_j; c_j, gamma v_j + noise),     c_j, v_j: the row's projection without its own site

Row covariances are exact, by a solve for each where the posterior has no matrix: sampled ones that come out above the
noise say of rows that were measured that nothing was, and ask for factors of 10 and more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.rows.leave_one_out import without_sites
from adaptive.inference import LargePosterior

if TYPE_CHECKING:
    from adaptive.estimators.imaging.model import ImageModel
    from adaptive.inference import Posterior

__all__ = ["left_out_samples"]

MOST = 128  # samples that are looked at, spread evenly over their values: the factor is then known to a fifth


def left_out_samples(model: ImageModel, posterior: Posterior) -> Callable[[float], np.ndarray] | None:
    """Return log densities (m,) of samples without themselves, by a factor of the variances of their projections.

    None where nothing was measured, of k-space, and of complex pictures.
    """
    X, y = model.measurements()
    if X is None or y is None or model.measured.fourier or model.prior.complex or X.dtype.kind == "c":
        return None
    order = np.lexsort((np.arange(len(y)), y))  # by value: the same ones in whatever order they came
    chosen = order[np.unique(np.linspace(0, len(y) - 1, min(MOST, len(y))).round().astype(int))]
    unit = np.zeros((len(chosen), len(y)))
    unit[np.arange(len(chosen)), chosen] = 1.0
    rows = X.adjoint(unit.reshape(-1, *X.output_shape)).reshape(len(chosen), -1)
    y, noise = y[chosen], model.noise_variance
    if isinstance(posterior, LargePosterior):
        mean, variance = rows @ posterior.mean.ravel(), np.diag(posterior.projection_covariance(rows))
    else:
        mean, variance = posterior.projection_moments(rows)
    centre, spread = without_sites(mean, variance, np.full(len(y), 1.0 / noise), y / noise)

    def log_scores(gamma: float) -> np.ndarray:
        total = gamma * np.maximum(spread, 0.0) + noise
        return np.asarray(-0.5 * (np.log(2.0 * np.pi * total) + (y - centre) ** 2 / total))

    return log_scores
