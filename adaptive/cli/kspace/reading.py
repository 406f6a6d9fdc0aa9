"""Inputs of ``adaptive kspace``: stacks of images, raw samples of one slice, a reference; errors are sentences.

An image in the place of k-space, and the other way round, is recognised and said. Of several volumes the first is taken
where none was named, and that is said, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.cli.kspace.coil_compression import compressed
from adaptive.cli.kspace.values import Known, Subject
from adaptive.images.stack import ImageStack, Slice, head_path, scaled
from adaptive.operators import FourierLines
from adaptive.scanner.geometry import PLANES
from adaptive.scanner.reading import HDF5, VOLUMES, read_scan, unchecked
from adaptive.scanner.recognising import OtherKind
from adaptive.scanner.slicing import stacked, turned

if TYPE_CHECKING:
    from adaptive.scanner import Scan

__all__ = [
    "MULTIPLE",
    "acquired_plane",
    "of_several",
    "read_heads",
    "read_maps",
    "read_raw",
    "read_reference",
    "read_reference_scan",
    "read_series",
    "read_stack",
    "read_subject",
    "require_alike",
    "require_same_grid",
    "turned_to",
]

MULTIPLE = 16  # of the sides, for four levels of wavelets
_SMALLEST = 16
_OTHERS = 3  # slices of other heads that teach, about the one that is named
_APART = 2  # slices between them
_LARGEST_CENTRE = 32


@contextmanager
def _sentences(option: str, path: str | None) -> Iterator[None]:
    """Whatever a reader says as one line that begins with the option."""
    try:
        yield
    except OtherKind as error:
        other = "--kspace" if option == "--image" else "--image"
        raise CommandError(f"{option}: {error.held}: give it as {other}.") from None
    except OSError as error:
        said = str(error) if error.errno is None else f"{error.strerror}: {path}."
        raise CommandError(f"{option}: {said}") from None
    except (ValueError, ImportError, IndexError) as error:
        raise CommandError(f"{option}: {error}") from None


def acquired_plane(path: str | None) -> str:
    """The plane in which slices of DICOM were acquired; "axial" of everything else, also of what cannot be read."""
    given = Path(path or "")
    if path is None or not (given.is_dir() or given.suffix.lower() in (".dcm", ".ima")):
        return "axial"
    for file in sorted(filter(Path.is_file, given.iterdir())) if given.is_dir() else [given]:
        with suppress(ValueError, OSError, ImportError):  # said when it is read
            from adaptive.scanner.dicom_frames import frames_of, normal_of

            frame = frames_of(file)[0]  # of one series all lie alike: one header is enough
            if frame.orientation is not None:
                across = int(np.argmax(np.abs(normal_of(frame))))
                return next(name for name, axis in PLANES.items() if axis == across)
    return "axial"


def read_stack(path: str | None, plane: str, volume: int | None, option: str = "--image") -> tuple[ImageStack, str]:
    """The slices of a file, or of nibabel's head scan, and what is to be said of the file."""
    with _sentences(option, path):
        file = head_path() if path is None else Path(path)
        scan = _chosen(file, "image", volume)
        said = of_several(scan, volume)
        if file.name.lower().endswith(HDF5):
            from adaptive.scanner.fastmri import holds_images

            if not holds_images(file):
                said = f"{file.name} holds raw samples: their images are scanned in simulation; --kspace replays them."
        return stacked(scan, plane, file.name), said


def read_subject(path: str | None, index: int | None, plane: str = "axial", volume: int | None = None) -> Subject:
    """Read slice ``index`` (default: the middle one) of a file (default: nibabel's head scan) and the one beside it.

    Parameters
    ----------
    path : str or None
    index : int or None
    plane : {"axial", "coronal", "sagittal"}
        How a volume with anatomical axes is cut.
    volume : int or None
        Which of several; None: the first, which ``said`` says.

    Raises
    ------
    CommandError
        If the file or the slice does not exist, cannot be read, is empty or too small.
    """
    stack, said = read_stack(path, plane, volume)
    try:
        index = stack.middle if index is None else index
        same = stack[index]
    except IndexError as error:
        raise CommandError(f"--slice {index}: {error}") from None
    except ValueError as error:
        raise CommandError(f"--image: {error}") from None
    height, width = same.image.shape
    if min(height, width) < _SMALLEST:
        raise CommandError(
            f"--image: {same.title} has {height} x {width} pixels; at least {_SMALLEST} x {_SMALLEST} are needed."
        )
    neighbour, alone = _beside(stack, index)
    training = _third(stack, index)
    prepared = same.padded(MULTIPLE)
    sizes = f"zeros around {height} x {width} pixels, to {prepared.image.shape[0]} x {prepared.image.shape[1]}"
    return Subject(
        prepared,
        None if neighbour is None else neighbour.padded(MULTIPLE),
        None if training is None else training.padded(MULTIPLE),
        alone,
        "" if prepared.image.shape == same.image.shape else sizes,
        said,
    )


def read_series(path: str | None, n: int, index: int | None, plane: str, volume: int | None) -> list[Slice]:
    """One slice of ``n`` volumes of a file, from ``volume`` (default: the first) on, padded, scaled all alike.

    Raises
    ------
    CommandError
        If the file cannot be read, or holds fewer volumes.
    """
    file, first = head_path() if path is None else Path(path), volume or 0
    with _sentences("--image", path):
        there = _chosen(file, "image", None).n_volumes
        if first + n > there:
            raise CommandError(
                f"--series: {file.name} holds {there} volume{'' if there == 1 else 's'}, and {n} of them from volume "
                f"{first} on were asked for."
            )
        stacks = [stacked(_chosen(file, "image", k), plane, file.name) for k in range(first, first + n)]
    index = stacks[0].middle if index is None else index
    try:
        one = stacks[0][index]
        together = scaled(np.concatenate([stack.stored[index] for stack in stacks], axis=1), one.title)
    except IndexError as error:
        raise CommandError(f"--slice {index}: {error}") from None
    except ValueError as error:
        raise CommandError(f"--image: {error}") from None
    if min(one.image.shape) < _SMALLEST:
        sides = " x ".join(map(str, one.image.shape))
        raise CommandError(f"--image: {one.title} has {sides} pixels; at least {_SMALLEST} x {_SMALLEST} are needed.")
    return [
        Slice(image, f"{one.title}, volume {first + k}", index, one.anatomical, one.plane).padded(MULTIPLE)
        for k, image in enumerate(np.split(together, n, axis=1))
    ]


def read_reference(path: str, like: Slice, plane: str = "axial") -> Slice:
    """Read a reference scan: the slice of the same index, or the only one, of the same size.

    Raises
    ------
    CommandError
        If it cannot be read, or is of another size.
    """
    stack, _ = read_stack(path, plane, None, "--reference")
    with _sentences("--reference", path):
        found = stack[min(like.index, len(stack) - 1)].padded(MULTIPLE)
    if found.image.shape != like.image.shape:
        raise CommandError(
            f"--reference: {found.title} has {found.image.shape[0]} x {found.image.shape[1]} pixels (padded), "
            f"{like.title} {like.image.shape[0]} x {like.image.shape[1]}."
        )
    return found


def read_heads(path: str | None, plane: str, index: int | None, volume: int | None) -> tuple[Known, str]:
    """Slices of other heads, about the one that is named; and what is to be said of their file."""
    stack, said = read_stack(path, plane, volume)
    with _sentences("--image", path):
        middle = stack.middle if index is None else index
        wanted = [middle + _APART * (k - _OTHERS // 2) for k in range(_OTHERS)]
        inside = [k for k in wanted if 0 <= k < len(stack) and np.any(stack.stored[k])] or [middle]
        images = [stack[k].image for k in inside]
        title = stack[middle].title if len(inside) == 1 else f"{stack.plane} slices {inside} of {stack.name}".lstrip()
        return Known(images, title, False, n_slices=len(stack), anatomical=bool(stack.plane)), said


def read_raw(path: str, plane: str | None, index: int | None, volume: int | None) -> Scan:
    """Raw samples of one slice, mapped into memory until they are looked at."""
    with _sentences("--kspace", path):
        several = path.lower().endswith(HDF5)
        scan = _chosen(path, "kspace", volume, index if several else None)
        if len(scan.shape) == 3:
            scan = _cut(scan, plane, index)
        elif index not in (None, 0) and not several:
            raise ValueError(f"{scan.source} holds one slice, and --slice {index} asks for another.")
        return scan.finite()


def read_reference_scan(
    path: str, plane: str | None, index: int | None, volume: int | None, compress: int | str = "off",
    coils: str | None = None,
) -> tuple[Scan, Known]:  # fmt: skip
    """A reference of the same head, image or raw: one slice, and what a plan is made from; ``coils``: of --coils."""
    with _sentences("--reference", path):
        several = path.lower().endswith(HDF5)
        scan = _chosen(path, None, volume, index if several else None)
        n_slices = max(scan.n_slices, scan.shape[2] if len(scan.shape) == 3 else 1)
        scan = _straight((scan if several and len(scan.shape) == 2 else _cut(scan, plane, index)).finite())
        if scan.kind == "image" and coils is not None:
            raise CommandError(
                f"--coils is about raw samples of several coils, and --reference {scan.source} is an image."
            )
        image, maps, received = (scan.data, None, "") if scan.kind == "image" else _of_raw(scan, compress, coils)
        image = scaled(image, scan.source)
        turn = scan.kind == "image" and scan.geometry is not None
        return scan, Known(
            [image], scan.source, True, maps, n_slices, scan.geometry, scan.protocol, turn, received, scan.readout,
            scan.without_oversampling().field_of_view,
        )  # fmt: skip


def read_maps(path: str) -> np.ndarray:
    """Coil maps (coils, h, w) of ``--coils FILE``."""
    with _sentences("--coils", path):
        scan = read_scan(path, "image" if path.endswith((".npy", ".npz")) else None)
        return np.asarray(scan.data)


def require_alike(reference: Scan, scan: Scan) -> None:
    """Refuse a reference of another place, matrix or receiver than the scan that it is to plan."""
    from adaptive.scanner import compare_scans

    cropped = (one.without_oversampling() for one in (reference, scan))  # which is what is compared in images
    differences = compare_scans(*cropped, protocol=False)
    if differences:
        raise CommandError(f"--reference: {differences[0]}")


def require_same_grid(reference: str, image: str | None, volume: int | None) -> None:
    """Refuse a reference volume that lies otherwise in the patient than the volume of the image, where both say how."""
    paths = [Path(reference), head_path() if image is None else Path(image)]
    if not all(one.is_dir() or one.name.lower().endswith((".dcm", ".ima", *VOLUMES)) for one in paths):
        return
    with _sentences("--reference", reference):
        first = _chosen(paths[0], "image", None)
    with _sentences("--image", image):
        second = _chosen(paths[1], "image", volume)
    if first.geometry is not None and second.geometry is not None:
        require_alike(first, second)


def turned_to(known: Known, reference: Scan, scan: Scan) -> Known:
    """Turn what a reference shows to the axes of the scan, in order and direction, where both say how they lie.

    DICOM keeps rows and columns of a picture, raw samples phase encodes and read-out: lines are those of the latter.
    """
    if reference.geometry is None or scan.geometry is None:
        return known
    order, backwards, _ = reference.geometry.way_to(scan.geometry)
    flips = tuple(slice(None, None, -1 if back else 1) for back in backwards[:2])
    if order[2] != 2:
        return known
    maps = known.coils
    if maps is not None:
        maps = np.transpose(maps, (0, 1 + order[0], 1 + order[1]))[(slice(None), *flips)]
    return known._replace(images=[np.transpose(one, order[:2])[flips] for one in known.images], coils=maps)


def of_several(scan: Scan, volume: int | None) -> str:
    """Remark for whoever did not choose among several volumes."""
    if volume is not None or scan.n_volumes == 1:
        return ""
    return f"Volume {scan.volume} of {scan.n_volumes}; --volume takes another."


def _chosen(path: str | Path, kind: str | None, volume: int | None, index: int | None = None) -> Scan:
    """A scan; of several volumes the first where none was named."""
    try:
        return unchecked(path, kind, volume, index)
    except ValueError as error:
        if volume is not None or "volume" not in str(error):
            raise
        return unchecked(path, kind, 0, index)


def _cut(scan: Scan, plane: str | None, index: int | None) -> Scan:
    """One slice; what has no place in the patient, or is a slice of its own plane, is cut whatever plane was named."""
    if scan.geometry is None or len(scan.shape) == 2 or scan.geometry.matrix[2] == 1:
        plane = None
    return scan.slice(plane, index)


def _straight(scan: Scan) -> Scan:
    """An image of one slice with its axes towards right, anterior, superior, as slices of a volume and of --image."""
    if scan.kind != "image" or scan.geometry is None or len(scan.shape) != 2:
        return scan
    order, backwards = scan.geometry.to_anatomical()
    inside = [k for k in range(3) if order[k] != 2]  # axes of the patient that the slice has
    across = order.index(2)
    return turned(scan, [*(order[k] for k in inside), 2], [*(backwards[k] for k in inside), backwards[across]])


def _third(stack: ImageStack, index: int) -> Slice | None:
    """The slice on the other side of ``index``, if there is one that can serve."""
    where = index - 1 if stack.neighbour(index) == index + 1 else index - 2
    if not 0 <= where < len(stack) or where == index:
        return None
    try:
        return stack[where]
    except ValueError:
        return None


def _beside(stack: ImageStack, index: int) -> tuple[Slice | None, str]:
    where = stack.neighbour(index)
    if where is None:
        return None, f"{stack.name} is a single image"
    try:
        return stack[where], ""
    except ValueError as error:
        return None, f"the slice beside it cannot serve: {error}".rstrip(".")


def _of_raw(
    scan: Scan, compress: int | str, coils: str | None = None
) -> tuple[np.ndarray, np.ndarray | None, str]:  # fmt: skip
    """The complex image of raw samples, the maps of their coils (of a file ``coils``), and how many these were."""
    from adaptive.images.coils import estimate_coils

    whole = scan.without_oversampling()
    sampled = whole.sampled
    if sampled is None or not sampled.all():
        raise ValueError(f"{scan.source} was not sampled completely, and a reference has to be.")
    if whole.coils is None:
        return whole.images, None, ""
    data, matrix, said = compressed(np.asarray(whole.data), compress, "--reference", scan.source)
    if coils in (None, "estimate"):
        maps = estimate_coils(data, min(_LARGEST_CENTRE, *whole.shape))
    else:
        maps = read_maps(str(coils))
        if maps.shape != whole.data.shape:
            raise CommandError(
                f"--coils: maps must have shape {whole.data.shape}, as the samples have, got {maps.shape}."
            )
        maps = maps if matrix is None else np.tensordot(matrix, maps, 1)
    images = FourierLines(whole.shape, range(whole.shape[0])).adjoint(data)
    return np.sum(maps.conj() * images, axis=0), maps, said
