"""Runs on synthetic users: own memories against rivals, short histories by several uncertainties, whom to ask."""

from __future__ import annotations

import copy
import time
import warnings
from typing import Any

import numpy as np
from scipy.special import entr

from adaptive import CollaborativeRNN
from adaptive.inference.recurrent.ngrams import chosen
from adaptive.inference.recurrent.training import Plan
from experiments.sequences.order_two import N_ITEMS, Population

__all__ = ["DESIGNS", "LENGTHS", "MODELS", "asked", "order_two", "short_histories"]

LENGTHS = (5, 10, 20, 40, 80)  # of short histories
BINS = np.linspace(0, 1, 11)
MODELS: dict[str, dict[str, Any]] = {
    "one net": {}, "ensemble": {"n_members": 5}, "laplace": {"uncertainty": "laplace", "n_draws": 48},
}  # fmt: skip
DESIGNS = ("random", "longest silent", "information")


def fitted(*given: Any, **options: Any) -> CollaborativeRNN:
    """A net."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CollaborativeRNN(items=range(N_ITEMS), **options).fit(*given)


def order_two(seed: int, n_users: int, n_events: int, max_iter: int) -> dict[str, Any]:
    """Nats per event of the last tenth, by model; the pooled net and the 2-gram are tuned."""
    histories = Population(n_users, seed).histories([n_events] * n_users)
    n = n_events - n_events // 10
    learn, test = [one[:n] for one in histories], [one[n:] for one in histories]
    n_early = Plan().trained_on(np.full(n_users, n))
    found = {}
    for order, name in ((1, "1-gram"), (2, "2-gram")):
        logs = chosen(order, learn, n_early, N_ITEMS).log_probabilities(histories)
        found[name] = -np.mean([one[n:].mean() for one in logs])
    common = {"max_iter": max_iter, "random_state": seed}
    for name, cell in (("C-GRU", "gru"), ("C-tanh", "tanh")):
        begun = time.process_time()
        found[name] = -fitted(learn, n_components=16, cell=cell, **common).score(test)
        found[f"{name}, seconds"] = time.process_time() - begun
    tried = [fitted(learn, n_components=d, pooled=True, learning_rate=rate, **common)
             for d, rate in ((16, 0.01), (16, 0.003), (48, 0.01))]  # fmt: skip
    found["P-GRU"] = -min(tried, key=lambda model: model.objective_trace_.min()).score(test)
    return {name: np.array(value) for name, value in found.items()}


def short_histories(seed: int, model: str, n_long: int, n_short: int, max_iter: int) -> dict[str, Any]:
    """Of users with short histories, by length: expected nats of the next event, stated ones, calibration by bins.

    Expectations are over the next event's true probabilities.
    """
    lengths = [200] * n_long + list(np.repeat(LENGTHS, n_short))
    population = Population(len(lengths), seed)
    histories = population.histories(lengths)
    net = fitted(histories, n_components=12, cell="tanh", max_iter=max_iter, random_state=seed, **MODELS[model])
    users = np.arange(n_long, len(lengths))
    p = net.predict_proba(users)
    q = np.stack([population.chances(u, histories[u]) for u in users.tolist()])
    nats, stated = -(q * np.log(p)).sum(axis=1), entr(p).sum(axis=1)
    groups = np.stack([[row[population.group == g].sum() for g in range(6)] for row in (*p, *q)])
    stated_groups, true_groups = groups[: len(p)].ravel(), groups[len(p) :].ravel()
    places = np.clip(np.searchsorted(BINS, stated_groups, side="right") - 1, 0, 9)
    sums = [np.bincount(places, weights=w, minlength=10) for w in (stated_groups, true_groups)]
    by_length = (len(LENGTHS), n_short)
    return {
        "nats": nats.reshape(by_length).mean(axis=1), "stated": stated.reshape(by_length).mean(axis=1),
        "bins": np.stack([*sums, np.bincount(places, minlength=10)]), "users": np.array(len(users)),
    }  # fmt: skip


def asked(
    n_old: int, n_new: int, n_rounds: int, each: int, max_iter: int, n_repetitions: int
) -> dict[str, Any]:  # fmt: skip
    """By repetition and design, nats per event of probes of all new users, after each round of questions.

    Shared matrices and the prior of own ones are learnt once, from others with 200 events; every repetition has new
    users of its own, who begin with 2 to 12.
    """
    population = Population(n_old + n_new * n_repetitions, 0)
    old = population.histories([200] * n_old)
    net = fitted(dict(enumerate(old)), n_components=12, cell="tanh", uncertainty="laplace", n_draws=24,
                 max_iter=max_iter, random_state=0)  # fmt: skip
    curves, counts, begins = [], [], []
    for k in range(n_repetitions):
        rng = np.random.default_rng(k)
        new = n_old + k * n_new + np.arange(n_new)
        streams = {int(u): population.history(int(u), 12 + n_rounds) for u in new}
        probes = {int(u): population.history(int(u), 40) for u in new}
        begun = {int(u): int(n) for u, n in zip(new, rng.integers(2, 13, n_new), strict=True)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fresh = copy.deepcopy(net).partial_fit({u: streams[u][:n] for u, n in begun.items()})
            found = [_rounds(copy.deepcopy(fresh), design, streams, begun, probes, rng.permutation(new).tolist(),
                             n_rounds, each) for design in DESIGNS]  # fmt: skip
        curves.append([one[0] for one in found])
        counts.append([one[1] for one in found])
        begins.append(list(begun.values()))
    return {"curves": np.array(curves), "begun": np.array(begins), "asked": np.array(counts)}


def _rounds(
    net: CollaborativeRNN, design: str, streams: dict[int, np.ndarray], begun: dict[int, int],
    probes: dict[int, np.ndarray], order: list[int], n_rounds: int, each: int,
) -> tuple[list[float], list[int]]:  # fmt: skip
    """Nats after each round of one design, and how often each user was asked."""
    new, seen = np.array(list(begun)), dict(begun)
    choice = np.random.default_rng(order)
    silent = {u: float(-k) for k, u in enumerate(order)}  # when each was last asked
    curve: list[float] = []
    for step in range(n_rounds + 1):
        logs = net.log_predictive(probes, anew=True)
        curve.append(-float(np.mean([one[3:].mean() for one in logs])))
        if step == n_rounds:
            break
        if design == "random":
            users = choice.choice(new, each, replace=False)
        elif design == "information":
            users = new[net.select(new, each, joint=False)]
        else:
            users = np.array(sorted(silent, key=lambda u: silent[u])[:each])
        net.partial_fit(users, [streams[u][seen[u]] for u in users.tolist()])
        for k, u in enumerate(users.tolist()):
            silent[u], seen[u] = step * each + k + 1.0, seen[u] + 1
    return curve, [seen[u] - begun[u] for u in begun]
