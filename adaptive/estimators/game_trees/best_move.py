"""Which of the root's moves is the best, with what probability.

Given the root's score the values of its moves are independent, so that

    P(c best) = E_g int N(v | m_c(g), s_c^2) prod_{d != c} Phi((v - m_d(g)) / s_d) dv,

by Gauss-Hermite quadrature in g and in v. What is proved is certain: a lost move is not best beside a won one. Beside
one of which nothing is proved it may be, for that may lose by more.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from adaptive.estimators.game_trees.predictive import Joint

__all__ = ["best_move_probabilities", "proved_lost"]

N_NODES = 32


def best_move_probabilities(joint: Joint) -> np.ndarray:
    """Return the (b,) probabilities, which sum to one; the moves in the order of the tree."""
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
    nodes, weights = np.polynomial.hermite_e.hermegauss(N_NODES)
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
