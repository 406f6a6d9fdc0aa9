"""The maximum is found where it is known, by any iteration; searches stay in bounds, and restarts leave valleys."""

from functools import partial

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from adaptive.inference.evidence.maximise import LBFGS, Evaluation, LogNormal, Newton, maximise

CLIMB = LBFGS(max_iter=100, ftol=1e-12, gtol=1e-9)


def quartic(t, warm, rough):
    """-(t - 2)^4 / 4 - (t - 2)^2, with half of its curvature as the guess; ``warm`` counts the fits."""
    d = np.asarray(t) - 2.0
    fits = 1 if warm is None else warm + 1
    return Evaluation(fits, -float(np.sum(d**4 / 4 + d**2)), -(d**3) - 2 * d, float(np.mean(1.5 * d**2 + 1.0)))


@pytest.mark.parametrize("start", [-3.0, 1.9, 8.0])
def test_both_iterations_find_the_maximum(start):
    found = maximise(quartic, start, iteration=Newton(tol=1e-12, max_iter=60))
    assert found.point == pytest.approx(2.0, abs=1e-5) and found.value == pytest.approx(0.0, abs=1e-9)
    several = maximise(quartic, np.array([start, 2.5]), iteration=CLIMB)
    np.testing.assert_allclose(several.point, 2.0, atol=1e-3)
    relative = maximise(quartic, np.array([start, 2.5]), iteration=LBFGS(100, 1e-12, 1e-9, relative=True))
    np.testing.assert_allclose(relative.point, several.point, atol=1e-3)
    assert relative.value == pytest.approx(several.value, abs=1e-6)


def test_a_prior_pulls_the_maximum_to_its_centre():
    prior = LogNormal(-1.0, 0.7)
    found = maximise(quartic, 0.0, prior=prior, iteration=Newton(tol=1e-13, max_iter=60))
    grid = np.linspace(-2, 3, 50_001)
    total = -((grid - 2) ** 4 / 4 + (grid - 2) ** 2) + stats.norm(-1.0, 0.7).logpdf(grid)
    assert found.point == pytest.approx(grid[int(np.argmax(total))], abs=2e-4)
    assert found.value == pytest.approx(total.max(), abs=1e-7)
    assert prior.slope(0.3) == pytest.approx((prior.log_density(0.3 + 1e-6) - prior.log_density(0.3 - 1e-6)) / 2e-6)
    with pytest.raises(ValueError, match="Newton"):
        maximise(quartic, np.zeros(2), prior=prior, iteration=CLIMB)


def test_every_fit_starts_from_the_last_one():
    found = maximise(quartic, 5.0, iteration=Newton(tol=1e-8), warm_start=10)
    assert found.posterior > 10  # counted on from what was given
    rough = []
    maximise(lambda t, warm, r: rough.append(r) or quartic(t, warm, r), 5.0, iteration=Newton(tol=1e-8))
    assert rough[0] and not rough[-1]  # what is returned was fitted with care


def test_bounds_hold_and_restarts_leave_a_valley():
    found = maximise(quartic, np.array([0.0]), np.array([[-1.0, 1.0]]), iteration=CLIMB)
    assert found.point == pytest.approx([1.0])

    def hills(t, warm, rough):  # a low one at 0, a high one at 6
        low, high = np.exp(-(t**2)), 2 * np.exp(-((t - 6) ** 2))
        return Evaluation(None, float(np.sum(low + high)), -2 * t * low - 2 * (t - 6) * high)

    start = np.array([0.4])
    assert maximise(hills, start, iteration=CLIMB).point == pytest.approx([0.0], abs=1e-3)
    best = maximise(hills, start, iteration=CLIMB, restarts=[np.array([5.5]), np.array([-0.2])])
    assert best.point == pytest.approx([6.0], abs=1e-3) and best.value == pytest.approx(2.0, abs=1e-6)


def test_a_search_leaps_to_a_bound_that_it_would_approach_by_ever_so_many_steps():
    fits = []

    def saturating(t, warm, rough, turns=np.inf):  # rises for ever like -exp(-t), or turns where it is that high
        fits.append(t.copy())
        rise, past = np.exp(-t[0]), max(t[0] - turns, 0.0)
        slope = np.array([rise - 2 * past, -2 * (t[1] - 0.3 - 0.1 * rise)])
        slope[0] -= 0.2 * rise * (t[1] - 0.3 - 0.1 * rise)
        return Evaluation(None, -rise - past**2 - (t[1] - 0.3 - 0.1 * rise) ** 2, slope)

    start, bounds = np.zeros(2), np.array([[-11.5, 11.5], [-5.0, 5.0]])
    climb = {leaps: LBFGS(max_iter=100, ftol=1e-12, gtol=1e-9, leaps=leaps) for leaps in (False, True)}
    slow, steps = maximise(saturating, start, bounds, iteration=climb[False]), len(fits)
    fits.clear()
    found = maximise(saturating, start, bounds, iteration=climb[True])
    assert found.point[0] == 11.5 and found.value >= slow.value and len(fits) < steps
    np.testing.assert_allclose(found.point[1], 0.3, atol=1e-4)
    turned = maximise(partial(saturating, turns=6.0), start, bounds, iteration=climb[True])
    assert turned.point[0] == pytest.approx(6.0, abs=0.01)  # a leap beyond the maximum is taken back
    assert any(t[0] == 11.5 for t in fits)


def test_ending_too_early_is_said_where_it_matters():
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iterations"):
        maximise(quartic, np.array([9.0, -4.0]), iteration=LBFGS(1, 1e-12, 1e-9))
    maximise(quartic, np.array([9.0, -4.0]), iteration=LBFGS(1, 1e-12, 1e-9, warns=False))
