"""Looking ahead: one step is the scorer itself, two are what enumeration finds."""

import itertools

import numpy as np
import pytest
from scipy.special import entr

from adaptive import scorers
from adaptive.potentials import Gaussian
from adaptive.predictive import GaussianProjections, StatedPredictive, WeightedDraws
from adaptive.predictive.base import MissingField
from adaptive.selection import select


def problem(seed, m=5, c=2, k=6, target=True):
    """A few draws, of which a target of two values is to be learnt."""
    rng = np.random.default_rng(seed)
    table, weights = rng.dirichlet(np.full(c, 0.4), (k, m)), rng.dirichlet(np.ones(k))
    values = rng.integers(0, 2, k) if target else np.arange(k)
    belief = WeightedDraws(weights, table, list(range(c)), target=values if target else None)
    return belief, table, weights, values


def told(table, weights, values, i):
    """I(y_i; target) from the joint table."""
    groups = [values == value for value in np.unique(values)]
    joint = np.array([(weights[g, None] * table[g, i]).sum(axis=0) for g in groups])
    return entr(joint.sum(axis=0)).sum() + entr(joint.sum(axis=1)).sum() - entr(joint).sum()


def test_one_step_is_the_scorer_to_the_bit():
    for seed, name in itertools.product(range(5), ("information_gain", "entropy", "query_by_committee")):
        belief = problem(seed, target=False)[0]
        ahead = scorers.look_ahead(name, 1)(belief, np.random.default_rng(3))
        assert np.array_equal(ahead, scorers.get(name)(belief, np.random.default_rng(3)))


@pytest.mark.parametrize("repeat", [False, True])
def test_two_steps_are_what_enumeration_finds(repeat):
    for seed in range(20):
        m, c = 4 + seed % 3, 2 + seed % 2
        belief, table, weights, values = problem(seed, m, c, target=seed % 4 != 0)
        expected = np.array([told(table, weights, values, i) for i in range(m)])
        for i, y in itertools.product(range(m), range(c)):
            after = weights * table[:, i, y]
            rest = [told(table, after / after.sum(), values, j) for j in range(m) if repeat or j != i]
            expected[i] += after.sum() * max(rest)
        found = scorers.look_ahead("information_gain", repeat=repeat)(belief, 0)
        np.testing.assert_allclose(found, expected, atol=1e-9, err_msg=str(seed))


def test_three_steps_of_gaussian_outcomes_are_the_best_set_of_three():
    rows = np.random.default_rng(0).standard_normal((6, 3))
    belief = GaussianProjections.from_rows(rows, np.zeros(3), covariance=1.0, likelihood=Gaussian(0.3))

    def joint(B):
        return 0.5 * np.linalg.slogdet(np.eye(3) + rows[list(B)] @ rows[list(B)].T / 0.3)[1]

    expected = [max(joint(B) for B in itertools.combinations(range(6), 3) if i in B) for i in range(6)]
    np.testing.assert_allclose(scorers.look_ahead("information_gain", 3)(belief, 0), expected, rtol=1e-9)


def test_a_short_list_is_looked_beyond_and_the_others_keep_their_score():
    belief = problem(1, m=6)[0]
    one, all_ = (scorers.look_ahead("information_gain", k)(belief, 0) for k in (1, 2))
    some = scorers.look_ahead("information_gain", width=2)(belief, 0)
    listed = np.argsort(-one)[:2]
    np.testing.assert_allclose(some[listed], all_[listed])
    others = np.setdiff1d(np.arange(6), listed)
    assert np.array_equal(some[others], one[others])


def test_it_finds_what_only_helps_another():
    """A key that says which of four doors tells: by itself it says nothing of the target."""
    states = np.array(list(itertools.product(range(4), range(2))))
    key = np.zeros((8, 1, 4))
    key[np.arange(8), 0, states[:, 0]] = 1.0
    doors = np.zeros((8, 4, 4))
    right = np.where(states[:, :1] == np.arange(4), states[:, 1:], 0.5)
    doors[:, :, 1], doors[:, :, 0] = right, 1 - right
    belief = WeightedDraws(np.full(8, 0.125), np.concatenate([key, doors], axis=1), [0, 1, 2, 3], target=states[:, 1])

    class Known:
        def predictive(self, candidates, *, target=None, random_state=None):
            return belief

    assert select(Known(), np.arange(5), scorer="information_gain")[0] != 0
    assert select(Known(), np.arange(5), scorer=scorers.look_ahead("information_gain"))[0] == 0


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="steps must be"):
        scorers.look_ahead("entropy", 0)
    with pytest.raises(ValueError, match="width must be"):
        scorers.look_ahead("entropy", width=0)
    with pytest.raises(ValueError, match="look_ahead makes a scorer"):
        scorers.get("look_ahead")
    with pytest.raises(MissingField, match="look_ahead needs given"):
        scorers.look_ahead("entropy")(StatedPredictive(probabilities=[[0.5, 0.5]]), 0)
    assert repr(scorers.look_ahead("entropy")) == "look_ahead(entropy, 2, None)"
    assert scorers.record_of(scorers.look_ahead("entropy")).whole_pool
