"""Outcomes of a roll-out from a node: a probit in  g / sqrt(length)  (real results: Gaussian), scores and values
jointly Gaussian, so that  I(outcome; root's value)  follows from one covariance per node.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import entr, log_ndtr, ndtr

from adaptive.estimators.game_trees.messages import EXACT
from adaptive.estimators.game_trees.sweeps import score_covariances, scores, settle, value_covariances, values
from adaptive.potentials import BernoulliProbit, Gaussian
from adaptive.predictive import GaussianProjections, GaussianTarget, StatedPredictive

if TYPE_CHECKING:
    from adaptive.estimators.game_trees.nodes import Path
    from adaptive.estimators.game_trees.tree import Tree
    from adaptive.predictive import Predictive
    from adaptive.types import RandomState

__all__ = ["TARGETS", "Joint", "best_move_probabilities", "boundary", "proved_lost", "tree_predictive"]

TARGETS = ("root", "moves", "best")
SHORTEST = 0.01  # an end is looked at as a roll-out of a hundredth of a move: its sign is all but seen
Draws = Callable[[int, np.random.Generator], list[np.ndarray]]
NODES_OF_SCORES = 32  # of the quadrature in scores
N_DRAWS = 4096  # of the values of the root's moves, of which the best one is looked at


class Joint:
    """Scores of nodes and values of the root and of its moves, as one Gaussian.

    Parameters
    ----------
    tree : Tree
    paths : sequence of tuples
        What may be rolled out, stored or not.

    Attributes
    ----------
    tree : Tree
        Holds all paths; every value follows from the scores.
    at : (m,) array
        Their nodes.
    mean, variance, slope : arrays
        Of the scores of all stored nodes.
    """

    def __init__(self, tree: Tree, paths: Sequence[Path]) -> None:
        held, self.at = tree.holding(paths)
        self.tree = held if held is not tree else tree.copy()
        settle(self.tree.nodes, self.tree.rules, self.tree.table)
        self.mean, self.variance, self.slope = scores(self.tree.nodes, self.tree.rules)

    def covariance(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return covariances of scores of nodes."""
        return score_covariances(self.tree.nodes, left, right, self.variance, self.slope)

    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """Return moments of all optimal values."""
        return values(self.tree.nodes, self.mean, self.variance)

    def wide_variances(self, factor: float) -> np.ndarray:
        """Return variances of all optimal values, times ``factor`` where a node is neither proved nor closed."""
        nodes = self.tree.nodes
        return self.values()[1] * np.where((nodes["closed"] == 0) & (nodes["sign"] == 0), factor, 1.0)

    def with_value_of(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """Return covariances of all scores with the value of the root or of a move, and the weights of all in it."""
        return value_covariances(self.tree.nodes, node, self.mean, self.variance, self.slope)

    def moves(self) -> np.ndarray:
        """Return the nodes of the root's moves."""
        first = int(self.tree.nodes[0]["first"])
        return np.arange(first, first + int(self.tree.nodes[0]["count"]))

    def of_moves(self) -> tuple[np.ndarray, np.ndarray]:
        """Return means (b,) and covariance (b, b) of the values of the root's moves: they share the root's score."""
        at = self.moves()
        m, v = (part[at] for part in self.values())
        shared = np.array([self.with_value_of(int(c))[0][0] for c in at])
        covariance = np.outer(shared, shared) / self.variance[0]
        np.fill_diagonal(covariance, v)
        return m, covariance


def tree_predictive(
    tree: Tree, paths: Sequence[Path], target: str | Sequence[Path], random_state: RandomState
) -> Predictive:
    """Return what is believed about roll-outs from ``paths``; ``target`` as in `GameTreeSearch.predictive`."""
    named = target if isinstance(target, str) else None
    inputs = [] if named else target
    if named in ("moves", "best") and not tree.nodes[0]["count"]:
        tree = tree.copy()
        tree.expand(0)
    joint = Joint(tree, [*paths, *inputs])
    at, targets = joint.at[: len(paths)], joint.at[len(paths) :]
    scale, likelihood = _measured(joint, at)
    m, v = joint.values()

    def covariance(i: np.ndarray, j: np.ndarray) -> np.ndarray:
        return scale[i][:, None] * joint.covariance(at[i], at[j]) * scale[j]

    if not named:
        target_scale, target_likelihood = _measured(joint, targets)
        about = GaussianTarget(
            joint.mean[targets] * target_scale,
            joint.variance[targets] * target_scale**2,
            lambda i, j: target_scale[i][:, None] * joint.covariance(targets[i], targets[j]) * target_scale[j],
            lambda i, j: scale[i][:, None] * joint.covariance(at[i], targets[j]) * target_scale[j],
            likelihood=target_likelihood,
        )
        draws = _score_draws(joint, [(at, scale), (targets, target_scale)])
    else:
        if named == "root":
            means, block = m[:1], v[:1, None]
            crosses = (joint.with_value_of(0)[0][at] * scale)[:, None]
        else:
            means, block = joint.of_moves()
            crosses = np.column_stack([joint.with_value_of(int(c))[0][at] for c in joint.moves()]) * scale[:, None]
        about = GaussianTarget(
            means, block.diagonal().copy(), lambda i, j: block[np.ix_(i, j)], lambda i, j: crosses[np.ix_(i, j)],
            inputs=False,
        )  # fmt: skip
        draws = _value_draws(joint.mean[at] * scale, joint.variance[at] * scale**2, means, block, crosses)
    belief = GaussianProjections(
        joint.mean[at] * scale, joint.variance[at] * scale**2, covariance, likelihood, target=about,
        projection_draws=draws, random_state=random_state,
    )  # fmt: skip
    if named != "best":
        return belief
    if joint.tree.rules.values:
        raise ValueError("target='best' needs results='sign'; with real results the target is 'moves'.")
    return _about_the_best(belief, means, 1.0 - 2.0 * int(tree.nodes[0]["mover"]))


def _measured(joint: Joint, at: np.ndarray) -> tuple[np.ndarray, Any]:
    """Factors of scores, and the family of the outcomes of a roll-out."""
    length = joint.tree.nodes["left"][at] * (joint.tree.nodes["ended"][at] == 0)
    if joint.tree.rules.values:
        noise = np.maximum(length, EXACT) * joint.tree.step
        return np.ones(len(at)), Gaussian(float(noise[0]) if len(set(noise)) == 1 else noise)
    return 1.0 / np.sqrt(np.maximum(length, SHORTEST) * joint.tree.step), BernoulliProbit()


def _score_draws(joint: Joint, parts: list[tuple[np.ndarray, np.ndarray]]) -> Draws:
    """Joint draws of scores down the tree: each node's own part from a seed of its own, the same in every chunk."""

    def drawn(n: int, generator: np.random.Generator) -> list[np.ndarray]:
        seed = int(generator.integers(2**31))
        known: dict[int, np.ndarray] = {}

        def score(i: int) -> np.ndarray:
            if i not in known:
                own = np.random.default_rng([seed, zlib.crc32(repr(joint.tree.path_of(i)).encode())]).standard_normal(n)
                if i == 0:
                    known[i] = joint.mean[0] + np.sqrt(joint.variance[0]) * own
                else:
                    j = int(joint.tree.nodes[i]["parent"])
                    rest = joint.variance[i] - joint.slope[i] ** 2 * joint.variance[j]
                    regressed = joint.mean[i] + joint.slope[i] * (score(j) - joint.mean[j])
                    known[i] = regressed + np.sqrt(max(rest, 0.0)) * own
            return known[i]

        return [np.column_stack([score(int(i)) for i in nodes]) * scale for nodes, scale in parts]

    return drawn


class _Regression:
    """Projections given values: what these explain, and the variance that is left.

    Of a target that explains more than there is (rounding), the loadings shrink.
    """

    def __init__(self, block: np.ndarray, cross: np.ndarray, variance: np.ndarray) -> None:
        w, vectors = np.linalg.eigh(block)
        kept = w > 1e-11 * max(w[-1], 1e-300)
        self.root = vectors[:, kept] * np.sqrt(w[kept])
        loadings = cross @ (vectors[:, kept] / np.sqrt(w[kept]))
        explained = np.sum(loadings**2, axis=1)
        shrink = np.minimum(1.0, variance / np.maximum(explained, 1e-300))
        self.loadings = loadings * np.sqrt(shrink)[:, None]
        self.left = np.maximum(variance - explained * shrink, 0.0)


def _value_draws(
    mean: np.ndarray, variance: np.ndarray, means: np.ndarray, block: np.ndarray, cross: np.ndarray
) -> Draws:
    """Joint draws of values; and of each projection what says the same of a probit once the rest is integrated out:

    Phi(a / sqrt(1 + rest)),    a = E(s | values),    rest = Var(s | values).
    """

    def drawn(n: int, generator: np.random.Generator) -> list[np.ndarray]:
        given = _Regression(block, cross, variance)
        latent = generator.standard_normal((n, given.root.shape[1]))
        return [(mean + latent @ given.loadings.T) / np.sqrt(1.0 + given.left), means + latent @ given.root.T]

    return drawn


def _about_the_best(belief: Predictive, means: np.ndarray, sign: float) -> Predictive:
    """The same outcomes; what is to be learnt is which move is best: draws of their values, grouped by the largest."""
    covariance, cross = belief.target_variance, belief.target_covariance
    regression = _Regression(covariance, cross, belief.variance)
    latent = np.random.default_rng(belief.seed).standard_normal((N_DRAWS // 2, regression.root.shape[1]))
    latent = np.vstack([latent, -latent])
    best = np.argmax(sign * (means + latent @ regression.root.T), axis=1)
    spread = np.sqrt(1.0 + regression.left)
    groups = np.unique(best)
    shares = np.array([np.mean(best == g) for g in groups])
    won = np.zeros((len(belief), len(groups)))
    for start in range(0, len(belief), 256):
        part = slice(start, start + 256)
        p = ndtr((belief.mean[part, None] + regression.loadings[part] @ latent.T) / spread[part, None])
        for k, g in enumerate(groups):
            won[part, k] = p[:, best == g].mean(axis=1)
    overall = won @ shares

    def given(i: int, outcome: float | None = None) -> Predictive:
        if outcome is None:
            raise about._unknown(i)
        after = belief.given(i, outcome)
        moved = (after.mean[i] - belief.mean[i]) / max(belief.variance[i], 1e-300)
        return _about_the_best(after, means + cross[i] * moved, sign)

    about = StatedPredictive(
        outcomes=belief.outcomes, probabilities=lambda: belief.probabilities, mean=belief.mean,
        variance=belief.variance, likelihood=belief.likelihood, covariance=belief.covariance,
        outcome_entropy=entr(overall) + entr(1.0 - overall),
        expected_entropy=(entr(won) + entr(1.0 - won)) @ shares, draws=belief.draws, given=given,
        random_state=belief.seed,
    )  # fmt: skip
    return about


def boundary(tree: Tree, most: int) -> list[Path]:
    """Return at most ``most`` unvisited children of visited nodes, the weightiest for the root's value first.

    A node that cannot matter to first order (its weight is 0) stands last, but is there: a search that asks the
    boundary sees every end.
    """
    if tree.exhausted:
        return []
    nodes = tree.nodes
    if not nodes["visits"][0]:
        return [()]
    joint = Joint(tree, [])
    tree, weight = joint.tree, joint.with_value_of(0)[1]
    visited = nodes["visits"] > 0
    found: list[tuple[float, int, int]] = []  # minus the weight, node or its parent, position among the children
    fresh = np.flatnonzero(~visited & (nodes["parent"] >= 0) & visited[nodes["parent"]])
    leaves = np.flatnonzero(visited & (nodes["count"] == 0) & (nodes["closed"] == 0))
    found = [(-float(weight[i]), int(i), -1) for i in fresh]
    for i in _weightiest(leaves, weight, most):
        moves = tree.moves(int(i))
        found += [(-float(weight[i]) / len(moves), int(i), k) for k in range(len(moves))]
    found.sort()
    paths = []
    for _, i, k in found[:most]:
        paths.append(tree.path_of(i) if k < 0 else (*tree.path_of(i), tree.moves(i)[k]))
    return paths


def _weightiest(leaves: np.ndarray, weight: np.ndarray, most: int) -> np.ndarray:
    return leaves[np.argsort(-weight[leaves], kind="stable")][:most]


def best_move_probabilities(joint: Joint) -> np.ndarray:
    """Return the (b,) probabilities that a move of the root is the best, which sum to one; in the order of the tree.

    Given the root's score the values of its moves are independent, so that

        P(c best) = E_g int N(v | m_c(g), s_c^2) prod_{d != c} Phi((v - m_d(g)) / s_d) dv,

    by Gauss-Hermite quadrature in g and in v. What is proved is certain: a lost move is not best beside a won one.
    Beside one of which nothing is proved it may be, for that may lose by more.
    """
    tree, at = joint.tree, joint.moves()
    side = 1.0 - 2.0 * int(tree.nodes[0]["mover"])
    m, covariance = joint.of_moves()
    m = side * m
    variance = covariance.diagonal()
    signs = side * tree.nodes["sign"][at]
    allowed = np.ones(len(at), dtype=bool)
    if np.any(signs > 0):
        allowed = signs >= 0
    if np.all(variance <= 0):
        best = (m == m.max()) & allowed
        return best / best.sum()
    shared = np.sqrt(joint.variance[0])
    loading = np.array([joint.with_value_of(int(c))[0][0] for c in at]) * side / shared
    own = np.sqrt(np.maximum(variance - loading**2, 1e-18 * variance.max()))
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES_OF_SCORES)
    weights = weights / weights.sum()
    total = np.zeros(len(at))
    for z, weight in zip(nodes, weights, strict=True):
        centre = m + loading * z
        v = centre[:, None] + own[:, None] * nodes  # (b, q)
        below = log_ndtr((v[:, :, None] - centre) / own)  # (b, q, b)
        every = below.sum(axis=2) - np.einsum("cqc->cq", below)
        total += weight * (np.exp(every) @ weights)
    total = np.where(allowed, total, 0.0)
    return total / total.sum()


def proved_lost(joint: Joint) -> np.ndarray:
    """Return (b,) which moves are proved to lose, or none where all of them are."""
    tree, at = joint.tree, joint.moves()
    lost = tree.nodes["sign"][at] * (1 - 2 * int(tree.nodes["mover"][0])) < 0
    return lost & ~lost.all()
