"""Images that designs are learnt from, as they are handed in: checked, scaled, all of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.checks import complex_numbers, finite, generator, integer, positive

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["Images", "centre_mask", "checked_images", "entropy_of"]

OWN = "reference"


class Images(NamedTuple):
    """Fully sampled images of one shape.

    Attributes
    ----------
    magnitudes : list of arrays (n0, n1)
        The largest value of each is 1.
    phases : list of arrays (n0, n1) or None
        Radians; None: a smooth random one is to be drawn.
    coils : array (coils, n0, n1) or None
    """

    magnitudes: list[np.ndarray]
    phases: list[np.ndarray | None]
    coils: np.ndarray | None

    @property
    def sided(self) -> bool:
        """True where one side of k-space may be worth more than the other: one coil sees images of a known phase."""
        return self.coils is None and any(one is not None for one in self.phases)


def checked_images(
    name: str,
    images: ArrayLike | Sequence[ArrayLike],
    *,
    phase: ArrayLike | str | None = None,
    coils: ArrayLike | None = None,
    voxel_sizes: Sequence[Any] | None = None,
    shape: Sequence[int] | None = None,
) -> Images:
    """One image or several as lists of magnitudes and phases; the arguments are those of `reference_lines`.

    Raises
    ------
    ValueError
        In one sentence, which names the image.
    """
    several = _listed(name, images)
    sides = np.shape(several[0]) if shape is None else tuple(shape)
    magnitudes, phases = [], []
    for k, one in enumerate(several):
        array = finite(f"{name}[{k}]", one, dtype=None)
        if array.ndim != 2 or array.dtype.kind not in "biufc":
            raise ValueError(f"{name}[{k}] must be an image of two axes, got {array.dtype} of shape {array.shape}.")
        if array.shape != tuple(sides):
            turned = " (turned: is its phase-encode axis another one?)" if array.shape == tuple(sides)[::-1] else ""
            raise ValueError(f"{name}[{k}] has shape {array.shape}, expected {tuple(sides)}{turned}.")
        if array.dtype.kind != "c" and array.min() < 0:
            raise ValueError(f"{name}[{k}] must hold magnitudes >= 0 (or complex numbers), got {array.min():.3g}.")
        largest = float(np.abs(array).max())
        if not largest:
            raise ValueError(f"{name}[{k}] is zero everywhere.")
        magnitudes.append(np.abs(array).astype(float) / largest)
        phases.append(_phase_of(f"{name}[{k}]", array, phase))
    _require_one_voxel_size(name, len(several), voxel_sizes)
    return Images(magnitudes, phases, _checked_coils(coils, tuple(sides)))


def _listed(name: str, images: Any) -> list[Any]:
    if isinstance(images, np.ndarray):
        several = list(images) if images.ndim == 3 else [images]
    else:
        several = list(images)
        if several and np.ndim(several[0]) < 2:
            several = [np.asarray(images)]
    if not several:
        raise ValueError(f"{name} must be one image or a list of them, got none.")
    return several


def _phase_of(name: str, array: np.ndarray, phase: ArrayLike | str | None) -> np.ndarray | None:
    """The phase that a scan of this image is given; None: a random one."""
    if isinstance(phase, str):
        if phase != OWN:
            raise ValueError(f'phase must be "{OWN}", an array of the shape of an image, or None, got {phase!r}.')
        if array.dtype.kind != "c":
            raise ValueError(f'{name} has no phase (it holds magnitudes): phase="{OWN}" needs complex images.')
        return np.angle(array)
    if phase is None:
        return None
    known = finite("phase", phase)
    if known.shape != array.shape:
        raise ValueError(f"phase must have the shape of the images, {array.shape}, got {known.shape}.")
    return known


def _require_one_voxel_size(name: str, n: int, voxel_sizes: Sequence[Any] | None) -> None:
    if voxel_sizes is None:
        return
    sizes = [np.atleast_1d(positive("voxel_sizes", one)) for one in voxel_sizes]
    if len(sizes) not in (n, n + 1):
        raise ValueError(
            f"voxel_sizes must hold those of each of the {n} {name}, and perhaps of the new scan, got {len(sizes)}."
        )
    for k, size in enumerate(sizes):
        if size.shape != sizes[0].shape or not np.allclose(size, sizes[0], rtol=1e-3):
            which = "the new scan" if k == n else f"{name}[{k}]"
            raise ValueError(
                f"{which} has voxels of {size.tolist()}, not {sizes[0].tolist()} as {name}[0]: resample it first."
            )


def _checked_coils(coils: ArrayLike | None, sides: tuple[int, ...]) -> np.ndarray | None:
    if coils is None:
        return None
    maps = complex_numbers("coils", coils)
    if maps.ndim != 3 or maps.shape[1:] != sides:
        raise ValueError(f"coils must be maps of shape (coils, {sides[0]}, {sides[1]}), got {maps.shape}.")
    return maps


def centre_mask(shape: Sequence[int], centre: int | Sequence[int], n: int, name: str) -> np.ndarray:
    """Mask of the centre, lines (n,) or points (n0, n1); refused if more than ``n`` (called ``name``)."""
    sides = [integer("the sides", side, minimum=1) for side in shape]
    given = [centre] * len(sides) if np.ndim(centre) == 0 else list(centre)  # type: ignore[arg-type, list-item]
    if len(given) != len(sides):
        raise ValueError(f"centre must be one number or one for each of the {len(sides)} axes, got {centre!r}.")
    width = [integer("the centre", one, minimum=1) for one in given]
    for side, one in zip(sides, width, strict=True):
        if one > side:
            raise ValueError(f"the centre must be at most {side} wide, got {one}.")
    n, inside = integer(name, n), int(np.prod(width))
    if n < inside:
        raise ValueError(f"{name} counts the centre too: it must be at least {inside}, got {n}.")
    if n > np.prod(sides):
        raise ValueError(f"{name} must be at most {int(np.prod(sides))}, all that there are, got {n}.")
    mask = np.zeros(sides, bool)
    mask[tuple(slice(s // 2 - w // 2, s // 2 - w // 2 + w) for s, w in zip(sides, width, strict=True))] = True
    return mask


def entropy_of(random_state: RandomState) -> int:
    """One number from which everything is seeded."""
    return int(generator(random_state).integers(2**32))
