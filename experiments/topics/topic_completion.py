"""Half of each held-out document completed from the other half: with metadata, without, plain, and the peers.

Same split, same topics, same words, at most 6,000 documents. Ours: metadata, a constant alone, plain LDA, and the
bridges of the source with metadata; scikit-learn's LDA, tomotopy's LDA and DMR. Every model but the bridges has two
settings of its prior, of which validation documents, a fifth of those that are not for the test, choose: the document
variance by evidence or 1, Dirichlet parameters of .1 or .5, DMR's sigma of 1 or .3. Limits are of paired differences
over documents, weighted by their words.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import LatentDirichletAllocation

from adaptive import MetadataTopicModel
from adaptive.estimators.topics.documents import halves
from adaptive.estimators.topics.reader import log_probabilities
from experiments.script import Script, command
from experiments.topics.shared.corpora import cut, drawn, peer, real

PRIORS = (0.1, 0.5)
VARIANCES = (None, 1.0)
SIGMAS = (1.0, 0.3)
N_PASSES, N_ITERATIONS, MOST = 60, 200, 6000
CORPORA = (
    ("corpus A", 0), ("poliblog", 20), ("poliblog", 5), ("newsgroups", 20), ("newsgroups", 5), ("addresses", 20),
    ("addresses", 5), ("poliblog", 0),
)  # fmt: skip


def corpus(name: str, n_words: int, quick: bool) -> tuple[Any, np.ndarray, int]:
    """Counts, the group of each document, and how many topics."""
    if name == "corpus A":
        made = drawn(300 if quick else 5000)
        return made["counts"], made["group"], 10
    counts, group, _ = real(name)
    some = np.sort(np.random.default_rng(1).permutation(len(group))[:MOST])
    counts, group = counts[some], group[some]
    return (cut(counts, n_words) if n_words else counts), group, 20


def completions(name: str, n_words: int, quick: bool) -> dict[str, np.ndarray]:
    """Log probability of the second half of every test document, by model, and its words."""
    counts, group, K = corpus(name, n_words, quick)
    order = np.random.default_rng(0).permutation(len(group))
    n_test = len(group) // 5
    parts = order[:n_test], order[n_test : n_test + (len(group) - n_test) // 5]
    train = np.sort(order[n_test + (len(group) - n_test) // 5 :])
    test, validation = (np.sort(part) for part in parts)
    asked = np.concatenate([validation, test])
    first, second = halves(counts[asked], 0)
    nobody = np.zeros((len(group), 0))
    options = {"random_state": 0, "max_iter": 3 if quick else N_PASSES}
    found: dict[str, np.ndarray] = {}
    validated: dict[str, float] = {}

    def ours(model: str, metadata: Any, **more: Any) -> None:
        fitted = MetadataTopicModel(K, **options, **more)
        fitted.fit(counts[train], None if metadata is None else metadata[train])
        proportions = fitted.transform(first, None if metadata is None else metadata[asked])
        better(model, proportions, fitted.belief_.word_probabilities)

    def better(model: str, proportions: np.ndarray, words: np.ndarray) -> None:
        logs = log_probabilities(second, proportions, words)
        score = float(logs[: len(validation)].sum())
        if model not in found or score > validated[model]:
            found[model], validated[model] = logs[len(validation) :], score

    for variance in VARIANCES[:1] if quick else VARIANCES:
        ours("with metadata", group, document_variance=variance)
        ours("without", nobody, document_variance=variance)
    ours("with metadata, laplace_bridge", group, document_step="laplace_bridge")
    ours("with metadata, moment_bridge", group, document_step="moment_bridge")
    for prior, sigma in zip(PRIORS[:1] if quick else PRIORS, SIGMAS, strict=False):
        ours("plain", None, topic_prior=prior)
        lda = LatentDirichletAllocation(
            K, doc_topic_prior=prior, topic_word_prior=0.05, max_iter=2 if quick else 10, random_state=0
        ).fit(counts[train])
        words = (lda.components_ / lda.components_.sum(axis=1, keepdims=True)).T
        better("scikit-learn", lda.transform(first), words)
        if not quick:
            for kind, setting in (("lda", prior), ("dmr", sigma)):
                other = peer(kind, counts[train], group[train], first, group[asked], K, N_ITERATIONS, setting)
                better(f"tomotopy {kind}", other["proportions"], other["words"])
    length = np.asarray(second[len(validation) :].sum(axis=1)).ravel()
    return {"models": np.array(list(found)), "logs": np.array(list(found.values())), "length": length}


def paired(first: np.ndarray, second: np.ndarray, length: np.ndarray) -> list[float]:
    """Difference in nats a word, and its 95% limits over documents."""
    difference = first - second
    mean = difference.sum() / length.sum()
    error = np.sqrt(np.sum((difference - mean * length) ** 2)) / length.sum()
    return [float(mean), float(mean - 1.96 * error), float(mean + 1.96 * error)]


def run(script: Script) -> None:
    """Every corpus, whole and cut."""
    warnings.simplefilter("ignore")
    table: dict[str, list[Any]] = {"corpus": [], "model": [], "nats a word": [], "with metadata better by": []}
    gains: dict[str, dict[str, list[float]]] = {}
    for corpus_name, n_words in CORPORA[:1] if script.quick else CORPORA:
        stored = script.kept("topic-completion", completions, corpus_name, n_words, script.quick)
        name = f"{corpus_name} at {n_words} words" if n_words else corpus_name
        found, length = dict(zip(stored["models"].tolist(), stored["logs"], strict=True)), stored["length"]
        gains[name] = {}
        for model, logs in found.items():
            gains[name][model] = paired(found["with metadata"], logs, length)
            table["corpus"].append(name)
            table["model"].append(model)
            table["nats a word"].append(round(float(logs.sum() / length.sum()), 4))
            table["with metadata better by"].append("{:.3f} ({:.3f}, {:.3f})".format(*gains[name][model]))
            print(name, model, table["nats a word"][-1], table["with metadata better by"][-1], flush=True)
        script.table(table, "topic-completion", "Completion of half documents, nats a word; 95% limits over documents.")
        judge(script, gains)


def judge(script: Script, gains: dict[str, dict[str, list[float]]]) -> None:
    """Verdicts on the corpora so far."""
    worse = {name: [m for m, g in by.items() if g[2] < 0] for name, by in gains.items()}
    better = "; ".join(f"{' and '.join(models)} on {name}" for name, models in worse.items() if models)
    script.judge(
        "ours-topic-completion",
        not any(worse.values()),
        claim="Completion with metadata is no worse than without, and no worse than plain LDA, scikit-learn's LDA, "
        "tomotopy's LDA and DMR.",
        target="no model better, with its 95% limit above zero, on any corpus",
        value={name: {m: [round(v, 3) for v in g] for m, g in by.items()} for name, by in gains.items()},
        reason="" if not any(worse.values()) else f"Better are {better}.",
        seed=0,
    )
    bridge = {name: by["with metadata, laplace_bridge"][0] for name, by in gains.items()}
    script.judge(
        "ours-topic-bridge-completion",
        min(bridge.values()) > 0,
        claim="Newton's step completes documents better than the source's bridge, which hears little of sparse topics.",
        target="above 0 on every corpus",
        value={name: round(value, 3) for name, value in bridge.items()},
        seed=0,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
