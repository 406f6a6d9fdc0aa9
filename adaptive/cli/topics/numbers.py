"""The number of topics by which texts that were left out are completed best, or the smallest that does as well.

One half of each text left out is completed from the other. Numbers are tried from 2 upward, with growing steps, until
two in a row complete no better than the best. Taken is the smallest of which the loss against the best, text by
text, is within its own standard error. The numbers next to it are tried as well, until both neighbours of the one that
is taken were.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from adaptive.estimators import MetadataTopicModel

__all__ = ["NUMBERS", "best_number", "learnt"]

NUMBERS = (2, 3, 4, 6, 8, 12, 16, 24, 32)
PARTS, MOST_JUDGED = 5, 200  # so many texts are enough: of a large block one part is left out, of a small one each
STARTS, TOL = 3, 1e-4  # by a larger one some models were left where topics are still mixed
WORK, TRIAL, PASSES = 2e8, 5e7, (30, 400)  # words times topics times passes: about a second and a half, and a third


def learnt(n_topics: int, seed: int, counts: sp.csr_array, metadata: Any, work: float = WORK) -> MetadataTopicModel:
    """Topics of a block, learnt in batch until they are at rest, or for as many passes as some seconds allow."""
    passes = int(np.clip(work / max(counts.nnz * n_topics, 1), *PASSES))
    model = MetadataTopicModel(n_topics, max_iter=passes, tol=TOL, n_init=STARTS, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not at rest: what it completes is said
        return model.fit(counts, metadata)


def best_number(counts: sp.csr_array, metadata: Any, seed: int) -> tuple[int, list[list[float]]]:
    """Return the number, and of each that was tried: itself, nats a word, the loss against the best, standard error."""
    tried: dict[int, np.ndarray] = {}
    for number in NUMBERS:
        if number > min(counts.shape):
            break
        found = _completed(number, counts, metadata, seed)
        if len(found) < 2:
            break
        tried[number] = found
        if max(tried, key=lambda k: float(tried[k].mean())) not in list(tried)[-2:]:
            break
    if not tried:
        return NUMBERS[0], []
    rows = _compared(tried)
    while left := [k for k in _beside(_chosen(rows)) if k not in tried and k <= min(counts.shape)]:
        found = _completed(left[0], counts, metadata, seed)
        if len(found) != len(next(iter(tried.values()))):
            break
        tried[left[0]] = found
        rows = _compared(tried)
    return _chosen(rows), rows


def _beside(number: int) -> list[int]:
    """The numbers next to one, within those that are tried."""
    return [k for k in (number - 1, number + 1) if NUMBERS[0] <= k <= NUMBERS[-1]]


def _compared(tried: dict[int, np.ndarray]) -> list[list[float]]:
    """Rows in the order of the numbers, by what was completed of each text."""
    best = max(tried.values(), key=lambda found: float(found.mean()))
    rows = []
    for number, found in sorted(tried.items()):
        loss = best - found
        rows.append([number, float(found.mean()), float(loss.mean()), float(loss.std(ddof=1) / np.sqrt(len(loss)))])
    return rows


def _chosen(rows: list[list[float]]) -> int:
    """The smallest number whose loss against the best is within its standard error."""
    return next(int(row[0]) for row in rows if row[2] <= row[3])


def _completed(number: int, counts: sp.csr_array, metadata: Any, seed: int) -> np.ndarray:
    """Nats a word of texts that were left out, part by part."""
    values: list[float] = []
    place = np.arange(counts.shape[0]) % PARTS
    for part in range(PARTS):
        out = place == part
        rest = counts[~out]
        if len(values) >= MOST_JUDGED:
            break
        if counts[out].sum(axis=1).max(initial=0) < 2 or rest.nnz == 0:
            continue
        logs, words = learnt(number, seed, rest, metadata[~out], TRIAL).completion(counts[out], metadata[out])
        values += (logs[words > 0] / words[words > 0]).tolist()
    return np.array(values)
