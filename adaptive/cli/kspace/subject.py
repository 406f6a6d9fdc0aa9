"""The two slices of ``adaptive kspace``: the one that chooses the lines, and the one beside it."""

from __future__ import annotations

from dataclasses import dataclass

from adaptive.cli.errors import CommandError
from adaptive.cli.kspace.reading import read_stack, refuse_kspace
from adaptive.images import ImageStack, Slice

__all__ = ["MULTIPLE", "Subject", "read_reference", "read_subject"]

MULTIPLE = 16  # of the sides, for four levels of wavelets
_SMALLEST = 16


@dataclass(frozen=True)
class Subject:
    """A slice and its neighbour, padded for the wavelets.

    Attributes
    ----------
    same : Slice
        Chooses the lines.
    neighbour : Slice or None
    training : Slice or None
        A third one, on which what comparison designs and reconstructions are given is tuned; None: on ``same``.
    alone : str
        Why there is no neighbour; empty where there is one.
    padded : str
        What was padded; empty if nothing was.
    said : str
        Which of several volumes it is; empty where there is one, or it was named.
    """

    same: Slice
    neighbour: Slice | None
    training: Slice | None
    alone: str
    padded: str
    said: str = ""


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
    refuse_kspace(stack, index)
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


def read_reference(path: str, like: Slice, plane: str = "axial") -> Slice:
    """Read a reference scan: the slice of the same index, or the only one, of the same size.

    Raises
    ------
    CommandError
        If it cannot be read, or is of another size.
    """
    try:
        stack, _ = read_stack(path, plane, None, "--reference")
        found = stack[min(like.index, len(stack) - 1)].padded(MULTIPLE)
    except (ValueError, IndexError) as error:
        raise CommandError(f"--reference: {error}") from None
    if found.image.shape != like.image.shape:
        raise CommandError(
            f"--reference: {found.title} has {found.image.shape[0]} x {found.image.shape[1]} pixels (padded), "
            f"{like.title} {like.image.shape[0]} x {like.image.shape[1]}."
        )
    return found


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
