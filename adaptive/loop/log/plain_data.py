"""Plain data as JSON and back, bit for bit: ``decode(encode(value))`` has the value and the dtype of ``value``.

Numbers, strings, None, lists, tuples, dictionaries with string keys, and NumPy scalars and arrays (complex numbers,
dates and text included) are plain; nothing else is, so that reading a log of unknown origin never runs code.
Python writes a float with the digits that give back the same bits, so text serves for finite floats; what text cannot
hold (NaN, infinity, complex numbers, dates) goes as base64 of the little-endian bytes.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

__all__ = ["decode", "encode", "identity", "is_plain"]

_TAG = "type"


def encode(value: object) -> Any:
    """Return what ``json.dumps`` writes for ``value``.

    Parameters
    ----------
    value : plain data
        See the module's first paragraph.

    Returns
    -------
    str, int, float, bool, None, list or dict

    Raises
    ------
    ValueError
        If ``value`` holds anything that is not plain data.

    Examples
    --------
    >>> encode((1, 0.1))
    {'type': 'tuple', 'items': [1, 0.1]}
    >>> decode(encode(np.array([1 + 2j], dtype=np.complex64)))
    array([1.+2.j], dtype=complex64)
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {_TAG: "float", "value": repr(value)}
    if type(value) is complex:
        return {_TAG: "complex", "value": [encode(value.real), encode(value.imag)]}
    if type(value) is bytes:
        return {_TAG: "bytes", "value": base64.b64encode(value).decode()}
    if type(value) is list:
        return [encode(item) for item in value]
    if type(value) is tuple:
        return {_TAG: "tuple", "items": [encode(item) for item in value]}
    if type(value) is dict and all(type(key) is str for key in value):
        plain = {key: encode(item) for key, item in value.items()}
        return plain if _TAG not in plain else {_TAG: "dict", "items": [[key, item] for key, item in plain.items()]}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufcSUMm" and value.dtype.names is None:
        return _encode_array(np.asarray(value), scalar=isinstance(value, np.generic))
    raise ValueError(
        f"only plain data (numbers, strings, None, arrays, lists, tuples) can be logged, got {type(value).__name__} "
        f"{_short(value)}."
    )


def _encode_array(array: np.ndarray, scalar: bool) -> dict[str, Any]:
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    record: dict[str, Any] = {_TAG: "scalar" if scalar else "array", "dtype": little.dtype.str}
    if not scalar:
        record["shape"] = list(array.shape)
    as_text = array.dtype.kind in "biuU" or (
        array.dtype.str[1:] in ("f2", "f4", "f8") and bool(np.isfinite(array).all())
    )
    if as_text:
        record["values"] = little.ravel().tolist()
    else:
        record["bytes"] = base64.b64encode(np.ascontiguousarray(little).tobytes()).decode()
    return record


def decode(record: Any) -> Any:
    """Return the value that ``encode`` was given."""
    if isinstance(record, list):
        return [decode(item) for item in record]
    if not isinstance(record, dict):
        return record
    kind = record.get(_TAG)
    if kind is None:
        return {key: decode(item) for key, item in record.items()}
    if kind == "float":
        return float(record["value"])
    if kind == "complex":
        real, imaginary = record["value"]
        return complex(decode(real), decode(imaginary))
    if kind == "bytes":
        return base64.b64decode(record["value"])
    if kind == "tuple":
        return tuple(decode(item) for item in record["items"])
    if kind == "dict":
        return {key: decode(item) for key, item in record["items"]}
    if kind not in ("array", "scalar"):
        raise ValueError(f"the record has the unknown type {kind!r}.")
    dtype = np.dtype(record["dtype"])
    if dtype.hasobject:
        raise ValueError(f"the record has the dtype {record['dtype']!r}, which is not plain data.")
    if "values" in record:
        array = np.array(record["values"], dtype=dtype)
    else:
        array = np.frombuffer(base64.b64decode(record["bytes"]), dtype=dtype).copy()
    array = array.astype(dtype.newbyteorder("="), copy=False)
    return array[0] if kind == "scalar" else array.reshape(record["shape"])


def is_plain(value: object) -> bool:
    """Return whether ``encode`` accepts ``value``."""
    try:
        encode(value)
    except ValueError:
        return False
    return True


def identity(value: object) -> Any:
    """Return a hashable key that is equal for equal plain data.

    Examples
    --------
    >>> identity((1, np.array([0.0, 2.0]))) == identity((1.0, np.array([-0.0, 2.0], dtype=np.float32)))
    True
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fc":
            value = value.astype(complex if value.dtype.kind == "c" else float) + 0.0  # -0.0 equals 0.0
        elif value.dtype.kind in "biu":
            value = value.astype(np.int64)
        elif value.dtype.kind == "U":
            return ("array", value.shape, tuple(value.ravel().tolist()))
        return ("array", value.shape, value.tobytes())
    if isinstance(value, (list, tuple)):
        return tuple(identity(item) for item in value)
    if isinstance(value, dict):
        return tuple(sorted((key, identity(item)) for key, item in value.items()))
    return value


def _short(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
