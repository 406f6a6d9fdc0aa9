"""EPIG by each of its routes, against joint tables computed one pair at a time."""

import sys
from functools import partial

import numpy as np
import pytest
from scipy.special import roots_hermitenorm
from scipy.stats import spearmanr

from adaptive import BayesianLogisticRegression, scorers
from adaptive.potentials import BernoulliLogit, BernoulliProbit, Gaussian, Laplace, Poisson
from adaptive.predictive import GaussianProjections, GaussianTarget, MissingField, WeightedDraws


def belief_of(likelihood, m=4, t=3, scale=1.0, seed=0):
    rng = np.random.default_rng(seed)
    root = scale * rng.standard_normal((3, 3))
    return GaussianProjections.from_rows(
        rng.standard_normal((m, 3)), rng.standard_normal(3), root=root, likelihood=likelihood,
        target=rng.standard_normal((t, 3)),
    )  # fmt: skip


def mutual_information(joint):
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return np.sum(np.where(joint > 0, joint * np.log(np.maximum(joint, 1e-300) / np.maximum(product, 1e-300)), 0.0))


def by_quadrature(belief, outcomes, n=80):
    """The mean over targets, each pair by a two-dimensional Gauss-Hermite rule."""
    nodes, weights = roots_hermitenorm(n)
    weights = weights / weights.sum()
    target = belief.target
    values = np.zeros((len(belief), len(target)))
    for i in range(len(belief)):
        for j in range(len(target)):
            cov = np.array([[belief.variance[i], belief.target_covariance[i, j]], [0, target.variance[j]]])
            cov[1, 0] = cov[0, 1]
            root = np.linalg.cholesky(cov)
            s = belief.mean[i] + root[0, 0] * nodes[:, None] + 0 * nodes
            s_other = target.mean[j] + root[1, 0] * nodes[:, None] + root[1, 1] * nodes
            p = np.exp([belief.likelihood.log_density(s, y) for y in outcomes])
            q = np.exp([belief.likelihood.log_density(s_other, y) for y in outcomes])
            values[i, j] = mutual_information(np.einsum("a,b,cab,dab->cd", weights, weights, p, q))
    return values.mean(axis=1)


@pytest.mark.parametrize("likelihood", [BernoulliLogit(), BernoulliProbit()], ids=lambda family: family.name)
def test_two_classes_by_quadrature(likelihood):
    belief = belief_of(likelihood)
    np.testing.assert_allclose(scorers.predictive_information_gain(belief), by_quadrature(belief, [-1, 1]), atol=2e-7)


def test_counts_by_quadrature():
    belief = belief_of(Poisson(), m=2, t=2, scale=0.2, seed=1)
    assert max(belief.mean.max(), belief.target.mean.max()) < 1  # so that 25 counts are enough
    np.testing.assert_allclose(
        scorers.predictive_information_gain(belief), by_quadrature(belief, range(25), n=40), atol=1e-6
    )


def test_large_counts_are_summed_by_a_thinner_rule(monkeypatch):
    belief = GaussianProjections.from_rows(
        np.array([[5.0, 0.0], [5.3, 0.2]]), np.ones(2), covariance=np.array([0.001, 0.1]), likelihood=Poisson(),
        target=np.array([[5.1, 0.1]]),
    )  # fmt: skip
    module = sys.modules["adaptive.scorers.joint_outcomes"]
    thin = scorers.predictive_information_gain(belief)
    counts, widths = module.outcome_nodes(belief.likelihood, belief.mean, belief.variance)
    last = int(counts[-1] + widths[-1] // 2)
    assert widths.max() >= 5 and widths.sum() == last + 1 and len(counts) < 0.7 * last
    monkeypatch.setattr(module, "outcome_nodes", lambda *_: (np.arange(last + 1), np.ones(last + 1)))
    np.testing.assert_allclose(thin, scorers.predictive_information_gain(belief), rtol=5e-3)


def test_gaussian_outcomes_by_correlations():
    belief = belief_of(Gaussian(0.4))
    expected = np.zeros(4)
    for j in range(3):
        joint = np.array(
            [belief.variance + 0.4, belief.target_covariance[:, j], belief.target.variance[j] + 0.4 + 0 * expected]
        )
        expected += 0.5 * np.log(joint[0] * joint[2] / (joint[0] * joint[2] - joint[1] ** 2)) / 3
    np.testing.assert_allclose(scorers.predictive_information_gain(belief), expected, rtol=1e-10)


def test_draws_by_enumeration_and_the_quadrature_within_their_error():
    rng = np.random.default_rng(2)
    weights, table = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(3), size=(6, 5))
    belief = WeightedDraws(weights, table[:, :3], [0, 1, 2], target=WeightedDraws(weights, table[:, 3:], [0, 1, 2]))
    expected = [
        np.mean([mutual_information(np.einsum("k,kc,kd->cd", weights, table[:, i], table[:, j])) for j in (3, 4)])
        for i in range(3)
    ]
    np.testing.assert_allclose(scorers.predictive_information_gain(belief), expected, atol=1e-12)
    gaussian = belief_of(BernoulliLogit())
    drawn = WeightedDraws(
        *gaussian.draws(20_000), [-1, 1], target=WeightedDraws(*gaussian.target.draws(20_000), [-1, 1])
    )
    exact = scorers.predictive_information_gain(gaussian)
    np.testing.assert_allclose(scorers.predictive_information_gain(drawn), exact, atol=0.01)


def test_blocks_do_not_change_the_result(monkeypatch):
    belief = belief_of(BernoulliLogit(), m=40, t=300)
    whole = scorers.predictive_information_gain(belief)
    monkeypatch.setattr(sys.modules["adaptive.scorers.joint_outcomes"], "_IN_CACHE", 1500)
    np.testing.assert_allclose(scorers.predictive_information_gain(belief), whole, atol=1e-10)


def test_blocks_of_a_stated_covariance_are_those_of_their_candidates():
    rng = np.random.default_rng(0)
    rows, targets = rng.standard_normal((40, 3)), rng.standard_normal((300, 3))
    about = GaussianTarget(
        np.zeros(300),
        (targets**2).sum(axis=1),
        lambda i, j: targets[i] @ targets[j].T,
        lambda i, j: rows[i] @ targets[j].T,
    )
    stated = GaussianProjections(
        np.zeros(40), (rows**2).sum(axis=1), lambda i, j: rows[i] @ rows[j].T, BernoulliLogit(), target=about
    )
    linear = GaussianProjections.from_rows(
        rows, np.zeros(3), covariance=np.ones(3), likelihood=BernoulliLogit(), target=targets
    )
    np.testing.assert_allclose(stated.target_block(slice(7, 9)), rows[7:9] @ targets.T, atol=1e-12)
    expected = scorers.predictive_information_gain(linear)
    np.testing.assert_allclose(scorers.predictive_information_gain(stated), expected, atol=1e-10)


def test_it_is_at_most_what_is_learnt_about_everything():
    belief = belief_of(BernoulliLogit(), m=30, t=20, scale=3.0)
    about_all = belief.outcome_entropy - belief.likelihood.expected_outcome_entropy(belief.mean, belief.variance)
    epig = scorers.predictive_information_gain(belief)
    assert np.all(epig >= -1e-9) and np.all(epig <= about_all + 1e-9)


def test_information_about_what_no_prediction_depends_on_counts_nothing():
    rows = np.array([[1.0, 0.0], [0.0, 5.0]])
    belief = GaussianProjections.from_rows(
        rows, np.zeros(2), covariance=np.ones(2), likelihood=BernoulliLogit(), target=np.array([[2.0, 0.0]])
    )
    epig, gain = scorers.predictive_information_gain(belief), scorers.information_gain(belief)
    assert epig[0] > 0.01 and epig[1] == pytest.approx(0.0, abs=1e-12)
    assert gain[1] == pytest.approx(0.0, abs=1e-9)  # the target is what is to be learnt, here too


def test_without_a_target_or_a_route_the_field_is_named():
    rows = np.eye(2)
    with pytest.raises(MissingField, match="predictive_information_gain needs target, which GaussianProjections"):
        scorers.predictive_information_gain(
            GaussianProjections.from_rows(rows, np.zeros(2), covariance=1.0, likelihood=BernoulliLogit())
        )
    with pytest.raises(MissingField, match="predictive_information_gain needs draws"):
        scorers.predictive_information_gain(
            GaussianProjections.from_rows(rows, np.zeros(2), covariance=1.0, likelihood=Laplace(1.0), target=rows)
        )


def test_the_series_stops_for_each_pair_where_its_error_is_small():
    """Against all 96 terms; the candidates themselves are among the targets, so that correlations go up to 1."""
    module = sys.modules["adaptive.scorers.joint_outcomes"]
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((100, 20))
    belief = GaussianProjections.from_rows(
        rows, rng.standard_normal(20), root=rng.standard_normal((20, 20)), likelihood=BernoulliLogit(), target=rows
    )
    ((_, ours, theirs, correlation, reach),) = module.expansions(belief)
    assert correlation.max() > 1 - 1e-12 and len(ours) == len(reach) > 80
    assert module._terms_for_all(np.abs(correlation), reach) < 60
    f, g = ours[:, :, 0], theirs[:, :, 0]
    powers = correlation[None] ** np.arange(1, len(ours))[:, None, None]
    np.testing.assert_allclose(
        module.excesses(f, g, correlation, reach), np.einsum("kij,ki,kj->ij", powers, f[1:], g[1:]), atol=2e-12
    )


def test_the_bias_of_a_sample_of_draws_is_taken_off():
    """Ten classes: 512 draws make any two inputs look dependent, by nearly half of what there is to learn."""
    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(60, 8)), rng.normal(size=(8, 10))
    y = np.argmax(X @ W + rng.gumbel(size=(60, 10)), axis=1)
    model = BayesianLogisticRegression(classes=list(range(10)), hyperparameters="mode").fit(X, y)
    pool, target = rng.normal(size=(12, 8)), rng.normal(size=(6, 8))
    few, many = (model.predictive(pool, target=target, random_state=seed) for seed in (0, 1))
    for part in (many, many.target):
        part.draws = partial(part.draws, 12_000)  # by these the bias is a twentieth
    by_few, by_many = (scorers.get("predictive_information_gain")(one) for one in (few, many))
    assert abs(by_few.mean() / by_many.mean() - 1) < 0.15
    assert spearmanr(by_few, by_many).statistic > 0.85
