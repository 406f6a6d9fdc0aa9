"""What users take next."""

from __future__ import annotations

import numpy as np

from adaptive import CollaborativeRNN
from tests.contract.case import Case

ROUNDS = [(u, (u + step * (1 if u % 2 else 3)) % 4) for u in range(12) for step in range(u % 3 + 2)]


def nets(**options):
    known = {"items": range(4), "learning_rate": 0.05, "patience": 1, "max_iter": 10, "tol": 1.0, "random_state": 0}
    return lambda: CollaborativeRNN(3, **known, **options)


def taken(users):
    return np.array([(3 * user + 1) % 4 for user in users])


def next_items(name, make, **options):
    learn = tuple(np.array(ROUNDS).T)
    known = {"target": [20, 9], "given": "direction", "moves_on": True}  # after an item comes another one
    return Case(name, make, list(range(14)), learn, taken, **known, **options)


CASES = [
    next_items("CollaborativeRNN", nets(n_members=3)),
    next_items(
        "CollaborativeRNN by Laplace", nets(cell="tanh", uncertainty="laplace", n_draws=8), unrelated=[3, 8],
        own_draws=True,
    ),
]  # fmt: skip
