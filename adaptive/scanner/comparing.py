"""In what does a scan differ from the reference that its plan was made from? One sentence each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from adaptive.scanner.scan import Scan

__all__ = ["compare_scans"]

_SAME = 1e-2  # relative difference of lengths and times that counts as none


def compare_scans(reference: Scan, scan: Scan, *, protocol: bool | None = None) -> list[str]:
    """Say in what a scan differs from a reference.

    Parameters
    ----------
    reference, scan : Scan
        What only one of them states is not compared; axes may be kept in another order or direction.
    protocol : bool, optional
        True: echo and repetition time only, which may differ on purpose; False: everything else, without which a plan
        does not fit; default: both.

    Returns
    -------
    list of str
        Orientation, voxel size, matrix, field of view, number of coils, echo, repetition and inversion time; empty
        where nothing differs.

    Examples
    --------
    >>> from adaptive.scanner import Protocol, Scan
    >>> first = Scan(np.ones((8, 8)), "image", protocol=Protocol(echo_time=0.03), source="first.nii")
    >>> later = Scan(np.ones((8, 6)), "image", protocol=Protocol(echo_time=0.09), source="later.nii")
    >>> compare_scans(first, later, protocol=True)
    ['the echo time of later.nii is 90 ms, that of first.nii 30 ms.']
    >>> compare_scans(first, later, protocol=False)
    ['the matrix of later.nii is 8 x 6, that of first.nii 8 x 8.']
    """
    found = [] if protocol else _of_geometry(reference, scan)
    return found if protocol is False else found + _of_protocol(reference, scan)


def _of_geometry(reference: Scan, scan: Scan) -> list[str]:
    found = []

    def differs(what: str, own: str, others: str) -> None:
        found.append(f"the {what} of {scan.source} is {own}, that of {reference.source} {others}.")

    here, there = scan.geometry, reference.geometry
    if here is not None and there is not None:
        order, _, angle = there.way_to(here)
        if not there.parallel(here):
            differs("orientation", f"{here.plane}", f"{there.plane}, {math.degrees(angle):.3g} degrees away")
            return found  # in other directions lengths mean nothing
        turned = there.turned(order)
        if not np.allclose(here.voxel_size, turned.voxel_size, rtol=_SAME):
            differs("voxel size", _sides(here.voxel_size, " mm"), _sides(turned.voxel_size, " mm"))
        if here.matrix != turned.matrix:
            differs("matrix", _sides(here.matrix), _sides(turned.matrix))
        if not np.allclose(here.field_of_view, turned.field_of_view, rtol=_SAME):
            differs("field of view", _sides(here.field_of_view, " mm"), _sides(turned.field_of_view, " mm"))
    elif tuple(scan.shape) != tuple(reference.shape):
        differs("matrix", _sides(scan.shape), _sides(reference.shape))
    own, others = (one.n_coils if one.coils is not None else 0 for one in (scan, reference))  # 0: no samples
    if own and others and own != others:
        differs("number of coils", str(own), str(others))
    return found


def _of_protocol(reference: Scan, scan: Scan) -> list[str]:
    found = []
    for name in ("echo_time", "repetition_time", "inversion_time"):
        own, others = getattr(scan.protocol, name, None), getattr(reference.protocol, name, None)
        if own is not None and others is not None and not math.isclose(own, others, rel_tol=_SAME, abs_tol=1e-5):
            what = name.replace("_", " ")
            found.append(
                f"the {what} of {scan.source} is {1e3 * own:.4g} ms, that of {reference.source} {1e3 * others:.4g} ms."
            )
    return found


def _sides(values: object, unit: str = "") -> str:
    return " x ".join(f"{float(side):.4g}" for side in np.ravel(np.asarray(values))) + unit
