"""The inverse by halves is the inverse, for sizes on both sides of the blocks that LAPACK takes."""

import numpy as np
import pytest

from adaptive.linalg.triangular_inverse import triangular_inverse


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 130, 301])
@pytest.mark.parametrize("order", ["C", "F"])
def test_it_is_the_inverse(n, order):
    rng = np.random.default_rng(n)
    lower = np.asarray(np.tril(rng.standard_normal((n, n)) / np.sqrt(n + 1)) + 2 * np.eye(n), order=order)
    before = lower.copy()
    inverse = triangular_inverse(lower)
    np.testing.assert_allclose(inverse @ lower, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(np.triu(inverse, 1), 0.0)
    np.testing.assert_array_equal(lower, before)
