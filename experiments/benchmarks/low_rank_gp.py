"""Gaussian process classification of 50,000 rows by kernels of low rank: CPU seconds, memory, bits per label.

Labels are drawn from a smooth function of four inputs. Every process of its own fits n rows at a fixed kernel (whose
parameters an exact one learns from 500 rows), predicts 5,000 others, and reports the CPU seconds of the fit, the peak
of its memory above the data, and the information that its predictions hold about the labels, in bits per label beside
what the true probabilities hold. The whole kernel matrix of 50,000 rows would be 20 GB, and its factor as much again.
The last one learns the height and the four lengths itself, by the evidence of all 50,000 rows, from 4 and ones.

    python -m experiments.benchmarks.low_rank_gp [--quick]
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.benchmarks.own_process import measured, memory
from experiments.script import Script, command

SEED, TEST, LEARNT, LIMIT = 0, 5_000, 500, 1024.0  # MiB
# (engine, rows, rank, whether hyper-parameters are learnt); rank 0 is the whole matrix
CELLS = [
    ("laplace_approximation", 1_000, 0, 0),
    ("laplace_approximation", 1_000, 200, 0),
    ("laplace_approximation", 12_500, 200, 0),
    ("laplace_approximation", 50_000, 50, 0),
    ("laplace_approximation", 50_000, 100, 0),
    ("laplace_approximation", 50_000, 200, 0),
    ("variational_bounds", 50_000, 200, 0),
    ("expectation_propagation", 50_000, 200, 0),
    ("laplace_approximation", 50_000, 100, 1),
]
SMALL = [
    ("laplace_approximation", 300, 0, 0),
    ("laplace_approximation", 300, 30, 0),
    ("variational_bounds", 1_000, 30, 0),
    ("variational_bounds", 1_000, 30, 1),
]


def drawn(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs, labels, and the probabilities of 1 that they are drawn with."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (rows, 4))
    latent = 3.0 * np.sin(2.0 * X[:, 0]) * np.cos(X[:, 1]) + 1.5 * X[:, 2] * np.tanh(X[:, 3])
    probability = 1.0 / (1.0 + np.exp(-latent))
    return X, (rng.random(rows) < probability).astype(int), probability


def measure(engine: str, rows: int, rank: int, search: int = 0) -> dict[str, float]:
    """In a process of its own: one fit, or one search for hyper-parameters."""
    from sklearn.gaussian_process.kernels import RBF

    from adaptive import GaussianProcessClassifier

    X, y, _ = drawn(rows, SEED)
    new, answers, truth = drawn(TEST, SEED + 1)
    kernel = 4.0 * RBF([1.0, 1.0, 1.0, 1.0])
    small = min(LEARNT, rows)
    learnt = GaussianProcessClassifier(kernel, inference="laplace_approximation", hyperparameters="mode").fit(
        X[:small], y[:small]
    )
    settings: dict[str, Any] = {"rank": rank or None, "inference": engine, "optimizer": None, "hyperparameters": "mode"}
    GaussianProcessClassifier(learnt.kernel_, **settings).fit(X[:50], y[:50])  # everything is compiled and imported now
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    model = GaussianProcessClassifier(learnt.kernel_, **settings)
    if search:
        model.set_params(kernel=kernel, optimizer="fmin_l_bfgs_b")
    start = time.process_time()
    model.fit(X, y)
    seconds = time.process_time() - start
    probabilities = model.predict_proba(new)[:, 1]
    held = [_bits(p, answers) for p in (probabilities, truth)]
    return {
        "CPU s": seconds,
        "MiB": memory("VmHWM") - before,
        "bits": held[0],
        "true bits": held[1],
        "log evidence per row": model.log_evidence_ / rows,
        "converged": float(model.converged_),
    }


def _bits(probability: np.ndarray, y: np.ndarray) -> float:
    """Information per label beyond equal chances."""
    return 1.0 + float(np.mean(np.log2(np.where(y == 1, probability, 1.0 - probability))))


def run(script: Script) -> None:
    """Measure every cell; judge convergence and memory of the largest ones."""
    cells = SMALL if script.quick else CELLS
    found = [measure(*cell) if script.quick else measured("low_rank_gp", *cell) for cell in cells]
    for cell, values in zip(cells, found, strict=True):
        print(*cell, {name: round(value, 3) for name, value in values.items()})
    columns: dict[str, list[Any]] = {
        "inference": [engine for engine, *_ in cells],
        "rows": [rows for _, rows, *_ in cells],
        "rank": [rank or "whole" for _, _, rank, _ in cells],
        "hyper-parameters": ["learnt" if search else "fixed" for *_, search in cells],
    }
    names = ("CPU s", "MiB", "bits", "true bits", "log evidence per row")
    script.table(
        columns | {name: [round(values[name], 3) for values in found] for name in names},
        "low_rank_gp",
        "Gaussian process classification by incomplete Cholesky decomposition: CPU seconds of one fit at a fixed "
        "kernel, or of learning its height and four lengths (one BLAS thread), peak memory above the data, "
        f"bits per label of {TEST} others beside those of the true probabilities.",
    )
    largest = max(rows for _, rows, *_ in cells)
    by_cell = dict(zip(cells, found, strict=True))
    at_most = [values for (_, rows, _, search), values in by_cell.items() if rows == largest and not search]
    script.judge(
        "ours-low-rank-gp",
        all(v["converged"] == 1.0 and v["MiB"] <= LIMIT for v in at_most),
        claim="Laplace's method, variational bounds and expectation propagation fit 50,000 rows, kernels of low rank.",
        kind="must hold",
        target=f"converged, at most {LIMIT:.0f} MiB above the data",
        value="; ".join(
            f"{engine}, rank {rank}: {v['CPU s']:.1f} s, {v['MiB']:.0f} MiB, "
            f"{v['bits']:.3f} of {v['true bits']:.3f} bits"
            for (engine, rows, rank, search), v in by_cell.items()
            if rows == largest and not search
        ),
        seed=SEED,
    )
    searched = {cell: values for cell, values in by_cell.items() if cell[-1]}
    gains = [v["log evidence per row"] - by_cell[*cell[:3], 0]["log evidence per row"] for cell, v in searched.items()]
    script.judge(
        "ours-low-rank-gp-search",
        min(gains) > 0 and all(v["converged"] == 1.0 and v["MiB"] <= LIMIT for v in searched.values()),
        claim="Hyper-parameters of 50,000 rows are learnt by the evidence of all of them, with a kernel of low rank.",
        kind="must hold",
        target="converged, a higher evidence than that of the kernel learnt from 500 rows, at most "
        f"{LIMIT:.0f} MiB above the data",
        value="; ".join(
            f"{cell[0]}, rank {cell[2]}: {v['CPU s']:.0f} s, {v['MiB']:.0f} MiB, {v['bits']:.3f} of "
            f"{v['true bits']:.3f} bits, {gain:+.4f} nats per row"
            for (cell, v), gain in zip(searched.items(), gains, strict=True)
        ),
        seed=SEED,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
