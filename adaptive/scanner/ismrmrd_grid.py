"""Acquisitions on the Cartesian grid, where their counters say; what was measured in several averages as their mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.scanner.ismrmrd_file import CALIBRATION, REVERSED, Content

__all__ = ["Grid", "encodes_of"]

_REPEATS = 64  # read-outs whose repeats are kept: enough for the noise


class Grid:
    """Read-outs on the Cartesian grid; what was measured in several averages as their mean."""

    def __init__(self, content: Content, imaging: np.ndarray, coils: int) -> None:
        encoding = content.encoding
        self.kspace = np.zeros((coils, *encoding.shape), np.complex64)
        self.mask = np.zeros(encoding.shape, bool)
        encodes, averages = encodes_of(content, imaging), content.counter("average")[imaging]
        calibration = content.flagged(CALIBRATION)[imaging]
        # read-outs that only calibrate stand in where nothing else was measured
        known = {tuple(one) for one in encodes[~calibration].tolist()}
        counts: dict[tuple[int, ...], list[int]] = {}
        where: dict[int, tuple[int, ...]] = {}  # acquisition -> its phase encode
        for at, one, average, only in zip(imaging.tolist(), encodes.tolist(), averages, calibration, strict=True):
            key = tuple(one)
            if only and key in known:
                continue
            where[at] = key
            counts.setdefault(key, []).append(average)
            if counts[key].count(average) > 1:
                what = key[0] if len(key) == 1 else key
                raise ValueError(
                    f"{content.name}: phase encode {what} is measured twice (the second time in acquisition {at}); "
                    "repeated samples need average counters of their own."
                )
        self.order = np.array(list(counts))
        self._several: dict[tuple[int, ...], list[np.ndarray]] = {}
        rows: Any = np.moveaxis(self.kspace, 1 + encoding.readout, -1)  # (coils, phase encodes, read-out)
        seen: Any = np.moveaxis(self.mask, encoding.readout, -1)
        for at, values in content.samples(np.array(list(where))) if coils else ():
            key = where[at]
            start, stop, kept = _along(content, at, values, rows.shape[-1])
            rows[(slice(None), *key, slice(start, stop))] += kept
            seen[(*key, slice(start, stop))] = True
            if len(counts[key]) > 1 and (key in self._several or len(self._several) < _REPEATS):
                self._several.setdefault(key, []).append(kept)
        for key, times in counts.items():
            if len(times) > 1:
                rows[(slice(None), *key)] /= len(times)
            if not coils:
                seen[key] = True

    def repeats(self) -> np.ndarray | None:
        """What was measured several times, (repeats, coils, samples)."""
        if not self._several:
            return None
        fewest = min(len(one) for one in self._several.values())
        return np.concatenate([np.stack(one[:fewest]) for one in self._several.values()], axis=2)


def _along(content: Content, at: int, values: np.ndarray, side: int) -> tuple[int, int, np.ndarray]:
    """Where along the read-out samples belong: their centre is DC; what is to be discarded is left out."""
    head = content.heads[at]
    n, before, after = values.shape[1], int(head["discard_pre"]), int(head["discard_post"])
    centre = int(head["center_sample"]) or n // 2  # 0: not stated
    start = side // 2 - (n - 1 - centre if content.flagged(REVERSED)[at] else centre)
    if start + before < 0 or start + n - after > side or before + after > n:
        raise ValueError(
            f"{content.name}: acquisition {at} has {n} samples around sample {centre}, and a read-out of {side} "
            "has no place for them."
        )
    return start + before, start + n - after, values[:, before : n - after]


def encodes_of(content: Content, where: np.ndarray) -> np.ndarray:
    """Indices (m, 1 or 2) of the phase encodes of acquisitions, of images whose DC is at n // 2."""
    encoding = content.encoding
    found = []
    steps = ("kspace_encode_step_1", "kspace_encode_step_2")
    for axis, name, centre in zip("yz", steps, encoding.centres, strict=True):
        if axis not in encoding.axes:
            continue
        side = encoding.matrix[axis]
        lines = content.counter(name)[where] + side // 2 - centre
        outside = np.flatnonzero((lines < 0) | (lines >= side))
        if len(outside):
            at = where[outside[0]]
            raise ValueError(
                f"{content.name}: acquisition {at} has {name} {content.counter(name)[at]}, outside of a matrix of "
                f"{side} whose centre is {centre}."
            )
        found.append(lines)
    return np.stack(found, axis=1)
