"""The super-Gaussian bound and the double loop's inner function, against brute force."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from adaptive.potentials import (
    BernoulliLogit,
    BernoulliProbit,
    ExponentialPower,
    Gaussian,
    Laplace,
    Logistic,
    Poisson,
    Potential,
    Step,
    StudentT,
)

projection = st.floats(-30, 30)
log_width = st.floats(-6, 9)


def bound_at(potential, s, width):
    x = s - potential.location
    with np.errstate(over="ignore"):
        return potential.tilt * x - x**2 / (2 * width) - 0.5 * potential.height(width)


@settings(max_examples=60, deadline=None)
@given(s=projection, u=log_width)
def test_the_bound_is_below_everywhere(bounded, s, u):
    log_density = bounded.log_density(s)
    assert bound_at(bounded, s, np.exp(u)) <= log_density + 1e-10 * (1 + abs(log_density))


@settings(max_examples=40, deadline=None)
@given(s=st.floats(-30, 30).filter(lambda s: abs(s) > 1e-3))
def test_the_bound_touches_at_the_tight_width(bounded, s):
    s = s + bounded.location
    width = bounded.tight_width(s)
    assert width > 0
    assert bound_at(bounded, s, width) == pytest.approx(bounded.log_density(s), rel=1e-11, abs=1e-11)


@settings(max_examples=40, deadline=None)
@given(u=log_width)
def test_height_derivatives_are_those_of_the_height(bounded, u):
    width, step = np.exp(u), 1e-4 * np.exp(u)
    values = np.array([bounded.height(width + k * step) for k in (-2, -1, 0, 1, 2)])
    slopes = np.array([bounded.height_derivatives(width + k * step)[0] for k in (-2, -1, 1, 2)])
    first, second = bounded.height_derivatives(width)
    kinked = len({bool(bounded.height_derivatives(width + k * step)[1] == 0) for k in (-2, 0, 2)}) > 1
    if kinked or not np.isfinite(values).all():  # the second derivative jumps at the smallest width
        return
    slope = (8 * (values[3] - values[1]) - values[4] + values[0]) / (12 * step)
    bend = (8 * (slopes[2] - slopes[1]) - slopes[3] + slopes[0]) / (12 * step)
    assert slope * width == pytest.approx(first * width, rel=1e-6, abs=1e-8 * (1 + abs(values[2])))
    assert bend * width**2 == pytest.approx(second * width**2, rel=1e-6, abs=1e-8 * (1 + first * width))


def test_the_height_is_convex_exactly_for_log_concave_potentials(bounded):
    width = np.geomspace(1e-3, 1e5, 4001)
    h = bounded.height(width)
    inside = np.isfinite(h)
    width, h = width[inside], h[inside]
    slopes = np.diff(h) / np.diff(width)
    convex = bool((np.diff(slopes) >= -1e-7 * (np.abs(slopes[1:]) + 1e-9)).all())
    assert convex == bool(bounded.log_concave)


@settings(max_examples=40, deadline=None)
@given(u=log_width)
def test_convex_and_concave_parts_add_up(bounded, u):
    width = np.exp(u)
    _, convex_slope, convex_bend = bounded.convex_height(width)
    first, _ = bounded.height_derivatives(width)
    if np.isfinite(first):
        assert convex_slope + bounded.concave_height_slope(width) == pytest.approx(first, rel=1e-9, abs=1e-12)
    assert convex_bend >= 0
    wider = bounded.concave_height_slope(1.5 * width)
    assert wider <= bounded.concave_height_slope(width) + 1e-15  # concave


# ------------------------------------------------------------------------------------------------------- inner function
def by_minimisation(potential, s, z1, z2, z3):
    x = s - potential.location

    def objective(u):
        g = np.exp(u)
        return min(0.5 * (potential.convex_height(g)[0] + (x * x + z2) / g + z1 * g - z3 * u), 1e6)

    grid = np.linspace(-16, 16, 641)
    best = grid[np.argmin([objective(u) for u in grid])]
    found = minimize_scalar(objective, bounds=(best - 0.1, best + 0.1), method="bounded", options={"xatol": 1e-12})
    return found.fun


COEFFICIENTS = {
    "inverse_width": (0.0, 0.7, 0.0),  # the bound on log|A| that is linear in 1/g
    "inverse_width_narrow": (0.0, 1e-4, 0.0),
    "width": (0.6, 0.0, 1.0),  # the one that is linear in g
    "mixed": (0.3, 0.4, 0.5),
}


@pytest.mark.parametrize("coefficients", COEFFICIENTS.values(), ids=COEFFICIENTS)
def test_inner_is_the_minimum_over_the_width(bounded, coefficients):
    z1, z2, z3 = coefficients
    if not bounded.log_concave:
        z1 = max(z1, 0.2)  # stands for the tangent of the concave part
    for s in (-2.3, -0.4, 0.9, 5.0):
        value, first, second, width = bounded.inner(s, z1, z2, z3)
        assert value == pytest.approx(by_minimisation(bounded, s, z1, z2, z3), rel=3e-8, abs=3e-8)
        assert first == pytest.approx((s - bounded.location) / width, rel=1e-9)
        step = 2e-4
        values = [bounded.inner(s + k * step, z1, z2, z3) for k in (-2, -1, 1, 2)]
        slope = (8 * (values[2][0] - values[1][0]) - values[3][0] + values[0][0]) / (12 * step)
        bend = (8 * (values[2][1] - values[1][1]) - values[3][1] + values[0][1]) / (12 * step)
        assert slope == pytest.approx(first, rel=1e-7, abs=1e-8)
        assert bend == pytest.approx(second, rel=1e-6, abs=1e-7)


@settings(max_examples=30, deadline=None)
@given(s=st.floats(-20, 20), z1=st.floats(1e-3, 10), z2=st.floats(0, 10), z3=st.floats(1e-3, 2))
def test_inner_curvature_is_never_negative_and_nothing_is_nan(bounded, s, z1, z2, z3):
    value, first, second, width = bounded.inner(s, z1, z2, z3)
    assert np.isfinite([value, first, width]).all() and width > 0
    assert second >= 0
    beyond = bounded.inner(s, z1, z2 + 1.0, z3)
    assert abs(beyond[1]) <= abs(first) * (1 + 1e-9)  # a larger marginal variance never steepens the penalty


def test_no_variance_gives_the_map_penalty(bounded):
    s = np.array([-3.0, -0.6, 1.1, 8.0])
    x = s - bounded.location
    if bounded.log_concave:
        value, first, _, width = bounded.inner(s)
        expected = -bounded.log_density(s) + bounded.tilt * x
        np.testing.assert_allclose(width, bounded.tight_width(s), rtol=1e-12)
    else:  # the concave part of the height enters as its tangent at the tight width
        tight = bounded.tight_width(s)
        slope = bounded.concave_height_slope(tight)
        value, first, _, _ = bounded.inner(s, slope)
        concave = bounded.height(tight) - bounded.convex_height(tight)[0]
        expected = -bounded.log_density(s) + 0.5 * (slope * tight - concave)
    np.testing.assert_allclose(value, expected, rtol=1e-10)
    np.testing.assert_allclose(first, bounded.tilt - bounded.derivatives(s)[0], rtol=1e-9)


def test_a_large_variance_makes_the_penalty_flat():
    s = np.array([0.5, 2.0])
    for potential in (Laplace(1.0), Logistic(0.5), BernoulliLogit(1), ExponentialPower(1.5, 1.0)):
        slopes = [np.abs(potential.inner(s, z2=z2)[1]) for z2 in (0.0, 1.0, 1e4, 1e10)]
        assert all((b < a).all() for a, b in pairwise(slopes))
        assert (slopes[-1] < 0.01).all()


@settings(max_examples=40, deadline=None)
@given(s=st.floats(0.1, 20), variance=st.floats(1e-3, 20))
def test_shifted_penalty_equals_the_generic_minimisation(bounded, s, variance):
    """Appendix E.5 (no height needed) and appendix E.4 (Newton in the log width) agree at z1 -> 0."""
    if not bounded.log_concave:
        return
    by_shift = bounded.inner(s, 0.0, variance, 0.0)
    generic = bounded.inner(s, 1e-13, variance, 0.0)
    np.testing.assert_allclose(by_shift[0], generic[0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(by_shift[1], generic[1], rtol=1e-6)


def test_student_widths_of_the_source():
    """Closed form of the linear-in-g bound (Nickisch 2010, section 3.4), both branches."""
    df, scale, z1 = 3.0, 0.7, 0.9
    potential, threshold = StudentT(df, scale), df * scale**2 / (df + 1)
    x = np.array([0.05, 0.6, 4.0])
    width = potential.inner(x, z1, 0.0, 1.0)[3]
    above = (1 + np.sqrt(1 + 4 * z1 * (df * scale**2 + x**2))) / (2 * z1)
    below = np.minimum(threshold, ((df + 2) + np.sqrt((df + 2) ** 2 + 4 * z1 * x**2)) / (2 * z1))
    np.testing.assert_allclose(width, np.where(above >= threshold, above, below), rtol=1e-12)
    steep = potential.inner(x, 20.0, 0.0, 1.0)[3]
    below = ((df + 2) + np.sqrt((df + 2) ** 2 + 80.0 * x**2)) / 40.0
    np.testing.assert_allclose(steep[:2], np.minimum(below[:2], threshold), rtol=1e-12)


def test_extreme_widths_and_projections_stay_finite():
    width = np.geomspace(1e-12, 1e12, 25)
    for potential in (Laplace(1.0), Logistic(1e-3), StudentT(2.0, 10.0), BernoulliLogit(1)):
        assert np.isfinite(potential.height(width)).all()
        assert np.isfinite(np.array(potential.height_derivatives(width))).all()
        for s in (-1e8, -1e-12, 0.0, 1e8):
            for z in ((0.0, 1e-12, 0.0), (1e-6, 0.0, 1.0), (1e6, 1e6, 1.0)):
                z = (max(z[0], 1e-9 if not potential.log_concave else 0.0), *z[1:])
                assert np.isfinite(np.array(potential.inner(s, *z))).all(), (potential, s, z)


def test_at_a_kink_without_variance_the_curvature_is_infinite():
    value, first, second, width = Laplace(1.0).inner(0.0)
    assert (first, second, width) == (0.0, np.inf, 0.0) and value == pytest.approx(np.log(2))


def test_potentials_without_a_bound_refuse_in_one_sentence(unbounded):
    assert unbounded.bound is None and not unbounded.super_gaussian
    for call in (lambda: unbounded.height(1.0), lambda: unbounded.tight_width(1.0), lambda: unbounded.inner(1.0)):
        with pytest.raises(
            ValueError, match=f"{unbounded.name} has no Gaussian lower bound .*use expectation_propagation"
        ):
            call()


def test_who_refuses():
    refused = (Step(), Poisson(1), Poisson(1, "rectified"), Poisson(1, "softplus"), ExponentialPower(3.0, 1.0))
    assert [p.bound for p in refused] == [None] * 5


def test_a_student_without_its_tangent_has_no_finite_width():
    with pytest.raises(ValueError, match="needs z1 > 0"):
        StudentT(3.0, 1.0).inner(1.0, z2=1.0)


@pytest.mark.parametrize("y", [1.0, -1.0])
def test_the_logit_has_the_coefficients_of_the_table(y):
    """-l s^2 + y s / 2 + l z^2 - z/2 + ln sig(z), l = tanh(z/2) / (4 z): width 1 / (2 l), tight at s = +-z."""
    potential, s = BernoulliLogit(y), np.linspace(-12, 12, 97)
    for z in (1e-3, 1.0, 5.0):
        quadratic = np.tanh(z / 2) / (4 * z)
        bound = -quadratic * s**2 + y * s / 2 + quadratic * z**2 - z / 2 - np.log1p(np.exp(-z))
        np.testing.assert_allclose(bound_at(potential, s, 1 / (2 * quadratic)), bound, atol=1e-10)
        assert (bound <= potential.log_density(s) + 1e-12).all()
        assert potential.tight_width(z) == pytest.approx(1 / (2 * quadratic))
        assert 1 / (2 * quadratic) >= 4.0


@pytest.mark.parametrize("y", [1.0, -1.0])
def test_the_probit_is_bounded_at_a_contact_point(y):
    """log Phi(s) >= log Phi(z) + r(z) (s - z) - (s - z)^2/2: width 1, any contact point z."""
    potential = BernoulliProbit(y)
    assert potential.bound == "contact"
    s = np.linspace(-12, 12, 97)
    for z in (-8.0, -1.0, 0.0, 3.0):
        value, first, second, width = potential.inner(z)
        assert width == 1.0
        assert (potential.log_density(s) >= -value - first * (s - z) - 0.5 * (s - z) ** 2 - 1e-12).all()
        assert second == pytest.approx(-potential.derivatives(z)[1])
    assert potential.inner(0.3, 0.0, 0.8)[0] == pytest.approx(potential.inner(0.3)[0] + 0.4)
    with pytest.raises(ValueError, match="contact point"):
        potential.height(1.0)


# ------------------------------------------------------------------------------------------------------------- defaults
class PlainLogistic(Potential):
    """The sech^2 density from its log density and derivatives alone."""

    super_gaussian = True

    def __init__(self, scale):
        self._set(scale=scale)

    def log_density(self, s, y=None):
        return -2 * np.logaddexp(0.5 * s / self.scale, -0.5 * s / self.scale) - np.log(self.scale)

    def derivatives(self, s, y=None):
        t = np.tanh(0.5 * np.asarray(s) / self.scale)
        return -t / self.scale, -0.5 * (1 - t * t) / self.scale**2


def test_defaults_reach_what_the_closed_forms_give():
    plain, exact = PlainLogistic(0.7), Logistic(0.7)
    width = np.array([0.5, 2.0, 7.0, 300.0])
    np.testing.assert_allclose(plain.height(width), exact.height(width), rtol=1e-9)
    for a, b in zip(plain.height_derivatives(width), exact.height_derivatives(width), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-12)
    s = np.array([-1.0, 0.3, 6.0])
    np.testing.assert_allclose(plain.tight_width(s), exact.tight_width(s), rtol=1e-12)
    for z in COEFFICIENTS.values():
        for a, b in zip(plain.inner(s, *z), exact.inner(s, *z), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-12)


def test_a_gaussian_bounds_itself():
    potential = Gaussian(2.0, location=1.0)
    s = np.array([-1.0, 4.0])
    value, first, second, width = potential.inner(s, z2=0.5)
    np.testing.assert_allclose(value, -potential.log_density(s) + 0.125)
    np.testing.assert_allclose(first, (s - 1.0) / 2)
    np.testing.assert_allclose(second, 0.5)
    np.testing.assert_allclose(width, 2.0)


@pytest.mark.parametrize("spread", [0.01, 1.0, 30.0, 1e3])
@pytest.mark.parametrize("peaked", [BernoulliLogit(1), Laplace(2.0, location=0.3), StudentT(3.0, 0.5)], ids=str)
def test_the_best_width_is_tight_at_its_own_second_moment(peaked, spread, monkeypatch):
    rng = np.random.default_rng(0)
    mean, variance = spread * rng.standard_normal(500), np.exp(2 * rng.standard_normal(500))
    evaluations, tight_width = [], type(peaked).tight_width
    monkeypatch.setattr(type(peaked), "tight_width", lambda self, s: evaluations.append(1) or tight_width(self, s))
    width = peaked.best_width(mean, variance)
    shrink = 1 + variance / width
    x = (mean - peaked.location + variance * peaked.tilt) / shrink
    np.testing.assert_allclose(peaked.tight_width(peaked.location + np.hypot(x, np.sqrt(variance / shrink))), width)
    assert len(evaluations) <= 30  # the secant method; a bisection would take fifty
