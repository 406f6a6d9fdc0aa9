"""What the scores of figure 3.7 ask for: how long and how typical the rows are, and how alike the scores rank them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from experiments.active.shared.inclusion_runs import GROUP, INITIAL, problem, scores_at
from experiments.script import Script

__all__ = ["EARLY", "SCORERS", "Runs", "asked_rows", "rank_agreement"]

SCORERS = (
    "uncertainty",
    "variational_information_gain",
    "information_gain",
    "predictive_information_gain",
    "random",
)
EARLY = 200  # questions whose rows are looked at

Runs = dict[tuple[str, str], list[dict[str, np.ndarray]]]  # by problem and scorer: one run per initial set


def asked_rows(script: Script, runs: Runs) -> dict[str, dict[str, dict[str, float]]]:
    """Return, and write as a table, what kind of rows each score asks for first."""
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys(name for name, _ in runs):
        for seed in range(len(runs[name, "random"])):
            of = problem(name, seed)
            length = np.sqrt(np.asarray(of.X.multiply(of.X).sum(axis=1)).ravel())
            unit = of.X.multiply(1 / np.maximum(length, 1e-12)[:, None]).tocsr()
            likeness = np.asarray(unit @ np.asarray(unit.mean(axis=0)).ravel()).ravel()
            ranks = {"norm": stats.rankdata(length) / len(length), "density": stats.rankdata(likeness) / len(length)}
            for scorer in SCORERS:
                if seed >= len(runs[name, scorer]):
                    continue
                one = runs[name, scorer][seed]
                first = one["position"][INITIAL : INITIAL + EARLY]
                mean, variance = one["latent"][: len(first)].T
                rows.append(
                    {"set": name, "seed": seed, "scorer": scorer}
                    | {f"{kind} percentile": float(100 * rank[first].mean()) for kind, rank in ranks.items()}
                    | {"standard deviation of the latent": float(np.sqrt(variance.mean()))}
                    | {"distance of the latent's mean from 0": float(np.abs(mean).mean())}
                    | {"model was wrong (%)": float(100 * np.mean(np.sign(mean) != of.y[first]))}
                    | {"positives (%)": float(100 * np.mean(of.y[first] == 1))}
                )
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]},
        "active-inclusion-rows",
        f"What the first {EARLY} questions ask for: percentile, among the pool's rows, of the length of a row and of "
        "its density (mean cosine with the pool); moments of its latent when it was asked; how often the model would "
        "have been wrong; the share of the positive class.",
    )
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        of_scorer = found.setdefault(row["set"], {}).setdefault(row["scorer"], {})
        for key in list(row)[3:]:
            of_scorer[key] = of_scorer.get(key, 0.0) + row[key] / len(runs[row["set"], row["scorer"]])
    return found


def rank_agreement(script: Script, runs: Runs, inclusions: dict[str, int]) -> dict[str, dict[str, float]]:
    """Return, and write, how the scores rank the same candidates at the same posterior."""
    rows: list[dict[str, Any]] = []
    found: dict[str, dict[str, float]] = {}
    for name in dict.fromkeys(name for name, _ in runs):
        key = (name, 0, 10 if script.quick else inclusions[name], 5 if script.quick else EARLY)
        scores = script.kept(GROUP, scores_at, *key)
        quantities = {one: scores[one] for one in (*SCORERS[:4], "variance")}
        for one in SCORERS[1:4]:
            for other in ("uncertainty", "information_gain", "variance"):
                if one != other:
                    rank = float(stats.spearmanr(quantities[one], quantities[other]).statistic)
                    rows.append({"set": name, "score": one, "with": other, "rank correlation": rank})
                    found.setdefault(name, {})[f"{one} with {other}"] = round(rank, 2)
    script.table(
        {key: [row[key] for row in rows] for key in rows[0]},
        "active-inclusion-ranks",
        "Spearman's rank correlation of scores over 2,000 candidates (all, where there are fewer) at one posterior, "
        f"after {EARLY} inclusions by uncertainty; variance is that of the latent.",
    )
    return found
