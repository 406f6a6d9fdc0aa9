"""Sentences that readers share: what to install, what is damaged, which of several is meant."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from adaptive.checks import integer

__all__ = ["chosen", "damaged", "image_shape", "needs", "one_warning", "reading", "with_ending"]


def needs(package: str, what: str, extra: str = "mri") -> None:
    """Raise ``ImportError`` with what to install, if a package is absent.

    Examples
    --------
    >>> needs("no_such_package", "reading it")
    Traceback (most recent call last):
    ImportError: reading it needs no_such_package: pip install 'adaptive-designs[mri]'.
    """
    if find_spec(package) is None:
        raise ImportError(f"{what} needs {package}: pip install 'adaptive-designs[{extra}]'.")


def with_ending(path: str | os.PathLike[str], endings: Sequence[str], kind: str) -> Path:
    """Return a path to write to, or raise ``ValueError`` where it does not end as files of this kind do.

    Examples
    --------
    >>> with_ending("plan.txt", (".h5", ".mrd"), "ISMRMRD")
    Traceback (most recent call last):
    ValueError: plan.txt has an unknown ending; ISMRMRD files end in .h5 or .mrd.
    """
    path = Path(path).expanduser()
    if path.suffix.lower() not in endings:
        raise ValueError(f"{path.name} has an unknown ending; {kind} files end in {' or '.join(endings)}.")
    return path


def image_shape(design: Any) -> tuple[int, ...]:
    """Return the shape of the image that a design measures.

    Lines, phase encodes and shots are known by what they hold: the designs import this package, not the other way.
    """
    if not hasattr(design, "image_shape") or not hasattr(design, "take"):
        raise ValueError(f"design must be a pool of lines, phase encodes or shots, got {type(design).__name__}.")
    return tuple(int(side) for side in design.image_shape)


def damaged(name: str, reason: BaseException) -> ValueError:
    """The sentence about a file that cannot be read."""
    why = " ".join(str(reason).split())[:200] or type(reason).__name__
    return ValueError(f"{name} cannot be read; it seems to be damaged or not what its name says ({why}).")


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Let whatever a package raises over the bytes of a file be the sentence of `damaged`.

    Around calls of that package only: sentences of ours, which say more, are raised outside.

    Examples
    --------
    >>> with reading("raw.h5"):
    ...     {}["header"]
    Traceback (most recent call last):
    ValueError: raw.h5 cannot be read; it seems to be damaged or not what its name says ('header').
    """
    try:
        yield
    except MemoryError as reason:
        raise ValueError(f"{name} does not fit into memory; read a part of it.") from reason
    except Exception as reason:  # a dozen kinds, by format and by where the file is cut off
        raise damaged(name, reason) from reason


@contextmanager
def one_warning(name: str) -> Iterator[None]:
    """Say the first of what a package warns of while it reads a file, and how many more there were.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as said, one_warning("raw.dcm"):
    ...     warnings.simplefilter("always")
    ...     for _ in range(3):
    ...         warnings.warn("an odd value")
    >>> [str(one.message) for one in said]
    ['raw.dcm: an odd value (and 2 more)']
    """
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        warnings.warn(f"{name}: {found[0].message}{more}", UserWarning, stacklevel=4)


def chosen(name: str, argument: str, value: int | None, n: int, what: str) -> int:
    """Position among n; none need be named where there is one."""
    if value is None:
        if n > 1:
            raise ValueError(f"{name} holds {n} {what}: say which one, {argument}=0 to {argument}={n - 1}.")
        return 0
    if not -n <= integer(argument, value) < n:
        there = "it holds one" if n == 1 else f"there are {n}, 0 to {n - 1}"
        raise IndexError(f"{name} has no {argument} {value}: {there}.")
    return value % n
