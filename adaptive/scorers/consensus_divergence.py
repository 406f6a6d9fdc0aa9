"""How far the members of a committee are from what they say together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.predictive.derivations import entropy, family_entropies
from adaptive.scorers.require import require

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["consensus_divergence"]


def consensus_divergence(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return the mean divergence KL(p_member || consensus) of a committee of draws from the posterior.

        = H(mean of the members) - mean of the members' H

    That is the mutual information of the outcome and the member: `information_gain`, where nothing smaller is the
    target.

    Parameters
    ----------
    predictive : Predictive
        With ``draws``, or ``mean``, ``variance`` and the ``likelihood`` of a discrete outcome (by quadrature: a
        committee of all members).
    random_state : ignored

    Returns
    -------
    (m,) array, nats

    References
    ----------
    A. McCallum and K. Nigam (1998), Employing EM and pool-based active learning for text classification.

    Examples
    --------
    >>> from adaptive.predictive import WeightedDraws
    >>> members = [[[0.6, 0.4], [0.9, 0.1]], [[0.4, 0.6], [0.6, 0.4]]]
    >>> consensus_divergence(WeightedDraws([0.5, 0.5], members, ["no", "yes"])).round(3)
    array([0.02 , 0.063])
    """
    if (
        all(predictive.provides(field) for field in ("mean", "variance", "likelihood"))
        and predictive.likelihood.discrete
    ):
        return family_entropies(predictive, 0) - family_entropies(predictive, 1)
    require("consensus_divergence", predictive, "draws")
    weights, table = predictive.draws()
    return entropy(np.tensordot(weights, table, axes=1)) - weights @ entropy(table)


consensus_divergence.monotone = True  # type: ignore[attr-defined]  # of two symmetric outcomes: see adaptive.search
