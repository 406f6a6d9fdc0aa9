"""What the comparisons of Gaussian processes compute: covariances, counts, simulated functions, splits."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, DotProduct

from experiments.gaussian_processes import gp_counts, gp_designed, gp_splits


def test_covariances_are_those_of_the_kernels():
    rng = np.random.default_rng(0)
    X, new = rng.standard_normal((6, 3)), rng.standard_normal((4, 3))
    for kernel, first, expected in (
        ("SE", 0.4, RBF(np.exp(0.4))),
        ("poly 3", 0.7, lambda *rows: DotProduct(np.exp(0.35))(*(one / np.sqrt(3) for one in rows)) ** 3),
        ("linear", 0.0, lambda *rows: DotProduct(0.0)(*(one / np.sqrt(3) for one in rows))),
    ):
        K, cross, own = gp_counts.covariances(kernel, first, X, new)
        whole = expected(X)
        jitter = 1e-6 * np.mean(whole.diagonal())
        np.testing.assert_allclose(K, whole + jitter * np.eye(6), atol=1e-10)
        np.testing.assert_allclose(cross, expected(new, X), atol=1e-10)
        np.testing.assert_allclose(own, expected(new).diagonal(), atol=1e-10)


def test_counts_are_of_what_is_strictly_below():
    best = np.array([[0.1, 0.5, 0.6], [0.3, 0.3, 0.3], [0.2, 0.9, 0.1]])
    below_mean, below_median = gp_counts.counted(best)
    assert below_mean.tolist() == [2, 0, 1] and below_median.tolist() == [1, 0, 1]


@pytest.mark.parametrize("kind", ["regression", "classification, kernel told"])
def test_simulated_functions_have_the_covariance_that_is_claimed(kind):
    height, length = gp_designed.TRUTHS[kind.split(",")[0]]
    x = np.array([0.3, 0.35, 0.6])
    values = np.stack([gp_designed.truth(kind, seed)(x) for seed in range(3000)])
    expected = height**2 * np.exp(-0.5 * np.subtract.outer(x, x) ** 2 / length**2)
    np.testing.assert_allclose(values.T @ values / 3000, expected, atol=0.12 * height**2)


def test_splits_do_not_overlap_and_are_the_same_for_all():
    X, new, y, y_new = gp_splits.rows_of("thyroid", 0, 800, 1000)
    assert (len(y), len(y_new)) == (140, 75) and X.shape == (140, 5)
    np.testing.assert_allclose(X.std(axis=0), 1.0)
    again = gp_splits.rows_of("thyroid", 0, 800, 1000)
    assert np.array_equal(again[0], X) and not np.array_equal(gp_splits.rows_of("thyroid", 1, 800, 1000)[0], X)
