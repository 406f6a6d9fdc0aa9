"""Predictive of blocks of measurements: log|I + X Cov X' / noise| of each, real-stacked.

A dense posterior answers exactly (`dense_predictive`, and for rows of a matrix what every linear model knows); the rest
is about large ones.

Fourier samples are scored together from the posterior's samples: those on the Cartesian grid by their variances
(`grid_scores`), of several coils by their covariance across coils (`coil_scores`), trajectories by one non-uniform
transform for all (`trajectory_scores`). Other blocks are scored exactly, one solve per row.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.imaging.blocks import (
    RowsOnImages,
    as_blocks,
    is_encodes,
    is_lines,
    is_rows,
    is_shots,
    is_trajectory,
    on_grid,
)
from adaptive.estimators.imaging.dense_predictive import DenseBlockPredictive
from adaptive.estimators.imaging.measurements import MeasuredBlocks
from adaptive.estimators.imaging.scores.coil_images import SeenImages, seen_images
from adaptive.estimators.imaging.scores.coil_scores import CoilScores
from adaptive.estimators.imaging.scores.grid_scores import GridScores, OneSide
from adaptive.estimators.imaging.scores.trajectory_scores import TrajectoryScores
from adaptive.estimators.imaging.sensitivity import on_unknown
from adaptive.estimators.rows.linear_predictive import linear_predictive
from adaptive.inference import LargePosterior, Posterior
from adaptive.linalg.matrices import dense
from adaptive.operators import Coils, FourierLines, Operator, Product, RealStacked
from adaptive.potentials import Gaussian
from adaptive.predictive import Predictive, StatedPredictive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adaptive.estimators.imaging.model import ImageModel
    from adaptive.types import ArrayLike, Matrix, Pool, RandomState

__all__ = ["BlockPredictive", "block_predictive"]


def block_predictive(posterior: Posterior, candidates: Pool, model: ImageModel, *, refine: bool = False) -> Predictive:
    """The predictive of candidates under the posterior of a model.

    Parameters
    ----------
    posterior : Posterior
        Large ones answer by samples, dense ones exactly.
    candidates : pool of operator blocks, or rows (m, pixels)
    model : ImageModel
        Whose posterior it is.
    refine : bool
        Whether the best candidates of a large posterior are to be computed exactly.
    """
    measured, noise, sensitivity = model.measured, model.noise_variance, model.sensitivity
    if isinstance(posterior, LargePosterior):
        rough = model.prior.left_over is not None
        sensitivity = _shared(sensitivity, posterior)
        return BlockPredictive(
            posterior, candidates, measured, noise, sensitivity=sensitivity, rough_phase=rough, refine=refine
        )
    if is_rows(candidates) and candidates.dtype.kind != "c" and sensitivity is None and not model.prior.complex:
        return linear_predictive(posterior, _rows(candidates, measured.shape), Gaussian(noise))
    if is_rows(candidates):
        blocks: list[Operator] = [RowsOnImages(row[None], measured.shape) for row in dense(candidates)]
    else:
        blocks = as_blocks(candidates, measured.shape)
    operators = [on_unknown(block, sensitivity, model.prior.complex) for block in blocks]
    return DenseBlockPredictive(posterior, operators, noise)


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
    sensitivity : array (*shape), (coils, *shape) or None
        Factor of the unknown before it is measured: exp(i phase), times the maps of the coils.
    rough_phase : bool, default False
        Whether the phase is a smooth one with errors: lines of one side of k-space are then preferred (`OneSide`).
    refine : bool, default False
        Whether selection is to compute the best candidates exactly; ``refined`` can be called in any case.
    random_state : ignored
        The samples are the posterior's.
    """

    def __init__(
        self,
        posterior: LargePosterior,
        candidates: Pool,
        measured: MeasuredBlocks,
        noise_variance: float,
        *,
        sensitivity: np.ndarray | None = None,
        rough_phase: bool = False,
        refine: bool = False,
        random_state: RandomState = None,
    ):
        self.candidates: Any = candidates  # may be indexed, which not every kind of pool says
        self.posterior, self.acquired = posterior, measured
        self.noise_variance, self.sensitivity, self.refine = noise_variance, sensitivity, refine
        self.rough_phase = rough_phase
        self.likelihood = Gaussian(noise_variance)
        self._shape = measured.shape
        self._complex = len(posterior.system.input_shape) > len(self._shape)
        super().__init__(candidates.shape[0] if is_rows(candidates) else len(candidates), random_state=random_state)

    def _provides(self, name: str) -> bool:
        if name == "refined":  # selection would compute eight candidates exactly each time
            return self.refine
        return super()._provides(name)

    # ------------------------------------------------------------------------------------------------ all candidates
    def log_determinant(self) -> tuple[np.ndarray, np.ndarray]:
        """log|I + Cov / noise| of every candidate, and standard errors."""
        return self._scores

    @cached_property
    def _scores(self) -> tuple[np.ndarray, np.ndarray]:
        if is_rows(self.candidates):
            return self._of_rows()
        if is_lines(self.candidates):  # no operator is made
            return self._of_lines(np.asarray(self.candidates.lines), int(self.candidates.axis))
        if is_encodes(self.candidates):
            return self._of_encodes(np.asarray(self.candidates.encodes), self.candidates.readout)
        if is_shots(self.candidates):
            return self._trajectories(list(self.candidates.samples))
        return self._of_blocks(as_blocks(self.candidates, self._shape))

    def _of_blocks(self, blocks: list[Operator]) -> tuple[np.ndarray, np.ndarray]:
        """Each kind of block together, as far as there is a way for all."""
        values, errors = np.empty(len(blocks)), np.empty(len(blocks))
        shots: dict[int, np.ndarray] = {}
        lines: dict[int, dict[int, np.ndarray]] = {}  # single ones, by axis
        for k, block in enumerate(blocks):
            if is_trajectory(block):
                shots[k] = block.samples
            elif isinstance(block, FourierLines) and len(block.lines) == 1:
                lines.setdefault(block.axis, {})[k] = block.lines
            elif on_grid(block):
                values[[k]], errors[[k]] = self._grid.of_mask(block.mask)
            else:
                gain, error = self.posterior.information_gain(self._operator(block), self.noise_variance, True)
                values[k], errors[k] = 2 * gain, 2 * error
        if shots:
            values[list(shots)], errors[list(shots)] = self._trajectories(list(shots.values()))
        for axis, single in lines.items():
            values[list(single)], errors[list(single)] = self._of_lines(np.concatenate(list(single.values())), axis)
        return values, errors

    def traces(self) -> np.ndarray | None:
        """Return those of whole lines, by the variances of their samples in all coils."""
        if not is_lines(self.candidates):
            return None
        lines, axis = np.asarray(self.candidates.lines), int(self.candidates.axis)
        if isinstance(self._grid, CoilScores):
            every, where = np.unique(lines, return_inverse=True)
            return self._grid.power_of_lines(every, axis)[where] / self.noise_variance
        power = self._grid.power[0].sum(axis=tuple(k for k in range(len(self._shape)) if k != axis))
        return power[lines] / self.noise_variance

    def twins(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return lines of a real image and their mirrors, of which the second only takes noise away."""
        if not is_lines(self.candidates) or not isinstance(self._grid, GridScores) or not self._grid.mirrors:
            return None
        lines = np.asarray(self.candidates.lines)
        if len(np.unique(lines)) < len(lines):
            return None
        pairs, values = self._grid.of_mirrors(lines, int(self.candidates.axis))
        return pairs, 0.5 * values

    def _of_lines(self, lines: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
        if not self._prefers_a_side:
            return self._grid.of_lines(lines, axis)
        others = tuple(other for other in range(len(self._shape)) if other != axis)
        values, errors = self._grid.of_lines(np.arange(self._shape[axis]), axis)
        return OneSide(np.asarray(np.all(self.acquired.mask, axis=others)))(values)[lines], errors[lines]

    def _of_encodes(self, encodes: np.ndarray, readout: int | None) -> tuple[np.ndarray, np.ndarray]:
        if not self._prefers_a_side:
            return self._grid.of_encodes(encodes, readout)
        mask = self.acquired.mask if readout is None else np.asarray(np.all(self.acquired.mask, axis=readout))
        values, errors = self._grid.of_encodes(np.indices(mask.shape).reshape(2, -1).T, readout)
        chosen = np.ravel_multi_index(tuple(encodes.T), mask.shape)
        return OneSide(mask)(values)[chosen], errors[chosen]

    @property
    def _prefers_a_side(self) -> bool:
        """Choice of one side of k-space: the phase has errors, and a single coil cannot tell."""
        return self.rough_phase and isinstance(self._grid, GridScores)

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

    # ---------------------------------------------------------------------------------------- blocks of Fourier samples
    @property
    def n_transforms(self) -> int:
        """Batched non-uniform transforms that trajectories have cost, each over all candidates."""
        return self._trajectories.n_transforms

    @cached_property
    def _grid(self) -> GridScores | CoilScores:
        if self.sensitivity is not None and self.sensitivity.ndim > len(self._shape):
            return CoilScores(self._seen, self.noise_variance)
        return GridScores(self.posterior, self._shape, self.noise_variance, self.sensitivity)

    @cached_property
    def _trajectories(self) -> TrajectoryScores:
        return TrajectoryScores(self._seen, self.noise_variance)

    @property
    def _seen(self) -> SeenImages:
        return seen_images(self.posterior, self._shape, self.sensitivity)

    # ------------------------------------------------------------------------------------------------ single candidates
    def _block(self, i: int) -> Operator:
        if is_rows(self.candidates):
            return RowsOnImages(self.candidates[i : i + 1], self._shape)
        return as_blocks([self.candidates[int(i)]], self._shape)[0]

    def _operator(self, block: Operator) -> Operator:
        return on_unknown(block, self.sensitivity, self._complex)

    def refined(self, positions: Sequence[int] | np.ndarray) -> StatedPredictive:
        """The candidates at ``positions``, their determinants exact: one solve for each row of a block."""
        gains = [
            self.posterior.information_gain(self._operator(self._block(i)), self.noise_variance) for i in positions
        ]
        values = 2 * np.array(gains)
        return StatedPredictive(len(values), log_determinant=lambda: (values, np.zeros_like(values)))

    def covariance(self, i: ArrayLike, j: ArrayLike) -> np.ndarray:
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

    def given(self, i: int, outcome: object = None) -> BlockPredictive:
        """The belief had block ``i`` been measured; what came back does not matter to a Gaussian.

        The samples become samples given that measurement: they are solved again, starting from what they are.
        """
        measured = self.acquired.with_block_assumed(self._block(i))
        operator = on_unknown(measured.operator(), self.sensitivity, self._complex)
        posterior = self.posterior.given_measurements(operator, self.noise_variance)
        return BlockPredictive(
            posterior,
            self.candidates,
            measured,
            self.noise_variance,
            sensitivity=self.sensitivity,
            rough_phase=self.rough_phase,
            refine=self.refine,
            random_state=self._random_state,
        )


def _shared(sensitivity: np.ndarray | None, posterior: LargePosterior) -> np.ndarray | None:
    """The maps as the posterior's own operator has them, where they are the same: several coils are kept once."""
    system = posterior.system.X
    product = system.operator if isinstance(system, RealStacked) else system
    if sensitivity is not None and isinstance(product, Product) and isinstance(product.second, Coils):
        own = product.second.maps
        return own if own.dtype == sensitivity.dtype and np.array_equal(own, sensitivity) else sensitivity
    return sensitivity


def _rows(candidates: Matrix, shape: tuple[int, ...]) -> Matrix:
    """The rows as a matrix of numbers, one column per pixel."""
    return RowsOnImages(candidates, shape).matrix
