"""Kinds of measurement blocks: rows of a matrix, samples on the Cartesian grid, trajectories, any other operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
from scipy import sparse

from adaptive.operators import FourierLines, FourierMask, NonuniformFourier, Operator, Reshaped, as_operator

__all__ = [
    "RowsOnImages",
    "as_blocks",
    "is_encodes",
    "is_rows",
    "is_shots",
    "is_trajectory",
    "on_grid",
    "require_candidates",
]


class RowsOnImages(Reshaped):
    """Rows of a matrix that act on the flattened image.

    Examples
    --------
    >>> RowsOnImages(np.ones((1, 4)), (2, 2)).forward([[1.0, 2.0], [3.0, 4.0]])
    array([10.])
    """

    def __init__(self, matrix: Any, shape: Sequence[int]):
        rows = as_operator(matrix, "X")
        if rows.shape[1] != np.prod(shape):
            raise ValueError(
                f"X must have one column per pixel of the image of shape {tuple(shape)} ({int(np.prod(shape))}), "
                f"got {rows.shape[1]}."
            )
        super().__init__(rows, tuple(shape))


def on_grid(block: Any) -> TypeGuard[FourierLines | FourierMask]:
    """Whether a block measures samples of the image's own Fourier transform."""
    return isinstance(block, (FourierLines, FourierMask))


def is_trajectory(block: Any) -> TypeGuard[NonuniformFourier]:
    """Whether a block measures Fourier samples anywhere in k-space."""
    return isinstance(block, NonuniformFourier)


def is_encodes(pool: Any) -> bool:
    """Whether a pool says by ``encodes`` (m, 2) and ``readout`` which lines of a volume it holds."""
    return hasattr(pool, "encodes") and hasattr(pool, "readout") and not isinstance(pool, Operator)


def is_shots(pool: Any) -> bool:
    """Whether a pool holds trajectories and says by ``samples`` (one array (m, d) each) where they go."""
    return hasattr(pool, "samples") and hasattr(pool, "image_shape") and not isinstance(pool, Operator)


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


def require_candidates(candidates: Any, shape: tuple[int, ...]) -> None:
    """Refuse, in one sentence, what is no pool of blocks on images of this shape; lazy pools are not unrolled."""
    if isinstance(candidates, Operator):
        raise ValueError(f"candidates must be a pool of operator blocks (a list), got the one block {candidates!r}.")
    if hasattr(candidates, "image_shape") and tuple(candidates.image_shape) != shape:
        kind = "lines" if hasattr(candidates, "lines") else "measurements"
        raise ValueError(f"candidates are {kind} of images of shape {candidates.image_shape}, not {shape}.")
    lazy = hasattr(candidates, "lines") or is_encodes(candidates) or is_shots(candidates)
    if not (lazy or is_rows(candidates)):
        as_blocks(candidates, shape)
