"""The two slices of ``adaptive kspace``: the one that chooses the lines, and the one beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from adaptive.cli.errors import CommandError
from adaptive.images import ImageStack, Slice, head_scan, read_images

__all__ = ["Subject", "read_subject"]

_MULTIPLE = 16  # of the sides, for four levels of wavelets
_SMALLEST = 16


@dataclass(frozen=True)
class Subject:
    """A slice and its neighbour, padded for the wavelets.

    Attributes
    ----------
    same : Slice
        Chooses the lines; comparison designs are tuned on it.
    neighbour : Slice or None
    alone : str
        Why there is no neighbour; empty where there is one.
    padded : str
        What was padded; empty if nothing was.
    """

    same: Slice
    neighbour: Slice | None
    alone: str
    padded: str


def read_subject(path: str | None, index: int | None) -> Subject:
    """Read slice ``index`` (default: the middle one) of a file (default: nibabel's head scan) and the one beside it.

    Raises
    ------
    CommandError
        If the file or the slice does not exist, cannot be read, is empty or too small.
    """
    try:
        stack = head_scan() if path is None else read_images(Path(path))
        index = stack.middle if index is None else index
        same = stack[index]
    except IndexError as error:
        raise CommandError(f"--slice {index}: {error}") from None
    except OSError as error:
        raise CommandError(
            f"--image: {error}" if error.errno is None else f"--image: {error.strerror}: {path}."
        ) from None
    except (ValueError, ImportError) as error:
        raise CommandError(f"--image: {error}") from None
    height, width = same.image.shape
    if min(height, width) < _SMALLEST:
        raise CommandError(
            f"--image: {same.title} has {height} x {width} pixels; at least {_SMALLEST} x {_SMALLEST} are needed."
        )
    neighbour, alone = _beside(stack, index)
    prepared = same.padded(_MULTIPLE)
    sizes = f"zeros around {height} x {width} pixels, to {prepared.image.shape[0]} x {prepared.image.shape[1]}"
    return Subject(
        prepared,
        None if neighbour is None else neighbour.padded(_MULTIPLE),
        alone,
        "" if prepared.image.shape == same.image.shape else sizes,
    )


def _beside(stack: ImageStack, index: int) -> tuple[Slice | None, str]:
    where = stack.neighbour(index)
    if where is None:
        return None, f"{stack.name} is a single image"
    try:
        return stack[where], ""
    except ValueError as error:
        return None, f"the slice beside it cannot serve: {error}".rstrip(".")
