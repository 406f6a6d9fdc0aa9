"""Likelihoods p(y | s) of discrete outcomes: without y the family, with y one factor per row.

A new one states `outcomes`, `log_density(s, y)` and `derivatives(s, y)`, in which ``self._outcome(y)`` is the outcome
given or held. Predictive probabilities p(y) = E p(y | s) and entropies H(y), E H(y | s) follow by quadrature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.special import entr

from adaptive import checks
from adaptive.potentials import quadrature
from adaptive.potentials.base import Potential

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number, RandomState

__all__ = ["Likelihood"]


class Likelihood(Potential):
    """Base of likelihoods with finitely many outcomes (or countably many, when the methods below are overridden).

    Parameters
    ----------
    y : array (q,), or None
        Outcomes; None for the likelihood family.

    Examples
    --------
    >>> from adaptive.potentials import BernoulliLogit
    >>> family = BernoulliLogit()
    >>> isinstance(family, Likelihood), family.outcomes, family.observe([1, -1]).size
    (True, array([-1.,  1.]), 2)
    """

    y: Number | None
    discrete = True

    def __init__(self, y: ArrayLike | None = None):
        self._set(y=None if y is None else self._checked(y))

    def _checked(self, y: ArrayLike) -> np.ndarray:
        """Return y as an array of outcomes this family has."""
        y = checks.finite("y", y)
        known = np.asarray(self.outcomes)
        if not np.isin(y, known).all():
            names = ", ".join(f"{outcome:g}" for outcome in known)
            raise ValueError(f"y must hold the outcomes {names}, got {float(y[~np.isin(y, known)].flat[0]):g}.")
        return y

    def _outcome(self, y: ArrayLike | None) -> Number:
        """The outcome given, else the one held."""
        if y is not None:
            return np.asarray(y, dtype=float)
        if self.y is None:
            raise ValueError(f"{self.name} holds no outcome: give log_density(s, y) one, or use observe(y).")
        return self.y

    def observe(self, y: ArrayLike) -> Self:
        """Return the potential with the outcomes ``y`` inside, one per row."""
        return self._with(y=self._checked(y))

    def sample(
        self, s: ArrayLike | None = None, random_state: RandomState = None, *, size: int | tuple[int, ...] | None = None
    ) -> np.ndarray:
        """Draw one outcome at each projection.

        Parameters
        ----------
        s : array-like
            Projections.
        random_state : None, int, SeedSequence, Generator or RandomState
        """
        return self._draw(self._projections(s), checks.generator(random_state))

    def _projections(self, s: ArrayLike | None) -> np.ndarray:
        if s is None:
            raise ValueError(f"{self.name} draws outcomes at projections: give s.")
        return checks.finite("s", s)

    def _draw(self, s: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        outcomes = np.asarray(self.outcomes)
        cumulative = np.cumsum(self._probabilities_at(s), axis=-1)
        position = (rng.random(s.shape)[..., None] * cumulative[..., -1:] >= cumulative).sum(axis=-1)
        return outcomes[np.minimum(position, len(outcomes) - 1)]

    def _probabilities_at(self, s: np.ndarray) -> np.ndarray:
        """p(y | s), (..., c)."""
        return np.stack([np.exp(self.log_density(s, outcome)) for outcome in np.asarray(self.outcomes)], axis=-1)

    def outcome_probabilities(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the outcomes and their predictive probabilities.

        Parameters
        ----------
        mean, variance : array-like (m,)
            Moments of the projections; variance >= 0.

        Returns
        -------
        outcomes : ndarray (c,)
        probabilities : ndarray (m, c)
        """
        mean, variance = self._moments(mean, variance)
        columns = []
        for y in np.asarray(self.outcomes):

            def density(s: np.ndarray, owner: np.ndarray, y: float = y) -> np.ndarray:
                return np.exp(self.log_density(s, y))

            columns.append(quadrature.gaussian_average(density, mean, variance, self.kinks))
        return np.array(self.outcomes), np.stack(columns, axis=-1)

    def outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return H(y) in nats for s ~ N(mean, variance)."""
        return entr(self.outcome_probabilities(mean, variance)[1]).sum(axis=-1)

    def expected_outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return E_s H(y | s) in nats for s ~ N(mean, variance)."""
        mean, variance = self._moments(mean, variance)

        def entropy(s: np.ndarray, owner: np.ndarray) -> np.ndarray:
            return entr(self._probabilities_at(s)).sum(axis=-1)

        return quadrature.gaussian_average(entropy, mean, variance, self.kinks)

    def _moments(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Moments of candidates: any number of them, whatever rows are held."""
        return quadrature.gaussian_arguments(None, mean, variance, allow_zero=True)
