"""Section 4 of the specification: what is convex in the variational problem, and what is not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive.gaussians.with_sites import gaussian_with_sites
from adaptive.inference import GLM, variational_bounds
from adaptive.potentials import BernoulliLogit, ExponentialPower, Laplace, Logistic, StudentT

SETTINGS = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 2**32 - 1)


class Problem:
    """A random least-squares problem with projections; everything as a function of the widths gamma."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.n, self.q = int(rng.integers(1, 5)), int(rng.integers(1, 7))
        m = int(rng.integers(0, 4))
        self.X, self.B = rng.normal(size=(m, self.n)), rng.normal(size=(self.q, self.n))
        self.y, self.noise = rng.normal(size=m), float(np.exp(rng.uniform(-3, 3)))
        self.prior = float(np.exp(rng.uniform(-3, 3)))
        self.gaussian = gaussian_with_sites(
            self.B,
            data_rows=self.X,
            data=self.y,
            data_variance=np.full(m, self.noise),
            prior_covariance=self.prior,
        )

    def widths(self):
        return np.exp(self.rng.uniform(-6, 6, self.q))

    def log_precision(self, gamma):
        """ln|A(gamma)|."""
        return -self.gaussian.refit(1 / gamma, np.zeros(self.q)).log_determinant

    def variances(self, gamma):
        return self.gaussian.refit(1 / gamma, np.zeros(self.q)).marginals()[1]

    def quadratic(self, u, gamma):
        """R(u, gamma)."""
        s = self.B @ u
        return np.sum((self.X @ u - self.y) ** 2) / self.noise + u @ u / self.prior + np.sum(s * s / gamma)

    def objective(self, potential, gamma):
        """-2 ln Z_VB up to a constant."""
        x = -potential.location
        nu = np.broadcast_to(potential.tilt, (self.q,)) - x / gamma
        g = self.gaussian.refit(1 / gamma, nu)
        s = g.projections - potential.location
        return -2 * (g.log_volume + np.sum(potential.tilt * s - s * s / (2 * gamma))) + np.sum(potential.height(gamma))


def convex(function, a, b, slack=1e-9):
    middle = function(0.5 * (a + b))
    ends = 0.5 * (function(a) + function(b))
    return middle <= ends + slack * (1 + abs(ends))


@SETTINGS
@given(seeds)
def test_log_determinant(seed):
    p = Problem(seed)
    a, b = p.widths(), p.widths()
    assert convex(p.log_precision, a, b)
    assert convex(lambda pi: -p.log_precision(1 / pi), a, b)
    assert convex(lambda g: -p.log_precision(g) - np.sum(np.log(g)), a, b)


@SETTINGS
@given(seeds)
def test_marginal_variances_never_exceed_the_widths(seed):
    p = Problem(seed)
    gamma = p.widths()
    variance = p.variances(gamma)
    assert np.all(variance >= 0)
    assert np.all(variance <= gamma * (1 + 1e-10))


@SETTINGS
@given(seeds)
def test_quadratic_is_jointly_convex_and_so_is_its_minimum(seed):
    p = Problem(seed)
    a, b = p.widths(), p.widths()
    u, v = p.rng.normal(size=(2, p.n)) * 3
    both = lambda t: p.quadratic(t[: p.n], t[p.n :])  # noqa: E731
    assert convex(both, np.r_[u, a], np.r_[v, b])

    def minimum(gamma):
        return p.quadratic(p.gaussian.refit(1 / gamma, np.zeros(p.q)).mean, gamma)

    assert convex(minimum, a, b)
    assert minimum(a) <= p.quadratic(u, a) + 1e-9


LOG_CONCAVE = [
    lambda q, rng: Laplace(np.exp(rng.normal(size=q)), rng.normal(size=q)),
    lambda q, rng: Logistic(np.exp(rng.normal(size=q))),
    lambda q, rng: BernoulliLogit(rng.choice([-1, 1], q)),
    lambda q, rng: ExponentialPower(rng.uniform(1, 1.6), np.exp(rng.normal(size=q))),
]


@SETTINGS
@given(seeds, st.sampled_from(LOG_CONCAVE))
def test_the_objective_is_convex_for_log_concave_potentials(seed, make):
    p = Problem(seed)
    potential = make(p.q, p.rng)
    assert convex(lambda g: p.objective(potential, g), p.widths(), p.widths(), slack=1e-7)


def test_student_breaks_convexity():
    rng = np.random.default_rng(0)
    violations = 0
    for seed in range(100):
        p = Problem(seed)
        potential = StudentT(3.0, 0.3)
        a, b = np.exp(rng.uniform(0, 6, (2, p.q)))
        violations += not convex(lambda g, p=p, potential=potential: p.objective(potential, g), a, b)
    assert violations > 10


@SETTINGS
@given(seeds, st.sampled_from(LOG_CONCAVE))
def test_gradient_of_the_objective(seed, make):
    """h'(gamma) - gamma^-2 (s^2 + var(s)), s measured from the location."""
    p = Problem(seed)
    potential = make(p.q, p.rng)
    gamma = np.exp(p.rng.uniform(0, 2, p.q)) * np.broadcast_to(getattr(potential, "scale", 2.0), (p.q,)) ** 2 * 2
    p.objective(potential, gamma)
    s, variance = p.gaussian.marginals()
    formula = potential.height_derivatives(gamma)[0] - ((s - potential.location) ** 2 + variance) / gamma**2
    for j in range(p.q):
        step = 1e-5 * gamma[j] * np.eye(p.q)[j]
        slope = (p.objective(potential, gamma + step) - p.objective(potential, gamma - step)) / (2 * step[j])
        assert slope == pytest.approx(formula[j], rel=1e-4, abs=1e-5 * (1 + abs(formula[j])))


@SETTINGS
@given(seeds)
def test_one_coordinate_of_the_objective(seed):
    """phi_j(g) = h_j + (d'v)^2/(g + b'v) + ln(1 + b'v/g) + const, v = A_-j^-1 b_j, d the linear term without site j."""
    p = Problem(seed)
    potential = Laplace(np.exp(p.rng.normal(size=p.q)))
    gamma, j = p.widths(), int(p.rng.integers(p.q))
    pi = 1 / gamma
    pi[j] = 0
    g = p.gaussian.refit(pi, np.zeros(p.q))
    mean, variance = g.marginals()[0][j], g.marginals()[1][j]

    def coordinate(width):
        return (
            potential[j : j + 1].height(np.array([width]))[0]
            + mean**2 / (width + variance)
            + np.log1p(variance / width)
        )

    def whole(width):
        changed = gamma.copy()
        changed[j] = width
        return p.objective(potential, changed)

    a, b = np.exp(p.rng.uniform(-3, 3, 2))
    assert whole(a) - whole(b) == pytest.approx(coordinate(a) - coordinate(b), rel=1e-7, abs=1e-7)


@SETTINGS
@given(seeds)
def test_both_bounds_on_the_log_determinant(seed):
    """Upper bounds everywhere, tangent at the widths at which they are taken."""
    p = Problem(seed)
    at, other = p.widths(), p.widths()
    variance, value = p.variances(at), p.log_precision(at)
    z1 = 1 / at - variance / at**2
    assert np.all(z1 >= -1e-12 / at)

    def first(g):
        return value + z1 @ (g - at) - np.sum(np.log(g / at))

    def second(g):
        return value + variance @ (1 / g - 1 / at)

    for bound in (first, second):
        truth = p.log_precision(other)
        assert bound(other) >= truth - 1e-9 * (1 + abs(truth))
        j = int(p.rng.integers(p.q))
        step = 1e-5 * at[j] * np.eye(p.q)[j]
        slope = (bound(at + step) - bound(at - step)) / 2
        assert slope == pytest.approx((p.log_precision(at + step) - p.log_precision(at - step)) / 2, rel=1e-4, abs=1e-9)


def test_figure_3_4():
    """X = 1, B = sqrt 2, bounds tight at 1.5: ln|A| = ln(1 + 2/g); (1) is closer for narrow, (2) for wide ones."""
    g = gaussian_with_sites(np.array([[np.sqrt(2.0)]]), prior_covariance=1.0)
    at = 1.5
    variance = g.refit(np.array([1 / at]), np.zeros(1)).marginals()[1][0]
    truth = lambda w: np.log1p(2 / w)  # noqa: E731
    first = lambda w: truth(at) + (1 / at - variance / at**2) * (w - at) - np.log(w / at)  # noqa: E731
    second = lambda w: truth(at) + variance * (1 / w - 1 / at)  # noqa: E731
    assert -g.log_determinant == pytest.approx(truth(at))
    assert truth(6.0) <= second(6.0) <= first(6.0)
    assert truth(0.3) <= first(0.3) <= second(0.3)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=15, deadline=None)
@given(seeds, st.sampled_from([*LOG_CONCAVE, lambda q, rng: StudentT(3.0, np.exp(rng.normal(size=q)))]))
def test_the_objective_never_rises(seed, make):
    rng = np.random.default_rng(seed)
    n, q = int(rng.integers(1, 5)), int(rng.integers(1, 8))
    model = GLM(B=rng.normal(size=(q, n)), potentials=make(q, rng), prior_covariance=float(np.exp(rng.uniform(-5, 5))))
    for bound in (1, 2):
        trace = variational_bounds(model, logdet_bound=bound, tol=1e-7).objective_trace
        assert len(trace) > 0
        assert np.diff(trace).max(initial=0.0) <= 0
