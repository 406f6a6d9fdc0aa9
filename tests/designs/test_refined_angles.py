"""Continuous angles: against a dense score on a fine grid, in the loop, and what is refused."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive import SequentialDesign
from adaptive.predictive import StatedPredictive
from designs.kspace import RefinedAngles, equispaced_angles, spirals, spokes

SHAPE = (8, 8)


class DenseImage:
    """A Gaussian image with a dense covariance: joint log-determinants of real-stacked blocks, exact."""

    def __init__(self, noise=1e-3, seed=0):
        rows = np.random.default_rng(seed).standard_normal((64, 80)) / 8
        grid = np.indices(SHAPE).reshape(2, -1)
        smooth = np.exp(-0.3 * ((grid[:, :, None] - grid[:, None]) ** 2).sum(axis=0))
        self.noise, self.covariance = noise, smooth @ rows @ rows.T @ smooth
        self.calls = 0

    def _rows(self, block):
        matrix = block.to_dense()
        return np.vstack([matrix.real, matrix.imag])

    def predictive(self, candidates, *, target=None, random_state=None):
        self.calls += 1
        values = []
        for block in candidates:
            rows = self._rows(block)
            inside = np.eye(len(rows)) + rows @ self.covariance @ rows.T / self.noise
            values.append(np.linalg.slogdet(inside)[1])
        values = np.array(values)
        return StatedPredictive(len(values), log_determinant=lambda: (values, np.zeros(len(values))))

    def partial_fit(self, blocks, samples):
        for block in blocks:
            rows = self._rows(block)
            gain = self.covariance @ rows.T
            self.covariance = self.covariance - gain @ np.linalg.solve(
                rows @ gain + self.noise * np.eye(len(rows)), gain.T
            )
        return self


def shots(angles):
    return spirals(SHAPE, angles, revolutions=1, n_samples=12)


def dense(image, angles):
    return image.predictive(shots(angles)).log_determinant()[0]


@pytest.mark.parametrize("seed", range(2))
def test_the_best_angle_is_that_of_a_fine_grid(seed):
    image = DenseImage(seed=seed).partial_fit(shots([0.3]), None)
    grid = equispaced_angles(16)
    found = RefinedAngles(shots, grid, period=2 * np.pi, n_peaks=6, tol=1e-4)(image)
    fine = dense(image, equispaced_angles(500))
    scores = dense(image, found.angles)
    assert scores.max() >= fine.max() - 1e-6
    assert scores.max() > dense(image, grid).max()
    best = found.angles[scores.argmax()]
    slope = np.diff(dense(image, best + np.array([-1e-4, 1e-4])))[0] / 2e-4
    curvature = np.abs(np.gradient(np.gradient(fine, 2 * np.pi / 500), 2 * np.pi / 500)).max()
    assert abs(slope) < 2e-3 * curvature  # the derivative by the angle vanishes there
    assert image.calls < 45


@given(
    peak=st.floats(-0.9, 0.9), power=st.sampled_from([1.0, 2.0, 4.0]), tilt=st.floats(-0.2, 0.2), n=st.integers(3, 9)
)
@settings(max_examples=30, deadline=None)
def test_any_single_peak_is_found(peak, power, tilt, n):
    class Score:
        def predictive(self, angles):
            x = np.asarray(angles) - peak
            values = -(np.abs(x) ** power) * (1 + tilt * np.sign(x))
            return StatedPredictive(len(x), log_determinant=lambda: (values, values))

    found = RefinedAngles(lambda angles: angles, np.linspace(-1, 1, n), tol=1e-4)(Score())
    assert abs(found[0] - peak) < (2e-3 if power < 4 else 0.02) * 2 / (n - 1)


def test_ends_and_neighbours_over_the_period():
    class Rising:
        def predictive(self, angles):
            values = np.asarray(angles, float)
            return StatedPredictive(len(values), log_determinant=lambda: (values, values))

    assert RefinedAngles(np.asarray, [0.0, 1.0, 2.0])(Rising()) == pytest.approx([2.0])

    class Cosine:
        def predictive(self, angles):
            values = np.cos(np.asarray(angles) + 0.1)
            return StatedPredictive(len(values), log_determinant=lambda: (values, values))

    found = RefinedAngles(np.asarray, equispaced_angles(8), period=2 * np.pi)(Cosine())
    assert np.cos(found + 0.1) == pytest.approx([1.0], abs=1e-6)


def test_angles_are_logged_and_replayed(tmp_path):
    pool = RefinedAngles(partial(spokes, SHAPE), equispaced_angles(6, np.pi), period=np.pi, n_peaks=2, tol=0.01)
    design = SequentialDesign(DenseImage(), pool, lambda query: [0.0] * len(query.positions), log=tmp_path / "log")
    design.run(3).close()
    labels = design.history_["label"]
    assert all(isinstance(label, float) for label in labels) and len(set(labels)) == 3
    again = SequentialDesign.load(tmp_path / "log", DenseImage(), pool, lambda query: [0.0] * len(query.positions))
    assert again.history_["label"] == labels
    np.testing.assert_allclose(again.estimator_.covariance, design.estimator_.covariance)
    again.close()
    # Each further spoke lies away from those before.
    gaps = np.abs(np.subtract.outer(labels, labels))
    assert np.minimum(gaps, np.pi - gaps)[~np.eye(3, dtype=bool)].min() > 0.3


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="grid must hold three or more angles in increasing order, got 2"):
        RefinedAngles(shots, [0.0, 1.0])
    with pytest.raises(
        ValueError, match="grid must be shorter than the period 3, after which angles come again, got 4"
    ):
        RefinedAngles(shots, [0.0, 2.0, 4.0], period=3)
    with pytest.raises(ValueError, match="n_peaks must be at least 1"):
        RefinedAngles(shots, [0.0, 1.0, 2.0], n_peaks=0)
