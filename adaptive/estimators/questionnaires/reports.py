"""Reports about items and people: information, fit, differential functioning, exposure.

residual of person u, item i  =  answer - E[answer | u's own answers],     variance Var[answer | u's own answers]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.questionnaires.bank import Bank
from adaptive.estimators.questionnaires.curves import difficulties
from adaptive.estimators.questionnaires.factors.bank import FactorBank
from adaptive.estimators.questionnaires.ordinal.bank import OrdinalBank
from adaptive.predictive.derivations import entropy

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.answers import Label
    from adaptive.estimators.questionnaires.base import ItemBank
    from adaptive.types import ArrayLike

__all__ = ["differential_functioning", "exposure", "information", "item_fit", "item_parameters", "person_fit"]


def item_parameters(bank: ItemBank) -> np.ndarray:
    """Discriminations and thresholds (and guessing) of a bank; of an ordinal one the thresholds.

    Of many traits loadings and steps, intercepts from one answer to the next (and both asymptotes).
    """
    if isinstance(bank, FactorBank):
        found = np.concatenate([bank.loadings_of, np.diff(bank.steps, axis=1)], axis=1)
        return np.concatenate([found, bank.asymptotes], axis=1) if bank.asymptotic else found
    if isinstance(bank, OrdinalBank):
        return bank.means
    assert isinstance(bank, Bank)
    return difficulties(bank.model, bank.coordinates, len(bank.traits))


def information(bank: ItemBank, x: ArrayLike) -> np.ndarray:
    """(items, k) Fisher information at traits x (k,)."""
    if not isinstance(bank, Bank) or len(bank.traits) > 1:
        raise ValueError("information needs an item-response model of one trait.")
    at = np.asarray(x, dtype=float).reshape(-1, 1)
    return bank.informations(np.arange(len(bank)), at)


def item_fit(table: np.ndarray, p: np.ndarray, scale: np.ndarray) -> dict[str, np.ndarray]:
    """Number of answers and mean squares of each item; table (people, items) of places, -1 where not asked."""
    seen, residual, variance = _residuals(table, p, scale)
    n = seen.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        outfit = np.where(seen, residual**2 / variance, 0.0).sum(axis=0) / n
        infit = np.where(seen, residual**2, 0.0).sum(axis=0) / np.where(seen, variance, 0.0).sum(axis=0)
    return {"answers": n, "outfit": outfit, "infit": infit}


def person_fit(table: np.ndarray, p: np.ndarray) -> np.ndarray:
    """(people,) sum of log probabilities, less its mean, over its deviation; NaN of people without answers."""
    seen = table >= 0
    logs = np.log(np.maximum(p, 1e-300))
    found = np.take_along_axis(logs, np.maximum(table, 0)[..., None], axis=2)[..., 0]
    surprise = np.where(seen, found + entropy(p), 0.0).sum(axis=1)
    spread = np.where(seen, np.sum(p * logs**2, axis=2) - entropy(p) ** 2, 0.0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return surprise / np.sqrt(spread)


def differential_functioning(
    table: np.ndarray, p: np.ndarray, scale: np.ndarray, groups: ArrayLike
) -> dict[str, np.ndarray | list[Label]]:
    """Groups, mean residual (groups, items) and its z, the mean over all groups taken out."""
    given = np.asarray(groups)
    if given.shape != (len(table),):
        raise ValueError(f"groups must have one entry for each of the {len(table)} people, got shape {given.shape}.")
    seen, residual, variance = _residuals(table, p, scale)
    names = sorted(set(given.tolist()))
    means, z = (np.zeros((len(names), table.shape[1])) for _ in range(2))
    with np.errstate(invalid="ignore", divide="ignore"):
        overall = np.where(seen, residual, 0.0).sum(axis=0) / seen.sum(axis=0)
        for k, name in enumerate(names):
            rows = (given == name)[:, None] & seen
            n = rows.sum(axis=0)
            means[k] = np.where(rows, residual, 0.0).sum(axis=0) / n - overall
            z[k] = means[k] * n / np.sqrt(np.where(rows, variance, 0.0).sum(axis=0))
    return {"groups": names, "difference": means, "z": z}


def exposure(items: np.ndarray, labels: Sequence[Label]) -> np.ndarray:
    """(items,) share of the people of a simulation who were asked each item."""
    asked = dict.fromkeys(labels, 0)
    for row in np.asarray(items, dtype=object):
        for label in row:
            if label is not None:
                asked[label] += 1
    return np.array([asked[label] for label in labels]) / max(len(items), 1)


def _residuals(table: np.ndarray, p: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    mean = p @ scale
    variance = np.maximum(p @ scale**2 - mean**2, 1e-12)
    return table >= 0, scale[np.maximum(table, 0)] - mean, variance
