"""The ordinal model, compiled: messages of answers to people and items.

    person z = (style b_u, traits x_u),  item b_i:     w = (b_u + b_i + N(0, beta^2 I),  x_uc + N(0, tau^2))
    p(r | w) = prod_{l < r} theta(y - h_l) prod_{l >= r} theta(h_l - y),      w = (h, y)

An answer's steps have sites (Lambda, e) on w, by `propagate`. What they say of a part z of w = E z + n, n ~ N(mu, N):

    message to z:   precision  E'K E,   shift  E'(I + Lambda N)^-1 (e - Lambda mu),     K = (I + Lambda N)^-1 Lambda

which is positive semi-definite, so that cavities stay proper. Symmetric matrices are packed by rows of their lower
half.
"""

from __future__ import annotations

from math import sqrt

import numba
import numpy as np

from adaptive.inference.dense.step_kernel import gaussian_part, propagate

__all__ = ["ask", "inverse", "packed_size", "prequential", "sweep"]

_options = {"cache": True, "nogil": True, "error_model": "numpy"}
INNER = 50  # sweeps over the steps of one answer
INNER_TOL = 1e-6


def packed_size(d: int) -> int:
    """Numbers of a shift and of a packed precision."""
    return d + d * (d + 1) // 2


@numba.njit(**_options)
def inverse(P: np.ndarray, V: np.ndarray) -> bool:
    """V = P^-1 by Cholesky; False if P is not positive definite."""
    d = P.shape[0]
    root = np.zeros((d, d))
    for i in range(d):
        for j in range(i + 1):
            total = P[i, j]
            for a in range(j):
                total -= root[i, a] * root[j, a]
            if i == j:
                if not total > 0.0:
                    return False
                root[i, i] = sqrt(total)
            else:
                root[i, j] = total / root[j, j]
    for j in range(d):  # root^-1, in its place
        root[j, j] = 1.0 / root[j, j]
        for i in range(j + 1, d):
            total = 0.0
            for a in range(j, i):
                total -= root[i, a] * root[a, j]
            root[i, j] = total / root[i, i]
    for i in range(d):
        for j in range(i + 1):
            total = 0.0
            for a in range(i, d):
                total += root[a, i] * root[a, j]
            V[i, j] = total
            V[j, i] = total
    return True


@numba.njit(**_options)
def add(P: np.ndarray, e: np.ndarray, message: np.ndarray, places: np.ndarray, sign: float) -> None:
    """Add ``sign`` times a packed message about the unknowns at ``places`` to a precision and a shift."""
    n = len(places)
    k = n
    for i in range(n):
        e[places[i]] += sign * message[i]
        for j in range(i + 1):
            P[places[i], places[j]] += sign * message[k]
            if i != j:
                P[places[j], places[i]] += sign * message[k]
            k += 1


@numba.njit(**_options)
def site_of(
    directions: np.ndarray, n: int, precisions: np.ndarray, shifts: np.ndarray, site: np.ndarray, pull: np.ndarray
) -> None:
    """Precision and shift on w of an answer's steps."""
    d = directions.shape[1]
    site[:] = 0.0
    pull[:] = 0.0
    for k in range(n):
        for i in range(d):
            pull[i] += shifts[k] * directions[k, i]
            for j in range(d):
                site[i, j] += precisions[k] * directions[k, i] * directions[k, j]


@numba.njit(**_options)
def through(
    site: np.ndarray, pull: np.ndarray, noise: np.ndarray, offset: np.ndarray, message: np.ndarray, first: int, n: int
) -> None:
    """The packed message to ``n`` unknowns that enter w from place ``first`` on; the rest of w is N(offset, noise)."""
    d = len(pull)
    system, right = np.zeros((d, d)), np.zeros((d, d + 1))
    for i in range(d):
        system[i, i] = 1.0
        right[i, d] = pull[i]
        for j in range(d):
            right[i, j] = site[i, j]
            right[i, d] -= site[i, j] * offset[j]
            for a in range(d):
                system[i, j] += site[i, a] * noise[a, j]
    for i in range(d):  # elimination with pivots
        best = i
        for a in range(i + 1, d):
            if abs(system[a, i]) > abs(system[best, i]):
                best = a
        if best != i:
            for j in range(d):
                system[i, j], system[best, j] = system[best, j], system[i, j]
            for j in range(d + 1):
                right[i, j], right[best, j] = right[best, j], right[i, j]
        for a in range(i + 1, d):
            factor = system[a, i] / system[i, i]
            if factor != 0.0:
                for j in range(i, d):
                    system[a, j] -= factor * system[i, j]
                for j in range(d + 1):
                    right[a, j] -= factor * right[i, j]
    for i in range(d - 1, -1, -1):
        for j in range(d + 1):
            total = right[i, j]
            for a in range(i + 1, d):
                total -= system[i, a] * right[a, j]
            right[i, j] = total / system[i, i]
    k = n
    for i in range(n):
        message[i] = right[first + i, d]
        for j in range(i + 1):
            message[k] = 0.5 * (right[first + i, first + j] + right[first + j, first + i])
            k += 1


@numba.njit(**_options)
def marginal_of_answer(
    m: np.ndarray,
    V: np.ndarray,
    places: np.ndarray,
    item_mean: np.ndarray,
    item_cov: np.ndarray,
    tau2: np.ndarray,
    beta2: float,
    mean: np.ndarray,
    cov: np.ndarray,
) -> int:
    """Fill mean and covariance of w from a person's moments (m, V) at ``places`` and an item's."""
    levels = len(item_mean)
    first = levels + 1 - len(places)  # 0 with a style of the person, else the trait alone
    mean[:] = 0.0
    cov[:] = 0.0
    for i in range(levels):
        mean[i] = item_mean[i]
        for j in range(levels):
            cov[i, j] = item_cov[i, j]
        cov[i, i] += beta2
    cov[levels, levels] = tau2
    for i in range(len(places)):
        mean[first + i] += m[places[i]]
        for j in range(len(places)):
            cov[first + i, first + j] += V[places[i], places[j]]
    return first


@numba.njit(**_options)
def ask(
    m: np.ndarray,
    V: np.ndarray,
    P: np.ndarray,
    e: np.ndarray,
    places: np.ndarray,
    targets: np.ndarray,
    item_mean: np.ndarray,
    item_cov: np.ndarray,
    tau2: np.ndarray,
    beta2: float,
    directions: np.ndarray,
    counts: np.ndarray,
    logs: np.ndarray,
    variances: np.ndarray,
    message: np.ndarray,
    sites: np.ndarray,
) -> np.ndarray:
    """log Z of every answer (R,), the packed message (R, .) of each, the covariance of the targets after it, and sites.

    Returns the covariance of w before.
    """
    levels = len(item_mean)
    d = levels + 1
    before, prior = np.empty(d), np.empty((d, d))
    first = marginal_of_answer(m, V, places, item_mean, item_cov, tau2, beta2, before, prior)
    noise, offset = prior.copy(), before.copy()
    for i in range(len(places)):
        offset[first + i] -= m[places[i]]
        for j in range(len(places)):
            noise[first + i, first + j] -= V[places[i], places[j]]
    site, pull = np.empty((d, d)), np.empty(d)
    after, shift, inverted = np.empty_like(P), np.empty_like(e), np.empty_like(P)
    for r in range(len(counts)):
        n = counts[r]
        precisions, shifts = np.zeros(n), np.zeros(n)
        mean, cov = before.copy(), prior.copy()
        rows = directions[r, :n]
        terms, _, _ = propagate(mean, cov, rows, np.zeros(n), precisions, shifts, INNER, INNER_TOL)
        logs[r] = terms + gaussian_part(before, prior, mean, rows, precisions, shifts)
        site_of(rows, n, precisions, shifts, site, pull)
        sites[r] = site
        through(site, pull, noise, offset, message[r], first, len(places))
        after[:] = P
        shift[:] = e
        add(after, shift, message[r], places, 1.0)
        inverse(after, inverted)
        for i in range(len(targets)):
            for j in range(len(targets)):
                variances[r, i, j] = inverted[targets[i], targets[j]]
    return prior


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
    logs: np.ndarray,
) -> None:
    """Log probability of each answer, normalised, under what all others say: its messages taken out."""
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
            logs[a] = every[answers[a]] - top - np.log(np.sum(np.exp(every - top)))
