"""Information of an answer of two about a total, for many people at once: compiled.

    p(t)  =  sum_k w_k P(t | x_k)                        P: of the open items together, at the nodes of the grid
    E H(y_c | T)  =  sum_t p(t) h(a_c(t)),               h(a) = - a log a - (1 - a) log(1 - a)
    a_c(t)  =  p(lower answer to c | T = t)  =  sum_k w_k (1 - q_ck) P_c(t | x_k) / p(t)

P_c, without item c, is P divided by 1 - q + q z as generating functions: from below where q <= 1/2, else from above, so
that rounding errors never grow. It is the information of `total.TotalPredictive`, without its Fourier transforms.
"""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["NEGLIGIBLE", "left_open"]

_options = {"cache": True, "nogil": True, "error_model": "numpy"}
_fast = _options | {"fastmath": {"reassoc", "contract", "nsz"}}
NEGLIGIBLE = 1e-14  # weight of a node of the grid, and probability of a total, that is left out
TINY = 1e-300
CELLS = 2**17  # probabilities of which logarithms are taken together: they stay in the processor's cache


def left_open(weights: np.ndarray, q: np.ndarray, open_: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """E H(y_c | T), nats.

    Parameters
    ----------
    weights : (people, k) array
        Of the nodes of the grid.
    q : (items, k) array
        Probability, at each node, of the answer that counts more.
    open_ : (people, items) array of bool
        Items of the total that were not asked.
    wanted : (people, items) array of bool
        Items, in the total or not, whose entropies are wanted; of the others they are 0.

    Returns
    -------
    (people, items) array
    """
    found, n = np.zeros(wanted.shape), 1 + int(open_.sum(axis=1).max(initial=0))
    step = max(1, CELLS // (n * len(q)))
    for start in range(0, len(wanted), step):
        part = slice(start, start + step)
        shares, p = np.empty((2, int(wanted[part].sum()) * n)), np.zeros((len(weights[part]), n))
        used = _shares(weights[part], q, open_[part], wanted[part], shares, p)
        shares = shares[:, :used]
        _sums(shares, np.log(shares), p, open_[part], wanted[part], found[part])
    return found


@numba.njit(**_options)
def _product(q: np.ndarray, open_: np.ndarray, nodes: np.ndarray, n: int, table: np.ndarray) -> int:
    """Write the distribution (values, n) of the sum of the open items at the first n ``nodes``; how many these are."""
    top = 0
    table[0, :n] = 1.0
    here = np.empty(n)
    for i in range(len(q)):
        if not open_[i]:
            continue
        for j in range(n):
            here[j] = q[i, nodes[j]]
        top += 1
        table[top, :n] = 0.0
        for t in range(top, 0, -1):
            for j in range(n):
                table[t, j] += here[j] * (table[t - 1, j] - table[t, j])
        for j in range(n):
            table[0, j] -= here[j] * table[0, j]
    return top


@numba.njit(**_options)
def _ends(p: np.ndarray, top: int, negligible: float) -> tuple[int, int]:
    """First value that is not negligible, and the one behind the last."""
    low, high = 0, top + 1
    while low < top and p[low] < negligible:
        low += 1
    while high > low + 1 and p[high - 1] < negligible:
        high -= 1
    return low, high


@numba.njit(**_fast)
def _shares(
    weights: np.ndarray, q: np.ndarray, open_: np.ndarray, wanted: np.ndarray, shares: np.ndarray, p: np.ndarray
) -> int:
    """Write a_c(t) and 1 - a_c(t) of each person, item that is wanted, and total that is not negligible, and p(t)."""
    n_nodes, used = q.shape[1], 0
    nodes, w = np.empty(n_nodes, np.int64), np.empty((p.shape[1], n_nodes))
    here, ratio, part, g = np.empty(n_nodes), np.empty(n_nodes), np.empty(n_nodes), np.empty(n_nodes)
    over = np.empty(p.shape[1])
    below = np.zeros((p.shape[1], n_nodes + 1))  # sums over the nodes before each
    for u in range(len(weights)):
        n, total = 0, 0.0
        for k in range(n_nodes):
            if weights[u, k] > NEGLIGIBLE:
                nodes[n] = k
                total += weights[u, k]
                n += 1
        top = _product(q, open_[u], nodes, n, w)
        for j in range(n):
            g[j] = weights[u, nodes[j]] / total
        for t in range(top + 1):
            for j in range(n):
                w[t, j] *= g[j]
                below[t, j + 1] = below[t, j] + w[t, j]
            p[u, t] = below[t, n]
        first, last = _ends(p[u], top, NEGLIGIBLE)
        for t in range(last - first):
            over[t] = 1.0 / max(p[u, first + t], TINY)
        for c in range(len(q)):
            if not wanted[u, c]:
                continue
            found = shares[0, used : used + last - first]
            for j in range(n):
                here[j] = q[c, nodes[j]]
            if not open_[u, c]:
                for t in range(first, last):
                    one = 0.0
                    for j in range(n):
                        one += w[t, j] * (1.0 - here[j])
                    found[t - first] = one
            else:
                low, high = n, 0  # nodes where the lower answer is the likelier one
                for j in range(n):
                    if here[j] <= 0.5:
                        low, high = min(low, j), j + 1
                low = min(low, high)
                for j in range(high - low):
                    x = here[low + j]
                    ratio[j], g[j] = x / (1.0 - x) if x <= 0.5 else 0.0, 0.0
                for t in range(first, last):
                    one, row = 0.0, w[t, low:high]
                    for j in range(high - low):
                        g[j] = row[j] - ratio[j] * g[j]
                        one += g[j]
                    found[t - first] = below[t, n] - below[t, high] + below[t, low] + one
                low, high = n, 0
                for j in range(n):
                    if here[j] > 0.5:
                        low, high = min(low, j), j + 1
                low = min(low, high)
                for j in range(high - low):
                    x = here[low + j]
                    part[j], ratio[j], g[j] = 1.0 if x > 0.5 else 0.0, (1.0 - x) / x if x > 0.5 else 0.0, 0.0
                for t in range(last - 1, first - 1, -1):
                    one, row = 0.0, w[t, low:high]
                    for j in range(high - low):
                        g[j] = part[j] * row[j] - ratio[j] * g[j]
                        one += g[j]
                    found[t - first] -= one
            other = shares[1, used : used + last - first]
            for t in range(last - first):
                a = found[t] * over[t]
                found[t], other[t] = max(a, TINY), max(1.0 - a, TINY)
            used += last - first
    return used


@numba.njit(**_options)
def _sums(
    shares: np.ndarray, logs: np.ndarray, p: np.ndarray, open_: np.ndarray, wanted: np.ndarray, found: np.ndarray
) -> None:
    """Mean entropies, over the totals, of what ``_shares`` wrote."""
    used = 0
    for u in range(len(p)):
        first, last = _ends(p[u], np.sum(open_[u]), NEGLIGIBLE)
        for c in range(wanted.shape[1]):
            if wanted[u, c]:
                for t in range(first, last):
                    entropy = shares[0, used] * logs[0, used] + shares[1, used] * logs[1, used]
                    found[u, c] -= p[u, t] * entropy
                    used += 1
