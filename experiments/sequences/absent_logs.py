"""What would need Brightkite's check-ins or LastFM-1K's plays: recorded as not run, unless a user has a copy.

`datasets.logs` reads a copy of either; users and items with fewer than ten events are left out, over and over.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import datasets
from experiments import claims
from experiments.script import Script, command

STATED = {"brightkite": (1679, 23243, 599_618), "lastfm-1k": (954, 48188, 4_320_170)}


def core(histories: dict[str, list[str]], least: int = 10, longest: int | None = None) -> dict[str, list[str]]:
    """Histories of users and items with at least so many events, of more than one item, cut to the ``longest``.

    Examples
    --------
    >>> core({"ann": ["a"] * 3 + ["b"] * 3 + ["c"], "ben": ["c", "a", "b"], "cleo": ["a"] * 9}, least=3)
    {'ann': ['a', 'a', 'a', 'b', 'b', 'b']}
    """
    while True:
        counts: dict[str, int] = {}
        for items in histories.values():
            for item in items:
                counts[item] = counts.get(item, 0) + 1
        kept = {who: [item for item in items if counts[item] >= least] for who, items in histories.items()}
        kept = {who: items for who, items in kept.items() if len(items) >= least and len(set(items)) > 1}
        if kept == histories:
            return {who: items[:longest] for who, items in kept.items()}
        histories = kept


def sizes(name: str) -> tuple[int, int, int]:
    """Users, items and events of a set after preprocessing."""
    histories = core(datasets.logs(name), longest=5120 if name == "lastfm-1k" else None)
    items = {item for one in histories.values() for item in one}
    return len(histories), len(items), sum(map(len, histories.values()))


def run(script: Script) -> None:
    """One entry."""
    claim = (
        "After preprocessing Brightkite has 1,679 users, 23,243 places and 599,618 check-ins, LastFM-1K 954 users, "
        "48,188 artists and 4,320,170 plays; the uniform rival's nats are the logs of the items."
    )
    try:
        value: Any = {name: sizes(name) for name in STATED}
    except datasets.DataNotFoundError:
        claims.record(
            "ko-tab-3.10", claim=claim, kind="to judge", target="as the source says", value="no data",
            verdict="not run", script=script.path, results=script.results,
            reason="Neither set is here (public, not to be passed on); `datasets.logs` reads a user's copy. The "
            "largest sets that ran are 252,000 words of 42 presidents and 35,405 spikes of 64 trials (ko-tab-3.11). "
            f"The uniform column is the log of the items: {np.log(23243):.2f} and {np.log(48188):.2f}, as printed.",
        )  # fmt: skip
        return
    script.judge("ko-tab-3.10", value == STATED, claim=claim, target=STATED, value=value)


if __name__ == "__main__":
    command(run, __doc__, __file__)
