"""Expected error reduction and value of information, by enumerating what would be believed after each outcome."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adaptive import scorers
from adaptive.estimators import BayesianLogisticRegression
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian
from adaptive.predictive import GaussianProjections, GaussianTarget, MissingField, WeightedDraws
from adaptive.selection import select

LOSSES = np.array([[0.0, 1.0, 0.3], [5.0, 0.0, 0.8]])


def projections(likelihood, m=5, t=4, seed=0, scale=1.5):
    rng = np.random.default_rng(seed)
    return GaussianProjections.from_rows(
        rng.standard_normal((m, 3)), 0.3 * rng.standard_normal(3), root=scale * rng.standard_normal((3, 3)),
        likelihood=likelihood, target=rng.standard_normal((t, 3)),
    )  # fmt: skip


def draws(c=3, m=5, t=4, seed=0):
    rng = np.random.default_rng(seed)
    outcomes = list("abcd"[:c])
    target = WeightedDraws(np.ones(40), rng.dirichlet(np.full(c, 0.3), size=(40, t)), outcomes)
    return WeightedDraws(np.ones(40), rng.dirichlet(np.full(c, 0.3), size=(40, m)), outcomes, target=target)


def joint_by_quadrature(belief, i, j):
    """p(y_i, y*_j) by a two-dimensional trapezoidal rule."""
    nodes = np.linspace(-8, 8, 321)
    weights = np.exp(-0.5 * nodes**2)
    weights = weights / weights.sum()
    target, c = belief.target, belief.target_covariance[i, j]
    covariance = np.array([[belief.variance[i], c], [c, target.variance[j]]])
    root = np.linalg.cholesky(covariance)
    s = belief.mean[i] + root[0, 0] * nodes[:, None] + 0 * nodes
    other = target.mean[j] + root[1, 0] * nodes[:, None] + root[1, 1] * nodes
    p, q = (np.exp([belief.likelihood.log_density(values, y) for y in belief.outcomes]) for values in (s, other))
    return np.einsum("a,b,cab,dab->cd", weights, weights, p, q)


def saving(joint, losses):
    before = (joint.sum(axis=0) @ losses).min()
    return before - (joint @ losses).min(axis=1).sum()


@pytest.mark.parametrize("family", [BernoulliLogit(), BernoulliProbit()], ids=lambda family: family.name)
@pytest.mark.parametrize("losses", [1 - np.eye(2), LOSSES], ids=["errors", "losses"])
def test_classes_by_two_dimensional_quadrature(family, losses):
    belief = projections(family)
    tables = [[joint_by_quadrature(belief, i, j) for j in range(4)] for i in range(5)]
    expected = [np.mean([saving(table, losses) for table in row]) for row in tables]
    assert max(expected) > 0.01
    np.testing.assert_allclose(scorers.value_of_information(losses)(belief), expected, atol=1e-8)
    if losses.shape[1] == 2:
        np.testing.assert_allclose(scorers.expected_error_reduction(belief), expected, atol=1e-8)


@pytest.mark.parametrize("c", [2, 3])
def test_draws_by_what_is_believed_after_each_outcome(c):
    belief = draws(c)
    losses = np.random.default_rng(1).uniform(size=(c, 4))
    for scorer, table in (
        (scorers.expected_error_reduction, 1 - np.eye(c)),
        (scorers.value_of_information(losses), losses),
    ):
        risk = (belief.target.probabilities @ table).min(axis=1).mean()
        expected = [
            risk - sum(p * (after.target.probabilities @ table).min(axis=1).mean() for p, after in belief.scenarios(i))
            for i in range(5)
        ]
        np.testing.assert_allclose(scorer(belief), expected, atol=1e-9)
        assert max(expected) > 0.001


def test_what_is_saved_is_what_one_step_of_moment_matching_says():
    """``given`` refits one candidate by moment matching; the joint table needs no refit, and says nearly the same."""
    belief = projections(BernoulliLogit(), scale=0.8)
    table = 1 - np.eye(2)
    risk = (belief.target.probabilities @ table).min(axis=1).mean()
    steps = [
        risk - sum(p * (after.target.probabilities @ table).min(axis=1).mean() for p, after in belief.scenarios(i))
        for i in range(5)
    ]
    np.testing.assert_allclose(scorers.expected_error_reduction(belief), steps, atol=0.003)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.floats(0.01, 20))
def test_none_is_negative_and_no_loss_saves_more_than_it_can(seed, scale):
    for belief in (projections(BernoulliLogit(), seed=seed, scale=scale), draws(seed=seed)):
        saved = scorers.expected_error_reduction(belief)
        risk = (1 - belief.target.probabilities.max(axis=1)).mean()
        assert np.all(saved >= 0) and np.all(saved <= risk + 1e-9)
        c = len(belief.outcomes)
        doubled = scorers.value_of_information(2 * (1 - np.eye(c)))(belief)
        np.testing.assert_allclose(doubled, 2 * saved, atol=1e-9)
        assert np.all(scorers.value_of_information(np.ones((c, 3)))(belief) == 0)  # no decision matters


def test_a_candidate_unrelated_to_the_target_saves_nothing():
    belief = GaussianProjections.from_rows(
        np.eye(2), np.zeros(2), covariance=4 * np.eye(2), likelihood=BernoulliLogit(), target=np.array([[0.0, 1.0]])
    )
    saved = scorers.expected_error_reduction(belief)
    assert saved[0] == 0 and saved[1] > 0.1


def test_chunks_masks_costs_and_workers():
    rng = np.random.default_rng(0)
    X, target = rng.standard_normal((60, 3)), rng.standard_normal((20, 3))
    model = BayesianLogisticRegression(prior_scale=2.0).fit(X[:8], (X[:8, 0] > 0).astype(int))
    for scorer in ("expected_error_reduction", scorers.value_of_information(LOSSES)):
        options = {"scorer": scorer, "target": target, "mask": np.arange(60) > 9, "joint": False, "return_scores": True}
        cost = rng.uniform(1, 3, 60)
        whole = select(model, X, 5, cost=cost, **options)
        parts = select(model, X, 5, cost=cost, chunk_size=7, n_jobs=2, **options)
        np.testing.assert_array_equal(parts[0], whole[0])
        np.testing.assert_allclose(parts[1], whole[1], rtol=1e-9)
        assert whole[0].min() > 9
        joint = select(model, X, 3, scorer=scorer, target=target, random_state=0)
        assert len(set(joint)) == 3


def test_what_is_missing_or_wrong_is_said():
    with pytest.raises(MissingField, match="expected_error_reduction needs target, which GaussianProjections does not"):
        scorers.expected_error_reduction(GaussianProjections.from_rows(
            np.eye(2), np.zeros(2), covariance=1.0, likelihood=BernoulliLogit()
        ))  # fmt: skip
    with pytest.raises(MissingField, match="expected_error_reduction needs probabilities"):
        scorers.expected_error_reduction(projections(Gaussian(1.0)))
    with pytest.raises(ValueError, match=r"losses has 3 rows, but there are 2 outcomes"):
        scorers.value_of_information(np.eye(3))(projections(BernoulliLogit()))
    with pytest.raises(ValueError, match=r"losses must be a table \(outcomes, decisions\), got shape \(2,\)"):
        scorers.value_of_information([0, 1])
    with pytest.raises(ValueError, match="losses contains nan"):
        scorers.value_of_information([[0, np.nan]])
    empty = GaussianTarget(np.zeros(0), np.zeros(0), lambda i, j: np.zeros((0, 0)), lambda i, j: np.zeros((len(i), 0)))
    nothing = GaussianProjections(np.zeros(1), np.ones(1), lambda i, j: np.eye(1), BernoulliLogit(), target=empty)
    with pytest.raises(ValueError, match="target must hold at least one input"):
        scorers.expected_error_reduction(nothing)
