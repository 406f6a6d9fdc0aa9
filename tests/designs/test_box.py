"""Boxes: the refined points are better than any affordable grid, and a loop over a box is logged and replayed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from adaptive import GaussianProcessClassifier, GaussianProcessRegressor, SequentialDesign
from adaptive.predictive import StatedPredictive
from designs.pool import box, grid


def regressor(d):
    rng = np.random.default_rng(5)
    X = rng.uniform(0.0, 1.0, (6, d))
    kernel = RBF(0.25 if d == 1 else [0.3, 0.6])
    return GaussianProcessRegressor(kernel, alpha=0.05, optimizer=None).fit(X, np.sin(6 * X[:, 0]))


def classifier(d):
    rng = np.random.default_rng(6)
    X = rng.uniform(0.0, 1.0, (8, d))
    return GaussianProcessClassifier(4.0 * RBF(0.3), optimizer=None).fit(X, (X[:, 0] > 0.5).astype(int))


CASES = [(regressor, "information_gain"), (classifier, "information_gain"), (classifier, "entropy")]


@pytest.mark.parametrize(("make", "scorer"), CASES)
@pytest.mark.parametrize("d", [1, 2])
def test_refined_points_beat_a_grid_fifty_times_finer(make, d, scorer):
    model = make(d)
    inputs = box([0.0] * d, [1.0] * d, points=32, scorer=scorer, random_state=1)
    pool = inputs(model)
    (_,), (refined,) = model.select(pool, scorer=scorer, return_scores=True)
    fine = grid([0.0] * d, [1.0] * d, 32 * 50 if d == 1 else 40)
    (_,), (best,) = model.select(fine, scorer=scorer, return_scores=True)
    assert refined > best - 1e-3 * abs(best)
    assert ((pool >= 0) & (pool <= 1)).all()


class Hill:
    """A coin whose probability is largest, 0.4, at ``top``; and so is its entropy."""

    def __init__(self, top, curve=None):
        self.top = np.asarray(top, dtype=float)
        self.curve = np.eye(len(self.top)) if curve is None else np.asarray(curve)

    def predictive(self, candidates, *, target=None, random_state=None):
        gap = candidates - self.top
        p = 0.4 * np.exp(-0.05 * np.einsum("ni,ij,nj->n", gap, self.curve, gap))
        return StatedPredictive(probabilities=np.column_stack([p, 1 - p]))


def test_corners_faces_and_the_inside_are_found_exactly():
    lower, upper = np.array([-1.0, 0.1]), np.array([0.3, 0.7])
    inputs = box(lower, upper, points=16, scorer="entropy", random_state=0)
    np.testing.assert_array_equal(inputs(Hill([5.0, -3.0]))[0], [0.3, 0.1])  # a corner, to the last bit
    face = inputs(Hill([0.2, 9.0]))[0]
    assert face[1] == 0.7 and face[0] == pytest.approx(0.2, abs=1e-4)
    np.testing.assert_allclose(inputs(Hill([-0.4, 0.4]))[0], [-0.4, 0.4], atol=1e-4)
    narrow = inputs(Hill([-0.4, 0.4], [[1.0, 0.99], [0.99, 1.0]]))[0]  # a ridge across the axes
    np.testing.assert_allclose(narrow, [-0.4, 0.4], atol=1e-3)
    flat = box([0.0, 2.0], [1.0, 2.0], points=8, scorer="entropy", random_state=0)(Hill([0.3, 2.0]))
    assert (flat[:, 1] == 2.0).all() and flat[0, 0] == pytest.approx(0.3, abs=1e-4)


def test_pools_are_the_same_for_the_same_seed_and_follow_the_cost():
    model = regressor(1)
    first, again, other = (box([0.0], [1.0], random_state=seed)(model) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first[-5:], other[-5:])
    assert len(box([0.0], [1.0], points=100, refine=0)(model)) == 100

    def cost(x):
        return 1.0 + 4.0 * x[:, 0]

    cheap = box([0.0], [1.0], scorer="entropy", cost=cost, random_state=3)(Hill([0.5]))
    plain = box([0.0], [1.0], scorer="entropy", random_state=3)(Hill([0.5]))
    assert cheap[0, 0] < plain[0, 0] - 0.1


def test_a_loop_over_a_box_is_logged_and_replayed(tmp_path):
    def make():
        return GaussianProcessRegressor(RBF(0.3), alpha=0.01, optimizer=None)

    inputs = box([0.0, 0.0], [1.0, 2.0], points=32, random_state=7)
    design, asked = SequentialDesign(make(), inputs, random_state=0, log=tmp_path / "log.jsonl"), []
    for _ in range(4):
        query = design.ask()
        asked.append(np.asarray(query.candidates)[0])
        design.tell(query, [float(np.sin(3 * asked[-1][0]))])
    following = np.asarray(design.ask().candidates)
    design.close()
    again = SequentialDesign.load(tmp_path / "log.jsonl", make(), inputs)
    np.testing.assert_array_equal(np.asarray(again.unanswered[0].candidates), following)
    again.tell(again.unanswered[0], [0.5])
    assert again.ask().candidates.shape == (1, 2)
    assert len({tuple(point) for point in asked}) == 4


def test_what_is_refused():
    with pytest.raises(ValueError, match="corners of a box"):
        box([0.0], [-1.0])
    with pytest.raises(ValueError, match="one by one"):
        box([0.0], [1.0], scorer="core_set")
    with pytest.raises(ValueError, match="points"):
        box([0.0], [1.0], points=0)
    with pytest.raises(ValueError, match="cost"):
        box([0.0], [1.0], cost=[1.0])


def test_what_the_instrument_does_not_allow_is_never_in_the_pool():
    model = regressor(2)

    def in_the_disc(points):
        return np.square(points - 0.5).sum(axis=1) <= 0.09

    pool = box([0.0, 0.0], [1.0, 1.0], points=64, allowed=in_the_disc, random_state=1)(model)
    assert in_the_disc(pool).all() and 8 < len(pool) < 64
    gains = model.select(pool, return_scores=True)[1]
    fine = grid([0.0, 0.0], [1.0, 1.0], 60)
    assert gains[0] > 0.97 * model.select(fine, mask=in_the_disc, return_scores=True)[1][0]  # the best lies on the rim
    with pytest.raises(ValueError, match="allowed must allow some of the box"):
        box(0.0, 1.0, allowed=lambda points: points[:, 0] > 2)(regressor(1))
    with pytest.raises(ValueError, match="must return 256 booleans"):
        box(0.0, 1.0, allowed=lambda points: points)(regressor(1))
    with pytest.raises(ValueError, match="allowed must be a callable"):
        box(0.0, 1.0, allowed=True)
