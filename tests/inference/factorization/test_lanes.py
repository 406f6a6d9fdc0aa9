"""Entries side by side: the bound of a row and its slopes are those of the formulas, one entry after the other."""

import numpy as np
import pytest

from adaptive.inference.factorization.lanes import WIDTH, bound_of_variances


@pytest.mark.parametrize("n", [1, 16, 45, 2 * WIDTH + 7])
def test_a_row_is_the_sum_of_its_entries(n):
    rng, k, offset = np.random.default_rng(n), 5, 0.3
    mean, spread = rng.normal(0, 0.6, (40, k)), rng.uniform(0, 0.3, (40, k))
    spread[:, -1] = 0.0
    index, y, e = rng.integers(0, 40, n + 4), rng.poisson(2.0, n + 4).astype(float), rng.uniform(0.5, 2.0, n + 4)
    m, v = rng.normal(0, 0.6, k), rng.uniform(0, 0.5, k)
    room, g, H = (np.full((4, k, WIDTH), np.nan), np.full((6, WIDTH), np.nan)), np.ones(k), np.eye(k)
    given = (2, n + 2, index, y, e, offset, mean, spread, *room, g, H)
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
