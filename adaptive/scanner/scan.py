"""A scan as its file holds it: numbers, what they are, where they lie in the patient, and how they were measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from adaptive.images.oversampling import remove_oversampling
from adaptive.images.receiver import CoilCovariance, coil_covariance
from adaptive.operators import FourierLines, Operator
from adaptive.scanner.geometry import Geometry
from adaptive.scanner.protocol import Protocol
from adaptive.scanner.slicing import cut, turned
from adaptive.showing import facts_html

__all__ = ["LOOKED_THROUGH", "Scan", "pieces"]

LOOKED_THROUGH = 2**27  # numbers: up to a GB is looked through at once, more is read where it is looked at
_SAME_PLACE = 1e-5  # radians per pixel: files keep trajectories in single precision


@dataclass(frozen=True, eq=False, repr=False)
class Scan:
    """One volume or slice of a file.

    Attributes
    ----------
    data : ndarray
        Of an image (h, w) or (n0, n1, n2). Of k-space the same, centred, with the coils in front where ``coils`` says
        so, and zero where nothing was measured. Of trajectories (coils, samples), one shot after the other. Large files
        of numbers are mapped into memory, and read where they are looked at.
    kind : {"kspace", "image"}
    coils : int or None
        Axis of the coils, 0; None: one receiver, no such axis.
    geometry : Geometry or None
        Of the axes of ``data`` without that of the coils; of a slice with a third axis of one voxel.
    field_of_view : tuple of three float, or None
        Of a file that states it and no geometry: mm along the axes of a slice and across it, or of a volume.
    protocol : Protocol or None
    noise : ndarray (coils, samples) or None
        Samples without excitation.
    noise_factor : float
        Variance of the noise in ``data`` over that in ``noise``: of the bandwidths.
    repeats : ndarray (repeats, coils, samples) or None
        Samples that were measured several times; ``data`` holds their mean.
    trajectory : list of ndarray (d, axes), or None
        Radians per pixel of the samples of every shot.
    image_shape : tuple of int or None
        Needed with trajectories: shape of the image.
    mask : ndarray of bool (*shape) or None
        Where in k-space something was measured, as far as the file says so; `sampled` is known in any case.
    readout : int or None
        Axis of the image that is read out, where the file says so.
    order : ndarray (m, phase-encode axes) or None
        Indices of the phase encodes as they were measured one after the other, where the file says so.
    reconstructed : tuple of int or None
        Shape of the image without oversampling, where the file says so.
    volume, n_volumes, index, n_slices : int
        Which volume of how many, and which slice of how many, this is.
    source : str
        For captions.

    Examples
    --------
    >>> picture = np.pad(np.ones((2, 4, 4)), ((0, 0), (2, 2), (2, 2)))
    >>> scan = Scan(np.fft.fftshift(np.fft.fft2(picture, norm="ortho"), (1, 2)), "kspace", coils=0, source="squares")
    >>> scan
    Scan(squares: kspace of 2 coils, 8 x 8)
    """

    data: np.ndarray
    kind: str
    coils: int | None = None
    geometry: Geometry | None = None
    protocol: Protocol | None = None
    noise: np.ndarray | None = None
    noise_factor: float = 1.0
    repeats: np.ndarray | None = None
    trajectory: list[np.ndarray] | None = None
    image_shape: tuple[int, ...] | None = None
    mask: np.ndarray | None = None
    readout: int | None = None
    order: np.ndarray | None = None
    reconstructed: tuple[int, ...] | None = None
    volume: int = 0
    n_volumes: int = 1
    index: int = 0
    n_slices: int = 1
    source: str = "scan"
    field_of_view: tuple[float, ...] | None = None

    def __repr__(self) -> str:
        return f"Scan({self.source}: {self._said()})"

    def _repr_html_(self) -> str:
        return facts_html("Scan", self._facts())

    def _said(self) -> str:
        coils = "" if self.coils is None else f" of {self.n_coils} coil{'' if self.n_coils == 1 else 's'}"
        shots = "" if self.trajectory is None else f", {len(self.trajectory)} shots"
        return f"{self.kind}{coils}, {' x '.join(map(str, self.shape))}{shots}"

    def _facts(self) -> list[tuple[str, object]]:
        place, settings = self.geometry, self.protocol
        facts: list[tuple[str, object]] = [("source", self.source), ("holds", self._said())]
        if place is not None:
            facts.append(("plane", place.plane))
            facts.append(("voxel size (mm)", " x ".join(f"{side:.4g}" for side in place.voxel_size)))
        if settings:
            facts.append(("protocol", settings))
        if self.noise is not None:
            facts.append(("noise scan", f"{self.noise.shape[1]} samples of every coil"))
        return facts

    @property
    def n_coils(self) -> int:
        """Number of receiver coils; 0 in a file that plans a scan and holds no samples."""
        return 1 if self.coils is None else self.data.shape[self.coils]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the image."""
        if self.image_shape is not None:
            return self.image_shape
        return self.data.shape if self.coils is None else self.data.shape[1:]

    @cached_property
    def sampled(self) -> np.ndarray | None:
        """Mask of what was measured in k-space, (*shape); None of images and of trajectories."""
        if self.kind == "image" or self.trajectory is not None or self.mask is not None:
            return self.mask
        each = self.data.reshape(-1, *self.shape)
        found = np.zeros(self.shape, bool)
        for one in each:
            found |= one != 0
        return found

    @property
    def images(self) -> np.ndarray:
        """The zero-filled image of every coil (coils, *shape), or the image as it is."""
        self._require_grid("its image")
        return FourierLines(self.shape, range(self.shape[0])).adjoint(self.data) if self.kind == "kspace" else self.data

    def covariance(self) -> CoilCovariance:
        """The covariance of the noise between coils, from the noise scan, repeats or outer samples, as there are."""
        noise = None if self.noise is None else self.noise * np.sqrt(self.noise_factor)
        if noise is not None or self.repeats is not None:
            return coil_covariance(noise=noise, repeats=self.repeats)
        self._require_grid("the noise of its outer samples")
        return coil_covariance(self.data if self.coils is not None else self.data[None], self.sampled)

    def without_oversampling(self) -> Scan:
        """The scan with the read-out cropped to the field of view that is reconstructed; itself where it is that."""
        if self.reconstructed is None or self.readout is None or self.kind == "image":
            return self
        axis, side = self.readout, self.reconstructed[self.readout]
        if side >= self.shape[axis]:
            return self
        data = remove_oversampling(self.data, side, axis - len(self.shape))
        mask = None if self.sampled is None else np.broadcast_to(self.sampled.any(axis, keepdims=True), data.shape[1:])
        place = None if self.geometry is None else self.geometry.cropped(axis, side)
        view = None if self.field_of_view is None else list(self.field_of_view)
        if view is not None:
            view[axis] *= side / self.shape[axis]
        return replace(self, data=data, mask=mask, geometry=place, field_of_view=None if view is None else tuple(view))

    def measure(self, blocks: Iterable[Operator]) -> list[np.ndarray]:
        """The samples of several blocks - lines, phase encodes, masks, shots - out of those that were acquired.

        Parameters
        ----------
        blocks : sequence of operators, or a loop's query
            Of this scan's shape.

        Returns
        -------
        list of arrays, (coils, *block.output_shape), or without the axis of the coils
            What `ImageReconstructor.fit` takes, and a loop's ``measure`` returns.

        Raises
        ------
        ValueError
            If the scan is an image, of another shape, or holds no samples there.
        """
        wanted = list(getattr(blocks, "candidates", blocks))
        if self.kind != "kspace" or self.n_coils == 0:
            raise ValueError(f"{self.source} holds no samples of k-space to measure from.")
        if self.trajectory is not None:
            return [self.shot(getattr(block, "samples", np.empty((0, 0)))) for block in wanted]
        return [self._of_block(block) for block in wanted]

    def _of_block(self, block: Any) -> np.ndarray:
        if tuple(block.input_shape) != self.shape:
            raise ValueError(f"{block!r} measures images of shape {block.input_shape}, {self.source} has {self.shape}.")
        there: Any = None
        if isinstance(block, FourierLines):
            where = block.axis - len(self.shape)
            there = np.take(self.sampled, block.lines, where) if self.sampled is not None else None
            values = np.moveaxis(np.take(self.data, block.lines, where), where, 0 if self.coils is None else 1)
        else:
            there = None if self.sampled is None else self.sampled[block.mask]
            values = self.data[..., block.mask]
        if there is not None and not there.any():
            raise ValueError(f"{self.source} holds no samples of {block!r}: it was not measured.")
        if self.mask is not None and not there.all():
            raise ValueError(
                f"{self.source} holds {int(there.sum())} of the {there.size} samples of {block!r}: it was measured in "
                "part; ask for the others by FourierMask."
            )
        return np.asarray(values)

    def shot(self, samples: np.ndarray) -> np.ndarray:
        """Samples along one trajectory (d, axes), radians per pixel: (coils, d).

        Raises
        ------
        ValueError
            If that one was not measured.
        """
        start = 0
        for one in self.trajectory or ():
            if one.shape == np.shape(samples) and np.allclose(one, samples, atol=_SAME_PLACE):
                return self.data[..., start : start + len(one)]
            start += len(one)
        raise ValueError(f"{self.source} holds no samples of that trajectory: it was not measured.")

    def slice(self, plane: str | None = None, index: int | None = None) -> Scan:
        """One slice of a volume, with its place in the patient.

        Parameters
        ----------
        plane : {"axial", "coronal", "sagittal"}, optional
            Default: the plane of the first two axes; of a scan without geometry the slices along its first axis.
        index : int, optional
            Default: the middle one.

        Returns
        -------
        Scan
            Of an image the axes point right and anterior (axial), right and superior (coronal), anterior and superior
            (sagittal), nearly, and slices are counted towards the third, as `read_images` has it. Of
            k-space the axes stay as they are; it is transformed along the third.

        Raises
        ------
        ValueError
            If the plane is not known, not that of a slice, or lies across an axis of k-space that was not measured
            completely.
        IndexError
            If there is no such slice.
        """
        return cut(self, plane, index)

    def turned_like(self, other: Scan) -> Scan:
        """An image with its axes in the order and direction of those of another scan of the same orientation."""
        if self.geometry is None or other.geometry is None:
            return self
        order, backwards, _ = self.geometry.way_to(other.geometry)
        return turned(self, order, backwards)

    def finite(self) -> Scan:
        """The scan itself, or a sentence where a number of it is none; gigabytes are not looked through.

        Raises
        ------
        ValueError
            If data are NaN or infinite.
        """
        for one in pieces(self.data) if self.data.size <= LOOKED_THROUGH else ():
            bad = int((~np.isfinite(one)).sum())
            if bad:
                raise ValueError(f"{self.source} holds {bad} or more numbers that are NaN or infinite.")
        return self

    def _require_grid(self, what: str) -> None:
        if self.trajectory is not None or self.n_coils == 0:
            raise ValueError(f"{self.source} holds no samples on a grid, so that {what} is not known.")


def pieces(array: np.ndarray) -> Iterator[np.ndarray]:
    """Views of an array, one after the other as it lies in the file: looked through, nothing is kept in memory."""
    yield from np.transpose(array, np.argsort([-abs(step) for step in array.strides], kind="stable"))
