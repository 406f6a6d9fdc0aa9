"""Preferences of people among pairs."""

from __future__ import annotations

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from adaptive import BradleyTerry, CollaborativePreference
from tests.contract.case import Case

MET = [(u, i, j) for u in (1, 2) for i, j in ((0, 1), (2, 3), (3, 0), (1, 2), (0, 2))]  # two people, four items
MEETINGS = [(u, i, j) for u in (1, 2) for i, j in ((0, 3), (1, 3), (2, 1), (0, 2), (3, 2), (0, 1))]


def won(rows):
    """The first person likes later items, the other earlier ones; some surprises."""
    return np.array([1.0 if ((row[-2] > row[-1]) == (row[0] == 1)) != (sum(row) % 5 == 0) else -1.0 for row in rows])


def preference():
    items = np.arange(4.0)[:, None]
    return CollaborativePreference(1, 1.0 * RBF(1.0), max_iter=3, tol=1.0, item_features=items, random_state=0)


def one_person():
    return preference().fit(MET, won(MET)).user(1)


def ranking():
    return BradleyTerry(range(4), judges=True)


def judged(rows):
    """Later items win, with some surprises and ties."""
    return np.array([0.0 if sum(row[:2]) % 4 == 3 else -1.0 if row[0] < row[1] else 1.0 for row in rows])


JUDGED = [(i, j, f"judge {(i + j) % 2}") for i in range(4) for j in range(4) if i != j]

CASES = [
    Case(
        "BradleyTerry", ranking, JUDGED, (JUDGED[::2], judged(JUDGED[::2])), judged,
        target=[(0, 3, "judge 0"), (2, 1, "judge 1")], given="direction", own_draws=True,
    ),
    Case(
        "CollaborativePreference", preference, MEETINGS, (MET, won(MET)), won, target=[(1, 0, 3), (2, 1, 2)],
        given="direction",
    ),
    Case(
        "CollaborativePreference's person", one_person, [row[1:] for row in MEETINGS], ([(1, 3)], np.array([-1.0])),
        lambda rows: won([(1, *row) for row in rows]), target=[(0, 3), (1, 2)], given="direction",
    ),
]  # fmt: skip
