"""Divergence of the members of a committee from what they say together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.predictive.derivations import entropy, family_entropies
from adaptive.scorers.record import nonnegative, require, scorer

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["consensus_divergence"]


@scorer(monotone=True)
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
    parts = predictive.components
    if all(_decided_by_projection(part) for _, part in parts):
        within: Any = 0.0
        for weight, part in parts:
            within = within + weight * family_entropies(part, 1)
        mixed = predictive.outcome_entropy
        fields = {"outcome_entropy": mixed, "expected_entropy": within}
        return nonnegative("consensus_divergence", predictive, mixed - within, **fields)
    require("consensus_divergence", predictive, "draws")
    weights, table = predictive.draws()
    mixed, within = entropy(np.tensordot(weights, table, axes=1)), weights @ entropy(table)
    return nonnegative("consensus_divergence", predictive, mixed - within, draws=mixed - within)


def _decided_by_projection(predictive: Predictive) -> bool:
    stated = all(predictive.provides(field) for field in ("mean", "variance", "likelihood"))
    return stated and bool(predictive.likelihood.discrete)
