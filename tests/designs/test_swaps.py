"""Exchanges of lines: they lower the cost, keep what is fixed, and find what enumeration finds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from designs.kspace import central, improve_by_swaps


def test_enough_exchanges_find_the_best_of_a_convex_cost():
    weights = np.random.default_rng(0).random(10)

    def cost(lines, limit):
        return float(weights[lines].sum())

    best = min(itertools.combinations(range(10), 4), key=lambda chosen: weights[list(chosen)].sum())
    result = improve_by_swaps(10, [0, 1, 2, 3], cost, n_trials=400, random_state=0)
    assert result.lines.tolist() == sorted(best)
    assert np.isclose(result.costs[-1], weights[list(best)].sum())
    assert np.all(np.diff(result.costs) < 0)


def test_fixed_lines_stay_and_only_candidates_come_in():
    fixed = central(32, 8)
    start = [*fixed, 0, 31]
    result = improve_by_swaps(
        32,
        start,
        lambda lines, limit: -float(lines.sum()),
        fixed=fixed,
        candidates=range(10),
        n_trials=200,
        random_state=1,
    )
    assert np.isin(fixed, result.lines).all()
    outside = np.setdiff1d(result.lines, fixed)
    assert len(result.lines) == len(start)
    assert set(outside) <= {*range(10), 31}
    assert 31 in outside  # nothing among the candidates is worth it


def test_nothing_is_kept_that_gains_less_than_the_margin():
    result = improve_by_swaps(
        16, [3, 8], lambda lines, limit: float(lines.sum()), margin=100.0, n_trials=50, random_state=0
    )
    assert result.lines.tolist() == [3, 8]
    assert len(result.costs) == 1 and result.n_tried == 50


def test_a_cost_is_told_what_is_to_be_beaten():
    limits = []

    def cost(lines, limit):
        limits.append(limit)
        return float(lines.sum())

    result = improve_by_swaps(16, [3, 8], cost, margin=0.5, n_trials=40, random_state=0)
    assert limits[0] == np.inf
    assert set(limits[1:]) <= {float(value) - 0.5 for value in result.costs}


def test_the_same_seed_gives_the_same_lines():
    rough = np.random.default_rng(3).random(64)
    found = [
        improve_by_swaps(
            64, range(8), lambda lines, limit: float(rough[lines].sum()), n_trials=60, random_state=5
        ).lines
        for _ in range(2)
    ]
    assert np.array_equal(*found)


def test_a_design_of_fixed_lines_only_stays():
    result = improve_by_swaps(8, [3, 4], lambda lines, limit: 0.0, fixed=[3, 4], random_state=0)
    assert result.lines.tolist() == [3, 4] and result.n_tried == 0


def test_fixed_lines_must_be_in_the_design():
    with pytest.raises(ValueError, match="fixed holds line 5"):
        improve_by_swaps(8, [3, 4], lambda lines, limit: 0.0, fixed=[5])
