"""Intervals of figures: they are Student's, they belong to their own place, and a single run claims none."""

import numpy as np
import pytest
from scipy import stats

from adaptive.plots import figure
from experiments.drawing import with_interval


def test_a_band_holds_the_limits_of_students_t():
    runs = np.random.default_rng(0).normal(size=(5, 3))
    _, ax = figure()
    with_interval(ax, [1, 2, 3], runs.T)
    corners = ax.collections[0].get_paths()[0].vertices
    for place, of_place in zip((1, 2, 3), runs.T, strict=True):
        drawn = corners[corners[:, 0] == place, 1]
        wanted = stats.t.interval(0.95, 4, of_place.mean(), stats.sem(of_place))
        assert (drawn.min(), drawn.max()) == pytest.approx(wanted)


def test_places_may_hold_different_numbers_of_values():
    _, ax = figure()
    line = with_interval(ax, [1, 2], [np.array([1.0, 3.0]), np.array([2.0, 3.0, 4.0])], bars=True, marker="s")
    (segments,) = (one.get_segments() for one in ax.collections)
    assert line.get_ydata().tolist() == [2.0, 3.0]
    assert segments[0][1, 1] - segments[0][0, 1] == pytest.approx(2 * 12.706204736)
    assert segments[1][1, 1] - segments[1][0, 1] == pytest.approx(2 * 4.302652730 / 3**0.5)


@pytest.mark.parametrize("bars", [False, True])
def test_a_single_run_has_no_interval(bars):
    _, ax = figure()
    with_interval(ax, [1, 2], np.array([[1.0, 2.0]]).T, bars=bars)
    assert not ax.collections
