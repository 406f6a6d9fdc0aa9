"""What ``adaptive kspace`` reads: stacks of images, raw samples of one slice, a reference; errors are sentences.

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
from adaptive.cli.kspace.compressing import compressed
from adaptive.cli.kspace.plan import Known
from adaptive.images import ImageStack, estimate_coils, head_scan, read_images, scaled
from adaptive.images.kspace_files import HDF5, IMAGES
from adaptive.operators import FourierLines
from adaptive.scanner import compare_scans, looks_like_kspace, read_scan
from adaptive.scanner.arrays import is_raw
from adaptive.scanner.scan import pieces
from adaptive.scanner.slicing import turned

if TYPE_CHECKING:
    from adaptive.scanner import Scan

__all__ = [
    "acquired_plane",
    "of_several",
    "read_heads",
    "read_maps",
    "read_raw",
    "read_reference_scan",
    "read_stack",
    "reference_of",
    "refuse_kspace",
    "require_alike",
    "require_same_grid",
    "turned_to",
]

PLANES = {"sagittal": 0, "coronal": 1, "axial": 2}
_OTHERS = 3  # slices of other heads that teach, about the one that is named
_APART = 2  # slices between them
_LARGEST_CENTRE = 32


@contextmanager
def _sentences(option: str, path: str | None) -> Iterator[None]:
    """Whatever a reader says as one line that begins with the option."""
    try:
        yield
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
    """The slices of a file, or of nibabel's head scan, and what is to be said of the volume that they are of."""
    with _sentences(option, path):
        if path is not None and _is_hdf5(path) and Path(path).is_file() and is_raw(Path(path)):
            raise ValueError(f"{Path(path).name} holds raw samples (ISMRMRD): give it as --kspace, not as an image.")
        if path is None or volume is not None or _is_volume(path):
            scan = _chosen(_shipped() if path is None else path, "image", volume)
            if scan.geometry is not None and len(scan.shape) == 3:
                straight = turned(scan, *scan.geometry.to_anatomical())
                name = head_scan().name if path is None else Path(path).name
                return ImageStack(np.moveaxis(straight.data, PLANES[plane], 0), name, plane), of_several(scan, volume)
            data = scan.data[..., 0] if scan.data.shape[-1] == 1 else scan.data
            return ImageStack(data if data.ndim == 3 else data[None], Path(str(path)).name), of_several(scan, volume)
        return read_images(path, plane), _of_raw_slices(path)


def refuse_kspace(stack: ImageStack, index: int) -> None:
    """Refuse k-space in the place of an image."""
    if looks_like_kspace(stack.stored[index]):
        raise CommandError(
            f"--image: {stack.name} holds k-space as it seems (its energy lies around one point): give it as --kspace."
        )


def read_raw(path: str, plane: str | None, index: int | None, volume: int | None, option: str = "--kspace") -> Scan:
    """Raw samples of one slice, mapped into memory until they are looked at."""
    with _sentences(option, path):
        several = _is_hdf5(path)
        scan = _chosen(path, None, volume, index if several else None)
        if scan.kind != "kspace":
            if scan.data.dtype.kind == "c" and not any(piece.any() for piece in pieces(scan.data)):
                raise ValueError(f"{scan.source} holds no sample: all of its numbers are zero.")
            raise ValueError(f"{scan.source} holds an image as it seems, and no k-space: give it as --image.")
        if len(scan.shape) == 3:
            scan = _cut(scan, plane, index)
        elif index not in (None, 0) and not several:
            raise ValueError(f"{scan.source} holds one slice, and --slice {index} asks for another.")
        return scan.finite()


def read_reference_scan(
    path: str, plane: str | None, index: int | None, volume: int | None, compress: int | str = "off"
) -> tuple[Scan, Known]:
    """A reference of the same head, image or raw: one slice, and what a plan is made from."""
    with _sentences("--reference", path):
        several = _is_hdf5(path)
        if Path(path).suffix.lower() in (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp"):
            from adaptive.scanner import Scan

            scan = Scan(read_images(path).stored[0], "image", source=Path(path).name)
        else:
            scan = _chosen(path, None, volume, index if several else None)
        n_slices = max(scan.n_slices, scan.shape[2] if len(scan.shape) == 3 else 1)
        scan = (scan if several and len(scan.shape) == 2 else _cut(scan, plane, index)).finite()
        image, coils, received = (scan.data, None, "") if scan.kind == "image" else _of_raw(scan, compress)
        image = scaled(image, scan.source)
        turn = scan.kind == "image" and scan.geometry is not None
        return scan, Known(
            [image], scan.source, True, coils, n_slices, scan.geometry, scan.protocol, turn, received, scan.readout
        )


def reference_of(
    path: str, plane: str | None, index: int | None, volume: int | None, compress: int | str
) -> tuple[Known, str]:
    """What a plan is made from, of a reference, and what is to be said of its volume; its samples are let go."""
    scan, known = read_reference_scan(path, plane, index, volume, compress)
    return known, of_several(scan, volume)


def read_heads(path: str | None, plane: str, index: int | None, volume: int | None) -> tuple[Known, str]:
    """Slices of other heads, about the one that is named; and what is to be said of their volume."""
    stack, said = read_stack(path, plane, volume)
    with _sentences("--image", path):
        middle = stack.middle if index is None else index
        refuse_kspace(stack, middle)
        wanted = [middle + _APART * (k - _OTHERS // 2) for k in range(_OTHERS)]
        inside = [k for k in wanted if 0 <= k < len(stack) and np.any(stack.stored[k])] or [middle]
        images = [stack[k].image for k in inside]
        title = stack[middle].title if len(inside) == 1 else f"{stack.plane} slices {inside} of {stack.name}".lstrip()
        return Known(images, title, False, n_slices=len(stack), anatomical=bool(stack.plane)), said


def read_maps(path: str) -> np.ndarray:
    """Coil maps (coils, h, w) of ``--coils FILE``."""
    with _sentences("--coils", path):
        scan = read_scan(path, "image" if path.endswith((".npy", ".npz")) else None)
        return np.asarray(scan.data)


def require_alike(reference: Scan, scan: Scan) -> None:
    """Refuse a reference of another place, matrix or receiver than the scan that it is to plan."""
    cropped = (one.without_oversampling() for one in (reference, scan))  # which is what is compared in images
    differences = compare_scans(*cropped, protocol=False)
    if differences:
        raise CommandError(f"--reference: {differences[0]}")


def turned_to(known: Known, reference: Scan, scan: Scan) -> Known:
    """What a reference shows, with the axes of the scan in order and direction, where both say how they lie.

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


def require_same_grid(reference: str, image: str | None, volume: int | None) -> None:
    """Refuse a reference volume that lies otherwise in the patient than the volume of the image, where both say how."""
    paths = [reference, str(_shipped()) if image is None else image]
    if not all(map(_is_volume, paths)):
        return
    with _sentences("--reference", reference):
        first = _chosen(paths[0], "image", None)
    with _sentences("--image", image):
        second = _chosen(paths[1], "image", volume)
    if first.geometry is not None and second.geometry is not None:
        require_alike(first, second)


def _is_hdf5(path: str) -> bool:
    return Path(path).name.lower().endswith((".h5", ".hdf5", ".mrd"))


def _of_raw_slices(path: str) -> str:
    """What is to be said of images that a file of raw samples does not hold."""
    import h5py

    if not Path(path).name.lower().endswith(HDF5):
        return ""
    with h5py.File(path, "r") as file:
        if any(name in file for name in IMAGES):
            return ""
    return f"{Path(path).name} holds raw samples: their images are scanned in simulation; --kspace replays them."


def _is_volume(path: str) -> bool:
    """Whether a file, or a folder, knows anatomical axes."""
    given = Path(path)
    name = given.name.lower()
    if given.is_dir() or name.endswith((".dcm", ".ima", ".nii", ".nii.gz", ".mgz", ".mgh", ".mnc")):
        return True
    if name.endswith(".npy") and given.is_file():
        with suppress(ValueError, OSError):  # said when it is read
            return np.load(given, mmap_mode="r", allow_pickle=False).ndim == 4
    return False


def _chosen(path: str | Path, kind: str | None, volume: int | None, index: int | None = None) -> Scan:
    """A scan; of several volumes the first where none was named."""
    try:
        return read_scan(path, kind, volume=volume, index=index)
    except ValueError as error:
        if volume is not None or "volume" not in str(error):
            raise
        return read_scan(path, kind, volume=0, index=index)


def _cut(scan: Scan, plane: str | None, index: int | None) -> Scan:
    """One slice; what has no place in the patient, or is a slice of its own plane, is cut whatever plane was named."""
    if scan.geometry is None or len(scan.shape) == 2 or scan.geometry.matrix[2] == 1:
        plane = None
    return scan.slice(plane, index)


def of_several(scan: Scan, volume: int | None) -> str:
    """What is to be said where nobody chose among several volumes."""
    if volume is not None or scan.n_volumes == 1:
        return ""
    return f"Volume {scan.volume} of {scan.n_volumes}; --volume takes another."


def _shipped() -> Path:
    import nibabel

    return Path(nibabel.__file__).parent / "tests" / "data" / "example4d.nii.gz"


def _of_raw(scan: Scan, compress: int | str) -> tuple[np.ndarray, np.ndarray | None, str]:
    """The complex image of raw samples, the maps of their coils, and how many these were."""
    whole = scan.without_oversampling()
    sampled = whole.sampled
    if sampled is None or not sampled.all():
        raise ValueError(f"{scan.source} was not sampled completely, and a reference has to be.")
    if whole.coils is None:
        return FourierLines(whole.shape, range(whole.shape[0])).adjoint(whole.data), None, ""
    data, _, said = compressed(np.asarray(whole.data), compress, "--reference", scan.source)
    maps = estimate_coils(data, min(_LARGEST_CENTRE, *whole.shape))
    images = FourierLines(whole.shape, range(whole.shape[0])).adjoint(data)
    return np.sum(maps.conj() * images, axis=0), maps, said
