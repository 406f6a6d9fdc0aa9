"""A simulated scan as ``adaptive kspace`` sees it: what the central lines say, and images from any lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.cli.kspace.values import READERS
from adaptive.estimators import ImageReconstructor
from adaptive.images import SimulatedScan, Slice, kspace_problem, simulate_scan
from adaptive.operators import FourierLines
from designs import kspace

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["PHASES", "Scanned", "scanned"]

PHASES = ("central", "known")  # what the models are told of the phase: what the central lines show, or the truth
_WAVELET = 2.0  # scale of wavelet coefficients, in units of that of differences


@dataclass(frozen=True, eq=False)
class Scanned:
    """A scan, of which models see measured lines only.

    Attributes
    ----------
    scan : SimulatedScan
    axis : int
        Of the phase encodes.
    n_central : int
        Number of central lines.
    phase : ndarray or None
        Radians, as the central lines show it, or as it is.
    noise_variance : float
        As the central lines show it.
    reader : {"smooth", "estimate"} or None
        How the phase is read from the measured centre, as of `ImageReconstructor`; None: it is known.
    """

    scan: SimulatedScan
    axis: int
    n_central: int
    phase: np.ndarray | None
    noise_variance: float
    reader: str | None = "smooth"

    @property
    def shape(self) -> tuple[int, int]:
        height, width = self.scan.image.shape
        return height, width

    @property
    def n(self) -> int:
        """Number of lines that there are."""
        return self.shape[self.axis]

    def pool(self) -> kspace.LinePool:
        """All lines: the candidates."""
        return kspace.lines(self.shape, self.axis)

    def central(self) -> np.ndarray:
        """The lines that are measured in any case."""
        return kspace.central(self.n, self.n_central)

    def model(self, **settings: Any) -> ImageReconstructor:
        """An estimator that knows the noise; a smooth phase it reads itself, since it knows how uncertain that is."""
        told: dict[str, Any] = {"phase": self.phase if self.reader is None else self.reader}
        return ImageReconstructor(self.shape, noise_variance=self.noise_variance, check=False, **told, **settings)

    def reconstruct(self, lines: ArrayLike, scale: float, fine: bool = False, prior: str = "pixel") -> np.ndarray:
        """Magnitudes of the MAP image from some lines.

        Parameters
        ----------
        lines : array of int
        scale : float
            Of differences of neighbouring pixels; wavelet coefficients have twice this scale.
        fine : bool, default False
            Go on until errors of the image are within half a percent of their limit; else within two, in half the time.
        prior : {"pixel", "transform"}, default "pixel"
            Of the imaginary part.
        """
        block = FourierLines(self.shape, np.sort(lines), self.axis)
        scales = {"tv": scale, "wavelet": _WAVELET * scale}
        if prior == "pixel":
            scales["imaginary"] = scale / 10
        model = self.model(prior_scales=scales, imaginary_prior=prior, max_iter=100, tol=2e-4 if fine else 1e-3)
        return model.reconstruct([block], [self.scan.samples(block)])


def scanned(image: Slice, *, axis: int, n_central: int, seed: int, snr: float, phase: str) -> Scanned:
    """Simulate a scan of a slice and look at its central lines.

    Raises
    ------
    CommandError
        If the image cannot be worked with: its k-space has no centre, it needs more memory than there is.
    """
    scan, reader = simulate_scan(image.image, snr=snr, random_state=seed), READERS[phase]
    problem = kspace_problem(scan.kspace)
    if problem:
        raise CommandError(f"--image: {image.title}: {problem}")
    block = FourierLines(scan.image.shape, kspace.central(scan.image.shape[axis], n_central), axis)
    try:
        seen = ImageReconstructor(scan.image.shape, check=False, phase=reader or "smooth").fit(
            [block], [scan.samples(block)]
        )
    except ValueError as error:
        raise CommandError(f"--image: {image.title}: {error}") from None
    told = seen.phase_ if reader else scan.phase
    return Scanned(scan, axis, n_central, told, seen.noise_variance_, reader)
