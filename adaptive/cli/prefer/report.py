"""Report of ``adaptive prefer``: rankings with bands, what to ask whom, and the figure."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adaptive import plots
from adaptive.cli.run_folder import RunFolder
from adaptive.estimators import CollaborativePreference
from adaptive.estimators.preferences.person import PreferencePerson

__all__ = ["pairs_to_ask", "write_people", "write_ranking"]

MOST_PAIRS = 2000  # that a person is asked from
MOST_DRAWN = 30  # items in the figure


def pairs_to_ask(items: Sequence[str], seed: int) -> list[tuple[str, str]]:
    """All pairs of items, or so many drawn."""
    n = len(items)
    if n * (n - 1) // 2 <= MOST_PAIRS:
        return list(itertools.combinations(items, 2))
    rng = np.random.default_rng(seed)
    drawn = {tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(MOST_PAIRS)}
    return [(items[a], items[b]) for a, b in sorted(drawn)]


def write_ranking(person: PreferencePerson, folder: RunFolder, title: str) -> Mapping[str, list[Any]]:
    """Write ranking.csv and the figure: items, the best first, with 90% bands."""
    ranking = person.ranking(0.9, folder.settings["seed"])
    folder.write_csv("ranking.csv", ranking)
    shown = min(MOST_DRAWN, len(ranking["item"]))
    drawing, ax = plots.figure(7.0, 1.2 + 0.25 * shown)
    for k in range(shown):
        ax.plot([ranking["lower"][k], ranking["upper"][k]], [k, k], color=plots.PALETTE[0], linewidth=2, alpha=0.5)
        ax.plot(ranking["utility"][k], k, "o", color=plots.PALETTE[0])
    ax.set_yticks(range(shown), [str(item) for item in ranking["item"][:shown]])
    ax.invert_yaxis()
    ax.set(xlabel="utility against the mean of all items, with 90% bands", title=title)
    folder.draw(drawing, "ranking")
    return ranking


def write_people(
    model: CollaborativePreference, n_ask: int, n_best: int, folder: RunFolder, target: str | None = None
) -> list[tuple[Any, ...]]:
    """Write people.csv, everybody's best items, and next.csv: of everybody the comparison that teaches most.

    ``target`` "best": about which item that person likes best; None: about all that they like.
    """
    seed = folder.settings["seed"]
    best: dict[str, list[Any]] = {name: [] for name in ("user", "rank", "item", "utility", "lower", "upper")}
    pairs = pairs_to_ask(model.items_.tolist(), seed)
    asked: list[tuple[Any, ...]] = []
    for user in model.users_.tolist():
        person = model.user(user)
        ranking = person.ranking(0.9, seed)
        n = min(n_best, len(ranking["item"]))
        best["user"] += [user] * n
        best["rank"] += range(1, n + 1)
        for name in ("item", "utility", "lower", "upper"):
            best[name] += ranking[name][:n]
        position, gain = person.select(pairs, return_scores=True, random_state=seed, target=target)
        asked.append((user, *pairs[int(position[0])], float(gain[0])))
    folder.write_csv("people.csv", best)
    asked = sorted(asked, key=lambda one: -one[3])[:n_ask]
    columns = zip(*asked, strict=True)
    folder.write_csv("next.csv", dict(zip(("user", "first", "second", "nats"), map(list, columns), strict=True)))
    return asked
