"""Trials made of what a user has: raw samples to be replayed, or a slice to be scanned in simulation.

Raw samples are made white, cropped to the block of k-space that was acquired (zeros around it say nothing), and brought
to a scale in which the image is in [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.ndimage import map_coordinates

from adaptive.cli.errors import CommandError
from adaptive.cli.kspace.checking import check_size
from adaptive.cli.kspace.coil_compression import compressed
from adaptive.cli.kspace.trial import Trial
from adaptive.cli.kspace.values import READERS
from adaptive.images import estimate_coils, kspace_problem, simulate_scan, whitened
from adaptive.images.coils import fully_sampled_centre
from adaptive.operators import FourierLines
from designs import kspace

if TYPE_CHECKING:
    from adaptive.images import Slice
    from adaptive.scanner import Scan

__all__ = ["acquired_axis", "replayed", "simulated"]

PERCENTILE = 99.8  # of the magnitudes, that is one, as of slices
_ANGLES = {"spokes": 128, "spirals": 64}  # candidates
_SMALLEST, _LARGEST_CENTRE = 4, 32
_UNEXPLAINED, _LESS = 3.0, 3.0  # times the noise that one set of maps leaves, and times as much as two do


def acquired_axis(sampled: np.ndarray) -> int | None:
    """Axis along which whole lines were left out; None: points were, or nothing was."""
    for axis in (0, 1):
        along = np.moveaxis(sampled, axis, 0)
        if (along == along[:, :1]).all() and not sampled.all():
            return axis
    return None


def replayed(
    scan: Scan,
    *,
    trajectory: str | None,
    axis: int | None,
    initial: int | None,
    coils: Any = "estimate",
    compress: int | str = "off",
    n: int | None = None,
) -> Trial:
    """A scan whose samples are measured again, one after the other, out of those that were acquired.

    Parameters
    ----------
    scan : Scan
        Of one slice.
    trajectory : {"lines", "points"} or None
        None: lines where whole ones were left out, or everything was acquired.
    axis : int or None
        Of the phase encodes of lines; None: as acquired.
    initial : int or None
        Central lines, or the side of the central block; None: an eighth.
    coils : "estimate" or array (coils, h, w)
    compress : int, "auto" or "off"
        Virtual coils that those of the scan are compressed to, once their noise is white.
    n : int, optional
        Lines or points that are to be measured in all, the central ones included.

    Raises
    ------
    CommandError
        If the scan cannot be replayed in that way.
    """
    scan = scan.without_oversampling()
    sampled = scan.sampled
    if scan.trajectory is not None or sampled is None or len(scan.shape) != 2:
        raise CommandError(
            f"--kspace: {scan.source} holds no samples of one slice on a grid, which is what is replayed."
        )
    data = np.asarray(scan.data if scan.coils is not None else scan.data[None])
    strongest = data[int(np.argmax(np.sum(np.abs(data) ** 2, axis=(1, 2))))]
    problem = kspace_problem(strongest / np.abs(_images(strongest)).max(), sampled, natural=True)
    if problem:
        raise CommandError(f"--kspace: {scan.source}: {problem}")
    own = acquired_axis(sampled)
    whole = own is not None or sampled.all()
    trajectory = trajectory or ("lines" if whole else "points")
    if trajectory == "lines" and (not whole or (own is not None and axis not in (None, own))):
        said = "single points were left out" if not whole else f"lines were left out along axis {own}"
        raise CommandError(
            f"--kspace: of {scan.source} {said}, so that lines along axis {axis or 0} cannot be measured again; "
            + ("use --trajectory points." if not whole else f"use --axis {own}.")
        )
    readout = scan.readout
    axis = axis if axis is not None else own if own is not None else 1 - readout if readout is not None else 0
    said, matrix = _noise(scan, data, sampled)
    data = whitened(data, matrix).astype(np.complex64)
    whole_shape = sampled.shape
    data, sampled, block = _cropped(data, sampled)
    data, virtual, received = compressed(data, compress, "--kspace", scan.source)
    images = _images(data)
    top = float(np.percentile(np.sqrt(np.sum(np.abs(images) ** 2, axis=0)), PERCENTILE))
    data, variance = data / np.float32(top), 1.0 / top**2
    geometry = _finer(scan.geometry, data.shape[1:])
    source = replace(
        scan, data=data if len(data) > 1 else data[0], coils=0 if len(data) > 1 else None, mask=sampled,
        noise=None, repeats=None, reconstructed=None, order=None,
        geometry=geometry, image_shape=None,
    )  # fmt: skip
    pool, first = _pool(scan.source, trajectory, sampled, axis, initial)
    if n is not None:
        check_size(n, len(first), len(pool), trajectory)
    coil_maps: Any = None  # of one coil the phase is all there is
    if len(data) > 1:
        coil_maps = (
            coils if isinstance(coils, str) else _given_maps(coils, whole_shape, data.shape[1:], matrix, virtual)
        )
    trial = Trial(
        scan.source, trajectory, pool, first, source, np.ones(data.shape[1:]), coil_maps, variance, geometry=geometry,
        protocol=scan.protocol,
    )  # fmt: skip
    trial, wide = _wider_than_the_field(trial)
    truth, what = _truth(trial, data, sampled, images / top)
    statements = (
        f"Replayed from {scan.source}: {received}, {_acquired(trajectory, pool, sampled, whole_shape, block)}; "
        "nothing is simulated",
        what,
        f"{said}. Noise and scale were read from all that was acquired; "
        f"{'phase' if coil_maps is None else 'coil maps and phase'} from the centre alone",
        *wide,
    )
    return replace(trial, truth=truth, statements=statements)


def simulated(
    image: Slice, *, trajectory: str, axis: int, initial: int | None, n: int, snr: float, phase: str, seed: int
) -> Trial:
    """A slice scanned in simulation by one coil, with a smooth phase and noise.

    Parameters
    ----------
    image : Slice
    trajectory : {"lines", "points", "spirals", "spokes"}
    axis, initial, n : int
        Axis of lines; the centre (None: an eighth; of shots a quarter of the n there are); what is measured in all.
    snr, phase, seed
        As of the command.
    """
    scan = simulate_scan(image.image, snr=snr, random_state=seed)
    problem = kspace_problem(scan.kspace)
    if problem:
        raise CommandError(f"--image: {image.title}: {problem}")
    everything = np.ones(scan.image.shape, bool)
    if trajectory in _ANGLES:
        angles = kspace.equispaced_angles(_ANGLES[trajectory], np.pi if trajectory == "spokes" else 2 * np.pi)
        pool: Any = getattr(kspace, trajectory)(scan.image.shape, angles)
        centre = max(2, n // 4) if initial is None else initial
        first = np.unique((np.arange(centre) * len(angles)) // centre)
    else:
        pool, first = _pool(image.title, trajectory, everything, axis, initial)
    reader = READERS[phase]
    statements = (scan.caption(() if reader else ("the phase",)), "The truth is that slice")
    return Trial(
        image.title, trajectory, pool, first, scan, np.abs(scan.image), statements=statements, upright=image.upright,
        phase=scan.phase if reader is None else reader,
    )  # fmt: skip


def _pool(title: str, trajectory: str, sampled: np.ndarray, axis: int, initial: int | None) -> tuple[Any, np.ndarray]:
    """The candidates, and the positions of the centre among them."""
    sides = fully_sampled_centre(sampled)
    if trajectory == "lines":
        lines, n = np.flatnonzero(sampled.all(axis=1 - axis)), sampled.shape[axis]
        wide = max(_SMALLEST, min(sides[axis], n // 8 if initial is None else initial))
        pool: Any = kspace.LinePool(sampled.shape, lines, axis)
        missing = np.setdiff1d(kspace.central(n, wide), lines)
        if (initial is not None and initial > sides[axis]) or len(missing):
            raise CommandError(
                f"--initial: of {title} the {sides[axis]} central lines were acquired without a gap, and "
                f"{initial or wide} are wanted."
            )
        return pool, pool.positions(kspace.central(n, wide))
    wide = min(*sides, max(_SMALLEST, min(sampled.shape) // 8) if initial is None else initial)
    if wide < max(_SMALLEST, initial or 0):
        raise CommandError(
            f"--initial: of {title} a central block of {sides[0]} x {sides[1]} points was acquired without a gap, and "
            f"{initial or _SMALLEST} x {initial or _SMALLEST} are wanted."
        )
    pool = kspace.PhaseEncodePool(sampled.shape, np.argwhere(sampled))
    start = np.array([side // 2 - wide // 2 for side in sampled.shape])
    return pool, np.flatnonzero(np.all((pool.encodes >= start) & (pool.encodes < start + wide), axis=1))


def _given_maps(
    maps: np.ndarray, whole: tuple[int, ...], block: tuple[int, ...], matrix: np.ndarray, virtual: np.ndarray | None
) -> np.ndarray:
    """Maps of the user's own, of coils whose noise is white, in the coarser pixels of the block that was acquired."""
    given, n_coils = np.asarray(maps), len(matrix)
    if given.ndim == 3 and len(given) != n_coils:
        raise CommandError(f"--coils: the file holds maps of {len(given)} coils, and the samples have {n_coils}.")
    if given.shape[1:] not in (tuple(whole), tuple(block)) or given.ndim != 3 or given.dtype.kind not in "biufc":
        raise CommandError(f"--coils must hold maps of shape {(n_coils, *whole)}, got {given.dtype} of {given.shape}.")
    if not np.isfinite(given).all() or not given.any():
        raise CommandError("--coils must hold maps that are finite and not all zero.")
    white = whitened(_coarser(given, block), matrix)
    return white if virtual is None else np.tensordot(virtual, white, 1)


def _coarser(maps: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Maps (coils, h, w) at the centres of fewer pixels of the same field of view; the middle one stays where it is."""
    sides = maps.shape[1:]
    if tuple(sides) == tuple(shape):
        return maps
    at = [(np.arange(m) - m // 2) * (side / m) + side // 2 for side, m in zip(sides, shape, strict=True)]
    where = np.stack(np.meshgrid(*at, indexing="ij"))
    return np.stack([map_coordinates(one, where, order=1, mode="nearest") for one in maps.astype(complex)])


def _noise(scan: Scan, data: np.ndarray, sampled: np.ndarray) -> tuple[str, np.ndarray]:
    try:
        found = scan.covariance()
    except ValueError as error:
        raise CommandError(f"--kspace: {scan.source}: {error}") from None
    return found.sentence[0].upper() + found.sentence[1:], found.matrix


def _cropped(data: np.ndarray, sampled: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[slice]]:
    """The smallest block around DC that holds every sample."""
    kept = []
    for axis, n in enumerate(sampled.shape):
        there = np.flatnonzero(sampled.any(axis=1 - axis))
        side = min(n, 2 * max(n // 2 - int(there[0]), int(there[-1]) + 1 - n // 2))
        kept.append(slice(n // 2 - side // 2, n // 2 - side // 2 + side))
    return data[(slice(None), *kept)], sampled[tuple(kept)], kept


def _finer(geometry: Any, shape: tuple[int, ...]) -> Any:
    """The geometry with other voxels in the same field of view: a smaller block of k-space, a coarser image."""
    if geometry is None or tuple(geometry.matrix[:2]) == tuple(shape):
        return geometry
    sides = (*shape, geometry.matrix[2])
    size = geometry.field_of_view / np.array(sides)
    position = geometry.centre - geometry.directions @ (size * np.array([side // 2 for side in sides]))
    return replace(geometry, position=position, voxel_size=size, matrix=sides)


def _images(data: np.ndarray) -> np.ndarray:
    """Images of samples (..., h, w)."""
    return FourierLines(data.shape[-2:], range(data.shape[-2])).adjoint(data)


def _wider_than_the_field(trial: Trial) -> tuple[Trial, tuple[str, ...]]:
    """The trial with two sets of coil maps where they explain the centre much better than one, and that in words."""
    axis = trial.pool.axis if trial.trajectory == "lines" else 0
    if not isinstance(trial.coils, str) or trial.trajectory != "lines" or trial.shape[axis] % 2:
        return trial, ()
    if len(trial.source.data) < 4:
        return trial, ()  # two sets would explain nearly anything
    one, two = (_unexplained(replace(trial, sets=sets)) for sets in (1, 2))
    if one < _UNEXPLAINED or one < _LESS * two:
        return trial, ()
    said = (
        f"One set of coil maps leaves {one:.0f} times the noise in the centre, two leave {two:.1f} times: the head is "
        "wider than the field of view, and what wraps around has maps and an image of its own"
    )
    return replace(trial, sets=2), (said,)


def _unexplained(trial: Trial) -> float:
    """Mean square of what coil maps leave of the central block of samples, over the variance of the noise."""
    assert trial.maps is not None and trial.noise_variance is not None
    width = min(len(trial.first), _LARGEST_CENTRE)
    sides = [(side // 2 - min(width, side) // 2, min(width, side)) for side in trial.shape]
    where = (slice(None), *(slice(start, start + side) for start, side in sides))
    centre = np.zeros_like(trial.source.data)
    centre[where] = trial.source.data[where]
    images = left = _images(centre)
    for maps in trial.maps.reshape(-1, *images.shape):
        left = left - maps * np.sum(maps.conj() * images, axis=0)
    samples = FourierLines(trial.shape, range(trial.shape[0])).forward(left).reshape(images.shape)
    free = 1 - trial.sets / len(images)
    return float(np.mean(np.abs(samples[where]) ** 2) / (2 * trial.noise_variance * free))


def _truth(trial: Trial, data: np.ndarray, sampled: np.ndarray, images: np.ndarray) -> tuple[np.ndarray, str]:
    """The image from everything that was acquired, and in words what it is."""
    if sampled.all() and trial.sets > 1:
        return np.sqrt(np.sum(np.abs(images) ** 2, axis=0)), (
            "The truth is the root of the sum of squares of what the coils see in all lines, without a prior"
        )
    if sampled.all():
        maps: Any = np.ones((1, *data.shape[1:])) if trial.coils is None else trial.coils
        if isinstance(maps, str):
            maps = estimate_coils(data, min(_LARGEST_CENTRE, *data.shape[1:]))
        seen = np.abs(np.sum(maps.conj() * images, axis=0)) / np.maximum(np.sum(np.abs(maps) ** 2, axis=0), 1e-12)
        return seen, "The truth is the image from all lines, without a prior"
    found = trial.reconstruct(np.arange(len(trial.pool)))
    share = f"{sampled.mean():.0%} of k-space"
    return (
        found,
        f"No full truth is known: what counts as true is the image from all that was acquired, {share}",
    )


def _acquired(trajectory: str, pool: Any, sampled: np.ndarray, whole: tuple[int, ...], block: Sequence[slice]) -> str:
    size = " x ".join(map(str, sampled.shape))
    if trajectory == "lines":
        lines = f"all {len(pool)} lines" if sampled.all() else f"{len(pool)} of {sampled.shape[pool.axis]} lines"
        start, n = block[pool.axis].start, whole[pool.axis]
        around = f" (the block that was acquired: its line k is line k + {start} of the {n} in the file)"
        return f"{lines} of {size} samples{around if start else ''}"
    return f"{len(pool)} of {sampled.size} points of a plane of {size}"
