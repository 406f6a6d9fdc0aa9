"""Is an array k-space or an image? The energy of k-space lies around DC, that of an image wherever there is something.

    share = energy in the central eighth of the two longest axes / all energy        (or in the corners: not shifted)

Of 111 photographs, head slices and volumes the shares are .02 to .12, those of their k-space .73 and more, also where
most of it was not measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["OtherKind", "kind_of", "looks_like_kspace"]

_SHARE = 0.5
_GLANCE = 2**18  # numbers that are looked at
_LEAST = 3  # samples around DC, along each axis, whatever its length


class OtherKind(ValueError):
    """Images where k-space was asked for, or the other way round.

    Attributes
    ----------
    held : str
        What there is, as in "raw.npy holds k-space as it seems".
    """

    def __init__(self, name: str, held: str, why: str) -> None:
        self.held = f"{name} holds {held}"
        super().__init__(f"{self.held}, {why}.")


def looks_like_kspace(array: ArrayLike) -> bool:
    """Tell k-space from an image.

    Parameters
    ----------
    array : array (..., h, w)
        Numbers; of coils or slices the two longest axes are looked at, the energy of the others is added up.

    Returns
    -------
    bool
        True also for magnitudes of k-space, and for k-space with DC in the corner. False for white noise.

    Raises
    ------
    ValueError
        If the array has fewer than two axes or holds no numbers.

    Examples
    --------
    >>> picture = np.pad(np.ones((16, 16)), 8)
    >>> looks_like_kspace(picture), looks_like_kspace(np.fft.fftshift(np.fft.fft2(picture)))
    (False, True)
    """
    values = np.asarray(array)
    if values.ndim < 2 or values.dtype.kind not in "biufc":
        raise ValueError(f"array must hold numbers along two axes or more, got {values.dtype} of shape {values.shape}.")
    rows, columns = sorted(np.argsort(values.shape, kind="stable")[-2:])
    each = np.moveaxis(values, (rows, columns), (-2, -1)).reshape(-1, values.shape[rows], values.shape[columns])
    energy = np.zeros(each.shape[1:])
    for one in each:  # one after the other: volumes need no second array of their size
        with np.errstate(all="ignore"):  # numbers that are none are left out
            magnitude = np.abs(one).astype(float)
            energy += np.where(np.isfinite(magnitude), magnitude, 0.0) ** 2
    total = float(energy.sum())
    if total == 0 or min(energy.shape) < 2 * _LEAST:
        return False
    inside = tuple(_window(side) for side in energy.shape)
    shifted = np.fft.fftshift(energy)
    return max(float(one[inside].sum()) for one in (energy, shifted)) > _SHARE * total


def _window(side: int) -> slice:
    reach = max(_LEAST, side // 8)
    return slice(side // 2 - reach // 2, side // 2 - reach // 2 + reach)


def kind_of(array: np.ndarray, name: str, wanted: str | None = None) -> str:
    """Kind of an array, "kspace" or "image", by its looks.

    Parameters
    ----------
    array : array (..., h, w)
        Of large ones a part is looked at.
    name : str
        For messages.
    wanted : {"kspace", "image"}, optional
        What it is taken for.

    Raises
    ------
    ValueError
        If it looks like the other, or like magnitudes of k-space, whose phase is lost.
    """
    part = _glance(array)
    raw = looks_like_kspace(part)
    if not raw and part.ndim == 3 and part.dtype.kind == "c":  # there may be more coils than columns
        raw = looks_like_kspace(np.sqrt(np.sum(np.abs(part) ** 2, axis=0)))
    if raw and wanted == "image":
        raise OtherKind(name, "k-space as it seems", "and no image: its energy lies around DC; say that it is k-space")
    if raw and array.dtype.kind != "c":
        raise ValueError(
            f"{name} holds magnitudes of k-space: without their phases they are no scan; save complex ones."
        )
    if wanted == "kspace" and not raw:
        if array.dtype.kind != "c" or looks_like_kspace(np.fft.fft2(part)):
            raise OtherKind(name, "an image as it seems, and no k-space", "its energy does not lie around DC")
        return "kspace"
    return "kspace" if raw else "image"


def _glance(array: np.ndarray) -> np.ndarray:
    """A part of a large array: the middle along its shortest axes, so many of them as it takes."""
    part = array
    while part.size > _GLANCE and part.ndim > 2:
        axis = int(np.argmin(part.shape))
        part = part[(slice(None),) * axis + (part.shape[axis] // 2,)]  # a view: nothing else is read
    return np.asarray(part)
