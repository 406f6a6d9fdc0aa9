"""Blocks of measurements as they are handed in: of which kind they are, and the samples that come with them.

Kinds are rows of a matrix, samples on the Cartesian grid, trajectories, and any other operator; thousands of phase
encodes of a volume are not made one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeGuard, cast, runtime_checkable

import numpy as np
from scipy import sparse

from adaptive.checks import complex_numbers, finite, short
from adaptive.estimators.rows.tables import refuse_extremes
from adaptive.operators import (
    Dense,
    FourierLines,
    FourierMask,
    NonuniformFourier,
    Operator,
    Reshaped,
    Sparse,
    as_operator,
)

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Matrix, Outcomes, Pool, Rows, State

__all__ = [
    "EncodePool",
    "LinePool",
    "RowsOnImages",
    "ShotPool",
    "as_blocks",
    "checked_samples",
    "coils_of",
    "is_encodes",
    "is_fourier",
    "is_lines",
    "is_rows",
    "is_shots",
    "is_trajectory",
    "on_grid",
    "one_mask",
    "require_candidates",
    "with_rows_written_out",
]


class RowsOnImages(Reshaped):
    """Rows of a matrix that act on the flattened image.

    Examples
    --------
    >>> RowsOnImages(np.ones((1, 4)), (2, 2)).forward([[1.0, 2.0], [3.0, 4.0]])
    array([10.])
    """

    def __init__(self, matrix: Rows, shape: Sequence[int]):
        require_sound_rows("X", matrix)
        rows = as_operator(matrix, "X")
        if rows.shape[1] != np.prod(shape):
            raise ValueError(
                f"X must have one column per pixel of the image of shape {tuple(shape)} ({int(np.prod(shape))}), "
                f"got {rows.shape[1]}."
            )
        super().__init__(rows, tuple(shape))

    @property
    def matrix(self) -> Matrix:
        """(m, pixels), an array or compressed rows."""
        assert isinstance(self.operator, (Dense, Sparse))
        return self.operator.matrix

    def joins(self, other: RowsOnImages) -> bool:
        """Test whether both are of one kind, so that they make one matrix."""
        return self.plain and type(self.operator) is type(other.operator) and self.dtype == other.dtype

    def with_rows(self, other: RowsOnImages) -> RowsOnImages:
        """These rows, then the others."""
        stack = sparse.vstack if sparse.issparse(self.matrix) else np.concatenate
        return RowsOnImages(stack([self.matrix, other.matrix]), self.input_shape)

    def require_rows_that_measure(self) -> None:
        """Refuse rows of zeros, in one sentence."""
        if not self.plain:
            return
        entries = np.bincount(self.matrix.nonzero()[0], minlength=self.shape[0])
        if not entries.all():
            first = int(np.argmin(entries > 0))
            raise ValueError(f"X has rows of zeros (row {first} is the first), which measure nothing; leave them out.")

    # -- as plain data -------------------------------------------------------------------------------------------------

    @property
    def plain(self) -> bool:
        """Presence of the matrix itself."""
        return isinstance(self.operator, (Dense, Sparse))

    def state(self) -> State:
        """The matrix as plain arrays."""
        rows = self.matrix
        if isinstance(rows, np.ndarray):
            return {"matrix": rows}
        return {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}

    @classmethod
    def restored(cls, state: State, shape: Sequence[int]) -> RowsOnImages:
        """Rows from their ``state``."""
        if "matrix" in state:
            return cls(state["matrix"], shape)
        parts = (state["data"], state["indices"], state["indptr"])
        return cls(sparse.csr_array(parts, shape=(len(parts[2]) - 1, int(np.prod(shape)))), shape)


@runtime_checkable
class LinePool(Protocol):
    """Whole lines of the grid, by their indices (m,) along ``axis``."""

    lines: np.ndarray
    axis: int


@runtime_checkable
class EncodePool(Protocol):
    """Lines of a volume along ``readout``, by their positions (m, 2) on the two other axes; None: points of a plane."""

    image_shape: tuple[int, ...]
    encodes: np.ndarray
    readout: int | None


@runtime_checkable
class ShotPool(Protocol):
    """Trajectories, by where their samples are: one array (m, d) each, radians per pixel."""

    image_shape: tuple[int, ...]
    samples: Sequence[np.ndarray]


def is_lines(pool: object) -> TypeGuard[LinePool]:
    """Test whether a pool lists its lines."""
    return isinstance(pool, LinePool) and not isinstance(pool, Operator)


def is_encodes(pool: object) -> TypeGuard[EncodePool]:
    """Test whether a pool lists its lines of a volume."""
    return isinstance(pool, EncodePool) and not isinstance(pool, Operator)


def is_shots(pool: object) -> TypeGuard[ShotPool]:
    """Test whether a pool holds trajectories and lists where they go."""
    return isinstance(pool, ShotPool) and not isinstance(pool, Operator)


def on_grid(block: object) -> TypeGuard[FourierLines | FourierMask]:
    """Test whether a block measures samples of the image's own Fourier transform."""
    return isinstance(block, (FourierLines, FourierMask))


def is_trajectory(block: object) -> TypeGuard[NonuniformFourier]:
    """Test whether a block measures Fourier samples anywhere in k-space."""
    return isinstance(block, NonuniformFourier)


def is_rows(X: object) -> TypeGuard[Matrix]:
    """Test whether ``X`` is a table of measurement rows, not an operator or a list of them."""
    return (isinstance(X, np.ndarray) and X.ndim > 0) or sparse.issparse(X)


def is_fourier(X: object) -> bool:
    """Test whether the first block of ``X`` is of Fourier samples, or complex; what is no block counts as such."""
    if is_lines(X) or is_encodes(X) or is_shots(X):
        return True
    if is_rows(X):
        return X.dtype.kind == "c"
    first = X[0] if isinstance(X, (list, tuple)) and len(X) else X
    return not isinstance(first, Operator) or first.dtype.kind == "c"


def with_rows_written_out(X: Pool | Operator) -> Pool | Operator:
    """``X``, or the array that it stands for where it is a frame or a lazy table of rows."""
    table = hasattr(X, "__array__") and not is_rows(X) and not isinstance(X, Operator)
    return np.asarray(X) if table and np.ndim(cast("ArrayLike", X)) else X


def require_sound_rows(name: str, rows: object) -> None:
    """Refuse rows that are not finite, or so large that their squares are not; operators are taken as they are."""
    if is_rows(rows):
        if sparse.issparse(rows):
            finite(name, rows.data, dtype=None)
        refuse_extremes(name, rows)


def as_blocks(X: object, shape: tuple[int, ...]) -> list[Operator]:
    """X as a list of operators on images of this shape.

    Raises
    ------
    ValueError
        If X holds something else, nothing, or an operator on arrays of another shape.
    """
    blocks: list[Operator]
    if isinstance(X, Operator):
        blocks = [X]
    elif is_rows(X):
        blocks = [RowsOnImages(X, shape)]
    elif isinstance(X, Iterable) and not isinstance(X, (str, bytes, dict)):
        blocks = list(X)
    else:
        raise ValueError(f"X must be rows, an operator, or operator blocks (a list or pool), got {type(X).__name__}.")
    if not blocks:
        raise ValueError("X holds no block: nothing was measured.")
    for k, block in enumerate(blocks):
        if not isinstance(block, Operator):
            raise ValueError(f"every entry of X must be an operator block, got {type(block).__name__} at {k}.")
        if len(block.input_shape) == 1 != len(shape) and block.shape[1] == np.prod(shape):
            blocks[k] = RowsOnImages(block, shape)  # a matrix on the flat image
        elif block.input_shape != shape:
            raise ValueError(
                f"X holds {block!r}, which measures images of shape {block.input_shape}; expected {shape}."
            )
    return blocks


def require_candidates(candidates: Pool | Operator, shape: tuple[int, ...]) -> None:
    """Refuse, in one sentence, what is no pool of blocks on images of this shape; lazy pools are not unrolled."""
    if isinstance(candidates, Operator):
        raise ValueError(f"candidates must be a pool of operator blocks (a list), got the one block {candidates!r}.")
    sides = getattr(candidates, "image_shape", shape)
    if tuple(sides) != shape:
        kind = "lines" if is_lines(candidates) else "measurements"
        raise ValueError(f"candidates are {kind} of images of shape {sides}, not {shape}.")
    require_sound_rows("candidates", candidates)
    lazy = is_lines(candidates) or is_encodes(candidates) or is_shots(candidates)
    if not (lazy or is_rows(candidates)):
        as_blocks(candidates, shape)


# -- their samples -----------------------------------------------------------------------------------------------------


def one_mask(pool: EncodePool, shape: tuple[int, ...], y: Outcomes) -> tuple[list[Operator], list[np.ndarray]]:
    """Phase encodes of a volume as one mask: thousands of them are not made one by one."""
    if tuple(pool.image_shape) != shape:
        raise ValueError(f"X holds phase encodes of images of shape {tuple(pool.image_shape)}; expected {shape}.")
    if not isinstance(y, Iterable):
        raise ValueError(f"y must hold the samples of each phase encode, got {short(y)}.")
    encodes, readout, values = np.asarray(pool.encodes), pool.readout, list(cast("Iterable[np.ndarray]", y))
    if len(values) != len(encodes):
        raise ValueError(f"y must hold the samples of each of the {len(encodes)} blocks, got {len(values)}.")
    if not len(encodes):
        raise ValueError("X holds no block: nothing was measured.")
    sizes = {np.shape(value) for value in values}
    length = 1 if readout is None else shape[readout]
    if len(sizes) != 1 or next(iter(sizes))[-1:] != (length,):
        raise ValueError(
            f"the samples of each phase encode must be {length} along the last axis, got shapes {sorted(sizes)[:3]}."
        )
    mask, first = np.zeros(shape, bool), np.ndim(values[0]) - 1  # axes of coils
    kspace = np.zeros((*np.shape(values[0])[:-1], *shape), complex)
    rows, columns = encodes.T
    if readout is None:
        mask[rows, columns] = True
        kspace[..., rows, columns] = np.stack(values, axis=-2)[..., 0]
    else:
        np.moveaxis(mask, readout, -1)[rows, columns] = True
        np.moveaxis(kspace, first + readout, -1)[..., rows, columns, :] = np.stack(values, axis=-2)
    if mask.sum() != len(encodes) * length:
        raise ValueError("X holds a phase encode that is measured twice; average repeated samples before.")
    return [FourierMask(shape, mask)], [kspace[..., mask]]


def coils_of(block: Operator, values: ArrayLike) -> int:
    """Number of coils that these samples have."""
    found = np.shape(values)
    flat = len(found) == 2 and found[1] == block.shape[0] and found != block.output_shape
    if len(found) == len(block.output_shape) + 1 or flat:
        return found[0]
    raise ValueError(
        f"the samples of {block!r} must have shape (number of coils, {', '.join(map(str, block.output_shape))}), "
        f"got {found}."
    )


def checked_samples(block: Operator, values: ArrayLike, n_coils: int | None) -> np.ndarray:
    """The samples of one block, of its output shape, coils first; refused in one sentence otherwise."""
    name = f"the samples of {block!r}"
    kspace = block.dtype.kind == "c" or n_coils is not None
    array = complex_numbers(name, values) if kspace else finite(name, values)
    refuse_extremes(name, abs(array))
    coils = () if n_coils is None else (n_coils,)
    wanted = (*coils, *block.output_shape)
    if array.shape in (wanted, (*coils, block.shape[0])) or (n_coils is None and array.shape == (block.shape[0],)):
        return array.reshape(wanted)
    if n_coils is None and on_grid(block):
        return array  # `gridded` says more
    each = "" if n_coils is None else f", those of {n_coils} coils"
    raise ValueError(f"{name} must have shape {wanted}{each}, got {array.shape}.")
