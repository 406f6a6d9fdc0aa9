"""The state of an estimator as one file: arrays in an npz archive, everything else as JSON inside it, never a pickle.

A snapshot names the events it stands for by their number and check, so that one that belongs to another log is noticed.
It is written to another name and renamed: a crash leaves the old snapshot or the new one.
"""

from __future__ import annotations

import contextlib
import io
import json
import warnings
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from adaptive.loop.log.plain_data import decode, encode
from adaptive.loop.log.storage import Storage, snapshot_path

__all__ = ["covered_by", "pack", "packed_snapshot", "read_snapshot", "snapshot_path", "unpack"]

_MEMBER = "array in the archive"


def pack(state: object) -> bytes:
    """Return nested lists and dictionaries of plain data as an npz archive.

    Raises
    ------
    ValueError
        If anything in ``state`` is not plain data.

    Examples
    --------
    >>> unpack(pack({"mean": np.array([0.5]), "engine": "laplace"}))
    {'mean': array([0.5]), 'engine': 'laplace'}
    """
    arrays: dict[str, np.ndarray] = {}
    document = json.dumps(_outline(state, arrays), allow_nan=False)
    stream = io.BytesIO()
    np.savez(stream, document=np.array(document), **arrays)  # type: ignore[arg-type]
    return stream.getvalue()


def unpack(data: bytes) -> Any:
    """Return what ``pack`` was given; runs no code that the file may hold."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return _fill(json.loads(str(archive["document"])), archive)


def packed_snapshot(state: Mapping[str, Any], n_events: int, check: int, header: int) -> bytes:
    """Return as bytes the ``state`` reached after ``n_events`` events of a log.

    Parameters
    ----------
    state : dict of plain data
    n_events : int
    check : int
        The running check of the log after these events.
    header : int
        The check of its header, which tells it from another log that had its name.
    """
    return pack({"n_events": n_events, "check": check, "header": header, "state": dict(state)})


def covered_by(content: bytes | None, header: int) -> int:
    """Return how many events a snapshot stands for; 0 if it is damaged, of another log, or not there."""
    if content is None:
        return 0
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            outline = json.loads(str(archive["document"]))
        return int(outline["n_events"]) if outline["header"] == header else 0
    except Exception:  # whatever readers of damaged archives raise; replaying says so
        return 0


def read_snapshot(storage: Storage) -> dict[str, Any] | None:
    """Return a dictionary with n_events, check and state, or None if there is no snapshot that can be read."""
    data = storage.read_snapshot()
    if data is None:
        return None
    with contextlib.suppress(Exception):  # a flipped bit makes zipfile, NumPy and json raise a dozen kinds of them
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            whole = archive.testzip() is None  # before NumPy believes in a shape and takes memory for it
        if whole and set(snapshot := unpack(data)) == {"n_events", "check", "header", "state"}:
            return snapshot
    warnings.warn(f"the snapshot of log {storage.name} is damaged; the log is replayed instead.", stacklevel=2)
    return None


def _outline(value: object, arrays: dict[str, np.ndarray]) -> Any:
    """Return ``value`` as JSON, its arrays moved to ``arrays``."""
    if isinstance(value, np.ndarray) and value.size > 0 and value.dtype.kind in "biufcU":
        name = f"array_{len(arrays)}"
        arrays[name] = value
        return {"type": _MEMBER, "name": name}
    if type(value) is list:
        return [_outline(item, arrays) for item in value]
    if isinstance(value, Mapping) and "type" not in value and all(isinstance(key, str) for key in value):
        return {key: _outline(item, arrays) for key, item in value.items()}
    if type(value) is tuple:
        return {"type": "tuple", "items": [_outline(item, arrays) for item in value]}
    return encode(value)


def _fill(record: Any, archive: Mapping[str, np.ndarray]) -> Any:
    if isinstance(record, list):
        return [_fill(item, archive) for item in record]
    if isinstance(record, dict):
        kind = record.get("type")
        if kind == _MEMBER:
            return archive[record["name"]]
        if kind == "tuple":
            return tuple(_fill(item, archive) for item in record["items"])
        if kind is None:
            return {key: _fill(item, archive) for key, item in record.items()}
    return decode(record)
