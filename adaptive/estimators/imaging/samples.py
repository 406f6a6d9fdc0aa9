"""The samples of blocks as they are handed in: their shapes, their coils, thousands of phase encodes at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.checks import finite
from adaptive.estimators.imaging.blocks import on_grid
from adaptive.operators import FourierMask, Operator

__all__ = ["checked_samples", "coils_of", "one_mask"]


def one_mask(pool: Any, shape: tuple[int, ...], y: Any) -> tuple[list[Operator], list[np.ndarray]]:
    """Phase encodes of a volume as one mask: thousands of them are not made one by one."""
    if tuple(pool.image_shape) != shape:
        raise ValueError(f"X holds phase encodes of volumes of shape {tuple(pool.image_shape)}; expected {shape}.")
    encodes, readout, values = np.asarray(pool.encodes), int(pool.readout), list(y)
    if len(values) != len(encodes):
        raise ValueError(f"y must hold the samples of each of the {len(encodes)} blocks, got {len(values)}.")
    if not len(encodes):
        raise ValueError("X holds no block: nothing was measured.")
    sizes = {np.shape(value) for value in values}
    if len(sizes) != 1 or next(iter(sizes))[-1:] != (shape[readout],):
        raise ValueError(
            f"the samples of each phase encode must be {shape[readout]} along the last axis, got shapes "
            f"{sorted(sizes)[:3]}."
        )
    mask = np.zeros(shape, bool)
    np.moveaxis(mask, readout, -1)[encodes[:, 0], encodes[:, 1]] = True
    if mask.sum() != encodes.shape[0] * shape[readout]:
        raise ValueError("X holds a phase encode that is measured twice; average repeated samples before.")
    stacked = np.moveaxis(np.stack(values), 0, -2)  # (..., encodes, readout)
    kspace = np.zeros((*stacked.shape[:-2], *shape), complex)
    np.moveaxis(kspace, kspace.ndim - 3 + readout, -1)[..., encodes[:, 0], encodes[:, 1], :] = stacked
    return [FourierMask(shape, mask)], [kspace[..., mask]]


def coils_of(block: Operator, values: Any) -> int:
    """Number of coils that these samples have."""
    found = np.shape(values)
    flat = len(found) == 2 and found[1] == block.shape[0] and found != block.output_shape
    if len(found) == len(block.output_shape) + 1 or flat:
        return found[0]
    raise ValueError(
        f"the samples of {block!r} must have shape (number of coils, {', '.join(map(str, block.output_shape))}), "
        f"got {found}."
    )


def checked_samples(block: Operator, values: Any, n_coils: int | None) -> np.ndarray:
    """The samples of one block, of its output shape, coils first; refused in one sentence otherwise."""
    name = f"the samples of {block!r}"
    array = finite(name, values, dtype=complex if block.dtype.kind == "c" or n_coils is not None else float)
    coils = () if n_coils is None else (n_coils,)
    wanted = (*coils, *block.output_shape)
    if array.shape in (wanted, (*coils, block.shape[0])) or (n_coils is None and array.shape == (block.shape[0],)):
        return array.reshape(wanted)
    if n_coils is None and on_grid(block):
        return array  # `gridded` says more
    each = "" if n_coils is None else f", those of {n_coils} coils"
    raise ValueError(f"{name} must have shape {wanted}{each}, got {array.shape}.")
