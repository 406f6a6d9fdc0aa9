"""Beliefs about one node from those about its children, and what a roll-out says of the node it started from.

With a message of precision p from child c, its score given the parent's has slope s = 1/(1 + step p); so values of
siblings have  Cov(v_k, v_l) = h_k h_l Var(g),  h_k = slope_k s_k, and the chain of maxima needs one number h per child.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from numba import njit

from adaptive.potentials.gaussian_maximum import larger
from adaptive.potentials.truncated_gaussian import positive_part

if TYPE_CHECKING:
    import numpy as np

    from adaptive.estimators.game_trees.nodes import Rules

__all__ = ["child_score", "child_value", "combine", "cut", "gather", "message_to_parent", "own_rule", "site"]

EXACT = 1e-8  # variance of a number that is seen without noise, in steps


@njit(cache=True)
def site(result: float, length: int, mean: float, variance: float, rules: Rules) -> tuple[float, float, float]:
    """Return log normaliser and the site (p, e) of a roll-out where the score's cavity is N(mean, variance)."""
    noise = length * rules.step
    if rules.values:
        noise = max(noise, EXACT * rules.step)
        total = variance + noise
        away = result - mean
        return -0.5 * (math.log(2 * math.pi * total) + away * away / total), 1.0 / noise, result / noise
    total = variance + noise
    root = math.sqrt(total)
    z = result * mean / root
    log_mass, delta, relative = positive_part(z)
    if z < 0.0:
        log_mass -= 0.5 * z * z
        ratio = delta - z
    else:
        ratio = math.exp(-0.5 * z * z - log_mass) / math.sqrt(2 * math.pi)
    left = noise + variance * relative
    return log_mass, (1.0 - relative) / left, ((1.0 - relative) * mean + result * ratio * root) / left


@njit(cache=True)
def message_to_parent(p: float, e: float, step: float, drift: float) -> tuple[float, float]:
    """Return the child's message (p, e) as it reaches its parent's score."""
    s = 1.0 / (1.0 + step * p)
    return p * s, (e - p * drift) * s


@njit(cache=True)
def child_score(
    mean: float, variance: float, p: float, e: float, step: float, drift: float
) -> tuple[float, float, float]:
    """Return moments of a child's score, the parent's being N(mean, variance), and its slope in the parent's."""
    s = 1.0 / (1.0 + step * p)
    return s * (mean + drift) + step * s * e, s * s * variance + step * s, s


@njit(cache=True)
def cut(sign: int, mean: float, variance: float) -> tuple[float, float, float]:
    """Return moments of N(mean, variance) on the side ``sign`` of zero, and the share of the variance that is left."""
    if variance <= 0.0:
        return mean, variance, 1.0
    sd = math.sqrt(variance)
    _log_mass, delta, relative = positive_part(sign * mean / sd)
    return sign * sd * delta, variance * relative, relative


@njit(cache=True)
def uncut_value(nodes: np.ndarray, i: int, mean: float, variance: float) -> tuple[float, float, float]:
    """Return moments of the optimal value of i, whose score is N(mean, variance), and its slope, proofs apart."""
    slope = nodes[i].slope
    v = slope * slope * variance + nodes[i].residual
    return slope * mean + nodes[i].offset, max(v, 1e-12 * variance), slope


@njit(cache=True)
def child_value(nodes: np.ndarray, i: int, mean: float, variance: float) -> tuple[float, float, float]:
    """Return moments of the optimal value of i, whose score is N(mean, variance), and its slope in the score."""
    node = nodes[i]
    if node.closed == 1 and node.sign == 0:  # a number, known
        return node.value, 0.0, 0.0
    m, v, slope = uncut_value(nodes, i, mean, variance)
    if node.sign == 0 or node.ended == 1:  # the score of an end is cut by its own roll-out
        return m, v, slope
    m, v, relative = cut(node.sign, m, v)
    return m, v, slope * relative


@njit(cache=True)
def gather(nodes: np.ndarray, i: int, rules: Rules) -> None:
    """Add up what roll-outs at i and below say of its score."""
    node = nodes[i]
    p, e, drift = node.site_p, node.site_e, rules.drift[node.mover]
    for c in range(node.first, node.first + node.count):
        if nodes[c].up_p > 0.0:
            more_p, more_e = message_to_parent(nodes[c].up_p, nodes[c].up_e, rules.step, drift)
            p += more_p
            e += more_e
    nodes[i].up_p, nodes[i].up_e = p, e


@njit(cache=True)
def own_rule(nodes: np.ndarray, i: int, rules: Rules, table: np.ndarray) -> None:
    """The optimal value of a node with no visited child: its score and the increment of a tree that nobody has seen."""
    left = 0 if nodes[i].ended == 1 else nodes[i].left
    nodes[i].slope = 1.0
    nodes[i].offset = math.sqrt(rules.step) * table[nodes[i].mover, left, 0]
    nodes[i].residual = rules.step * table[nodes[i].mover, left, 1]


@njit(cache=True)
def prove(nodes: np.ndarray, i: int, rules: Rules) -> bool:
    """Note what is proved at i by what is proved of its children; return whether its sign is."""
    node = nodes[i]
    side = 1 if node.mover == 0 else -1
    closed, won, lost, best = True, False, True, -math.inf
    for c in range(node.first, node.first + node.count):
        won = won or nodes[c].sign * side > 0
        lost = lost and nodes[c].sign * side < 0
        if nodes[c].closed == 1:
            best = max(best, side * nodes[c].value)
        else:
            closed = False
    nodes[i].closed = 1 if closed else 0
    if rules.values:
        if closed:
            nodes[i].value = side * best
    elif won:
        nodes[i].sign = side
    elif lost:
        nodes[i].sign = -side
    return nodes[i].sign != 0


@njit(cache=True)
def combine(nodes: np.ndarray, i: int, mean: float, variance: float, rules: Rules) -> None:
    """Set value, weights of children and what is proved at i, whose score is N(mean, variance)."""
    node = nodes[i]
    sign = 1.0 if node.mover == 0 else -1.0
    drift = rules.drift[node.mover]
    first, last = node.first, node.first + node.count
    m, v, h = 0.0, 0.0, 0.0
    proved = prove(nodes, i, rules)
    for c in range(first, last):
        gm, gv, s = child_score(mean, variance, nodes[c].up_p, nodes[c].up_e, rules.step, drift)
        vm, vv, vh = uncut_value(nodes, c, gm, gv) if proved else child_value(nodes, c, gm, gv)
        vm *= sign
        vh *= s
        if not rules.coherent:
            vh = 1.0
        if c == first:
            m, v, h = vm, vv, vh
            nodes[c].weight = 1.0
        else:
            shared = h * vh * variance
            if not rules.coherent:
                shared = min(variance, 0.9999 * math.sqrt(v * vv))
            m, v, keep = larger(m, v, vm, vv, shared)
            h = keep * h + (1.0 - keep) * vh
            nodes[c].weight = keep
    product = 1.0
    for c in range(last - 1, first, -1):
        keep = nodes[c].weight
        nodes[c].weight = product * (1.0 - keep)
        product *= keep
    nodes[first].weight = product
    m *= sign
    nodes[i].slope = h
    nodes[i].offset = m - h * mean
    nodes[i].residual = v - h * h * variance
    if rules.coherent:
        nodes[i].residual = max(nodes[i].residual, 0.0)
