"""Runs on synthetic users: own memories against rivals, short histories by several uncertainties, whom to ask."""

from __future__ import annotations

import copy
import time
import warnings
from typing import Any

import numpy as np
from scipy.special import entr, softmax

from adaptive import CollaborativeRNN, scorers
from adaptive.estimators.sequences.nets.batching import padded
from adaptive.estimators.sequences.nets.ngrams import chosen
from adaptive.estimators.sequences.nets.training import Plan
from adaptive.estimators.sequences.nets.unrolled import unroll
from experiments.sequences.order_two import N_ITEMS, Population

__all__ = ["DESIGNS", "LENGTHS", "MODELS", "asked", "order_two", "short_histories"]

LENGTHS = (5, 10, 20, 40, 80)  # of short histories
BINS = np.linspace(0, 1, 11)
MODELS: dict[str, dict[str, Any]] = {
    "one net": {}, "ensemble": {"n_members": 5}, "laplace": {"uncertainty": "laplace", "n_draws": 48},
}  # fmt: skip
DESIGNS = ("random", "longest silent", "members", "own memory", "next items")


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


def stated_after(net: CollaborativeRNN, users: np.ndarray, sequences: list[np.ndarray]) -> np.ndarray:
    """What is stated of the next item (T, B, I) after 2, 3, ... events of each user's sequence, begun anew.

    By what is known of the users: the sequences, of one length, are where they stand and teach nothing.
    """
    belief = net.belief_
    own, _, log_weights = belief._voices(users)
    inputs, _, lengths = padded([np.append(one, 0) for one in sequences])
    start = np.zeros((len(log_weights), len(users), net.n_components))
    states = unroll(belief.posterior.cell, own, belief.posterior.rows_of(inputs), start, lengths).after[2:]
    p = softmax(np.matmul(states, belief.posterior.outputs.swapaxes(1, 2)), axis=-1)
    return np.einsum("k,tkbi->tbi", np.exp(log_weights), p)


def short_histories(
    seed: int, model: str, n_long: int, n_short: int, n_contexts: int, max_iter: int
) -> dict[str, Any]:  # fmt: skip
    """Of users with short histories, by length: expected nats of an event, stated ones, calibration by bins.

    In further contexts of each user; expectations are over the next event's true probabilities. Bins (lengths, 3, 10)
    hold, of stated probabilities of groups of items, their sum, the sum of the true ones, and how many there are.
    """
    lengths = [200] * n_long + list(np.repeat(LENGTHS, n_short))
    population = Population(len(lengths), seed)
    histories = population.histories(lengths)
    net = fitted(histories, n_components=12, cell="tanh", max_iter=max_iter, random_state=seed, **MODELS[model])
    users = np.arange(n_long, len(lengths))
    contexts = [population.history(u, n_contexts + 1) for u in users.tolist()]
    p = stated_after(net, users, contexts)
    q = np.stack([[population.chances(u, one[:t]) for u, one in zip(users.tolist(), contexts, strict=True)]
                  for t in range(2, n_contexts + 2)])  # fmt: skip
    nats, stated = (-(q * np.log(p)).sum(axis=2).mean(axis=0), entr(p).sum(axis=2).mean(axis=0))
    by_length = (len(LENGTHS), n_short)
    bins = []
    for mine in np.arange(len(users)).reshape(by_length):
        groups = [np.stack([table[:, mine][..., population.group == g].sum(axis=-1) for g in range(6)]).ravel()
                  for table in (p, q)]  # fmt: skip
        places = np.clip(np.searchsorted(BINS, groups[0], side="right") - 1, 0, 9)
        bins.append([np.bincount(places, weights=w, minlength=10) for w in (*groups, np.ones(len(places)))])
    return {
        "nats": nats.reshape(by_length).mean(axis=1), "stated": stated.reshape(by_length).mean(axis=1),
        "bins": np.array(bins),
    }  # fmt: skip


def asked(
    seed: int, n_old: int, n_new: int, n_rounds: int, each: int, max_iter: int, n_repetitions: int
) -> dict[str, Any]:
    """By repetition and design: nats per event of probes of all new users before and after, and who was asked.

    Shared matrices and the prior of own ones are learnt once, from others with 200 events. Every repetition has new
    users of its own, who begin with 2 to 120 events; the ensemble is trained on the old and all of the new.
    """
    rng = np.random.default_rng(seed)
    n_all = n_new * n_repetitions
    population = Population(n_old + n_all, seed)
    old = dict(enumerate(population.histories([200] * n_old)))
    lengths = np.exp(rng.uniform(np.log(2), np.log(121), (n_repetitions, n_new))).astype(int)
    begun = dict(enumerate(lengths.ravel().tolist(), n_old))
    streams = {u: population.history(u, n + n_rounds) for u, n in begun.items()}
    probes = {u: population.history(u, 60) for u in begun}
    common = {"n_components": 12, "cell": "tanh", "max_iter": max_iter, "random_state": seed}
    net = fitted(old, uncertainty="laplace", n_draws=24, **common)
    committee = fitted(old | {u: streams[u][:n] for u, n in begun.items()}, n_members=3, **common)
    errors, counts = [], []
    for k in range(n_repetitions):
        new = n_old + k * n_new + np.arange(n_new)
        mine = {u: begun[u] for u in new.tolist()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fresh = copy.deepcopy(net).partial_fit({u: streams[u][:n] for u, n in mine.items()})
            before = _error(fresh, {u: probes[u] for u in mine})
            found = [_rounds(copy.deepcopy(fresh), copy.deepcopy(committee), design, streams, mine, n_rounds, each)
                     for design in DESIGNS]  # fmt: skip
            errors.append([before, *(_error(taught, {u: probes[u] for u in mine}) for taught, _ in found)])
        counts.append([numbers for _, numbers in found])
    return {"errors": np.array(errors), "begun": lengths, "asked": np.array(counts)}


def _error(net: CollaborativeRNN, probes: dict[int, np.ndarray]) -> float:
    """Mean over users of nats per event of sequences that begin anew, after their third event."""
    return -float(np.mean([one[3:].mean() for one in net.log_predictive(probes, anew=True)]))


def _rounds(
    net: CollaborativeRNN, committee: CollaborativeRNN, design: str, streams: dict[int, np.ndarray],
    begun: dict[int, int], n_rounds: int, each: int,
) -> tuple[CollaborativeRNN, list[int]]:  # fmt: skip
    """The net after all answers of one design, and how often each user was asked."""
    new, seen = np.array(list(begun)), dict(begun)
    choice = np.random.default_rng(int(new[0]))
    silent = {u: float(-k) for k, u in enumerate(choice.permutation(new).tolist())}  # when each was last asked
    values = dict.fromkeys(new.tolist(), 0.0)
    users = new
    for step in range(n_rounds):
        for u in users.tolist():  # whose history has changed: what is believed of the others stands still
            values[u] = _value(net, committee, design, u)
        if design == "random":
            users = choice.choice(new, each, replace=False)
        elif design == "longest silent":
            users = np.array(sorted(silent, key=lambda u: silent[u])[:each])
        else:
            users = np.array(sorted(values, key=lambda u: -values[u])[:each])
        answers = [streams[u][seen[u]] for u in users.tolist()]
        net.partial_fit(users, answers)
        if design == "members":
            committee.partial_fit(users, answers)
        for k, u in enumerate(users.tolist()):
            silent[u], seen[u] = step * each + k + 1.0, seen[u] + 1
    return net, [seen[u] - begun[u] for u in begun]


def _value(net: CollaborativeRNN, committee: CollaborativeRNN, design: str, user: int) -> float:
    """What the next event of a user is worth, by a design that scores."""
    if design == "members":
        return float(scorers.information_gain(committee.predictive([user]))[0])
    if design == "own memory":
        return float(scorers.information_gain(net.predictive([user]))[0])
    if design == "next items":
        return float(scorers.predictive_information_gain(net.predictive([user], target=[user]))[0])
    return 0.0
