"""Sentences that readers share: what to install, what is damaged, which of several is meant."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from adaptive.checks import integer

__all__ = ["chosen", "damaged", "needs", "opened_hdf5"]


def needs(package: str, what: str) -> None:
    """Raise ``ImportError`` with what to install, if a package is absent.

    Examples
    --------
    >>> needs("no_such_package", "reading it")
    Traceback (most recent call last):
    ImportError: reading it needs no_such_package: pip install 'adaptive-designs[mri]'.
    """
    if find_spec(package) is None:
        raise ImportError(f"{what} needs {package}: pip install 'adaptive-designs[mri]'.")


def damaged(name: str, reason: BaseException) -> ValueError:
    """The sentence about a file that cannot be read."""
    why = " ".join(str(reason).split())[:200] or type(reason).__name__
    return ValueError(f"{name} cannot be read; it seems to be damaged or not what its name says ({why}).")


def opened_hdf5(path: Path, package: str = "h5py") -> Any:
    """An HDF5 file, to be closed by the caller; a sentence where it is damaged, or ``package`` is absent."""
    needs(package, f"reading {path.name}")
    import h5py

    try:
        return h5py.File(path, "r")
    except OSError as reason:
        raise damaged(path.name, reason) from reason


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
