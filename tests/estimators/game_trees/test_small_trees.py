"""Small trees against dense algebra and sampling: scores, values, covariances, order, symmetry, proofs."""

import itertools

import numpy as np
import pytest
from scipy import stats

from adaptive import GLM, inference
from adaptive.estimators import GameTreeSearch
from adaptive.estimators.game_trees.evidence import Outcome
from adaptive.estimators.game_trees.messages import gather
from adaptive.estimators.game_trees.predictive import Joint
from adaptive.potentials import BernoulliProbit
from adaptive.scorers import information_gain

NODES, RESULTS = [(0,), (1, 0), (1, 1)], [1, -1, 1]
PATHS = [path for depth in range(4) for path in itertools.product(range(2), repeat=depth)]


def tiny(**options):
    return GameTreeSearch(branching=2, depth=3, **{"random_state": 0, "score_variance": 1.0, **options})


def dense_prior(paths, root_variance):
    """Covariance of the scores: the variance at the last node that two paths share."""

    def shared(a, b):
        return next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))

    return np.array([[root_variance + shared(a, b) for b in paths] for a in paths])


def test_scores_are_those_of_dense_expectation_propagation():
    model = tiny().fit(NODES, RESULTS).refresh()
    assert model.converged_ and model.objective_trace_[-1] <= 1e-8
    rows = np.zeros((3, len(PATHS)))
    for k, node in enumerate(NODES):
        rows[k, PATHS.index(node)] = 1 / np.sqrt(3 - len(node))
    covariance = dense_prior(PATHS, 1.0) + 1e-12 * np.eye(len(PATHS))
    glm = GLM(B=rows, potentials=BernoulliProbit(np.array(RESULTS)), prior_covariance=covariance)
    posterior = inference.expectation_propagation(glm, tol=1e-12, max_iter=200)
    mean, std = model.predict_score(PATHS, return_std=True)
    np.testing.assert_allclose(mean, posterior.mean, atol=1e-6)
    np.testing.assert_allclose(std**2, posterior.variances(), atol=1e-6)
    assert model.log_evidence_ == pytest.approx(posterior.log_evidence, abs=1e-6)


def test_covariances_are_the_dense_ones():
    """Of scores with each other, and with the values of the root and its moves, to 1e-10."""
    model = tiny().fit(NODES, RESULTS).refresh()
    tree = model.belief_.tree
    joint = Joint(tree, PATHS)
    nodes, paths = joint.tree.nodes, [joint.tree.path_of(i) for i in range(joint.tree.n_nodes)]
    site = np.zeros(len(paths))
    for rollout in joint.tree.rollouts:
        site[rollout["node"]] += rollout["p"]
    prior = dense_prior(paths, 1.0)
    root = np.linalg.cholesky(prior)
    dense = root @ np.linalg.inv(np.eye(len(paths)) + root.T @ (site[:, None] * root)) @ root.T
    every = np.arange(len(paths))
    np.testing.assert_allclose(joint.covariance(every, every), dense, atol=1e-10)

    def loadings(start):
        """v_start as a sum of scores, by the weights of the chains."""
        if not nodes[start]["inner"]:
            return np.eye(len(paths))[start] if not nodes[start]["count"] else spread(start)
        first, count = nodes[start]["first"], nodes[start]["count"]
        return sum(nodes["weight"][c] * loadings(c) for c in range(first, first + count))

    def spread(start):
        if not nodes[start]["count"]:
            return np.eye(len(paths))[start]
        first, count = nodes[start]["first"], nodes[start]["count"]
        return sum(spread(c) / count for c in range(first, first + count))

    for start in (0, *joint.moves()):
        np.testing.assert_allclose(joint.with_value_of(int(start))[0], dense @ loadings(start), atol=1e-10)


def by_sampling(nodes, results, n=400_000):
    """Root's and moves' values by importance sampling of whole trees."""
    rng = np.random.default_rng(0)
    scores = {(): rng.standard_normal(n)}
    for path in PATHS[1:]:
        scores[path] = scores[path[:-1]] + rng.standard_normal(n)
    weights = np.ones(n)
    for node, result in zip(nodes, results, strict=True):
        left = 3 - len(node)
        weights *= stats.norm.cdf(result * scores[node] / np.sqrt(left)) if left else scores[node] * result > 0
    values = dict(scores)
    for path in reversed(PATHS[:7]):
        ext = np.maximum if len(path) % 2 == 0 else np.minimum
        values[path] = ext(values[(*path, 0)], values[(*path, 1)])
    return values, weights / weights.sum()


def test_values_and_the_correlation_of_siblings_are_those_of_sampling():
    values, weights = by_sampling(NODES, RESULTS)
    model = tiny().fit(NODES, RESULTS).refresh()
    paths = [(), (0,), (1,), (1, 0)]
    mean, std = model.predict(paths, return_std=True)
    for path, m, s in zip(paths, mean, std, strict=True):
        exact = weights @ values[path]
        spread = np.sqrt(weights @ (values[path] - exact) ** 2)
        assert m == pytest.approx(exact, abs=0.06) and s == pytest.approx(spread, abs=0.06)
    block = np.cov(values[(0,)], values[(1,)], aweights=weights)
    exact = block[0, 1] / np.sqrt(block[0, 0] * block[1, 1])
    m, covariance = Joint(model.belief_.tree, []).of_moves()
    ours = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    shared = model.predict_score([()], return_std=True)[1][0] ** 2
    of_parent = shared / np.sqrt(covariance[0, 0] * covariance[1, 1])
    assert ours == pytest.approx(exact, abs=0.02)
    assert of_parent > 2 * exact  # the rule of the source, Var(g_parent): far too large


@pytest.mark.parametrize("rollouts", ["discard", "keep_path"])
def test_order_is_forgotten(rollouts):
    nodes = [(), (0,), (1,), (0, 1), (1, 0, 1)]
    outcomes = [(1, (0, 1, 0)), (-1, (1, 0)), (1, (0, 1)), (-1, (0,)), 1]
    beliefs = []
    for order in ([0, 1, 2, 3, 4], [4, 2, 0, 3, 1], [3, 4, 1, 2, 0]):
        model = tiny(rollouts=rollouts)
        for k in order:
            model.partial_fit([nodes[k]], [outcomes[k]])
        beliefs.append(np.array(model.refresh(200, 1e-12).predict(PATHS, return_std=True)))
    np.testing.assert_allclose(beliefs[1], beliefs[0], atol=1e-6)
    np.testing.assert_allclose(beliefs[2], beliefs[0], atol=1e-6)


def test_mirrored_players_and_results_negate():
    class Mirrored:
        """The same tree, in which the minimising player begins."""

        start, branching, depth = (), 2, 3

        def moves(self, state):
            return range(2 if len(state) < 3 else 0)

        def play(self, state, move):
            return (*state, move)

        def result(self, state):
            return None if len(state) < 3 else 1.0

        def player(self, state):
            return -1 if len(state) % 2 == 0 else 1

    ours = tiny(root_mean=0.3).fit(NODES, RESULTS).predict(PATHS[:7], return_std=True)
    theirs = tiny(game=Mirrored(), root_mean=-0.3).fit(NODES, [-r for r in RESULTS]).predict(PATHS[:7], return_std=True)
    np.testing.assert_allclose(theirs[0], -ours[0], atol=1e-12)
    np.testing.assert_allclose(theirs[1], ours[1], atol=1e-12)


def test_removing_a_rollout_restores_the_cavity_to_the_bit():
    before = tiny().fit(NODES, RESULTS).belief_.tree
    tree = before.copy()
    tree.learn((0, 0), Outcome(1.0))
    at = tree.store((0, 0))
    tree.nodes["site_p"][at[-1]] = tree.nodes["site_e"][at[-1]] = 0.0
    first = before.rollouts[0]  # that of (0,), which the new one had put aside
    tree.nodes["site_p"][at[1]], tree.nodes["site_e"][at[1]] = first["p"], first["e"]
    for node in reversed(at):
        if tree.nodes["count"][node] or node == at[-1]:
            gather(tree.nodes, node, tree.rules)
    assert tree.nodes["up_p"][0] == before.nodes["up_p"][0] and tree.nodes["up_e"][0] == before.nodes["up_e"][0]


def test_information_is_never_above_a_bit_and_a_single_rollout_agrees_with_two_dimensional_quadrature():
    model = tiny().fit(NODES, RESULTS)
    for target in ("root", "moves", "best", [(0, 0)]):
        gains = information_gain(model.predictive(PATHS, target=target))
        assert np.all(gains >= -1e-9) and np.all(gains <= np.log(2) + 1e-9)
    predictive = model.predictive([(1, 0, 1)], target="root")
    q = predictive.explained_variance[0]
    z, w = np.polynomial.hermite_e.hermegauss(60)
    h = stats.bernoulli
    inner = stats.norm.cdf((predictive.mean[0] + np.sqrt(q) * z) / np.sqrt(1 + predictive.variance[0] - q))
    marginal = w @ inner / w.sum()
    expected = w @ h.entropy(inner) / w.sum()
    assert information_gain(predictive)[0] == pytest.approx(h.entropy(marginal) - expected, abs=1e-8)


def test_which_move_is_best():
    model = tiny().fit(NODES, RESULTS).refresh()
    p = model.best_move_proba()
    assert p.sum() == pytest.approx(1.0) and model.best_move() == int(np.argmax(p))
    m, covariance = Joint(model.belief_.tree, []).of_moves()
    exact = stats.norm.cdf((m[0] - m[1]) / np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]))
    assert p[0] == pytest.approx(exact, abs=2e-3)


def test_a_move_that_is_lost_may_be_the_best_beside_one_that_is_not_decided():
    model = GameTreeSearch(branching=2, depth=4).fit([(0, 0), (1,)], [(-1, 2), (-1, 3)])
    model.partial_fit([(0, 0, k, j) for k in range(2) for j in range(2)], [-1] * 4)  # the other player wins there
    assert model.belief_.tree.nodes["sign"][1] == -1 and model.belief_.tree.nodes["sign"][2] == 0
    p = model.best_move_proba()
    assert 0.05 < p[0] < 0.95 and model.best_move() == 1
    assert model.partial_fit([(1, j, 0, i) for j in range(2) for i in range(2)], [1] * 4).best_move() == 1
    assert model.best_move_proba()[1] == 1.0  # won, beside a lost one


def test_a_bandit_of_one_level_is_conjugate():
    rng = np.random.default_rng(1)
    arms = rng.integers(4, size=30)
    rewards = np.array([1.0, 0.0, 2.0, 1.5])[arms] + rng.standard_normal(30)
    bandit = GameTreeSearch(branching=4, depth=2, players="max", results="value", score_variance=2.0, root_mean=0.5)
    bandit.fit([(int(a),) for a in arms], [(float(r), 1) for r in rewards]).refresh()
    step = bandit.step_variance_
    prior = 2.0 + step * np.eye(4)
    counts = np.bincount(arms, minlength=4)
    covariance = np.linalg.inv(np.linalg.inv(prior) + np.diag(counts) / step)
    sums = np.bincount(arms, rewards, minlength=4)
    mean = covariance @ (np.linalg.inv(prior) @ np.full(4, 0.5) + sums / step)
    m, s = bandit.predict_score([(k,) for k in range(4)], return_std=True)
    np.testing.assert_allclose(m, mean, atol=1e-9)
    np.testing.assert_allclose(s**2, covariance.diagonal(), atol=1e-9)


def test_evidence_finds_the_root():
    """A game that one player always wins: a broad prior of the root's score explains the roll-outs better."""
    nodes, results = [(k, j) for k in range(2) for j in range(2)], [1, 1, 1, 1]
    narrow, broad = (tiny(score_variance=v).fit(nodes, results).refresh().log_evidence_ for v in (1e-8, 10.0))
    assert broad > narrow
    drifting = tiny(drift=(0.5, 0.5), score_variance=1e-8).fit(nodes, results).refresh()
    assert drifting.log_evidence_ > narrow
