"""Belief after documents: expected counts of words in topics, and Gaussians over the metadata's weights."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, TypedDict, Unpack

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.topics.columns import Columns, as_metadata
from adaptive.estimators.topics.documents import Documents
from adaptive.estimators.topics.inference import laplace_bridge
from adaptive.estimators.topics.inference.document import MOMENTS, NEWTON
from adaptive.estimators.topics.inference.passes import Learning, Memory, Tables, improved_word_prior, read, sweep
from adaptive.estimators.topics.weights import Weights, softmax_moments, unit_draws
from adaptive.inference.rest import at_rest
from adaptive.potentials import Gaussian
from adaptive.predictive import GaussianProjections, SummedPredictive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adaptive.estimators.topics.settings import TopicSettings
    from adaptive.types import RandomState, State, Table

__all__ = ["Reading", "TopicBelief"]

START_NOISE, START_WORD_PRIOR = 2.0, 0.05
INNER_TOL, INNER_SWEEPS = 1e-3, 50
FIRST_PASSES = 10  # of each start, where there are several
NOISE_RATE = 0.6  # of stochastic approximation along a stream


@dataclass(frozen=True, eq=False)
class Reading:
    """Documents inferred with the topics as they are: (D, K) proportions and their concentration."""

    proportions: np.ndarray
    concentration: np.ndarray


class Options(TypedDict, total=False):
    """Arguments of ``predictive`` by name."""

    target: Table | None
    random_state: RandomState
    words_expected: float | None


@dataclass(frozen=True, eq=False)
class TopicBelief:
    """See `MetadataTopicModel`.

    Attributes
    ----------
    settings, data : TopicSettings, Columns
        No documents are kept.
    tables : Tables
    word_prior : float
        Given, or fitted.
    seed : int
    n_documents, n_tokens : int
        With words, seen so far; the words of these.
    objective_trace : tuple of float
        Mean log probability of a token, of each pass.
    converged : bool
    n_skipped : int
        Divisions of the last pass that would have left an improper belief.
    n_batch : int
        Documents that were learnt in batch, not in a single pass.
    """

    settings: TopicSettings
    data: Columns
    tables: Tables
    word_prior: float
    seed: int
    n_documents: int
    n_tokens: int
    objective_trace: tuple[float, ...]
    converged: bool
    n_skipped: int
    n_batch: int = 0

    # An approximation without an evidence.
    log_evidence = float("nan")
    evidence_kind = "none"

    @property
    def n_iter(self) -> int:
        """Passes of the last fit."""
        return len(self.objective_trace)

    @property
    def posterior(self) -> Weights:
        """The belief about the weights."""
        return Weights.of(self.tables)

    # -- learning ----------------------------------------------------------------------------------------------------

    @classmethod
    def learnt(
        cls, settings: TopicSettings, documents: Documents, earlier: TopicBelief | None = None, once: bool = False
    ) -> TopicBelief:
        """The belief after documents: ``once`` in one pass after ``earlier`` ones, else in passes from the start."""
        documents = documents.not_empty()
        before = (cls._start if earlier is None else earlier._grown)(settings, documents.columns)
        if documents.counts.shape[0] == 0:
            return before
        return before.one_pass(documents) if once else before._passes(documents)

    @classmethod
    def _start(cls, settings: TopicSettings, columns: Columns) -> TopicBelief:
        K, V, F = settings.n_topics, columns.n_words or 0, columns.width
        precision = 1.0 / settings.prior_variance(columns.typical)
        corrected = settings.step != NEWTON or not columns.has_metadata
        dense = settings.regression == "dense" and F > 0
        given = settings.document_variance
        noise = START_NOISE if given is None or isinstance(given, str) else float(given)
        covariances = np.zeros((K, F, F)) if dense else np.zeros((K, 0, 0))
        if dense:
            covariances[:, np.arange(F), np.arange(F)] = 1.0 / precision
        tables = Tables(
            words=np.zeros((V, K)),
            spreads=np.zeros((V if corrected else 0, K)),
            totals=np.zeros(K),
            total_spreads=np.zeros(K),
            precision=np.full((0 if dense else F, K), precision),
            shift=np.zeros((0 if dense else F, K)),
            means=np.zeros((F if dense else 0, K)),
            covariances=covariances,
            noise=np.full(K, noise),
        )
        word_prior = START_WORD_PRIOR if settings.word_prior is None else float(settings.word_prior)
        return cls(settings, columns, tables, word_prior, settings.seed(), 0, 0, (), True, 0)

    def _grown(self, settings: TopicSettings, columns: Columns) -> TopicBelief:
        """A copy that may be changed, with room for categories that are new."""
        tables = Tables(*(table.copy() for table in self.tables))
        if columns.width > self.data.width:
            variance = settings.prior_variance(columns.typical)
            if len(tables.means):
                weights = self.posterior.grown(columns.width, variance)
                tables = tables._replace(means=weights.mean.copy(), covariances=np.asarray(weights.covariances))
            else:
                extra = (columns.width - self.data.width, settings.n_topics)
                tables = tables._replace(
                    precision=np.concatenate([tables.precision, np.full(extra, 1.0 / variance)]),
                    shift=np.concatenate([tables.shift, np.zeros(extra)]),
                )
        return replace(self, settings=settings, data=columns, tables=tables)

    def learning(self, rate: float = 0.0) -> Learning:
        own = self.settings
        return Learning(
            step=own.step,
            word_prior=self.word_prior,
            topic_prior=float(own.topic_prior),
            weight_precision=1.0 / own.prior_variance(self.data.typical),
            forgetting=float(own.weight_forgetting),
            decay=float(own.word_decay),
            decay_every=int(own.decay_every),
            noise_rate=rate,
            seed=self.seed % 2**62,
            tol=INNER_TOL,
            max_sweeps=INNER_SWEEPS,
        )

    def one_pass(self, documents: Documents) -> TopicBelief:
        rate = NOISE_RATE if self.settings.document_variance is None else 0.0
        nothing = Memory(*_memory(0, 0, 0, self.settings.n_topics))
        learnt, every, done = self.settings.word_prior is None, int(self.settings.decay_every), self.n_documents
        found, prior = np.zeros(3 + self.settings.n_topics), self.word_prior
        for part in _parts(documents, done, every) if learnt else [documents]:
            found += _swept(part, self.tables, replace(self, word_prior=prior).learning(rate), nothing, True, done)
            done += part.counts.shape[0]
            if learnt and done % every == 0:
                prior = improved_word_prior(self.tables.words, self.tables.totals, prior)
        return replace(
            self,
            word_prior=prior,
            n_documents=done,
            n_tokens=self.n_tokens + int(documents.counts.sum()),
            objective_trace=(*self.objective_trace, found[0] / found[1]),
            n_skipped=0,
        )

    def _passes(self, documents: Documents) -> TopicBelief:
        """Over and over, from the best of several starts."""
        runs = [Batch(self._copied(), documents, self.seed + start) for start in range(self.settings.n_init)]
        if len(runs) > 1:
            for run in runs:
                run.go_on(min(FIRST_PASSES, self.settings.max_iter))
        best = max(runs, key=lambda run: run.trace[-1] if run.trace else 0.0)
        best.go_on(self.settings.max_iter)
        if not best.converged and self.settings.max_iter > 1:
            warnings.warn(
                f"the topics still change after max_iter = {self.settings.max_iter} passes, by more than tol = "
                f"{self.settings.tol:g} nats a word in half of them; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return best.learnt()

    def _copied(self) -> TopicBelief:
        return replace(self, tables=Tables(*(table.copy() for table in self.tables)))

    # -- topics of documents -------------------------------------------------------------------------------------------

    @property
    def word_probabilities(self) -> np.ndarray:
        """(V, K) probabilities of words in topics."""
        return (self.word_prior + self.tables.words) / (self.word_prior * len(self.tables.words) + self.tables.totals)

    def rows_of(self, metadata: Table | None, n_documents: int | None = None) -> tuple[sp.csr_array, Weights]:
        """Rows of metadata, and the weights, grown by what is new; None: the constant alone."""
        metadata = as_metadata(metadata)
        if metadata is None and self.data.has_metadata:
            m = n_documents or 0
            constant = sp.csr_array((np.ones(m), (np.arange(m), np.zeros(m, dtype=int))), shape=(m, self.data.width))
            return constant, self.posterior
        if n_documents is None:
            assert metadata is not None
            n_documents = metadata.shape[0]
        columns, rows = self.data.encoded(metadata, n_documents)
        return rows, self.posterior.grown(columns.width, self.settings.prior_variance(columns.typical))

    def forecast(self, metadata: Table | None, n_documents: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(m, K) means and variances of documents' topic scores, by their metadata alone."""
        rows, weights = self.rows_of(metadata, n_documents)
        mean, variance = weights.forecast(rows)
        return mean, variance + self.tables.noise

    def read(self, counts: sp.csr_array, metadata: Table | None) -> Reading:
        """The topics of documents."""
        D, K = counts.shape[0], self.settings.n_topics
        if not self.data.has_metadata:
            self.data.encoded(as_metadata(metadata), D)  # refuses metadata
            mean, variance = np.zeros((D, K)), np.ones((D, K))
        else:
            mean, variance = self.forecast(metadata, D)
        return self.inferred(counts, mean, variance)

    def inferred(self, counts: sp.csr_array, mean: np.ndarray, variance: np.ndarray) -> Reading:
        """The topics of documents of which the scores' moments (D, K) are forecast."""
        (D, K), plain = mean.shape, not self.data.has_metadata
        proportions, scores, found = np.empty((D, K)), np.empty((D, K)), np.empty((D, K))
        read(
            *_csr(counts), np.ascontiguousarray(mean), np.ascontiguousarray(variance), self.tables, self.learning(),
            plain, proportions, scores, found,
        )  # fmt: skip
        if plain:
            return Reading(proportions, self.settings.topic_prior + found)
        if self.settings.step == NEWTON:
            total = found.sum(axis=1, keepdims=True)
            left = 1.0 / (1.0 / variance + total * proportions * (1.0 - proportions))
            return Reading(proportions, laplace_bridge.dirichlet(scores, left) if D else scores)
        kind = "moments" if self.settings.step == MOMENTS else "laplace"
        alpha = np.minimum(laplace_bridge.dirichlet(mean, variance, kind), 1e6) if D else mean
        return Reading(proportions, alpha + found)

    # -- what to read --------------------------------------------------------------------------------------------------

    @classmethod
    def prior_predictive(
        cls, settings: TopicSettings, metadata: Table, /, **options: Unpack[Options]
    ) -> SummedPredictive:
        """Predictive before anything was read."""
        return cls._start(settings, Columns.of(None, None, as_metadata(metadata))).predictive(metadata, **options)

    def predictive(
        self, metadata: Table, /, *, target: Table | None = None, random_state: RandomState = None,
        words_expected: float | None = None,
    ) -> SummedPredictive:  # fmt: skip
        """Predictive of documents of these metadata, about the weights, added over topics.

        Of topic k a document of n words tells like a Gaussian observation of  f . z_k  with variance
        v_k + 1 / (n E p_k (1 - p_k)),  the mean over its forecast.
        """
        if not self.data.has_metadata:
            raise ValueError("what to read next is chosen by metadata, but the model was fitted without it.")
        n_words = words_expected
        if n_words is None:
            n_words = self.n_tokens / self.n_documents if self.n_documents else 100.0
        own = as_metadata(metadata)
        assert own is not None
        m = own.shape[0]
        columns, rows_of_target = self.data.encoded(own, m)[0], None
        if target is not None:  # categories that are new may stand in both
            other = as_metadata(target)
            assert other is not None
            columns, rows_of_target = columns.encoded(other, other.shape[0])
        rows = columns.encoded(own, m)[1]
        weights = self.posterior.grown(columns.width, self.settings.prior_variance(columns.typical))
        mean, variance = weights.forecast(rows)
        first, second = softmax_moments(mean, variance + self.tables.noise, unit_draws(self.settings.n_topics))
        spread = np.maximum(first - second, 1e-12)
        noise = self.tables.noise + 1.0 / (n_words * spread)
        parts = []
        for k in range(self.settings.n_topics):
            mean_k, covariance = weights.of_topic(k)
            parts.append(
                GaussianProjections.from_rows(
                    rows, mean_k, covariance=covariance, likelihood=Gaussian(noise[:, k]), target=rows_of_target,
                    random_state=random_state,
                )
            )  # fmt: skip
        return SummedPredictive(parts, approximate=True, features=rows)

    # -- snapshots -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Plain data."""
        kept = {"word_prior", "seed", "n_documents", "n_tokens", "converged", "n_skipped", "n_batch"}
        state = {field.name: getattr(self, field.name) for field in fields(self) if field.name in kept}
        return {**state, "objective_trace": list(self.objective_trace), "tables": self.tables._asdict()}

    @classmethod
    def from_state(cls, settings: TopicSettings, data: Columns, state: State) -> TopicBelief:
        """The belief that ``state`` described."""
        tables = Tables(**{name: np.ascontiguousarray(state["tables"][name], dtype=float) for name in Tables._fields})
        return cls(
            settings, data, tables, float(state["word_prior"]), int(state["seed"]), int(state["n_documents"]),
            int(state["n_tokens"]), tuple(map(float, state["objective_trace"])), bool(state["converged"]),
            int(state["n_skipped"]), int(state["n_batch"]),
        )  # fmt: skip


class Batch:
    """Passes from one start; a document's own messages and counts are taken out before it is seen again."""

    def __init__(self, start: TopicBelief, documents: Documents, seed: int) -> None:
        tables, n_topics = start.tables, start.settings.n_topics
        D, dense = documents.counts.shape[0], len(start.tables.means) > 0
        entries = 0 if dense else documents.rows.nnz
        self.start, self.documents, self.seed = start, documents, seed
        self.memory = Memory(*_memory(documents.counts.nnz, entries, D if dense else 0, n_topics))
        self.tables, self.word_prior = tables, start.word_prior
        self.trace: list[float] = []
        self.converged = False
        self.found = np.zeros(3 + n_topics)

    def go_on(self, n_passes: int) -> None:
        """Go on to so many passes, or until little changes."""
        own = self.start.settings
        while not self.converged and len(self.trace) < n_passes:
            learning = replace(self.start, word_prior=self.word_prior, seed=self.seed).learning()
            self.found = _swept(self.documents, self.tables, learning, self.memory, not self.trace, 0)
            self.trace.append(float(self.found[0] / self.found[1]))
            if own.document_variance is None and self.start.data.has_metadata:
                self.tables.noise[:] = self.found[3:] / self.documents.counts.shape[0]
            if own.word_prior is None:
                self.word_prior = improved_word_prior(self.tables.words, self.tables.totals, self.word_prior)
            self.converged = at_rest(self.trace, own.tol)

    def learnt(self) -> TopicBelief:
        """Belief that was reached."""
        return replace(
            self.start,
            tables=self.tables,
            word_prior=self.word_prior,
            n_documents=self.documents.counts.shape[0],
            n_tokens=int(self.documents.counts.sum()),
            objective_trace=tuple(self.trace),
            converged=self.converged,
            n_skipped=int(self.found[2]),
            n_batch=self.documents.counts.shape[0],
        )


def _csr(table: sp.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """indptr, columns and values, of the types that the loops are compiled for."""
    return table.indptr.astype(np.int64), table.indices.astype(np.int64), table.data.astype(float)


def _memory(words: int, entries: int, documents: int, n_topics: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (
        np.zeros((words, n_topics), dtype=np.float32),
        np.zeros((entries, n_topics, 2)),
        np.zeros((documents, n_topics, 2)),
    )


def _parts(documents: Documents, done: int, every: int) -> Iterator[Documents]:
    """The documents up to each one that is the next ``every`` of the stream: whatever the blocks, the same places."""
    start, end = 0, documents.counts.shape[0]
    while start < end:
        stop = min(end, start + every - (done + start) % every)
        yield Documents(documents.columns, documents.counts[start:stop], documents.rows[start:stop])
        start = stop


def _swept(
    documents: Documents, tables: Tables, learning: Learning, memory: Memory, first: bool, done: int
) -> np.ndarray:
    """Result of a pass; the tables and the memory are changed."""
    found = np.empty(3 + len(tables.totals))
    rows = _csr(documents.rows)
    if not documents.columns.has_metadata:
        rows = (rows[0][:0], rows[1], rows[2])
    sweep(*_csr(documents.counts), *rows, tables, learning, memory, first, done, found)
    return found
