"""What was measured of an image: blocks of samples, those on the Cartesian grid put together on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
from scipy import sparse

from adaptive.checks import finite
from adaptive.images import check_kspace, gridded
from adaptive.operators import FourierLines, FourierMask, Operator, Stacked, as_operator

_HIGHEST = 0.4  # cycles per pixel
_LOWEST = 0.1  # share of pixels taken for pure noise

__all__ = ["MeasuredBlocks", "RowsOnImages", "as_blocks", "on_grid"]


class RowsOnImages(Operator):
    """Rows of a matrix that act on the flattened image.

    Examples
    --------
    >>> RowsOnImages(np.ones((1, 4)), (2, 2)).forward([[1.0, 2.0], [3.0, 4.0]])
    array([10.])
    """

    def __init__(self, matrix: Any, shape: Sequence[int]):
        self.operator = as_operator(matrix, "X")
        if self.operator.shape[1] != np.prod(shape):
            raise ValueError(
                f"X must have one column per pixel of the image of shape {tuple(shape)} ({int(np.prod(shape))}), "
                f"got {self.operator.shape[1]}."
            )
        super().__init__(tuple(shape), self.operator.output_shape, self.operator.dtype)

    def _forward(self, u: np.ndarray) -> np.ndarray:
        return self.operator._forward(u.reshape(len(u), -1))

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        return self.operator._adjoint(v).reshape(len(v), *self.input_shape)


def on_grid(block: Any) -> TypeGuard[FourierLines | FourierMask]:
    """Whether a block measures samples of the image's own Fourier transform."""
    return isinstance(block, (FourierLines, FourierMask))


def is_rows(X: Any) -> bool:
    """Whether ``X`` is a table of measurement rows, not an operator or a list of them."""
    return isinstance(X, np.ndarray) or sparse.issparse(X)


def as_blocks(X: Any, shape: tuple[int, ...]) -> list[Operator]:
    """X as a list of operators on images of this shape.

    Raises
    ------
    ValueError
        If X holds something else, nothing, or an operator on arrays of another shape.
    """
    if isinstance(X, Operator):
        blocks = [X]
    elif is_rows(X):
        blocks = [RowsOnImages(X, shape)]
    elif hasattr(X, "__iter__") and not isinstance(X, (str, bytes, dict)):
        blocks = list(X)
    else:
        raise ValueError(f"X must be rows, an operator, or operator blocks (a list or pool), got {type(X).__name__}.")
    if not blocks:
        raise ValueError("X holds no block: nothing was measured.")
    for k, block in enumerate(blocks):
        if not isinstance(block, Operator):
            raise ValueError(f"every entry of X must be an operator block, got {type(block).__name__} at {k}.")
        if block.input_shape != shape:
            raise ValueError(
                f"X holds {block!r}, which measures images of shape {block.input_shape}; expected {shape}."
            )
    return blocks


class MeasuredBlocks:
    """All that was measured so far; never changed, `with_blocks` returns a longer one.

    Parameters
    ----------
    shape : tuple of two int
        Shape of the image.
    largest : float
        Largest magnitude expected, for the check of scale.
    check : bool, default True
        Refuse k-space that is not centred, orthonormal and of that scale.

    Attributes
    ----------
    kspace, mask : arrays of ``shape``
        Samples on the grid, and where there are any.
    axis : int or None
        Axis along which whole lines were measured; None where something else was, too.
    others : list of (operator, samples)
        Blocks that are not on the grid.
    """

    def __init__(self, shape: tuple[int, ...], largest: float = 1.0, check: bool = True):
        self.shape, self.largest, self.check = shape, largest, check
        self.kspace, self.mask = np.zeros(shape, complex), np.zeros(shape, bool)
        self.axis: int | None = None
        self.others: list[tuple[Operator, np.ndarray]] = []

    @property
    def empty(self) -> bool:
        return not self.mask.any() and not self.others

    def with_blocks(self, X: Any, y: Any) -> MeasuredBlocks:
        """These measurements and more.

        Parameters
        ----------
        X : rows, operator, or list of operators
        y : array, or list of arrays
            Samples of each block.

        Raises
        ------
        ValueError
            In one sentence: samples that are not finite or of the wrong shape, a sample measured twice, no centre, or
            k-space with the wrong orientation or scale.
        """
        blocks = as_blocks(X, self.shape)
        samples = [y] if isinstance(X, Operator) or is_rows(X) else list(y)
        if len(samples) != len(blocks):
            raise ValueError(f"y must hold the samples of each of the {len(blocks)} blocks, got {len(samples)}.")
        after = MeasuredBlocks(self.shape, self.largest, self.check)
        after.kspace, after.mask, after.axis = self.kspace, self.mask, self.axis
        after.others = list(self.others)
        pairs = list(zip(blocks, samples, strict=True))
        after._add_to_grid([pair for pair in pairs if on_grid(pair[0])])
        for block, values in pairs:
            if not on_grid(block):
                after.others.append((block, _checked(block, values)))
        return after

    def with_block_assumed(self, block: Operator) -> MeasuredBlocks:
        """These measurements and a block whose samples nobody knows: what `operator` would be."""
        after = MeasuredBlocks(self.shape, self.largest, self.check)
        after.kspace, after.mask, after.others = self.kspace, self.mask, list(self.others)
        axis = block.axis if isinstance(block, FourierLines) else None
        if on_grid(block) and not (self.mask & block.mask).any():
            after.axis = axis if axis == self.axis or not self.mask.any() else None
            after.mask = self.mask | block.mask
        else:  # off the grid, or a second time
            after.axis = self.axis
            after.others.append((block, np.empty(0)))
        return after

    @property
    def has_centre(self) -> bool:
        """Whether DC was measured, without which an image has no scale."""
        return bool(self.mask[self._centre])

    @property
    def _centre(self) -> tuple[int, ...]:
        return tuple(side // 2 for side in self.shape)

    def require_centre(self) -> None:
        """Refuse samples on the grid without DC."""
        if self.mask.any() and not self.has_centre:
            raise ValueError(
                f"no central lines: the sample at DC, index {self._centre}, is not among the measured ones, and "
                "without it an image has no scale."
            )

    def _add_to_grid(self, pairs: list[tuple[Any, Any]]) -> None:
        if not pairs:
            return
        blocks, samples = [block for block, _ in pairs], [_checked(block, values) for block, values in pairs]
        for block in blocks:
            if (self.mask & block.mask).any():
                raise ValueError(f"{block!r} is measured twice; average repeated samples before.")
        axes = {block.axis if isinstance(block, FourierLines) else None for block in blocks}
        if self.mask.any():
            axes.add(self.axis)
        before = self.has_centre
        if not any(block.mask[self._centre] for block in blocks):  # `gridded` insists on DC: hand it on
            centre = np.zeros(self.shape, bool)
            centre[self._centre] = True
            blocks, samples = [FourierMask(self.shape, centre), *blocks], [self.kspace[centre], *samples]
        kspace, _ = gridded(blocks, samples)
        new = np.logical_or.reduce([block.mask for block, _ in pairs])
        self.kspace, self.mask = np.where(new, kspace, self.kspace), self.mask | new
        self.axis = axes.pop() if len(axes) == 1 else None
        if self.check and self.has_centre and not before:
            check_kspace(self.kspace, self.mask, largest=self.largest)

    # ---------------------------------------------------------------------------------------------------- as one block
    @property
    def lines(self) -> np.ndarray:
        """Indices of the measured lines."""
        return np.flatnonzero(np.moveaxis(self.mask, self.axis or 0, 0)[:, 0])

    def operator(self) -> Operator:
        """Everything as one operator, the grid first."""
        parts: list[Operator] = []
        if self.mask.any():
            parts.append(
                FourierMask(self.shape, self.mask)
                if self.axis is None
                else FourierLines(self.shape, self.lines, self.axis)
            )
        parts += [block for block, _ in self.others]
        return parts[0] if len(parts) == 1 else Stacked(parts)

    def samples(self) -> np.ndarray:
        """The samples of `operator`, flat."""
        parts = [values.ravel() for _, values in self.others]
        if self.mask.any():
            kspace, mask = self.kspace, self.mask
            if self.axis is not None:
                kspace, mask = np.moveaxis(kspace, self.axis, 0), np.moveaxis(mask, self.axis, 0)
            parts.insert(0, kspace[mask])
        return np.concatenate(parts)

    def n_central(self) -> int:
        """How many lines around DC were measured without a gap; 0 where lines are not what was measured."""
        if self.axis is None or not self.mask.any():
            return 0
        n, measured = self.shape[self.axis], set(self.lines.tolist())
        count = 0
        while count < n and n // 2 + (-((count + 1) // 2) if count % 2 else count // 2) in measured:
            count += 1
        return count

    def noise_variance(self) -> float | None:
        """Noise variance per real component, from the highest frequencies; None without samples on the grid.

        The image of these frequencies alone is noise wherever there is no edge. Where it is noise, |pixel|^2 is
        exponential: its lowest tenth tells the mean. What edges there are make the estimate too large, up to twice in
        heads at an SNR of 200, more in photographs.
        """
        if not self.mask.any():
            return None
        frequencies = np.meshgrid(*[(np.arange(side) - side // 2) / side for side in self.shape], indexing="ij")
        height = np.max(np.abs(frequencies), axis=0)
        kept = self.mask & (height >= min(_HIGHEST, np.quantile(height[self.mask], 0.8)))
        pixels = np.abs(FourierLines(self.shape, range(self.shape[0])).adjoint(self.kspace * kept)) ** 2
        mean = float(np.quantile(pixels, _LOWEST)) / -np.log1p(-_LOWEST)
        return max(mean * self.mask.size / kept.sum() / 2, 1e-12 * self.largest**2)

    def state(self) -> dict[str, Any]:
        """As plain arrays; refused where blocks are not on the grid."""
        if self.others:
            raise ValueError("measurements off the Cartesian grid have no plain state; keep the blocks and fit again.")
        return {"kspace": self.kspace, "mask": self.mask, "axis": self.axis}

    @classmethod
    def restored(cls, shape: tuple[int, ...], largest: float, check: bool, state: dict[str, Any]) -> MeasuredBlocks:
        self = cls(shape, largest, check)
        self.kspace, self.mask, self.axis = state["kspace"], state["mask"], state["axis"]
        return self


def _checked(block: Operator, values: Any) -> np.ndarray:
    name = f"the samples of {block!r}"
    array = finite(name, values, dtype=complex if block.dtype.kind == "c" else float)
    if array.size == block.shape[0] and array.ndim <= 1:
        return array.reshape(block.output_shape)
    if array.shape != block.output_shape:
        if on_grid(block):
            return array  # `gridded` says more
        raise ValueError(f"{name} must have shape {block.output_shape}, got {array.shape}.")
    return array
