"""Items from answers: marginal likelihood with weak priors, then a Gaussian about each item's coordinates.

    maximise  sum_u log sum_k w_k prod_i p_i(y_ui | x_k)  +  log prior(items)          (traits on a grid, by EM)
    cov_i     =  (prior precision + sum_u s_ui s_ui')^-1,      s_ui the score of the marginal likelihood

Slopes of a trait are N(m, 1) about a mean m that is N(1, 1) itself: were it known, the priors of a hundred items would
pull the unit of the trait a hundred times.

The blocks hold the other items fixed. What all items share - the origin and unit of a trait, which the calibrating
people fix only so well - is a Gaussian of its own: (m, log s) of a trait m + s x, from the scores E x and E x^2 - 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from adaptive.estimators.questionnaires.answers import Answers
from adaptive.estimators.questionnaires.base import log_prior, trait_grid
from adaptive.estimators.questionnaires.curves import Curve

__all__ = ["Calibration", "calibrate"]

NEWTON = 2  # steps of an item in a round of EM
SLOPES = 1.0  # precision of a slope about the mean of its trait's, and of that about 1


class Calibration(NamedTuple):
    """Items of some traits as calibrated.

    Attributes
    ----------
    coordinates : (items, p) array
    covariances : (items, p, p) array
    shared : (traits, 2, 2) array, covariance of (origin, log unit)
    trace : list of float, the penalised log likelihood of each round
    log_evidence : float, by Laplace's method
    converged : bool
    """

    coordinates: np.ndarray
    covariances: np.ndarray
    shared: np.ndarray
    trace: list[float]
    log_evidence: float
    converged: bool


def calibrate(
    curve: Curve,
    answers: Answers,
    mask: np.ndarray,
    *,
    max_iter: int = 200,
    tol: float = 1e-4,
    start: np.ndarray | None = None,
    x: np.ndarray | None = None,
) -> Calibration:
    """Learn items from answers.

    Parameters
    ----------
    curve : Curve
    answers : Answers
        Of these items only.
    mask : (items, traits) array of bool
        Which slopes there are.
    max_iter, tol
        Rounds, and the largest change of a coordinate at which they end.
    start : (items, p) array, optional
        Coordinates to begin with; NaN for items that are new.
    x : (k, traits) array, optional
        Another grid than `trait_grid`.
    """
    n_items, t = mask.shape
    n = len(answers.categories)
    x = trait_grid(t) if x is None else x
    log_weights = log_prior(x)
    others, deviations = curve.prior(n, t)
    mean = np.concatenate([mask.astype(float), np.tile(others, (n_items, 1))], axis=1)
    per_slope = 1.0 / n_items if curve.common_slope else SLOPES  # one slope, believed once
    precision = np.concatenate([np.full((n_items, t), per_slope), np.tile(deviations**-2.0, (n_items, 1))], axis=1)
    free, of_trait = curve.measured(n, mask), curve.traits_of(n, t)
    if curve.common_slope:
        free[:, :t] = False  # moved together, below
    c = mean.copy() if start is None else np.where(np.isnan(start), mean, start)
    if start is not None and curve.common_slope:  # which is that of new items, too
        known = ~np.isnan(start[:, 0])
        c[:, :t] = mask * (np.mean(start[known, :t], axis=0) if known.any() else 1.0)
    marks = sparse.csr_matrix(
        (np.ones(len(answers)), (answers.person, answers.item * n + answers.answer)),
        shape=(len(answers.people), n_items * n),
    )
    trace: list[float] = []
    converged = False
    for _ in range(max_iter):
        c = _upright(c, of_trait, t)
        p, slopes = curve(c, x)
        posterior, likelihood = _people(marks, p, log_weights)
        if not curve.common_slope:
            mean[:, :t] = mask * _usual_slopes(c[:, :t], mask)
        trace.append(float(likelihood - _distance(c, mean, precision, mask)))
        counts = (marks.T @ posterior).reshape(n_items, n, len(x)).swapaxes(1, 2)
        before = c
        for step in range(NEWTON):
            if step:
                p, slopes = curve(c, x)
            c = _step(curve, c, counts, p, slopes, mean, precision, free, t)
        if np.abs(c - before).max() < tol:
            converged = True
            break
    p, slopes = curve(c, x)
    posterior, likelihood = _people(marks, p, log_weights)
    information = np.zeros((n_items, c.shape[1], c.shape[1]))
    order = np.argsort(answers.item, kind="stable")
    first = np.searchsorted(answers.item[order], np.arange(n_items + 1))
    for item in range(n_items):
        rows = order[first[item] : first[item + 1]]
        for r in range(n):
            people = answers.person[rows[answers.answer[rows] == r]]
            scores = posterior[people] @ slopes[item, :, r]
            information[item] += scores.T @ scores
    covariances = np.zeros_like(information)
    log_det = 0.0
    for item in range(n_items):
        block = np.ix_(np.flatnonzero(free[item]), np.flatnonzero(free[item]))
        found = np.linalg.inv(information[item][block] + np.diag(precision[item][free[item]]))
        covariances[item][block] = 0.5 * (found + found.T)
        log_det += np.linalg.slogdet(found)[1] + np.sum(np.log(precision[item][free[item]]))
    if not curve.common_slope:
        log_det -= np.sum(np.log1p(mask.sum(axis=0)))  # of the mean slopes
    log_evidence = likelihood - _distance(c, mean, precision, mask) + 0.5 * log_det
    return Calibration(c, covariances, _shared(posterior, x), trace, float(log_evidence), converged)


def _upright(c: np.ndarray, of_trait: np.ndarray, t: int) -> np.ndarray:
    """The same curves of traits that are turned round where their slopes are negative on the whole.

    Answers do not tell a trait from its opposite, slopes that are N(m, 1) about an m that is N(1, 1) do: turned round
    they are the more probable, and by small steps they do not come there.
    """
    signs = np.where(c[:, :t].sum(axis=0) < 0.0, -1.0, 1.0)
    return c * np.where(of_trait >= 0, signs[of_trait], 1.0)


def _usual_slopes(slopes: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """(traits,) the most probable mean m of each trait's slopes: that of these and one 1."""
    return (1.0 + np.sum(slopes * mask, axis=0)) / (1.0 + mask.sum(axis=0))


def _distance(c: np.ndarray, mean: np.ndarray, precision: np.ndarray, mask: np.ndarray) -> float:
    """Minus the log prior of the coordinates and of the mean slopes, but for constants."""
    usual = np.max(np.where(mask, mean[:, : mask.shape[1]], -np.inf), axis=0)
    return float(0.5 * np.sum(precision * (c - mean) ** 2) + 0.5 * SLOPES * np.sum((usual - 1.0) ** 2))


def _people(marks: sparse.csr_matrix, p: np.ndarray, log_weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights of the grid (people, k) and the log likelihood."""
    log_p = np.log(p.swapaxes(1, 2)).reshape(-1, p.shape[1])
    joint = marks @ log_p + log_weights
    top = joint.max(axis=1, keepdims=True)
    posterior = np.exp(joint - top)
    total = posterior.sum(axis=1, keepdims=True)
    return posterior / total, float(np.sum(top) + np.sum(np.log(total)))


def _step(
    curve: Curve, c: np.ndarray, counts: np.ndarray, p: np.ndarray, slopes: np.ndarray,
    mean: np.ndarray, precision: np.ndarray, free: np.ndarray, t: int,
) -> np.ndarray:  # fmt: skip
    """One step of Fisher scoring for all items, at most 1 in any coordinate."""
    gradient = np.einsum("ikr,ikrp->ip", counts, slopes) - precision * (c - mean)
    weighted = (counts.sum(axis=2)[..., None] * p)[..., None] * slopes
    size = c.shape[1]
    information = weighted.reshape(len(c), -1, size).swapaxes(1, 2) @ slopes.reshape(len(c), -1, size)
    information += np.einsum("ip,pq->ipq", precision, np.eye(size))
    held = ~free
    inner = information.copy()
    inner[np.broadcast_to(held[:, :, None] | held[:, None, :], inner.shape)] = 0.0
    inner += np.einsum("ip,pq->ipq", held.astype(float), np.eye(size))
    move = np.linalg.solve(inner, np.where(free, gradient, 0.0)[..., None])[..., 0]
    if curve.common_slope:  # eliminating the items' own coordinates: g - sum H_sc H_cc^-1 g_c over its Schur complement
        cross = np.where(free, information[:, 0], 0.0)
        back = np.linalg.solve(inner, cross[..., None])[..., 0]
        g = np.sum(gradient[:, 0] - np.sum(cross * move, axis=1))
        change = np.clip(g / np.sum(information[:, 0, 0] - np.sum(cross * back, axis=1)), -0.5, 0.5)
        move -= change * back
        move[:, 0] = change
    return c + np.clip(move, -1.0, 1.0)


def _shared(posterior: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(traits, 2, 2) covariance of origin and log unit of each trait."""
    found = []
    for axis in x.T:
        scores = np.column_stack([posterior @ axis, posterior @ (axis**2 - 1.0)])
        inverse = np.linalg.inv(scores.T @ scores + 1e-3 * np.eye(2))
        found.append(0.5 * (inverse + inverse.T))
    return np.array(found)
