"""Entries side by side: the bound of a row and its slopes are those of the formulas, one entry after the other."""

import numpy as np
import pytest

from adaptive.estimators.pairs.inference.expectations import definite_solve
from adaptive.estimators.pairs.inference.lanes import WIDTH, bound_of_variances, exponentials, room


@pytest.mark.parametrize("k", [1, 4, 5, 12, 15])
@pytest.mark.parametrize("n", [1, 16, 45, 2 * WIDTH + 7])
def test_a_row_is_the_sum_of_its_entries(n, k):
    rng, offset = np.random.default_rng(n), 0.3
    mean, spread = rng.normal(0, 0.6, (40, k)), rng.uniform(0, 0.3, (40, k))
    spread[:, -1] = 0.0 if k > 1 else spread[:, -1]
    index, y, e = rng.integers(0, 40, n + 4), rng.poisson(2.0, n + 4).astype(float), rng.uniform(0.5, 2.0, n + 4)
    m, v = rng.normal(0, 0.6, k), rng.uniform(0, 0.5, k)
    to_work_in, g, H = room(k), np.ones(k), np.eye(k)
    given = (2, n + 2, index, y, e, offset, mean, spread, *to_work_in, g, H)
    other = (0, 3, rng.integers(0, 40, 3), y, e, offset, mean, spread, *to_work_in, np.ones(k), np.eye(k))
    bound_of_variances(m, v, *other, True, False)  # of another row, which leaves its entries behind
    value = bound_of_variances(m, v, *given, True, False)

    part = slice(2, n + 2)
    mu, s = mean[index[part]], spread[index[part]]
    gap = 1.0 - s * v
    log_rate = offset + np.sum(-0.5 * np.log(gap) + (0.5 * (s * m**2 + v * mu**2) + m * mu) / gap, axis=1)
    rate, wt, st = e[part] * np.exp(log_rate), (mu + s * m) / gap, s / gap
    expected = np.sum(y[part] * (mu @ m + offset) - rate)
    assert value == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(g, 1.0 + mu.T @ y[part] - wt.T @ rate, rtol=1e-11)
    curvature = np.eye(k) + wt.T @ (rate[:, None] * wt) + np.diag(rate @ st)
    np.testing.assert_allclose(H, np.tril(curvature), rtol=1e-11)
    assert bound_of_variances(m, v, *given, False, True) == pytest.approx(expected, rel=1e-12)
    assert bound_of_variances(m, v + 10.0, *given, False, True) == -np.inf  # infeasible
    far = (
        np.full(k, 0.3),
        np.full(k, 20.0),
    )  # an even number of gaps below zero: the sign of their product does not tell
    mean[:], spread[:] = 0.0, 0.1
    assert bound_of_variances(*far, *given, False, False) == -np.inf


def test_exponentials_are_exact_to_the_last_bits_and_clipped():
    rng = np.random.default_rng(0)
    for x in (rng.uniform(-700, 700, 1003), rng.normal(0, 1, 1000), np.array([0.0, 1.0, -700.0, 700.0])):
        found = np.append(x, 5.0)
        exponentials(found, np.empty(len(x)), len(x))
        np.testing.assert_allclose(found[:-1], np.exp(x), rtol=4e-16)
        assert found[-1] == 5.0  # beyond what was asked for
    found = np.array([-1e6, 1e6, np.inf, -np.inf])
    exponentials(found, np.empty(4), 4)
    np.testing.assert_allclose(found, np.exp([-700.0, 700.0, 700.0, -700.0]), rtol=4e-16)


@pytest.mark.parametrize("n", [1, 2, 7, 12])
def test_definite_systems_are_solved_and_others_refused(n):
    rng = np.random.default_rng(n)
    A, x = rng.standard_normal((n, 3 * n)), rng.standard_normal(n)
    A = A @ A.T + 0.1 * np.eye(n)
    found = x.copy()
    assert definite_solve(np.tril(A), found, np.empty(n))  # the upper half is not read
    np.testing.assert_allclose(A @ found, x, rtol=1e-10, atol=1e-12)
    A[-1, -1] -= 1e3
    assert not definite_solve(A, x, np.empty(n))
