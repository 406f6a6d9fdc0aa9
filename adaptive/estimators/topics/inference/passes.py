"""A pass over documents: forecast, words, message, counts; of one seen before, its own part is taken out first."""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np
from scipy.special import psi

from adaptive.estimators.topics.inference import dense_regression, sum_factor
from adaptive.estimators.topics.inference.document import DIRICHLET, infer, message

__all__ = ["Learning", "Memory", "Tables", "improved_word_prior", "read", "sweep"]

LATER_SWEEPS = 2  # of a document that a batch looks at again, from where it was left


class Tables(NamedTuple):
    """All that a pass changes.

    Attributes
    ----------
    words, spreads : (V, K), (V or 0, K) arrays
        Expected counts, and their variances where the step corrects by them.
    totals, total_spreads : (K,) arrays
        Their sums over words.
    precision, shift : (F, K) arrays
        Weights with independent beliefs; of a dense regression (0, K).
    means, covariances : (F, K), (K, F, F) arrays
        Weights of a dense regression; otherwise (0, K) and (K, 0, 0).
    noise : (K,) array
        Variance of a document's scores about what its metadata say.
    """

    words: np.ndarray
    spreads: np.ndarray
    totals: np.ndarray
    total_spreads: np.ndarray
    precision: np.ndarray
    shift: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    noise: np.ndarray


class Learning(NamedTuple):
    """Constants of a pass."""

    step: int
    word_prior: float
    topic_prior: float
    weight_precision: float
    forgetting: float
    decay: float
    decay_every: int
    noise_rate: float  # > 0: the noise is fitted along the way
    seed: int
    tol: float
    max_sweeps: int


class Memory(NamedTuple):
    """Shares of a batch's documents, kept so that it can be divided out.

    Shapes are (words, K), (entries, K, 2) and (documents, K, 2), all of length 0 in a single pass. The messages are
    those to the weights, or of a dense regression about a document's scores.
    """

    shares: np.ndarray
    messages: np.ndarray
    said: np.ndarray


@numba.njit(cache=True)
def _uniform(seed: int, number: int) -> float:
    """A number in (0, 1) that depends on the two only (SplitMix64)."""
    z = np.uint64(seed) + np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (np.float64(z >> np.uint64(11)) + 0.5) / 9007199254740992.0


@numba.njit(cache=True)
def normal(seed: int, number: int) -> float:
    """A standard normal number of its own for every (seed, number)."""
    first, second = _uniform(seed, 2 * number), _uniform(seed, 2 * number + 1)
    return math.sqrt(-2.0 * math.log(first)) * math.cos(2.0 * math.pi * second)


@numba.njit(cache=True)
def sweep(
    indptr: np.ndarray, ids: np.ndarray, numbers: np.ndarray, rows: np.ndarray, columns: np.ndarray,
    values: np.ndarray, tables: Tables, learning: Learning, memory: Memory, first: bool, done: int, result: np.ndarray,
) -> None:  # fmt: skip
    """Learn from documents one after another.

    Parameters
    ----------
    indptr, ids, numbers : CSR arrays of word counts, no document empty
    rows, columns, values : CSR arrays of metadata; rows of length 0: there are none, topics have a fixed Dirichlet
    tables, learning, memory : Tables, Learning, Memory
        The tables, and the memory where it is not empty, are changed.
    first : bool
        Documents are seen for the first time; else what they said before is in ``memory`` and taken out first.
    done : int
        Documents seen before these.
    result : (3 + K,) array
        Filled with log probabilities added over tokens, tokens, divisions skipped, and the sum of what each document
        says of the noise.
    """
    K = len(tables.totals)
    plain, dense, keeps = len(rows) == 0, len(tables.means) > 0, len(memory.shares) > 0
    step = DIRICHLET if plain else learning.step
    mean, variance, forecast = np.zeros(K), np.zeros(K), np.empty(K)
    concentration, start = np.full(K, learning.topic_prior), np.empty(K)
    scores, proportions, counts = np.empty(K), np.empty(K), np.empty(K)
    precision, shift = np.empty(K), np.empty(K)
    longest = 0
    for d in range(len(indptr) - 1):
        longest = max(longest, indptr[d + 1] - indptr[d])
    shares = np.empty((longest, K))
    nothing = np.empty((0, K, 2))
    result[:] = 0.0
    for d in range(len(indptr) - 1):
        a, b = indptr[d], indptr[d + 1]
        number = done + d
        own = shares[: b - a]
        if not first:
            _take(ids[a:b], numbers[a:b], memory.shares[a:b], tables, -1.0)
        if not plain:
            u, v = rows[d], rows[d + 1]
            active, entries = columns[u:v], values[u:v]
            if not first and dense:
                result[2] += dense_regression.multiply(
                    active, entries, tables.means, tables.covariances, memory.said[d, :, 0], memory.said[d, :, 1], -1.0
                )
            elif not first:
                least = 0.5 * learning.weight_precision
                result[2] += sum_factor.divide(active, memory.messages[u:v], tables.precision, tables.shift, least)
            if dense:
                dense_regression.forecast(active, entries, tables.means, tables.covariances, mean, variance)
            else:
                if learning.forgetting < 1.0 and first:
                    sum_factor.forget(
                        active, tables.precision, tables.shift, learning.weight_precision, learning.forgetting
                    )
                sum_factor.forecast(active, entries, tables.precision, tables.shift, mean, variance)
        for k in range(K):
            forecast[k] = tables.noise[k] + variance[k]
            start[k] = mean[k]
            if first:  # symmetry breaks by a draw, of less and less weight as the topics take shape
                start[k] += normal(learning.seed, number * K + k) / (1.0 + 0.001 * number)
        if not first:
            own[:] = memory.shares[a:b]
        score = infer(
            ids[a:b], numbers[a:b], tables.words, tables.spreads, tables.totals, tables.total_spreads,
            learning.word_prior, step, mean, forecast, concentration, start, 1.0, not first, learning.tol,
            learning.max_sweeps if first else LATER_SWEEPS,
            scores, proportions, own, counts,
        )  # fmt: skip
        result[0] += score
        result[1] += counts.sum()
        if not plain:
            message(
                step, mean, forecast, concentration, scores, proportions, counts, precision, shift, numbers[a:b], own
            )
            for k in range(K):  # expectation step: E (y - f . z)^2
                noise, w = tables.noise[k], precision[k]
                left = 1.0 + w * forecast[k]
                apart = noise * (shift[k] - w * mean[k]) / left
                square = apart * apart + noise - noise * noise * w / left
                result[3 + k] += square
                if learning.noise_rate > 0.0:
                    tables.noise[k] += (square - noise) / (10.0 + number) ** learning.noise_rate
            if dense:
                for k in range(K):  # about f . z: the noise between it and y integrated out
                    left = 1.0 + precision[k] * tables.noise[k]
                    precision[k] /= left
                    shift[k] /= left
                    if keeps:
                        memory.said[d, k, 0], memory.said[d, k, 1] = precision[k], shift[k]
                dense_regression.multiply(active, entries, tables.means, tables.covariances, precision, shift, 1.0)
            else:
                sum_factor.learn(
                    active, entries, tables.precision, tables.shift, mean, variance, precision, shift,
                    tables.noise, memory.messages[u:v] if keeps else nothing,
                )  # fmt: skip
        if keeps:
            memory.shares[a:b] = own
            _take(ids[a:b], numbers[a:b], memory.shares[a:b], tables, 1.0)
        else:
            _take(ids[a:b], numbers[a:b], own, tables, 1.0)
        if first and learning.decay < 1.0 and (number + 1) % learning.decay_every == 0:
            tables.words[:] *= learning.decay
            tables.totals[:] *= learning.decay
            tables.spreads[:] *= learning.decay**2
            tables.total_spreads[:] *= learning.decay**2


@numba.njit(cache=True)
def _take(ids: np.ndarray, numbers: np.ndarray, shares: np.ndarray, tables: Tables, sign: float) -> None:
    """Add a document's expected counts and their variances (``sign`` 1), or take them away (-1)."""
    K = len(tables.totals)
    corrected = len(tables.spreads) > 0
    for i in range(len(ids)):
        w = ids[i]
        for k in range(K):
            share = np.float64(shares[i, k])
            add = sign * numbers[i] * share
            tables.words[w, k] = max(tables.words[w, k] + add, 0.0)
            tables.totals[k] = max(tables.totals[k] + add, 0.0)
            if corrected:
                spread = add * (1.0 - share)
                tables.spreads[w, k] = max(tables.spreads[w, k] + spread, 0.0)
                tables.total_spreads[k] = max(tables.total_spreads[k] + spread, 0.0)


@numba.njit(cache=True)
def read(
    indptr: np.ndarray, ids: np.ndarray, numbers: np.ndarray, means: np.ndarray, variances: np.ndarray, tables: Tables,
    learning: Learning, plain: bool, proportions: np.ndarray, scores: np.ndarray, counts: np.ndarray,
) -> None:  # fmt: skip
    """Infer documents with the topics as they are: fill (D, K) proportions, scores at their mode, expected counts."""
    K = len(tables.totals)
    step = DIRICHLET if plain else learning.step
    concentration = np.full(K, learning.topic_prior)
    longest = 0
    for d in range(len(indptr) - 1):
        longest = max(longest, indptr[d + 1] - indptr[d])
    shares = np.empty((longest, K))
    for d in range(len(indptr) - 1):
        a, b = indptr[d], indptr[d + 1]
        infer(
            ids[a:b], numbers[a:b], tables.words, tables.spreads, tables.totals, tables.total_spreads,
            learning.word_prior, step, means[d], variances[d], concentration, means[d], 0.0, False, learning.tol,
            learning.max_sweeps, scores[d], proportions[d], shares[: b - a], counts[d],
        )  # fmt: skip


def improved_word_prior(words: np.ndarray, totals: np.ndarray, prior: float) -> float:
    """Prior beta of words after one step of its fixed point, for (V, K) expected counts and their sums; above 1e-6.

    beta  <-  beta  sum_kv (psi(n_kv + beta) - psi(beta))  /  (V sum_k (psi(n_k + V beta) - psi(V beta)))

    (Minka 2000, estimating a Dirichlet, section 4).

    Examples
    --------
    >>> bool(improved_word_prior(np.array([[100.0, 0.0], [0.0, 100.0]]), np.array([100.0, 100.0]), 0.5) < 0.5)
    True
    """
    V = len(words)
    up = np.sum(psi(words + prior) - psi(prior))
    down = V * np.sum(psi(totals + V * prior) - psi(V * prior))
    return float(max(prior * up / down, 1e-6)) if down > 0 else prior
