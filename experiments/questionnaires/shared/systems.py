"""Language models on four benchmarks: who calibrates, who is evaluated, and what the rivals say of the full score.

Exact copies are dropped; a split is by family, and who is a near copy of somebody evaluated calibrates nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.linear_model import RidgeCV

from adaptive.datasets import data_folder
from adaptive.estimators.questionnaires.families import without_relatives

__all__ = ["ALL", "SETS", "Systems", "anchors", "greedy_form", "ridge", "systems"]

SETS = ("mmlu", "gsm8k", "truthfulqa", "winogrande")
ALL = "all four"
EVALUATED = 400
PENALTIES = np.logspace(-1, 4, 12)


class Systems(NamedTuple):
    """Answers (systems, items), 0 or 1, of those who calibrate and those who are evaluated; families of the former."""

    known: np.ndarray
    families: list[int]
    new: np.ndarray

    @property
    def truth(self) -> np.ndarray:
        """Full scores in points."""
        return 100.0 * self.new.mean(axis=1)


def _table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Answers and families, without exact copies; of all four those who answered all."""
    if name != ALL:
        with np.load(data_folder.file(f"llm-benchmarks/{name}.npz", "adkipnis/metabench")) as stored:
            answers, families = stored["responses"].astype(int), stored["family"]
    else:
        sets = []
        for one in SETS:
            with np.load(data_folder.file(f"llm-benchmarks/{one}.npz", "adkipnis/metabench")) as stored:
                first = np.unique(stored["model"], return_index=True)[1]
                sets.append({key: stored[key][first] for key in ("responses", "family", "model")})
        common = np.intersect1d(np.intersect1d(*[one["model"] for one in sets[:2]]),
                                np.intersect1d(*[one["model"] for one in sets[2:]]))  # fmt: skip
        rows = [np.searchsorted(one["model"], common) for one in sets]
        answers = np.concatenate([one["responses"][at] for one, at in zip(sets, rows, strict=True)], axis=1).astype(int)
        families = sets[0]["family"][rows[0]]
    kept = np.sort(np.unique(answers, axis=0, return_index=True)[1])
    return answers[kept], families[kept]


def systems(name: str, n_known: int, seed: int, stronger: bool = False, n_new: int = EVALUATED) -> Systems:
    """A third of the families are evaluated, up to ``n_known`` systems of the others calibrate.

    ``stronger``: the best third by score is evaluated, whoever calibrates is of another family and worse.
    """
    answers, families = _table(name)
    rng = np.random.default_rng(seed)
    if stronger:
        score = answers.mean(axis=1)
        new = np.flatnonzero(score > np.quantile(score, 2 / 3))
    else:
        drawn = rng.permutation(np.unique(families))
        new = np.flatnonzero(np.isin(families, drawn[: len(drawn) // 3]))
    new = rng.permutation(new)[:n_new]
    known = rng.permutation(without_relatives(answers, families.tolist(), new))
    if stronger:
        known = known[score[known] <= score[new].min()]
    known = known[:n_known]
    return Systems(answers[known].astype(float), families[known].tolist(), answers[new].astype(float))


def ridge(one: Systems, items: np.ndarray) -> np.ndarray:
    """Full scores by ridge regression on the answers to some items, its penalty by generalised cross-validation."""
    fit = RidgeCV(PENALTIES).fit(one.known[:, items], 100.0 * one.known.mean(axis=1))
    return np.asarray(fit.predict(one.new[:, items]))


def anchors(parameters: np.ndarray, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Items nearest to the centres of clusters of item parameters, and the clusters' shares (tinyBenchmarks, 2024)."""
    scaled = (parameters - parameters.mean(axis=0)) / parameters.std(axis=0)
    found = KMeans(n, n_init=5, random_state=seed).fit(scaled)
    distances = found.transform(scaled)
    chosen = distances.argmin(axis=0)
    return chosen, np.bincount(found.labels_, minlength=n) / len(scaled)


def greedy_form(known: np.ndarray, n: int, penalty: float = 10.0) -> np.ndarray:
    """Items taken one by one, each the one that leaves least of the full score's variance in a ridge regression."""
    centred = known - known.mean(axis=0)
    covariance = centred.T @ centred
    score = covariance.mean(axis=1)
    left, chosen = covariance + penalty * np.eye(len(covariance)), []
    for _ in range(n):
        gain = np.where(np.isin(np.arange(len(left)), chosen), -1.0, score**2 / np.diag(left).clip(1e-9))
        k = int(gain.argmax())
        chosen.append(k)
        column = left[:, k] / left[k, k]
        score = score - column * score[k]
        left = left - np.outer(column, left[k])
    return np.array(chosen)
