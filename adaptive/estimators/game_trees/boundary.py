"""Where the next roll-out may start: unvisited children of visited nodes, by their weight in the root's value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators.game_trees.predictive import Joint

if TYPE_CHECKING:
    from adaptive.estimators.game_trees.tree import Tree

__all__ = ["boundary"]


def boundary(tree: Tree, most: int) -> list[tuple[Any, ...]]:
    """Return at most ``most`` paths, the weightiest first, ties by position.

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
