"""A constant rate beside a process: its score by brute force, when it suffices, who has none."""

import numpy as np
import pytest
from scipy import integrate, stats

from adaptive import CoxProcess
from adaptive.estimators.counts.constant_rate import ConstantRate


def test_counts_without_themselves_are_those_of_a_grid_over_the_rate():
    y, exposure = np.array([3.0, 0.0, 7.0]), np.array([1.0, 0.5, 2.0])
    alone = []
    for i in range(3):
        shape, time = np.delete(y, i).sum() + 0.5, np.delete(exposure, i).sum()

        def joint(r, i=i, shape=shape, time=time):
            return stats.poisson.pmf(y[i], exposure[i] * r) * stats.gamma.pdf(r, shape, scale=1 / time)

        alone.append(np.log(integrate.quad(joint, 0, 60, limit=200)[0]))
    found = ConstantRate.beside(np.zeros(3), y, exposure)
    assert found.gain == pytest.approx(-np.mean(alone), abs=1e-6)
    assert (found.rate, found.rate_std) == pytest.approx((10.5 / 3.5, np.sqrt(10.5) / 3.5))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_it_suffices_for_flat_events_and_not_for_a_peak():
    rng = np.random.default_rng(0)
    flat, peak = rng.uniform(0, 10, 60), np.concatenate([rng.uniform(0, 10, 15), rng.uniform(4, 6, 45)])
    told = [CoxProcess().fit(*CoxProcess.binned(np.sort(times), (0, 10), 40)).constant_rate_ for times in (flat, peak)]
    assert told[0].suffices and not told[1].suffices and told[0].rate == pytest.approx(60.5 / 40)
    assert told[0].log_bayes_factor < 0 < 3 < told[1].log_bayes_factor


def test_its_evidence_is_the_integral_over_the_rate():
    y, exposure = np.array([3.0, 0.0, 7.0]), np.array([1.0, 0.5, 2.0])

    def joint(r):
        return np.prod(stats.poisson.pmf(y, exposure * r)) * stats.expon.pdf(r, scale=10.5 / 3.5)

    found = ConstantRate.beside(np.zeros(3), y, exposure, 2, -5.0)
    assert found.log_evidence == pytest.approx(np.log(integrate.quad(joint, 0, 60, limit=200)[0]), abs=1e-8)
    assert found.log_bayes_factor == pytest.approx(-5.0 - np.log(3) - found.log_evidence)


def test_there_is_none_of_no_event_and_where_counts_are_not_left_out():
    X, y = np.arange(12.0)[:, None], np.arange(12) % 3
    assert CoxProcess(optimizer=None).fit(X, 0 * y).constant_rate_ is None
    by_mode = CoxProcess(rate="exp", inference="laplace_approximation", optimizer=None).fit(X, y)
    assert (by_mode.constant_rate_ is None) == (by_mode.leave_one_out_ is None)
