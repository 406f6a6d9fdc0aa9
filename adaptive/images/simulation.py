"""A scan simulated from a magnitude image: a smooth phase, complex noise, and a caption that says so.

    samples = F (image exp(i phase)) + noise,      Re and Im of the noise independent N(0, sd^2),  sd = max(image) / snr

with F the centred orthonormal Fourier transform. The noise is drawn once, on the full Cartesian grid; every block of
measurements, on the grid or off it, sees that one acquisition, and measuring a line again gives the same samples. With
coils the image of each is multiplied with its map, and the noise may be correlated between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import complex_numbers, finite, generator, positive
from adaptive.images.phase import polynomial_phase
from adaptive.operators import FourierLines, Operator

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, DType, RandomState

__all__ = ["SimulatedScan", "simulate_scan"]


@dataclass(frozen=True, eq=False)
class SimulatedScan:
    """A fully sampled acquisition of a known image.

    Attributes
    ----------
    image : ndarray (*shape)
        The magnitudes that a reconstruction is compared with, float64.
    phase : ndarray (*shape)
        Radians: simulated, or the image's own where it was complex.
    kspace : ndarray (*shape) or (coils, *shape), complex
        All samples with noise, centred and orthonormal.
    noise_sd : float
        Standard deviation of the real and of the imaginary part of every sample; the root mean square over coils.
    statements : tuple of str
        What was simulated, in sentences.
    coils : ndarray (coils, *shape) or None
        Sensitivities.
    coil_covariance : ndarray (coils, coils) or None
        Of the noise between coils, scaled to a mean diagonal of one.

    Examples
    --------
    >>> from adaptive.images import simulate_scan
    >>> scan = simulate_scan(np.eye(8), snr=20.0, random_state=0)
    >>> scan.kspace.shape, scan.phase.shape, scan.noise_sd > 0
    ((8, 8), (8, 8), True)
    """

    image: np.ndarray
    phase: np.ndarray
    kspace: np.ndarray
    noise_sd: float
    statements: tuple[str, ...]
    coils: np.ndarray | None = None
    coil_covariance: np.ndarray | None = None

    @property
    def noise_variance(self) -> float:
        """Variance of the real and of the imaginary part of every sample."""
        return self.noise_sd**2

    @cached_property
    def acquired(self) -> np.ndarray:
        """The noisy complex image (of every coil), whose transform ``kspace`` is."""
        return FourierLines(self.image.shape, range(len(self.image))).adjoint(self.kspace)

    def samples(self, block: Operator) -> np.ndarray:
        """Samples of an operator block: ``block.forward`` of the noisy acquisition, of every coil first."""
        return block.forward(self.acquired)

    def measure(self, blocks: Iterable[Operator]) -> list[np.ndarray]:
        """The samples of several blocks, in their order; what a loop's ``measure`` returns for its query."""
        return [self.samples(block) for block in getattr(blocks, "candidates", blocks)]

    def caption(self, told: Sequence[str] | None = None) -> str:
        """Caption for figures of this scan.

        Parameters
        ----------
        told : sequence of str, optional
            What the model was told that a user would not know, as in ("the noise variance",); empty: nothing.
        """
        text = "Simulated: " + "; ".join(self.statements) + "."
        if told is None:
            return text
        return f"{text} The model was told {' and '.join(told) if told else 'nothing that a user would not know'}."


def simulate_scan(
    image: ArrayLike,
    *,
    snr: float = 50.0,
    largest_phase: float = np.pi,
    order: int = 2,
    coils: ArrayLike | None = None,
    coil_covariance: ArrayLike | None = None,
    random_state: RandomState = None,
    dtype: DType = complex,
) -> SimulatedScan:
    """Simulate a fully sampled Cartesian scan.

    Parameters
    ----------
    image : array-like (h, w), or a volume with three axes
        Magnitudes >= 0 (a phase is simulated), or a complex image (its own phase is kept).
    snr : float > 0, default 50
        Largest magnitude divided by the standard deviation of the noise in the real (and in the imaginary) part of a
        pixel; the transform is orthonormal, so that samples have the same noise. 50 is about 20 against white matter.
    largest_phase : float, default pi
        Largest absolute value of the simulated phase; 0 leaves the image real.
    order : int, default 2
        Degree of the polynomial that the phase is.
    coils : array (coils, *shape), optional
        Sensitivities of receiver coils (`simulate_coils`); default: one coil that sees everything alike.
    coil_covariance : array (coils, coils), optional
        Shape of the noise's covariance between coils (its scale does not count: ``snr`` is that of the mean variance);
        default: independent and alike.
    random_state : None, int or NumPy generator
        Phase and noise have streams of their own: another ``snr`` changes neither the phase nor the noise's pattern.
    dtype : {complex128, complex64}, default complex128
        Of the samples.

    Returns
    -------
    SimulatedScan

    Raises
    ------
    ValueError
        If the image is no image of two or three axes, is all zero, or holds negative magnitudes.

    Examples
    --------
    >>> scan = simulate_scan(np.eye(4), snr=30, random_state=0)
    >>> scan.kspace.shape, round(scan.noise_sd, 4)
    ((4, 4), 0.0333)
    >>> print(scan.caption(told=["the noise variance"]))
    Simulated: phase (random polynomial of order 2, up to 3.14 rad); complex Gaussian noise, SNR 30 (largest magnitude
    over the standard deviation of each part); one coil; seed 0. The model was told the noise variance.
    """
    array = finite("image", image, dtype=None)
    if array.ndim not in (2, 3) or array.dtype.kind not in "biufc" or not np.any(array):
        raise ValueError(
            f"image must be a two- or three-dimensional image that is not all zero, got {array.dtype} of shape "
            f"{array.shape}."
        )
    if array.dtype.kind != "c" and array.min() < 0:
        raise ValueError(f"image must hold magnitudes >= 0 (or complex numbers), got {array.min()}.")
    maps, covariance = _checked_coils(coils, coil_covariance, array.shape)
    noise_sd = float(np.abs(array).max() / positive("snr", snr))
    phase_rng, noise_rng = generator(random_state).spawn(2)
    if array.dtype.kind == "c":
        phase, said = np.angle(array), "nothing about the phase, which is the image's own"
    else:
        phase = polynomial_phase(array.shape, order, largest_phase, phase_rng)
        said = (
            f"phase (random polynomial of order {order}, up to {largest_phase:.3g} rad)"
            if largest_phase
            else "no phase"
        )
    magnitude = np.abs(array).astype(float)
    turned, whole = magnitude * np.exp(1j * phase), FourierLines(array.shape, range(len(array)))
    samples = np.empty((1 if maps is None else len(maps), *array.shape), dtype)
    if covariance is None:  # coil by coil: memory for one of them in double precision
        for k, one in enumerate(samples):
            one[...] = whole.forward(turned if maps is None else maps[k] * turned)
        for part in (samples.real, samples.imag):
            for one in part:
                one += noise_rng.standard_normal(array.shape) * noise_sd
    else:
        noise = noise_rng.standard_normal((2, *samples.shape)) * noise_sd
        root = np.linalg.cholesky(covariance)
        samples[...] = whole.forward(maps * turned) + np.tensordot(root, noise[0] + 1j * noise[1], axes=1)
    seed = f"seed {random_state}" if isinstance(random_state, (int, np.integer)) else "seed not recorded"
    statements = (
        said,
        f"complex Gaussian noise, SNR {snr:g} (largest magnitude over the standard deviation of each part)",
        "one coil" if maps is None else f"{len(maps)} coils with {'in' if covariance is None else ''}dependent noise",
        seed,
    )
    kspace = samples[0] if maps is None else samples
    return SimulatedScan(magnitude, phase, kspace, noise_sd, statements, maps, covariance)


def _checked_coils(
    coils: ArrayLike | None, covariance: ArrayLike | None, shape: tuple[int, ...]
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """The maps, and the covariance scaled to a mean diagonal of one."""
    if coils is None:
        if covariance is not None:
            raise ValueError("coil_covariance needs coils: give their maps.")
        return None, None
    maps = complex_numbers("coils", coils)
    if maps.ndim != len(shape) + 1 or maps.shape[1:] != shape or not maps.any():
        raise ValueError(
            f"coils must be maps of shape (coils, {', '.join(map(str, shape))}), not all zero, got shape {maps.shape}."
        )
    if covariance is None:
        return maps, None
    matrix = finite("coil_covariance", covariance, dtype=complex)
    if matrix.shape != (len(maps), len(maps)) or not np.allclose(matrix, matrix.conj().T):
        raise ValueError(
            f"coil_covariance must be a Hermitian matrix of shape ({len(maps)}, {len(maps)}), got {matrix.shape}."
        )
    if np.linalg.eigvalsh(matrix)[0] <= 0:
        raise ValueError("coil_covariance must be positive definite, the given one is not.")
    return maps, matrix / (np.trace(matrix).real / len(maps))
