"""Another table of phase encodes in a vendor-neutral sequence that somebody has: the same blocks, other lobes.

Lobes are found, not asked for: of each read-out those before it on an axis that differ from read-out to read-out, and
those behind it that wind back what the first did. Everything else stays, block by block; what a sequence has beyond the
table goes.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from adaptive.scanner.pulseq.lobes import Lobes, in_order, lobes_of
from adaptive.scanner.pulseq.moments import AXES, NEAR, Moments, gradient_of
from adaptive.scanner.pulseq.trains import Train, own_order, places, trains_of

__all__ = ["exchanged"]

LIBRARIES = (
    "grad_library", "label_set_library", "extensions_library", "definitions", "extension_string_idx",
    "extension_numeric_idx",
)  # fmt: skip


def exchanged(
    sequence: Any, encodes: np.ndarray, view: Sequence[float], indices: np.ndarray,
    limits: tuple[float, float] | None = None, read: Moments | None = None,
) -> Any:  # fmt: skip
    """The sequence with other phase encodes.

    Parameters
    ----------
    sequence : pypulseq.Sequence
    encodes : (m, 1) or (m, 2) array of int
        In the order of the scan, 0 the centre.
    view : sequence of three float
        Field of view along x, y and z, m; NaN where nothing is encoded.
    indices : array as of ``encodes``
        What labels LIN and PAR say.
    limits : (gradient, slew rate), optional
        Hz/m and Hz/m/s; default: what the sequence uses itself.
    read : Moments, optional
        Of the sequence.

    Raises
    ------
    ValueError
        If the sequence has no such lobes, too few echoes, or gradients would be beyond the limits.
    """
    moments = Moments(sequence) if read is None else read
    lobes = in_order(lobes_of(moments), moments, encodes.shape[1])
    trains = trains_of(moments)
    by_slice: dict[tuple[float, ...], list[Train]] = {}
    for train in trains:
        by_slice.setdefault(train.slice, []).append(train)
    view = [_known(view[one.axis], AXES[one.axis]) for one in lobes]
    own = np.array([[echo.middle[one.axis] * f for one, f in zip(lobes, view, strict=True)] for echo in moments.echoes])
    gets: dict[int, int] = {}  # of a read-out: which encode
    used: set[Train] = set()
    for one_slice in by_slice.values():
        gets |= _assigned(encodes, own, one_slice, used)
    limits = _own_limits(moments) if limits is None else limits
    new: dict[tuple[int, str], Any] = {}
    for number, encode in gets.items():
        for one, f, step in zip(lobes, view, encodes[encode], strict=True):
            area = step / f
            _put(new, moments, one, one.before[number], one.template, area - one.rest, limits, int(step))
            behind = one.after[number]
            if behind is not None:
                _put(new, moments, one, behind, one.behind, one.end - area, limits, int(step))
    named = {moments.echoes[number].block: indices[encode] for number, encode in gets.items()}
    made = copy.copy(sequence)  # with a copy of its library of events, to which blocks go on pointing
    made.block_events, made.block_durations, made.block_cache, made.next_free_block_ID = {}, {}, {}, 1
    for name in (
        "grad_library",
        "label_set_library",
        "extensions_library",
        "definitions",
        "extension_string_idx",
        "extension_numeric_idx",
    ):
        setattr(made, name, copy.deepcopy(getattr(sequence, name)))
    rows = list(sequence.block_events.values())
    kept, counted = set(_kept(moments, trains, used)), []
    for j, block in enumerate(moments.blocks):
        counted += [one for one in (getattr(block, "label", None) or {}).values() if one.label not in ("LIN", "PAR")]
        if j in kept:
            _add(made, block, rows[j], j, new, named.get(j), counted)
            counted = []  # of blocks that went: the next counts for them
    return made


def _known(side: float, axis: str) -> float:
    if not np.isfinite(side) or side <= 0:
        raise ValueError(f"the field of view along {axis} is not known: the sequence does not define FOV, so state it.")
    return float(side)


def _assigned(encodes: np.ndarray, own: np.ndarray, trains: list[Train], used: set[Train]) -> dict[int, int]:
    """The encode of each read-out of a slice that gets one; ``used`` collects the trains that are kept."""
    lengths = {len(train.echoes) for train in trains}
    n = sum(len(train.echoes) for train in trains)
    if len(encodes) > n:
        raise ValueError(f"the plan has {len(encodes)} phase encodes, and the sequence {n} read-outs of a slice.")
    if lengths == {1}:
        used.update(trains[: len(encodes)])
        return {trains[k].echoes[0]: k for k in range(len(encodes))}
    if len(lengths) > 1:
        raise ValueError(
            f"the sequence has trains of {min(lengths)} to {max(lengths)} read-outs: only trains of one length can be "
            "given another table."
        )
    length = lengths.pop()
    at = places(encodes.astype(float), len(trains), length, own_order(own, trains))
    used.update(trains[train] for train in np.unique(at[:, 0]))
    return {trains[train].echoes[place]: k for k, (train, place) in enumerate(at.tolist())}


def _own_limits(moments: Moments) -> tuple[float, float]:
    """The largest gradient and slew rate that a sequence has on any axis."""
    largest, steepest = 0.0, 0.0
    for block in moments.blocks:
        for axis in AXES:
            gradient = gradient_of(block, axis)
            if gradient is not None and gradient.type == "trap" and gradient.amplitude:
                amplitude = abs(gradient.amplitude)
                largest = max(largest, amplitude)
                steepest = max(steepest, amplitude / min(gradient.rise_time, gradient.fall_time))
            elif gradient is not None and gradient.type == "grad":
                largest = max(largest, float(np.abs(gradient.waveform).max()))
    return largest * (1 + 1e-6), steepest * (1 + 1e-6)


def _put(
    new: dict[tuple[int, str], Any], moments: Moments, lobes: Lobes, block: int, template: Any, area: float,
    limits: tuple[float, float], step: int,
) -> None:  # fmt: skip
    """Scale the largest lobe for a block, within the limits: it has the shape that all of them can have."""
    axis = AXES[lobes.axis]
    factor = area / moments.area(template)
    gradient = copy.copy(template)
    if gradient.type == "trap":
        gradient.amplitude = template.amplitude * factor
        gradient.area, gradient.flat_area = area, template.flat_area * factor
        largest, slew = abs(gradient.amplitude), abs(gradient.amplitude) / min(gradient.rise_time, gradient.fall_time)
    else:
        if template.first or template.last:
            raise ValueError(f"the lobes on {axis} are parts of longer gradients, and cannot be scaled alone.")
        gradient.waveform, gradient.area = template.waveform * factor, area
        largest = float(np.abs(gradient.waveform).max())
        slew = float(np.abs(np.diff(gradient.waveform) / np.diff(gradient.tt)).max())
    for value, limit, unit, what in (
        (largest, limits[0], 1e3 / 42.576e6, "mT/m"),
        (slew, limits[1], 1 / 42.576e6, "T/m/s"),
    ):
        if value > limit * (1 + 1e-9):
            raise ValueError(
                f"phase encode {step} on {axis} needs {value * unit:.1f} {what} within the sequence's lobe of "
                f"{1e3 * (moments.ends(template)[1] - moments.ends(template)[0]):.2f} ms, and the limit is "
                f"{limit * unit:.1f}."
            )
    new[block, axis] = gradient


def _kept(moments: Moments, trains: list[Train], used: set[Train]) -> list[int]:
    """Blocks that stay: all of the used trains, and what stands before the first."""
    last = {train: moments.echoes[train.echoes[-1]].block for train in trains}
    if any(second.begin <= last[first] for first, second in itertools.pairwise(trains)):
        return list(range(len(moments.blocks)))  # trains that hang together: the others stay, unread
    kept = list(range(trains[0].begin))
    for train in trains:
        if train in used:
            kept.extend(range(train.begin, train.end))
    return kept


def _add(
    made: Any, block: Any, row: Any, j: int, new: dict[tuple[int, str], Any], named: Any, counted: list[Any]
) -> None:
    """Add a block with its new lobes and labels; a read-out that gets no encode is not read."""
    import pypulseq as pp

    events: list[Any] = list(counted)
    for name, value in vars(block).items():
        if value is None or name in ("block_duration", "label"):
            continue
        if isinstance(value, dict):
            events.extend(value.values())
        elif name == "adc":
            if named is not None:
                events.append(_registered(value, row[5]))
        elif name == "rf":
            events.append(_registered(value, row[1]))
        elif name[0] == "g" and name[1:] in AXES and (j, name[1:]) in new:
            events.append(new[j, name[1:]])
        elif name[0] == "g" and name[1:] in AXES:
            events.append(_registered(value, row[2 + AXES.index(name[1:])]))
        else:
            events.append(value)
    lacking = [axis for axis in AXES if gradient_of(block, axis) is None]
    events.extend(new[j, axis] for axis in lacking if (j, axis) in new)
    if named is not None:
        for label, value in zip(("LIN", "PAR"), named, strict=False):
            events.append(pp.make_label(label, "SET", int(value)))
    events.append(pp.make_delay(float(block.block_duration)))
    made.add_block(*events)
    if abs(made.block_durations[len(made.block_durations)] - block.block_duration) > NEAR:
        raise ValueError(
            "the lobes before the read-outs do not last equally long: a longer one would shift what comes after it."
        )


def _registered(event: Any, number: int) -> Any:
    """The event as one that the library has, by its number."""
    event = copy.copy(event)
    event.id = int(number)
    return event
