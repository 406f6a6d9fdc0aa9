"""A scan on which designs are tried: raw samples of several coils replayed, or a slice scanned in simulation.

    replayed    what is chosen is taken out of what was acquired; the truth is the image from all of that
    simulated   of one coil, with a phase and noise; the truth is the slice

Both are a pool of candidates, a way to measure them, and a truth; whatever is tried sees the samples it measured only.
Where the head is wider than the field of view, what coils see has two sets of maps: what is unknown is then the image
of twice the field of view, of which line 2 k is line k of the scan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from adaptive.estimators import ImageReconstructor
from adaptive.images import estimate_coils, folded, foreground, low_resolution, nmse, psnr, ssim, unfolded
from adaptive.operators import FourierLines
from designs.kspace import LinePool

__all__ = ["METRICS", "SCALES", "SLACKS", "Trial"]

SCALES = {"tv": 0.1, "wavelet": 0.2, "imaginary": 0.01}  # of images in [0, 1]: those of the reference designs
SLACKS = (1.0, 10.0)  # of which every design has the one that explains its own held-out samples better
METRICS = ("nmse", "psnr", "ssim")
_MAX_ITER, _TOL = 60, 2e-3
_HELD_OUT = 4  # one in so many of what is measured behind the first
_RIDGE = 1e-2  # of the two images of low resolution that are told apart pixel by pixel


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
    sets : {1, 2}
        Of coil maps to be estimated; two only of lines.
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
    sets: int = 1

    def saying(self, remark: str) -> Trial:
        """The same with one more statement; an empty one is none."""
        return replace(self, statements=(*self.statements, remark.rstrip("."))) if remark else self

    @property
    def shape(self) -> tuple[int, int]:
        height, width = self.truth.shape
        return height, width

    @cached_property
    def candidates(self) -> Any:
        """The pool as the model knows it: of twice the field of view every other line."""
        if self.sets == 1:
            return self.pool
        return LinePool(self._larger, 2 * self.pool.lines, self.pool.axis)

    @cached_property
    def maps(self) -> np.ndarray | None:
        """Maps of the coils, (coils, h, w) or (sets, coils, h, w); estimated ones from what is measured first."""
        if not isinstance(self.coils, str):
            return None if self.coils is None else np.asarray(self.coils)
        return estimate_coils(self._centre, self._width, sets=self.sets)

    def design_model(self) -> ImageReconstructor:
        """The model that chooses."""
        more: dict[str, Any] = {} if self.sets == 1 else {"design_dtype": "complex64", "imaginary_prior": "pixel"}
        return self._model(**more)

    def measure(self, positions: Sequence[int] | np.ndarray) -> Any:
        """Samples of each of these positions of the pool."""
        return self.source.measure(self.pool.take(positions))

    def reconstruct(self, positions: Sequence[int] | np.ndarray, slack: float = 1.0) -> np.ndarray:
        """Magnitudes of the MAP image from what is measured at some positions of the pool.

        Parameters
        ----------
        positions : array of int
        slack : float, default 1
            Times the variance of the noise: what coil maps and a smooth phase leave unexplained is taken for noise.

        Returns
        -------
        array (h, w)
            With two sets of coil maps the root of the sum of squares of what the coils see.
        """
        unknown = self._unknown(positions, slack)
        return np.abs(unknown) if self.sets == 1 else np.sqrt(np.sum(np.abs(self._seen(unknown)) ** 2, axis=0))

    def slack(self, positions: Sequence[int] | np.ndarray, slacks: Sequence[float] = SLACKS) -> float:
        """Choose the factor of the noise whose image explains best what is held out of the measured positions.

        Every fourth of those behind the first is held out, in the order of the pool.

        Parameters
        ----------
        positions : array of int
        slacks : sequence of float
            The first where there is nothing to hold out, or the samples are those of trajectories.
        """
        behind = np.sort(np.setdiff1d(positions, self.first))
        held = behind[_HELD_OUT // 2 :: _HELD_OUT]
        if len(slacks) == 1 or not len(held) or self.trajectory in ("spirals", "spokes"):
            return slacks[0]
        blocks, samples = self.measured(held)
        others = np.setdiff1d(positions, held)

        def apart(slack: float) -> float:
            seen = self._seen(self._unknown(others, slack))
            told = [np.stack([block.forward(one) for one in seen]) for block in blocks]
            return sum(
                float(np.sum(np.abs(a - np.reshape(b, a.shape)) ** 2)) for a, b in zip(told, samples, strict=True)
            )

        return min(slacks, key=apart)

    @cached_property
    def _first_noise(self) -> float:
        """Variance that the model reads from the centre, where the noise is not known."""
        first = self.pool.take(self.first)
        return float(self._model().fit(first, self.source.measure(first)).noise_variance_)

    def _unknown(self, positions: Sequence[int] | np.ndarray, slack: float) -> np.ndarray:
        """The MAP image, complex."""
        model = self._model(prior_scales=SCALES, imaginary_prior="pixel", max_iter=_MAX_ITER, tol=_TOL)
        blocks, samples = self.measured(positions)
        if self.sets == 2:
            blocks = [FourierLines(self._larger, 2 * block.lines, block.axis) for block in blocks]
        if slack != 1.0:
            noise = self.noise_variance or self._first_noise
            model.set_params(noise_variance=slack * noise)
        return model.reconstruct(blocks, samples, with_phase=True)

    def _seen(self, unknown: np.ndarray) -> np.ndarray:
        """Images that the coils see of it, (coils, h, w)."""
        if self.maps is None:
            return unknown[None]
        return folded(self._larger_maps * unknown, self._along) if self.sets == 2 else self.maps * unknown

    @property
    def _along(self) -> int:
        """Axis of lines, from the end."""
        return int(self.pool.axis) - 2

    @property
    def _larger(self) -> tuple[int, int]:
        height, width = self.shape
        return (2 * height, width) if self.pool.axis == 0 else (height, 2 * width)

    @cached_property
    def _larger_maps(self) -> np.ndarray:
        assert self.maps is not None
        return unfolded(self.maps, self._along)

    @property
    def _width(self) -> int:
        """Central lines, or the side of the central block."""
        return len(self.first) if self.trajectory == "lines" else round(len(self.first) ** 0.5)

    @cached_property
    def _centre(self) -> np.ndarray:
        """Samples (coils, h, w) of what is measured first, zero elsewhere."""
        kept = np.zeros(self.shape, bool)
        if self.trajectory == "lines":
            np.moveaxis(kept, self.pool.axis, 0)[self.pool.lines[self.first]] = True
        else:
            kept[tuple(self.pool.encodes[self.first].T)] = True
        return np.where(kept, self.source.data, 0).reshape(-1, *self.shape)

    @cached_property
    def _larger_phase(self) -> np.ndarray:
        """The angle of the two images of low resolution, which least squares tell apart, on twice the field of view."""
        assert self.maps is not None
        seen = np.stack([low_resolution(one, self._width, self.pool.axis) for one in self._centre])
        gram = np.einsum("kc...,lc...->...kl", self.maps.conj(), self.maps) + _RIDGE * np.eye(2)
        right = np.einsum("kc...,c...->...k", self.maps.conj(), seen)
        both = np.linalg.solve(gram, right[..., None])[..., 0]
        return np.angle(unfolded(np.moveaxis(both, -1, 0), self._along))

    def measured(self, positions: Sequence[int] | np.ndarray) -> tuple[Any, Any]:
        """Blocks and samples; lines together as one block."""
        where = np.sort(np.asarray(positions, dtype=int))
        blocks = self.pool.take(where)
        if self.trajectory != "lines":
            return blocks, self.source.measure(blocks)
        block = FourierLines(self.shape, np.sort(blocks.lines), self.pool.axis)
        return [block], self.source.measure([block])

    def judged(self, image: np.ndarray) -> dict[str, float]:
        """Judge an image by the truth, inside the object; its scale is that of the truth."""
        inside = foreground(self.truth)
        functions = {"nmse": nmse, "psnr": psnr, "ssim": ssim}
        return {name: float(functions[name](self.truth, image, inside=inside)) for name in METRICS}

    def _model(self, **settings: Any) -> ImageReconstructor:
        told = (self.shape, self.coils, self.phase)
        if self.sets == 2:
            told = (self._larger, self._larger_maps, self._larger_phase)
        shape, coils, phase = told
        return ImageReconstructor(
            shape, coils=coils, noise_variance=self.noise_variance, phase=phase, check=False, **settings
        )
