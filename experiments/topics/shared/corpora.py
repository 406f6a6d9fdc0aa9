"""Corpora: drawn from the model, and real ones with their metadata; documents cut to a few words; the peer."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from adaptive import datasets
from experiments.benchmarks.peers.environments import python_of

__all__ = ["cut", "drawn", "peer", "real"]

PEER = Path(__file__).parents[2] / "benchmarks" / "peers" / "topics.py"


def drawn(
    n_documents: int,
    *,
    n_words: int = 10,
    V: int = 500,
    K: int = 10,
    n_authors: int = 100,
    seed: int = 0,
    two_topics: bool = False,
) -> dict[str, Any]:
    """Corpus A: counts, author of each, their weights (A, K), proportions and topics' words (K, V) as they were drawn.

    With ``two_topics`` each author writes on two topics and hardly on others.
    """
    rng = np.random.default_rng(seed)
    words = rng.dirichlet(np.full(V, 0.05), K)
    weights, author = rng.normal(0, 2.0, (n_authors, K)), rng.integers(0, n_authors, n_documents)
    if two_topics:
        weights = 0.3 * weights
        for own in weights:
            own[rng.choice(K, 2, replace=False)] += 6.0
    scores = weights[author] + 0.5 * rng.normal(size=(n_documents, K))
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    proportions = scores / scores.sum(axis=1, keepdims=True)
    counts = np.stack([rng.multinomial(n_words, p @ words) for p in proportions])
    return {
        "counts": sp.csr_array(counts, dtype=float),
        "group": np.array([f"a{a:03d}" for a in author]),
        "author": author,
        "weights": weights,
        "proportions": proportions,
        "words": words,
    }


def real(name: str) -> tuple[sp.csr_array, np.ndarray, list[str]]:
    """Counts, a group of each document, words: "poliblog", "newsgroups" (4,000 words), "addresses" (paragraphs)."""
    if name == "poliblog":
        counts, group, words = datasets.poliblog()
        return sp.csr_array(counts), group, words
    if name == "newsgroups":
        counts, group, words = datasets.all_newsgroups()
        often = np.asarray((counts > 0).sum(axis=0)).ravel()
        kept = np.sort(np.argsort(-np.where(often > 0.1 * counts.shape[0], 0, often), kind="stable")[:4000])
        chosen = sp.csr_array(counts[:, kept])
        long = np.asarray(chosen.sum(axis=1)).ravel() >= 4
        return chosen[long], group[long], [words[j] for j in kept]
    from sklearn.feature_extraction.text import CountVectorizer

    table = datasets.addresses(paragraphs=True)
    tool = CountVectorizer(stop_words="english", min_df=20, max_df=0.2, token_pattern=r"[A-Za-z]{3,}")
    counts = sp.csr_array(tool.fit_transform(table["text"]), dtype=float)
    long = np.asarray(counts.sum(axis=1)).ravel() >= 4
    return counts[long], np.array(table["president"])[long], list(tool.get_feature_names_out())


def cut(counts: sp.csr_array, n_words: int, seed: int = 0) -> sp.csr_array:
    """At most so many random tokens of each document."""
    repeats = counts.data.astype(int)
    entry = np.repeat(np.arange(counts.nnz), repeats)
    document = np.repeat(np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), repeats)
    order = np.lexsort((np.random.default_rng(seed).random(len(entry)), document))
    kept = np.zeros(len(entry), dtype=bool)
    kept[order] = np.arange(len(order)) - np.searchsorted(document, document[order]) < n_words
    data = np.bincount(entry[kept], minlength=counts.nnz).astype(float)
    short = sp.csr_array((data, counts.indices, counts.indptr), shape=counts.shape, copy=True)
    short.eliminate_zeros()
    return short


def peer(
    kind: str, train: sp.csr_array, train_group: np.ndarray, test: sp.csr_array, test_group: np.ndarray, n_topics: int,
    n_iterations: int, alpha: float = 0.1, eta: float = 0.05,
) -> dict[str, np.ndarray]:  # fmt: skip
    """tomotopy's "lda", or "dmr" (``alpha`` is its sigma): proportions of the test documents, topics' words (V, K), CPU
    seconds."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        parts: dict[str, Any] = {"V": train.shape[1], "train_group": train_group, "test_group": test_group}
        for name, table in (("train", train), ("test", test)):
            parts |= {f"{name}_{one}": getattr(table, one) for one in ("indptr", "indices", "data")}
        np.savez(source, **parts)
        arguments = [kind, str(source), str(target), str(n_topics), str(n_iterations), str(alpha), str(eta)]
        subprocess.run([str(python_of("tomotopy")), str(PEER), *arguments], check=True, capture_output=True)
        with np.load(target) as stored:
            return {name: stored[name] for name in stored}
