"""Poisson factorisation by rows: the closed expectation, feasibility, a bound that is one and never falls."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln

from adaptive.estimators.pairs.inference.expectations import log_rates
from adaptive.estimators.pairs.inference.masses import log_masses
from adaptive.estimators.pairs.inference.rounds import (
    Entries,
    Factor,
    Factors,
    Kind,
    _divergences,
    climb,
    solved,
    started,
)
from adaptive.potentials import Poisson

# items x users, components, item variance, log evidence by quadrature, best mean field (our spec, section 13)
TINY = [
    ([[2], [0], [3]], 1, 0.5, -5.39868, -5.95091),
    ([[0, 1], [2, 0]], 2, 0.25, -4.9444, -5.47781),
    ([[1, 0], [4, 2]], 1, 0.5, -7.51787, -8.43167),
]
ZERO = np.zeros(1, dtype=np.int64)


def table_entries(Y):
    Y = np.asarray(Y, dtype=float)
    items, users = (part.ravel() for part in np.indices(Y.shape))
    return Entries((users, items), Y.ravel(), np.ones(Y.size), (Y.shape[1], Y.shape[0]))


def random_entries(seed=0, users=30, items=20, n=300):
    rng = np.random.default_rng(seed)
    keys = rng.choice(users * items, n, replace=False)
    U, W = rng.normal(size=(users, 2)), 0.7 * rng.normal(size=(items, 2))
    rows = np.divmod(keys, items)
    return Entries(rows, rng.poisson(np.exp(np.sum(U[rows[0]] * W[rows[1]], axis=1))).astype(float), np.ones(n),
                   (users, items))  # fmt: skip


def start(entries, kind, n_components=2, seed=0, fit_bias=False, item_variance=0.3):
    return started(entries, n_components, kind, user_variance=1.0, item_variance=item_variance, fit_bias=fit_bias,
                   offset=0.0, rng=np.random.default_rng(seed))  # fmt: skip


def quadrature(m, V, mu, S, nodes=40):
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    w = w / w.sum()
    grid = np.stack(np.meshgrid(*[x] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    weights = np.prod(np.stack(np.meshgrid(*[w] * 4, indexing="ij"), axis=-1), axis=-1).ravel()
    z, v = m + grid[:, :2] @ np.linalg.cholesky(V).T, mu + grid[:, 2:] @ np.linalg.cholesky(S).T
    return np.log(weights @ np.exp(np.sum(z * v, axis=1)))


def test_expected_rate_against_quadrature_and_symmetric():
    m, mu = np.array([[0.4, -0.3]]), np.array([[0.5, 0.8]])
    V, S = np.array([[[0.3, 0.1], [0.1, 0.4]]]), np.array([[[0.2, -0.05], [-0.05, 0.3]]])
    full = log_rates(ZERO, ZERO, m, V, mu, S, 1.0)[0]
    assert full == pytest.approx(quadrature(m[0], V[0], mu[0], S[0]), abs=1e-7)
    assert full == pytest.approx(log_rates(ZERO, ZERO, mu, S, m, V, 1.0)[0], abs=1e-12)
    v, s = np.array([[0.3, 0.4]]), np.array([[0.2, 0.3]])
    diagonal = log_rates(ZERO, ZERO, m, v, mu, s, 1.0)[0]
    as_full = log_rates(ZERO, ZERO, m, np.array([np.diag(v[0])]), mu, np.array([np.diag(s[0])]), 1.0)[0]
    assert diagonal == pytest.approx(as_full, abs=1e-13)
    m1, mu1 = np.array([[1.0]]), np.array([[0.5]])  # the spec's pair
    moments = [log_rates(ZERO, ZERO, m1, np.array([[0.3]]), mu1, np.array([[0.2]]), k)[0] for k in (1.0, 2.0)]
    np.testing.assert_allclose(np.exp(moments), [2.03222, 8.81709], rtol=2e-6)


def test_expected_rate_of_a_point_is_the_limit_of_small_covariances():
    m, mu = np.array([[0.4, -0.3]]), np.array([[0.5, 0.8]])
    V, none = np.array([[[0.3, 0.1], [0.1, 0.4]]]), np.zeros((1, 2, 2))
    small = 1e-13 * np.eye(2)[None]
    for a, b, b_small in ((V, none, small), (none, none, small)):
        exact = m[0] @ mu[0] + 0.5 * mu[0] @ a[0] @ mu[0]
        for given in ((m, a, mu, b), (mu, b, m, a), (m, a, mu, b_small), (mu, b_small, m, a)):
            assert log_rates(ZERO, ZERO, *given, 1.0)[0] == pytest.approx(exact, abs=1e-11)


def test_infeasible_although_the_determinant_is_positive():
    """S = 2 I, V = I: det(I - SV) = 1, and the integral is infinite."""
    zero = np.zeros((1, 2))
    assert log_rates(ZERO, ZERO, zero, np.eye(2)[None], zero, 2 * np.eye(2)[None], 1.0)[0] == np.inf
    assert log_rates(ZERO, ZERO, zero, np.ones((1, 2)), zero, np.full((1, 2), 2.0), 1.0)[0] == np.inf


@pytest.mark.parametrize(("Y", "n_components", "variance", "evidence", "best"), TINY)
def test_the_bound_is_below_the_evidence_and_near_the_best_known(Y, n_components, variance, evidence, best):
    entries = table_entries(Y)
    for kind in (Kind("mean_field"), Kind("full")):
        bounds = []
        for seed in range(5):
            begun = start(entries, kind, n_components, seed, item_variance=variance)
            found = climb(entries, begun, kind, max_iter=300, tol=1e-9, quiet=True)
            bounds.append(found.bound)
            assert found.bound <= evidence + 1e-6
        assert max(bounds) > best - 0.02


@pytest.mark.parametrize("name", ["mean_field", "full", "em", "map"])
@pytest.mark.parametrize("fit_bias", [False, True])
def test_the_objective_never_falls_block_by_block(name, fit_bias):
    entries, kind = random_entries(), Kind(name)
    factors = start(entries, kind, fit_bias=fit_bias)
    reached = -np.inf
    for _ in range(4):
        for side in (0, 1):
            before, values = solved(entries, factors, side, kind, steps=0)
            own, after = solved(entries, factors, side, kind, steps=2)
            assert np.all(after >= values - 1e-9)
            sides = (own, factors.sides[1]) if side == 0 else (factors.sides[0], own)
            factors = Factors(sides, 0.0)
            whole = solved(entries, factors, 1, kind, steps=0)[1].sum() + _divergences(factors, 0, kind)
            assert whole >= reached - 1e-8  # of both sides together, after every block
            reached = whole
    trace = climb(entries, factors, kind, max_iter=20, tol=0.0, quiet=True).trace
    assert np.diff(trace).min() >= -1e-8
    if fit_bias:  # the constants stay where they are, to the bit
        assert np.all(factors.sides[0].mean[:, -2] == 1.0) and np.all(factors.sides[1].mean[:, -1] == 1.0)


@pytest.mark.parametrize("name", ["mean_field", "full"])
def test_a_block_is_concave_in_means_and_roots_of_spreads(name):
    """The other side held, every midpoint's bound is at least the mean of the ends' (standard deviations, Cholesky)."""
    entries, kind, rng = random_entries(n=150), Kind(name), np.random.default_rng(1)
    factors = start(entries, kind)
    own, other = factors.sides

    def bounds(mean, root):
        spread = root**2 if name == "mean_field" else root @ root.transpose(0, 2, 1)
        return solved(entries, Factors((replace(own, mean=mean, spread=spread), other), 0.0), 0, kind, steps=0)[1]

    for _ in range(20):
        means = rng.standard_normal((2, *own.mean.shape))
        roots = rng.uniform(0.05, 1.0, (2, *own.spread.shape))
        if name == "full":
            roots = np.tril(0.3 * rng.standard_normal(roots.shape), -1) + roots * np.eye(2)
        ends = [bounds(mean, root) for mean, root in zip(means, roots, strict=True)]
        middle = bounds(means.mean(axis=0), roots.mean(axis=0))
        finite = np.isfinite(ends[0]) & np.isfinite(ends[1])
        assert np.all(middle[finite] >= 0.5 * (ends[0] + ends[1])[finite] - 1e-9)


@pytest.mark.parametrize("sizes", [(30, 20, 300), (3, 200, 500)], ids=["rows of ten", "long and short rows"])
def test_the_bound_is_what_its_definition_says(sizes):
    """Every term again, without the kernel."""
    entries, kind = random_entries(0, *sizes), Kind("mean_field")
    factors = climb(entries, start(entries, kind), kind, max_iter=5, tol=0.0, quiet=True)
    (users, items), (a, b) = entries.rows, factors.sides
    m, v, mu, s = a.mean[users], a.spread[users], b.mean[items], b.spread[items]
    gap = 1 - s * v
    log_rate = np.sum(-0.5 * np.log(gap) + (s * m**2 + 2 * m * mu + v * mu**2) / (2 * gap), axis=1)
    value = np.sum(entries.y * np.sum(m * mu, axis=1) - np.exp(log_rate) - gammaln(entries.y + 1))
    for side in (a, b):
        value += 0.5 * np.sum(np.log(side.spread / side.variance) + 1 - (side.spread + side.mean**2) / side.variance)
    assert factors.bound == pytest.approx(value, rel=1e-12)


def test_a_row_without_counts_keeps_the_prior_and_swapping_sides_changes_nothing():
    entries, kind = random_entries(), Kind("mean_field")
    longer = Entries(entries.rows, entries.y, entries.exposure, (31, 20))
    found = climb(longer, start(longer, kind), kind, max_iter=5, tol=0.0, quiet=True)
    np.testing.assert_array_equal(found.sides[0].mean[30], 0.0)
    np.testing.assert_array_equal(found.sides[0].spread[30], found.sides[0].variance)
    swapped = Entries(longer.rows[::-1], longer.y, longer.exposure, (20, 31))
    other = Factors(found.sides[::-1], 0.0)
    for factors, table in ((found, longer), (other, swapped)):
        values = [solved(table, factors, side, kind, steps=0)[1].sum() for side in (0, 1)]
        if table is longer:
            kept = values
    np.testing.assert_allclose(kept, values[::-1], rtol=1e-12)


def test_any_number_of_threads_gives_the_same_bits():
    entries, kind = random_entries(0, 1500, 900, 6000), Kind("mean_field")
    begun = start(entries, kind)
    one, three = (climb(entries, begun, kind, max_iter=3, tol=0.0, n_jobs=n, quiet=True) for n in (1, 3))
    for first, second in zip(one.sides, three.sides, strict=True):
        np.testing.assert_array_equal(first.mean, second.mean)
        np.testing.assert_array_equal(first.spread, second.spread)


def test_covariances_are_worth_more_than_variances():
    entries = random_entries()
    bounds = [climb(entries, start(entries, Kind(name)), Kind(name), max_iter=150, tol=1e-8, quiet=True).bound
              for name in ("mean_field", "full")]  # fmt: skip
    assert bounds[1] > bounds[0] + 0.1


def test_log_masses_are_tilted_normalisers():
    for y in (0.0, 1.0, 7.0, 300.0, 1e5):
        mean, variance = np.array([-3.0, 0.5, 4.0, 11.0]), np.array([1e-4, 0.3, 2.0, 9.0])
        expected = Poisson(np.full(4, y)).tilted_moments(mean, variance)[0]
        np.testing.assert_allclose(log_masses(y, mean, variance), expected, rtol=1e-8, atol=1e-8)


def test_new_rows_begin_at_the_prior():
    factor = Factor(np.ones((1, 2)), np.ones((1, 2)), np.zeros(2), np.array([1.0, 0.5]))
    longer = factor.with_rows(3, False)
    np.testing.assert_array_equal(longer.mean[1:], 0.0)
    np.testing.assert_array_equal(longer.spread[2], [1.0, 0.5])
