"""Runs of one model on one set of histories, words of addresses by president or spikes of neurons by trial.

The last 2.5% of each history (3 to 500 events) are predicted one after the other, each given all before it; what is
tuned is tuned on the last 2.5% of what is left.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from adaptive import CollaborativeRNN, datasets
from adaptive.estimators.sequences.histories import Histories, events_of
from adaptive.estimators.sequences.nets.ngrams import chosen
from adaptive.estimators.sequences.nets.training import Plan
from experiments.sequences.rivals import HiddenMarkov, factor_softmax

__all__ = ["NETS", "SETS", "SIMPLE", "by_counting", "by_net", "data_of"]

SETS = {"words": "addresses of 42 presidents", "spikes": "64 trials of a cockroach's neurons"}
SIMPLE = ("uniform", "1-gram", "MF", "HMM", "2-gram")
RATES = (0.003, 0.01)
NETS = {  # label -> (cell, pooled, components, learning rates)
    "words": {"P-GRU 32": ("gru", True, 32, (0.01,)), "P-GRU 64": ("gru", True, 64, RATES),
              "P-GRU 128": ("gru", True, 128, (0.01,)), "C-tanh 32": ("tanh", False, 32, RATES),
              "C-GRU 32": ("gru", False, 32, RATES)},
    "spikes": {"P-GRU 16": ("gru", True, 16, RATES), "P-GRU 64": ("gru", True, 64, RATES),
               "P-GRU 128": ("gru", True, 128, RATES), "C-tanh 8": ("tanh", False, 8, RATES),
               "C-tanh 16": ("tanh", False, 16, RATES), "C-GRU 8": ("gru", False, 8, RATES),
               "C-GRU 16": ("gru", False, 16, RATES)},
}  # fmt: skip


def data_of(name: str, n_events: int) -> tuple[list[np.ndarray], np.ndarray, int]:
    """Histories, how many events of each are not for the test, and the number of items."""
    whole = datasets.address_words(n_events) if name == "words" else datasets.spike_trains()
    found = Histories.of(events_of(whole), np.zeros(0, dtype=np.int64), closed=False)
    codes = [one[:n_events] for one in found.codes]
    lengths = np.array([len(one) for one in codes])
    return codes, lengths - np.clip((0.025 * lengths).astype(int), 3, 500), len(found.items)


def _errors(logs: list[np.ndarray], n_seen: np.ndarray) -> np.ndarray:
    return -np.array([one[n:].mean() for one, n in zip(logs, n_seen.tolist(), strict=True)])


def by_counting(name: str, method: str, n_events: int, quick: int) -> dict[str, Any]:
    """Errors (U,) of a rival without a net."""
    codes, n_seen, n_items = data_of(name, n_events)
    learn = [one[:n] for one, n in zip(codes, n_seen.tolist(), strict=True)]
    n_early = Plan().trained_on(n_seen)
    early = [one[:n] for one, n in zip(learn, n_early.tolist(), strict=True)]
    if method == "uniform":
        return {"errors": np.full(len(codes), np.log(n_items))}
    if method in ("1-gram", "2-gram"):
        counted = chosen(int(method[0]), learn, n_early, n_items)
        return {"errors": _errors(counted.log_probabilities(codes), n_seen)}
    if method == "HMM":
        sizes, n_iter = ((4,), 3) if quick else ((8, 24), 25)
        held = [_errors(HiddenMarkov(early, n_items, k, n_iter).log_probabilities(learn), n_early).mean()
                for k in sizes]  # fmt: skip
        best = sizes[int(np.argmin(held))]
        return {"errors": _errors(HiddenMarkov(learn, n_items, best, n_iter).log_probabilities(codes), n_seen)}
    grid = [(d, penalty, scale) for d in ((4,) if quick else (4, 8, 16)) for penalty in (0.01, 0.1) for scale in
            (0.5, 1.0, 2.0)]  # fmt: skip

    def factors(seen: list[np.ndarray], rest: list[np.ndarray], n: np.ndarray, setting: Any) -> np.ndarray:
        table = factor_softmax(seen, n_items, *setting, n_sweeps=5)
        return _errors([row[one] for row, one in zip(table, rest, strict=True)], n)

    held = [factors(early, learn, n_early, setting).mean() for setting in grid]
    return {"errors": factors(learn, codes, n_seen, grid[int(np.argmin(held))])}


def by_net(
    name: str, label: str, rate: float, n_events: int, max_iter: int, batch_size: int = 8
) -> dict[str, Any]:  # fmt: skip
    """Errors (U,) of a net, that of its held-out events, CPU seconds of an epoch, epochs."""
    codes, n_seen, n_items = data_of(name, n_events)
    cell, pooled, d, _ = NETS[name][label]
    model = CollaborativeRNN(
        d, cell=cell, pooled=pooled, window=64, batch_size=batch_size, learning_rate=rate, patience=3,
        max_iter=max_iter, items=range(n_items), random_state=0,
    )  # fmt: skip
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit([one[:n] for one, n in zip(codes, n_seen.tolist(), strict=True)])
    seconds = (time.process_time() - begun) / model.n_iter_
    logs = model.log_predictive([one[n:] for one, n in zip(codes, n_seen.tolist(), strict=True)])
    return {"errors": -np.array([one.mean() for one in logs]), "held": np.array(model.objective_trace_.min()),
            "seconds": np.array(seconds), "epochs": np.array(model.n_iter_)}  # fmt: skip
