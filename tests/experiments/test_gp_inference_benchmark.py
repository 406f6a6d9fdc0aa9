"""The benchmark of Gaussian process classification, at a small size."""

import numpy as np

from experiments.benchmarks import gp_inference


def test_times_and_orders_of_a_setting():
    rows = gp_inference.regimes("crabs", "logit", (0.0,), (2.0,))
    assert len(rows) == 1 and rows[0]["n"] == 100 and rows[0]["not converged"] == 0
    assert all(value > 0 for value in gp_inference.relative(rows).values())
    assert set(gp_inference.orders(rows).values()) == {1.0}


def test_repetitions_keep_the_least():
    calls = []
    found = gp_inference.seconds({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 3)
    assert calls == list("ababab") and all(np.isfinite(value) for value in found.values())


def test_fits_beside_the_peer():
    found = gp_inference.beside_peer(40, 1, True)
    assert {"scikit-learn", "LA", "EP", "KL", "scikit-learn, optimised", "EP, optimised"} <= set(found)
