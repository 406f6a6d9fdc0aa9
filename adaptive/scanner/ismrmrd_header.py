"""The header of an ISMRMRD file and what stands in it: matrices, fields of view, times in ms, angles in degrees.

A read-out runs along x, the phase encodes of kspace_encode_step_1 along y, those of step_2 along z. How these are the
axes of an image is no part of the format: (y, x) of a slice, (x, y, z) of a volume, unless the header names it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive.scanner.geometry import TO_LPS, Geometry
from adaptive.scanner.protocol import Protocol

__all__ = ["EXACT", "Encoding", "directions_of", "geometry_of", "header_of", "parsed", "protocol_of"]

_USUAL = {2: ("y", "x"), 3: ("x", "y", "z")}
_AXES, _NAMES = "adaptive axes", "adaptive shots"  # what other programs may pass over
EXACT = "adaptive_trajectory"  # an array beside the acquisitions, whose own have single precision; radians per pixel
_HERTZ_PER_TESLA = 42.577478518e6


class Encoding(NamedTuple):
    """The encoded space of a header.

    Attributes
    ----------
    axes : tuple of {"x", "y", "z"}
        Of the image, in order.
    matrix, field_of_view : dict of "x", "y", "z"
        Of what was encoded, with oversampling; mm.
    wanted : dict of "x", "y", "z"
        Number of pixels, of the size of the encoded ones, that are to be reconstructed.
    centres : tuple of two int
        Counter of DC along y and z.
    cartesian : bool
    names : list or None
        Of the shots.
    """

    axes: tuple[str, ...]
    matrix: dict[str, int]
    field_of_view: dict[str, float]
    wanted: dict[str, int]
    centres: tuple[int, int]
    cartesian: bool
    names: list[Any] | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the image that was encoded."""
        return tuple(self.matrix[axis] for axis in self.axes)

    @property
    def readout(self) -> int:
        """The axis of the image that is read out."""
        return self.axes.index("x")


def parsed(xml: bytes, name: str) -> tuple[Any, Encoding]:
    """Read a header: itself, and its first encoded space."""
    import ismrmrd

    try:
        header = ismrmrd.xsd.CreateFromDocument(xml)
        one = header.encoding[0]
        space, wanted = one.encodedSpace, one.reconSpace
        matrix = {axis: int(getattr(space.matrixSize, axis)) for axis in "xyz"}
        view = {axis: float(getattr(space.fieldOfView_mm, axis)) for axis in "xyz"}
        asked = {axis: float(getattr(wanted.fieldOfView_mm, axis)) for axis in "xyz"}
        parameters = header.userParameters.userParameterString if header.userParameters else ()
        said = {one.name: one.value for one in parameters}
        names = json.loads(said[_NAMES]) if _NAMES in said else None
        axes = tuple(said[_AXES].split()) if _AXES in said else _USUAL[2 if matrix["z"] == 1 else 3]
        limits = one.encodingLimits
        steps = (limits.kspace_encoding_step_1, limits.kspace_encoding_step_2)
        middles = (matrix["y"] // 2, matrix["z"] // 2)
        centres = [usual if step is None else int(step.center) for step, usual in zip(steps, middles, strict=True)]
        cartesian = one.trajectory.value == "cartesian"
    except Exception as reason:  # a dozen kinds, by what the text lacks
        why = " ".join(str(reason).split())[:200] or type(reason).__name__
        raise ValueError(f"{name} has no header that can be read ({why}).") from reason
    if min(matrix.values()) < 1:
        raise ValueError(f"{name} announces a matrix of {' x '.join(map(str, matrix.values()))}.")
    if not np.isfinite([*view.values(), *asked.values()]).all() or min(*view.values(), *asked.values()) < 0:
        raise ValueError(f"{name} announces a field of view of {' x '.join(map(str, view.values()))} mm.")
    if sorted(axes) not in (["x", "y"], ["x", "y", "z"]) or not isinstance(names, (list, type(None))):
        raise ValueError(f"{name} has no header that can be read (it names the axes {' '.join(axes)}).")
    kept = {axis: round(matrix[axis] * asked[axis] / view[axis]) if view[axis] else matrix[axis] for axis in "xyz"}
    return header, Encoding(axes, matrix, view, kept, (centres[0], centres[1]), cartesian, names)


def protocol_of(header: Any, contrast: int = 0) -> Protocol | None:
    """Times in seconds, angles in radians; of several echo times that of the contrast."""
    found, given = {}, header.sequenceParameters
    for name, key, unit in (
        ("echo_time", "TE", 1e-3),
        ("repetition_time", "TR", 1e-3),
        ("inversion_time", "TI", 1e-3),
        ("flip_angle", "flipAngle_deg", math.pi / 180),
    ):
        values = getattr(given, key, None) or []
        if values:
            found[name] = float(values[min(contrast, len(values) - 1)]) * unit
    system, study = header.acquisitionSystemInformation, header.measurementInformation
    field = None if system is None else system.systemFieldStrength_T
    hertz = getattr(header.experimentalConditions, "H1resonanceFrequency_Hz", None) or None  # 0: not known
    name = "" if study is None else study.protocolName or ""
    protocol = Protocol(**found, field_strength=field, frequency=None if hertz is None else float(hertz), name=name)
    return protocol or None


def geometry_of(head: Any, encoding: Encoding) -> Geometry | None:
    """Place of the voxels by the header of an acquisition; None where it does not say.

    Its position is that of voxel n // 2, the origin of the Fourier transform.
    """

    keys = {"x": "read_dir", "y": "phase_dir", "z": "slice_dir"}
    if not np.isfinite([np.asarray(head[key], float) for key in ("position", *keys.values())]).all():
        return None
    along = {axis: np.asarray(head[key], float) for axis, key in keys.items()}
    axes = [*encoding.axes, *(axis for axis in "xyz" if axis not in encoding.axes)]
    columns = np.stack([along[axis] * TO_LPS for axis in axes], axis=1)
    if abs(np.linalg.det(columns)) < 0.5 or min(encoding.field_of_view.values()) <= 0:
        return None
    size = np.array([encoding.field_of_view[axis] / encoding.matrix[axis] for axis in axes])
    sides = [encoding.matrix[axis] for axis in axes]
    middle = np.asarray(head["position"], float) * TO_LPS
    corner = middle - columns @ (size * np.array([side // 2 for side in sides]))
    return Geometry(corner, columns, size, (sides[0], sides[1], sides[2]))


def directions_of(geometry: Geometry | None, axes: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Fields of a geometry in the header of every acquisition."""
    names = ("position", "read_dir", "phase_dir", "slice_dir")
    if geometry is None:
        return dict.fromkeys(names, (0.0, 0.0, 0.0))
    every = [*axes, *(axis for axis in "xyz" if axis not in axes)]
    columns = [geometry.directions[:, every.index(axis)] for axis in "xyz"]
    found = zip(names, (geometry.centre, *columns), strict=True)
    return {name: tuple(float(one) for one in value * TO_LPS) for name, value in found}


def header_of(
    shape: Sequence[int],
    axes: Sequence[str],
    geometry: Geometry | None,
    protocol: Protocol | None,
    *,
    n_coils: int,
    wanted: Sequence[int] | None = None,
    names: Sequence[Any] | None = None,
    cartesian: bool = True,
    n_shots: int = 0,
    field_of_view: Sequence[float] | None = None,
) -> Any:
    """The header of a scan of an image of this shape, whose axes are read out (x) and phase encoded (y, z).

    A field of view, mm along the axes of the image and across it, is stated where no geometry is.
    """
    from ismrmrd import xsd

    every = [*axes, *(axis for axis in "xyz" if axis not in axes)]
    sides = dict(zip(every, (*shape, *(1,) * (3 - len(shape))), strict=True))
    view = dict.fromkeys("xyz", 0.0)
    if geometry is not None:
        view = dict(zip(every, geometry.field_of_view.tolist(), strict=True))
    elif field_of_view is not None:
        view = dict(zip(every, map(float, field_of_view), strict=True))
    kept = dict(sides) if wanted is None else dict(zip(every, (*wanted, *(1,) * (3 - len(wanted))), strict=True))
    asked = {axis: view[axis] * kept[axis] / sides[axis] for axis in "xyz"}
    last = n_shots - 1 if not cartesian else sides["y"] - 1
    limits = xsd.encodingLimitsType(
        kspace_encoding_step_1=xsd.limitType(minimum=0, maximum=last, center=0 if not cartesian else sides["y"] // 2),
        kspace_encoding_step_2=xsd.limitType(minimum=0, maximum=sides["z"] - 1, center=sides["z"] // 2),
    )
    space = xsd.encodingSpaceType(matrixSize=xsd.matrixSizeType(**sides), fieldOfView_mm=xsd.fieldOfViewMm(**view))
    recon = xsd.encodingSpaceType(matrixSize=xsd.matrixSizeType(**kept), fieldOfView_mm=xsd.fieldOfViewMm(**asked))
    kind = xsd.trajectoryType.CARTESIAN if cartesian else xsd.trajectoryType.OTHER
    said = []
    if tuple(axes) != _USUAL[len(shape)]:
        said.append(xsd.userParameterStringType(name=_AXES, value=" ".join(axes)))
    if names is not None:
        said.append(xsd.userParameterStringType(name=_NAMES, value=json.dumps(list(names))))
    field = None if protocol is None else protocol.field_strength
    return xsd.ismrmrdHeader(
        version=2,
        experimentalConditions=xsd.experimentalConditionsType(
            H1resonanceFrequency_Hz=round(
                (None if protocol is None else protocol.frequency) or (field or 0.0) * _HERTZ_PER_TESLA
            )
        ),
        acquisitionSystemInformation=xsd.acquisitionSystemInformationType(
            receiverChannels=n_coils or None, systemFieldStrength_T=field
        ),
        measurementInformation=None
        if protocol is None or not protocol.name
        else xsd.measurementInformationType(patientPosition=xsd.patientPositionType.HFS, protocolName=protocol.name),
        encoding=[xsd.encodingType(encodedSpace=space, reconSpace=recon, encodingLimits=limits, trajectory=kind)],
        sequenceParameters=_sequence(protocol),
        userParameters=xsd.userParametersType(userParameterString=said) if said else None,
    )


def _sequence(protocol: Protocol | None) -> Any:
    from ismrmrd import xsd

    if protocol is None:
        return None

    def one(value: float | None, unit: float) -> list[float]:
        return [] if value is None else [value / unit]

    return xsd.sequenceParametersType(
        TR=one(protocol.repetition_time, 1e-3),
        TE=one(protocol.echo_time, 1e-3),
        TI=one(protocol.inversion_time, 1e-3),
        flipAngle_deg=one(protocol.flip_angle, math.pi / 180),
    )
