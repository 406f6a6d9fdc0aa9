"""Predictive of comparisons:  y = sign(f_first - f_second + noise),  jointly Gaussian within a person.

Two people's differences are independent, given what all have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.estimators.preferences.utilities import Utilities
from adaptive.predictive import GaussianProjections, GaussianTarget, WeightedDraws

if TYPE_CHECKING:
    from adaptive.potentials import BernoulliLogit, BernoulliProbit
    from adaptive.types import Id, RandomState

__all__ = ["Differences", "about_all", "about_the_best"]

N_DRAWS = 1024  # of a person's utilities, to tell which item is best


@dataclass(frozen=True, eq=False)
class Differences:
    """Differences of utilities, f_first - f_second.

    Attributes
    ----------
    people : list of Utilities
    who, first, second : (m,) arrays
        Whose, and of which items.
    new : sequence of ids
        The last items of the prior, that were never seen.
    """

    people: Sequence[Utilities]
    who: np.ndarray
    first: np.ndarray
    second: np.ndarray
    new: Sequence[Id] = ()

    def __len__(self) -> int:
        return len(self.who)

    @cached_property
    def _tables(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Items at hand of every person, their means and covariance."""
        found = []
        for k, person in enumerate(self.people):
            own = self.who == k
            items = np.unique(np.concatenate([self.first[own], self.second[own]]))
            found.append((items, *person.moments(items)))
        return found

    @cached_property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance (m,)."""
        mean, variance = np.zeros(len(self)), np.zeros(len(self))
        for k, (items, centre, covariance) in enumerate(self._tables):
            own = self.who == k
            a, b = np.searchsorted(items, self.first[own]), np.searchsorted(items, self.second[own])
            spread = np.diag(covariance)
            mean[own] = centre[a] - centre[b]
            variance[own] = spread[a] + spread[b] - 2.0 * covariance[a, b]
        return mean, np.maximum(variance, 0.0)

    def covariance(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return the covariance (len i, len j) of differences i and j."""
        out = np.zeros((len(i), len(j)))
        for k in np.intersect1d(self.who[i], self.who[j]).tolist():
            items, _, covariance = self._tables[k]
            rows, columns = np.flatnonzero(self.who[i] == k), np.flatnonzero(self.who[j] == k)
            (a, b), (c, d) = (
                (np.searchsorted(items, self.first[at]), np.searchsorted(items, self.second[at]))
                for at in (i[rows], j[columns])
            )
            apart = covariance[a] - covariance[b]
            out[np.ix_(rows, columns)] = apart[:, c] - apart[:, d]
        return out

    def drawn(self, n: int, seed: int) -> np.ndarray:
        """Return (n, m) joint draws; a person's are the same whoever and whatever stands beside them."""
        out = np.empty((n, len(self)))
        for k, person in enumerate(self.people):
            own = self.who == k
            utilities = person.draws(n, seed, self.new)
            out[:, own] = utilities[:, self.first[own]] - utilities[:, self.second[own]]
        return out


def about_all(
    both: Differences,
    m: int,
    likelihood: BernoulliProbit | BernoulliLogit,
    *,
    random_state: RandomState = None,
) -> GaussianProjections:
    """Predictive of the first m differences; the others, if there are any, are what is to be learnt."""
    t = len(both) - m

    def block(shift_i: int, shift_j: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        return lambda i, j: both.covariance(np.asarray(i) + shift_i, np.asarray(j) + shift_j)

    def draws(n: int, generator: np.random.Generator) -> list[np.ndarray]:
        drawn = both.drawn(n, int(generator.integers(2**62)))
        return [drawn[:, :m], drawn[:, m:]][: 2 if t else 1]

    target = None
    if t:
        target = GaussianTarget(
            mean=lambda: both.moments[0][m:], variance=lambda: both.moments[1][m:],
            covariance=block(m, m), cross=block(0, m),
        )  # fmt: skip
    return GaussianProjections(
        lambda: both.moments[0][:m], lambda: both.moments[1][:m], block(0, 0), likelihood,
        target=target, projection_draws=draws, n_candidates=m, random_state=random_state,
    )  # fmt: skip


def about_the_best(
    asked: Differences, likelihood: BernoulliProbit | BernoulliLogit, *, random_state: RandomState = None
) -> WeightedDraws:
    """The same one person's comparisons where all that matters is which item they like best: draws by their argmax."""
    if len(asked.people) != 1:
        raise ValueError(
            f'target="best" is about one person, but the candidates are comparisons by {len(asked.people)}; use '
            ".user(id)."
        )
    person = asked.people[0]
    n_known = len(person.prior) - len(asked.new)
    if not n_known:
        raise ValueError('target="best" needs items to choose from: fit first, or give item_features.')
    seed = random_state if isinstance(random_state, int) else 0
    if random_state is not None and not isinstance(random_state, int):
        seed = int(checks.generator(random_state).integers(2**62))
    utilities = person.draws(N_DRAWS, seed, asked.new)

    def table() -> np.ndarray:
        apart = utilities[:, asked.first] - utilities[:, asked.second]
        return np.exp(np.stack([likelihood.log_density(apart, y) for y in likelihood.outcomes], axis=-1))

    return WeightedDraws(
        np.full(N_DRAWS, 1.0 / N_DRAWS), table, likelihood.outcomes, target=utilities[:, :n_known].argmax(axis=1),
        n_candidates=len(asked), random_state=seed,
    )  # fmt: skip
