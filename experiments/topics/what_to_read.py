"""Which documents to read, of a pool of which the author is known: by information, at random, the longest, one of each.

Documents of the model, of authors who write very unequally; 300 were read, in batch. Then documents are read ten at a
time until a budget of words is spent, and half documents of others, every author alike, are completed. Beside it the
coverage of 90% intervals of the authors' weights (centred over topics, as a common shift is not identifiable; topics
matched by their words), after a batch, one pass, and a design.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from adaptive import MetadataTopicModel
from experiments.script import Script, command
from experiments.statistics import limits
from experiments.topics.shared.corpora import drawn

STRATEGIES = ("information", "random", "longest", "one of each")
N_AUTHORS, K, BATCH = 60, 6, 10


def corpus(seed: int, n: int) -> dict[str, Any]:
    """A first set and a pool by unequal authors, documents of unequal length, and test documents by all alike."""
    made = drawn(4 * n + 300, n_words=60, V=300, K=K, n_authors=N_AUTHORS, seed=seed)
    rng = np.random.default_rng([seed, 1])
    lengths = np.minimum(np.round(rng.lognormal(2.7, 0.7, len(made["group"]))), 60).astype(int)
    counts = made["counts"].toarray()
    for row, length in zip(counts, lengths, strict=True):
        tokens = rng.permutation(np.repeat(np.arange(300), row.astype(int)))[:length]
        row[:] = np.bincount(tokens, minlength=300)
    chance = (1.0 / (1.0 + made["author"])) ** 1.0
    often = rng.choice(len(counts) - 300, 300 + n, replace=False, p=chance[:-300] / chance[:-300].sum())
    return {
        "counts": counts, "group": made["group"], "words": made["words"], "weights": made["weights"],
        "first": often[:300], "pool": often[300:], "test": np.arange(len(counts) - 300, len(counts)),
    }  # fmt: skip


def chosen(strategy: str, model: MetadataTopicModel, data: dict[str, Any], left: np.ndarray, rng: Any) -> np.ndarray:
    """The next ten documents of those that are left."""
    group = data["group"][left]
    if strategy == "information":
        return left[model.reader().select(group, min(BATCH, len(left)))]
    order = rng.permutation(len(left))
    if strategy == "longest":
        order = np.argsort(-data["counts"][left].sum(axis=1), kind="stable")
    elif strategy == "one of each":
        turn = np.empty(len(left))
        for name in np.unique(group):
            own = order[group[order] == name]
            turn[own] = np.arange(len(own))
        order = order[np.argsort(turn[order], kind="stable")]
    return left[order[:BATCH]]


def read(seed: int, quick: bool, **options: Any) -> dict[str, float]:
    """Completion of every strategy when its words are spent, and before; ``options`` of the model."""
    data = corpus(seed, 200 if quick else 1000)
    counts, group, test = data["counts"], data["group"], data["test"]
    start = MetadataTopicModel(K, random_state=seed, max_iter=5 if quick else 60, **options)
    start.fit(counts[data["first"]], group[data["first"]])
    found = {"before": start.score(counts[test], group[test])}
    for strategy in STRATEGIES:
        model, rng = copy.deepcopy(start), np.random.default_rng(seed)
        left, budget = data["pool"], 300 if quick else 2500
        while budget > 0 and len(left):
            now = chosen(strategy, model, data, left, rng)
            model.partial_fit(counts[now], group[now])
            budget -= int(counts[now].sum())
            left = left[~np.isin(left, now)]
        found[strategy] = model.score(counts[test], group[test])
        if strategy == "information":
            found["coverage, designed"] = coverage(model, data)
    everything = np.concatenate([data["first"], data["pool"]])
    for learning in ("batch", "single_pass"):
        model = MetadataTopicModel(K, random_state=seed, max_iter=5 if quick else 60, learning=learning, **options)
        found[f"coverage, {learning}"] = coverage(model.fit(counts[everything], group[everything]), data)
    return found


def coverage(model: MetadataTopicModel, data: dict[str, Any]) -> float:
    """Share of the authors' centred weights that lie in their 90% intervals."""
    topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
    rows, columns = linear_sum_assignment(-np.sqrt(data["words"]) @ np.sqrt(topics).T)
    inside = []
    centre = np.eye(K) - 1.0 / K
    for author in range(N_AUTHORS):
        name = f"0=a{author:03d}"
        if name not in model.columns_:
            continue
        profile, constant = model.profile(name), model.profile("constant")
        mean = centre @ (profile.weights + constant.weights)[columns]
        deviation = np.sqrt(
            np.diag(centre @ np.diag((profile.deviations**2 + constant.deviations**2)[columns]) @ centre)
        )
        inside.append(np.abs(mean - centre @ data["weights"][author][rows]) <= 1.645 * deviation)
    return float(np.mean(inside))


def interval(values: np.ndarray) -> list[float]:
    """Mean and 95% limits."""
    return [round(one, 4) for one in limits(values)]


def run(script: Script) -> None:
    """Twenty repetitions."""
    warnings.simplefilter("ignore")
    found = [read(seed, script.quick) for seed in range(1 if script.quick else 20)]
    columns = {name: np.array([one[name] for one in found]) for name in found[0]}
    script.table(
        {name: list(values) for name, values in columns.items()}, "what-to-read",
        "Completion, nats a word, when 2,500 words were read, and coverage of weights; one row a repetition.",
    )  # fmt: skip
    gains = {name: interval(columns["information"] - columns[name]) for name in ("before", *STRATEGIES[1:])}
    script.judge(
        "ours-topics-reading", all(gains[name][1] > 0 for name in STRATEGIES[1:]),
        claim="Documents read by information complete others better, for the same number of words, than documents "
        "read at random, the longest first, or one of each author in turn.",
        target="differences above zero, 95% limits over 20 repetitions", value=gains, seed=list(range(len(found))),
    )  # fmt: skip
    covered = {name: interval(values) for name, values in columns.items() if name.startswith("coverage")}
    script.judge(
        "ours-topics-coverage", all(0.85 <= value[0] <= 0.95 for value in covered.values()),
        claim="90% intervals of the authors' weights cover them, after a batch, one pass, and a design.",
        target="0.85 to 0.95", value=covered, seed=list(range(len(found))),
        reason="" if all(0.85 <= value[0] <= 0.95 for value in covered.values()) else "No interval allows for two "
        "true topics found as one, or one as two; a single pass also keeps what early topics made of a document.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
