"""Frames of DICOM: every image of a file or folder with what is said of it, sorted by where it lies.

normal = row direction x column direction,      place of a slice along it = normal . position
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adaptive.scanner.sentences import damaged, reading

__all__ = ["Frame", "frames_of", "normal_of", "places_of", "require_alike", "stated"]

_STEP = 1e-3  # mm: positions nearer than this are one
_GAP = 0.05  # of the distance of slices, by which distances may differ
_MOST_FRAMES = 100_000  # of one file
_TURN = 1e-4  # by which direction cosines of one series may differ


class Frame(NamedTuple):
    """One image of a file."""

    path: Path
    number: int  # of the frame in its file
    head: Any
    instance: int
    order: tuple[Any, ...]  # of the volumes of one place
    position: tuple[float, ...] | None  # mm, left posterior superior
    orientation: tuple[float, ...] | None
    spacing: tuple[float, ...] | None


def frames_of(path: Path) -> list[Frame]:
    """Every image of a file, or of the files of a folder; other files there are passed over."""
    from pydicom import dcmread
    from pydicom.errors import InvalidDicomError

    files = sorted(one for one in path.iterdir() if one.is_file()) if path.is_dir() else [path]
    found: list[Frame] = []
    for file in files:
        try:
            head = dcmread(file, stop_before_pixels=True)
            has_rows = "Rows" in head
        except InvalidDicomError:
            if path.is_dir():
                continue
            raise damaged(file.name, ValueError("no DICOM file")) from None
        except Exception as reason:  # a dozen kinds, by where the file is cut off
            raise damaged(file.name, reason) from reason
        if has_rows:
            found += [_frame(file, head, k) for k in range(_frames_in(file, head))]
        elif _announces_an_image(file, head):
            raise damaged(file.name, ValueError("it ends before it says the size of its image"))
    if not found:
        inner = sorted(one.name for one in path.iterdir() if one.is_dir()) if path.is_dir() else []
        hint = f"; choose one of its folders, such as {inner[0]}" if inner else ""
        raise ValueError(f"{path.name} holds no image of DICOM{hint}.")
    return found


def _announces_an_image(file: Path, head: Any) -> bool:
    """Tell what is left of an image from a list or report: a file without rows."""
    with reading(file.name):
        kind = getattr(getattr(head, "file_meta", None), "MediaStorageSOPClassUID", None)
        return not len(head) or (kind is not None and "Image Storage" in kind.name)


def _frames_in(file: Path, head: Any) -> int:
    with reading(file.name):
        colours, frames = int(head.get("SamplesPerPixel") or 1), int(head.get("NumberOfFrames") or 1)
        rows, columns = int(head.Rows), int(head.Columns)
    if colours != 1:
        raise ValueError(f"{file.name} is a colour picture; a scan has one number per pixel.")
    if min(rows, columns, frames) < 1:
        raise damaged(file.name, ValueError(f"it announces {frames} images of {rows} x {columns}"))
    if frames > _MOST_FRAMES:
        raise damaged(file.name, ValueError(f"it announces {frames} images"))
    return frames


def _frame(file: Path, head: Any, number: int) -> Frame:
    with reading(file.name):
        position = stated(head, number, "PlanePositionSequence", "ImagePositionPatient")
        orientation = stated(head, number, "PlaneOrientationSequence", "ImageOrientationPatient")
        spacing = stated(head, number, "PixelMeasuresSequence", "PixelSpacing")
        echo = stated(head, number, "MREchoSequence", "EffectiveEchoTime") or head.get("EchoTime")
        instance = int(head.get("InstanceNumber") or 0)
        kind = "\\".join(map(str, head.get("ImageType") or ()))
        order = (kind, float(echo or 0), int(head.get("AcquisitionNumber") or 0), instance, number)
        given = [None if one is None else tuple(float(x) for x in one) for one in (position, orientation, spacing)]
    numbers = [one or None for one in given]  # an empty statement is none
    lengths = [None if one is None else len(one) for one in numbers]
    if any(n not in (None, wanted) for n, wanted in zip(lengths, (3, 6, 2), strict=True)):
        raise ValueError(f"{file.name} is damaged: position, orientation and spacing must have 3, 6 and 2 numbers.")
    if not all(one is None or np.isfinite(one).all() for one in numbers):
        raise ValueError(f"{file.name} is damaged: position, orientation and spacing must be finite numbers.")
    if numbers[1] is not None and np.linalg.norm(np.cross(numbers[1][:3], numbers[1][3:])) < _STEP:
        raise ValueError(f"{file.name} is damaged: its rows and columns run in the same direction.")
    if numbers[2] is not None and min(numbers[2]) <= 0:
        raise ValueError(f"{file.name} is damaged: the spacing of its pixels must be > 0, got {_short(numbers[2])}.")
    return Frame(file, number, head, instance, order, *numbers)


def stated(head: Any, number: int, sequence: str, name: str) -> Any:
    """Statement about one frame: in its own part of the header, in the part that all share, or in the header."""
    for groups, at in (("PerFrameFunctionalGroupsSequence", number), ("SharedFunctionalGroupsSequence", 0)):
        items = head.get(groups) or []
        inner = items[at].get(sequence) if at < len(items) else None
        if inner and name in inner[0]:
            return inner[0][name].value
    return head.get(name)


def require_alike(path: Path, frames: list[Frame]) -> None:
    """Raise ``ValueError`` where frames are not those of one series: size, orientation and spacing of pixels."""
    series = Counter(str(one.head.get("SeriesInstanceUID", "")) for one in frames)
    if len(series) > 1:
        names: dict[str, str] = {}
        for one in frames:
            key = str(one.head.get("SeriesInstanceUID", ""))
            names.setdefault(key, str(one.head.get("SeriesDescription", "") or f"series {len(names)}"))
        listed = ", ".join(f"{names[key]!r} ({n} images)" for key, n in series.items())
        raise ValueError(f"{path.name} holds {len(series)} series, {listed}: keep each in a folder of its own.")
    sizes = Counter((int(one.head.Rows), int(one.head.Columns)) for one in frames)
    if len(sizes) > 1:
        listed = ", ".join(f"{h} x {w} ({n} images)" for (h, w), n in sizes.items())
        raise ValueError(f"{path.name} holds images of several sizes: {listed}.")
    first = frames[0]
    for one in frames[1:]:
        if (one.position is None) != (first.position is None) or (one.orientation is None) != (
            first.orientation is None
        ):
            raise ValueError(
                f"{one.path.name} does not say how it lies in the patient, and {first.path.name} does, or "
                "the other way round."
            )
        for name, own, others in (
            ("orientation", one.orientation, first.orientation),
            ("pixel spacing", one.spacing, first.spacing),
        ):
            if own is not None and others is not None and not np.allclose(own, others, rtol=0, atol=_TURN):
                raise ValueError(
                    f"{path.name} mixes images: the {name} of {one.path.name} is {_short(own)}, of {first.path.name} "
                    f"{_short(others)}."
                )


def _short(numbers: tuple[float, ...]) -> str:
    return ", ".join(f"{one:.4g}" for one in numbers)


def places_of(path: Path, frames: list[Frame]) -> list[list[Frame]]:
    """The frames of every place, in the order of their instance numbers along the normal; at each, the volumes."""
    if frames[0].position is None or frames[0].orientation is None:
        return _by_number(path, frames)
    normal = normal_of(frames[0])
    along = np.array([float(normal @ np.array(one.position)) for one in frames])
    groups: list[list[int]] = []
    for k in np.argsort(along, kind="stable"):
        if groups and along[k] - along[groups[-1][0]] < _STEP:
            groups[-1].append(int(k))
        else:
            groups.append([int(k)])
    usually = Counter(map(len, groups)).most_common(1)[0][0]
    odd_one = next((group for group in groups if len(group) != usually), None)
    if odd_one is not None:
        n, names = len(odd_one), [frames[k].path.name for k in odd_one]
        what, files = ("lacks images", f"near {names[0]}") if n < usually else ("holds too many", " and ".join(names))
        raise ValueError(
            f"{path.name} {what}: there {_are(usually)} of most places and {n} at {along[odd_one[0]]:.2f} mm "
            f"({files}); a slice is missing, or a file is there twice."
        )
    distances = np.diff([along[group[0]] for group in groups])
    if len(distances):
        usual = float(np.median(distances))
        odd = np.flatnonzero(np.abs(distances - usual) > _GAP * usual)
        if len(odd):
            at = along[groups[odd[0]][0]]
            raise ValueError(
                f"{path.name} lacks a slice: after {at:.2f} mm the next lies {distances[odd[0]]:.2f} mm on, and "
                f"slices are {usual:.2f} mm apart."
            )
    found = [sorted((frames[k] for k in group), key=lambda one: one.order) for group in groups]
    first, last = found[0][0], found[-1][0]
    return found[::-1] if (first.instance, first.number) > (last.instance, last.number) else found


def _are(n: int) -> str:
    return "is 1" if n == 1 else f"are {n}"


def _by_number(path: Path, frames: list[Frame]) -> list[list[Frame]]:
    """Frames that do not say where they lie: in order of their numbers, none missing, none twice."""
    ordered = sorted(frames, key=lambda one: (one.instance, one.number))
    numbers = [(one.instance, one.number) for one in ordered]
    twice = [one for one, n in Counter(numbers).items() if n > 1]
    if twice:
        raise ValueError(f"{path.name} holds image {twice[0][0]} twice, and images do not say where they lie.")
    gaps = [one[0] for one, after in pairwise(numbers) if after[0] - one[0] > 1]
    if gaps:
        raise ValueError(f"{path.name} lacks a slice: after image {gaps[0]} there is no image {gaps[0] + 1}.")
    return [[one] for one in ordered]


def normal_of(frame: Frame) -> np.ndarray:
    """Row direction x column direction, (3,), left posterior superior."""
    assert frame.orientation is not None
    return np.cross(frame.orientation[:3], frame.orientation[3:])
