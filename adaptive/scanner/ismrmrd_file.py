"""An open file of ISMRMRD: headers of its acquisitions at once, samples and trajectories when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from adaptive.scanner.hdf5 import Hdf5
from adaptive.scanner.ismrmrd_header import EXACT, parsed
from adaptive.scanner.sentences import damaged

__all__ = ["CALIBRATION", "NOISE", "OTHERS", "REVERSED", "Content", "is_ismrmrd"]

_FIELDS = {
    "flags", "idx", "scan_counter", "number_of_samples", "active_channels", "discard_pre", "discard_post",
    "center_sample", "encoding_space_ref", "trajectory_dimensions", "sample_time_us", "position", "read_dir",
    "phase_dir", "slice_dir",
}  # fmt: skip
_TOGETHER = 64  # read-outs that are read at a time
NOISE, CALIBRATION, REVERSED = 19, 20, 22
OTHERS = (23, 24, 26, 27, 28, 29, 30, 31)  # navigators, phase corrections, feedback, dummies, ...


class Content:
    """An open file: headers of its acquisitions, and samples when they are asked for."""

    def __init__(self, path: Path, file: Hdf5) -> None:
        self.name = path.name
        group = _acquisitions(file)
        if group is None:
            raise ValueError(f"{path.name} holds no acquisitions of ISMRMRD.")
        stored, xml = group.data("data"), group.data("xml")
        assert stored is not None and xml is not None  # else it would not be this group
        self.header, self.encoding = parsed(xml.text(), path.name)
        self._stored, self._exact = stored, group.data(EXACT)
        stored.check_lists()
        self.heads = stored.field("head")
        lacking = {"flags", "idx", "active_channels", "number_of_samples", "scan_counter"} - {
            *(self.heads.dtype.names or ())
        }
        if lacking or self.heads.ndim != 1:
            raise damaged(path.name, ValueError("its acquisitions have no headers of ISMRMRD"))
        if not len(self.heads):
            raise ValueError(f"{path.name} holds no acquisitions: it is empty.")
        self._require_order()

    def flagged(self, *flags: int) -> np.ndarray:
        """Mask of the acquisitions that have any of these flags."""
        bits = np.uint64(sum(1 << (flag - 1) for flag in flags))
        return (self.heads["flags"] & bits) != 0

    def counter(self, name: str) -> np.ndarray:
        """An encoding counter of every acquisition."""
        return self.heads["idx"][name].astype(int)

    def samples(self, where: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """Positions of acquisitions, and of each its samples (coils, n)."""
        for at, numbers in self._fields("data", where):
            coils, n = (int(self.heads[key][at]) for key in ("active_channels", "number_of_samples"))
            if numbers.size != 2 * coils * n:
                raise ValueError(
                    f"{self.name} is damaged: acquisition {at} announces {coils} x {n} samples and holds "
                    f"{numbers.size // 2}."
                )
            values = np.ascontiguousarray(numbers, np.float32).view(np.complex64).reshape(coils, n)
            bad = int((~np.isfinite(numbers)).sum())
            if bad:
                raise ValueError(f"{self.name}: acquisition {at} holds {bad} numbers that are NaN or infinite.")
            yield at, values[:, ::-1] if self.flagged(REVERSED)[at] else values

    def shots(self, where: np.ndarray) -> list[np.ndarray]:
        """Trajectories of acquisitions in radians per pixel, (d, axes) each."""
        found = []
        for at, numbers in self._fields("traj", where):
            n, axes = (int(self.heads[key][at]) for key in ("number_of_samples", "trajectory_dimensions"))
            if numbers.size != n * axes or axes < len(self.encoding.shape):
                raise ValueError(f"{self.name} is damaged: acquisition {at} does not hold {n} places in k-space.")
            turns = np.asarray(numbers, float).reshape(n, axes)[:, ["xyz".index(axis) for axis in self.encoding.axes]]
            if not np.isfinite(turns).all() or np.abs(turns).max(initial=0.0) > 0.5 + 1e-6:
                raise ValueError(
                    f"{self.name}: the trajectory of acquisition {at} must be in cycles per pixel, -0.5 to 0.5."
                )
            # single precision turns -pi into something below, and pi is the same frequency as -pi
            radians = np.clip(2 * np.pi * turns, -np.pi, np.pi)
            found.append(np.where(radians >= np.pi, -np.pi, radians))
        return self._exactly(found)

    def _exactly(self, shots: list[np.ndarray]) -> list[np.ndarray]:
        """The same in double precision, where a file of this library has them and they are these."""
        if self._exact is None or self._exact.shape != (1, sum(map(len, shots)), len(self.encoding.shape)):
            return shots
        exact = self._exact.read(0).astype(float)
        near = np.allclose(exact, np.concatenate(shots), rtol=0.0, atol=1e-6)
        return np.split(exact, np.cumsum([len(one) for one in shots])[:-1]) if near else shots

    def _fields(self, name: str, where: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        for start in range(0, len(where), _TOGETHER):
            chosen = where[start : start + _TOGETHER]
            together = slice(int(chosen[0]), int(chosen[-1]) + 1)
            alone = together.stop - together.start != len(chosen)
            values = self._stored.field(name, chosen.tolist() if alone else together)
            yield from zip(chosen.tolist(), values, strict=True)

    def _require_order(self) -> None:
        falls = np.flatnonzero(np.diff(self.heads["scan_counter"].astype(int)) < 0)
        if len(falls):
            at, counts = int(falls[0]) + 1, self.heads["scan_counter"]
            raise ValueError(
                f"{self.name}: the acquisitions are out of order, number {at} has the scan_counter {counts[at]} after "
                f"{counts[at - 1]}; sort them by scan_counter."
            )


def is_ismrmrd(file: Hdf5) -> bool:
    """True where an open HDF5 file holds acquisitions of ISMRMRD."""
    return _acquisitions(file) is not None


def _acquisitions(file: Hdf5) -> Hdf5 | None:
    """The first group that holds acquisitions."""
    return next((group for key in file.names() if (group := file.group(key)) and _holds_acquisitions(group)), None)


def _holds_acquisitions(group: Hdf5) -> bool:
    if not {"data", "xml"} <= {*group.names()}:
        return False
    stored, xml = group.data("data"), group.data("xml")
    names = None if stored is None or xml is None else stored.dtype.names
    return names is not None and {"head", "data", "traj"} <= set(names)
