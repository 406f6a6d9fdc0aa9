"""A spoiled gradient echo that reads out any table of places: lines, phase encodes, spokes, spirals and other curves.

    pulse, slice or slab | to where the read-out begins | wait for TE | read-out | back, spoilers, wait for TR

Sample j of a straight read-out lies at k_0 + j d exactly, half a dwell time into its interval. The phase of the pulse
goes on by 117 degrees more each time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaptive.scanner.pulseq.curves import timed
from adaptive.scanner.pulseq.moments import AXES

__all__ = ["Timing", "spoiled"]

STRAIGHT = 1e-6  # of the largest place: samples that lie so near to equal steps are a straight read-out
PULSE = 2e-3  # seconds
SPOILED = 4.0  # cycles across a slice, or across a voxel of the read-out
DUMMIES = 16  # excitations before the first read-out


@dataclass(frozen=True)
class Timing:
    """Times of a sequence in seconds, and its flip angle in radians; None: as short as can be."""

    tr: float | None = None
    te: float | None = None
    flip: float = np.deg2rad(10.0)
    dummies: int = DUMMIES


@dataclass(frozen=True)
class _Readout:
    """Read-out of a shot: where it begins and ends, its gradients and its samples."""

    begin: np.ndarray
    end: np.ndarray
    gradients: list[Any]
    adc: Any
    centre: float  # seconds from its begin until k is nearest to 0


def spoiled(
    shots: Sequence[np.ndarray], labels: np.ndarray, view: Sequence[float], volume: bool, limits: Any, dwell: float,
    timing: Timing,
) -> tuple[Any, Timing]:  # fmt: skip
    """Return the sequence, and its times.

    Parameters
    ----------
    shots : sequence of (d, 3) arrays
        Where samples lie, 1/m along x, y and z.
    labels : (m, q) array of int
        What LIN and PAR say.
    view : sequence of three float
        Field of view, m; the last is the thickness of the slice or slab.
    volume : bool
        Whether z is encoded, too.
    limits : pypulseq.Opts
    dwell : float
        Seconds between samples.
    timing : Timing

    Raises
    ------
    ValueError
        With the smallest echo or repetition time, where a shorter one is asked for, or what the gradients cannot do.
    """
    import pypulseq as pp

    raster = limits.grad_raster_time
    try:
        rf, gz, refocus = pp.make_sinc_pulse(
            flip_angle=timing.flip, system=limits, duration=PULSE, slice_thickness=view[2], apodization=0.5,
            time_bw_product=4, return_gz=True, delay=limits.rf_dead_time, use="excitation",
        )  # fmt: skip
    except (AssertionError, ValueError) as reason:
        raise ValueError(f"a slice of {1e3 * view[2]:g} mm is beyond the gradients ({reason}).") from None
    reads = _readouts(shots, view, limits, dwell)
    before = np.array([one.begin for one in reads]) + [0.0, 0.0, refocus.area]
    ends = np.array([one.end for one in reads])
    target = np.where(np.ptp(ends, axis=0) < 1e-6 * max(np.abs(ends).max(), 1.0), ends[0], 0.0)
    if volume:
        target[0] += SPOILED * len(shots[0]) / view[0] / 2
        target[2] = 0.0
    else:
        target[2] += SPOILED / view[2]
    behind = target - ends
    to, back = (_shortest(areas, limits, what) for areas, what in ((before, "before"), (behind, "behind")))
    read = max(pp.calc_duration(*one.gradients, one.adc) for one in reads)
    pulse = pp.calc_duration(rf, gz)
    half = pulse - rf.delay - pp.calc_rf_center(rf)[0]
    late = max(one.centre for one in reads)
    te, wait = _fitted(timing.te, half + to + late, raster, "te")
    tr, rest = _fitted(timing.tr, pulse + to + wait + read + back, raster, "tr")
    made, phase, step = pp.Sequence(limits), 0.0, 0.0
    for k in range(-timing.dummies, len(reads)):
        one, index = reads[max(k, 0)], max(k, 0)
        rf.phase_offset = one.adc.phase_offset = np.deg2rad(phase)
        step = (step + 117.0) % 360.0
        phase = (phase + step) % 360.0
        made.add_block(rf, gz)
        named = [
            pp.make_label(name, "SET", int(value)) for name, value in zip(("LIN", "PAR"), labels[index], strict=False)
        ]
        made.add_block(*_lobes(before[index], to, limits), *(named if k >= 0 else []), pp.make_delay(to))
        if wait > 0:
            made.add_block(pp.make_delay(wait))
        made.add_block(*one.gradients, *([one.adc] if k >= 0 else []), pp.make_delay(read))
        made.add_block(*_lobes(behind[index], back, limits), pp.make_delay(back + rest))
    return made, Timing(tr, te, timing.flip, timing.dummies)


def _readouts(shots: Sequence[np.ndarray], view: Sequence[float], limits: Any, dwell: float) -> list[_Readout]:
    straight = [_steps(shot) for shot in shots]
    if all(one is not None for one in straight):
        return _lines(shots, [one for one in straight if one is not None], limits, dwell)
    return _curves(shots, view, limits, dwell)


def _steps(shot: np.ndarray) -> np.ndarray | None:
    """The step (3,) from sample to sample of a straight read-out, None of a curve."""
    if len(shot) < 2:
        return None
    step = (shot[-1] - shot[0]) / (len(shot) - 1)
    fit = shot[0] + np.arange(len(shot))[:, None] * step
    return step if np.abs(shot - fit).max() <= STRAIGHT * np.abs(shot).max() else None


def _lines(shots: Sequence[np.ndarray], steps: list[np.ndarray], limits: Any, dwell: float) -> list[_Readout]:
    import pypulseq as pp

    raster = limits.grad_raster_time
    largest = max(float(np.linalg.norm(step)) for step in steps) / dwell
    if largest > limits.max_grad * (1 + 1e-9):
        needed = max(float(np.linalg.norm(step)) for step in steps) / limits.max_grad
        raise ValueError(
            f"reading out at {1e6 * dwell:g} us a sample needs {largest / limits.gamma * 1e3:.1f} mT/m, and the limit "
            f"is {limits.max_grad / limits.gamma * 1e3:.1f}: a dwell time of {1e6 * needed:.1f} us is possible."
        )
    n = max(len(shot) for shot in shots)
    rise = max(_up(largest / limits.max_slew, raster), _up(limits.adc_dead_time, raster), raster)
    flat = _up(n * dwell + limits.adc_dead_time, raster)
    found = []
    for shot, step in zip(shots, steps, strict=True):
        gradient = step / dwell
        begin = shot[0] - gradient * (0.5 * rise + 0.5 * dwell)
        gradients = [
            pp.make_trapezoid(axis, amplitude=float(g), rise_time=rise, flat_time=flat, fall_time=rise, system=limits)
            for axis, g in zip(AXES, gradient, strict=True)
            if g != 0.0
        ]
        adc = pp.make_adc(len(shot), dwell=dwell, delay=rise, system=limits)
        nearest = rise + (int(np.linalg.norm(shot, axis=1).argmin() if len(shot) else 0) + 0.5) * dwell
        found.append(_Readout(begin, begin + gradient * (rise + flat), gradients, adc, nearest))
    middles = {round(one.centre, 9) for one in found}
    if len(middles) > 1:  # encodes away from the centre are nearest to it where the others are, too
        middle = found[int(np.argmin([np.linalg.norm(shot, axis=1).min() for shot in shots]))].centre
        found = [_Readout(one.begin, one.end, one.gradients, one.adc, middle) for one in found]
    return found


def _curves(shots: Sequence[np.ndarray], view: Sequence[float], limits: Any, dwell: float) -> list[_Readout]:
    import pypulseq as pp

    raster = limits.grad_raster_time
    speed = 1.0 / (max(view[:2]) * dwell)
    delay = _up(limits.adc_dead_time, raster)
    most = (limits.max_grad, limits.max_slew, speed, raster)
    n = int(np.ceil(max(timed(shot, *most).duration for shot in shots) / dwell + 0.5))
    every = [timed(shot, *most, (n - 0.5) * dwell) for shot in shots]  # the last sample is at the end of the curve
    long = max(len(one.waveform) for one in every)
    found = []
    for shot, one in zip(shots, every, strict=True):
        gradients = [
            pp.make_arbitrary_grad(
                axis, np.pad(wave, (0, long - len(wave))), first=0.0, last=0.0, delay=delay, system=limits
            )
            for axis, wave in zip(AXES, one.waveform.T, strict=True)
            if np.abs(wave).max() > 1e-9
        ]
        adc = pp.make_adc(n, dwell=dwell, delay=delay, system=limits)
        moved = _moment(one.waveform, raster)
        at = delay + one.duration * float(np.linalg.norm(shot, axis=1).argmin()) / max(len(shot) - 1, 1)
        found.append(_Readout(shot[0], shot[0] + moved, gradients, adc, at))
    return found


def _moment(waveform: np.ndarray, raster: float) -> np.ndarray:
    """Moment (axes,) of values in the middle of intervals, linear between and zero at both ends."""
    corners = np.concatenate([np.zeros((1, waveform.shape[1])), waveform, np.zeros((1, waveform.shape[1]))])
    lengths = np.r_[0.5, np.ones(len(waveform) - 1), 0.5] * raster
    return np.asarray(lengths @ (0.5 * (corners[1:] + corners[:-1])))


def _up(seconds: float, raster: float) -> float:
    return float(np.ceil(seconds / raster - 1e-6) * raster)


def _shortest(areas: np.ndarray, limits: Any, where: str) -> float:
    """Seconds that lobes of all these areas (m, 3) take."""
    import pypulseq as pp

    longest = 0.0
    for axis, largest in zip(AXES, np.abs(areas).max(axis=0), strict=True):
        if largest > 0:
            longest = max(longest, pp.calc_duration(pp.make_trapezoid(axis, area=float(largest), system=limits)))
    return _up(longest, limits.grad_raster_time)


def _lobes(areas: np.ndarray, duration: float, limits: Any) -> list[Any]:
    import pypulseq as pp

    return [
        pp.make_trapezoid(axis, area=float(area), duration=duration, system=limits)
        for axis, area in zip(AXES, areas, strict=True)
        if abs(area) > 1e-9
    ]


def _fitted(wanted: float | None, least: float, raster: float, name: str) -> tuple[float, float]:
    """The time, and what has to be waited for it."""
    if wanted is None:
        whole = _up(least, raster)
        return (least, 0.0) if name == "te" else (whole, whole - least)
    if wanted < least - 1e-9:
        raise ValueError(
            f"{name} must be at least {1e3 * _up(least, raster):.2f} ms for this field of view, matrix and these "
            f"gradients, got {1e3 * wanted:g}."
        )
    wait = round((wanted - least) / raster) * raster
    return least + wait, wait
