"""Arrays of the BART toolbox: NAME.hdr holds the lengths of the axes, NAME.cfl complex single-precision numbers.

The first axis runs fastest, as in Fortran. By BART's convention axes 0 to 2 are space or frequency, axis 3 is the coil.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adaptive.checks import finite
from adaptive.memory import require_memory

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["read_cfl", "write_cfl"]

_NUMBER = np.dtype("<c8")
_MOST_AXES = 16


def read_cfl(path: str | os.PathLike[str], *, mapped: bool = False) -> np.ndarray:
    """Read an array of BART.

    Parameters
    ----------
    path : str or Path
        ``NAME``, ``NAME.cfl`` or ``NAME.hdr``; both files must be there.
    mapped : bool, default False
        Leave the numbers in the file, and read those that are looked at (a memory map, which cannot be written to).

    Returns
    -------
    ndarray of the stored shape, complex64
        Without the axes of length one at the end.

    Raises
    ------
    FileNotFoundError
        If one of the two files is not there.
    ValueError
        If they do not belong together, are damaged, or the array does not fit into memory.

    Examples
    --------
    >>> import tempfile
    >>> from adaptive.images import write_cfl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_cfl(f"{folder}/kspace", np.ones((4, 3)))
    ...     read_cfl(path).shape
    (4, 3)
    """
    header, numbers = _files(path)
    for file in (header, numbers):
        if not file.is_file():
            raise FileNotFoundError(f"there is no file {file}; an array of BART is NAME.hdr and NAME.cfl.")
    shape = _lengths(header)
    if not mapped:
        require_memory(numbers.name, shape, _NUMBER)
    wanted, there = int(np.prod([int(side) for side in shape], dtype=object)) * _NUMBER.itemsize, numbers.stat().st_size
    if wanted != there:
        raise ValueError(
            f"{numbers.name} is damaged or not complete: {header.name} announces shape {shape}, {wanted} bytes, and it "
            f"holds {there}."
        )
    if mapped:
        return np.memmap(numbers, _NUMBER, "r", shape=shape, order="F")
    return np.fromfile(numbers, _NUMBER).reshape(shape, order="F").astype(np.complex64, copy=False)


def write_cfl(path: str | os.PathLike[str], array: ArrayLike) -> Path:
    """Write an array for BART.

    Parameters
    ----------
    path : str or Path
        ``NAME`` or ``NAME.cfl``; ``NAME.hdr`` is written beside it.
    array : array of numbers, of any shape of at most 16 axes

    Returns
    -------
    Path
        Of the ``.cfl`` file.

    Raises
    ------
    ValueError
        If the array is empty, or has more axes than the format.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_cfl(f"{folder}/kspace", np.ones((4, 3))).name
    'kspace.cfl'
    """
    array = finite("array", array, dtype=complex)
    if array.ndim > _MOST_AXES or array.size == 0:
        raise ValueError(f"array must hold something and have at most {_MOST_AXES} axes, got shape {array.shape}.")
    header, numbers = _files(path)
    lengths = [*array.shape, *[1] * (_MOST_AXES - array.ndim)]
    array.astype(_NUMBER).ravel(order="F").tofile(numbers)
    header.write_text("# Dimensions\n" + " ".join(map(str, lengths)) + "\n", encoding="ascii")
    return numbers


def _files(path: str | os.PathLike[str]) -> tuple[Path, Path]:
    path = Path(path).expanduser()
    base = path.with_suffix("") if path.suffix in (".cfl", ".hdr") else path
    return base.with_name(base.name + ".hdr"), base.with_name(base.name + ".cfl")


def _lengths(header: Path) -> tuple[int, ...]:
    lines = header.read_text(encoding="ascii", errors="replace").splitlines()
    for title, line in pairwise(lines):
        if title.strip().lower() == "# dimensions":
            words = line.split()
            if words and all(word.isdecimal() and len(word) < 16 and int(word) > 0 for word in words):
                sides = [int(word) for word in words]
                while len(sides) > 1 and sides[-1] == 1:
                    sides.pop()
                return tuple(sides)
            break
    raise ValueError(f"{header.name} is damaged: it does not say the lengths of the axes after '# Dimensions'.")
