"""Disagreement in the votes of a committee, each member a draw from the posterior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from adaptive.predictive.derivations import entropy
from adaptive.scorers.record import require, scorer

if TYPE_CHECKING:
    from adaptive.potentials.base import Potential  # house: a type only
    from adaptive.predictive.base import Predictive
    from adaptive.types import ArrayLike, RandomState

__all__ = ["query_by_committee"]

MEMBERS, FEWEST = 1024, 64  # of a mixture's committees together, and of each


@scorer(monotone=True)
def query_by_committee(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return the vote entropy  - sum_c q_c log q_c,  q_c the share of the members whose most probable outcome is c.

    A vote forgets how sure a member is; where that matters, `consensus_divergence` is the same idea with the members'
    probabilities. Where one Gaussian projection decides the outcome all members vote (their shares are normal
    probabilities); else the joint draws are the members, of an ensemble its fitted ones.

    Parameters
    ----------
    predictive : Predictive
        With ``votes``, or ``mean``, ``variance`` and a ``likelihood`` of two outcomes, or ``draws``; or a mixture of
        such.
    random_state : ignored

    Returns
    -------
    (m,) array, nats

    References
    ----------
    H. Seung, M. Opper, H. Sompolinsky (1992), Query by committee.  I. Dagan and S. Engelson (1995), Committee-based
    sampling for training probabilistic classifiers (vote entropy).

    Examples
    --------
    >>> from adaptive.predictive import WeightedDraws
    >>> members = [[[0.6, 0.4], [0.9, 0.1]], [[0.4, 0.6], [0.6, 0.4]]]
    >>> query_by_committee(WeightedDraws([0.5, 0.5], members, ["no", "yes"])).round(3)
    array([0.693, 0.   ])
    """
    shares: Any = 0.0
    places: dict[int, float | None] = {}  # of likelihoods, which the components of a mixture share
    for weight, component in predictive.components:  # members of a mixture are members of its components
        shares = shares + weight * _shares(component, len(predictive.components), places)
    return _vote_entropy(np.asarray(shares))


def _vote_entropy(shares: np.ndarray) -> np.ndarray:
    """Return the entropies (m,) of shares (m, c): to the last digit where nearly all agree, else rounding decides."""
    few = np.sort(shares, axis=1)[:, :-1]
    rest = np.minimum(few.sum(axis=1), 1.0 - 1e-16)
    return np.maximum(entropy(few) - (1.0 - rest) * np.log1p(-rest), 0.0)


def _shares(predictive: Predictive, n_components: int, places: dict[int, float | None]) -> np.ndarray:
    """Return the shares (m, c) of the members' votes, of so many committees one."""
    if predictive.provides("votes"):
        return predictive.votes
    place = None
    if all(predictive.provides(field) for field in ("mean", "variance", "likelihood")):
        family = predictive.likelihood
        if id(family) not in places:
            places[id(family)] = _boundary(family)
        place = places[id(family)]
    if place is not None:
        deviation = np.sqrt(np.maximum(predictive.variance, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(deviation > 0, (predictive.mean - place) / deviation, np.inf)
        rarer = ndtr(-np.abs(z))  # to the last digit, where the other is 1 less it
        shares = np.empty((len(z), 2))
        shares[:, 1] = np.where(z > 0, rarer, 1.0 - rarer)
        shares[:, 0] = np.where(z > 0, 1.0 - rarer, rarer)
        return shares
    require("query_by_committee", predictive, "draws")
    by_family = n_components > 1 and predictive.provides("likelihood")  # else the members are a list, all of which vote
    weights, table = predictive.draws(max(FEWEST, MEMBERS // n_components) if by_family else None)
    winners, highest = np.zeros(table.shape[:2], dtype=np.intp), table[:, :, 0]
    for c in range(1, table.shape[2]):  # the first of equal ones, as argmax has it, which is slow along a short axis
        winners[table[:, :, c] > highest] = c
        highest = np.maximum(highest, table[:, :, c])
    return np.clip(np.stack([weights @ (winners == c) for c in range(table.shape[2])], axis=-1), 0.0, 1.0)


def _boundary(family: Potential) -> float | None:
    """Return the projection at which the vote changes, None where outcomes are not decided by one such place."""
    if family.size is not None or family.outcomes is None or len(family.outcomes) != 2:
        return None
    first, second = family.outcomes

    def preference(s: ArrayLike) -> np.ndarray:
        at = np.atleast_1d(s)
        return family.log_density(at, second) - family.log_density(at, first)

    low, middle, high = preference([-30.0, 0.0, 30.0]).tolist()
    if low * high >= 0:
        return None
    return 0.0 if middle == 0 else float(brentq(lambda s: float(preference(s)[0]), -30.0, 30.0))
