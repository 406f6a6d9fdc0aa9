"""A design as a file, and back: CSV, NumPy, a mask or trajectory for BART, ISMRMRD, Pulseq, a text for programmers.

The order of a pool is the order of the scan, and CSV, ``.npy`` and text keep it; a mask has none. CSV says everything
about a design; ``.npy`` and ``.cfl`` hold bare numbers, and what they do not say stands in a ``.json`` beside them, or
is asked for when they are read.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.checks import integer
from adaptive.images.cfl import read_cfl, write_cfl
from adaptive.scanner import Geometry, Protocol, write_plan, write_pulseq
from designs.kspace.cartesian import LinePool
from designs.kspace.phase_encodes import PhaseEncodePool
from designs.kspace.plan_facts import facts_of, read_facts, sentences, write_facts
from designs.kspace.protocol import protocol as for_people
from designs.kspace.trajectory import TrajectoryPool

__all__ = ["export_design", "import_design"]

Pool = LinePool | PhaseEncodePool | TrajectoryPool
_ISMRMRD = (".h5", ".mrd")
_ENDINGS = (".csv", ".npy", ".cfl", ".txt", *_ISMRMRD, ".seq")
_KINDS = {"lines": LinePool, "phase encodes": PhaseEncodePool, "shots": TrajectoryPool}


def export_design(
    design: Pool, path: Any, *, geometry: Geometry | None = None, protocol: Protocol | None = None,
    field_of_view: Sequence[float] | None = None,
) -> Path:  # fmt: skip
    """Write a design.

    Parameters
    ----------
    design : LinePool, PhaseEncodePool or TrajectoryPool
        What is measured, in the order of the scan; of a pool of candidates, ``pool.take(positions)``.
    path : str or Path
        The ending decides. ``.csv``: everything, one row per line, encode or sample. ``.npy``: line indices (m,),
        encodes (m, 2), or samples (m, d, axes) in radians per pixel. ``.cfl`` (and ``.hdr``): for BART, a mask of the
        image's shape, or a trajectory (3, d, m) in cycles per field of view. ``.txt``: to be read by people.
        ``.h5`` and ``.mrd``: ISMRMRD, headers of acquisitions in the order of the scan, without samples
        (`adaptive.scanner.write_ismrmrd` writes them with theirs). ``.seq``: a Pulseq sequence, a spoiled gradient echo
        as short as can be (`adaptive.scanner.write_pulseq` takes times, flip angle and limits).
    geometry, protocol : Geometry, Protocol, optional
        Of the scan that is planned, as a reference has them. ISMRMRD has a place for them, and so has the text; beside
        other files they stand in one more that ends in ``.json``, which bare numbers have in any case.
    field_of_view : sequence of three float, optional
        Of a reference without geometry, in mm.

    Returns
    -------
    Path
        Of what was written.

    Raises
    ------
    ValueError
        For another ending, something that is no design, an empty design, or shots of several lengths in ``.npy`` and
        ``.cfl``.

    Examples
    --------
    >>> import tempfile
    >>> from designs.kspace import lines
    >>> chosen = lines((8, 6)).take([4, 3, 6])
    >>> path = export_design(chosen, Path(tempfile.mkdtemp()) / "design.csv")
    >>> print(path.read_text())
    order,line,frequency,design,shape,axis
    0,4,0,lines,8 x 6,0
    1,3,-1,lines,8 x 6,0
    2,6,2,lines,8 x 6,0
    >>> import_design(path).labels()
    [4, 3, 6]
    """
    kind = _kind(design)
    path = Path(path).expanduser()
    if path.suffix.lower() not in _ENDINGS:
        raise ValueError(f"{path.name} has an unknown ending; designs are written as {', '.join(_ENDINGS)}.")
    if len(design) == 0:
        raise ValueError("the design is empty: nothing would be measured.")
    if field_of_view is not None and (len(field_of_view) != 3 or min(field_of_view) <= 0):
        raise ValueError(f"field_of_view must be three lengths > 0 in mm, got {field_of_view!r}.")
    if path.suffix.lower() in _ISMRMRD:
        return write_plan(path, design, geometry=geometry, protocol=protocol, field_of_view=field_of_view)
    if path.suffix.lower() == ".seq":
        return write_pulseq(path, design, field_of_view, geometry=geometry)
    ending, facts = path.suffix.lower(), facts_of(kind, design, geometry, protocol, field_of_view)
    if ending == ".csv":
        path.write_text(_csv(kind, design), encoding="utf-8")
    elif ending == ".txt":
        more = sentences(facts)
        path.write_text(for_people(design) + (f"\n{more}\n" if more else ""), encoding="utf-8")
    elif ending == ".npy":
        np.save(path, _numbers(kind, design))
    else:
        write_cfl(path, _for_bart(kind, design))
    told = ending == ".npy" or (ending != ".txt" and bool(sentences(facts)))
    write_facts(path, facts if told else None)
    return path


def import_design(path: Any, shape: Any = None, *, axis: int | None = None) -> Pool:
    """Read a design.

    Parameters
    ----------
    path : str or Path
        ``.csv``, ``.npy``, ``.cfl``, ``.h5`` or ``.mrd`` (ISMRMRD), written by `export_design` or alike; ``.seq``: any
        Pulseq sequence that defines FOV, each phase encode once.
    shape : tuple of int, optional
        Of the image; needed for ``.npy`` without its ``.json``, and for trajectories in ``.cfl``; of a ``.seq`` that is
        not ours default what its read-outs cover.
    axis : int, optional
        Axis of the phase encodes of lines, or of the read-out of phase encodes, in ``.npy``; default what its ``.json``
        says, else 0.

    Returns
    -------
    LinePool, PhaseEncodePool or TrajectoryPool
        In the order of the scan; lines and encodes of a mask in order of frequency.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged or holds no design, or shape is missing; the message names it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from designs.kspace import export_design, lines
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "design.csv"
    ...     _ = export_design(lines((8, 6), 0).take([4, 3, 5]), path)
    ...     import_design(path).labels()
    [4, 3, 5]
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    readers = {
        ".csv": _from_csv, ".npy": _from_numpy, ".cfl": _from_bart, ".h5": _from_ismrmrd, ".mrd": _from_ismrmrd,
        ".seq": _from_pulseq,
    }  # fmt: skip
    if path.suffix.lower() not in readers:
        raise ValueError(f"{path.name}: designs are read from {', '.join(readers)}; the text is for people.")
    return readers[path.suffix.lower()](path, shape, axis)


def _kind(design: Any) -> str:
    for name, pool in _KINDS.items():
        if isinstance(design, pool):
            return name
    raise ValueError(f"design must be a pool of lines, phase encodes or shots, got {type(design).__name__}.")


# What is written ------------------------------------------------------------------------------------------------------


def _numbers(kind: str, design: Any) -> np.ndarray:
    if kind == "lines":
        return design.lines
    if kind == "phase encodes":
        return design.encodes
    if not isinstance(design.samples, np.ndarray):
        raise ValueError("the shots have several lengths, and one array cannot hold them: write .csv.")
    return design.samples


def _for_bart(kind: str, design: Any) -> np.ndarray:
    if kind == "lines":
        mask = np.zeros(design.image_shape)
        np.moveaxis(mask, design.axis, 0)[design.lines] = 1
        return mask
    if kind == "phase encodes":
        mask = np.zeros(design.image_shape)
        np.moveaxis(mask, design.readout, 0)[:, design.encodes[:, 0], design.encodes[:, 1]] = 1
        return mask
    samples = _numbers(kind, design) * np.array(design.image_shape) / (2 * np.pi)
    coordinates = np.zeros((3, samples.shape[1], samples.shape[0]))
    coordinates[: samples.shape[2]] = samples.transpose(2, 1, 0)
    return coordinates


def _csv(kind: str, design: Any) -> str:
    """A table whose first line names the columns; what is said of the whole design stands in every row."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    said = [kind, " x ".join(map(str, design.image_shape))]
    if kind == "lines":
        writer.writerow(["order", "line", "frequency", "design", "shape", "axis"])
        middle = design.image_shape[design.axis] // 2
        writer.writerows([k, line, line - middle, *said, design.axis] for k, line in enumerate(design.lines.tolist()))
    elif kind == "phase encodes":
        frequencies = ["first_frequency", "second_frequency"]
        writer.writerow(["order", "first", "second", *frequencies, "design", "shape", "readout"])
        middles = [side // 2 for side in design.plane]
        for k, (a, b) in enumerate(design.encodes.tolist()):
            writer.writerow([k, a, b, a - middles[0], b - middles[1], *said, design.readout])
    else:
        axes = [f"k{axis} (radians per pixel)" for axis in range(len(design.image_shape))]
        writer.writerow(["order", "shot", "sample", *axes, "design", "shape"])
        for k, (shot, name) in enumerate(zip(design.samples, design.names, strict=True)):
            writer.writerows([k, json.dumps(name), j, *map(repr, row), *said] for j, row in enumerate(shot.tolist()))
    return out.getvalue()


# What is read ---------------------------------------------------------------------------------------------------------


def _from_csv(path: Path, shape: Any, axis: int | None) -> Pool:
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream, strict=True))
        said = {key: rows[0][key] for key in ("design", "shape", "axis", "readout") if key in rows[0]}
        if any(row[key] != value for row in rows for key, value in said.items()):
            raise ValueError(f"{', '.join(said)} must be the same in every row")
        if any(None in row or None in row.values() for row in rows):
            raise ValueError("a row has more or fewer cells than the header")
        kind, sides = said["design"], tuple(int(side) for side in said["shape"].split(" x "))
        if kind == "lines":
            return LinePool(sides, np.array([int(row["line"]) for row in rows]), int(said["axis"]))
        if kind == "phase encodes":
            encodes = [(int(row["first"]), int(row["second"])) for row in rows]
            return PhaseEncodePool(sides, encodes, int(said["readout"]))
        if kind != "shots":
            raise ValueError(f"a design of {kind!r}")
        shots: dict[int, list[list[float]]] = {}
        names: dict[int, Any] = {}
        for row in rows:
            where = int(row["order"])
            shots.setdefault(where, []).append([float(row[f"k{k} (radians per pixel)"]) for k in range(len(sides))])
            names[where] = json.loads(row["shot"])
        return TrajectoryPool(sides, [np.array(shots[k]) for k in sorted(shots)], [names[k] for k in sorted(shots)])
    except (KeyError, ValueError, TypeError, IndexError, csv.Error, RecursionError) as reason:
        raise ValueError(f"{path.name} is not a design as export_design writes it ({reason}).") from reason


def _from_numpy(path: Path, shape: Any, axis: int | None) -> Pool:
    try:
        array = np.load(path, allow_pickle=False)
    except Exception as reason:  # a dozen kinds, by where the file is cut off
        raise ValueError(f"{path.name} cannot be read; it seems to be damaged ({reason}).") from reason
    facts = read_facts(path)
    shape, axis = _agreed(path, "shape", shape, facts), _agreed(path, "axis", axis, facts)
    if shape is None:
        raise ValueError(f"shape must be given for {path.name}: bare numbers do not say of which image they are.")
    if array.dtype.kind in "iu" and array.ndim == 1:
        return LinePool(shape, array, 0 if axis is None else axis)
    if array.dtype.kind in "iu" and array.ndim == 2 and array.shape[1] == 2:
        return PhaseEncodePool(shape, array, 0 if axis is None else axis)
    if array.dtype.kind == "f" and array.ndim == 3:
        return TrajectoryPool(shape, array)
    raise ValueError(
        f"{path.name} must hold line indices (m,), phase encodes (m, 2) or samples (m, d, axes), got {array.dtype} of "
        f"shape {array.shape}."
    )


def _agreed(path: Path, name: str, given: Any, facts: dict[str, Any]) -> Any:
    """Value that was given, or stands beside the file; refused where these are two things."""
    said = facts.get(name, facts.get("readout") if name == "axis" else None)
    if given is None or said is None:
        return said if given is None else given
    if np.atleast_1d(given).tolist() != np.atleast_1d(said).tolist():
        raise ValueError(f"{name} must be that of {path.name}, {said} by the .json beside it, got {given!r}.")
    return given


def _from_bart(path: Path, shape: Any, axis: int | None) -> Pool:
    array = read_cfl(path).real.astype(float)
    if shape is not None:
        sides = tuple(integer("shape", side, minimum=1) for side in np.atleast_1d(shape))
        whole = array.shape + (1,) * (len(sides) - array.ndim)  # BART drops axes of length one at the end
        if array.shape[0] == 3 and array.ndim <= 3 and whole != sides:
            array = array.reshape(array.shape + (1,) * (3 - array.ndim))
            samples = array.transpose(2, 1, 0)[..., : len(sides)] * 2 * np.pi / np.array(sides)
            # single precision turns -pi into something below
            return TrajectoryPool(shape, np.maximum(samples, -np.pi))
        array = array.reshape(sides) if array.size == np.prod(sides) else array
        if array.shape != sides:
            raise ValueError(f"{path.name} must hold a mask of shape {sides}, got {array.shape}.")
    if array.ndim not in (2, 3) or not np.isin(array, (0, 1)).all() or not array.any():
        raise ValueError(
            f"{path.name} must hold a mask of zeros and ones with two or three axes (for a trajectory give shape), got "
            f"shape {array.shape}."
        )
    mask = array.astype(bool)
    candidates: tuple[int, ...] = (1, 0) if mask.ndim == 2 else (0, 1, 2)  # of the read-out, the usual one first
    if axis is not None:
        candidates = (axis if mask.ndim == 3 else 1 - axis,)
    for along in candidates:
        read = np.moveaxis(mask, along, 0)
        if (read == read[0]).all():  # the read-out
            if mask.ndim == 2:
                return LinePool(mask.shape, np.flatnonzero(read[0]), 1 - along)
            return PhaseEncodePool(mask.shape, np.argwhere(read[0]), along)
    raise ValueError(f"{path.name} must hold whole lines along an axis that is read out, and its mask does not.")


def _from_ismrmrd(path: Path, shape: Any, axis: int | None) -> Pool:
    from adaptive.scanner.ismrmrd_reading import read_plan

    return _of_plan(read_plan(path))


def _from_pulseq(path: Path, shape: Any, axis: int | None) -> Pool:
    from adaptive.scanner.pulseq.reading import read_pulseq_plan

    return _of_plan(read_pulseq_plan(path, shape))


def _of_plan(plan: Any) -> Pool:
    if plan.shots is not None:
        return TrajectoryPool(plan.shape, plan.shots, plan.names)
    if len(plan.shape) == 2:
        return LinePool(plan.shape, plan.encodes[:, 0], 1 - plan.readout)
    return PhaseEncodePool(plan.shape, plan.encodes, plan.readout)
