"""One descent: down by a policy, a roll-out, and up again with what it taught.

On the way down the belief about each node's score from all that is not below it is kept (``down``); the roll-out leaves
it as it is, so that on the way up the beliefs of the whole path are exact again. Nodes off the path keep theirs given
their parents' scores.
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
    gather,
    message_to_parent,
    own_rule,
    site,
)

if TYPE_CHECKING:
    from adaptive.estimators.game_trees.nodes import Rules

__all__ = ["add_rollout", "climb", "descend", "expand", "search_ends", "walk_down"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@njit(cache=True)
def _start(seed: int, count: int, stream: np.ndarray) -> None:
    """Random numbers of descent ``count``, the same whatever ran before in this process."""
    stream[0] = np.uint64(seed) + np.uint64(count) * _FIRST
    _uniform(stream)
    stream[0] ^= stream[0] >> np.uint64(29)


@njit(cache=True)
def _uniform(stream: np.ndarray) -> float:
    """splitmix64, in (0, 1)."""
    stream[0] += _GOLDEN
    z = stream[0]
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    z = z ^ (z >> np.uint64(31))
    return (float(z >> np.uint64(11)) + 0.5) / 9007199254740992.0


@njit(cache=True)
def _normal(stream: np.ndarray) -> float:
    return math.sqrt(-2.0 * math.log(_uniform(stream))) * math.cos(2.0 * math.pi * _uniform(stream))


@njit(cache=True)
def expand(nodes: np.ndarray, n: int, i: int, count: int, rules: Rules, table: np.ndarray, alternate: bool) -> int:
    """Store ``count`` children of i from row n on and return the number of nodes then."""
    nodes[i].first, nodes[i].count = n, count
    mover = 1 - nodes[i].mover if alternate else nodes[i].mover
    for c in range(n, n + count):
        nodes[c].site_p = nodes[c].site_e = nodes[c].up_p = nodes[c].up_e = nodes[c].value = nodes[c].total = 0.0
        nodes[c].weight = 1.0 / count
        nodes[c].visits = nodes[c].first = nodes[c].count = 0
        nodes[c].sign = nodes[c].closed = nodes[c].ended = nodes[c].inner = 0
        nodes[c].parent, nodes[c].rollout = i, -1
        nodes[c].depth, nodes[c].mover = nodes[i].depth + 1, mover
        nodes[c].left = max(nodes[i].left - 1, 0)
        own_rule(nodes, c, rules, table)
    return n + count


@njit(cache=True)
def step_down(nodes: np.ndarray, c: int, k: int, down: np.ndarray, rules: Rules) -> None:
    """Set the belief down[k] about the score of c, from that of its parent, down[k - 1]."""
    parent = nodes[nodes[c].parent]
    drift = rules.drift[parent.mover]
    p, e = message_to_parent(nodes[c].up_p, nodes[c].up_e, rules.step, drift)
    precision = 1.0 / down[k - 1, 1] + max(parent.up_p - p, 0.0)  # rounding: it cannot be negative
    down[k, 0] = (down[k - 1, 0] / down[k - 1, 1] + (parent.up_e - e)) / precision + drift
    down[k, 1] = 1.0 / precision + rules.step


@njit(cache=True)
def walk_down(nodes: np.ndarray, path: np.ndarray, down: np.ndarray, rules: Rules) -> None:
    """Fill down along a path of stored nodes."""
    down[0, 0], down[0, 1] = rules.root_mean, rules.root_variance
    for k in range(1, len(path)):
        step_down(nodes, path[k], k, down, rules)


@njit(cache=True)
def _choose(nodes: np.ndarray, i: int, mean: float, variance: float, rules: Rules, stream: np.ndarray) -> int:
    """The child that the policy takes, of those that are not closed."""
    node = nodes[i]
    sign = 1.0 if node.mover == 0 else -1.0
    drift = rules.drift[node.mover]
    best, top = -1, -math.inf
    deviations = math.sqrt(2.0 * math.log(max(node.visits, 1))) if rules.policy == 1 else rules.deviations
    for c in range(node.first, node.first + node.count):
        if nodes[c].closed == 1:
            continue
        if rules.policy == 3:
            score = _uniform(stream)
        elif rules.policy == 4:
            seen = nodes[c].visits
            score = 1e300 if seen == 0 else sign * nodes[c].total / seen + math.sqrt(2.0 * math.log(node.visits) / seen)
        else:
            gm, gv, _ = child_score(mean, variance, nodes[c].up_p, nodes[c].up_e, rules.step, drift)
            vm, vv, _ = child_value(nodes, c, gm, gv)
            score = sign * vm + math.sqrt(vv) * (_normal(stream) if rules.policy == 2 else deviations)
        if best < 0 or score > top:
            best, top = c, score
    return best


@njit(cache=True)
def descend(
    nodes: np.ndarray, rules: Rules, seed: int, count: int, path: np.ndarray, down: np.ndarray, stream: np.ndarray
) -> int:
    """Fill path and down from the root to an unvisited node, or to one that must be expanded; return its depth."""
    _start(seed, count, stream)
    path[0], k = 0, 0
    down[0, 0], down[0, 1] = rules.root_mean, rules.root_variance
    while nodes[path[k]].visits > 0 and nodes[path[k]].count > 0:
        i = path[k]
        variance = 1.0 / (1.0 / down[k, 1] + nodes[i].up_p)
        mean = variance * (down[k, 0] / down[k, 1] + nodes[i].up_e)
        path[k + 1] = _choose(nodes, i, mean, variance, rules, stream)
        k += 1
        step_down(nodes, path[k], k, down, rules)
    return k


@njit(cache=True)
def add_rollout(
    nodes: np.ndarray, rollouts: np.ndarray, r: int, i: int, result: float, length: int, k: int, down: np.ndarray,
    rules: Rules,
) -> None:  # fmt: skip
    """Note roll-out r of node i, which is at depth k of the path, and its site."""
    rollouts[r].node, rollouts[r].result, rollouts[r].length = i, result, length
    rollouts[r].before, rollouts[r].counts = nodes[i].rollout, 1
    nodes[i].rollout = r
    rollouts[r].p = rollouts[r].e = 0.0
    if nodes[i].inner == 1:
        rollouts[r].counts = 0
        return
    variance = 1.0 / (1.0 / down[k, 1] + nodes[i].up_p)
    mean = variance * (down[k, 0] / down[k, 1] + nodes[i].up_e)
    _log_normaliser, p, e = site(result, length, mean, variance, rules)
    rollouts[r].p, rollouts[r].e = p, e
    nodes[i].site_p += p
    nodes[i].site_e += e


@njit(cache=True)
def climb(
    nodes: np.ndarray, rollouts: np.ndarray, path: np.ndarray, k: int, down: np.ndarray, rules: Rules,
    table: np.ndarray, result: float, seen: int,
) -> None:  # fmt: skip
    """Go up from path[k], after a roll-out there, and settle what is believed about every node on the way."""
    for j in range(k, -1, -1):
        i = path[j]
        if j < k and nodes[i].inner == 0:
            nodes[i].inner = 1
            nodes[i].site_p = nodes[i].site_e = 0.0  # its own roll-out went through one of its children
            r = nodes[i].rollout
            while r >= 0:
                rollouts[r].counts = 0
                rollouts[r].p = rollouts[r].e = 0.0
                r = rollouts[r].before
        nodes[i].visits += seen
        nodes[i].total += result * seen
        gather(nodes, i, rules)
        if nodes[i].inner == 0:
            own_rule(nodes, i, rules, table)
        else:
            variance = 1.0 / (1.0 / down[j, 1] + nodes[i].up_p)
            combine(nodes, i, variance * (down[j, 0] / down[j, 1] + nodes[i].up_e), variance, rules)


@njit(cache=True)
def end_here(nodes: np.ndarray, i: int, result: float, rules: Rules) -> None:
    """Node i is an end, and its result was seen."""
    nodes[i].ended = nodes[i].closed = 1
    if rules.values:
        nodes[i].value = result
    else:
        nodes[i].sign = 1 if result > 0 else -1


@njit(cache=True)
def search_ends(
    nodes: np.ndarray, n: int, rollouts: np.ndarray, k: int, wanted: int, ends: np.ndarray, branching: int, depth: int,
    rules: Rules, table: np.ndarray, alternate: bool, seed: int,
) -> tuple[int, int]:  # fmt: skip
    """Run ``wanted`` descents where all ends are in an array, by uniform roll-outs; return (nodes, roll-outs) then.

    Stops early where every end was seen, or there is no room for more nodes.
    """
    path, down = np.zeros(depth + 2, dtype=np.int64), np.empty((depth + 2, 2))
    stream = np.zeros(1, dtype=np.uint64)
    for _ in range(wanted):
        if nodes[0].closed == 1 or n + branching > len(nodes):
            break
        at = descend(nodes, rules, seed, k, path, down, stream)
        if nodes[path[at]].visits > 0:
            n = expand(nodes, n, path[at], branching, rules, table, alternate)
            variance = 1.0 / (1.0 / down[at, 1] + nodes[path[at]].up_p)
            mean = variance * (down[at, 0] / down[at, 1] + nodes[path[at]].up_e)
            path[at + 1] = _choose(nodes, path[at], mean, variance, rules, stream)
            at += 1
            step_down(nodes, path[at], at, down, rules)
        start, width = 0, 1
        for j in range(1, at + 1):
            start = start * branching + (path[j] - nodes[path[j - 1]].first)
        for _level in range(depth - at):
            start *= branching
            width *= branching
        value = ends[start + int(_uniform(stream) * width)]
        result = value if rules.values else (1.0 if value > 0 else -1.0)
        i = path[at]
        if at == depth:
            end_here(nodes, i, result, rules)
        add_rollout(nodes, rollouts, k, i, result, depth - at, at, down, rules)
        climb(nodes, rollouts, path, at, down, rules, table, result, 1)
        k += 1
    return n, k
