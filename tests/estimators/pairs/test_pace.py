"""Pace: sweeps over everything cost an answer no more in a larger table, and a search from the start is amortised."""

from __future__ import annotations

import numpy as np
import pytest

from adaptive.estimators.pairs.inference import pace
from adaptive.estimators.pairs.inference.pace import Pace


@pytest.mark.parametrize("work", [1e3, 1e5, 3e6, 1e9])
def test_an_answer_pays_for_as_many_numbers_whatever_the_table(work):
    now, visited = Pace.begun(1e9), 0.0
    for _ in range(20_000):
        now = now.after(1)
        if now.sweeps(work):
            visited, now = visited + work, now.swept()
    assert visited / 20_000 <= pace.SWEPT
    assert visited / 20_000 == pytest.approx(min(work, pace.SWEPT), rel=0.3)


def test_small_tables_are_searched_at_every_answer_and_large_ones_at_a_quarter_more():
    assert Pace.begun(500).after(1).searches(pace.SEARCHED)
    searched = []
    now = Pace.begun(1000)
    for total in range(1001, 4000):
        now = now.after(1)
        if now.searches(pace.SEARCHED + 1):
            searched.append(total)
            now = Pace.begun(total)
    np.testing.assert_array_equal(searched, [1250, 1563, 1954, 2443, 3054, 3818])


def test_nothing_new_asks_for_nothing():
    assert not Pace.begun(10).after(0).sweeps(0.0)


def test_what_waits_is_plain_data():
    now = Pace.begun(7).after(2.5)
    assert Pace.from_state(now.state()) == now
