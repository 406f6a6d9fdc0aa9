"""A million rows in bounded memory: peak of a real process above its data, seconds, and what each way of scoring costs.

A process of its own makes the pool (1,000,000 x 100 dense, 763 MiB; and 1,000,000 x 60,000 sparse with 60 entries a
row, 687 MiB), fits 200 labelled rows, then selects: once scoring every row in chunks (``update="refit"``), and twice
with kept marginals (``update="inclusion"``), the second time after one more answer. The peak of each step less the
resident memory before the first is what the toolkit needs above the data (read from /proc: Linux).

    python -m experiments.benchmarks.large_pools [--quick]
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.benchmarks.own_process import measured, memory
from experiments.script import Script, command

LIMIT = 1024.0  # MiB
LABELLED, SEED = 200, 0
POOLS = {"dense": (1_000_000, 100), "sparse": (1_000_000, 60_000)}
SMALL = {"dense": (20_000, 20), "sparse": (20_000, 3_000)}


def pool_of(kind: str, rows: int, columns: int) -> Any:
    """The pool, made without a second copy."""
    rng = np.random.default_rng(SEED)
    if kind == "dense":
        X = np.empty((rows, columns))
        for start in range(0, rows, 10_000):
            X[start : start + 10_000] = rng.standard_normal((min(10_000, rows - start), columns))
        return X
    from scipy import sparse

    per_row = 60
    indices = np.empty(rows * per_row, dtype=np.int32)
    for start in range(0, rows, 10_000):  # words by Zipf's law
        n = min(10_000, rows - start)
        words = (columns ** rng.random((n, per_row)) - 1).astype(np.int32)
        indices[start * per_row : (start + n) * per_row] = np.sort(words, axis=1).ravel()
    data = np.full(rows * per_row, per_row**-0.5)
    return sparse.csr_array((data, indices, np.arange(0, rows * per_row + 1, per_row)), shape=(rows, columns))


def measure(kind: str, rows: int, columns: int) -> dict[str, float]:
    """In a process of its own: MiB above the data, and seconds, of every step."""
    import time

    from adaptive import BayesianLogisticRegression

    X = pool_of(kind, rows, columns)
    rng = np.random.default_rng(SEED + 1)
    labelled = rng.choice(rows, LABELLED, replace=False)
    y = np.where(rng.random(LABELLED) < 0.5, -1, 1)
    small = BayesianLogisticRegression(prior_scale=1.0, update="inclusion").fit(X[labelled[:50]], y[:50])
    small.select(X[:3000])
    small.partial_fit(X[[0]], [1]).select(X[:3000])  # everything is compiled and imported now
    found: dict[str, float] = {}
    with_data = memory("VmRSS")

    def timed(name: str, action: Any) -> Any:
        Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
        start = time.perf_counter()
        result = action()
        found[f"{name}, s"] = time.perf_counter() - start
        found[f"{name}, MiB"] = memory("VmHWM") - with_data
        return result

    refit = BayesianLogisticRegression(prior_scale=1.0)
    timed("fit", lambda: refit.fit(X[labelled], y))
    first = timed("score all in chunks", lambda: refit.select(X, exclude=labelled))
    kept = BayesianLogisticRegression(prior_scale=1.0, update="inclusion").fit(X[labelled], y)
    second = timed("marginals of all, score", lambda: kept.select(X, exclude=labelled))
    kept.partial_fit(X[second], [1])
    timed("follow one answer, score", lambda: kept.select(X, exclude=[*labelled, int(second[0])]))
    found["same choice"] = float(first[0] == second[0])
    found["data, MiB"] = rows * columns * 8 / 2**20 if kind == "dense" else X.nnz * 12 / 2**20
    return found


def run(script: Script) -> None:
    """Measure both pools; judge the memory."""
    pools = SMALL if script.quick else POOLS
    found = {kind: measured("large_pools", kind, *shape) for kind, shape in pools.items()}
    names = list(found["dense"])
    for kind, values in found.items():
        print(kind, {name: round(value, 2) for name, value in values.items()})
    script.table(
        {"step": names, **{f"{k} {r} x {c}": [round(found[k][n], 2) for n in names] for k, (r, c) in pools.items()}},
        "large_pools",
        f"Seconds (wall, one BLAS thread) and peak resident memory above the data of each step, {LABELLED} labelled "
        "rows; drawn pools, the sparse one with 60 entries a row.",
    )
    above = {
        kind: max(value for name, value in values.items() if name.endswith("MiB") and name != "data, MiB")
        for kind, values in found.items()
    }
    script.judge(
        "ours-large-pools-memory",
        above["dense"] <= LIMIT,
        claim="1,000,000 x 100 rows are scored within 1 GiB above the data.",
        kind="must hold",
        target="<= 1024 MiB",
        value=", ".join(f"{above[kind]:.0f} MiB ({kind}, {r} x {c})" for kind, (r, c) in pools.items()),
        seed=SEED,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
