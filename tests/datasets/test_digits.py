"""Digits: shapes and classes as published."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive import datasets


@pytest.mark.parametrize(
    ("loader", "arguments", "shape", "counts"),
    [
        (datasets.digits_pair, (), (365, 64), {3: 183, 5: 182}),
        (datasets.digits_pair, (4, 9), (361, 64), {4: 181, 9: 180}),
        (datasets.usps, ("test",), (326, 256), {3: 166, 5: 160}),
    ],
)
def test_sets_are_as_published(loader, arguments, shape, counts):
    X, y = loader(*arguments)
    assert X.shape == shape and np.isfinite(X).all()
    classes, numbers = np.unique(y, return_counts=True)
    assert dict(zip(classes.tolist(), numbers.tolist(), strict=True)) == counts


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.digits_pair(3, 3), "two different digits, got 3 twice"),
        (lambda: datasets.digits_pair(3, 11), "second must be one of '0'"),
        (lambda: datasets.usps("half"), "part must be one of 'train', 'test'"),
    ],
)
def test_wrong_names_list_the_known_ones(call, message):
    with pytest.raises(ValueError, match=message):
        call()
