"""Values that ``adaptive kspace`` hands on: the slices that it compares on, and what a plan is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from adaptive.images import Slice
    from adaptive.scanner import Geometry, Protocol

__all__ = ["ENDINGS", "ERROR", "READERS", "Known", "Subject", "named", "one_side"]

ERROR = "error: |true - reconstructed| / |true|, Euclidean norms of the magnitudes"  # one unit for all that is printed

ENDINGS = {
    "csv": ".csv",
    "npy": ".npy",
    "bart": ".cfl",
    "ismrmrd": ".h5",
    "text": ".txt",
    "pulseq": ".seq",
}  # of exports
READERS = {"central": "smooth", "rough": "estimate", "known": None}  # of the phase, as of ImageReconstructor


def named(design: str) -> str:
    """A design as people read it."""
    return design.replace("_", " ")


def one_side(frequencies: np.ndarray, n: int, known: bool) -> str:
    """Remark on lines that leave out one half of k-space: what they rely on, and whether it matters which half.

    Parameters
    ----------
    frequencies : array of int
        Of the lines beside the centre; 0 is DC.
    n : int
        Lines that there are.
    known : bool
        Whether the image has a phase of its own, by which the side was chosen.
    """
    signs = frequencies[(frequencies != 0) & (2 * frequencies != -n)] > 0
    if len(signs) == 0 or len(set(signs.tolist())) > 1:
        return ""
    side = (
        "this side was the better one by the phase of the image"
        if known
        else f"either side would do: magnitudes say nothing of the sign, and line {n} - k is worth what line k is"
    )
    return (
        "All lines outside the centre lie on one side of it. The other side follows by the phase that the central "
        f"lines show, if that phase is smooth; {side}. More central lines (--initial) rely less on it; other lines are "
        "left out for them."
    )


@dataclass(frozen=True)
class Subject:
    """A slice and its neighbour, padded for the wavelets.

    Attributes
    ----------
    same : Slice
        Chooses the lines.
    neighbour : Slice or None
    training : Slice or None
        A third one, on which what comparison designs and reconstructions are given is tuned; None: on ``same``.
    alone : str
        Why there is no neighbour; empty where there is one.
    padded : str
        What was padded; empty if nothing was.
    said : str
        Which of several volumes it is; empty where there is one, or it was named.
    """

    same: Slice
    neighbour: Slice | None
    training: Slice | None
    alone: str
    padded: str
    said: str = ""


class Known(NamedTuple):
    """Knowledge that a plan is made from.

    Attributes
    ----------
    images : list of arrays (h, w)
        Of the same head, or of others; complex, or magnitudes in [0, 1].
    title : str
    same : bool
        Whether it is the head of the next scan.
    coils : array (coils, h, w) or None
        Maps, where raw samples of several coils show them.
    n_slices : int
        Of the volume: samples along the read-out, where points are planned.
    geometry, protocol : optional
    anatomical : bool
        Whether pictures are to be turned.
    received : str
        The coils of raw samples, as they are and as they were compressed.
    readout : int or None
        Axis of the images that was read out, where the file says so.
    field_of_view : tuple of three float, or None
        Of a file that states it and not how it lies: mm along the axes of the images, and across them.
    """

    images: list[np.ndarray]
    title: str
    same: bool
    coils: np.ndarray | None = None
    n_slices: int = 1
    geometry: Geometry | None = None
    protocol: Protocol | None = None
    anatomical: bool = False
    received: str = ""
    readout: int | None = None
    field_of_view: tuple[float, ...] | None = None
