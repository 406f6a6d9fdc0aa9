"""log T: derivatives against finite differences, normalisation, log-concavity, stable differences, outcomes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from adaptive.potentials import BernoulliLogit, ExponentialPower, Poisson

moderate = st.floats(-8, 8, allow_nan=False)


def central(function, s, step):
    """Fourth-order central difference."""
    return (8 * (function(s + step) - function(s - step)) - function(s + 2 * step) + function(s - 2 * step)) / (
        12 * step
    )


def far_from_kinks(potential, s, distance=0.05):
    places = [*(k + potential.location for k in potential.kinks), *np.atleast_1d(potential.support)]
    return all(abs(s - place) > distance for place in places) and potential.log_density(s) > -np.inf


@settings(max_examples=40, deadline=None)
@given(s=moderate)
def test_derivatives_are_those_of_log_density(potential, s):
    if not far_from_kinks(potential, s):
        return
    first, second = potential.derivatives(s)
    third = potential.third_derivative(s)
    step = 1e-3
    assert central(potential.log_density, s, step) == pytest.approx(first, rel=1e-6, abs=1e-7)
    assert central(lambda t: potential.derivatives(t)[0], s, step) == pytest.approx(second, rel=1e-6, abs=1e-7)
    assert central(lambda t: potential.derivatives(t)[1], s, step) == pytest.approx(third, rel=1e-5, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(s=st.floats(-300, 300), step=st.floats(-20, 20))
def test_log_ratio_is_a_difference_of_log_densities(potential, s, step):
    if potential.log_density(s) == -np.inf:
        return
    before, after = potential.log_density(s), potential.log_density(s + step)
    ratio = potential.log_ratio(s, step)
    assert not np.isnan(ratio)
    if np.isfinite(after):
        assert ratio == pytest.approx(after - before, rel=1e-9, abs=1e-11 * (1 + abs(before) + abs(after)))
    else:
        assert ratio == -np.inf


def test_small_steps_lose_no_digits_in_log_ratio(potential):
    """Far out, where log T is of the order 1e4 or more, a step of 1e-6 still has its first-order change."""
    for s in (-3e4, 2e4) if potential.name != "Poisson" or potential.rate != "exp" else (-3e4, 9.0):
        if potential.log_density(s) == -np.inf:
            continue
        first, second = potential.derivatives(s)
        expected = 1e-6 * first + 0.5e-12 * second
        assert potential.log_ratio(s, 1e-6) == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_densities_integrate_to_one(density):
    def p(s):
        return float(np.exp(density.log_density(s)))

    centre = float(density.location)
    total = sum(quad(p, centre + a, centre + b, limit=200)[0] for a, b in ((0, 1), (1, 10), (10, np.inf)))
    total += sum(quad(p, centre - b, centre - a, limit=200)[0] for a, b in ((0, 1), (1, 10), (10, np.inf)))
    assert total == pytest.approx(1.0, abs=1e-7)


def test_families_sum_to_one_over_outcomes(family):
    outcomes = family.outcomes if family.outcomes is not None else np.arange(400.0)
    for s in (-3.0, -0.2, 0.4, 3.0):
        assert np.exp(family.log_density(s, outcomes)).sum() == pytest.approx(1.0, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(a=moderate, b=moderate)
def test_log_concave_potentials_are(log_concave, a, b):
    ends = 0.5 * (log_concave.log_density(a) + log_concave.log_density(b))
    assert log_concave.log_density(0.5 * (a + b)) >= ends - 1e-12 * (1 + abs(ends))


def test_the_others_are_not_log_concave(potential):
    if not potential.log_concave:
        assert max(potential.derivatives(potential.location + side)[1] for side in (-20.0, 20.0)) > 0


@settings(max_examples=40, deadline=None)
@given(s=st.one_of(st.floats(-1e150, 1e150), st.sampled_from([0.0, -0.0, 5e-324, 1e-30, -1e-30])))
def test_extreme_projections_never_give_nan(potential, s):
    values = [potential.log_density(s), *potential.derivatives(s), potential.third_derivative(s)]
    assert not np.isnan(np.array(values, dtype=float)).any()


def test_outcomes_are_those_observed(family):
    y = family.outcomes if family.outcomes is not None else np.array([0.0, 3.0])
    s = np.array([0.7, 1.2])
    np.testing.assert_array_equal(family.observe(y).log_density(s), family.log_density(s, y))
    with pytest.raises(ValueError, match=r"holds no outcome: give log_density\(s, y\) one, or use observe\(y\)"):
        family.log_density(s)


def test_a_density_as_likelihood_moves_to_its_outcome(density):
    s, y = np.array([0.3, -1.0]), np.array([1.5, 0.25])
    np.testing.assert_allclose(density.observe(y).log_density(s), density.log_density(s, y), rtol=1e-15)
    # p(y | s) depends on y - s only, and is even
    np.testing.assert_allclose(density.log_density(s, y), density.log_density(y, s), rtol=1e-14)


def test_curvature_at_kinks_is_infinite_and_smooth_potentials_have_none():
    assert ExponentialPower(1.5, 1.0).derivatives(0.0)[1] == -np.inf
    assert not ExponentialPower([2.0, 1.5], 1.0).smooth
    assert ExponentialPower(2.5, 1.0).derivatives(0.0)[1] == 0
    assert BernoulliLogit(1).smooth and Poisson(2).smooth and not Poisson(2, "rectified").smooth
