"""Answers of people: shapes, ranges, the key of right answers."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive import datasets


def test_answers_of_people():
    for name, shape, most in (
        ("big_five", (19719, 50), 5),
        ("verbal_aggression", (316, 24), 3),
        ("sat12", (600, 32), 1),
    ):
        table = datasets.answers(name)
        assert table.shape == shape and np.nanmax(table.to_numpy()) == most
    right = datasets.answers("sat12")  # with the right key, every item agrees with the others
    known = right.fillna(0.0).to_numpy()
    rest = known.sum(axis=1)[:, None] - known
    assert all(np.corrcoef(known[:, k], rest[:, k])[0, 1] > 0.05 for k in range(32))
    with pytest.raises(ValueError, match="name must be one of 'big_five'"):
        datasets.answers("mmpi")
