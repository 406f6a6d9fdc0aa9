"""Cox processes: the spec's evidences, bands that cover, bins and exposures, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF

from adaptive import CoxProcess, SequentialDesign, datasets, scorers
from designs.pool import box

COAL = {"rectified": -162.667, "softplus": -161.959, "exp": -162.900}


@pytest.mark.parametrize("rate", COAL)
def test_evidence_of_the_coal_disasters(rate):
    """Ko (2017), section 2.1, on all 100 bins: -162.67, -161.96 and -162.90 at a length of about 11 years."""
    try:
        times = datasets.coal()
    except datasets.DataNotFoundError as absent:
        pytest.skip(f"no data: {absent}")
    X, y = CoxProcess.binned(times, (1851, 1963))
    model = CoxProcess(rate=rate).fit(X, y)
    assert y.sum() == 191 and model.log_evidence_ == pytest.approx(COAL[rate], abs=0.01)
    assert 9 < model.kernel_.k2.length_scale < 13


def bumps(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = np.linspace(0, 10, n)[:, None]
    truth = 4.0 + 3.5 * np.sin(X[:, 0])
    return X, rng.poisson(truth).astype(float), truth


def test_bands_and_intervals_cover():
    covered, counted = [], []
    for seed in range(3):
        X, y, truth = bumps(seed)
        model = CoxProcess().fit(X, y)
        mean, low, high = model.intensity(X, 0.9)
        covered.append(np.mean((low <= truth) & (truth <= high)))
        assert np.sqrt(np.mean((mean - truth) ** 2)) < 1.0
        low, high = model.interval(X)
        counted.append(np.mean((low <= y) & (y <= high)))
    assert np.mean(covered) > 0.75 and np.mean(counted) > 0.88


def test_two_bins_merged_equal_their_sum():
    """At one place two counts tell what their sum over the sum of their exposures tells."""
    options = {"kernel": 1.0 * RBF(2.0), "optimizer": None, "exposure": 1, "mean": 2.0, "tol": 1e-10}
    apart = CoxProcess(**options).fit([[0.0, 0.5], [0.0, 1.5], [3.0, 1.0]], [2.0, 1.0, 4.0])
    merged = CoxProcess(**options).fit([[0.0, 2.0], [3.0, 1.0]], [3.0, 4.0])
    places = np.array([[0.0, 1.0], [1.0, 1.0], [5.0, 2.0]])
    np.testing.assert_allclose(apart.predict(places), merged.predict(places), rtol=0.02)


def test_bins_of_times_and_of_places():
    X, y = CoxProcess.binned([0.1, 0.2, 3.9], (0, 4), 4)
    np.testing.assert_allclose(X[:, 0], [0.5, 1.5, 2.5, 3.5])
    np.testing.assert_array_equal(y, [2, 0, 0, 1])
    X, y = CoxProcess.binned([[0.1, 0.1], [1.9, 0.9]], [(0, 2), (0, 1)], (2, 1))
    np.testing.assert_allclose(X, [[0.5, 0.5], [1.5, 0.5]])
    np.testing.assert_array_equal(y, [1, 1])
    assert CoxProcess.binned([0.5], (0, 1))[0].shape == (100, 1)
    with pytest.raises(ValueError, match="^events must lie in the window"):
        CoxProcess.binned([5.0], (0, 4))
    with pytest.raises(ValueError, match="^window must hold a start below an end"):
        CoxProcess.binned([5.0], (4, 0))


def test_where_to_count_next():
    """Far from what was counted there is more to learn; and a candidate says how long."""
    X, y, _ = bumps(0, 30)
    model = CoxProcess(rate="softplus").fit(X, y)
    assert model.select([[5.0], [14.0]])[0] == 1
    timed = CoxProcess(rate="softplus", exposure=1).fit(np.column_stack([X, np.ones(30)]), y)
    np.testing.assert_allclose(timed.predict([[2.0, 3.0]]), 3 * timed.predict([[2.0, 1.0]]), rtol=1e-9)
    assert timed.select([[14.0, 1.0], [14.0, 5.0]])[0] == 1


def test_a_box_of_places_to_look_at_next():
    """The best point of a box teaches at least as much as the best of a fine grid there; its loop stays inside."""
    X, y, _ = bumps(0, 30)
    model = CoxProcess(2.0 * RBF(2.0), optimizer=None).fit(X, y)
    found = box(2.0, 14.0, points=32, random_state=0)(model)
    grid = np.linspace(2.0, 14.0, 400)[:, None]
    gain, best = (scorers.information_gain(model.predictive(points)).max() for points in (found, grid))
    assert gain >= best - 1e-4 * best and np.all((2.0 <= found) & (found <= 14.0))
    pool = box(0.0, 14.0, points=16, refine=2, random_state=0)
    design = SequentialDesign(model, pool, lambda query: np.ones(len(query.candidates)), random_state=0)
    design.run(2)
    assert len(design.estimator_.y_train_) == 32


def test_learning_in_parts_and_states():
    X, y, _ = bumps(0, 40)
    model = CoxProcess().fit(X[:30], y[:30])
    theta = model.kernel_.theta
    model.partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(model.kernel_.theta, theta)
    assert len(model.y_train_) == 40
    again = clone(model).restore(model.state())
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_allclose(np.exp(model.log_predictive(X, y)),
                               model.predictive(X).probabilities[np.arange(40), y.astype(int)], atol=1e-8)  # fmt: skip


def test_bad_input():
    X, y, _ = bumps(0, 5)
    with pytest.raises(ValueError, match="^variational_gaussian refuses Poisson"):
        CoxProcess(inference="variational_gaussian").fit(X, y)
    for bad, match in ((-y - 1, "^y must hold counts"), (y + 0.5, "^y must hold counts"), (y + 1e12, "up to 1e")):
        with pytest.raises(ValueError, match=match):
            CoxProcess().fit(X, bad)
    with pytest.raises(ValueError, match="^exposure must be positive"):
        CoxProcess(exposure=1).fit(np.column_stack([X, np.zeros(5)]), y)
    with pytest.raises(ValueError, match="^level must lie"):
        CoxProcess(optimizer=None).fit(X, y).intensity(X, 0.0)
    with pytest.raises(NotFittedError):
        CoxProcess().intensity(X)
