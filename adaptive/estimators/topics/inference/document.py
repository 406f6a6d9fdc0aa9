"""One document: the topics of its words, given a forecast of its topic scores y ~ N(a, r) or a Dirichlet.

    share of topic k in a token of word w  ~  t_k (beta + n_kw) / (B + n_k)            n: counts without this token

where t is softmax(y) at the mode of y ("newton"), or exp(psi(nu)) of the document's Dirichlet, with the source's
second-order correction of the counts (5.26). All tokens of a document are updated at once, from the counts of the sweep
before: the order of the words does not matter. Tokens of one word share their topics.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from adaptive.estimators.topics.inference.laplace_bridge import to_dirichlet, to_gaussian
from adaptive.estimators.topics.inference.special import digamma

__all__ = ["BRIDGE", "DIRICHLET", "MOMENTS", "NEWTON", "correction", "infer", "message", "mode_step"]

NEWTON, BRIDGE, MOMENTS, DIRICHLET = 0, 1, 2, 3  # the last: a Dirichlet that is given, no forecast
LARGEST = 1e6  # concentration of a topic
LONGEST_STEP = 2.0
LEAST = 0.02  # of the information that words would have if their topics were known
# IEEE division: loops over topics vectorise.
FAST = numba.njit(cache=True, error_model="numpy")
# Sums in lanes whose order depends on their number alone: such a loop reads one array and writes none. In loops that
# write, bits could depend on where arrays lie.
LANES = numba.njit(cache=True, fastmath={"reassoc", "nnan", "nsz"})


@LANES
def added(values: np.ndarray) -> float:
    """The sum."""
    total = 0.0
    for k in range(len(values)):
        total += values[k]
    return total


@LANES
def largest(values: np.ndarray) -> float:
    """The maximum."""
    top = values[0]
    for k in range(1, len(values)):
        top = max(top, values[k])
    return top


@FAST
def exponentials(scores: np.ndarray, top: float, result: np.ndarray) -> None:
    """Fill ``result`` with exp(scores - top), scores <= top, by (sum_i z^i / i!)^1024: a loop of products alone.

    To 1e-12 relative from -20 on, to 1e-8 from -60 on; what is smaller yet stays below 1e-25.
    """
    for k in range(len(scores)):
        z = max(scores[k] - top, -700.0) * (1.0 / 1024.0)
        y = 1.0 + z * (1.0 + z * (1 / 2 + z * (1 / 6 + z * (1 / 24 + z * (1 / 120 + z * (1 / 720))))))
        y *= y
        y *= y
        y *= y
        y *= y
        y *= y
        y *= y
        y *= y
        y *= y
        y *= y
        y *= y
        result[k] = y


@FAST
def softmax(scores: np.ndarray, result: np.ndarray) -> None:
    """Fill ``result`` with softmax(scores)."""
    exponentials(scores, largest(scores), result)
    scale = 1.0 / added(result)
    for k in range(len(scores)):
        result[k] *= scale


@FAST
def mode_step(
    scores: np.ndarray, proportions: np.ndarray, mean: np.ndarray, variance: np.ndarray, counts: np.ndarray,
    total: float, work: np.ndarray,
) -> float:  # fmt: skip
    """One Newton step of  max_y  - sum (y - a)^2 / (2 r) + sum N_k y_k - N log sum exp y,  at most 2 in any topic.

    The Hessian, diag(1 / r + N p) - N p p', is inverted exactly: by p / (1 / r + N p) = r p / (1 + N r p). Returns the
    longest step before it was cut; ``work`` (3, K) is overwritten.
    """
    K = len(scores)
    step, pulled, product = work[0], work[1], work[2]
    for k in range(K):
        p, r = proportions[k], variance[k]
        width = 1.0 / (1.0 + total * r * p)
        step[k] = width * (mean[k] - scores[k] + r * (counts[k] - total * p))
        pulled[k] = width * r * p
        product[k] = p * step[k]
    up = added(product)
    for k in range(K):
        product[k] = proportions[k] * pulled[k]
    pull = total * up / (1.0 - total * added(product))
    for k in range(K):
        step[k] += pull * pulled[k]
        product[k] = abs(step[k])
    longest = largest(product)
    shorter = min(1.0, LONGEST_STEP / longest) if longest > 0.0 else 1.0
    for k in range(K):
        scores[k] += shorter * step[k]
    softmax(scores, proportions)
    return longest


@numba.njit(cache=True)
def correction(count: float, spread: float, prior: float) -> float:
    """Second-order term  spread / (2 (prior + count)^2)  of a logarithm; none where little was counted, at most 2."""
    level = prior + count
    return 0.0 if level < 0.5 else min(max(spread, 0.0) / (2.0 * level * level), 2.0)


@FAST
def infer(
    ids: np.ndarray, numbers: np.ndarray, table: np.ndarray, spreads: np.ndarray, totals: np.ndarray,
    total_spreads: np.ndarray, prior: float, step: int, mean: np.ndarray, variance: np.ndarray,
    concentration: np.ndarray, start: np.ndarray, collapsed: float, warm: bool, tol: float, max_sweeps: int,
    scores: np.ndarray, proportions: np.ndarray, shares: np.ndarray, counts: np.ndarray,
) -> float:  # fmt: skip
    """Fill ``shares`` (n, K) of the n words, expected ``counts`` (K,), and the document's ``scores``, ``proportions``.

    Parameters
    ----------
    ids, numbers : (n,) arrays
        Words and how often each stands there.
    table, spreads, totals, total_spreads : (V, K), (V or 0, K), (K,), (K,) arrays
        Expected counts without this document, and their variances.
    prior : float
        beta, of each word.
    step : NEWTON, BRIDGE, MOMENTS or DIRICHLET
    mean, variance : (K,) arrays
        The forecast, which DIRICHLET does not look at.
    concentration : (K,) array
        Of DIRICHLET, given; of the bridges, filled with alpha; of NEWTON not used.
    start : (K,) array
        The scores begin here.
    collapsed : float
        1: the document's other tokens count among the topics' words; 0: topics are as the table has them.
    warm : bool
        Begin with the ``shares`` that are there.

    Returns
    -------
    float
        sum over tokens of  log sum_k  proportion_k (beta + n_kw) / (B + n_k).
    """
    n, K = len(ids), len(mean)
    everything = prior * len(table)
    corrected = len(spreads) > 0
    length = 0.0
    for i in range(n):
        length += numbers[i]
    if step in (BRIDGE, MOMENTS):
        to_dirichlet(mean, variance, step == MOMENTS, concentration)
        for k in range(K):
            concentration[k] = min(concentration[k], LARGEST)
    scores[:] = start
    softmax(scores, proportions)
    counts[:] = 0.0
    for i in range(n):
        total = 0.0
        for k in range(K):
            if not warm:
                shares[i, k] = proportions[k] * (prior + table[ids[i], k]) / (everything + totals[k])
            total += shares[i, k]
        for k in range(K):
            shares[i, k] /= total
            counts[k] += numbers[i] * shares[i, k]
    weight, fresh, level, before = np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    own_spreads, work, found = np.zeros(K), np.empty((3, K)), np.empty(n)
    for sweep in range(max_sweeps):
        if step == NEWTON:
            for _ in range(3 if sweep == 0 else 1):
                mode_step(scores, proportions, mean, variance, counts, length, work)
            weight[:] = proportions
        else:
            top = -np.inf
            whole = 0.0
            for k in range(K):
                weight[k] = digamma(concentration[k] + counts[k])
                top = max(top, weight[k])
                whole += concentration[k] + counts[k]
            for k in range(K):
                weight[k] = math.exp(weight[k] - top)
                proportions[k] = (concentration[k] + counts[k]) / whole
        if corrected:
            own_spreads[:] = 0.0
            for i in range(n):
                for k in range(K):
                    own_spreads[k] += collapsed * numbers[i] * shares[i, k] * (1.0 - shares[i, k])
        before[:] = counts
        counts[:] = 0.0
        for k in range(K):
            level[k] = everything + totals[k] + collapsed * before[k]
        for i in range(n):
            word, others = ids[i], collapsed * (numbers[i] - 1.0)
            for k in range(K):
                share = shares[i, k]
                fresh[k] = (prior + table[word, k] + others * share) / (level[k] - collapsed * share)
            if step != NEWTON:
                for k in range(K):
                    work[0, k] = proportions[k] * fresh[k]
            for k in range(K):
                fresh[k] *= weight[k]
            if corrected:
                for k in range(K):
                    share = shares[i, k]
                    spread = share * (1.0 - share)
                    of_word = correction(table[word, k] + others * share, spreads[word, k] + others * spread, prior)
                    of_all = correction(
                        level[k] - everything - collapsed * share,
                        total_spreads[k] + own_spreads[k] - collapsed * spread,
                        everything,
                    )
                    fresh[k] *= math.exp(of_all - of_word)
            total = added(fresh)
            found[i] = total if step == NEWTON else added(work[0])
            scale, number = 1.0 / max(total, 1e-300), numbers[i]
            for k in range(K):
                shares[i, k] = fresh[k] * scale
                counts[k] += number * shares[i, k]
        for k in range(K):
            work[0, k] = abs(counts[k] - before[k])
        if added(work[0]) < tol * K:
            break
    score = 0.0
    for i in range(n):
        score += numbers[i] * math.log(max(found[i], 1e-300))
    if step == NEWTON:
        for _ in range(20):
            if mode_step(scores, proportions, mean, variance, counts, length, work) < 1e-6:
                break
    else:
        whole = length + concentration.sum()
        for k in range(K):
            proportions[k] = (concentration[k] + counts[k]) / whole
    return score


@numba.njit(cache=True)
def message(
    step: int, mean: np.ndarray, variance: np.ndarray, concentration: np.ndarray, scores: np.ndarray,
    proportions: np.ndarray, counts: np.ndarray, precision: np.ndarray, shift: np.ndarray, numbers: np.ndarray,
    shares: np.ndarray,
) -> None:  # fmt: skip
    """Fill what the words say of y: precisions, and precisions times means (K,).

    Of "newton" the observed information of their log likelihood, topic by topic, the topics of words summed out:

        N p_k (1 - p_k)  -  sum_w n_w r_wk (1 - r_wk)

    with r the ``shares`` of the words, of which there are ``numbers``. The second term is what is not known of the
    words' topics (Louis 1982). It may leave nothing; at least ``LEAST`` of the first term is kept.
    """
    K = len(mean)
    if step == NEWTON:  # Laplace: the curvature of the words' part at the mode
        total = counts.sum()
        for k in range(K):
            whole, missing = total * proportions[k] * (1.0 - proportions[k]), 0.0
            for i in range(len(numbers)):
                missing += numbers[i] * shares[i, k] * (1.0 - shares[i, k])
            precision[k] = max(whole - missing, LEAST * whole)
            shift[k] = precision[k] * scores[k] + counts[k] - total * proportions[k]
        return
    a, r, m, s = np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    to_gaussian(concentration, step == MOMENTS, a, r)
    to_gaussian(concentration + counts, step == MOMENTS, m, s)
    for k in range(K):  # against the bridge's own forecast: against (mean, variance) precisions may be negative
        precision[k] = 1.0 / s[k] - 1.0 / r[k]
        shift[k] = m[k] / s[k] - a[k] / r[k]
        if precision[k] < 1e-12:
            precision[k] = shift[k] = 0.0
