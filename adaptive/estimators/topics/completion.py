"""The variance of documents about their forecast, by completion: what predicts the other half of unseen documents best.

Evidence asks how far documents lie from what their metadata say; completion asks which width is of use.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.topics.belief import TopicBelief
from adaptive.estimators.topics.documents import Documents, halves
from adaptive.estimators.topics.reader import log_probabilities
from adaptive.estimators.topics.settings import TopicSettings

__all__ = ["chosen_variance"]

VARIANCES = (0.1, 0.3, 1.0, 3.0)
ONE_IN = 10  # documents are left out
PASSES = 30
FEWEST = 20


def chosen_variance(settings: TopicSettings, documents: Documents) -> float:
    """The document variance under which documents that were left out are completed best."""
    documents = documents.not_empty()
    n = documents.counts.shape[0]
    if n < FEWEST:
        raise ValueError(f'document_variance="completion" needs {FEWEST} documents with words or more, got {n}.')
    order = np.random.default_rng(settings.seed()).permutation(n)
    held, kept = np.sort(order[: n // ONE_IN]), np.sort(order[n // ONE_IN :])
    first, second = halves(documents.counts[held], 0)
    rest = Documents(documents.columns, documents.counts[kept], documents.rows[kept])
    score = {}
    for variance in VARIANCES:
        tried = replace(settings, document_variance=variance, max_iter=min(settings.max_iter, PASSES), n_init=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            belief = TopicBelief.learnt(tried, rest)
        mean, spread = belief.posterior.forecast(documents.rows[held])
        proportions = belief.inferred(first, mean, spread + belief.tables.noise).proportions
        score[variance] = float(log_probabilities(second, proportions, belief.word_probabilities).sum())
    return max(VARIANCES, key=lambda variance: score[variance])
