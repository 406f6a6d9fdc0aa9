"""A design as a text for whoever programs the sequence: what is encoded in which order, in words and a table."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from designs.kspace.cartesian import LinePool
from designs.kspace.phase_encodes import PhaseEncodePool
from designs.kspace.trajectory import TrajectoryPool

__all__ = ["protocol"]

WIDTH = 100
Rows = list[tuple[Any, ...]]


def protocol(design: LinePool | PhaseEncodePool | TrajectoryPool) -> str:
    """The text.

    Parameters
    ----------
    design : LinePool, PhaseEncodePool or TrajectoryPool
        In the order of the scan.

    Returns
    -------
    str

    Examples
    --------
    >>> print(protocol(LinePool((8, 6), [4, 3])))
    2 of 8 lines of k-space, in the order of the scan. Image 8 x 6; phase encoding along axis 0,
    read-out along axis 1. Line 4 is the centre of k-space; frequency is in cycles per field of view,
    the moment of the phase-encoding gradient in units of its smallest step.
    <BLANKLINE>
    shot  line  frequency
       1     4         +0
       2     3         -1
    <BLANKLINE>
    """
    if isinstance(design, LinePool):
        said, rows = _of_lines(design)
    elif isinstance(design, PhaseEncodePool):
        said, rows = _of_encodes(design)
    else:
        said, rows = _of_shots(design)
    widths = [max(len(str(row[k])) for row in rows) for k in range(len(rows[0]))]
    table = ["  ".join(str(cell).rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join([textwrap.fill(said, WIDTH, break_on_hyphens=False), "", *table]) + "\n"


def _of_lines(design: LinePool) -> tuple[str, Rows]:
    n, axis = design.image_shape[design.axis], design.axis
    said = (
        f"{len(design)} of {n} lines of k-space, in the order of the scan. Image {_size(design)}; phase encoding along "
        f"axis {axis}, read-out along axis {1 - axis}. Line {n // 2} is the centre of k-space; frequency is in cycles "
        "per field of view, the moment of the phase-encoding gradient in units of its smallest step."
    )
    rows: Rows = [("shot", "line", "frequency")]
    return said, rows + [(k, line, f"{line - n // 2:+d}") for k, line in enumerate(design.lines.tolist(), 1)]


def _of_encodes(design: PhaseEncodePool) -> tuple[str, Rows]:
    first, second = (axis for axis in range(3) if axis != design.readout)
    a, b = (side // 2 for side in design.plane)
    said = (
        f"{len(design)} of {np.prod(design.plane)} phase encodes, in the order of the scan. Volume {_size(design)}; "
        f"read-out along axis {design.readout}. Index {a} along axis {first} and {b} along axis {second} is the centre "
        "of k-space; frequencies are in cycles per field of view, the moments of the phase-encoding gradients in units "
        "of their smallest steps."
    )
    rows: Rows = [("shot", f"axis {first}", f"axis {second}", "frequency", "frequency")]
    return said, rows + [(k, i, j, f"{i - a:+d}", f"{j - b:+d}") for k, (i, j) in enumerate(design.encodes.tolist(), 1)]


def _of_shots(design: TrajectoryPool) -> tuple[str, Rows]:
    said = (
        f"{len(design)} shots off the Cartesian grid, in the order of the scan. Image {_size(design)}. The largest k "
        "is in cycles per field of view, angles are from axis 0 towards axis 1; the samples of every shot are in the "
        "CSV file of the design."
    )
    angles = all(isinstance(name, (int, float)) for name in design.names)
    rows: Rows = [("shot", *(("radians", "degrees") if angles else ("name",)), "samples", "largest k")]
    for k, (shot, name) in enumerate(zip(design.samples, design.names, strict=True), 1):
        called = (f"{name:.6f}", f"{np.degrees(name):.3f}") if angles else (str(name),)
        reach = np.linalg.norm(shot * np.array(design.image_shape) / (2 * np.pi), axis=1).max()
        rows.append((k, *called, len(shot), f"{reach:.2f}"))
    return said, rows


def _size(design: LinePool | PhaseEncodePool | TrajectoryPool) -> str:
    return " x ".join(map(str, design.image_shape))
