"""Futures: exact while cases are few, eight of equal weight beyond, members moved as what-ifs move moments."""

import numpy as np
import pytest

from adaptive.predictive import Mixture, SoftmaxProjections, WeightedDraws
from adaptive.predictive.joint_scores import ConditionedScores, LinearScores
from adaptive.predictive.members import as_members
from adaptive.scorers import entropy, information_gain, predictive_information_gain, query_by_committee
from adaptive.selection import Futures, select

BASIS = np.linalg.svd(np.eye(3) - 1 / 3)[0][:, :2]


def softmax_draws(seed, k=120, m=24, c=3):
    rng = np.random.default_rng(seed)
    scores = np.einsum("kcd,md->kmc", 2 * rng.standard_normal((k, c, 4)), rng.standard_normal((m, 4)))
    table = np.exp(scores - scores.max(axis=2, keepdims=True))
    return np.full(k, 1 / k), table / table.sum(axis=2, keepdims=True)


def information(weights, table, chosen):
    """I(outcomes of the chosen; draw) by listing all outcomes."""
    joint = weights[:, None]
    for i in chosen:
        joint = (joint[:, :, None] * table[:, i][:, None, :]).reshape(len(weights), -1)
    p = joint.sum(axis=0)
    given = -np.sum(table * np.log(np.maximum(table, 1e-300)), axis=2)
    return -np.sum(p * np.log(np.maximum(p, 1e-300))) - sum(weights @ given[:, i] for i in chosen)


def greedy(weights, table, n):
    """The batch that exact enumeration chooses one by one."""
    chosen = []
    joint = weights[:, None]
    noise = weights @ -np.sum(table * np.log(np.maximum(table, 1e-300)), axis=2)
    for _ in range(n):
        p = np.einsum("ko,kmc->mco", joint, table, optimize=True).reshape(table.shape[1], -1)
        gains = -np.sum(p * np.log(np.maximum(p, 1e-300)), axis=1) - noise
        gains[chosen] = -np.inf
        chosen.append(int(np.argmax(gains)))
        joint = (joint[:, :, None] * table[:, chosen[-1]][:, None, :]).reshape(len(weights), -1)
    return chosen


class Drawn:
    """An estimator that is a table of draws."""

    def __init__(self, weights, table, **options):
        self.weights, self.table, self.options = weights, table, options

    def predictive(self, candidates, *, target=None, random_state=None):
        outcomes = list(range(self.table.shape[2]))
        rows = self.table[:, np.asarray(candidates)]
        return WeightedDraws(self.weights, rows, outcomes, random_state=random_state, **self.options)


def test_batches_of_five_hold_nearly_the_information_of_exact_greedy_ones():
    shares = []
    for seed in range(30):
        weights, table = softmax_draws(seed)
        chosen = select(Drawn(weights, table), np.arange(24), 5, scorer=information_gain, random_state=seed)
        assert len(set(chosen.tolist())) == 5
        best = information(weights, table, greedy(weights, table, 5))
        shares.append(information(weights, table, chosen) / best)
    assert np.mean(shares) >= 0.98 and min(shares) >= 0.93, (np.mean(shares), min(shares))


def test_while_cases_are_few_scores_are_those_of_exact_greedy():
    weights, table = softmax_draws(3)
    chosen, scores = select(
        Drawn(weights, table), np.arange(24), 3, scorer=information_gain, return_scores=True, random_state=0
    )
    assert chosen.tolist() == greedy(weights, table, 3)
    assert scores.sum() == pytest.approx(information(weights, table, chosen), abs=1e-9)


def test_sampled_outcomes_are_in_proportion_and_unbiased():
    weights, table = softmax_draws(1, m=8)
    belief = WeightedDraws(weights, table, [0, 1, 2])
    found = []
    for seed in range(200):
        futures = Futures([(1.0, belief)], seed=seed)
        for i in range(5):
            futures = futures.after(i)
        assert sum(weight for weight, _ in futures.weighted) == pytest.approx(1.0)
        found.append(sum(weight * part.probabilities[7] for weight, part in futures.weighted))
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert np.all(np.abs(np.mean(found, axis=0) - belief.probabilities[7]) < 4 * error)


def test_of_forty_outcomes_each_is_sampled_as_often_as_its_probability_says():
    p = np.random.default_rng(0).dirichlet(np.ones(40) / 4)
    sure = WeightedDraws(p, np.eye(40)[:, None, :], np.arange(40))  # what was answered can be read off the weights
    for seed in range(20):
        taken = Futures([(1.0, sure)], seed=seed).after(0).weighted
        counts = np.zeros(40)
        for weight, part in taken:
            counts[part.weights.argmax()] += 8 * weight
        assert counts.sum() == 8 and np.all(np.abs(counts - 8 * p) < 1)


def test_futures_that_no_outcome_tells_apart_stay_one():
    from adaptive.potentials import Gaussian
    from adaptive.predictive import GaussianProjections

    belief = GaussianProjections.from_rows(np.eye(3), np.zeros(3), covariance=1.0, likelihood=Gaussian(0.5))
    futures = Futures([(1.0, belief)], seed=0).after(0).after(1)
    assert len(futures.weighted) == 1
    np.testing.assert_allclose(futures.weighted[0][1].variance, belief.given(0).given(1).variance)


# ----------------------------------------------------------------------------------------------- members


def softmax(scale=1.0, m=12, target=False, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((m, 3))
    root = scale * rng.standard_normal((6, 6)) / 2
    return SoftmaxProjections.from_rows(
        rows, rng.standard_normal((2, 3)) / 2, (root @ root.T).reshape(2, 3, 2, 3), contrasts=BASIS,
        outcomes=["a", "b", "c"], target=rows[:4] + 0.1 if target else None, random_state=seed,
    )  # fmt: skip


@pytest.mark.parametrize("mixed", [False, True])
def test_moved_members_have_the_moments_of_the_what_if(mixed):
    belief = Mixture([0.3, 0.7], [softmax(0.5), softmax(2.0)]) if mixed else softmax(1.5)
    members, exact = as_members(belief, 40_000), belief
    np.testing.assert_allclose(members.probabilities, belief.probabilities, atol=0.01)
    for i, outcome in ((0, "a"), (5, "c"), (7, "a"), (2, "b")):
        told = dict(members.likely_outcomes(i))
        assert told["a"] == pytest.approx(dict(exact.likely_outcomes(i))["a"], abs=0.015)
        members, exact = members.given(i, outcome), exact.given(i, outcome)
        np.testing.assert_allclose(members.probabilities, exact.probabilities, atol=0.015)
        np.testing.assert_allclose(members.expected_entropy, exact.expected_entropy, atol=0.015)


def test_members_of_the_target_move_along():
    belief = softmax(1.5, target=True)
    members, exact = as_members(belief, 40_000), belief
    for i, outcome in ((0, "a"), (5, "c")):
        members, exact = members.given(i, outcome), exact.given(i, outcome)
    np.testing.assert_allclose(members.target.probabilities, exact.target.probabilities, atol=0.015)


def test_futures_share_members_out_and_draw_none_anew():
    members = as_members(softmax(), 1000)
    outcomes = members.likely_outcomes(3)
    after = members.futures(3, outcomes)
    assert sum(len(one.weights) for one in after) == pytest.approx(1000, abs=3)
    for (_, p), one in zip(outcomes, after, strict=True):
        assert len(one.weights) == pytest.approx(1000 * p, abs=1.5)
    assert len(members.futures(3, [("a", 1.0), ("b", 1e-9)])[1].weights) == 2


def test_a_batch_of_a_softmax_conditions_every_member_once_a_step(monkeypatch):
    """Twenty rows cost less than twenty single choices: no step draws, and each moves at most 1,024 members."""

    class Softmax:
        def predictive(self, candidates, *, target=None, random_state=None):
            belief = softmax(2.0, m=40)
            inputs = None if target is None else softmax(2.0, m=40, target=True)
            return Mixture([0.4, 0.6], [inputs or belief, inputs or belief], random_state=random_state)

    drawn, moved = [], []
    draw, spread = LinearScores.draw, ConditionedScores.spread
    monkeypatch.setattr(LinearScores, "draw", lambda self, n, rng: (drawn.append(n), draw(self, n, rng))[1])
    monkeypatch.setattr(
        ConditionedScores, "spread", lambda self, move, part: (moved.append(len(move)), spread(self, move, part))[1]
    )
    for scorer in (query_by_committee, information_gain, entropy):
        drawn.clear()
        moved.clear()
        chosen = select(Softmax(), np.arange(40), 20, scorer=scorer, random_state=0)
        assert len(set(chosen.tolist())) == 20
        first = 1024 if scorer is query_by_committee else 0  # the first of the batch is scored as a single one
        assert sum(drawn) == 1024 + first and sum(moved) <= 19 * 1030
    about = select(Softmax(), np.arange(40), 4, scorer=predictive_information_gain, target=np.arange(4), random_state=0)
    assert len(set(about.tolist())) == 4


def test_members_score_as_exact_what_ifs_do():
    belief = softmax(2.0, m=30)
    futures = Futures([(1.0, belief)], seed=0).after(0)
    exact = sum(p * information_gain(one) for p, one in belief.scenarios(0))
    np.testing.assert_allclose(futures.score(information_gain, seed=0), exact, atol=0.03)
