"""Half of each held-out document completed from the other half: with metadata, without, plain, and the peers.

Same split, same topics, same words. Ours: metadata, a constant alone, plain LDA (``topic_prior`` of .1 and .5), and the
bridges of the source with metadata; scikit-learn's LDA and tomotopy's LDA (``alpha`` of .1 and .5) and DMR, each with
the prior that did best on the test documents themselves, which favours them. Limits are of paired differences over
documents, weighted by their words.
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
N_PASSES, N_ITERATIONS = 60, 200


def completions(counts: Any, group: np.ndarray, K: int, quick: bool) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Log probability of the second half of every test document, by model, and its words."""
    order = np.random.default_rng(0).permutation(len(group))
    n_test = len(group) // 5
    test, train = np.sort(order[:n_test]), np.sort(order[n_test:])
    first, second = halves(counts[test], 0)
    length = np.asarray(second.sum(axis=1)).ravel()
    nobody = np.zeros((len(group), 0))
    options = {"random_state": 0, "max_iter": 3 if quick else N_PASSES}
    found: dict[str, np.ndarray] = {}

    def ours(name: str, metadata: Any, **more: Any) -> None:
        model = MetadataTopicModel(K, **options, **more)
        model.fit(counts[train], None if metadata is None else metadata[train])
        proportions = model.transform(first, None if metadata is None else metadata[test])
        better(name, proportions, model.belief_.word_probabilities)

    def better(name: str, proportions: np.ndarray, words: np.ndarray) -> None:
        logs = log_probabilities(second, proportions, words)
        if name not in found or logs.sum() > found[name].sum():
            found[name] = logs

    ours("with metadata", group)
    ours("without", nobody)
    ours("with metadata, laplace_bridge", group, document_step="laplace_bridge")
    ours("with metadata, moment_bridge", group, document_step="moment_bridge")
    for prior in PRIORS[:1] if quick else PRIORS:
        ours("plain", None, topic_prior=prior)
        lda = LatentDirichletAllocation(
            K, doc_topic_prior=prior, topic_word_prior=0.05, max_iter=2 if quick else 10, random_state=0
        ).fit(counts[train])
        words = (lda.components_ / lda.components_.sum(axis=1, keepdims=True)).T
        better("scikit-learn", lda.transform(first), words)
        if not quick:
            for kind in ("lda", "dmr") if prior == PRIORS[0] else ("lda",):
                other = peer(kind, counts[train], group[train], first, group[test], K, N_ITERATIONS, prior)
                better(f"tomotopy {kind}", other["proportions"], other["words"])
    return found, length


def paired(first: np.ndarray, second: np.ndarray, length: np.ndarray) -> list[float]:
    """Difference in nats a word, and its 95% limits over documents."""
    difference = first - second
    mean = difference.sum() / length.sum()
    error = np.sqrt(np.sum((difference - mean * length) ** 2)) / length.sum()
    return [float(mean), float(mean - 1.96 * error), float(mean + 1.96 * error)]


def run(script: Script) -> None:
    """Every corpus, whole and cut."""
    warnings.simplefilter("ignore")
    jobs: list[tuple[str, Any, np.ndarray, int]] = []
    corpus = drawn(300 if script.quick else 5000)
    jobs.append(("corpus A", corpus["counts"], corpus["group"], 10))
    if not script.quick:
        for name, lengths in (("poliblog", (20, 5, None)), ("newsgroups", (20,)), ("addresses", (20,))):
            counts, group, _ = real(name)
            jobs += [
                (f"{name} at {n} words", cut(counts, n), group, 20) if n else (name, counts, group, 20) for n in lengths
            ]
    table: dict[str, list[Any]] = {"corpus": [], "model": [], "nats a word": [], "with metadata better by": []}
    gains: dict[str, dict[str, list[float]]] = {}
    for name, counts, group, K in jobs:
        found, length = completions(counts, group, K, script.quick)
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
    script.judge(
        "ours-topic-completion",
        not any(worse.values()),
        claim="With metadata completion is no worse than without, than plain LDA, scikit-learn's, tomotopy's LDA, DMR.",
        target="no model better, its 95% limit above zero, on any corpus",
        value={name: {m: [round(v, 3) for v in g] for m, g in by.items()} for name, by in gains.items()},
        reason="" if not any(worse.values()) else f"Better are: { {n: w for n, w in worse.items() if w} }.",
        seed=0,
    )
    bridge = {name: by["with metadata, laplace_bridge"][0] for name, by in gains.items()}
    script.judge(
        "ours-topic-bridge-completion",
        min(bridge.values()) > 0,
        claim="Newton's step completes better than the source's bridge: for sparse topics the bridge hears little.",
        target="above 0 on every corpus",
        value={name: round(value, 3) for name, value in bridge.items()},
        seed=0,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
