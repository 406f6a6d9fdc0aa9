"""Nodes of a game tree, about the root's value or its moves."""

from __future__ import annotations

import numpy as np

from adaptive import GameTreeSearch
from tests.contract.case import Case

ROLLED_OUT = [(0, 0, 0), (1, 2), (2, 1, 3), (3, 0)]
UNSEEN = [(i, j) for i in range(4) for j in range(3) if (i, j) not in ((0, 0), (1, 2), (2, 1), (3, 0))]
UNSEEN += [(2, 1, 0), (0, 0, 2), (1, 2, 0), (1, 3, 1)]


class AboutMoves(GameTreeSearch):
    """What is to be learnt are the values of the root's moves, jointly."""

    def predictive(self, candidates, *, target=None, random_state=None):
        target = "moves" if target is None else target
        return super().predictive(candidates, target=target, random_state=random_state)


def outcomes_of_nodes(nodes):
    """Signs, the same for the same node."""
    return np.array([1.0 if (7 * sum(node) + len(node)) % 3 else -1.0 for node in nodes])


def tree_case(kind):
    def make():
        return kind(branching=4, depth=4, score_variance=0.5, random_state=0)

    learn = (ROLLED_OUT, outcomes_of_nodes(ROLLED_OUT))
    target = [(0, 1, 1), (3, 3)]
    return Case(kind.__name__, make, UNSEEN, learn, outcomes_of_nodes, target=target, given="direction")


CASES = [tree_case(GameTreeSearch), tree_case(AboutMoves)]
