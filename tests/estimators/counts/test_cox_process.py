"""Cox processes: the spec's evidences, bands that cover, bins and exposures, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from adaptive import CoxProcess, GaussianProcessRegressor, SequentialDesign, datasets, scorers
from adaptive.estimators.counts.uncertain_mean import UncertainMean
from designs.pool import box

COAL = {"rectified": -162.667, "softplus": -161.959, "exp": -162.900}


@pytest.mark.parametrize("rate", COAL)
def test_evidence_of_the_coal_disasters(rate):
    """Ko (2017), section 2.1, on all 100 bins: -162.67, -161.96 and -162.90 at a length of about 11 years."""
    X, y = CoxProcess.binned(datasets.coal(), (1851, 1963))
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


def test_draws_of_the_rate_are_joint_and_spread_as_the_bands():
    X, y = np.arange(20.0)[:, None], np.random.default_rng(0).poisson(np.repeat([2.0, 6.0], 10))
    model = CoxProcess(random_state=0).fit(X, y)
    draws, (_, low, high) = model.intensity_draws(X, 20_000, random_state=0), model.intensity(X)
    ends = np.quantile(draws, [0.05, 0.95], axis=0)
    assert np.allclose(ends, [low, high], rtol=0.05, atol=0.05)
    assert np.array_equal(draws, model.intensity_draws(X, 20_000, random_state=0))
    near, far = (np.corrcoef(draws[:, pair].T)[0, 1] for pair in ([3, 4], [0, 19]))
    assert near > 0.3 > 0.1 > abs(far)  # neighbours rise together
    with pytest.raises(ValueError, match="n must be"):
        model.intensity_draws(X, 0)


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
    model.partial_fit(X[30:], y[30:])
    assert model.log_evidence_ >= CoxProcess().fit(X, y).log_evidence_ - 0.1
    assert len(model.y_train_) == 40
    again = clone(model).restore(model.state())
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.log_predictive(X, y), model.log_predictive(X, y))
    told = CoxProcess(model.kernel_, optimizer=None).fit(X, y)
    np.testing.assert_allclose(np.exp(told.log_predictive(X, y)),
                               told.predictive(X).probabilities[np.arange(40), y.astype(int)], atol=1e-8)  # fmt: skip


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


@pytest.mark.filterwarnings("ignore:the learnt")  # a flat kernel ends at its bounds
def test_a_constant_rate_is_inside_its_band():
    """The kernel then comes out flat: what is uncertain is the mean."""
    X, inside, width = np.linspace(0, 100, 25)[:, None], [], []
    for seed in range(4):
        y = np.random.default_rng(seed).poisson(0.8, 25).astype(float)
        for mean in (None, float(y.mean())):
            _, low, high = CoxProcess(overdispersion=None, mean=mean).fit(X, y).intensity(X)
            inside.append(np.mean((low <= 0.8) & (high >= 0.8)))
            width.append(np.mean(high - low))
    assert np.mean(inside[::2]) > 0.8
    assert np.mean(width[1::2]) < np.mean(width[::2])  # a given mean is learnt as a number, without doubt


def test_an_uncertain_mean_is_a_broad_constant_in_the_kernel():
    """Exactly, at the same sites: those of Gaussian noise; and a low rank that is full says what none says."""
    X, y, _ = bumps(0, 30)
    Z = np.linspace(-2, 12, 7)[:, None]
    without, broad = (
        GaussianProcessRegressor(kernel, alpha=0.5, optimizer=None).fit(X, y).belief_.processes[0]
        for kernel in (2.0 * RBF(1.5), 2.0 * RBF(1.5) + ConstantKernel(9.0, "fixed"))
    )
    found = UncertainMean.of(without, 9.0)
    for one, other in zip(found.moments(Z), broad.moments(Z), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.covariance(Z, X[:3]), broad.covariance(Z, X[:3]), atol=1e-7)
    of_ranks = [
        UncertainMean.of(CoxProcess(2.0 * RBF(1.5), optimizer=None, rank=rank).fit(X, y).belief_.processes[0], 9.0)
        for rank in (None, 30)
    ]
    for one, other in zip(*(process.moments(Z) for process in of_ranks), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3)


@pytest.mark.filterwarnings("ignore:the learnt")
@pytest.mark.parametrize("rate", ["rectified", "exp", "softplus"])
def test_no_event_at_all_is_answered_by_the_prior(rate):
    """A rate of about half a count in all that was watched, uncertain; and the first event begins the learning."""
    X = np.linspace(0, 99, 50)[:, None]
    model = CoxProcess(rate=rate).fit(X, np.zeros(50))
    mean, low, high = model.intensity(X)
    assert np.all((low < 0.01) & (0.001 < mean) & (mean < 0.04) & (high > 1.5 * mean) & (high < 0.2))
    assert -8 < model.log_predictive(X[:1], [1])[0] < -2 and model.interval(X[:1])[1][0] <= 1
    model.partial_fit([[100.0]], [1])
    assert model.intensity(X)[0].mean() > mean.mean()
    with pytest.raises(ValueError, match="^y must have shape"):
        model.log_predictive(X[:3], [1])
