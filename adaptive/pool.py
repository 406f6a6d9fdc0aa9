"""Pools of candidates: anything with a length of which positions can be taken.

Arrays, SciPy sparse matrices, pandas and polars frames, lists and tuples; and lazy pools, objects with ``__len__`` and
``take(positions)`` that return a smaller pool of their kind (also, where it makes sense, ``concatenate(pools)``,
``labels(positions)`` and ``fingerprint()``), of which nothing is ever held that was not taken. Arrays that are stored
elsewhere and read by slices (memory maps, h5py, dask, zarr) are read a chunk at a time.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from scipy import sparse

from adaptive.names import public_name

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Frame, LazyPool, Pool

__all__ = [
    "PoolExhausted",
    "concatenate",
    "fingerprint",
    "has_columns",
    "has_people",
    "is_stored",
    "labels",
    "length",
    "part_fingerprints",
    "read",
    "take",
    "without_names",
]

READ_AT_ONCE = 2**24  # numbers of a stored array that are hashed at once


class PoolExhausted(ValueError):
    """No allowed candidate is left to ask."""


def length(pool: Pool) -> int:
    """Return the number of candidates.

    Raises
    ------
    ValueError
        If ``pool`` is not a pool.

    Examples
    --------
    >>> length(np.zeros((3, 2))), length(["a", "b"])
    (3, 2)
    """
    if _is_sparse(pool):
        return pool.shape[0]
    if isinstance(pool, (str, bytes, dict, set, frozenset)) or not _can(pool, "__len__"):
        raise ValueError(_not_a_pool(pool))
    if not (_is_lazy(pool) or _is_frame(pool) or _can(pool, "__getitem__")) or getattr(pool, "ndim", 1) == 0:
        raise ValueError(_not_a_pool(pool))
    return len(pool)


def take(pool: Pool, positions: ArrayLike) -> Any:
    """Return the candidates at ``positions``, a pool of the same kind.

    Parameters
    ----------
    pool : pool
    positions : (n,) array-like of int

    Examples
    --------
    >>> take(["a", "b", "c"], [2, 0])
    ['c', 'a']
    >>> take(np.array([[1], [2], [3]]), [1]).tolist()
    [[2]]
    """
    positions = np.asarray(positions, dtype=np.intp)
    if isinstance(pool, np.ndarray):
        return pool[positions]
    if _is_sparse(pool):
        return (pool if pool.format in ("csr", "csc") else pool.tocsr())[positions]
    if _is_pandas(pool):
        return pool.iloc[positions]
    if _is_polars(pool):
        return pool[positions]
    if _is_sliced(pool):
        different, where = np.unique(positions, return_inverse=True)  # some take ascending positions only
        return np.asarray(pool[different])[where]
    if _is_lazy(pool):
        return pool.take(positions)
    entries = [pool[int(i)] for i in positions]  # type: ignore[index]
    return tuple(entries) if isinstance(pool, tuple) else entries


def read(pool: Pool, start: int, stop: int) -> Any:
    """Return the candidates at positions ``start`` to ``stop - 1``, without a copy where there is a way.

    Examples
    --------
    >>> read(["a", "b", "c"], 1, 3)
    ['b', 'c']
    """
    if isinstance(pool, (np.ndarray, list, tuple, range)) or _is_polars(pool):
        return pool[start:stop]
    if _is_pandas(pool):
        return pool.iloc[start:stop]
    if _is_sparse(pool) and pool.format == "csr":
        return pool[start:stop]
    if _is_sliced(pool):
        return np.asarray(pool[start:stop])
    if _can(pool, "read"):
        return pool.read(start, stop)
    return take(pool, np.arange(start, stop))


def is_stored(pool: Pool) -> bool:
    """Return whether the pool lies in a file or elsewhere, so that it may be larger than memory.

    Examples
    --------
    >>> is_stored(np.zeros((3, 2)))
    False
    """
    return isinstance(pool, np.memmap) or bool(getattr(pool, "stored", False)) or _is_sliced(pool)


def has_people(pool: Pool) -> bool:
    """Return whether candidates are a row and a person who may be asked about it, as in `designs.pool.Annotated`.

    Examples
    --------
    >>> has_people(np.zeros((3, 2)))
    False
    """
    return _can(pool, "asked_of")


def part_fingerprints(pool: Pool) -> dict[str, str] | None:
    """Return a fingerprint of each part of a pool that says so, by the name of the part; else None.

    Examples
    --------
    >>> part_fingerprints([1, 2]) is None
    True
    """
    return pool.part_fingerprints() if _can(pool, "part_fingerprints") else None


def concatenate(pools: Sequence[Pool]) -> Any:
    """Return one pool that holds the candidates of all, in order.

    Raises
    ------
    ValueError
        If there is none, or they are of different kinds or widths.

    Examples
    --------
    >>> concatenate([["a"], ["b", "c"]])
    ['a', 'b', 'c']
    """
    pools = list(pools)
    if not pools:
        raise ValueError("concatenate needs at least one pool, got an empty list.")
    first = pools[0]
    if len(pools) == 1:
        return first
    try:
        if any(_is_sparse(pool) for pool in pools):
            return sparse.vstack([sparse.csr_matrix(pool) if not _is_sparse(pool) else pool for pool in pools], "csr")
        if _is_pandas(first):
            return sys.modules["pandas"].concat(pools)
        if _is_polars(first):
            return sys.modules["polars"].concat(pools)
        if isinstance(first, np.ndarray):
            return np.concatenate(pools)  # type: ignore[arg-type]
        if _can(first, "concatenate"):
            return first.concatenate(pools)
        if _is_lazy(first):
            raise ValueError(f"{type(first).__name__} has no method concatenate(pools)")
        entries = [entry for pool in pools for entry in pool]  # type: ignore[union-attr]
        return tuple(entries) if isinstance(first, tuple) else entries
    except (ValueError, TypeError) as problem:
        kinds = ", ".join(_describe(pool) for pool in pools)
        raise ValueError(f"these pools cannot be put into one ({problem}): {kinds}.") from None


def labels(pool: Pool, positions: ArrayLike) -> list[Any]:
    """Return what the candidates at ``positions`` are called: index labels of a frame, entries that are numbers,
    strings or tuples of them, what a lazy pool says, else the positions.

    Examples
    --------
    >>> labels(["left", "right"], [1])
    ['right']
    >>> labels(np.zeros((3, 2)), [1])
    [1]
    """
    positions = np.asarray(positions, dtype=np.intp)
    if _is_pandas(pool):
        return [_plain(label) for label in pool.index[positions].tolist()]
    if _can(pool, "labels"):
        return list(pool.labels(positions))
    if isinstance(pool, (list, tuple, range)):
        entries = [pool[int(i)] for i in positions]
        if all(_is_plain(entry) for entry in entries):
            return [_plain(entry) for entry in entries]
    elif isinstance(pool, np.ndarray) and pool.ndim == 1:
        entries = pool[positions].tolist()
        if all(_is_plain(entry) for entry in entries):
            return entries
    return positions.tolist()


def fingerprint(pool: Pool) -> str:
    """Return a hash of the content, by which a log recognises its pool: equal for equal pools, in every session.

    A lazy pool states its own (``fingerprint()``); without one, class and length must do.

    Parameters
    ----------
    pool : pool

    Examples
    --------
    >>> fingerprint(np.arange(3)) == fingerprint(np.arange(3)), fingerprint([1, 2]) == fingerprint([2, 1])
    (True, False)
    """
    if _can(pool, "fingerprint"):
        return str(pool.fingerprint())
    digest = hashlib.blake2b(digest_size=16)
    _feed(digest, pool)
    return digest.hexdigest()


def _feed(digest: Any, value: Any) -> None:
    """Add a value, its kind and its length to the digest, so that different nestings differ."""
    if _is_sparse(value):
        rows = value.tocsr(copy=True)
        rows.sum_duplicates()
        digest.update(f"sparse {rows.shape}".encode())
        for part in (rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data):
            _feed(digest, part)
    elif isinstance(value, np.ndarray) and value.dtype != object:
        little = value.astype(value.dtype.newbyteorder("<"), copy=False)
        digest.update(f"array {little.dtype.str} {value.shape}".encode())
        if little.size:
            digest.update(np.ascontiguousarray(little).reshape(-1).view(np.uint8))
    elif _is_sliced(value):  # as of the array that it stands for, read in parts
        dtype = np.dtype(value.dtype)
        digest.update(f"array {dtype.newbyteorder('<').str} {tuple(value.shape)}".encode())
        rows = max(1, READ_AT_ONCE // max(1, int(np.prod(value.shape[1:]))))
        for start in range(0, len(value), rows):
            part = np.ascontiguousarray(np.asarray(value[start : start + rows]), dtype=dtype.newbyteorder("<"))
            if part.size:
                digest.update(part.reshape(-1).view(np.uint8))
    elif isinstance(value, range):  # however long, said in three numbers
        digest.update(f"{value!r};".encode())
    elif isinstance(value, (np.ndarray, list, tuple)):
        kind = "objects" if isinstance(value, np.ndarray) else type(value).__name__
        digest.update(f"{kind} {len(value)}".encode())
        for item in value:
            _feed(digest, item)
    elif _is_frame(value) and getattr(value, "columns", None) is None:  # a series
        _feed(digest, value.to_numpy())
    elif _is_frame(value):
        digest.update(f"frame {list(map(str, value.columns))!r}".encode())
        if _is_pandas(value):
            _feed(digest, value.index.to_numpy())
        for column in value.columns:
            _feed(digest, value[column].to_numpy())
    elif isinstance(value, np.generic):
        _feed(digest, value.item())
    elif value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        digest.update(f"{type(value).__name__} {value!r};".encode())
    elif isinstance(value, dict):
        _feed(digest, sorted(value.items()))
    elif _can(value, "fingerprint"):
        digest.update(str(value.fingerprint()).encode())
    else:  # an opaque object says no more than its kind and, where it has one, its shape
        size = getattr(value, "shape", "")
        digest.update(f"{public_name(type(value))} {size};".encode())


def has_columns(X: object) -> TypeGuard[Frame]:
    """Return whether X is a frame, of pandas or polars."""
    return hasattr(X, "columns")


def without_names(X: Any) -> Any:
    """Return the array of a frame or a series; anything else as it is."""
    return X.to_numpy() if hasattr(X, "to_numpy") else X


def _can(pool: object, method: str) -> TypeGuard[Any]:
    return callable(getattr(pool, method, None))


def _is_sparse(pool: object) -> TypeGuard[Any]:
    return sparse.issparse(pool)


def _is_sliced(pool: object) -> TypeGuard[Any]:
    """True for arrays that are no NumPy arrays: h5py, dask, zarr."""
    return (
        not isinstance(pool, np.ndarray)
        and not (_is_sparse(pool) or _is_frame(pool))
        and isinstance(getattr(pool, "dtype", None), np.dtype)
        and getattr(pool, "ndim", 0) > 0
        and hasattr(pool, "__getitem__")
    )


def _is_lazy(pool: object) -> TypeGuard[LazyPool]:
    return _can(pool, "take") and not isinstance(pool, np.ndarray) and not _is_frame(pool)


def _is_frame(pool: object) -> TypeGuard[Any]:
    return _is_pandas(pool) or _is_polars(pool)


def _is_pandas(pool: object) -> TypeGuard[Any]:
    return getattr(pool, "iloc", None) is not None


def _is_polars(pool: object) -> TypeGuard[Any]:
    return type(pool).__module__.partition(".")[0] == "polars"


def _is_plain(entry: object) -> bool:
    if isinstance(entry, tuple):
        return all(_is_plain(part) for part in entry)
    return entry is None or isinstance(entry, (bool, int, float, str, np.bool_, np.integer, np.floating, np.str_))


def _plain(entry: object) -> Any:
    if isinstance(entry, tuple):
        return tuple(_plain(part) for part in entry)
    return entry.item() if isinstance(entry, np.generic) else entry


def _describe(pool: object) -> str:
    shape = getattr(pool, "shape", None)
    return type(pool).__name__ if shape is None else f"{type(pool).__name__} of shape {shape}"


def _not_a_pool(pool: object) -> str:
    return (
        "candidates must be a pool with a length and positions (an array, a sparse matrix, a frame, a list, "
        f"or an object with __len__ and take(positions)), got {type(pool).__name__}."
    )
