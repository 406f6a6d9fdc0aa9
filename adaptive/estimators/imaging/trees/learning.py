"""Parameters of a `TreeMixture` by maximising the variational bound, one step of expectation maximisation at a time.

    chance   <-  sum Q(wide, parent = d) / sum Q(parent = d)                  of every level and parent state d
    scale    <-  argmax sum_j Q(state_j) ln T(r_j; scale),   r_j^2 = variance_j + s_j^2,   of every level and state

which is a weighted mean of r for Laplace, of r^2 for Gaussian, and the root of a monotone function for Student t.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from adaptive.estimators.imaging.trees.forest import ForestBeliefs, WaveletForest
from adaptive.estimators.imaging.trees.mixture import TreeMixture

__all__ = ["learnt_chances", "learnt_parameters", "starting_parameters"]

_CHANCES = (1e-3, 1 - 1e-3)
_SCALES = (1e-4, 1e3)  # of the largest magnitude of an image
_STARTING_STEPS, _LARGE_SHARE, _SURE = 5, 0.3, 0.9


def starting_parameters(prior: TreeMixture, s: np.ndarray) -> TreeMixture:
    """The prior fitted to coefficients that are taken as they are: a few steps from the largest 30% being wide.

    Parameters
    ----------
    prior : TreeMixture
        Whose kind is kept.
    s : array (n,)
        Coefficients of a first guess of the image.
    """
    forest, r = prior.forest, np.abs(s)
    wide = np.full(forest.n, 1 - _SURE)
    for level in range(forest.depth + 1):
        at = np.flatnonzero(forest.levels == level)
        wide[at[r[at] >= np.quantile(r[at], 1 - _LARGE_SHARE)]] = _SURE
    beliefs = ForestBeliefs(np.ones_like(wide) if prior.factorial else wide, np.stack([wide, wide]), 0.0)
    for step in range(_STARTING_STEPS):
        first = learnt_parameters(prior, r, beliefs, keep_order=step > 0)
        prior = first if step else _in_order(first)
        beliefs = prior.beliefs(prior.log_potentials(r))
    return prior


def learnt_parameters(
    prior: TreeMixture, r: np.ndarray, beliefs: ForestBeliefs, *, keep_order: bool = True
) -> TreeMixture:
    """The parameters that maximise the bound, all else as it is.

    Parameters
    ----------
    prior : TreeMixture
    r : array (n,)
        sqrt(variance + mean^2) of the coefficients.
    beliefs : ForestBeliefs
        About the states.
    keep_order : bool, default True
        Maximise over narrow scales that are no larger than the wide ones: where the states of a level would change
        their places, both get the one scale that is best.
    """
    forest, wide = prior.forest, beliefs.wide
    old, (least, most) = prior.wide, (prior.unit * limit for limit in _SCALES)
    if prior.components == "laplace":
        new = _means(forest, wide, r, old)
    else:
        new = _student_scales(prior, wide, r, (least, most))
    if prior.factorial:
        return prior.with_parameters(wide=np.clip(new, least, most))
    if prior.components == "laplace":
        narrow = _means(forest, 1 - wide, r, prior.narrow)
    else:
        narrow = np.sqrt(_means(forest, 1 - wide, r * r, prior.narrow**2))
    narrow, new = np.clip(narrow, least, most), np.clip(new, least, most)
    if keep_order:
        for level in map(
            int, np.flatnonzero(narrow > new)
        ):  # each has one maximum, so that the best pair in order is equal
            narrow[level] = new[level] = _common(prior, level, wide, r, new[level], narrow[level])
    return prior.with_parameters(narrow=narrow, wide=new, chances=learnt_chances(forest, beliefs, prior.chances))


def learnt_chances(forest: WaveletForest, beliefs: ForestBeliefs, old: np.ndarray) -> np.ndarray:
    """Transition probabilities of every level, as they were where no parent is ever in a state."""
    parent = forest.parent_wide(beliefs)
    new = np.empty_like(old)
    for state, weights in enumerate((1 - parent, parent)):
        total = forest.level_sums(weights)
        both = forest.level_sums(weights * beliefs.given[state])
        new[:, state] = np.where(total > 0, both / np.maximum(total, np.finfo(float).tiny), old[:, state])
    new[[0, -1], 1] = new[[0, -1], 0]
    return np.clip(new, *_CHANCES)


def _means(forest: WaveletForest, weights: np.ndarray, values: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Weighted means of every level, as they were where nothing has weight."""
    total = forest.level_sums(weights)
    return np.where(total > 1e-12, forest.level_sums(weights * values) / np.maximum(total, 1e-12), old)


def _student_scales(prior: TreeMixture, weights: np.ndarray, r: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Root of sum_j w_j [(df + 1) r_j^2 / (df scale^2 + r_j^2) - 1], which falls with the scale."""
    df, new = prior.df, prior.wide.copy()
    for level in range(prior.forest.depth + 1):
        at = np.flatnonzero((prior.forest.levels == level) & (weights > 1e-9))
        w, square = weights[at], r[at] ** 2

        def slope(log_scale: float, w: np.ndarray = w, square: np.ndarray = square) -> float:
            return float(w @ ((df + 1) * square / (df * np.exp(2 * log_scale) + square) - 1))

        low, high = np.log(limits)
        if len(at) == 0 or w.sum() <= 1e-12:
            continue
        if slope(low) <= 0 or slope(high) >= 0:
            new[level] = limits[0 if slope(low) <= 0 else 1]
        else:
            new[level] = np.exp(brentq(slope, low, high, xtol=1e-10))
    return new


def _common(prior: TreeMixture, level: int, wide: np.ndarray, r: np.ndarray, low: float, high: float) -> float:
    """The scale of both states of a level that the bound says."""
    at = prior.forest.levels == level
    q, x = wide[at], r[at]

    def loss(log_scale: float) -> float:
        narrow, high = prior.densities(np.exp(log_scale), np.exp(log_scale))
        return -float(np.sum((1 - q) * narrow.log_density(x) + q * high.log_density(x)))

    return float(np.exp(minimize_scalar(loss, bounds=(np.log(low), np.log(high)), options={"xatol": 1e-9}).x))


def _in_order(prior: TreeMixture) -> TreeMixture:
    """With the smaller scale of every level in the narrow state: for a start, before anything was believed."""
    narrow = np.minimum(prior.narrow, prior.wide)
    return prior.with_parameters(narrow=narrow, wide=np.maximum(prior.narrow, prior.wide))
