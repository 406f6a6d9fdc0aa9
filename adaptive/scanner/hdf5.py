"""HDF5, whatever is in it: what a file holds itself, each call a sentence where the file is damaged.

A link to another file, and samples that lie in another file, are refused: a scan must not bring along what its name
does not say. Memory is asked for before numbers are read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import EllipsisType
from typing import Any

import numpy as np

from adaptive.memory import require_memory
from adaptive.scanner.hdf5_heaps import has_endless_heap
from adaptive.scanner.sentences import damaged, needs, reading

__all__ = ["Hdf5", "Stored", "opened_hdf5"]

_MOST_UNPACKED = 2000  # times its bytes: what is packed by zlib is 1032 times as large at most
_HOPS = 16  # soft links behind one another


@contextmanager
def opened_hdf5(path: Path, package: str = "h5py") -> Iterator[Hdf5]:
    """Open an HDF5 file; a sentence where it is damaged, or ``package`` is absent."""
    needs(package, f"reading {path.name}")
    import h5py

    with reading(path.name):
        if has_endless_heap(path):
            raise ValueError("a list of its objects has no end")
        file = h5py.File(path, "r")
    try:
        yield Hdf5(path.name, file)
    finally:
        with reading(path.name):
            file.close()


class Hdf5:
    """An open file, or a group of it.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    group : h5py.Group
    """

    def __init__(self, name: str, group: Any) -> None:
        self.name, self._group = name, group

    def names(self) -> list[str]:
        """Return what is at the top."""
        with reading(self.name):
            return [str(key) for key in self._group]

    def group(self, name: str) -> Hdf5 | None:
        """Return a group, None where nothing or a data set has this name."""
        found = self._found(name)
        return Hdf5(self.name, found) if hasattr(found, "keys") else None

    def data(self, name: str) -> Stored | None:
        """Return a data set, None where nothing or a group has this name."""
        found = self._found(name)
        return Stored(self.name, name, found) if hasattr(found, "dtype") and hasattr(found, "shape") else None

    def _found(self, name: str) -> Any:
        """Look a name up link by link, so that no other file is opened on the way."""
        import h5py

        group, parts, hops = self._group, [part for part in name.split("/") if part], 0
        while parts:
            part = parts.pop(0)
            with reading(self.name):
                link = group.get(part, getlink=True) if hasattr(group, "keys") else None
            if link is None:
                return None
            if isinstance(link, h5py.ExternalLink):
                raise ValueError(
                    f"{self.name} does not hold {name!r} itself: it links to the file {link.filename!r}, and other "
                    "files are not read along; read that one."
                )
            if isinstance(link, h5py.SoftLink):
                hops += 1
                if hops > _HOPS:
                    raise damaged(self.name, ValueError(f"the links of {name!r} lead nowhere"))
                with reading(self.name):
                    parts = [one for one in link.path.split("/") if one] + parts
                    group = group.file if link.path.startswith("/") else group
                continue
            with reading(self.name):
                group = group[part]
        return group


class Stored:
    """A data set of an open file, whose numbers are read when they are asked for.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    """

    def __init__(self, file: str, name: str, stored: Any) -> None:
        with reading(file):
            self.shape, self.dtype = tuple(stored.shape or ()), np.dtype(stored.dtype)
            elsewhere = [str(one[0]) for one in stored.external or ()]
            if stored.is_virtual:
                elsewhere += [one.file_name for one in stored.virtual_sources() if one.file_name != "."]
            there = int(stored.id.get_storage_size())
            announced = math.prod(self.shape) * self.dtype.itemsize
            virtual = bool(stored.is_virtual)
        if elsewhere:
            raise ValueError(
                f"{file} does not hold {name!r} itself: its numbers lie in the file {elsewhere[0]!r}, and other files "
                "are not read along."
            )
        self.file, self.name, self._stored = file, name, stored
        if announced and not there and not virtual:
            raise ValueError(f"{file} holds no numbers: its data set {name!r} was made and never written.")
        if announced > _MOST_UNPACKED * there and not virtual:
            why = f"its data set {name!r} announces {announced} bytes and holds {there}"
            raise damaged(file, ValueError(why))

    def read(self, index: int | slice | list[int] | EllipsisType = ..., copies: int = 2) -> np.ndarray:
        """Return numbers along the first axis; memory for them is asked for before."""
        n = len(index) if isinstance(index, list) else 1 if isinstance(index, int) else None
        if isinstance(index, slice):
            n = len(range(*index.indices(self.shape[0])))
        require_memory(self.file, self.shape if n is None else (n, *self.shape[1:]), self.dtype, copies)
        with reading(self.file):
            return np.asarray(self._stored[index])

    def field(self, name: str, index: slice | list[int] = slice(None)) -> np.ndarray:
        """Return one field of records."""
        with reading(self.file):
            return np.asarray(self._stored.fields(name)[index])

    def check_lists(self) -> None:
        """Refuse records with a list that is longer than the whole file: the library would take memory for it first."""
        import h5py

        with reading(self.file):
            kind, most = self._stored.id.get_type(), self._stored.file.id.get_filesize()
            if self._stored.chunks is None or self._stored.compression is not None or not hasattr(kind, "get_nmembers"):
                return
            lists = [k for k in range(kind.get_nmembers()) if kind.get_member_class(k) == h5py.h5t.VLEN]
            offsets = [kind.get_member_offset(k) for k in lists]
            sizes = [kind.get_member_type(k).get_super().get_size() for k in lists]
            record = np.dtype({
                "names": [f"list {k}" for k in lists], "formats": ["<u4"] * len(lists), "offsets": offsets,
                "itemsize": kind.get_size(),
            })  # fmt: skip
            for number in range(self._stored.id.get_num_chunks()):
                chunk = self._stored.id.read_direct_chunk(self._stored.id.get_chunk_info(number).chunk_offset)[1]
                records = np.frombuffer(chunk, record, len(chunk) // record.itemsize)
                for k, size in zip(lists, sizes, strict=True):
                    if records[f"list {k}"].astype(np.int64).max(initial=0) * size > most:
                        raise ValueError("one of its lists is longer than the file")

    def text(self) -> Any:
        """Return a header: of one entry that entry."""
        with reading(self.file):
            return self._stored[()] if self.shape == () else self._stored[0]
