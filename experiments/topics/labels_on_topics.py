"""Labels asked of documents whose words are known: by their topics, their words, or both.

Blog posts by leaning, and four pairs of Newsgroups. Topics are learnt from all documents' words without labels; a
Bayesian logistic regression asks for labels of the pool one by one, its features the logarithms of the topics'
proportions, those of the counts of 200 frequent words, or both. Accuracy on other documents after 10, 20 and 40 labels.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from adaptive import BayesianLogisticRegression, MetadataTopicModel, SequentialDesign, datasets
from experiments.script import Script, command
from experiments.statistics import limits

PAIRS = (
    ("rec.sport.baseball", "rec.sport.hockey"), ("sci.crypt", "sci.electronics"),
    ("talk.politics.guns", "talk.politics.misc"), ("comp.graphics", "comp.windows.x"),
)  # fmt: skip
LOOKS = (10, 20, 40)
N_WORDS, N_TOPICS = 200, 20


def documents(name: str, n: int, seed: int) -> tuple[sp.csr_array, np.ndarray]:
    """Counts and labels of n documents: "poliblog", or a pair joined by a space."""
    counts, labels = datasets.poliblog()[:2] if name == "poliblog" else datasets.newsgroups(*name.split())
    rows = np.random.default_rng(seed).permutation(len(labels))[:n]
    table = sp.csr_array(counts)[np.sort(rows)]
    share = np.asarray((table > 0).sum(axis=0)).ravel() / table.shape[0]
    kept = np.flatnonzero((share <= 0.2) & (share * table.shape[0] >= 4))
    return sp.csr_array(table[:, kept]), labels[np.sort(rows)]


def features(counts: sp.csr_array, n_passes: int, seed: int) -> dict[str, np.ndarray]:
    """Three tables of the same documents, columns of variance one; of both, topics and words of the same in all."""
    model = MetadataTopicModel(N_TOPICS, max_iter=n_passes, random_state=seed)
    topics = np.log(model.fit(counts, np.zeros((counts.shape[0], 0))).transform(counts) + 1e-3)
    often = np.argsort(-np.asarray((counts > 0).sum(axis=0)).ravel(), kind="stable")[:N_WORDS]
    words = np.log1p(counts[:, np.sort(often)].toarray())
    scaled = {name: StandardScaler().fit_transform(table) for name, table in (("topics", topics), ("words", words))}
    both = np.hstack([table / np.sqrt(table.shape[1]) for table in scaled.values()])
    return {**scaled, "both": both * np.sqrt(N_WORDS)}


def accuracies(name: str, n: int, looks: tuple[int, ...], n_passes: int, seed: int) -> dict[str, np.ndarray]:
    """Accuracy at each look, by features."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        counts, labels = documents(name, n, seed)
        tables = features(counts, n_passes, seed)
        pool, test = np.arange(0, n, 2), np.arange(1, n, 2)
        for kind, table in tables.items():
            design = SequentialDesign(
                BayesianLogisticRegression(classes=np.unique(labels)), table[pool],
                lambda query: labels[pool][query.positions], initial=5, random_state=seed,
            )  # fmt: skip
            row = []
            for look in looks:
                while len(design.history_["label"]) < look:
                    design.run(1)
                row.append(design.estimator_.score(table[test], labels[test]))
            found[kind] = np.array(row)
    return found


def run(script: Script) -> None:
    """Five sets, three seeds."""
    names = ["poliblog", *(" ".join(pair) for pair in PAIRS)][: 1 if script.quick else None]
    n, looks, n_passes, seeds = (80, (6, 8), 2, 2) if script.quick else (600, LOOKS, 40, 3)
    found = {
        name: [script.kept("labels_on_topics", accuracies, name, n, looks, n_passes, seed) for seed in range(seeds)]
        for name in names
    }
    table: dict[str, list[Any]] = {"documents": [], "features": [], **{f"after {look}": [] for look in looks}}
    for name, runs in found.items():
        for kind in runs[0]:
            table["documents"].append(name)
            table["features"].append(kind)
            for look, value in zip(looks, np.mean([run[kind] for run in runs], axis=0), strict=True):
                table[f"after {look}"].append(round(float(value), 3))
    script.table(
        table, "labels-on-topics",
        f"Accuracy on {n // 2} documents after so many labels asked of {n // 2} others; mean of {seeds} seeds.",
    )  # fmt: skip
    every = [run for runs in found.values() for run in runs]
    gains = {}
    for other in ("words", "topics"):
        gain = np.array([np.mean(run["both"] - run[other]) for run in every])
        gains[f"both - {other}"] = [round(one, 4) for one in limits(gain)]
    holds = gains["both - words"][1] > 0
    script.judge(
        "ours-topics-labels", holds,
        claim="Labels asked by topics beside words teach more than by words alone.",
        target="accuracy over all looks higher, its paired 95% interval above 0",
        value={"gains with 95% limits": gains, "sets": {
            name: {kind: np.mean([run[kind] for run in runs], axis=0).round(3).tolist() for kind in runs[0]}
            for name, runs in found.items()
        }},
        reason=f"{len(every)} runs; looks after {', '.join(map(str, looks))} labels; {N_WORDS} words, {N_TOPICS} "
        "topics.", seed=list(range(seeds)),
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
