"""Texts or pictures as vectors of somebody's network: encoded once, kept in a folder, gone on with after a kill."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.files import write_file
from adaptive.names import public_name
from adaptive.showing import bar

__all__ = ["embed"]


def embed(
    items: Sequence[Any],
    encoder: Callable[[list[Any]], Any],
    *,
    cache: str | Path | None = None,
    name: str | None = None,
    batch_size: int = 64,
    progress: bool = True,
) -> np.ndarray:
    """Return the vectors (n, d) that an encoder makes of texts or pictures, in single precision, each made once.

    Parameters
    ----------
    items : sequence of n texts, paths of files, bytes or arrays
        A path is given to the encoder as it is; for the cache its file's content counts.
    encoder : callable (list of at most ``batch_size`` items) -> (len, d) array of numbers
        Whatever you have: ``SentenceTransformer(...).encode``, a scikit-learn transformer's ``transform``, a function.
    cache : folder, optional
        Vectors are kept there, batch by batch, in a ``.npy`` file named by the content of the items and by ``name``.
        A call that was stopped goes on where it was, a later one about the same items reads the file, without a copy
        in memory.
    name : str, optional
        Of the encoder, since a function's content cannot be told: give another one, say its version, where the encoder
        has changed. Default: the name of the function or of its class.
    batch_size : int, default 64
    progress : bool, default True
        Show a bar where this takes longer than two seconds, on a terminal.

    Returns
    -------
    (n, d) array of float32
        With ``cache`` a read-only memory map.

    Raises
    ------
    ValueError
        If the encoder returns another number of vectors than it was given items, vectors of another length than
        before, or numbers that are not finite; the batch is named.

    Examples
    --------
    >>> def lengths(texts):
    ...     return [[len(text), text.count(" ")] for text in texts]
    >>> embed(["a rose", "is a rose"], lengths)
    array([[6., 1.],
           [9., 2.]], dtype=float32)
    """
    if isinstance(items, (str, bytes)) or not hasattr(items, "__len__"):
        raise ValueError(f"items must be a sequence of texts, paths, bytes or arrays, got {type(items).__name__}.")
    if batch_size < 1:
        raise ValueError(f"batch_size must be an integer of at least 1, got {batch_size}.")
    listed = list(items)
    if not listed:
        raise ValueError("items must hold at least one text or picture, got none.")
    if cache is None:
        return np.concatenate(list(_Encoding(listed, encoder, batch_size).batches(progress, lambda number: None)))
    folder = Path(cache)
    folder.mkdir(parents=True, exist_ok=True)
    called = name or public_name(encoder if hasattr(encoder, "__qualname__") else type(encoder))
    whole = folder / f"{_digest(listed, called)}.npy"
    if not whole.exists():
        _into(whole, _Encoding(listed, encoder, batch_size), progress)
    return np.load(whole, mmap_mode="r")


class _Encoding:
    """Items to encode, batch by batch."""

    def __init__(self, items: list[Any], encoder: Callable[[list[Any]], Any], batch_size: int) -> None:
        self.items, self.encoder, self.size = items, encoder, batch_size

    def batch(self, start: int, width: int | None) -> np.ndarray:
        """Vectors of the batch that begins at ``start``, checked; ``width``: of those before."""
        some = self.items[start : start + self.size]
        where = f"items {start} to {start + len(some) - 1}"
        found = self.encoder(some)
        vectors = np.asarray(found.toarray() if hasattr(found, "toarray") else found)
        if vectors.ndim != 2 or vectors.dtype.kind not in "biuf" or len(vectors) != len(some):
            raise ValueError(
                f"encoder must return one vector of numbers for each item, ({len(some)}, d), got {vectors.dtype} of "
                f"shape {vectors.shape} for {where}."
            )
        if width is not None and vectors.shape[1] != width:
            raise ValueError(
                f"encoder must return vectors of one length: {width} numbers before, {vectors.shape[1]} for {where}."
            )
        with np.errstate(over="ignore"):
            single = vectors.astype(np.float32)
        if not np.isfinite(single).all():
            first = start + int(np.flatnonzero(~np.isfinite(single).all(axis=1))[0])
            raise ValueError(f"encoder must return finite numbers, got nan or infinity for item {first} ({where}).")
        return single

    def batches(self, progress: bool, kept: Callable[[int], np.ndarray | None]) -> Iterator[np.ndarray]:
        """Yield the vectors of batch after batch; what is ``kept`` of one is not encoded again."""
        width = None
        with bar() if progress else nullcontext(_silent) as show:
            for number, start in enumerate(range(0, len(self.items), self.size)):
                vectors = kept(number)
                if vectors is None:
                    vectors = self.batch(start, width)
                width = vectors.shape[1]
                show((start + len(vectors)) / len(self.items), f"{start + len(vectors)} of {len(self.items)} encoded")
                yield vectors


def _silent(fraction: float, text: str) -> None:
    """Show nothing."""


def _into(whole: Path, encoding: _Encoding, progress: bool) -> None:
    """Encode into files of one batch, each whole or not there, and put these into one, a batch at a time."""
    parts = whole.with_name(f"{whole.stem}-{encoding.size}.parts")
    parts.mkdir(exist_ok=True)

    def kept(number: int) -> np.ndarray | None:
        path = parts / f"{number}.npy"
        return np.load(path) if path.exists() else None

    width = 0
    for number, vectors in enumerate(encoding.batches(progress, kept)):
        width = vectors.shape[1]
        if not (parts / f"{number}.npy").exists():
            packed = io.BytesIO()
            np.save(packed, vectors)
            write_file(parts / f"{number}.npy", packed.getvalue())
    partial = parts / "whole.npy"
    joined = np.lib.format.open_memmap(partial, mode="w+", dtype=np.float32, shape=(len(encoding.items), width))
    for number, start in enumerate(range(0, len(encoding.items), encoding.size)):
        joined[start : start + encoding.size] = np.load(parts / f"{number}.npy")
    joined.flush()
    os.replace(partial, whole)
    shutil.rmtree(parts)


def _digest(items: list[Any], called: str) -> str:
    digest = hashlib.blake2b(called.encode(), digest_size=16)
    for item in items:
        if isinstance(item, Path):
            content = b"path" + item.read_bytes()
        elif isinstance(item, str):
            content = b"text" + item.encode("utf-8", "surrogatepass")
        elif isinstance(item, bytes):
            content = b"bytes" + item
        else:
            array = np.asarray(item)
            if array.dtype.kind == "O":
                raise ValueError(f"items must be texts, paths, bytes or arrays of numbers, got {type(item).__name__}.")
            content = f"array {array.dtype.str} {array.shape}".encode() + np.ascontiguousarray(array).tobytes()
        digest.update(hashlib.blake2b(content, digest_size=16).digest())
    return digest.hexdigest()
