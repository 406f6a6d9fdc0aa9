"""Whose next event is worth observing: what it tells of the user's own memory, by Laplace's approximation.

What the members of an ensemble disagree about was no better than asking at random (``ours-sequences-asked-random``).
Draws of own memories cost some hundred passes over the events; so at most ``MOST_USERS`` are looked at, half of them
those with the fewest events (of whom there is most to learn), the last ``MOST_EVENTS`` of each, and all but the
``MOST_ITEMS`` most frequent items stand as one.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any

import numpy as np

from adaptive import scorers
from adaptive.cli.job import Job
from adaptive.cli.sequences.training import net_of, trained

__all__ = ["worth_observing"]

MOST_USERS, MOST_EVENTS, MOST_ITEMS = 60, 200, 300
OTHERS = "all other items"


def worth_observing(histories: dict[str, list[str]], folder: Job) -> dict[str, list[Any]]:
    """Return columns user, nats (of the next event about the user's memory) and entropy (of it), the best first."""
    few = _few(histories, int(folder.settings["seed"]))
    items = list(dict.fromkeys(chain.from_iterable(few.values())))
    net = net_of(folder.settings, items, pooled=False, uncertainty="laplace", n_members=1, n_draws=24)
    net = trained(net, few, folder, "observe")
    believed = net.predictive(list(few))
    gains = scorers.information_gain(believed, 0)
    best = np.argsort(-gains, kind="stable")[: int(folder.settings["observe"])]
    users = list(few)
    return {"user": [users[k] for k in best], "nats": gains[best].tolist(),
            "entropy": believed.outcome_entropy[best].tolist()}  # fmt: skip


def _few(histories: dict[str, list[str]], seed: int) -> dict[str, list[str]]:
    """The ends of some histories, their rare items as one."""
    users = sorted(histories, key=lambda who: len(histories[who]))
    rest = np.random.default_rng(seed).permutation(np.arange(MOST_USERS // 2, max(len(users), MOST_USERS // 2)))
    chosen = {*users[: MOST_USERS // 2], *(users[k] for k in rest[: MOST_USERS // 2].tolist())}
    ends = {who: events[-MOST_EVENTS:] for who, events in histories.items() if who in chosen}
    frequent = {item for item, _ in Counter(chain.from_iterable(ends.values())).most_common(MOST_ITEMS)}
    return {who: [item if item in frequent else OTHERS for item in events] for who, events in ends.items()}
