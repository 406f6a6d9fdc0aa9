"""Bands of the function behind two classes:

    f(x) | labels ~ sum_k w_k N(m_k(x), gamma v_k(x)),    k the nodes of hyper-parameters

    ln gamma = argmax  sum_j ln sum_k w_kj p(y_j | N(c_jk, gamma v_jk)) - (ln gamma)^2 / (2 deviation^2),    gamma >= 1

c and v are cavities, w_kj the weights without row j. Labels tell gamma to a half at best, and what is never below one
takes noise for width: the deviation is .75, half that of numbers and counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from adaptive.estimators.intervals import mixture_interval
from adaptive.estimators.rows.labels import LINKS
from adaptive.estimators.rows.leave_one_out import without_sites
from adaptive.estimators.variance_factor import VarianceFactor, variance_factor

if TYPE_CHECKING:
    from adaptive.estimators.gaussian_process.classifier_belief import ClassifierBelief
    from adaptive.types import Inputs

    Nodes: TypeAlias = "Sequence[tuple[float, ClassifierBelief]]"

__all__ = ["factor_of_labels", "latent_interval"]

FEWEST = 5  # labels of which something is learnt
DEVIATION = 0.75  # of the prior of ln gamma
_LEAST = 1e-300


def factor_of_labels(nodes: Nodes) -> VarianceFactor | None:
    """Return the factor that labels without themselves ask for; None of few, or where there are no cavities."""
    data, family = nodes[0][1].data, LINKS[nodes[0][1].settings.link]()
    posteriors = [belief.posteriors[0] for _, belief in nodes]
    if data is None or data.n_classes != 2 or len(data) < FEWEST:
        return None
    if any(one.engine != "expectation_propagation" or len(one.mean) != len(data) for one in posteriors):
        return None
    cavities = [without_sites(one.mean, one.variances(), *one.sites) for one in posteriors]

    def said(gamma: float) -> np.ndarray:
        tables = [family.outcome_probabilities(mean, gamma * variance)[1] for mean, variance in cavities]
        return np.maximum(np.stack([np.einsum("mc,mc->m", table, data.evidence) for table in tables]), _LEAST)

    shares = np.array([weight for weight, _ in nodes])[:, None] / said(1.0)
    shares /= shares.sum(axis=0)
    return variance_factor(
        lambda gamma: np.log((shares * said(gamma)).sum(axis=0)), weights=data.sample_weight, deviation=DEVIATION
    )


def latent_interval(
    nodes: Nodes, factor: VarianceFactor | None, X: Inputs, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper ends (m,) of the function at X."""
    gamma = 1.0 if factor is None else factor.value
    means, variances = (np.stack(part) for part in zip(*(belief.latent_moments(X) for _, belief in nodes), strict=True))
    return mixture_interval(means, gamma * variances, level, np.array([weight for weight, _ in nodes]))
