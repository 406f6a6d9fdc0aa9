"""A fully sampled image as a scan that designs are tried on: errors, and where in k-space the residual is.

    residual(k) = |F (maps . (found - true))(k)|^2 / sum over k,      found: the converged MAP image from a design

Errors of truncated reconstructions chose lines 3 to 13% worse than random ones, so every reconstruction here runs until
its steps are small.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import generator
from adaptive.estimators.imaging.image_reconstructor import ImageReconstructor
from adaptive.images import SimulatedScan, l2_error, simulate_scan
from adaptive.operators import FourierLines, FourierMask

if TYPE_CHECKING:
    from adaptive.operators import Operator
    from designs.kspace.trajectory import TrajectoryPool

__all__ = ["TrialScan", "scan_of"]

SCALES = {"wavelet": 0.2, "tv": 0.1, "imaginary": 0.01}  # of heads in [0, 1], by MAP errors of SNR 50 to 200
MAX_ITER, TOL = 60, 2e-3


def scan_of(
    magnitude: np.ndarray, phase: np.ndarray | None, snr: float, coils: np.ndarray | None, seed: tuple[int, ...]
) -> SimulatedScan:
    """A scan of an image, with this phase or a smooth one of its own; samples in single precision."""
    whole = magnitude if phase is None else magnitude * np.exp(1j * phase)
    return simulate_scan(whole, snr=snr, coils=coils, random_state=generator(list(seed)), dtype="complex64")


@dataclass(frozen=True, eq=False)
class TrialScan:
    """A scan whose truth is known.

    Attributes
    ----------
    scan : SimulatedScan, or callable() -> SimulatedScan
        One that is called simulates the scan anew whenever it is tried, in place of keeping it.
    axis : int or None
        Of the phase encodes where whole lines are measured; None: single points.
    prescan : bool
        Whether the phase is known; else it is read from the centre of what is measured.
    tol : float
        Size of the steps, of the image's, at which a reconstruction ends.
    reader : {"smooth", "estimate"}
        How the phase is read, as of `ImageReconstructor`: a smooth one, or the bare angle of the centre.
    reference : array (n0, n1) or None
        Magnitudes that the reconstruction takes as prior knowledge.
    max_iter : int
        Of a reconstruction, at its last smoothing.
    """

    scan: SimulatedScan | Callable[[], SimulatedScan]
    axis: int | None
    prescan: bool = False
    tol: float = TOL
    reader: str = "smooth"
    reference: np.ndarray | None = None
    max_iter: int = MAX_ITER

    def made(self) -> SimulatedScan:
        """The scan, simulated if it was not kept."""
        return self.scan if isinstance(self.scan, SimulatedScan) else self.scan()

    def found(self, chosen: np.ndarray) -> np.ndarray:
        """The complex image from a mask of lines or points, the phase being known or read from its centre."""
        return self._found(self._measured(chosen), chosen)

    def error(self, chosen: np.ndarray | TrajectoryPool) -> float:
        """Error of the magnitudes, as a share of the image's length, from a mask or from shots."""
        if isinstance(chosen, np.ndarray):
            scan = self._measured(chosen)
            found = self._found(scan, chosen)
        else:
            scan = self.made()
            found = self._model(scan).reconstruct(chosen, scan.measure(chosen), with_phase=True)
        return l2_error(scan.image, np.abs(found)) / float(np.linalg.norm(scan.image))

    def residual(self, chosen: np.ndarray) -> np.ndarray:
        """Share of the residual's energy on every line (n,) or at every point (n0, n1)."""
        scan = self._measured(chosen)
        difference = self._found(scan, chosen) - scan.image * np.exp(1j * scan.phase)
        whole, energy = FourierLines(scan.image.shape, range(len(scan.image))), np.zeros(scan.image.shape)
        for maps in [1.0] if scan.coils is None else scan.coils:  # coil by coil
            energy += np.abs(whole.forward(maps * difference)) ** 2
        if self.axis is not None:
            energy = energy.sum(axis=1 - self.axis)
        return energy / max(float(energy.sum()), np.finfo(float).tiny)

    def _measured(self, chosen: np.ndarray) -> SimulatedScan:
        """The scan with the samples of a mask only, in the order of its block: the others are let go."""
        scan = self.made()
        if self.axis is None:
            return replace(scan, kspace=scan.kspace[..., chosen])
        return replace(scan, kspace=np.moveaxis(scan.kspace, self.axis - 2, -2)[..., chosen, :])

    def _found(self, scan: SimulatedScan, chosen: np.ndarray) -> np.ndarray:
        """The image from samples in the order of the block."""
        return self._model(scan).reconstruct([self._block(scan, chosen)], [scan.kspace], with_phase=True)

    def _model(self, scan: SimulatedScan) -> ImageReconstructor:
        return ImageReconstructor(
            scan.image.shape, noise_variance=scan.noise_variance, prior_scales=SCALES, imaginary_prior="pixel",
            coils=scan.coils, check=False, max_iter=self.max_iter, tol=self.tol, reference=self.reference,
            phase=scan.phase if self.prescan else self.reader,
        )  # fmt: skip

    def _block(self, scan: SimulatedScan, chosen: np.ndarray) -> Operator:
        """The samples of a mask of lines (n,) or of points (n0, n1)."""
        if self.axis is None:
            return FourierMask(scan.image.shape, chosen)
        return FourierLines(scan.image.shape, np.flatnonzero(chosen), self.axis)
