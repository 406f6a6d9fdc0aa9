"""Measurements of an image: blocks of samples, those on the Cartesian grid put together on it.

Trajectories are put together, too: all that was measured along them is one operator, whose normal product costs the
same for any number of samples. Rows of matrices that follow each other become one matrix.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

import numpy as np

from adaptive.checks import short
from adaptive.estimators.imaging.blocks import (
    RowsOnImages,
    as_blocks,
    checked_samples,
    coils_of,
    is_encodes,
    is_fourier,
    is_rows,
    is_trajectory,
    on_grid,
    one_mask,
)
from adaptive.estimators.imaging.noise import noise_variance
from adaptive.estimators.imaging.sensitivity import made_white
from adaptive.images import check_coils, check_kspace, gridded
from adaptive.operators import FourierLines, FourierMask, NonuniformFourier, Operator, Stacked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adaptive.types import ArrayLike, Matrix, Outcomes, Pool, State

FROM_DATA = 0  # coils: as many as the first samples have

__all__ = ["FROM_DATA", "MeasuredBlocks"]


class MeasuredBlocks:
    """All that was measured so far; never changed, `with_blocks` returns a longer one.

    Parameters
    ----------
    shape : tuple of int
        Shape of the image or volume.
    largest : float
        Largest magnitude expected, for the check of scale.
    check : bool, default True
        Refuse k-space that is not centred, orthonormal and of that scale.
    n_coils : int, optional
        Samples have the coils on their first axis; `FROM_DATA`: as many as the first samples have. None: no such axis.
    whitening : array (coils, coils), optional
        Matrix that the samples of the coils are multiplied with.

    Attributes
    ----------
    kspace : array (*shape) or (coils, *shape)
        Samples on the grid, in the precision in which they came.
    mask : array of ``shape``
        Where there are any.
    axis : int or None
        Axis along which whole lines were measured; None where something else was, too.
    trajectories : list of (points, samples)
        Frequencies (m, d) off the grid in radians per pixel, and samples (m,) or (coils, m) there.
    others : list of (operator, samples)
        Blocks that are neither.
    fourier : bool
        Whether the first block was of Fourier samples (or anything complex), so that conventions of k-space hold.
    newest : int
        Rows of the table that was measured last; 0 where something else was.
    n_features : None
        Images have no columns.
    """

    n_features = None

    def __init__(
        self,
        shape: tuple[int, ...],
        largest: float = 1.0,
        check: bool = True,
        n_coils: int | None = None,
        whitening: np.ndarray | None = None,
    ):
        self.shape, self.largest, self.check = shape, largest, check
        self.n_coils, self.whitening = n_coils if whitening is None else len(whitening), whitening
        self.mask = np.zeros(shape, bool)
        self._keep(np.zeros((*self._coils, *shape), np.complex64), self.mask)
        self.axis: int | None = None
        self.trajectories: list[tuple[np.ndarray, np.ndarray]] = []
        self.others: list[tuple[Operator, np.ndarray]] = []
        self.fourier, self.newest = True, 0

    @property
    def _coils(self) -> tuple[int, ...]:
        return () if self.n_coils is None else (self.n_coils,)

    @property
    def kspace(self) -> np.ndarray:
        """The grid, zero where nothing was measured: made when it is asked for, since it is the larger part empty."""
        grid = np.zeros((*self._coils, *self.shape), self._on_grid.dtype)
        grid[..., self._where] = self._on_grid
        return grid

    def _keep(self, kspace: np.ndarray, mask: np.ndarray) -> None:
        self._on_grid, self._where = kspace[..., mask], mask

    def _longer(self) -> MeasuredBlocks:
        after = object.__new__(MeasuredBlocks)
        after.__dict__.update(self.__dict__)
        after.trajectories, after.others = list(self.trajectories), list(self.others)
        return after

    @property
    def empty(self) -> bool:
        return not self.mask.any() and not self.trajectories and not self.others

    @property
    def points(self) -> np.ndarray:
        """All frequencies off the grid, (m, d)."""
        return np.concatenate([points for points, _ in self.trajectories] or [np.empty((0, len(self.shape)))])

    def with_blocks(self, X: Pool | Operator, y: Outcomes) -> MeasuredBlocks:
        """These measurements and more.

        Parameters
        ----------
        X : rows, operator, or list (pool) of operators
        y : array, or list of arrays
            Samples of each block.

        Raises
        ------
        ValueError
            In one sentence: samples that are not finite, of the wrong shape or number of coils, a sample measured
            twice, no centre, or k-space with the wrong orientation or scale.
        """
        after = self._longer()
        if self.empty:
            after.fourier = self.n_coils is not None or is_fourier(X)
        after.newest = X.shape[0] if is_rows(X) else 0
        samples: Sequence[ArrayLike]
        if is_encodes(X):
            blocks, samples = one_mask(X, self.shape, y)
        else:
            blocks = as_blocks(X, self.shape)
            if not isinstance(y, Iterable):
                raise ValueError(f"y must hold the samples of each of the {len(blocks)} blocks, got {short(y)}.")
            samples = list(cast("Iterable[ArrayLike]", [y] if isinstance(X, Operator) or is_rows(X) else y))
        if len(samples) != len(blocks):
            raise ValueError(f"y must hold the samples of each of the {len(blocks)} blocks, got {len(samples)}.")
        if self.n_coils == FROM_DATA:
            after.n_coils = coils_of(blocks[0], samples[0])
            after._keep(np.zeros((after.n_coils, *self.shape), np.complex64), self.mask)
        values = [
            made_white(self.whitening, checked_samples(block, one, after.n_coils))
            for block, one in zip(blocks, samples, strict=True)
        ]
        after._add_to_grid([(block, one) for block, one in zip(blocks, values, strict=True) if on_grid(block)])
        for block, one in zip(blocks, values, strict=True):
            if isinstance(block, RowsOnImages):
                block.require_rows_that_measure()
            if is_trajectory(block):
                after.trajectories.append((block.samples, one))
            elif not on_grid(block):
                after._add_other(block, one)
        return after

    def _add_other(self, block: Operator, values: np.ndarray) -> None:
        if isinstance(block, RowsOnImages) and self.others and self.n_coils is None:
            before, known = self.others[-1]
            if isinstance(before, RowsOnImages) and before.joins(block):
                self.others[-1] = before.with_rows(block), np.concatenate([known, values])
                return
        self.others.append((block, values))

    def with_block_assumed(self, block: Operator) -> MeasuredBlocks:
        """These measurements and a block whose samples nobody knows: what `operator` would be."""
        after = self._longer()
        axis = block.axis if isinstance(block, FourierLines) else None
        if is_trajectory(block):
            after.trajectories.append((block.samples, np.empty((*self._coils, 0))))
        elif on_grid(block) and not (self.mask & block.mask).any():
            after.axis = axis if axis == self.axis or not self.mask.any() else None
            after.mask = self.mask | block.mask
        else:  # something else, or a second time
            after.others.append((block, np.empty(0)))
        return after

    def of_lines(self, lines: np.ndarray, but: bool = False) -> MeasuredBlocks:
        """Only these of the measured lines, or all but these."""
        after = self._longer()
        assert self.axis is not None
        chosen = np.isin(np.arange(self.shape[self.axis]), lines) != but
        others = [k for k in range(len(self.shape)) if k != self.axis]
        after.mask = self.mask & np.expand_dims(chosen, others)
        return after

    @property
    def has_centre(self) -> bool:
        """Presence of DC, without which an image has no scale."""
        if self.mask[self._centre]:
            return True
        steps = self.points * np.array(self.shape) / (2 * np.pi)
        return bool(np.any(np.all(np.abs(steps) <= 0.5, axis=1)))

    @property
    def _centre(self) -> tuple[int, ...]:
        return tuple(side // 2 for side in self.shape)

    def require_centre(self) -> None:
        """Refuse Fourier samples without DC."""
        if self.has_centre:
            return
        if self.mask.any():
            raise ValueError(
                f"no central lines: the sample at DC, index {self._centre}, is not among the measured ones, and "
                "without it an image has no scale."
            )
        if self.trajectories:
            raise ValueError(
                "no centre: no sample of the trajectories is within half a step of DC (k = 0), and without it an image "
                "has no scale."
            )

    def _add_to_grid(self, pairs: list[tuple[FourierLines | FourierMask, np.ndarray]]) -> None:
        if not pairs:
            return
        blocks, samples = [block for block, _ in pairs], [values for _, values in pairs]
        for block in blocks:
            if (self.mask & block.mask).any():
                raise ValueError(f"{block!r} is measured twice; average repeated samples before.")
        axes = {block.axis if isinstance(block, FourierLines) else None for block in blocks}
        if self.mask.any():
            axes.add(self.axis)
        before = bool(self.mask[self._centre])
        if not any(block.mask[self._centre] for block in blocks):  # `gridded` insists on DC: hand it on
            centre = np.zeros(self.shape, bool)
            centre[self._centre] = True
            blocks, samples = [FourierMask(self.shape, centre), *blocks], [self.kspace[..., centre], *samples]
        kspace, _ = gridded(blocks, samples, self.n_coils)
        new = np.logical_or.reduce([block.mask for block, _ in pairs])
        if self.mask.any():
            kspace = np.where(new, kspace, self.kspace)
        self.mask = self.mask | new
        self._keep(kspace, self.mask)
        self.axis = axes.pop() if len(axes) == 1 else None
        if self.check and self.mask[self._centre] and not before:
            checked = check_kspace if kspace.ndim == 2 else check_coils
            checked(kspace, self.mask, largest=self.largest)

    # ---------------------------------------------------------------------------------------------------- as one block
    @property
    def lines(self) -> np.ndarray:
        """Indices of the measured lines."""
        return np.flatnonzero(np.moveaxis(self.mask, self.axis or 0, 0).reshape(self.shape[self.axis or 0], -1)[:, 0])

    def operator(self) -> Operator:
        """Everything as one operator of a single coil: the grid, trajectories, the rest."""
        parts: list[Operator] = []
        if self.mask.any():
            parts.append(
                FourierMask(self.shape, self.mask)
                if self.axis is None
                else FourierLines(self.shape, self.lines, self.axis)
            )
        if self.trajectories:
            parts.append(NonuniformFourier(self.shape, self.points))
        parts += [block for block, _ in self.others]
        return parts[0] if len(parts) == 1 else Stacked(parts)

    def samples(self) -> np.ndarray:
        """The samples of `operator`, flat; of several coils those of the first coil first."""
        parts = []
        if self.mask.any():
            kspace, mask = self.kspace, self.mask
            if self.axis is not None:
                first = kspace.ndim - mask.ndim
                kspace, mask = np.moveaxis(kspace, self.axis + first, first), np.moveaxis(mask, self.axis, 0)
            parts.append(kspace[..., mask])
        parts += [values.reshape(*self._coils, -1) for _, values in (*self.trajectories, *self.others)]
        return np.concatenate(parts, axis=-1).ravel()

    def n_central(self) -> int:
        """Number of lines around DC that were measured without a gap; 0 where lines are not what was measured."""
        if self.axis is None or not self.mask.any():
            return 0
        n, measured = self.shape[self.axis], set(self.lines.tolist())
        count = 0
        while count < n and n // 2 + (-((count + 1) // 2) if count % 2 else count // 2) in measured:
            count += 1
        return count

    def noise_variance(self) -> float | None:
        """Noise variance per real component, read off the samples; None where they do not show it."""
        return noise_variance(self)

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Everything as rows (m, pixels) of a matrix and their outcomes (m,), in the order of `operator`."""
        if self.empty:
            return np.empty((0, int(np.prod(self.shape)))), np.empty(0)
        return self.operator().to_dense(), self.samples()

    def newest_rows(self) -> Matrix | None:
        """Rows (m, pixels) of the table that was measured last; None where something else was."""
        if not self.newest:
            return None
        block = self.others[-1][0]
        assert isinstance(block, RowsOnImages)
        return block.matrix[-self.newest :]

    def state(self) -> State:
        """As plain arrays; refused where there are blocks that are neither rows, on the grid nor trajectories."""
        rows = [(block, values) for block, values in self.others if isinstance(block, RowsOnImages) and block.plain]
        if len(rows) < len(self.others):
            raise ValueError(
                "measurements that are neither rows of a matrix, on the Cartesian grid nor trajectories have no plain "
                "state; keep the blocks and fit again."
            )
        measured = {
            "kspace": self.kspace,
            "mask": self.mask,
            "axis": self.axis,
            "n_coils": self.n_coils,
            "whitening": self.whitening,
            "trajectories": [list(pair) for pair in self.trajectories],
            "rows": [[block.state(), values] for block, values in rows],
            "fourier": self.fourier,
        }
        return {"measured": measured}

    def restored(self, state: State) -> MeasuredBlocks:
        """Measurements of images like these, from ``state``."""
        known = state["measured"]
        after = MeasuredBlocks(self.shape, self.largest, self.check, known.get("n_coils"), known.get("whitening"))
        after.mask, after.axis = known["mask"], known["axis"]
        after._keep(known["kspace"], after.mask)
        after.trajectories = [(points, values) for points, values in known.get("trajectories", [])]
        after.others = [(RowsOnImages.restored(rows, self.shape), values) for rows, values in known.get("rows", [])]
        after.fourier = known.get("fourier", True)
        return after
