"""Pixels of photographs, 16 x 16, of which random or designed filters were measured.

Noise of variance .005 in every measurement, told; designed filters are leading directions of the posterior of
expectation propagation (`experiments.images.shared.filter_runs`), so that all estimators read the same samples.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from adaptive import ImageReconstructor
from experiments.bands.shares import gaussians, result
from experiments.images.pixel_bands import SCALES
from experiments.images.shared import filter_runs
from experiments.images.shared.photographs import TEST, photograph

__all__ = ["pixels"]

SIDE = 16
WAYS: dict[str, dict[str, Any]] = {
    "default": {}, "scales told": {"prior_scales": SCALES}, "tree": {"prior": "tree"},
    "expectation propagation": {"inference": "expectation_propagation", "prior_scales": SCALES},
}  # fmt: skip


def pixels(way: str, design: str, n: int, unit: int) -> dict[str, np.ndarray]:
    """A photograph is a unit."""
    name = TEST[unit]
    image = photograph(name, SIDE)
    if design == "designed":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = filter_runs.curve(SIDE, name, "EP free 0", n)["rows"][:n].astype(float)
    else:
        rows = filter_runs.first_rows(SIDE, name, "uniform", 0, n)
    noise = np.sqrt(filter_runs.NOISE_VARIANCE) * filter_runs.random(name, "noise").standard_normal(n)
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ImageReconstructor(
            (SIDE, SIDE), noise_variance=filter_runs.NOISE_VARIANCE, reconstruction="mean", n_samples=32, **WAYS[way]
        ).fit(rows, rows @ image.ravel() + noise)
        mean, std = model.predict(return_std=True)
    seconds = time.process_time() - begun
    return result(*gaussians(np.ones(1), mean.reshape(1, -1), std.reshape(1, -1) ** 2, image.ravel()), seconds)
