"""Density compensation: weights are areas, against counting; images from weighted adjoints."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial import cKDTree

from adaptive.images import head_scan, padded
from adaptive.operators import FourierLines, NonuniformFourier
from designs import kspace


@given(st.lists(st.integers(0, 31), min_size=1, max_size=20))
@settings(max_examples=30, deadline=None)
def test_line_weights_are_cells_of_the_line(lines):
    weights = kspace.line_density(32, lines)
    assert (weights > 0).all()
    np.testing.assert_allclose(weights.sum(), 32)
    points = (np.arange(320_0) + 0.5) / 100 - 0.5  # by counting
    values, where, counts = np.unique(lines, return_inverse=True, return_counts=True)
    nearest = np.abs(points[:, None] - values).argmin(axis=1)
    np.testing.assert_allclose(weights, (np.bincount(nearest, minlength=len(values)) / 100 / counts)[where], atol=0.02)


def test_areas_are_those_of_counting():
    rng = np.random.default_rng(0)
    samples = rng.uniform(-3.1, 3.1, (40, 2))
    weights = kspace.voronoi_density(samples, (10, 10), radius=2.5)
    side = (np.arange(1200) + 0.5) / 1200 * 5 - 2.5
    points = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    points = points[np.linalg.norm(points, axis=1) < 2.5]
    counted = np.bincount(cKDTree(samples).query(points)[1], minlength=40) * (5 / 1200 * 10 / 2 / np.pi) ** 2
    np.testing.assert_allclose(weights, counted, atol=0.01)
    assert (weights == 0).any()  # cells outside of the disc


@given(arrays(float, (7, 2), elements=st.floats(-3.1, 3.1)))
@settings(max_examples=50, deadline=None)
def test_weights_add_up_to_the_disc(samples):
    samples = np.vstack([samples, [[0.3, 0.1], [-0.2, 0.4], [0.1, -0.5]]])
    weights = kspace.voronoi_density(samples, (8, 8))
    np.testing.assert_allclose(weights.sum(), np.pi / 4 * 64, rtol=1e-6)
    assert (weights >= 0).all()


def test_a_cartesian_grid_has_weights_one_and_equal_samples_share():
    grid = (np.indices((16, 16)) - 8).reshape(2, -1).T * 2 * np.pi / 16
    weights = kspace.voronoi_density(grid, (16, 16), radius=2 * np.pi).reshape(16, 16)
    np.testing.assert_allclose(weights[1:-1, 1:-1], 1)
    shots = np.stack([grid[:200], grid[:200]])
    twice = kspace.voronoi_density(shots, (16, 16))
    np.testing.assert_allclose(twice[0], twice[1])
    np.testing.assert_allclose(twice.sum(axis=0), kspace.voronoi_density(grid[:200], (16, 16)))
    assert kspace.voronoi_density([[0.1, 0.2]], (8, 8))[0] == pytest.approx(np.pi / 4 * 64)


def test_weighted_adjoints_are_images():
    image = padded(head_scan()[12].image, 128).reshape(32, 4, 32, 4).mean(axis=(1, 3))
    shots = kspace.spirals((32, 32), kspace.equispaced_angles(16), revolutions=1)  # the Nyquist rate
    samples = shots.samples.reshape(-1, 2)
    X = NonuniformFourier((32, 32), samples)
    weights = kspace.voronoi_density(samples, (32, 32))
    found = np.abs(X.adjoint(weights * X.forward(image)))
    plain = np.abs(X.adjoint(X.forward(image)))
    scale = np.vdot(plain, image) / np.vdot(plain, plain)
    assert np.linalg.norm(found - image) < 0.15 * np.linalg.norm(image)  # what lies outside of the disc is missing
    assert np.linalg.norm(found - image) < 0.3 * np.linalg.norm(scale * plain - image)
    # Whole lines: with every line measured it is the inverse transform.
    lines = FourierLines((32, 32), range(32))
    weighted = kspace.line_density(32, range(32))[:, None] * lines.forward(image)
    np.testing.assert_allclose(lines.adjoint(weighted), image, atol=1e-12)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="lines must be between 0 and 7, got 8"):
        kspace.line_density(8, [1, 8])
    with pytest.raises(ValueError, match="lines must be a list of one or more"):
        kspace.line_density(8, [])
    with pytest.raises(ValueError, match=r"samples must be points of a plane \(..., 2\)"):
        kspace.voronoi_density(np.zeros((4, 3)), (8, 8))
    with pytest.raises(ValueError, match="radius must be > 0"):
        kspace.voronoi_density([[0.0, 0.0]], (8, 8), radius=0)
