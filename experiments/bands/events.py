"""Next items of real histories: smallest sets of items, after asking users at random or by information.

A net is trained on other histories; of twelve new users a few events are known, and each answer is the next event of
one of them. Then what all twelve do next, eight times in turn.
"""

from __future__ import annotations

import functools
import time
import warnings
from typing import Any

import numpy as np

from adaptive import CollaborativeRNN
from experiments.bands.shares import labels, result
from experiments.sequences.event_runs import data_of

__all__ = ["next_items"]

TRAINED, LONGEST, NEW, BEGUN, TEST = 20, 120, 12, 4, 8
WAYS: dict[str, dict[str, Any]] = {
    "ensemble": {"n_members": 4},
    "laplace": {"uncertainty": "laplace", "pooled": False},
}


@functools.cache
def _histories(name: str, most: int) -> tuple[tuple[np.ndarray, ...], int]:
    """Histories of items by code, rare items as one."""
    codes, _, n_items = data_of(name, 400)
    often = np.argsort(-np.bincount(np.concatenate(codes), minlength=n_items), kind="stable")
    place = np.full(n_items, min(most, n_items) - 1)
    place[often[: most - 1]] = np.arange(min(most - 1, n_items))
    return tuple(place[one] for one in codes if len(one) >= LONGEST), min(most, n_items)


@functools.lru_cache(maxsize=1)
def _trained(name: str, way: str, unit: int) -> tuple[CollaborativeRNN, list[np.ndarray]]:
    """The net after other histories and the first events of new users, and what these do afterwards."""
    histories, n_items = _histories(name, 12)
    rng = np.random.default_rng([unit, 40])
    order = rng.permutation(len(histories))
    others = {f"other {k}": histories[k][:LONGEST] for k in order[:TRAINED].tolist()}
    own = [histories[k] for k in order[TRAINED : TRAINED + NEW].tolist()]
    model = CollaborativeRNN(
        8, window=64, learning_rate=0.03, patience=5, max_iter=30, items=range(n_items), random_state=unit, **WAYS[way]
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(others)
        model.partial_fit({f"new {k}": one[:BEGUN] for k, one in enumerate(own)})
    return model, own


def next_items(name: str, way: str, design: str, n: int, unit: int) -> dict[str, np.ndarray]:
    """Units are other choices of who is new."""
    trained, own = _trained(name, way, unit)
    model = CollaborativeRNN(**trained.get_params()).restore(trained.state())
    rng, users = np.random.default_rng([unit, 41]), np.array([f"new {k}" for k in range(NEW)])
    told = np.full(NEW, BEGUN)
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in range(n):
            left = np.flatnonzero(told + TEST < [len(one) for one in own])
            k = int(rng.choice(left))
            if design == "designed":
                k = int(left[model.select(users[left], random_state=step)[0]])
            model.partial_fit([users[k]], [own[k][told[k]]])
            told[k] += 1
        found, truth = [], []
        for _ in range(TEST):
            found.append(model.predict_proba(users))
            truth.append([int(one[place]) for one, place in zip(own, told, strict=True)])
            model.partial_fit(users, np.array(truth[-1]))
            told += 1
    p, codes = np.concatenate(found), np.concatenate(truth)
    covered, size = labels(p, codes)
    score = float(np.log(np.maximum(p[np.arange(len(codes)), codes], 1e-300)).mean())
    return result(covered, size, score, time.process_time() - begun)
