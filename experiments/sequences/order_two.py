"""Synthetic users: the group of the next item is a private permutation of the group two back, nine times in ten.

Thirty items in six groups of five, which all users share; within a group items are equally probable. Pairs of items
that follow each other tell nothing of it: they are uniform.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["FLOOR", "N_ITEMS", "Population"]

N_GROUPS, SIZE, SURE = 6, 5, 0.9
N_ITEMS = N_GROUPS * SIZE
_RIGHT, _WRONG = SURE + (1 - SURE) / N_GROUPS, (1 - SURE) / N_GROUPS
#: Nats per event of somebody who knows every permutation.
FLOOR = float(-_RIGHT * np.log(_RIGHT) - (N_GROUPS - 1) * _WRONG * np.log(_WRONG) + np.log(SIZE))


class Population:
    """Users with permutations of their own.

    Attributes
    ----------
    group : (30,) array
        Of each item.
    own : (n_users, 6) array
        Whose group follows which, two events later.
    """

    def __init__(self, n_users: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.group = self.rng.permutation(N_ITEMS) % N_GROUPS
        self.own = np.stack([self.rng.permutation(N_GROUPS) for _ in range(n_users)])

    def history(self, user: int, n: int) -> np.ndarray:
        """Return n items."""
        groups = self.rng.integers(0, N_GROUPS, n)
        follows, within = self.rng.random(n) < SURE, self.rng.integers(0, SIZE, n)
        for t in range(2, n):
            if follows[t]:
                groups[t] = self.own[user, groups[t - 2]]
        return np.argsort(self.group, kind="stable")[SIZE * groups + within]

    def histories(self, lengths: Sequence[int]) -> list[np.ndarray]:
        """Return one of each user."""
        return [self.history(user, n) for user, n in enumerate(lengths)]

    def chances(self, user: int, history: np.ndarray) -> np.ndarray:
        """Return the probabilities (30,) of what follows a history of two items or more."""
        by_group = np.full(N_GROUPS, _WRONG)
        by_group[self.own[user, self.group[history[-2]]]] = _RIGHT
        return by_group[self.group] / SIZE
