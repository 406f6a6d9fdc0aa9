"""Softmax outcomes averaged over Gaussian scores:  E softmax(s)  and  E H(softmax(s)),  s ~ N(m, V), c classes.

Only differences of scores matter, so c - 1 dimensions are to be integrated.  One of them is a function of one number:
given the other scores, the score s_a of class a is N(x, sigma^2), and with the logarithm l of the sum of the others'
exponentials, q their softmax, and G and B of :mod:`adaptive.predictive.smoothed_sigmoid`,

    E p_a = G(x - l),    E p_k = (1 - G(x - l)) q_k,    E H(p) = B(x - l) + (1 - G(x - l)) H(q),

where sigma is the same at every node.  The c - 2 dimensions that are left take the trapezoid rule for up to four
classes, whose error falls exponentially (below 1e-6 with the steps used here), and else a fixed set of quasi-Monte
Carlo nodes with their mirror images, common to all candidates; see ``softmax_moments`` for its error.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numba import njit
from scipy.special import entr, ndtri

from adaptive.predictive.smoothed_sigmoid import (
    HALF_WINDOW,
    REACH,
    STEP,
    interpolated,
    pieces,
    spacing,
    stride_for,
    tables,
    tabulate,
)
from adaptive.predictive.softmax_grid import SAFE, on_grid

__all__ = ["QUASI_NODES", "information_error", "quasi_nodes", "softmax_moments"]

QUASI_NODES = 256  # for five classes and more
_GRID_CLASSES = 4  # up to here a grid
_FARTHEST = 1e8  # of latents from 0, or their deviations: an entropy beyond it is less than 1e-7
_ACCURACY = 17.0  # nats, of the grid: it errs by 3e-7, most in entropies (14.5: by 5e-6)
_LEAST = 8.0  # of a grid that counts for next to nothing
_MOST = (0, 400, 200)  # nodes per dimension where there are so many dimensions; enough for a spread of 40, 20


@cache
def quasi_nodes(dimension: int, count: int, seed: int = 2) -> np.ndarray:
    """Return (count, dimension) scrambled Sobol points of a standard normal, the second half mirroring the first."""
    from scipy.stats import qmc

    half = ndtri(np.clip(qmc.Sobol(dimension, seed=seed).random(count // 2), 1e-12, 1 - 1e-12))
    half /= np.sqrt(np.mean(np.square(half), axis=0))  # every coordinate has variance one, exactly
    return np.concatenate([half, -half])


@njit(cache=True)
def _largest(centre: np.ndarray, root: np.ndarray, far: float) -> float:
    """A number that no score on the grid, nor a part of it, is beyond."""
    largest = 0.0
    for i in range(len(centre)):
        reach = abs(centre[i])
        for d in range(i + 1):
            reach += 1.1 * far * abs(root[i, d])
        largest = max(largest, reach)
    return largest


@njit(cache=True)
def _integrate(
    mean: np.ndarray,
    covariance: np.ndarray,
    quasi: np.ndarray,
    rest: np.ndarray,
    entropy: np.ndarray,
    sigmoids: np.ndarray,
    entropies: np.ndarray,
    accuracy: float,
    out: np.ndarray,
) -> None:
    """Write the c probabilities and the expected entropy of every candidate; scores are (m, c) and (m, c, c)."""
    m, c = mean.shape
    dims = c - 2
    far = math.sqrt(2.0 * accuracy)  # standard deviations that a grid reaches
    gridded = c <= _GRID_CLASSES
    space = 4096 if gridded else len(quasi)
    others = np.empty((space, c - 1))  # q
    where = np.empty(space)  # x - l
    left = np.empty(space)  # H(q)
    weight = np.empty(space)
    order = np.empty(c, np.int64)
    root = np.empty((c - 1, c - 1))
    centre = np.empty(c - 1)
    z = np.zeros(max(dims, 1))
    step = np.zeros(2)
    sizes = np.ones(2, np.int64)
    table, smooth = np.empty((2, 4096)), np.empty((4096, 12))
    weights = np.empty(4096)
    total = np.empty(c)
    for row in range(m):
        V, s = covariance[row], mean[row]
        # class a, of the largest variance about the mean score, comes last; the others are seen from the first of them
        a, most = 0, -1.0
        for k in range(c):
            spread = V[k, k]
            for l in range(c):
                spread -= 2.0 * V[k, l] / c
            if k == 0 or spread > most:
                a, most = k, spread
        n = 0
        for k in range(c):
            if k != a:
                order[n] = k
                n += 1
        order[c - 1] = a
        base = order[0]
        for i in range(1, c):
            k = order[i]
            centre[i - 1] = s[k] - s[base]
            for j in range(1, i + 1):
                l = order[j]
                root[i - 1, j - 1] = V[k, l] - V[k, base] - V[base, l] + V[base, base]
        scale = 0.0
        for i in range(c - 1):
            scale = max(scale, root[i, i])
        for j in range(c - 1):  # Cholesky's, of a matrix that may be singular
            pivot = root[j, j]
            for l in range(j):
                pivot -= root[j, l] ** 2
            pivot = math.sqrt(pivot) if pivot > 1e-13 * scale else 0.0
            root[j, j] = pivot
            for i in range(j + 1, c - 1):
                value = root[i, j]
                for l in range(j):
                    value -= root[i, l] * root[j, l]
                root[i, j] = value / pivot if pivot > 0.0 else 0.0
        sigma = root[c - 2, c - 2]
        # nodes
        nodes = len(quasi)
        if gridded:
            nodes = 1
            for d in range(dims):
                low, high = 0.0, 0.0
                for i in range(d, c - 1):
                    low, high = min(low, root[i, d]), max(high, root[i, d])
                step[d] = spacing(high - low, accuracy)
                sizes[d] = min(2 * math.ceil(far / step[d]) + 1, _MOST[dims] + 1)
                step[d] = max(step[d], 2.0 * far / sizes[d])
                if high - low <= 0.0:
                    sizes[d] = 1
                nodes *= sizes[d]
            if nodes > space:
                space = 2 * nodes
                others, where = np.empty((space, c - 1)), np.empty(space)
                left, weight = np.empty(space), np.empty(space)
        used = 0
        if 0 < dims and gridded and _largest(centre, root, far) < SAFE:
            used = on_grid(centre, root, step, sizes, far * far + 1.0, others, where, left, weight)
            nodes = 0
        for node in range(nodes):
            w = 1.0
            if gridded:
                square, index = 0.0, node
                for d in range(dims):
                    z[d] = (index % sizes[d] - (sizes[d] - 1) // 2) * step[d]
                    index //= sizes[d]
                    square += z[d] * z[d]
                if square > far * far + 1.0:
                    continue
                w = math.exp(-0.5 * square)
            else:
                for d in range(dims):
                    z[d] = quasi[node, d]
            peak = 0.0
            others[used, 0] = 0.0
            for i in range(dims):
                t = centre[i]
                for d in range(i + 1):
                    t += root[i, d] * z[d]
                others[used, i + 1] = t
                peak = max(peak, t)
            x = centre[c - 2]
            for d in range(dims):
                x += root[c - 2, d] * z[d]
            norm, product = 0.0, 0.0
            for i in range(c - 1):
                t = others[used, i] - peak
                e = math.exp(t)
                others[used, i] = e
                norm += e
                product += e * t
            inverse = 1.0 / norm
            for i in range(c - 1):
                others[used, i] *= inverse
            log_norm = math.log(norm)
            left[used] = max(log_norm - product * inverse, 0.0)
            where[used] = x - peak - log_norm
            weight[used] = w
            used += 1
        mass, lowest, highest = 0.0, np.inf, -np.inf
        for node in range(used):
            mass += weight[node]
            lowest, highest = min(lowest, where[node]), max(highest, where[node])
        # G and B where they are needed
        stride = stride_for(sigma)
        unit = stride * STEP
        limit = HALF_WINDOW + REACH * sigma
        first = math.floor(max(lowest, -limit) / unit) - 2
        count = math.ceil(min(highest, limit) / unit) + 3 - first + 1
        count = max(count, 6)
        if count > table.shape[1]:
            table, smooth = np.empty((2, 2 * count)), np.empty((2 * count, 12))
        tabulate(sigma, first * stride, stride, count, rest, entropy, sigmoids, entropies, weights, table)
        pieces(table, count, smooth)
        total[c - 1], expected = _summed(where, weight, left, used, limit, 1.0 / unit, first, count, smooth)
        for i in range(c - 1):
            total[i] = _product(weight, others, used, i)
        for i in range(c):
            out[row, order[i]] = total[i] / mass
        out[row, c] = expected / mass


@njit(cache=True, fastmath={"reassoc", "contract"})
def _summed(
    where: np.ndarray,
    weight: np.ndarray,
    left: np.ndarray,
    used: int,
    limit: float,
    per_unit: float,
    first: int,
    count: int,
    smooth: np.ndarray,
) -> tuple[float, float]:
    """Sums over the nodes of w G and of w (B + (1 - G) H(q)); every weight w becomes w (1 - G)."""
    mass, expected = 0.0, 0.0
    for node in range(used):
        u, w = where[node], weight[node]
        g, b = 1.0 if u > 0.0 else 0.0, 0.0
        if abs(u) < limit:
            g, b = interpolated(smooth, count, u * per_unit - first)
        mass += w * g
        expected += w * b + w * (1.0 - g) * left[node]
        weight[node] = w * (1.0 - g)
    return mass, expected


@njit(cache=True, fastmath={"reassoc", "contract"})
def _product(weight: np.ndarray, others: np.ndarray, used: int, i: int) -> float:
    total = 0.0
    for node in range(used):
        total += weight[node] * others[node, i]
    return total


def softmax_moments(
    mean: np.ndarray, covariance: np.ndarray, nodes: int | None = None, seed: int = 2, share: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return class probabilities and expected entropies.

    Parameters
    ----------
    mean : (m, c) array
        Scores, c >= 2; a constant added to a row changes nothing.
    covariance : (m, c, c) array
        Their covariances, positive semi-definite on differences of scores.
    nodes : int, optional
        Quasi-Monte Carlo nodes for five classes and more, a power of two; default 256, whose root-mean-square error in
        a probability is 4e-4 to 8e-4 (scores of standard deviation 1), 1e-3 to 2.5e-3 (2), for five to twenty classes;
        of the information see ``information_error``.
    seed : int, default 2
        Of the nodes.
    share : float, default 1.0
        Weight of what is returned in an average: a grid may err by 1 / share as much.

    Returns
    -------
    probabilities : (m, c) array
        Rows add up to one.
    expected_entropy : (m,) array, nats
        At most the entropy of the row's probabilities: both come from the same nodes.

    Examples
    --------
    >>> probabilities, entropy = softmax_moments(np.zeros((1, 3)), np.zeros((1, 3, 3)))
    >>> probabilities.round(6), entropy.round(6)
    (array([[0.333333, 0.333333, 0.333333]]), array([1.098612]))
    """
    mean, covariance = np.ascontiguousarray(mean, dtype=float), np.ascontiguousarray(covariance, dtype=float)
    m, c = mean.shape
    # latents so far apart decide for one class, by which does not change where all are scaled down
    widest = np.sqrt(np.maximum(np.einsum("mii->mi", covariance).max(axis=1), np.square(mean).max(axis=1)))
    scale = np.maximum(1.0, widest / _FARTHEST)
    mean, covariance = mean / scale[:, None], covariance / np.square(scale)[:, None, None]
    quasi = np.zeros((1, 1))
    if c > _GRID_CLASSES:
        quasi = quasi_nodes(c - 2, QUASI_NODES if nodes is None else nodes, seed)
    out = np.empty((m, c + 1))
    _integrate(mean, covariance, quasi, *tables(), max(_ACCURACY + math.log(share), _LEAST), out)
    probabilities = np.maximum(out[:, :c], 0.0)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return probabilities, np.clip(out[:, c], 0.0, entr(probabilities).sum(axis=1))


def information_error(mean: np.ndarray, covariance: np.ndarray, repeats: int = 8) -> np.ndarray:
    """Return standard errors (m,), nats, of the informations  H(E p) - E H(p)  that ``softmax_moments`` gives.

    They are deviations over ``repeats`` other sets of nodes: .001 to .004 for scores of standard deviation 1 and five
    to ten classes, .003 to .011 for 2. Nodes are common to all candidates: much of it is no matter of rank. Zero
    for up to four classes, which take a grid.
    """
    if mean.shape[1] <= _GRID_CLASSES:
        return np.zeros(len(mean))
    found = [softmax_moments(mean, covariance, seed=3 + k) for k in range(repeats)]
    informations = np.stack([entr(p).sum(axis=1) - entropy for p, entropy in found])
    return informations.std(axis=0, ddof=1)
