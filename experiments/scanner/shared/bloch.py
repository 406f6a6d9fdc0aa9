"""A Bloch simulator for Pulseq sequences: spins of a slice, pulses in small steps, signals at all samples.

    between pulses   m_xy -> m_xy exp(-2 pi i k.r - t/T2),      m_z -> 1 + (m_z - 1) exp(-t/T1),      k the moment
    in a pulse       a rotation for each place along z, of steps of half a precession, B1, half a precession

One spin in the middle of each voxel, and many across the slice, which spoilers dephase. No diffusion, no inhomogeneity.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.scanner.pulseq.moments import Moments, gradient_of

__all__ = ["simulated"]

STEP = 10  # samples of a pulse that are taken as one
ACROSS = 288  # spins across twice the slice, at distances without a period, which spoilers would bring back


def simulated(sequence: Any, density: np.ndarray, t1: np.ndarray, t2: np.ndarray, view: Any) -> list[np.ndarray]:
    """Signals (samples,) of all read-outs.

    Parameters
    ----------
    sequence : pypulseq.Sequence
    density, t1, t2 : (n_x, n_y) arrays, seconds
        Voxel (n_x // 2, n_y // 2) lies in the middle.
    view : (x, y, thickness) in m
    """
    x, y = ((np.arange(n) - n // 2) / n * side for n, side in zip(density.shape, view, strict=False))
    z = (np.arange(ACROSS) * (np.sqrt(5.0) - 1) / 2 % 1.0) * 2 * view[2] - view[2]
    seen = np.argwhere(density > 0)
    r = np.column_stack([x[seen[:, 0]], y[seen[:, 1]]])
    rho, t1, t2 = (one[density > 0] for one in (density, t1, t2))
    mz, mxy = np.ones((ACROSS, len(r))), np.zeros((ACROSS, len(r)), complex)
    moments, turns, signals = Moments(sequence), {}, []

    def free(block: Any, begin: float, end: float) -> None:
        nonlocal mz, mxy
        first, last = moments.moment(block, np.array([begin, end]))
        k = last - first
        mxy = mxy * np.exp(-2j * np.pi * (r @ k[:2]) - (end - begin) / t2) * np.exp(-2j * np.pi * z * k[2])[:, None]
        mz = 1 + (mz - 1) * np.exp(-(end - begin) / t1)

    for block in moments.blocks:
        end = float(block.block_duration)
        if block.rf is not None:
            rf, length = block.rf, float(block.rf.shape_dur)
            free(block, 0.0, rf.delay)
            slope = 0.0 if block.gz is None else float(moments.area(block.gz))
            key = (rf.delay, rf.freq_offset, abs(rf.signal).max(), len(rf.signal), slope)
            if key not in turns:
                turns[key] = _rotations(block, moments, z)
            phase = np.exp(1j * rf.phase_offset)
            rotated = np.einsum("zab,bzr->azr", turns[key], np.stack([(mxy / phase).real, (mxy / phase).imag, mz]))
            mxy, mz = (rotated[0] + 1j * rotated[1]) * phase, rotated[2]
            free(block, rf.delay + length, end)
            continue
        if block.adc is not None:
            adc = block.adc
            times = adc.delay + (np.arange(adc.num_samples) + 0.5) * adc.dwell
            k = moments.moment(block, times)
            across = np.exp(-2j * np.pi * np.outer(k[:, 2], z)) @ mxy  # (samples, spins)
            waves = np.exp(-2j * np.pi * (k[:, :2] @ r.T) - times[:, None] / t2)
            signals.append(np.exp(-1j * adc.phase_offset) * ((across * waves) @ rho) / ACROSS)
        free(block, 0.0, end)
    return signals


def _rotations(block: Any, moments: Moments, z: np.ndarray) -> np.ndarray:
    """(z, 3, 3) what a pulse of phase 0 does, with its gradient across the slice."""
    if gradient_of(block, "x") is not None or gradient_of(block, "y") is not None:
        raise ValueError("pulses with gradients in the plane are not simulated.")
    rf = block.rf
    n = len(rf.signal) // STEP
    edges = rf.delay + np.linspace(0.0, rf.shape_dur, n + 1)
    waves = np.array([part.mean() for part in np.array_split(rf.signal, n)])
    k = np.diff(moments.moment(block, edges)[:, 2])
    step = float(rf.shape_dur) / n
    found = np.tile(np.eye(3), (len(z), 1, 1))
    for b1, dk in zip(waves, k, strict=True):
        half = -np.pi * z * dk + np.pi * rf.freq_offset * step
        cos, sin, zero, one = np.cos(half), np.sin(half), np.zeros_like(z), np.ones_like(z)
        turn = np.stack([np.stack([cos, -sin, zero]), np.stack([sin, cos, zero]), np.stack([zero, zero, one])])
        turn = turn.transpose(2, 0, 1)
        found = turn @ _about(np.angle(b1), 2 * np.pi * abs(b1) * step) @ turn @ found
    return found


def _about(phase: float, angle: float) -> np.ndarray:
    """The rotation by an angle about an axis in the plane."""
    c, s, axis = np.cos(angle), np.sin(angle), np.array([np.cos(phase), np.sin(phase), 0.0])
    cross = np.array([[0, 0, axis[1]], [0, 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.asarray(c * np.eye(3) + s * cross + (1 - c) * np.outer(axis, axis))
