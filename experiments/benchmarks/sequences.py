"""Costs of a recurrent net over 10,000 items: an epoch against its three products with the items' matrix; memory.

The products are those of the same events in the same run, float32, in blocks of the same size: states with items, the
table of errors with items, and with states. One thread, CPU seconds, medians; memory by tracemalloc.

    python experiments/benchmarks/sequences.py [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from adaptive import CollaborativeRNN
from adaptive.estimators.sequences.nets.item_softmax import block_rows
from adaptive.estimators.sequences.nets.training import Plan, Training
from adaptive.estimators.sequences.nets.weights import Weights
from experiments.benchmarks.peak_memory import peak_memory
from experiments.script import Script, command


def histories(n_users: int, length: int, n_items: int) -> list[np.ndarray]:
    """Popular items more often, drawn one by one: what is timed does not depend on them."""
    rng = np.random.default_rng(0)
    return [(n_items * rng.random(length) ** 3).astype(np.int64) for _ in range(n_users)]


def epoch_seconds(cell: str, data: list[np.ndarray], n_items: int, d: int, n_epochs: int) -> float:
    """Median CPU seconds of an epoch, with its look at held-out events."""
    rng = np.random.default_rng(0)
    weights = Weights.drawn(cell, n_items, len(data), d, pooled=False, n_members=1, dtype=np.float32, rng=rng)
    taken, begun = [], time.process_time()
    for _ in Training.begun(weights, rng).epochs(data, Plan(patience=99, max_iter=n_epochs)):
        taken.append(time.process_time() - begun)
        begun = time.process_time()
    return float(np.median(taken))


def products_seconds(n_events: int, n_items: int, d: int, repeats: int) -> float:
    """Median CPU seconds of the three products."""
    rng = np.random.default_rng(0)
    step = block_rows(n_items)
    n_blocks = max(1, n_events // step)
    h, items = (rng.standard_normal((n, d), dtype=np.float32) for n in (step, n_items))
    z, by_h, by_items = np.empty((step, n_items), np.float32), np.empty_like(h), np.empty_like(items)
    taken = []
    for _ in range(repeats):
        begun = time.process_time()
        for _ in range(n_blocks):
            np.matmul(h, items.T, out=z)
            np.matmul(z, items, out=by_h)
            np.matmul(z.T, h, out=by_items)
        taken.append((time.process_time() - begun) * n_events / (n_blocks * step))
    return float(np.median(taken))


def epoch(script: Script) -> None:
    """Both cells."""
    n_users, length, n_items, repeats = (2, 130, 1000, 1) if script.quick else (16, 512, 10_000, 3)
    data = histories(n_users, length, n_items)
    floor = products_seconds(n_users * length, n_items, 32, repeats)
    value = {}
    for cell in ("gru", "tanh"):
        taken = epoch_seconds(cell, data, n_items, 32, repeats)
        value[cell] = {"products": round(taken / floor, 2),
                       "microseconds per event": round(1e6 * taken / (n_users * length), 1)}  # fmt: skip
    script.judge(
        "ours-sequences-bench-epoch", max(one["products"] for one in value.values()) <= 3.0, kind="must hold",
        claim=f"An epoch costs at most three times its three products with the matrix of {n_items:,} items (32 "
        "components).",
        target="at most 3 times", value=value,
        reason=f"{n_users} users with {length} events, one thread, float32. Beside the products there are the "
        "exponentials of all logits, their sums, the way back through time, steps of RMSprop and the look at "
        "held-out events.",
    )  # fmt: skip


def memory(script: Script) -> None:
    """The peak while a net is fitted, beside parameters and what one window needs."""
    n_users, length, n_items, d = (3, 60, 2000, 8) if script.quick else (50, 200, 50_000, 32)
    data = histories(n_users, length, n_items)
    model = CollaborativeRNN(d, items=range(n_items), max_iter=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peak = peak_memory(lambda: model.fit(data))
    parameters = 4 * ((n_items + 1) * 3 * d + n_items * d + n_users * 3 * d * d)
    step = min(model.window, length)
    window = 4 * (block_rows(n_items) * n_items + model.batch_size * step * d * (3 * 3 + 5))
    script.judge(
        "ours-sequences-bench-memory", peak <= 5 * parameters + window, kind="must hold",
        claim="A fit takes at most five times the memory of its parameters, and one window.",
        target="at most 5 times parameters + one window",
        value={"peak, MB": round(peak / 1e6, 1), "parameters, MB": round(parameters / 1e6, 1),
               "window, MB": round(window / 1e6, 1), "times": round((peak - window) / parameters, 2)},
        reason=f"{n_items:,} items, {n_users} users, {d} components, GRU. The net, its mean squares and its best "
        "weights are three copies; predictions are made in float64, which takes two once training has ended.",
    )  # fmt: skip


def run(script: Script) -> None:
    """Both."""
    epoch(script)
    memory(script)


if __name__ == "__main__":
    command(run, __doc__, __file__)
