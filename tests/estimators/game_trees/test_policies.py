"""Policies on the way down: mirrored for the minimiser, by the count of visits, by draws on both sides of the mean."""

import numpy as np
import pytest

from adaptive import GameTreeSearch
from adaptive.estimators.game_trees.descent import _choose
from adaptive.estimators.game_trees.nodes import NODE, POLICIES, Rules
from adaptive.estimators.game_trees.predictive import Joint

STEP = 0.7


def node_of(means, deviations, *, mover, visits=50, left=3):
    """A node whose children's values have these moments, and the moments of its own score."""
    nodes = np.zeros(1 + len(means), NODE)
    nodes["mover"][0], nodes["visits"][0], nodes["left"][0] = mover, visits, left
    nodes["first"][0], nodes["count"][0] = 1, len(means)
    children = nodes[1:]
    children["slope"], children["offset"] = 1.0, means
    children["residual"] = np.square(deviations) - 1.0 - STEP  # beside what the score itself is uncertain
    return nodes


def chosen(nodes, policy, deviations=1.0, start=1):
    rules = Rules(0.0, 1.0, STEP, (0.0, 0.0), True, True, POLICIES.index(policy), deviations)
    return _choose(nodes, 0, 0.0, 1.0, rules, np.array([start], dtype=np.uint64)) - 1


@pytest.mark.parametrize("policy", ["optimistic", "tesauro"])
@pytest.mark.parametrize("mover", [0, 1])
def test_the_bound_that_the_mover_hopes_for_decides(policy, mover):
    """The highest upper bound for the maximising player, the lowest lower one for the minimising one."""
    rng, unlike = np.random.default_rng(0), 0
    for _ in range(200):
        means, deviations, visits = rng.normal(size=4), rng.uniform(1.4, 3.0, size=4), int(rng.integers(2, 200))
        nodes = node_of(means, deviations, mover=mover, visits=visits, left=int(rng.integers(1, 5)))
        times = 1.0 if policy == "optimistic" else np.sqrt(2 * np.log(visits))
        bounds = means + times * deviations if mover == 0 else -(means - times * deviations)
        assert chosen(nodes, policy) == np.argmax(bounds)
        unlike += np.argmax(bounds) != np.argmax(means if mover == 0 else -means)
    assert unlike > 30  # the mean alone would choose otherwise


@pytest.mark.parametrize("mover", [0, 1])
def test_draws_fall_on_both_sides_of_the_mean(mover):
    """Of two equal means each has the better draw half of the time, however uncertain one of them is."""
    even = node_of([0.0, 0.0], [1.4, 5.0], mover=mover)
    share = np.mean([chosen(even, "thompson", start=7919 * k) for k in range(4000)])
    assert abs(share - 0.5) < 0.03
    ahead = node_of([1.0, 0.0], [1.4, 1.4], mover=mover)  # Phi(1 / 1.4 sqrt 2) = .693
    share = np.mean([chosen(ahead, "thompson", start=7919 * k) == mover for k in range(4000)])
    assert abs(share - 0.693) < 0.03


def test_the_weight_of_a_leaf_is_shared_among_its_moves():
    """The boundary stands in the order of what each of its nodes weighs, a leaf's weight in equal parts."""
    n_leaves = 0
    for seed in range(6):
        model = GameTreeSearch(branching=3, depth=4, random_state=seed, score_variance=1.0)
        nodes = [(0,), (0, 1), (1,), (2,), (2, 2), (2, 2, 0)]
        model.fit(nodes, np.random.default_rng(seed).choice([-1.0, 1.0], len(nodes)))
        joint = Joint(model.belief_.tree, [])
        tree, weight = joint.tree, joint.with_value_of(0)[1]
        place = {tree.path_of(i): i for i in range(tree.n_nodes)}
        found = model.boundary(100)
        weights = [weight[place[path]] if path in place else weight[place[path[:-1]]] / 3 for path in found]
        n_leaves += sum(path not in place for path in found)
        assert np.all(np.diff(weights) <= 1e-15)
    assert n_leaves > 10
