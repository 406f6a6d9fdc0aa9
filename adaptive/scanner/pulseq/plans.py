"""Plans as Pulseq files: a spoiled gradient echo of our own, or other phase encodes in somebody's sequence."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.checks import integer, positive
from adaptive.scanner.pulseq.exchange import exchanged
from adaptive.scanner.pulseq.hardware import hardware, needs_pulseq
from adaptive.scanner.pulseq.lobes import in_order, lobes_of
from adaptive.scanner.pulseq.moments import AXES, Moments
from adaptive.scanner.pulseq.reading import AXIS, NAME, SHAPE, read_sequence
from adaptive.scanner.pulseq.spoiled import DUMMIES, Timing, spoiled
from adaptive.scanner.sentences import image_shape, with_ending

if TYPE_CHECKING:
    from adaptive.scanner.geometry import Geometry

__all__ = ["check_exchange", "exchange_encodes", "write_pulseq"]


class _Table(NamedTuple):
    """A design: the axes of the image in the order of x, y and z, and its entries."""

    shape: tuple[int, ...]
    axes: tuple[int, ...]  # of the image, for x (read out), y and z
    encodes: np.ndarray  # (m, q), 0 the centre
    indices: np.ndarray  # (m, q)
    shots: list[np.ndarray] | None = None


def write_pulseq(
    path: str | os.PathLike[str], design: Any, field_of_view: Sequence[float] | None = None, *,
    geometry: Geometry | None = None, tr: float | None = None, te: float | None = None, flip: float = 10.0,
    system: Mapping[str, float] | None = None, dummies: int = DUMMIES,
) -> Path:  # fmt: skip
    """Write a plan as a spoiled gradient echo that a scanner can run, in the plan's order.

    Parameters
    ----------
    path : str or Path
        ``.seq``; a file of that name is replaced.
    design : LinePool, PhaseEncodePool of a volume, or TrajectoryPool of an image
        Lines and phase encodes are read out along x and encoded along y (and z, across the slab); axes 0 and 1 of shots
        are x and y. A curve is gone along as fast as the gradients allow, and sampled at the dwell time.
    field_of_view : sequence of three float
        Along the axes of the image, mm; of an image the last is the thickness of the slice.
    geometry : Geometry, optional
        In its place: where the image lies.
    tr, te : float, optional
        Milliseconds; default: as short as can be. The echo is where a read-out is nearest to the centre.
    flip : float, default 10
        Degrees.
    system : mapping, optional
        Limits that are not the usual ones: max_grad (mT/m), max_slew (T/m/s), rf_dead_time, adc_dead_time, dwell (s).
    dummies : int, default 16
        Excitations before the first read-out.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        With the smallest echo time where a smaller one is asked for; where the field of view is not known, or gradients
        would be beyond the limits. No file is written then.

    Examples
    --------
    >>> import tempfile
    >>> from designs.kspace import import_design, lines
    >>> path = write_pulseq(Path(tempfile.mkdtemp()) / "plan.seq", lines((8, 6)).take([4, 3, 5]), (200, 150, 5))
    >>> import_design(path).labels()
    [4, 3, 5]
    """
    path = _checked_path(path)
    table, view = _table(design), _view(design, field_of_view, geometry)
    timing = Timing(
        None if tr is None else float(positive("tr", tr)) * 1e-3,
        None if te is None else float(positive("te", te)) * 1e-3,
        np.deg2rad(float(positive("flip", flip))),
        integer("dummies", dummies, minimum=0),
    )
    limits, dwell = hardware(system)
    made, found = spoiled(_places(table, view), table.indices, view, len(table.axes) == 3, limits, dwell, timing)
    assert found.te is not None and found.tr is not None
    _define(made, table, view)
    made.set_definition("TE", found.te)
    made.set_definition("TR", found.tr)
    _refuse_timing(made)
    return _written(made, path)


def exchange_encodes(
    path: str | os.PathLike[str], sequence: str | os.PathLike[str], design: Any,
    field_of_view: Sequence[float] | None = None, *, geometry: Geometry | None = None,
    system: Mapping[str, float] | None = None,
) -> Path:  # fmt: skip
    """Write somebody's sequence with the phase encodes of a plan in the place of its own.

    Parameters
    ----------
    path : str or Path
        What is written, ``.seq``.
    sequence : str or Path
        A Cartesian Pulseq file: gradient echoes, spin-echo trains, inversion-prepared trains, of one slice or several.
        Single echoes follow in the plan's order; in trains the centre comes at the sequence's own effective echo time
        (or inversion time). Labels LIN and PAR become the plan's indices. What is beyond the plan goes; read-outs of a
        train that get no encode are not read.
    design : LinePool, or PhaseEncodePool of a volume
    field_of_view, geometry : optional
        Of the plan, as of `write_pulseq`. Default: what the file defines as FOV; where both are known they must agree.
    system : mapping, optional
        Limits, as of `write_pulseq`; default: what the sequence does itself.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        Where no lobe looks like a phase encode, the plan has more of them than the sequence read-outs, the field of
        view is not known, or gradients would be beyond the limits; the lobe is named. No file is written then.

    Examples
    --------
    >>> import tempfile
    >>> from designs.kspace import import_design, lines
    >>> folder = Path(tempfile.mkdtemp())
    >>> own = write_pulseq(folder / "own.seq", lines((8, 6)), (200, 150, 5))
    >>> path = exchange_encodes(folder / "plan.seq", own, lines((8, 6)).take([4, 3, 6]))
    >>> import_design(path).labels()
    [4, 3, 6]
    """
    path, table, own = _checked_path(path), _table(design), read_sequence(sequence)
    if table.shots is not None:
        raise ValueError("only lines and phase encodes can take the place of others: a sequence keeps its read-outs.")
    moments = Moments(own)
    lobes = in_order(lobes_of(moments), moments, table.encodes.shape[1])
    view = _own_view(own, moments, lobes, table, design, field_of_view, geometry, Path(sequence).name)
    limits = None
    if system:
        found, _ = hardware(system)
        limits = (found.max_grad, found.max_slew)
    made = exchanged(own, table.encodes, view, table.indices, limits, moments)
    _verify(made, table, lobes, view)
    _define(made, table, view if np.isfinite(view).all() else None)
    return _written(made, path)


def check_exchange(sequence: str | os.PathLike[str], n_axes: int, stated: bool = False) -> None:
    """Refuse a sequence whose phase encodes cannot be exchanged for those of a plan of so many axes.

    ``stated``: whether somebody says the field of view, where the sequence does not define it.
    """
    own = read_sequence(sequence)
    moments = Moments(own)
    lobes = in_order(lobes_of(moments), moments, n_axes)
    if not stated and "FOV" not in own.definitions:
        raise ValueError(_without_view(Path(sequence).name, lobes[0].axis))


def _without_view(name: str, axis: int) -> str:
    return (
        f"{name} does not define FOV, and the plan does not say it either: give the field of view along {AXES[axis]}."
    )


def _checked_path(path: str | os.PathLike[str]) -> Path:
    needs_pulseq()
    return with_ending(path, (".seq",), "Pulseq")


def _table(design: Any) -> _Table:
    """Lines, phase encodes or shots, known by what they hold."""
    shape = image_shape(design)
    if len(design) == 0:
        raise ValueError("the design is empty: nothing would be measured.")
    if hasattr(design, "lines"):
        indices = np.asarray(design.lines)[:, None]
        return _Table(shape, (1 - design.axis, design.axis), indices - shape[design.axis] // 2, indices)
    if hasattr(design, "encodes"):
        if design.readout is None:
            raise ValueError("the design is of one plane: a sequence needs the volume, with the axis that is read out.")
        across = [k for k in range(3) if k != design.readout]
        indices = np.asarray(design.encodes)
        middles = np.array([shape[k] // 2 for k in across])
        return _Table(shape, (design.readout, *across), indices - middles, indices)
    if len(shape) != 2:
        raise ValueError(f"shots are written of images, and the design is of {shape}.")
    shots = [np.asarray(one, float) for one in design.samples]
    return _Table(shape, (0, 1), np.empty((len(shots), 0), int), np.arange(len(shots))[:, None], shots)


def _view(design: Any, field_of_view: Sequence[float] | None, geometry: Geometry | None) -> list[float]:
    """Field of view along x, y and z, m."""
    if geometry is not None:
        field_of_view = geometry.field_of_view.tolist()
    if field_of_view is None:
        raise ValueError(
            "field_of_view must be given, three lengths in mm: the plan does not say how large what it images is."
        )
    sides = np.asarray(field_of_view, float)
    if sides.shape != (3,) or not np.isfinite(sides).all() or (sides <= 0).any():
        raise ValueError(f"field_of_view must be three lengths > 0 in mm, got {field_of_view!r}.")
    if sides[:2].max() < 2.0:
        raise ValueError(f"field_of_view is in mm, got {field_of_view!r}: metres?")
    axes = _table(design).axes
    order = [*axes, *(k for k in range(3) if k not in axes)]
    return [float(sides[k]) * 1e-3 for k in order]


def _places(table: _Table, view: Sequence[float]) -> list[np.ndarray]:
    """Places of the samples, (d, 3) of each shot, 1/m."""
    if table.shots is not None:
        scale = np.array([table.shape[k] / view[k] for k in range(2)]) / (2 * np.pi)
        whole = [_continuous(shot) for shot in table.shots]
        return [np.column_stack([shot * scale, np.zeros(len(shot))]) for shot in whole]
    n = table.shape[table.axes[0]]
    along = (np.arange(n) - n // 2) / view[0]
    found = []
    for encode in table.encodes:
        k = np.zeros((n, 3))
        k[:, 0] = along
        k[:, 1 : 1 + len(encode)] = encode / np.array(view[1 : 1 + len(encode)])
        found.append(k)
    return found


def _continuous(shot: np.ndarray) -> np.ndarray:
    """The samples without jumps: pi is -pi in a pool, and not for gradients."""
    whole = np.unwrap(shot, axis=0)
    return np.asarray(whole - 2 * np.pi * np.round(whole.mean(axis=0) / (2 * np.pi)))


def _own_view(
    own: Any, moments: Moments, lobes: Sequence[Any], table: _Table, design: Any,
    field_of_view: Sequence[float] | None, geometry: Geometry | None, name: str,
) -> list[float]:  # fmt: skip
    """Field of view along x, y and z of a sequence, where the plan or the sequence says it."""
    stated = np.array(own.definitions.get("FOV", [np.nan] * 3), float)
    planned = np.full(3, np.nan)
    if geometry is not None or field_of_view is not None:
        read = int(np.ptp(moments.echoes[0].k, axis=0).argmax())
        axes = [read, *(one.axis for one in lobes)]
        axes += [k for k in range(3) if k not in axes]
        planned[axes] = _view(design, field_of_view, geometry)
    for one in lobes:
        a, b, axis = stated[one.axis], planned[one.axis], AXES[one.axis]
        if np.isfinite(a) and np.isfinite(b) and abs(a - b) > 1e-3 * b:
            raise ValueError(
                f"the field of view along {axis} is {1e3 * a:g} mm in {name} and {1e3 * b:g} mm in the plan: "
                "encodes of one are not those of the other."
            )
    found = np.where(np.isfinite(planned), planned, stated)
    for one in lobes:
        if not np.isfinite(found[one.axis]):
            raise ValueError(_without_view(name, one.axis))
    return [float(side) for side in found]


def _verify(made: Any, table: _Table, lobes: Sequence[Any], view: Sequence[float]) -> None:
    """Refuse what does not come out as planned."""
    echoes = Moments(made).echoes
    found = np.array([[echo.middle[one.axis] * view[one.axis] for one in lobes] for echo in echoes])
    wanted = {tuple(row) for row in table.encodes.tolist()}
    off = np.abs(found - np.round(found)).max(axis=1)
    strange = [k for k, row in enumerate(np.round(found).astype(int).tolist()) if tuple(row) not in wanted]
    if off.max() > 1e-3 or strange or len(echoes) % len(table.encodes):
        number = (strange or [int(off.argmax())])[0] + 1
        raise ValueError(f"the lobes of read-out {number} do more than encode: it would not lie where the plan has it.")


def _define(made: Any, table: _Table, view: Sequence[float] | None) -> None:
    if view is not None:
        made.set_definition("FOV", [float(side) for side in view])
    made.set_definition(NAME, "lines" if len(table.axes) == 2 and table.shots is None else
                        "shots" if table.shots is not None else "encodes")  # fmt: skip
    made.set_definition(SHAPE, [int(side) for side in table.shape])
    if table.shots is None:
        made.set_definition(AXIS, int(table.axes[1] if len(table.axes) == 2 else table.axes[0]))
    if "Name" not in made.definitions:
        made.set_definition("Name", "adaptive_plan")


def _refuse_timing(made: Any) -> None:
    passed, errors = made.check_timing()
    if not passed:
        raise ValueError(f"the timing cannot be kept: {errors[0]}.")


def _written(made: Any, path: Path) -> Path:
    partial = path.with_name(f".{path.stem}.part.seq")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made.write(str(partial), create_signature=True)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    return path
