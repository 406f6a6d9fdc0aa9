"""Rivals that rank items by points: popularity, alternating least squares, pairwise and pointwise stochastic gradients.

`gradients` climbs  log sigmoid(f_ij - f_il)  (BPR: Rendle et al., 2009) or  log sigmoid(f_ij) + log sigmoid(-f_il)
(the random-graph model's likelihood at a point: Paquet and Koenigstein, 2013), where l is drawn uniformly or by
popularity, f = u.v + c; `least_squares` is Hu, Koren and Volinsky (2008), solved exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba import njit
from scipy import sparse

__all__ = ["gradients", "least_squares", "popularity"]

Scores = Callable[[np.ndarray], np.ndarray]


def popularity(table: sparse.csr_matrix) -> np.ndarray:
    """How often each item was seen (items,)."""
    return np.asarray(table.sum(axis=0)).ravel()


@njit(cache=True)
def _climb(users, items, drawn, order, U, V, c, rate, shrink, pairwise):  # type: ignore[no-untyped-def]
    for step in range(len(order)):
        i, j, other = users[order[step]], items[order[step]], drawn[step]
        f, g = c[j], c[other]
        for k in range(U.shape[1]):
            f += U[i, k] * V[j, k]
            g += U[i, k] * V[other, k]
        if pairwise:
            up = 1.0 / (1.0 + math.exp(min(f - g, 500.0)))
            down = up
        else:
            up, down = 1.0 / (1.0 + math.exp(min(f, 500.0))), 1.0 / (1.0 + math.exp(min(-g, 500.0)))
        for k in range(U.shape[1]):
            u, v, w = U[i, k], V[j, k], V[other, k]
            U[i, k] += rate * (up * v - down * w - shrink * u)
            V[j, k] += rate * (up * u - shrink * v)
            V[other, k] += rate * (-down * u - shrink * w)
        c[j] += rate * (up - shrink * c[j])
        c[other] += rate * (-down - shrink * c[other])


def gradients(
    table: sparse.csr_matrix, *, k: int, epochs: int, rate: float, shrink: float, by_popularity: bool, pairwise: bool
) -> Scores:
    """Scores (n, items) of users."""
    rng, pairs = np.random.default_rng(0), table.tocoo()
    users, items, n = pairs.row, pairs.col, pairs.nnz
    U, V = (0.1 * rng.standard_normal((size, k)) for size in table.shape)
    c = np.zeros(table.shape[1])
    for _ in range(epochs):
        drawn = items[rng.integers(0, n, n)] if by_popularity else rng.integers(0, table.shape[1], n)
        _climb(users, items, drawn, rng.permutation(n), U, V, c, rate, shrink, pairwise)
    return lambda chosen: U[chosen] @ V.T + c


def least_squares(table: sparse.csr_matrix, *, k: int, sweeps: int, weight: float, shrink: float) -> Scores:
    """Scores (n, items) of users: seen pairs are ones of weight 1 + ``weight``, all others zeros of weight 1."""
    rng = np.random.default_rng(0)
    ones = sparse.csr_matrix((np.ones(table.nnz), table.indices, table.indptr), table.shape)
    U, V = (0.1 * rng.standard_normal((size, k)) for size in table.shape)
    tables = ones, ones.T.tocsr()
    for _ in range(sweeps):
        U = _solved(tables[0], V, weight, shrink)
        V = _solved(tables[1], U, weight, shrink)
    return lambda chosen: U[chosen] @ V.T


def _solved(table: sparse.csr_matrix, V: np.ndarray, weight: float, shrink: float) -> np.ndarray:
    base = V.T @ V + shrink * np.eye(V.shape[1])
    outer = (V[:, :, None] * V[:, None, :]).reshape(len(V), -1)
    A = base + weight * (table @ outer).reshape(table.shape[0], *base.shape)
    return np.linalg.solve(A, (1.0 + weight) * (table @ V)[:, :, None])[:, :, 0]
