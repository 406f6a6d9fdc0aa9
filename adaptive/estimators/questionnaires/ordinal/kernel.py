"""The ordinal model, compiled: passes over all people's answers, and the evidence of each answer.

person z = (style b_u, traits x_u),  item b_i:     w = (b_u + b_i + N(0, beta^2 I),  x_uc + N(0, tau^2))
p(r | w) = prod_{l < r} theta(y - h_l) prod_{l >= r} theta(h_l - y),      w = (h, y)
"""

from __future__ import annotations

import numba
import numpy as np

from adaptive.estimators.questionnaires.ordinal.asking import INNER, INNER_TOL
from adaptive.estimators.questionnaires.ordinal.messages import add, inverse, marginal_of_answer, site_of, through
from adaptive.inference.dense.step_kernel import gaussian_part, propagate

__all__ = ["order", "prequential", "sweep"]

_options = {"cache": True, "nogil": True, "error_model": "numpy"}


@numba.njit(**_options)
def order(
    P: np.ndarray, e: np.ndarray, order_directions: np.ndarray, precisions: np.ndarray, shifts: np.ndarray
) -> None:
    """Refresh a style's ordering sites once, given everything else that is known of it; P and e change in place."""
    n, d = order_directions.shape
    if n == 0:
        return
    V = np.empty_like(P)
    if not inverse(P, V):
        return
    m = V @ e
    was_p, was_e = precisions.copy(), shifts.copy()
    propagate(m, V, order_directions, np.zeros(n), precisions, shifts, 1, 0.0)
    for k in range(n):
        for i in range(d):
            e[i] += (shifts[k] - was_e[k]) * order_directions[k, i]
            for j in range(d):
                P[i, j] += (precisions[k] - was_p[k]) * order_directions[k, i] * order_directions[k, j]


@numba.njit(**_options)
def sweep(
    starts: np.ndarray,
    items: np.ndarray,
    answers: np.ndarray,
    traits: np.ndarray,
    prior_P: np.ndarray,
    prior_e: np.ndarray,
    order_directions: np.ndarray,
    order_p: np.ndarray,
    order_e: np.ndarray,
    item_P: np.ndarray,
    item_e: np.ndarray,
    to_person: np.ndarray,
    to_item: np.ndarray,
    tau2: np.ndarray,
    beta2: float,
    directions: np.ndarray,
    counts: np.ndarray,
    n_style: int,
    damping: float,
    update_items: bool,
    means: np.ndarray,
    covariances: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, int]:
    """One pass over all people's answers, items as they were before it; messages, ordering sites and moments change.

    Returns the sums of the new messages to the items, and how many answers were skipped.
    """
    n_items, levels = item_e.shape
    d, D = prior_P.shape[0], levels + 1
    s = n_style + 1
    sum_P, sum_e = np.zeros_like(item_P), np.zeros_like(item_e)
    P, e, V, m = np.empty((d, d)), np.empty(d), np.empty((d, d)), np.empty(d)
    iP, ie, iV, im = np.empty((levels, levels)), np.empty(levels), np.zeros((levels, levels)), np.zeros(levels)
    before, prior, site, pull = np.empty(D), np.empty((D, D)), np.empty((D, D)), np.empty(D)
    noise, offset = np.empty((D, D)), np.empty(D)
    new_person, new_item = np.empty(to_person.shape[1]), np.empty(to_item.shape[1])
    places, own = np.arange(s), np.arange(levels)
    skipped = 0
    for u in range(len(starts) - 1):
        P[:] = prior_P
        e[:] = prior_e
        for k in range(order_directions.shape[0]):
            for i in range(d):
                e[i] += order_e[u, k] * order_directions[k, i]
                for j in range(d):
                    P[i, j] += order_p[u, k] * order_directions[k, i] * order_directions[k, j]
        for a in range(starts[u], starts[u + 1]):
            places[s - 1] = n_style + traits[items[a]]
            add(P, e, to_person[a], places, 1.0)
        for a in range(starts[u], starts[u + 1]):
            item, r = items[a], answers[a]
            places[s - 1] = n_style + traits[item]
            add(P, e, to_person[a], places, -1.0)
            proper = inverse(P, V)
            if update_items:
                iP[:] = item_P[item]
                ie[:] = item_e[item]
                add(iP, ie, to_item[a], own, -1.0)
                proper = inverse(iP, iV) and proper
                for i in range(levels):
                    im[i] = 0.0
                    for j in range(levels):
                        im[i] += iV[i, j] * ie[j]
            else:
                im[:] = item_e[item]  # moments, of items that stand still
                iV[:] = item_P[item]
            if not proper:
                skipped += 1
                add(P, e, to_person[a], places, 1.0)
                add(sum_P[item], sum_e[item], to_item[a], own, 1.0)
                continue
            for i in range(d):
                m[i] = 0.0
                for j in range(d):
                    m[i] += V[i, j] * e[j]
            first = marginal_of_answer(m, V, places, im, iV, tau2[item], beta2, before, prior)
            offset[:] = before
            noise[:] = prior
            for i in range(s):
                offset[first + i] -= m[places[i]]
                for j in range(s):
                    noise[first + i, first + j] -= V[places[i], places[j]]
            n = counts[r]
            precisions, shifts = np.zeros(n), np.zeros(n)
            mean, cov = before.copy(), prior.copy()
            propagate(mean, cov, directions[r, :n], np.zeros(n), precisions, shifts, INNER, INNER_TOL)
            site_of(directions[r, :n], n, precisions, shifts, site, pull)
            through(site, pull, noise, offset, new_person, first, s)
            for k in range(len(new_person)):
                to_person[a, k] += damping * (new_person[k] - to_person[a, k])
            add(P, e, to_person[a], places, 1.0)
            if update_items:
                offset[:] = before
                noise[:] = prior
                for i in range(levels):
                    offset[i] -= im[i]
                    for j in range(levels):
                        noise[i, j] -= iV[i, j]
                through(site, pull, noise, offset, new_item, 0, levels)
                for k in range(len(new_item)):
                    to_item[a, k] += damping * (new_item[k] - to_item[a, k])
                add(sum_P[item], sum_e[item], to_item[a], own, 1.0)
        order(P, e, order_directions, order_p[u], order_e[u])
        inverse(P, covariances[u])
        for i in range(d):
            means[u, i] = 0.0
            for j in range(d):
                means[u, i] += covariances[u, i, j] * e[j]
    return sum_P, sum_e, skipped


@numba.njit(**_options)
def prequential(
    starts: np.ndarray,
    items: np.ndarray,
    answers: np.ndarray,
    traits: np.ndarray,
    means: np.ndarray,
    covariances: np.ndarray,
    item_P: np.ndarray,
    item_e: np.ndarray,
    to_person: np.ndarray,
    to_item: np.ndarray,
    tau2: np.ndarray,
    beta2: float,
    directions: np.ndarray,
    counts: np.ndarray,
    n_style: int,
    learnt_items: bool,
    order: np.ndarray,
    logs: np.ndarray,
    every_log: np.ndarray,
) -> None:
    """Log probability of each answer, normalised, under what all others say: its messages taken out.

    Answer a of these, which stand by person, is number ``order[a]`` of ``logs``; and of ``every_log`` (answers, R),
    where it is not empty, which says what every answer in its place would have had.
    """
    levels, d = item_e.shape[1], means.shape[1]
    s = n_style + 1
    places, own = np.arange(s), np.arange(levels)
    P, e, V = np.empty((d, d)), np.empty(d), np.empty((d, d))
    iP, ie, iV = np.empty((levels, levels)), np.empty(levels), np.empty((levels, levels))
    mean, cov = np.empty(levels + 1), np.empty((levels + 1, levels + 1))
    every = np.empty(len(counts))
    for u in range(len(starts) - 1):
        for a in range(starts[u], starts[u + 1]):
            item = items[a]
            places[s - 1] = n_style + traits[item]
            inverse(covariances[u], P)
            e[:] = P @ means[u]
            add(P, e, to_person[a], places, -1.0)
            inverse(P, V)
            if learnt_items:
                iP[:] = item_P[item]
                ie[:] = item_e[item]
                add(iP, ie, to_item[a], own, -1.0)
                inverse(iP, iV)
                im = iV @ ie
            else:
                iV[:] = item_P[item]
                im = item_e[item].copy()
            for r in range(len(counts)):
                marginal_of_answer(V @ e, V, places, im, iV, tau2[item], beta2, mean, cov)
                before, prior = mean.copy(), cov.copy()
                n = counts[r]
                precisions, shifts = np.zeros(n), np.zeros(n)
                terms, _, _ = propagate(mean, cov, directions[r, :n], np.zeros(n), precisions, shifts, INNER, INNER_TOL)
                every[r] = terms + gaussian_part(before, prior, mean, directions[r, :n], precisions, shifts)
            top = every.max()
            every -= top + np.log(np.sum(np.exp(every - top)))
            logs[order[a]] = every[answers[a]]
            if len(every_log):
                every_log[order[a]] = every
