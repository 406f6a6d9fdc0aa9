"""BLAS keeps to one thread in engines on small models, and to as many as before in large ones and afterwards."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from adaptive import inference
from adaptive.inference import GLM
from adaptive.inference.threads import small_on_one_thread
from adaptive.potentials import BernoulliLogit

ENGINES = (
    "expectation_propagation", "laplace_approximation", "mean_field", "variational_bounds", "variational_gaussian",
)  # fmt: skip


def threads():
    return max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")


@pytest.mark.parametrize(("n", "inside"), [(30, 1), (600, 2)])
def test_only_small_models_run_on_one_thread(n, inside):
    seen = small_on_one_thread(lambda model: threads())
    model = GLM(B=np.eye(n), potentials=BernoulliLogit(np.ones(n)), prior_covariance=1.0)
    with threadpool_limits(2, user_api="blas"):
        assert seen(model) == inside and threads() == 2


@pytest.mark.parametrize("name", ENGINES)
def test_every_dense_engine_is_asked_for_by_its_own_name(name):
    engine = getattr(inference, name)
    assert engine.__wrapped__.__name__ == engine.__name__ == name and engine.__module__ == f"adaptive.inference.{name}"
