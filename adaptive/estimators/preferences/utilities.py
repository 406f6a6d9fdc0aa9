"""One person's utilities after comparisons:  f ~ N(b + Sigma w, Sigma - Sigma W Sigma),  W and w over items met."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.preferences.inference.people import Comparisons
from adaptive.estimators.preferences.inference.spaces import Space, space_of
from adaptive.estimators.preferences.inference.utility_prior import UtilityPrior
from adaptive.predictive.joint_gaussian import root_of

if TYPE_CHECKING:
    from adaptive.types import Id

__all__ = ["Utilities"]


@dataclass(frozen=True, eq=False)
class Utilities:
    """Belief about one person.

    Attributes
    ----------
    prior : UtilityPrior
    label : object
        The person's id: their draws are drawn by it.
    items, within, slope : (q,), (q, q), (q,) arrays
        See `adaptive.estimators.preferences.inference.spaces.Space.statistics`; empty before any answer.
    """

    prior: UtilityPrior
    label: Id
    items: np.ndarray
    within: np.ndarray
    slope: np.ndarray

    @classmethod
    def of(
        cls,
        prior: UtilityPrior,
        label: Id,
        known: Comparisons,
        pi: np.ndarray,
        nu: np.ndarray,
        space: Space | None = None,
    ) -> Utilities:
        """After comparisons (p,) with sites pi, nu; ``space``, if it is there, is at these."""
        if not len(known):
            return cls(prior, label, np.zeros(0, dtype=np.int64), np.zeros((0, 0)), np.zeros(0))
        if space is None:
            space = space_of(prior, known.first[None], known.second[None])
            space.refit(pi[None], nu[None])
        items, within, slope = space.statistics()
        return cls(prior, label, items[0], within[0], slope[0])

    def beside(self, prior: UtilityPrior) -> Utilities:
        """The same with more items in the prior."""
        return self if prior is self.prior else replace(self, prior=prior)

    def moments(self, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean (k,) and covariance (k, k) of some items' utilities."""
        cross = self.prior.block(items, self.items)
        mean = self.prior.mean[items] + cross @ self.slope
        covariance = self.prior.block(items, items) - cross @ self.within @ cross.T
        return mean, 0.5 * (covariance + covariance.T)

    def draws(self, n: int, seed: int, new: Sequence[Id] = ()) -> np.ndarray:
        """Return n joint draws of the utilities of all items, of which the last are ``new``.

        They depend on the person, on the seed and, of new items, on these; not on whoever or whatever stands beside.
        """
        n_known = len(self.prior) - len(new)
        mean, covariance = self.moments(np.arange(n_known))
        drawn = np.empty((n, len(self.prior)))
        normals = _generator(seed, self.label).standard_normal((n, n_known))
        drawn[:, :n_known] = mean + normals @ root_of(covariance).T
        for k, item in enumerate(new, start=n_known):  # like no other item, so independent of all
            deviation = np.sqrt(self.prior.block([k], [k])[0, 0])
            normals = _generator(seed, (self.label, item)).standard_normal(n)
            drawn[:, k] = self.prior.mean[k] + deviation * normals
        return drawn


def _generator(seed: int, label: Id) -> np.random.Generator:
    digest = hashlib.blake2b(repr(label).encode(), digest_size=8).digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "big")])
