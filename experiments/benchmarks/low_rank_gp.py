"""Gaussian process classification of 50,000 rows by kernels of low rank: CPU seconds, memory, bits per label.

Labels are drawn from a smooth function of four inputs. Every process of its own fits n rows at a fixed kernel (whose
parameters an exact one learns from 500 rows), predicts 5,000 others, and reports the CPU seconds of the fit, the peak
of its memory above the data, and the information that its predictions hold about the labels, in bits per label beside
what the true probabilities hold. The whole kernel matrix of 50,000 rows would be 20 GB, and its factor as much again.

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
# (engine, rows, rank); rank 0 is the whole matrix
CELLS = [
    ("laplace_approximation", 1_000, 0),
    ("laplace_approximation", 1_000, 200),
    ("laplace_approximation", 12_500, 200),
    ("laplace_approximation", 50_000, 50),
    ("laplace_approximation", 50_000, 200),
    ("variational_bounds", 50_000, 200),
    ("expectation_propagation", 50_000, 200),
]
SMALL = [("laplace_approximation", 300, 0), ("laplace_approximation", 300, 30), ("variational_bounds", 1_000, 30)]


def drawn(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs, labels, and the probabilities of 1 that they are drawn with."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (rows, 4))
    latent = 3.0 * np.sin(2.0 * X[:, 0]) * np.cos(X[:, 1]) + 1.5 * X[:, 2] * np.tanh(X[:, 3])
    probability = 1.0 / (1.0 + np.exp(-latent))
    return X, (rng.random(rows) < probability).astype(int), probability


def measure(engine: str, rows: int, rank: int) -> dict[str, float]:
    """In a process of its own: one fit."""
    from sklearn.gaussian_process.kernels import RBF

    from adaptive import GaussianProcessClassifier

    X, y, _ = drawn(rows, SEED)
    new, answers, truth = drawn(TEST, SEED + 1)
    kernel = 4.0 * RBF([1.0, 1.0, 1.0, 1.0])
    small = min(LEARNT, rows)
    learnt = GaussianProcessClassifier(kernel, inference="laplace_approximation").fit(X[:small], y[:small])
    settings: dict[str, Any] = {"rank": rank or None, "inference": engine, "optimizer": None}
    GaussianProcessClassifier(learnt.kernel_, **settings).fit(X[:50], y[:50])  # everything is compiled and imported now
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    start = time.process_time()
    model = GaussianProcessClassifier(learnt.kernel_, **settings).fit(X, y)
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
        "inference": [engine for engine, _, _ in cells],
        "rows": [rows for _, rows, _ in cells],
        "rank": [rank or "whole" for _, _, rank in cells],
    }
    names = ("CPU s", "MiB", "bits", "true bits", "log evidence per row")
    script.table(
        columns | {name: [round(values[name], 3) for values in found] for name in names},
        "low_rank_gp",
        "Gaussian process classification by incomplete Cholesky decomposition: CPU seconds of one fit at a fixed "
        f"kernel (one BLAS thread), peak memory above the data, bits per label of {TEST} others beside those of the "
        "true probabilities.",
    )
    largest = max(rows for _, rows, _ in cells)
    at_most = [values for (_, rows, _), values in zip(cells, found, strict=True) if rows == largest]
    script.judge(
        "ours-low-rank-gp",
        all(v["converged"] == 1.0 and v["MiB"] <= LIMIT for v in at_most),
        claim="Laplace's method, variational bounds and expectation propagation fit 50,000 rows, kernels of low rank.",
        kind="must hold",
        target=f"converged, at most {LIMIT:.0f} MiB above the data",
        value="; ".join(
            f"{engine}, rank {rank}: {v['CPU s']:.1f} s, {v['MiB']:.0f} MiB, "
            f"{v['bits']:.3f} of {v['true bits']:.3f} bits"
            for (engine, rows, rank), v in zip(cells, found, strict=True)
            if rows == largest
        ),
        seed=SEED,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
