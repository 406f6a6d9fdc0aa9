"""A scan on which designs are tried: raw samples of several coils replayed, or a slice scanned in simulation.

    replayed    what is chosen is taken out of what was acquired; the truth is the image from all of that
    simulated   of one coil, with a phase and noise; the truth is the slice

Both are a pool of candidates, a way to measure them, and a truth; whatever is tried sees the samples it measured only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from adaptive.estimators import ImageReconstructor
from adaptive.images import foreground, nmse, psnr, ssim
from adaptive.operators import FourierLines

__all__ = ["METRICS", "SCALES", "SLACKS", "Trial"]

SCALES = {"tv": 0.1, "wavelet": 0.2, "imaginary": 0.01}  # of images in [0, 1]: those of the reference designs
SLACKS = (1.0, 10.0)  # of which every design has the better one
METRICS = ("nmse", "psnr", "ssim")
_MAX_ITER, _TOL = 60, 2e-3


@dataclass(frozen=True, eq=False)
class Trial:
    """A scan, what can be measured of it, and what is then known.

    Attributes
    ----------
    title : str
        For captions.
    trajectory : {"lines", "points", "spirals", "spokes"}
    pool : LinePool, PhaseEncodePool or TrajectoryPool
        What can be measured.
    first : array of int
        Positions that are measured in any case: the centre.
    source : SimulatedScan or Scan
        What measures: it has ``measure(blocks)``.
    truth : array (h, w)
        Magnitudes.
    coils : "estimate", array (coils, h, w) or None
    noise_variance : float or None
        Per real component, of white noise; None: estimated by the model.
    statements : tuple of str
        What was simulated or replayed, what the truth is, and what was told that a user would not know.
    upright : callable
        Turns a picture as it is looked at.
    geometry, protocol : optional
        Where the voxels lie and how was scanned, for exports.
    phase : "smooth" or array (h, w)
        As of `ImageReconstructor`.
    """

    title: str
    trajectory: str
    pool: Any
    first: np.ndarray
    source: Any
    truth: np.ndarray
    coils: Any = None
    noise_variance: float | None = None
    statements: tuple[str, ...] = ()
    upright: Callable[[np.ndarray], np.ndarray] = field(default=np.asarray, repr=False)
    geometry: Any = None
    protocol: Any = None
    phase: Any = "smooth"

    @property
    def shape(self) -> tuple[int, int]:
        height, width = self.truth.shape
        return height, width

    def design_model(self) -> ImageReconstructor:
        """The model that chooses."""
        return self._model()

    def reconstruct(self, positions: Sequence[int] | np.ndarray, slack: float = 1.0) -> np.ndarray:
        """Magnitudes of the MAP image from what is measured at some positions of the pool.

        Parameters
        ----------
        positions : array of int
        slack : float, default 1
            Times the variance of the noise: what one set of coil maps and a smooth phase leave unexplained - a head
            that is wider than the field of view - is taken for noise.
        """
        model = self._model(prior_scales=SCALES, imaginary_prior="pixel", max_iter=_MAX_ITER, tol=_TOL)
        blocks, samples = self.measured(positions)
        if slack != 1.0:
            noise = self.noise_variance or self._first_noise
            model.set_params(noise_variance=slack * noise)
        return model.reconstruct(blocks, samples)

    @cached_property
    def _first_noise(self) -> float:
        """What the model reads from the centre, where the noise is not known."""
        first = self.pool.take(self.first)
        return float(self._model().fit(first, self.source.measure(first)).noise_variance_)

    def measured(self, positions: Sequence[int] | np.ndarray) -> tuple[Any, Any]:
        """Blocks and samples; lines together as one block."""
        where = np.sort(np.asarray(positions, dtype=int))
        blocks = self.pool.take(where)
        if self.trajectory != "lines":
            return blocks, self.source.measure(blocks)
        block = FourierLines(self.shape, np.sort(blocks.lines), self.pool.axis)
        return [block], self.source.measure([block])

    def judged(self, image: np.ndarray) -> dict[str, float]:
        """How near an image is to the truth, inside the object; its scale is that of the truth."""
        inside = foreground(self.truth)
        functions = {"nmse": nmse, "psnr": psnr, "ssim": ssim}
        return {name: float(functions[name](self.truth, image, inside=inside)) for name in METRICS}

    def _model(self, **settings: Any) -> ImageReconstructor:
        return ImageReconstructor(
            self.shape, coils=self.coils, noise_variance=self.noise_variance, phase=self.phase, check=False, **settings
        )
