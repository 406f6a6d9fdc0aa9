"""Messages of answers to people and items, compiled: Gaussians in natural form, packed.

An answer's steps have sites (Lambda, e) on w. What they say of a part z of w = E z + n, n ~ N(mu, N):

    message to z:   precision  E'K E,   shift  E'(I + Lambda N)^-1 (e - Lambda mu),     K = (I + Lambda N)^-1 Lambda

which is positive semi-definite, so that cavities stay proper. Symmetric matrices are packed by rows of their lower
half.
"""

from __future__ import annotations

from math import sqrt

import numba
import numpy as np

__all__ = ["add", "carry_all", "inverse", "marginal_of_answer", "packed_size", "site_of", "through"]

_options = {"cache": True, "nogil": True, "error_model": "numpy"}


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
def carry(message: np.ndarray, n: int, move: np.ndarray) -> None:
    """Carry a packed message about n unknowns along where these move: its shift changes by its precision @ move."""
    k = n
    for i in range(n):
        for j in range(i + 1):
            message[i] += message[k] * move[j]
            if i != j:
                message[j] += message[k] * move[i]
            k += 1


@numba.njit(**_options)
def carry_all(
    starts: np.ndarray, items: np.ndarray, traits: np.ndarray, n_style: int, person_move: np.ndarray,
    item_moves: np.ndarray, to_person: np.ndarray, to_item: np.ndarray,
) -> None:  # fmt: skip
    """Carry all messages along a move of everybody's (style, traits), and one of each item's thresholds."""
    own = np.empty(n_style + 1)
    own[:n_style] = person_move[:n_style]
    for a in range(starts[-1]):
        own[n_style] = person_move[n_style + traits[items[a]]]
        carry(to_person[a], n_style + 1, own)
        carry(to_item[a], item_moves.shape[1], item_moves[items[a]])
