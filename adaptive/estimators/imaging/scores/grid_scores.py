"""Information of Fourier samples on the Cartesian grid: nearly uncorrelated, so that their variances v suffice.

    sum over the samples of a block of  2 ln(1 + v / (2 noise)),       v = E |F u|^2 from the posterior's samples,

all of them from one batch of transforms. (Against joint determinants: rank correlation 1.000, values within .5 percent
of a photograph, up to 6 percent too high of a stiff model of a head.) Stated errors hold what that adds to the spread
of few samples, whose errors along a line are correlated, too: the determinant is within 1.96 of them in 93% or more.
A real image has conjugate samples at k and -k: where a block holds both, they are one number measured twice.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.fft

from adaptive.inference import LargePosterior
from adaptive.linalg import controlled_variance

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["GridScores", "OneSide"]


_LESS = 1e-6  # relative, by which the other side falls behind: more than ties, less than any error
_CORRELATED = 1.6  # times 1 / samples: what the deviation of a sum over a line is more than that of independent terms
_SYSTEMATIC = (
    0.04  # share of a value that may be what neighbours in k-space say twice, or the curvature of the logarithm
)


class GridScores:
    """Log-determinants log|I + Cov / noise|, real-stacked, of lines, phase encodes and masks for one coil.

    Parameters
    ----------
    posterior : LargePosterior
        Over the image, or its real and imaginary part.
    shape : tuple of int
        Of the image or volume.
    noise_variance : float
        Per real component.
    phase : array (*shape) or None
        exp(i phase) by which the unknown is multiplied.
    """

    def __init__(
        self, posterior: LargePosterior, shape: tuple[int, ...], noise_variance: float, phase: np.ndarray | None = None
    ):
        self.posterior, self.shape = posterior, shape
        self.noise_variance, self.phase = noise_variance, phase
        self.complex = len(posterior.system.input_shape) > len(shape)
        self.mirrors = phase is None and not self.complex

    def of_lines(self, lines: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
        """Scores of whole lines (in a volume planes) of these indices along ``axis``."""
        values, errors = self._single
        others = tuple(other for other in range(len(self.shape)) if other != axis)
        totals, squares = values.sum(axis=others)[lines], np.sum(errors**2, axis=others)[lines]
        if self.mirrors:
            n = self.shape[axis]
            for k in np.flatnonzero((2 * (n // 2) - lines) % n == lines):  # DC, and frequency -n/2: their own mirrors
                values, errors = self._log_terms(2.0, (slice(None),) * axis + (lines[k],))
                totals[k], squares[k] = values.sum() / 2, np.sum(errors**2) / 4
        return totals, _stated(totals, squares, len(self.posterior.samples))

    def of_mirrors(self, lines: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (p, 2) of places in ``lines`` whose frequencies are opposite, and the scores (p,) of both together."""
        n = self.shape[axis]
        place = np.full(n, -1)
        place[lines] = np.arange(len(lines))
        mirror = (2 * (n // 2) - lines) % n
        first = np.flatnonzero((lines < mirror) & (place[mirror] >= 0))
        others = tuple(other for other in range(len(self.shape)) if other != axis)
        twice = self._log_terms(2.0)[0].sum(axis=others)
        pairs = np.stack([first, place[mirror[first]]], axis=1)
        return pairs, twice[lines[pairs]].mean(axis=1)

    def of_encodes(self, encodes: np.ndarray, readout: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Scores of lines along ``readout`` at these positions (m, 2) on the other axes, or points of a plane."""
        values, errors = self._single
        first, second = encodes.T
        along = () if readout is None else readout  # no axis to add over
        totals = values.sum(axis=along)[first, second]
        squares = np.sum(errors**2, axis=along)[first, second]
        if self.mirrors:
            free = [axis for axis in range(len(self.shape)) if axis != readout]
            sides = np.array([self.shape[axis] for axis in free])
            own = np.flatnonzero(np.all((2 * (sides // 2) - encodes) % sides == encodes, axis=1))
            for k in own:
                where: list[slice | int] = [slice(None)] * len(self.shape)
                where[free[0]], where[free[1]] = int(first[k]), int(second[k])
                values, errors = self._log_terms(2.0, tuple(where))
                totals[k], squares[k] = values.sum() / 2, np.sum(errors**2) / 4
        return totals, _stated(totals, squares, len(self.posterior.samples))

    def of_mask(self, mask: np.ndarray) -> tuple[float, float]:
        """Score of all samples where ``mask`` is true."""
        values, errors = self._single
        if not self.mirrors:
            total = float(values[mask].sum())
            return total, float(_stated(total, np.sum(errors[mask] ** 2), len(self.posterior.samples)))
        mirrored = _mirrored_centred(mask)
        twice = mask & mirrored
        pair_values, pair_errors = self._log_terms(2.0)
        weight = np.where(twice, 0.5, 1.0)  # of k and -k each half; a sample that is its own mirror is real: one number
        values, errors = np.where(twice, pair_values, values), np.where(twice, pair_errors, errors)
        total = float((weight * values)[mask].sum())
        return total, float(_stated(total, np.sum((weight * errors)[mask] ** 2), len(self.posterior.samples)))

    # ---------------------------------------------------------------------------------------------------- the variances
    @cached_property
    def power(self) -> tuple[np.ndarray, np.ndarray]:
        """E |F u|^2 over the centred grid, and its standard error."""
        samples, control = self.posterior.samples, self.posterior.control
        known = self._known_power if control is not None else None
        if known is None or control is None:
            power, error = controlled_variance(self._transformed(samples))
        else:
            power, error = controlled_variance(self._transformed(samples), self._transformed(control), known.ravel())
        n = float(np.prod(self.shape))
        return self._on_grid(np.maximum(power, 0.0) / n), self._on_grid(error / n)

    @property
    def _known_power(self) -> np.ndarray | None:
        """The power that the control has in common with the samples, as `_transformed` orders it; None if unknown."""
        inverse, n = self.posterior.inverse_circulant, float(np.prod(self.shape))
        if inverse is None or self.phase is not None:
            return None
        return n * (inverse.half[0] if self.mirrors else scipy.fft.ifftshift(inverse.spectrum()))

    def _transformed(self, u: np.ndarray) -> np.ndarray:
        """Fourier transforms, not normalised, frequency zero first, flat; of real images half of them."""
        axes = tuple(range(1, 1 + len(self.shape)))
        if self.mirrors:
            return scipy.fft.rfftn(u, axes=axes).reshape(len(u), -1)
        whole = u[:, 0] + 1j * u[:, 1] if self.complex else u
        whole = whole if self.phase is None else whole * self.phase
        return scipy.fft.fftn(whole, axes=axes).reshape(len(u), -1)

    def _on_grid(self, flat: np.ndarray) -> np.ndarray:
        """The centred grid of what is ordered as in `_transformed`."""
        if not self.mirrors:
            return scipy.fft.fftshift(flat.reshape(self.shape))
        half = flat.reshape(*self.shape[:-1], -1)
        whole = np.empty(self.shape)
        whole[..., : half.shape[-1]] = half
        whole[..., half.shape[-1] :] = _mirrored(whole)[..., half.shape[-1] :]
        return scipy.fft.fftshift(whole)

    def _log_terms(self, repeats: float, where: tuple[int | slice, ...] = ()) -> tuple[np.ndarray, np.ndarray]:
        """2 ln(1 + repeats v / (2 noise)) at samples, and its error."""
        power, error = (grid[where] for grid in self.power)
        noise = 2 * self.noise_variance
        return 2 * np.log1p(repeats * power / noise), 2 * repeats * error / (noise + repeats * power)

    @cached_property
    def _single(self) -> tuple[np.ndarray, np.ndarray]:
        return self._log_terms(1.0)


class OneSide:
    """Scores of a frequency and its mirror, both free, the one on the fuller side; of mirrors, the central ones first.

        F(u exp(i e))(k) ~ F(u)(k) + i F(e u)(k),      conj F(u exp(i e))(-k) ~ F(u)(k) - i F(e u)(k)

    An error e of the phase, which is smooth, is seen with one sign on one side of k-space and with the other on the
    other. From one side the image that comes out is u exp(i e) almost everywhere, of which magnitudes show no error of
    first order; where sides alternate the signs do, and neighbouring lines contradict each other. About the image
    itself the two say the same: their scores differ by their errors only. And where k was measured, -k shows the error
    itself, most of it near the centre, as of u: its scores, of a model that expects the same everywhere, are handed
    out from there.

    Parameters
    ----------
    measured : array of bool (n,) or (n0, n1)
        Lines, or points of two phase-encode axes, that were measured; DC at n // 2.
    """

    def __init__(self, measured: np.ndarray):
        self.measured, self.shape = measured, np.array(measured.shape)
        every = np.indices(measured.shape).reshape(measured.ndim, -1).T
        self.mirrors = (2 * (self.shape // 2) - every) % self.shape
        frequencies = np.where(np.all(self.mirrors == every, axis=1)[:, None], 0, every - self.shape // 2)
        first = np.argmax(frequencies != 0, axis=1)
        self.sides = np.sign(frequencies[np.arange(len(every)), first])  # 0 at DC and what is its own mirror
        self.radius = np.sum(np.square(frequencies / self.shape), axis=1)
        taken, opposite = measured.ravel(), measured[tuple(self.mirrors.T)]
        fuller = 1 if np.sum(self.sides[taken & ~opposite]) > 0 else -1
        self.behind = ~taken & ~opposite & (self.sides == -fuller)
        self.shown = ~taken & opposite & (self.sides != 0)

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Scores of all positions, flat: on the emptier side at most those of the mirrors, if these are free.

        Examples
        --------
        >>> side = OneSide(np.isin(np.arange(8), [4, 5, 6]))  # frequencies 0, 1 and 2
        >>> side(np.array([0.5, 2, 1, 0, 0, 0, 0, 1])).round(3)  # -3 follows 3; of the mirrors -1 comes before -2
        array([0.5, 1. , 0. , 1. , 0. , 0. , 0. , 1. ])
        """
        after = values.copy()
        mirrored = values.reshape(self.shape)[tuple(self.mirrors.T)]
        after[self.behind] = (1 - _LESS) * np.minimum(values, mirrored)[self.behind]
        shown = np.flatnonzero(self.shown)
        after[shown[np.argsort(self.radius[shown], kind="stable")]] = np.sort(values[shown])[::-1]
        return after


def _stated(total: ArrayLike, square: ArrayLike, n_samples: int) -> np.ndarray:
    """The error of totals, given the sums of the squared errors of their terms."""
    return np.sqrt((1 + _CORRELATED / n_samples) ** 2 * np.asarray(square) + (_SYSTEMATIC * np.asarray(total)) ** 2)


def _mirrored(grid: np.ndarray) -> np.ndarray:
    """Values at -k, frequency zero first."""
    return np.roll(np.flip(grid), 1, tuple(range(grid.ndim)))


def _mirrored_centred(grid: np.ndarray) -> np.ndarray:
    return scipy.fft.fftshift(_mirrored(scipy.fft.ifftshift(grid)))
