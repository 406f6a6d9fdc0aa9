"""Gradient moments of a sequence, block by block: where in k-space its read-outs lie, and by which lobes.

k  ->  k + integral of the gradients,      0 at an excitation,      -k at a refocusing pulse          (1 per metre)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["AXES", "Echo", "Moments", "gradient_of"]

AXES = "xyz"
EXCITES = ("excitation", "undefined", "u", "")
PREPARES = ("inversion", "preparation", "saturation", "other")
NEAR = 1e-9  # seconds: times that are the same


@dataclass(frozen=True)
class Echo:
    """A read-out.

    Attributes
    ----------
    block : int
        Position of its block.
    pulse : int
        Position of the block of the excitation before it.
    k : (samples, 3) array
        Where it samples, 1/m along x, y and z.
    labels : dict of str to int
        Counters that stand when it is read.
    """

    block: int
    pulse: int
    k: np.ndarray
    labels: dict[str, int]

    @property
    def middle(self) -> np.ndarray:
        """Place (3,) of sample n // 2."""
        return self.k[len(self.k) // 2]


def gradient_of(block: Any, axis: str) -> Any:
    """The gradient of a block along "x", "y" or "z", None where there is none."""
    return getattr(block, f"g{axis}", None)


class Moments:
    """Blocks of a sequence, its pulses and its read-outs.

    Parameters
    ----------
    sequence : pypulseq.Sequence

    Attributes
    ----------
    blocks : list of blocks
    pulses : list of int
        Positions of those with a pulse.
    echoes : list of Echo
    """

    def __init__(self, sequence: Any) -> None:
        self.blocks = [sequence.get_block(number) for number in sequence.block_events]
        self.raster = float(sequence.grad_raster_time)
        self.pulses = [j for j, block in enumerate(self.blocks) if block.rf is not None]
        self._points: dict[tuple[float, ...], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        self.echoes = self._read_out()

    def use(self, j: int) -> str:
        """Purpose of the pulse of a block, as pypulseq calls it."""
        return str(getattr(self.blocks[j].rf, "use", "") or "")

    def ends(self, gradient: Any) -> tuple[float, float]:
        """Begin and end of a gradient in its block, seconds."""
        t, _, _ = self._corners(gradient)
        return float(t[0]), float(t[-1])

    def area(self, gradient: Any) -> float:
        """1 per metre; 0 where there is none."""
        return 0.0 if gradient is None else float(self._corners(gradient)[2][-1])

    def starts_at_rest(self, j: int) -> bool:
        """True where no gradient of a block goes on from the block before."""
        for axis in AXES:
            gradient = gradient_of(self.blocks[j], axis)
            if gradient is not None and gradient.type == "grad" and abs(gradient.first) > 0 and gradient.delay < NEAR:
                return False
        return True

    def _corners(self, gradient: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times, amplitudes and moments at the corners of a gradient."""
        if gradient.type == "trap":
            shape = (gradient.amplitude, gradient.rise_time, gradient.flat_time, gradient.fall_time, gradient.delay)
            key = tuple(float(one) for one in shape)
        else:
            key = (float(gradient.delay), float(len(gradient.tt)), *gradient.waveform.tolist(), *gradient.tt.tolist())
        if key not in self._points:
            if gradient.type == "trap":
                t = gradient.delay + np.cumsum([0.0, gradient.rise_time, gradient.flat_time, gradient.fall_time])
                g = np.array([0.0, gradient.amplitude, gradient.amplitude, 0.0])
            else:
                t, g = np.asarray(gradient.tt, float), np.asarray(gradient.waveform, float)
                if t[0] > NEAR:  # sampled between the raster's points
                    t = np.r_[0.0, t, gradient.shape_dur]
                    g = np.r_[gradient.first, g, gradient.last]
                t = gradient.delay + t
            moments = np.r_[0.0, np.cumsum(0.5 * (g[1:] + g[:-1]) * np.diff(t))]
            self._points[key] = t, g, moments
        return self._points[key]

    def moment(self, block: Any, times: np.ndarray) -> np.ndarray:
        """(n, 3) moments of a block's gradients from its begin until ``times``."""
        found = np.zeros((len(times), 3))
        for k, axis in enumerate(AXES):
            gradient = gradient_of(block, axis)
            if gradient is None:
                continue
            t, g, moments = self._corners(gradient)
            at = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
            into = np.clip(times, t[0], t[-1]) - t[at]
            slope = (g[at + 1] - g[at]) / np.maximum(t[at + 1] - t[at], 1e-15)
            found[:, k] = moments[at] + into * (g[at] + 0.5 * slope * into)
        return found

    def _read_out(self) -> list[Echo]:
        k, pulse, echoes = np.zeros(3), -1, []
        labels: dict[str, int] = {}
        for j, block in enumerate(self.blocks):
            for label in (getattr(block, "label", None) or {}).values():
                before = labels.get(label.label, 0) if label.type == "labelinc" else 0
                labels[label.label] = before + int(label.value)
            whole = self.moment(block, np.array([np.inf]))[0]
            if block.rf is not None and self.use(j) not in PREPARES:
                from pypulseq import calc_rf_center

                at = block.rf.delay + calc_rf_center(block.rf)[0]
                until = self.moment(block, np.array([at]))[0]
                if self.use(j) == "refocusing":
                    k = -(k + until) + whole - until
                else:
                    k, pulse = whole - until, j
                continue
            if block.adc is not None:
                times = block.adc.delay + (np.arange(block.adc.num_samples) + 0.5) * block.adc.dwell
                echoes.append(Echo(j, pulse, k + self.moment(block, times), dict(labels)))
            k = k + whole
        return echoes
