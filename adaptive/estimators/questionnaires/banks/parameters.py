"""A bank of known items of one trait, from arrays of their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.questionnaires.answers import Label
from adaptive.estimators.questionnaires.bank import Bank
from adaptive.estimators.questionnaires.base import Loadings
from adaptive.estimators.questionnaires.curves import ASYMPTOTES, CURVES, from_difficulties

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["bank_of_nominal_items", "bank_of_parameters"]


def bank_of_parameters(
    discrimination: ArrayLike | None, difficulty: ArrayLike | None = None, *, guessing: ArrayLike | None = None,
    upper: ArrayLike | None = None, thresholds: ArrayLike | None = None, covariance: ArrayLike | None = None,
    items: Sequence[Label] | None = None, model: str | None = None, categories: Sequence[int] | None = None,
) -> Bank:  # fmt: skip
    """A bank of known items of one trait.

    Parameters
    ----------
    discrimination : (items,) array
    difficulty : (items,) array
        Where P = 1/2 without guessing; or give ``thresholds``.
    guessing : (items,) array, optional
        Of the three-parameter model: the lower asymptote.
    upper : (items,) array, optional
        Of the four-parameter model: the upper asymptote.
    thresholds : (items, R - 1) array, optional
        Of partial credit, or of the graded model with ``model="graded"``; NaN behind those of an item with fewer.
    covariance : (items, p, p) array, optional
        Of (discrimination, difficulty or thresholds, guessing, upper) of each item; default: known exactly.
    """
    if discrimination is None:
        raise ValueError("a bank needs discrimination, one number per item (all 1 for a Rasch bank).")
    a = _column("discrimination", discrimination, None)
    n = len(a)
    if (difficulty is None) == (thresholds is None):
        raise ValueError("a bank needs either difficulty, one number per item, or thresholds, a row per item.")
    if thresholds is None:
        levels = _column("difficulty", difficulty, n)[:, None]
    else:
        levels = np.array(thresholds, dtype=float)
        if levels.ndim != 2 or len(levels) != n or not np.isfinite(levels[:, 0]).all():
            raise ValueError(f"thresholds must have a row for each of the {n} items, got shape {levels.shape}.")
    if model is None:
        model = "two_parameter" if levels.shape[1] == 1 else "partial_credit"
        model = "four_parameter" if upper is not None else "three_parameter" if guessing is not None else model
    if model == "nominal":
        raise ValueError("nominal items have intercepts, one for each answer but the first, in place of difficulty.")
    if model not in CURVES:
        raise ValueError(f"model must be one of {sorted(CURVES)}, got {model!r}.")
    if model == "graded":
        steps = np.diff(levels, axis=1)
        for wrong in np.flatnonzero((np.where(np.isnan(steps), 1.0, steps) <= 0).any(axis=1)):
            raise ValueError(f"thresholds of a graded item must increase, but those of item number {wrong + 1} do not.")
        if (a <= 0).any():
            raise ValueError("discrimination of graded items must be > 0; name reversed items in reverse.")
    parameters = np.concatenate([a[:, None], levels], axis=1)
    n_asymptotes = len(ASYMPTOTES.get(model, ()))
    for name, given, least in (("guessing", guessing, 1), ("upper", upper, 2)):
        if given is not None and n_asymptotes < least:
            raise ValueError(f"{name} is for items with an asymptote, not for model {model!r}.")
    if n_asymptotes:
        if levels.shape[1] > 1:
            raise ValueError(f"{model!r} is for two answers, but thresholds has {levels.shape[1]} columns.")
        g = _column("guessing", np.zeros(n) if guessing is None else guessing, n)
        if ((g < 0) | (g >= 1)).any():
            raise ValueError(f"guessing must be in [0, 1), got {float(g[(g < 0) | (g >= 1)][0])!r}.")
        parameters = np.concatenate([parameters, g[:, None]], axis=1)
    if n_asymptotes == 2:
        u = _column("upper", np.ones(n) if upper is None else upper, n)
        if ((u <= g) | (u > 1)).any():
            raise ValueError(f"upper must be in (guessing, 1], got {float(u[(u <= g) | (u > 1)][0])!r}.")
        parameters = np.concatenate([parameters, u[:, None]], axis=1)
    if (a == 0).any():
        raise ValueError(
            f"discrimination must not be 0, but that of item number {int(np.flatnonzero(a == 0)[0]) + 1} is."
        )
    coordinates = from_difficulties(model, parameters, 1)
    p = parameters.shape[1]
    covariances = np.zeros((n, p, p))
    if covariance is not None:
        given = np.asarray(covariance, dtype=float)
        if given.shape != (n, p, p):
            raise ValueError(f"covariance must have shape {(n, p, p)}, one block per item, got {given.shape}.")
        for k in range(n):
            kept = np.flatnonzero(~np.isnan(parameters[k]))
            slope = _jacobian(model, parameters[k][kept])
            covariances[k][np.ix_(kept, kept)] = slope @ given[k][np.ix_(kept, kept)] @ slope.T
    scale = categories or ((0, 1) if levels.shape[1] == 1 else tuple(range(1, levels.shape[1] + 2)))
    return Bank(
        model, _labels(items, n), scale, Loadings(("trait",), np.ones((n, 1), dtype=bool)), coordinates, covariances
    )


def bank_of_nominal_items(
    slopes: ArrayLike, intercepts: ArrayLike, *, covariance: ArrayLike | None = None,
    items: Sequence[Label] | None = None, categories: Sequence[int] | None = None,
) -> Bank:  # fmt: skip
    """A bank of known nominal items of one trait:  p_r ~ exp(slope_r x + intercept_r),  0 and 0 of the first answer.

    Parameters
    ----------
    slopes, intercepts : (items, R - 1) arrays
        Of the answers but the first; NaN behind those of an item with fewer.
    covariance : (items, p, p) array, optional
        Of (slope of answer 1, its intercept, slope of answer 2, ...) of each item; default: known exactly.
    """
    a, c = (np.array(one, dtype=float) for one in (slopes, intercepts))
    if a.ndim != 2 or a.shape != c.shape or not a.size:
        raise ValueError(
            "nominal items need a slope in discrimination and one of intercepts for each answer but the first, two "
            f"arrays (items, R - 1), got shapes {a.shape} and {c.shape}."
        )
    known, n, p = np.isfinite(a) & np.isfinite(c), len(a), 2 * a.shape[1]
    broken = ~known[:, 0] | (~known[:, :-1] & known[:, 1:]).any(axis=1) | (np.isnan(a) != np.isnan(c)).any(axis=1)
    for wrong in np.flatnonzero(broken | np.isinf(a).any(axis=1) | np.isinf(c).any(axis=1)):
        raise ValueError(
            f"discrimination and intercepts of item number {wrong + 1} must be numbers, with NaN only after the last."
        )
    for wrong in np.flatnonzero(~(np.where(known, a, 0.0) != 0).any(axis=1)):
        raise ValueError(f"discrimination of item number {wrong + 1} is 0 for every answer: it measures nothing.")
    given = np.zeros((n, p, p)) if covariance is None else np.asarray(covariance, dtype=float)
    if given.shape != (n, p, p):
        raise ValueError(f"covariance must have shape {(n, p, p)}, one block per item, got {given.shape}.")
    parameters = np.stack([a, c], axis=-1).reshape(n, p)
    coordinates, covariances = from_difficulties("nominal", parameters, 1), np.zeros((n, p, p))
    for k, there in enumerate(known):
        own = 2 * int(there.sum())
        slope = _jacobian("nominal", parameters[k, :own])
        covariances[k, :own, :own] = slope @ given[k, :own, :own] @ slope.T
    scale = categories or ((0, 1) if p == 2 else tuple(range(1, a.shape[1] + 2)))
    loadings = Loadings(("trait",), np.ones((n, 1), dtype=bool))
    return Bank("nominal", _labels(items, n), scale, loadings, coordinates, covariances)


def _labels(items: Sequence[Label] | None, n: int) -> tuple[Label, ...]:
    labels = tuple(range(n)) if items is None else tuple(items)
    if len(labels) != n or len(set(labels)) < n:
        raise ValueError(f"items must be {n} different labels, got {len(labels)}.")
    return labels


def _jacobian(model: str, parameters: np.ndarray) -> np.ndarray:
    """d coordinates / d parameters, by central differences."""
    steps = 1e-5 * np.maximum(np.abs(parameters), 0.1)
    columns = [
        (from_difficulties(model, parameters + d, 1) - from_difficulties(model, parameters - d, 1)) / (2 * d.max())
        for d in np.diag(steps)
    ]
    return np.stack(columns, axis=1)


def _column(name: str, values: ArrayLike | None, n: int | None) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or (n is not None and len(array) != n) or not len(array):
        expected = "numbers, one per item" if n is None else f"{n} numbers, one per item"
        raise ValueError(f"{name} must be {expected}, got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(
            f"{name} must be finite, but that of item number {int(np.argmin(np.isfinite(array))) + 1} is not."
        )
    return array
