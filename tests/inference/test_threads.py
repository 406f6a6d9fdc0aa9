"""BLAS keeps to one thread in engines on small models, and to as many as before in large ones and afterwards."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from adaptive import BayesianLogisticRegression, inference
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


@pytest.mark.parametrize(("m", "inside"), [(1000, 1), (20_000, 2)])
def test_choosing_from_a_small_pool_keeps_to_one_thread(m, inside):
    pool = np.zeros((m, 100))
    model = BayesianLogisticRegression(prior_scale=1.0, update="refit").fit(np.eye(100), np.arange(100) % 2)

    def seen(predictive, random_state):
        return np.full(len(predictive), float(threads()))

    with threadpool_limits(2, user_api="blas"):
        _, score = model.select(pool, scorer=seen, return_scores=True)
        assert score[0] == inside and threads() == 2
