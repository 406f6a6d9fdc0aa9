"""Reports about items and people: information, fit, differential functioning, exposure.

residual of person u, item i  =  answer - E[answer | u's other answers],     variance Var[answer | u's other answers]

An answer that helped to learn the trait is foretold too well by it: mean squares would lie far below one (0.4 to 0.9
with a dozen items) where the model holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.questionnaires.answers import log_of
from adaptive.estimators.questionnaires.bank import Bank
from adaptive.estimators.questionnaires.curves import difficulties
from adaptive.estimators.questionnaires.factors.bank import FactorBank
from adaptive.estimators.questionnaires.ordinal.bank import OrdinalBank
from adaptive.predictive.derivations import entropy

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.answers import Answers, Label
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


def item_fit(given: Answers, p: np.ndarray, scale: np.ndarray) -> dict[str, np.ndarray]:
    """Number of answers and mean squares of each item; ``p`` (answers, R) foretells each answer from the others."""
    residual, variance = _residuals(given, p, scale)
    n = _sums(given.item, np.ones(len(given)), given.items)
    with np.errstate(invalid="ignore", divide="ignore"):
        outfit = _sums(given.item, residual**2 / variance, given.items) / n
        infit = _sums(given.item, residual**2, given.items) / _sums(given.item, variance, given.items)
    return {"answers": n.astype(np.intp), "outfit": outfit, "infit": infit}


def person_fit(given: Answers, p: np.ndarray) -> np.ndarray:
    """(people,) sum of log probabilities, less its mean, over its deviation; NaN of people without answers."""
    logs = np.log(np.maximum(p, 1e-300))
    surprise = log_of(p, given.answer, 1e-300) + entropy(p)
    spread = np.sum(p * logs**2, axis=1) - entropy(p) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return _sums(given.person, surprise, given.people) / np.sqrt(_sums(given.person, spread, given.people))


def differential_functioning(
    given: Answers, p: np.ndarray, scale: np.ndarray, groups: ArrayLike
) -> dict[str, np.ndarray | list[Label]]:
    """Groups, mean residual (groups, items) less that of all people, and z, this over its standard deviation."""
    of_person = np.asarray(groups)
    if of_person.shape != (len(given.people),):
        raise ValueError(
            f"groups must have one entry for each of the {len(given.people)} people, got shape {of_person.shape}."
        )
    residual, variance = _residuals(given, p, scale)
    names = sorted(set(of_person.tolist()))
    means, z = (np.zeros((len(names), len(given.items))) for _ in range(2))
    with np.errstate(invalid="ignore", divide="ignore"):
        everybody, spread = (_sums(given.item, one, given.items) for one in (np.ones(len(given)), variance))
        overall = _sums(given.item, residual, given.items) / everybody
        for k, name in enumerate(names):
            inside = (of_person == name)[given.person].astype(float)
            n, own = (_sums(given.item, inside * one, given.items) for one in (1.0, variance))
            means[k] = _sums(given.item, inside * residual, given.items) / n - overall
            off = own * (1.0 / n - 1.0 / everybody) ** 2 + (spread - own) / everybody**2
            z[k] = np.where(n < everybody, means[k] / np.sqrt(off), means[k])  # all of them: 0
    return {"groups": names, "difference": means, "z": z}


def exposure(items: np.ndarray, labels: Sequence[Label]) -> np.ndarray:
    """(items,) share of the people of a simulation who were asked each item."""
    asked = dict.fromkeys(labels, 0)
    for row in np.asarray(items, dtype=object):
        for label in row:
            if label is not None:
                asked[label] += 1
    return np.array([asked[label] for label in labels]) / max(len(items), 1)


def _residuals(given: Answers, p: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = p @ scale
    variance = np.maximum(p @ scale**2 - mean**2, 1e-12)
    return np.interp(given.answer, np.arange(len(scale)), scale) - mean, variance


def _sums(places: np.ndarray, values: np.ndarray, labels: Sequence[Label]) -> np.ndarray:
    return np.bincount(places, values, minlength=len(labels))
