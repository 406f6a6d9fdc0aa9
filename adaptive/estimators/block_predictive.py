"""What a large posterior believes about blocks of measurements: log|I + X Cov X' / noise| of each, real-stacked.

Samples of the image's Fourier transform are nearly uncorrelated, so that blocks on the grid are scored by the variances
v of their samples,

    sum over the block of  2 ln(1 + v / (2 noise)),        v = E |F u|^2 from the posterior's samples,

all of them from one batch of transforms, with standard errors. (Against joint determinants: rank correlation 1.000,
values within .5 percent.) A real image has conjugate samples at k and -k: where a block holds both, they are one number
measured twice. Other blocks are scored exactly, one solve per row.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.fft

from adaptive.estimators.measured_blocks import MeasuredBlocks, RowsOnImages, as_blocks, is_rows, on_grid
from adaptive.inference import LargePosterior
from adaptive.linalg import controlled_variance
from adaptive.operators import Diagonal, FourierLines, Operator, Product, RealStacked
from adaptive.potentials import Gaussian
from adaptive.predictive import Predictive, StatedPredictive

__all__ = ["BlockPredictive", "operator_on_unknown"]


def operator_on_unknown(block: Operator, phase: np.ndarray | None, complex_unknown: bool) -> Operator:
    """The block on what is unknown: the phase put on, real and imaginary parts of a complex image side by side."""
    operator = block if phase is None else Product(block, Diagonal(phase))
    return RealStacked(operator, "complex") if complex_unknown else operator


class BlockPredictive(Predictive):
    """Predictive of m candidate blocks, jointly Gaussian.

    Parameters
    ----------
    posterior : LargePosterior
        Over the image, or its real and imaginary part.
    candidates : pool of operator blocks, or rows (m, n)
    measured : MeasuredBlocks
        What the posterior has seen, and in what-ifs the candidates assumed measured.
    noise_variance : float
        Per real component.
    phase : array or None
        exp(i phase) by which the unknown is multiplied.
    refine : bool, default False
        Whether selection is to compute the best candidates exactly; ``refined`` can be called in any case.
    random_state : ignored
        The samples are the posterior's.
    """

    def __init__(
        self,
        posterior: LargePosterior,
        candidates: Any,
        measured: MeasuredBlocks,
        noise_variance: float,
        *,
        phase: np.ndarray | None = None,
        refine: bool = False,
        random_state: Any = None,
    ):
        self.posterior, self.candidates, self.measured = posterior, candidates, measured
        self.noise_variance, self.phase, self.refine = noise_variance, phase, refine
        self.likelihood = Gaussian(noise_variance)
        self._shape = measured.shape
        self._complex = len(posterior.system.input_shape) > len(self._shape)
        super().__init__(candidates.shape[0] if is_rows(candidates) else len(candidates), random_state=random_state)

    def provides(self, name: str) -> bool:
        if name == "refined":  # selection would compute eight candidates exactly each time
            return self.refine
        return super().provides(name)

    # ------------------------------------------------------------------------------------------------ all candidates
    def log_determinant(self) -> tuple[np.ndarray, np.ndarray]:
        """log|I + Cov / noise| of every candidate, and standard errors."""
        return self._scores

    @cached_property
    def _scores(self) -> tuple[np.ndarray, np.ndarray]:
        if is_rows(self.candidates):
            return self._of_rows()
        known = getattr(self.candidates, "lines", None)
        if known is not None and not isinstance(self.candidates, Operator):  # a pool of lines: no operator is made
            return self._of_lines(np.asarray(known), int(self.candidates.axis))
        blocks = as_blocks(self.candidates, self._shape)
        values, errors = np.empty(len(blocks)), np.empty(len(blocks))
        for k, block in enumerate(blocks):
            if isinstance(block, FourierLines) and len(block.lines) == 1:
                value, error = self._of_lines(block.lines, block.axis)
                values[k], errors[k] = value[0], error[0]
            elif on_grid(block):
                values[k], errors[k] = self._of_mask(block.mask)
            else:
                gain, error = self.posterior.information_gain(self._operator(block), self.noise_variance, True)
                values[k], errors[k] = 2 * gain, 2 * error
        return values, errors

    def _of_rows(self) -> tuple[np.ndarray, np.ndarray]:
        rows = RowsOnImages(self.candidates, self._shape)
        if rows.dtype.kind == "c":
            return self._of_complex_rows(rows)
        variance, error = self.posterior.variances(self._operator(rows), return_error=True)
        variance, error = variance[: rows.shape[0]], error[: rows.shape[0]]
        return np.log1p(variance / self.noise_variance), error / (self.noise_variance + variance)

    def _of_complex_rows(self, rows: RowsOnImages) -> tuple[np.ndarray, np.ndarray]:
        parts = [RowsOnImages(self.candidates[k : k + 1], self._shape) for k in range(rows.shape[0])]
        gains = [self.posterior.information_gain(self._operator(row), self.noise_variance) for row in parts]
        return 2 * np.array(gains), np.zeros(len(gains))

    # ---------------------------------------------------------------------------------------------- blocks on the grid
    @cached_property
    def _power(self) -> tuple[np.ndarray, np.ndarray]:
        """E |F u|^2 over the centred grid, and its standard error."""
        samples, control = self.posterior.samples, self.posterior.control
        known = self._known_power if control is not None else None
        if known is None or control is None:
            power, error = controlled_variance(self._transformed(samples))
        else:
            power, error = controlled_variance(self._transformed(samples), self._transformed(control), known.ravel())
        n = float(np.prod(self._shape))
        return self._on_grid(np.maximum(power, 0.0) / n), self._on_grid(error / n)

    @property
    def _known_power(self) -> np.ndarray | None:
        """The power that the control has in common with the samples, as `_transformed` orders it; None if unknown."""
        inverse, n = self.posterior.inverse_circulant, float(np.prod(self._shape))
        if inverse is None or self.phase is not None:
            return None
        return n * (inverse.half[0] if self._has_mirrors else scipy.fft.ifftshift(inverse.spectrum()))

    def _transformed(self, u: np.ndarray) -> np.ndarray:
        """Fourier transforms, not normalised, frequency zero first, flat; of real images half of them."""
        if self._has_mirrors:
            return scipy.fft.rfft2(u, axes=(1, 2)).reshape(len(u), -1)
        whole = u[:, 0] + 1j * u[:, 1] if self._complex else u
        whole = whole if self.phase is None else whole * self.phase
        return scipy.fft.fft2(whole, axes=(1, 2)).reshape(len(u), -1)

    def _on_grid(self, flat: np.ndarray) -> np.ndarray:
        """The centred grid of what is ordered as in `_transformed`."""
        if not self._has_mirrors:
            return scipy.fft.fftshift(flat.reshape(self._shape))
        h, w = self._shape
        half = flat.reshape(h, -1)
        other = half[:, w - half.shape[1] : 0 : -1]  # frequencies (k, -l) are those of (-k, l)
        return scipy.fft.fftshift(np.concatenate([half, np.concatenate([other[:1], other[:0:-1]])], axis=1))

    def _log_terms(self, repeats: float, where: Any = ...) -> tuple[np.ndarray, np.ndarray]:
        """2 ln(1 + repeats v / (2 noise)) at samples, and its error."""
        power, error = (grid[where] for grid in self._power)
        noise = 2 * self.noise_variance
        return 2 * np.log1p(repeats * power / noise), 2 * repeats * error / (noise + repeats * power)

    @cached_property
    def _single(self) -> tuple[np.ndarray, np.ndarray]:
        return self._log_terms(1.0)

    @property
    def _has_mirrors(self) -> bool:
        return self.phase is None and not self._complex

    def _of_lines(self, lines: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
        values, errors = self._single
        totals, squares = values.sum(axis=1 - axis)[lines], np.sum(errors**2, axis=1 - axis)[lines]
        if self._has_mirrors:
            n = self._shape[axis]
            for k in np.flatnonzero((2 * (n // 2) - lines) % n == lines):  # DC, and frequency -n/2: their own mirrors
                values, errors = self._log_terms(2.0, (slice(None),) * axis + (lines[k],))
                totals[k], squares[k] = values.sum() / 2, np.sum(errors**2) / 4
        return totals, np.sqrt(squares)

    def _of_mask(self, mask: np.ndarray) -> tuple[float, float]:
        values, errors = self._single
        if not self._has_mirrors:
            return float(values[mask].sum()), float(np.sqrt(np.sum(errors[mask] ** 2)))
        mirrored = _mirrored_centred(mask)
        twice = mask & mirrored
        pair_values, pair_errors = self._log_terms(2.0)
        weight = np.where(twice, 0.5, 1.0)  # of k and -k each half; a sample that is its own mirror is real: one number
        values, errors = np.where(twice, pair_values, values), np.where(twice, pair_errors, errors)
        return float((weight * values)[mask].sum()), float(np.sqrt(np.sum((weight * errors)[mask] ** 2)))

    # ------------------------------------------------------------------------------------------------ single candidates
    def _block(self, i: int) -> Operator:
        if is_rows(self.candidates):
            return RowsOnImages(self.candidates[i : i + 1], self._shape)
        return as_blocks([self.candidates[int(i)]], self._shape)[0]

    def _operator(self, block: Operator) -> Operator:
        return operator_on_unknown(block, self.phase, self._complex)

    def refined(self, positions: Any) -> StatedPredictive:
        """The candidates at ``positions``, their determinants exact: one solve for each row of a block."""
        gains = [
            self.posterior.information_gain(self._operator(self._block(i)), self.noise_variance) for i in positions
        ]
        values = 2 * np.array(gains)
        return StatedPredictive(len(values), log_determinant=lambda: (values, np.zeros_like(values)))

    def covariance(self, i: Any, j: Any) -> np.ndarray:
        """Covariance of the samples of blocks ``i`` and ``j``, stacked; real parts of a block, then imaginary ones."""
        first, second = (np.atleast_1d(k) for k in (i, j))
        return np.block(
            [
                [
                    self.posterior.projection_covariance(
                        self._operator(self._block(a)), None if a == b else self._operator(self._block(b))
                    )
                    for b in second
                ]
                for a in first
            ]
        )

    def given(self, i: int, outcome: Any = None) -> BlockPredictive:
        """The belief had block ``i`` been measured; what came back does not matter to a Gaussian.

        The samples become samples given that measurement: they are solved again, starting from what they are.
        """
        measured = self.measured.with_block_assumed(self._block(i))
        operator = operator_on_unknown(measured.operator(), self.phase, self._complex)
        posterior = self.posterior.given_measurements(operator, self.noise_variance)
        return BlockPredictive(
            posterior,
            self.candidates,
            measured,
            self.noise_variance,
            phase=self.phase,
            refine=self.refine,
            random_state=self._random_state,
        )


def _mirrored(grid: np.ndarray) -> np.ndarray:
    """Values at -k, frequency zero first."""
    return np.roll(np.flip(grid), 1, (0, 1))


def _mirrored_centred(grid: np.ndarray) -> np.ndarray:
    return scipy.fft.fftshift(_mirrored(scipy.fft.ifftshift(grid)))
