"""A fully sampled image as a scan that designs are tried on: errors, and where in k-space the residual is.

    residual(k) = |F (maps . (found - true))(k)|^2 / sum over k,      found: the converged MAP image from a design

Errors of truncated reconstructions chose lines 3 to 13% worse than random ones, so every reconstruction here runs until
its steps are small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.imaging.image_reconstructor import ImageReconstructor
from adaptive.images import SimulatedScan, l2_error
from adaptive.operators import FourierLines, FourierMask

if TYPE_CHECKING:
    from adaptive.operators import Operator

__all__ = ["TrialScan"]

SCALES = {"wavelet": 0.2, "tv": 0.1, "imaginary": 0.01}  # of heads in [0, 1], by MAP errors of SNR 50 to 200
MAX_ITER, TOL = 60, 2e-3


@dataclass(frozen=True, eq=False)
class TrialScan:
    """A scan whose truth is known.

    Attributes
    ----------
    scan : SimulatedScan
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

    scan: SimulatedScan
    axis: int | None
    prescan: bool = False
    tol: float = TOL
    reader: str = "smooth"
    reference: np.ndarray | None = None
    max_iter: int = MAX_ITER

    def block(self, chosen: np.ndarray) -> Operator:
        """Samples of a mask of lines (n,) or of points (n0, n1)."""
        shape = self.scan.image.shape
        return (
            FourierMask(shape, chosen) if self.axis is None else FourierLines(shape, np.flatnonzero(chosen), self.axis)
        )

    def samples(self, block: Operator) -> np.ndarray:
        """Samples of a block, as `SimulatedScan.samples`; of several scans one at a time keeps its images."""
        shape = self.scan.image.shape
        return block.forward(FourierLines(shape, range(shape[0])).adjoint(self.scan.kspace))

    def found(self, chosen: np.ndarray) -> np.ndarray:
        """The complex image from a mask of lines or points, the phase being known or read from its centre."""
        block = self.block(chosen)
        model = ImageReconstructor(
            self.scan.image.shape, noise_variance=self.scan.noise_variance, prior_scales=SCALES,
            imaginary_prior="pixel", coils=self.scan.coils, check=False, max_iter=self.max_iter, tol=self.tol,
            phase=self.scan.phase if self.prescan else self.reader, reference=self.reference,
        )  # fmt: skip
        return model.reconstruct([block], [self.samples(block)], with_phase=True)

    def error(self, chosen: np.ndarray) -> float:
        """Error of the magnitudes, as a share of the image's length."""
        found = np.abs(self.found(chosen))
        return l2_error(self.scan.image, found) / float(np.linalg.norm(self.scan.image))

    def residual(self, chosen: np.ndarray) -> np.ndarray:
        """Share of the residual's energy on every line (n,) or at every point (n0, n1)."""
        difference = self.found(chosen) - self.scan.image * np.exp(1j * self.scan.phase)
        seen = difference if self.scan.coils is None else self.scan.coils * difference
        shape = self.scan.image.shape
        energy = np.abs(FourierLines(shape, range(shape[0])).forward(seen)) ** 2
        energy = energy.reshape(-1, *shape).sum(axis=0)
        if self.axis is not None:
            energy = energy.sum(axis=1 - self.axis)
        return energy / max(float(energy.sum()), np.finfo(float).tiny)
