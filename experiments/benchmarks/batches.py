"""Joint batches and pending rows: what they cost beside single asks, and the information that a batch holds.

- A batch of 20 rows among 3,000 x 300 against 20 times the CPU seconds of one ask, 4 and 8 classes, by scorers.
- Batches of 5 among 50 rows and 3 classes, 300 draws: the information of all 243 outcomes listed, over that of the
  batch that exact greedy chooses; 30 problems.
- An ask while 2, 7 or 20 rows are pending, 3,000 x 300 of two classes and of four, 10,000 x 384 of two.
- The table of logistic averages: largest errors on a million pairs, and its time beside the quadrature's.

    python experiments/benchmarks/batches.py [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from adaptive import BayesianLogisticRegression
from adaptive.potentials import logit_table
from adaptive.potentials.bernoulli_entropy import entropies
from adaptive.predictive import WeightedDraws
from adaptive.selection import select
from experiments.script import Script, command

SEED = 0
SCORERS = {
    4: ("query_by_committee", "information_gain", "margin", "predictive_information_gain"),
    8: ("query_by_committee", "information_gain", "margin"),
}


def seconds(act: Callable[[], Any], times: int = 3) -> float:
    """Return the median CPU seconds of some calls."""
    found = []
    for _ in range(times):
        start = time.process_time()
        act()
        found.append(time.process_time() - start)
    return float(np.median(found))


def fitted(rows: int, columns: int, classes: int, labelled: int) -> tuple[BayesianLogisticRegression, np.ndarray]:
    """Return a model of some rows, and the others."""
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((rows, columns)) * np.linspace(2.0, 0.2, columns) / np.sqrt(columns)
    y = np.argmax(X @ (3.0 * rng.standard_normal((columns, classes))) + rng.gumbel(size=(rows, classes)), axis=1)
    model = BayesianLogisticRegression(classes=np.arange(classes)).fit(X[:labelled], y[:labelled])
    return model, X[labelled:]


def cost_of_batches(rows: int, columns: int, n: int, scorers: dict[int, tuple[str, ...]]) -> dict[str, float]:
    """Return how often 20 single asks a batch of 20 costs, for each number of classes and scorer."""
    ratios = {}
    for classes, names in scorers.items():
        model, pool = fitted(rows, columns, classes, min(80, rows // 3))
        for name in names:
            options = {"scorer": name, "random_state": SEED}
            model.select(pool, **options)  # compiles, and fills what is kept
            single = seconds(partial(model.select, pool, **options))
            batch = seconds(partial(model.select, pool, n, **options), times=1)
            ratios[f"{classes} classes, {name}"] = batch / (n * single)
            print(f"{classes} classes, {name}: one {single:.3f} s, {n} {batch:.2f} s", flush=True)
    return ratios


def drawn_problem(seed: int, draws: int, rows: int) -> np.ndarray:
    """Return p(class | draw), (draws, rows, 3)."""
    rng = np.random.default_rng(seed)
    scores = np.einsum("kcd,md->kmc", 2 * rng.standard_normal((draws, 3, 4)), rng.standard_normal((rows, 4)))
    table = np.exp(scores - scores.max(axis=2, keepdims=True))
    return table / table.sum(axis=2, keepdims=True)


def entropy(p: np.ndarray) -> np.ndarray:
    return -np.sum(p * np.log(np.maximum(p, 1e-300)), axis=-1)


def information(table: np.ndarray, chosen: list[int]) -> float:
    """Return I(outcomes of the chosen rows; draw), all outcomes listed."""
    joint = np.full((len(table), 1), 1.0 / len(table))
    for i in chosen:
        joint = (joint[:, :, None] * table[:, i][:, None, :]).reshape(len(table), -1)
    return float(entropy(joint.sum(axis=0)) - sum(entropy(table[:, i]).mean() for i in chosen))


def greedy(table: np.ndarray, n: int) -> list[int]:
    """Return the batch that is chosen row by row by that information."""
    chosen: list[int] = []
    joint = np.full((len(table), 1), 1.0 / len(table))
    for _ in range(n):
        p = np.tensordot(joint, table, axes=(0, 0)).transpose(1, 0, 2).reshape(table.shape[1], -1)
        gains = entropy(p) - entropy(table).mean(axis=0)
        gains[chosen] = -np.inf
        chosen.append(int(np.argmax(gains)))
        joint = (joint[:, :, None] * table[:, chosen[-1]][:, None, :]).reshape(len(table), -1)
    return chosen


def shares(problems: int, draws: int, rows: int, n: int = 5) -> np.ndarray:
    """Return the information of our batches over that of exact greedy's."""

    class Drawn:
        def predictive(self, candidates: Any, *, target: Any = None, random_state: Any = None) -> WeightedDraws:
            weights = np.full(len(table), 1.0 / len(table))
            return WeightedDraws(weights, table[:, candidates], [0, 1, 2], random_state=random_state)

    found = []
    for seed in range(problems):
        table = drawn_problem(seed, draws, rows)
        chosen = select(Drawn(), np.arange(rows), n, scorer="information_gain", random_state=seed).tolist()
        found.append(information(table, chosen) / information(table, greedy(table, n)))
    return np.array(found)


def cost_of_pending(rows: int, columns: int, classes: int, numbers: tuple[int, ...]) -> dict[int, float]:
    """Return the CPU seconds of one ask while so many rows are pending."""
    model, pool = fitted(rows, columns, classes, 80)
    model.select(pool)
    found = {}
    for n in numbers:
        options = {"pending": pool[:n] if n else None, "exclude": range(n), "random_state": SEED}
        model.select(pool, **options)
        found[n] = seconds(partial(model.select, pool, **options))
    return found


def table_errors(n: int) -> tuple[float, float]:
    """Return the largest error of the table on n pairs, and its time over the quadrature's on the usual ones."""
    rng = np.random.default_rng(SEED)
    deviation = 10 ** rng.uniform(-3, 4, n)
    mean = rng.uniform(-14, 14, n) * rng.uniform(0, 1, n) * np.sqrt(3 + deviation**2)
    pairs = zip(logit_table.averages(mean, deviation**2), entropies(False, mean, deviation**2), strict=True)
    error = max(float(np.abs(ours - exact).max()) for ours, exact in pairs)
    usual = (deviation > 0.3) & (deviation < 8)
    mean, variance = mean[usual], deviation[usual] ** 2
    quick = seconds(partial(logit_table.averages, mean, variance))
    slow = seconds(partial(entropies, False, mean, variance))
    return error, quick / slow


def run(script: Script) -> None:
    """Measure everything and judge it."""
    quick = script.quick
    held = shares(5 if quick else 30, 100 if quick else 300, 20 if quick else 50)
    script.judge(
        "ours-batches-information",
        bool(held.mean() >= 0.98),
        claim="batches of 5 rows of 3 classes hold at least 0.98 of the information of exact greedy ones, on average "
        f"over {len(held)} problems",
        kind="must hold",
        target=">= 0.98",
        value=f"{held.mean():.3f} (least {held.min():.3f})",
        seed=SEED,
    )
    error, ratio = table_errors(20_000 if quick else 1_000_000)
    script.judge(
        "ours-batches-table",
        error <= 1e-6,
        claim="probability, entropy and expected entropy of logistic outcomes come from one table, with errors of at "
        "most 1e-6",
        kind="must hold",
        target="<= 1e-6",
        value=f"{error:.1e}, at {ratio:.2f} of the quadrature's time",
        seed=SEED,
    )
    few = {3: ("query_by_committee", "margin")}
    ratios = cost_of_batches(200, 10, 5, few) if quick else cost_of_batches(3000, 300, 20, SCORERS)
    script.judge(
        "ours-batches-cost",
        max(ratios.values()) <= 3.0,
        claim="a batch of 20 rows of 3,000 x 300 costs at most three times 20 single asks, 4 and 8 classes",
        kind="must hold",
        target="<= 3",
        value="; ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()),
        reason="" if max(ratios.values()) <= 3.0 else "What-ifs cost more than scores where these are cheap.",
        seed=SEED,
    )
    judge_pending(script)


def judge_pending(script: Script) -> None:
    """Measure asks beside pending rows, and judge them."""
    sizes = ((300, 5, 2),) if script.quick else ((3_000, 300, 2), (10_000, 384, 2), (3_000, 300, 4))
    costs = {f"{m:,} x {d}, {c} classes": cost_of_pending(m, d, c, (0, 2, 7, 20)) for m, d, c in sizes}
    first = next(iter(costs.values()))[20]
    script.judge(
        "ours-batches-pending",
        first <= 0.1,
        claim="an ask of 3,000 x 300 rows of two classes costs at most a tenth of a second of a processor while 20 are "
        "pending",
        kind="to judge",
        target="<= 0.1 s",
        value={name: {f"{n} pending": round(one, 3) for n, one in some.items()} for name, some in costs.items()},
        reason="" if first <= 0.1 else "The machine was shared.",
        seed=SEED,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
