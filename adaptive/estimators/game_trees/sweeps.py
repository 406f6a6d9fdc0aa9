"""Passes over the whole stored tree: marginals, expectation propagation to a fixed point, evidence, covariances.

Children stand behind their parents, so that one loop forwards goes down and one backwards goes up.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from adaptive.estimators.game_trees.messages import (
    child_score,
    child_value,
    combine,
    cut,
    message_to_parent,
    own_rule,
    site,
)

if TYPE_CHECKING:
    from adaptive.estimators.game_trees.nodes import Rules

__all__ = ["log_evidence", "score_covariances", "scores", "settle", "sweep", "value_covariances", "values"]


@njit(cache=True)
def _rise(nodes: np.ndarray, rules: Rules) -> None:
    for i in range(len(nodes)):
        nodes[i].up_p, nodes[i].up_e = nodes[i].site_p, nodes[i].site_e
    for i in range(len(nodes) - 1, 0, -1):
        if nodes[i].up_p > 0.0:
            parent = nodes[i].parent
            p, e = message_to_parent(nodes[i].up_p, nodes[i].up_e, rules.step, rules.drift[nodes[parent].mover])
            nodes[parent].up_p += p
            nodes[parent].up_e += e


@njit(cache=True)
def scores(nodes: np.ndarray, rules: Rules) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means and variances of all scores, and their slopes in their parents'."""
    mean, variance, slope = np.empty(len(nodes)), np.empty(len(nodes)), np.ones(len(nodes))
    variance[0] = 1.0 / (1.0 / rules.root_variance + nodes[0].up_p)
    mean[0] = variance[0] * (rules.root_mean / rules.root_variance + nodes[0].up_e)
    for i in range(1, len(nodes)):
        j = nodes[i].parent
        mean[i], variance[i], slope[i] = child_score(
            mean[j], variance[j], nodes[i].up_p, nodes[i].up_e, rules.step, rules.drift[nodes[j].mover]
        )
    return mean, variance, slope


@njit(cache=True)
def settle(nodes: np.ndarray, rules: Rules, table: np.ndarray) -> None:
    """Make every optimal value follow from the scores as they are now."""
    mean, variance, _ = scores(nodes, rules)
    for i in range(len(nodes) - 1, -1, -1):
        if nodes[i].inner == 1:
            combine(nodes, i, mean[i], variance[i], rules)
        else:
            own_rule(nodes, i, rules, table)


@njit(cache=True)
def sweep(nodes: np.ndarray, rollouts: np.ndarray, rules: Rules, share: float) -> float:
    """Move all sites by ``share`` towards what their cavities say; return the largest change, relative above 1."""
    _rise(nodes, rules)
    mean, variance, _ = scores(nodes, rules)
    change = 0.0
    for r in range(len(rollouts)):
        if rollouts[r].counts == 0:
            continue
        i, p, e = rollouts[r].node, rollouts[r].p, rollouts[r].e
        precision = 1.0 / variance[i] - p
        if precision <= 0.0:
            continue  # tried again in the next sweep
        cavity = 1.0 / precision
        centre = cavity * (mean[i] / variance[i] - e)
        _log_normaliser, new_p, new_e = site(rollouts[r].result, rollouts[r].length, centre, cavity, rules)
        p += share * (new_p - p)
        e += share * (new_e - e)
        change = max(change, abs(p - rollouts[r].p) / (1.0 + abs(p)), abs(e - rollouts[r].e) / (1.0 + abs(e)))
        rollouts[r].p, rollouts[r].e = p, e
        variance[i] = 1.0 / (precision + p)
        mean[i] = variance[i] * (centre * precision + e)
    for i in range(len(nodes)):
        nodes[i].site_p = nodes[i].site_e = 0.0
    for r in range(len(rollouts)):
        nodes[rollouts[r].node].site_p += rollouts[r].p
        nodes[rollouts[r].node].site_e += rollouts[r].e
    _rise(nodes, rules)
    return change


@njit(cache=True)
def _log_integral(p: float, e: float, mean: float, variance: float) -> float:
    """log of the integral of N(x; mean, variance) exp(e x - p x^2 / 2)."""
    left = 1.0 + p * variance
    return -0.5 * math.log(left) + 0.5 * (e * e * variance + 2.0 * e * mean - p * mean * mean) / left


@njit(cache=True)
def log_evidence(nodes: np.ndarray, rollouts: np.ndarray, rules: Rules) -> float:
    """Return the log evidence of the roll-outs that count, by the sites as they are."""
    mean, variance, _ = scores(nodes, rules)
    total = _log_integral(nodes[0].up_p, nodes[0].up_e, rules.root_mean, rules.root_variance)
    for i in range(1, len(nodes)):
        total += _log_integral(nodes[i].up_p, nodes[i].up_e, rules.drift[nodes[nodes[i].parent].mover], rules.step)
    for r in range(len(rollouts)):
        if rollouts[r].counts == 0:
            continue
        i, p, e = rollouts[r].node, rollouts[r].p, rollouts[r].e
        cavity = 1.0 / (1.0 / variance[i] - p)
        centre = cavity * (mean[i] / variance[i] - e)
        log_normaliser, _p, _e = site(rollouts[r].result, rollouts[r].length, centre, cavity, rules)
        total += log_normaliser - _log_integral(p, e, centre, cavity)
    return total


@njit(cache=True)
def values(nodes: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and variances of all optimal values, given those of the scores."""
    m, v = np.empty(len(nodes)), np.empty(len(nodes))
    for i in range(len(nodes)):
        m[i], v[i], _ = child_value(nodes, i, mean[i], variance[i])
    return m, v


@njit(cache=True)
def _kept(nodes: np.ndarray, i: int, mean: float, variance: float) -> float:
    """The share of a value's dependence on what is below that is left by what is proved."""
    if nodes[i].closed == 1 and nodes[i].sign == 0:
        return 0.0
    if nodes[i].sign == 0 or nodes[i].ended == 1:
        return 1.0
    v = nodes[i].slope * nodes[i].slope * variance + nodes[i].residual
    return cut(nodes[i].sign, nodes[i].slope * mean + nodes[i].offset, max(v, 1e-12 * variance))[2]


@njit(cache=True)
def value_covariances(
    nodes: np.ndarray, start: int, mean: np.ndarray, variance: np.ndarray, slope: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return covariances of all scores with the value of ``start``, the root or a child of it, and weights in it.

    To first order v_start = sum of w v over the nodes below, w the product of the weights on the way. A child's score
    is  slope g_parent + own,  and its own part enters v_start through the child's value alone:

        Cov(g_c, v_start) = slope_c Cov(g_parent, v_start) + w_c A_c Var(own_c).
    """
    cross, reach = np.empty(len(nodes)), np.zeros(len(nodes))
    reach[start] = _kept(nodes, start, mean[start], variance[start])
    to_root = 1.0 if start == 0 else slope[start]
    cross[0] = reach[start] * nodes[start].slope * to_root * variance[0]
    for i in range(1, len(nodes)):
        j = nodes[i].parent
        if reach[j] > 0.0 and i != start:
            reach[i] = reach[j] * nodes[i].weight
            if nodes[j].sign == 0:  # else the proof of the parent stands in for those of its children
                reach[i] *= _kept(nodes, i, mean[i], variance[i])
        own = variance[i] - slope[i] * slope[i] * variance[j]
        cross[i] = slope[i] * cross[j] + reach[i] * nodes[i].slope * own
    return cross, reach


@njit(cache=True)
def score_covariances(
    nodes: np.ndarray, left: np.ndarray, right: np.ndarray, variance: np.ndarray, slope: np.ndarray
) -> np.ndarray:
    """Return the (len left, len right) covariances of scores: through the last node that both paths share."""
    out = np.empty((len(left), len(right)))
    for a in range(len(left)):
        for b in range(len(right)):
            i, j, product = left[a], right[b], 1.0
            while i != j:
                if i > j:  # parents stand before their children
                    product *= slope[i]
                    i = nodes[i].parent
                else:
                    product *= slope[j]
                    j = nodes[j].parent
            out[a, b] = product * variance[i]
    return out
