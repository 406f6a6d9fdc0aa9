"""The view of a topic model that the loop reads with: metadata rows are what is chosen, documents what comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from adaptive import checks
from adaptive.estimators.base import DesignMixin
from adaptive.estimators.topics.documents import Documents, counts_of_words
from adaptive.estimators.topics.weights import softmax_moments, unit_draws

if TYPE_CHECKING:
    from adaptive.estimators.topics.documents import Read, Vocabulary
    from adaptive.estimators.topics.metadata_topic_model import MetadataTopicModel
    from adaptive.predictive import Predictive
    from adaptive.types import Pool, RandomState, State

__all__ = ["TopicReader"]


class TopicReader(DesignMixin, BaseEstimator):
    """Choose which document to read next, by its metadata; made by ``MetadataTopicModel.reader``.

    Parameters
    ----------
    model : MetadataTopicModel
        Learns from what is read, one single-pass step at a time.
    words_expected : float, optional
        Of a document that is not read yet; None: the mean of those that were, before any 100.
    vocabulary : list of str, or mapping word -> column, optional
        Where documents come as lists of words; None: the names of the columns of the model's counts.

    Attributes
    ----------
    unknown_words_ : int
        Words of lists that are not in the vocabulary, ignored so far.
    """

    def __init__(
        self, model: MetadataTopicModel, *, words_expected: float | None = None, vocabulary: Vocabulary = None
    ) -> None:
        self.model = model
        self.words_expected = words_expected
        self.vocabulary = vocabulary
        self.unknown_words_ = 0

    def __sklearn_is_fitted__(self) -> bool:
        return self.model.__sklearn_is_fitted__()

    def partial_fit(self, rows: Pool, documents: Read) -> Self:
        """Learn from documents that were read.

        Parameters
        ----------
        rows : metadata, m rows
        documents : (m, V) counts, or a list of m sparse rows, (V,) arrays of counts, or lists of words
        """
        counts, unknown = self._counts(documents)
        self.model.partial_fit(counts, rows)
        self.unknown_words_ += unknown
        return self

    def _counts(self, documents: Read) -> tuple[sp.csr_array, int]:
        columns = self.model.belief_.data if self.__sklearn_is_fitted__() else None
        vocabulary = self.vocabulary if columns is None or self.vocabulary is not None else columns.words
        return counts_of_words(documents, None if columns is None else columns.n_words, vocabulary)

    def predictive(
        self, candidates: Pool, *, target: Pool | None = None, random_state: RandomState = None
    ) -> Predictive:
        """Predictive of reading candidates, about the weights, or the topics of documents with metadata ``target``."""
        if self.words_expected is not None:
            checks.positive("words_expected", self.words_expected)
        return self.model.predictive(
            candidates, target=target, random_state=random_state, words_expected=self.words_expected
        )

    def log_predictive(self, rows: Pool, documents: Read) -> np.ndarray:
        """(m,) log probabilities of documents' words, taken as independent given the proportions that are predicted."""
        belief = self.model.fitted_belief()
        counts = Documents.of(self._counts(documents)[0], rows, belief.data).counts
        mean, variance = belief.forecast(rows, counts.shape[0])
        proportions = softmax_moments(mean, variance, unit_draws(belief.settings.n_topics))[0]
        return log_probabilities(counts, proportions, belief.word_probabilities)

    def state(self) -> State:
        """Fitted state, as plain data."""
        return {"model": self.model.state(), "unknown_words": self.unknown_words_}

    def restore(self, state: State) -> Self:
        """Take over what ``state`` returned."""
        self.model.restore(state["model"])
        self.unknown_words_ = int(state["unknown_words"])
        return self


def log_probabilities(counts: sp.csr_array, proportions: np.ndarray, words: np.ndarray) -> np.ndarray:
    """(D,) sums over tokens of  log sum_k proportions_k words_vk,  a block of entries at a time."""
    documents = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    terms = np.empty(counts.nnz)
    for start in range(0, counts.nnz, 100_000):
        part = slice(start, start + 100_000)
        terms[part] = np.log(np.einsum("ik,ik->i", proportions[documents[part]], words[counts.indices[part]]))
    return np.bincount(documents, weights=counts.data * terms, minlength=counts.shape[0])
