"""Weights of uneven samples are sizes of cells: against counting, and of few, repeated and far samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from adaptive.linalg import line_weights, sample_weights


@given(st.integers(1, 40), st.data())
@settings(max_examples=30, deadline=None)
def test_line_weights_share_k_space(n, data):
    lines = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True))
    weights = line_weights(lines, n)
    assert (weights > 0).all()
    assert weights.sum() == pytest.approx(n)
    order = np.random.default_rng(0).permutation(len(lines))
    np.testing.assert_allclose(line_weights(np.array(lines)[order], n), weights[order])


def test_sample_weights_are_voronoi_areas():
    rng = np.random.default_rng(3)
    radius = np.sqrt(rng.random(150)) * 4
    angle = rng.random(150) * 2 * np.pi
    samples = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    weights = sample_weights(samples, 4.0)
    assert weights.sum() == pytest.approx(16 * np.pi)
    grid = rng.uniform(-4, 4, (400_000, 2))
    grid = grid[np.hypot(*grid.T) < 4]
    shares = np.bincount(cKDTree(samples).query(grid)[1], minlength=150) / len(grid) * 16 * np.pi
    np.testing.assert_allclose(weights, shares, atol=6 * np.sqrt(shares.max() * 16 * np.pi / len(grid)))


@pytest.mark.parametrize("samples", [[[0.0, 0.0]], [[0.5, 0.0], [-0.5, 0.0]], [[0.3, 0.3]] * 4])
def test_few_and_repeated_samples_share_the_disc(samples):
    weights = sample_weights(samples, 1.0)
    np.testing.assert_allclose(weights, np.pi / len(samples), rtol=1e-6)


def test_a_sample_outside_has_what_its_cell_has_of_the_disc():
    weights = sample_weights([[0.0, 0.0], [1.5, 0.0], [9.0, 0.0]], 1.0)
    cap = np.arccos(0.75) - 0.75 * np.sqrt(1 - 0.75**2)  # of the unit disc beyond x = 0.75
    np.testing.assert_allclose(weights, [np.pi - cap, cap, 0.0], atol=1e-12)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="lines must be between 0 and 7, got 9"):
        line_weights([0, 9], 8)
    with pytest.raises(ValueError, match="lines must be a list of one or more line indices"):
        line_weights([], 8)
    with pytest.raises(ValueError, match=r"samples must be points of a plane, an array \(..., 2\)"):
        sample_weights([1.0, 2.0], 1.0)
