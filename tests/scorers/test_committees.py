"""Committees of draws: vote entropy and consensus divergence, by counting votes."""

import numpy as np
import pytest
from scipy.special import expit

from adaptive import scorers
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian, Poisson
from adaptive.predictive import GaussianProjections, MissingField, Predictive, WeightedDraws
from adaptive.selection.ranking import best_positions


def belief_of(likelihood, m=6, seed=0):
    rng = np.random.default_rng(seed)
    return GaussianProjections.from_rows(
        rng.standard_normal((m, 3)), rng.standard_normal(3), root=rng.standard_normal((3, 3)), likelihood=likelihood
    )


def entropy(shares):
    return -np.sum(shares * np.log(np.maximum(shares, 1e-300)), axis=-1)


@pytest.mark.parametrize("likelihood", [BernoulliLogit(), BernoulliProbit()], ids=lambda family: family.name)
def test_all_members_vote_where_a_projection_decides(likelihood):
    belief = belief_of(likelihood)
    weights, table = belief.draws(200_000)
    share = weights @ (table[:, :, 1] > 0.5)
    np.testing.assert_allclose(
        scorers.query_by_committee(belief), entropy(np.column_stack([share, 1 - share])), atol=0.01
    )


def test_a_boundary_elsewhere_is_found():
    class Shifted(BernoulliLogit):
        def log_density(self, s, y=None):
            return super().log_density(np.asarray(s) - 1.3, y)

    belief = Predictive(2, mean=np.array([1.3, 1.3]), variance=np.array([1.0, 0.0]), likelihood=Shifted())
    np.testing.assert_allclose(scorers.query_by_committee(belief), [np.log(2), 0.0], atol=1e-9)


def test_members_of_an_ensemble_by_counting():
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(4), size=(7, 5))
    weights = rng.dirichlet(np.ones(7))
    belief = WeightedDraws(weights, table, list("abcd"))
    shares = np.array([[weights[table[:, i].argmax(axis=1) == c].sum() for c in range(4)] for i in range(5)])
    np.testing.assert_allclose(scorers.query_by_committee(belief), entropy(shares), atol=1e-12)
    consensus = np.tensordot(weights, table, axes=1)
    divergence = sum(w * np.sum(p * np.log(p / consensus), axis=1) for w, p in zip(weights, table, strict=True))
    np.testing.assert_allclose(scorers.consensus_divergence(belief), divergence, atol=1e-12)


def test_a_sure_committee_has_nothing_to_vote_about():
    belief = WeightedDraws([0.5, 0.5], [[[0.4, 0.6]], [[0.1, 0.9]]], [0, 1])
    assert scorers.query_by_committee(belief)[0] == 0 and scorers.consensus_divergence(belief)[0] > 0.05


def test_consensus_divergence_is_the_information_about_everything():
    belief = belief_of(BernoulliLogit())
    np.testing.assert_allclose(scorers.consensus_divergence(belief), scorers.information_gain(belief), atol=1e-12)
    weights, table = belief.draws(200_000)
    sampled = scorers.consensus_divergence(WeightedDraws(weights, table, belief.outcomes))
    np.testing.assert_allclose(scorers.consensus_divergence(belief), sampled, atol=0.003)
    counts = belief_of(Poisson(), m=2)
    np.testing.assert_allclose(scorers.consensus_divergence(counts), scorers.information_gain(counts), atol=1e-9)


@pytest.mark.parametrize("name", ["query_by_committee", "consensus_divergence"])
def test_a_missing_committee_is_named(name):
    with pytest.raises(MissingField, match=f"{name} needs draws, which"):
        scorers.get(name)(belief_of(Gaussian(1.0)))
    with pytest.raises(MissingField, match=f"{name} needs draws, which"):
        scorers.get(name)(Predictive(1, probabilities=[[0.5, 0.5]]))


def test_batch_bald_is_exact_on_small_joint_outcomes():
    """Kirsch et al. (2019): I(y_1..y_b; u) by enumerating all joint outcomes, greedily."""
    from adaptive.selection import select

    rng = np.random.default_rng(3)
    latents, X = 2 * rng.standard_normal((300, 2)), rng.standard_normal((12, 2))
    p = expit(latents @ X.T)
    table = np.stack([1 - p, p], axis=-1)

    class Draws:
        def predictive(self, candidates, *, target=None, random_state=None):
            return WeightedDraws(np.ones(300), table[:, candidates], [0, 1], random_state=random_state)

    def joint_information(positions):
        joint = np.ones((300, 1))
        for i in positions:
            joint = (joint[:, :, None] * table[:, i][:, None, :]).reshape(300, -1)
        return entropy(joint.mean(axis=0)) - entropy(joint).mean()

    for size, tolerance in ((5, 1e-9), (10, 0.02)):  # 16 outcomes of four are listed, of more a sample is taken
        positions, scores = select(Draws(), np.arange(12), size, return_scores=True, random_state=0)
        assert scores.sum() == pytest.approx(joint_information(positions), abs=tolerance)
        greedy = []
        for _ in range(size):
            gains = [-1.0 if i in greedy else joint_information([*greedy, i]) for i in range(12)]
            greedy.append(int(np.argmax(gains)))
        if size == 5:
            assert positions.tolist() == greedy
        assert joint_information(positions) >= joint_information(greedy) - tolerance


def test_committees_that_all_but_agree_are_told_apart():
    """Their shares differ by less than a number near 1 can; the smallest scores of all are still chosen from."""
    for few in (1e-20, 1e-305):
        belief = WeightedDraws(
            [1.0, 2 * few, few], [[[0.4, 0.6]] * 2, [[0.1, 0.9], [0.9, 0.1]], [[0.9, 0.1], [0.1, 0.9]]], [0, 1]
        )
        first, second = scorers.query_by_committee(belief)
        assert 0 < first < second and best_positions(np.array([first, second]), 1).tolist() == [1]
