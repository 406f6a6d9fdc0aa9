"""Encoding is exact: value, type, dtype and bits come back."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from adaptive.loop.log.plain_data import decode, encode, identity

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=5),
    st.binary(max_size=5),
)
ARRAYS = hnp.arrays(
    st.one_of(
        hnp.floating_dtypes(sizes=(16, 32, 64), endianness="?"),
        hnp.complex_number_dtypes(sizes=(64, 128)),
        hnp.integer_dtypes(endianness="?"),
        hnp.boolean_dtypes(),
        hnp.unicode_string_dtypes(max_len=4),
        hnp.datetime64_dtypes(),
    ),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
)
VALUES = st.recursive(
    st.one_of(SCALARS, ARRAYS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.sampled_from(["a", "type", "items"]), inner, max_size=3),
    ),
    max_leaves=5,
)


def equal(a, b):
    if isinstance(a, (np.ndarray, np.generic)):
        native = a.dtype.newbyteorder("=")
        return type(a) is type(b) and b.dtype == native and a.shape == b.shape and bits(a) == bits(b)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(equal(a[key], b[key]) for key in a)
    return type(a) is type(b) and repr(a) == repr(b)


def bits(array):
    little = np.asarray(array).astype(array.dtype.newbyteorder("<"))
    return little.tolist() if array.dtype.kind == "U" else little.tobytes()


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_round_trip(value):
    text = json.dumps(encode(value), allow_nan=False)
    assert equal(value, decode(json.loads(text)))


@pytest.mark.parametrize("value", [np.float32(0.1), np.int8(3), np.str_("x"), np.complex64(1j), np.bool_(True)])
def test_scalars_keep_their_dtype(value):
    back = decode(json.loads(json.dumps(encode(value))))
    assert type(back) is type(value) and back == value


@pytest.mark.parametrize("value", [object(), {1: 2}, np.array([object()]), {1, 2}, np.zeros(1, dtype="V4"), lambda: 0])
def test_only_plain_data(value):
    with pytest.raises(ValueError, match="only plain data"):
        encode(value)


def test_a_record_cannot_ask_for_objects():
    with pytest.raises(ValueError, match="not plain data"):
        decode({"type": "array", "dtype": "|O", "shape": [1], "bytes": "AAAA"})


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), max_size=4))
def test_identity_goes_by_value(values):
    array = np.array(values)
    assert identity(array) == identity(array.copy()) == identity(array + 0.0)
    assert identity(tuple(values)) == identity(list(values)) == identity([np.float64(value) for value in values])
    assert hash(identity({"a": array})) == hash(identity({"a": array.copy()}))
    assert identity(array) != identity(np.append(array, 1.0))
