"""Every posterior comes back from plain data to the last bit, also from what was written before kinds had names."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from adaptive import inference
from adaptive.estimators.imaging.trees import TreeMixture, TreePosterior, tree_bounds, tree_mode
from adaptive.inference import GLM, classic, posterior_state, restored_posterior
from adaptive.inference.kinds import POSTERIORS, stated
from adaptive.inference.posterior import DIAGNOSTICS
from adaptive.inference.softmax.softmax_posterior import SoftmaxPosterior
from adaptive.inference.softmax.softmax_regression import softmax_regression
from adaptive.linalg import LowRankCovariance
from adaptive.loop.log.snapshots import pack, unpack
from adaptive.operators import FiniteDifference, Identity, Wavelet
from adaptive.potentials import BernoulliLogit, Gaussian, Laplace

RNG = np.random.default_rng(0)
B, SIGNS = RNG.normal(size=(7, 5)), np.where(RNG.normal(size=7) > 0, 1.0, -1.0)
X, Y = RNG.normal(size=(6, 16)), RNG.normal(size=6)

LABELS = GLM(B=B, potentials=BernoulliLogit(SIGNS), prior_mean=0.2, prior_covariance=2.0)
GROUPS = GLM(
    B=[B[:6], np.eye(5)[:4], np.eye(5)[4:]],
    potentials=[BernoulliLogit(SIGNS[:6]), Laplace(0.5), Gaussian(4.0, 0.1)],
)
KERNEL = 4 * np.exp(-0.5 * np.subtract.outer(np.arange(7.0), np.arange(7.0)) ** 2) + 1e-9 * np.eye(7)
PROCESS = GLM(potentials=BernoulliLogit(SIGNS), prior_covariance=KERNEL)
LOW = GLM(potentials=BernoulliLogit(SIGNS), prior_covariance=LowRankCovariance(RNG.normal(size=(7, 2)), 0.5))
SIGNAL = GLM(X, Y, 0.1, B=[FiniteDifference(16), Identity(16)], potentials=[Laplace(0.3), Laplace(0.5)])
SPIKES = GLM(X[:3], Y[:3], 0.1, B=Identity(16), potentials=Laplace(0.3), prior_covariance=3.0)
PLAIN = GLM(X, Y, 0.1, B=[], potentials=[], prior_covariance=1.0)
TREE = TreeMixture.generic(Wavelet((8, 8), "haar"), scale=0.05)
IMAGE, NOISE = np.repeat([0.2, 0.8], 4)[:, None] * np.ones(8), 0.01


def included():
    posterior = inference.variational_bounds(GROUPS.beginning([4, 4, 1]))
    for row in (4, 5):
        posterior = inference.include(posterior, B[row], BernoulliLogit(SIGNS[row : row + 1]))
    return posterior


def selective(model, **settings):
    posterior = inference.expectation_propagation(model, update="selective", fraction=0.9, tol=1e-6, **settings)
    posterior.leading_directions(2)
    return posterior


def sampled(**settings):
    return inference.variational_bounds(SIGNAL, n_samples=4, random_state=0, max_iter=30, tol=0.5, **settings)


# name: the model, and how the posterior over it is made
CASES = {
    "Laplace's method": (LABELS, lambda: inference.laplace_approximation(LABELS)),
    "expectation propagation": (PROCESS, lambda: inference.expectation_propagation(PROCESS)),
    "a form that size would not choose": (
        PROCESS,
        lambda: inference.expectation_propagation(PROCESS, form="precision", update="sequential"),
    ),
    "another one": (LABELS, lambda: inference.variational_gaussian(LABELS, form="covariance")),
    "a prior of low rank": (LOW, lambda: inference.expectation_propagation(LOW)),
    "groups, one of them Gaussian": (GROUPS, lambda: inference.variational_bounds(GROUPS)),
    "no potentials": (PLAIN, lambda: inference.expectation_propagation(PLAIN)),
    "independent factors": (PROCESS, lambda: inference.mean_field(PROCESS)),
    "draws": (PROCESS, lambda: inference.annealed_importance(PROCESS, n_runs=10, max_iter=20, random_state=0)),
    "updates of single sites": (SIGNAL, lambda: selective(SIGNAL)),
    "updates over the measurements": (SPIKES, lambda: selective(SPIKES, form="measurements")),
    "a few rows": (PROCESS, lambda: classic.informative_vector_machine(PROCESS, n_active=4)),
    "a few basis rows": (PROCESS, lambda: classic.sparse_online(PROCESS, capacity=4)),
    "active coefficients": (PLAIN, lambda: classic.sparse_bayesian_learning(X, Y, 0.1)),
    "a point": (SIGNAL, lambda: inference.map_estimate(SIGNAL)),
    "a point without a model": (PLAIN, lambda: classic.basis_pursuit(X, Y)),
    "included rows": (GROUPS, included),
    "samples": (SIGNAL, lambda: sampled(variances="sampled")),
    "Lanczos": (SIGNAL, lambda: sampled(variances="lanczos", n_steps=8)),
}


@cache
def case(name):
    model, make = CASES[name]
    return model, make()


def assert_equal(back, posterior):
    """Moments, draws, diagnostics, and the answers about new rows."""
    np.testing.assert_array_equal(back.mean, posterior.mean)
    np.testing.assert_equal([np.asarray(s) for s in back.sites], [np.asarray(s) for s in posterior.sites])
    assert list(back.group_lengths) == list(posterior.group_lengths)
    for name in DIAGNOSTICS:
        np.testing.assert_equal(getattr(back, name), getattr(posterior, name), err_msg=name)
    if posterior.gaussian is None and posterior.kind == "posterior":
        assert back.gaussian is None
        return
    rows = np.random.default_rng(1).normal(size=(3, posterior.n))
    for ask in (
        lambda one: one.variances(),
        lambda one: one.variances(rows),
        lambda one: one.projection_covariance(rows),
        lambda one: one.covariance(),
        lambda one: one.sample(4, random_state=2),
        lambda one: one.information_gain(rows, 0.1),
    ):
        np.testing.assert_array_equal(ask(back), ask(posterior))


@pytest.mark.parametrize("name", CASES)
def test_a_posterior_comes_back_from_plain_data(name):
    model, posterior = case(name)
    state = unpack(pack(posterior_state(posterior)))
    back = restored_posterior(model, state)
    assert state["kind"] == posterior.kind and isinstance(back, POSTERIORS[state["kind"]])
    assert type(back.gaussian) is type(posterior.gaussian) or name == "active coefficients"
    np.testing.assert_equal(unpack(pack(posterior_state(back))), state)
    assert_equal(back, posterior)


def before_kinds(state):
    """The state as it was written then."""
    if state["kind"] == "large":
        return {"large": {key: value for key, value in state.items() if key != "kind"}}
    gaussian = state["gaussian"]
    old = {key: value for key, value in state.items() if key not in ("kind", "active", "gaussian")}
    old |= {key: gaussian[key] for key in ("draws", "weights", "ridge") if key in gaussian}
    if gaussian["kind"] == "sequential":
        old["updated"] = {key: value for key, value in gaussian.items() if key not in ("kind", "pi", "nu")}
    return old


@pytest.mark.parametrize(
    "name",
    [
        "Laplace's method", "expectation propagation", "a prior of low rank", "groups, one of them Gaussian",
        "no potentials", "independent factors", "draws", "updates of single sites", "updates over the measurements",
        "samples", "Lanczos",
    ],
)  # fmt: skip
def test_what_was_written_before_kinds_had_names_comes_back(name):
    model, posterior = case(name)
    back = restored_posterior(model, unpack(pack(before_kinds(posterior_state(posterior)))))
    assert type(back) is type(posterior) and type(back.gaussian) is type(posterior.gaussian)
    assert_equal(back, posterior)


def test_kinds_are_told_by_the_keys():
    assert stated({"large": {"mean": 1}}) == {"kind": "large", "mean": 1}
    assert stated({"large": {"tree": {}}})["kind"] == "tree"
    assert stated({"kind": "anything"}) == {"kind": "anything"}
    for key, kind in (("draws", "empirical"), ("ridge", "mean_field"), ("updated", "sequential"), ("pi", None)):
        assert stated({key: {}})["gaussian"]["kind"] == kind


@pytest.mark.parametrize("variances", ["exact", "sampled"])
def test_trees_come_back(variances):
    posterior = tree_bounds(Identity((8, 8)), IMAGE, NOISE, TREE, variances=variances, max_iter=2, tol=1.0)
    state = unpack(pack(posterior_state(posterior)))
    old = stated({"large": {key: value for key, value in state.items() if key != "kind"}})
    for described in (state, old):
        assert described["kind"] == "tree"
        back = TreePosterior.from_state(described, posterior.system.with_sites(0.0), TREE)
        assert_equal(back, posterior)
        np.testing.assert_array_equal(back.wide, posterior.wide)
    point = tree_mode(Identity((8, 8)), IMAGE, NOISE, TREE, max_iter=2, tol=1.0)
    flat = GLM(Identity(64), IMAGE.ravel(), NOISE, B=[], potentials=[])
    np.testing.assert_array_equal(restored_posterior(flat, point.state()).mean, point.mean)


def test_a_softmax_comes_back():
    features = RNG.normal(size=(9, 2))
    posterior = softmax_regression(features, np.arange(9) % 3, 3)
    back = SoftmaxPosterior.from_state(unpack(pack(posterior.state())), features)
    for ask in (
        lambda one: one.mean,
        lambda one: one.covariance(),
        lambda one: one.sample(3, random_state=0),
        lambda one: one.objective_trace,
    ):
        np.testing.assert_array_equal(ask(back), ask(posterior))
    assert repr(back) == repr(posterior) and posterior.state()["kind"] == "softmax"


def test_a_state_of_an_unknown_kind_is_refused():
    for kind in ("wavelet", "tree"):
        with pytest.raises(ValueError, match=f"kind must be one of 'posterior', 'included', 'large', got '{kind}'"):
            restored_posterior(LABELS, {"kind": kind})
