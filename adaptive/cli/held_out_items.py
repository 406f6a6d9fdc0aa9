"""Rankings of items, judged by items that were held out of their users' own, and which of them lists the items.

    mean rank    share of the items new to a user that a held-out one is ranked above
    hits         share of the first items of a user's list that had been held out

Both are means over users, whose differences are paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import plots
from adaptive.cli.understanding import counted
from adaptive.diagnostics.beside import beside
from adaptive.diagnostics.mean_rank import Placed, placed
from adaptive.plots.style import style, tidy

if TYPE_CHECKING:
    from adaptive.cli.job import Job
    from adaptive.diagnostics.rankings import Popularity

__all__ = ["NOBODY", "SHARE", "Judged", "items_of", "judge"]

SHARE = 0.2  # of each user's items, one at least
MOST_USERS = 1000  # that items are recommended to, unless they are named
NOBODY = "No user has three items, so none was held out: how well items are ranked is not known."


@dataclass(frozen=True)
class Judged:
    """A model of pairs and its rivals, by the same held-out pairs.

    Attributes
    ----------
    better : the rival that lists the items, as it certainly has more hits than the model; or None
    said : str
        How many of the items that are listed first had been held out: the last line.
    summary : dict
    """

    better: Popularity | None
    said: str
    summary: dict[str, Any]


def judge(model: Any, rivals: Sequence[Popularity], held_out: Sequence[tuple[Any, Any]], folder: Job) -> Judged:
    """Place held-out pairs by all rankings; write ranks.csv and its picture, print mean ranks and whose list it is."""
    n = folder.settings["items"]
    rankings = {"model": model} | {rival.short: rival for rival in rivals}
    found = {name: placed(one, held_out, n, ties=0.5) for name, one in rankings.items()}
    _write(found, folder)
    ranks = {name: float(one.by_user().mean()) for name, one in found.items()}
    hits = {name: float(one.hits.mean()) for name, one in found.items()}
    better = _certainly_better(found, rivals)
    ours = "model" if better is None else better.short
    against = {name: _beside(found, ours, name) for name in found if name != ours}
    print(f"{counted(len(held_out), 'pair')} were held out: a fifth of the items of each user who has three or more.")
    print("Mean rank of a held-out item (the share of items new to the user that it is ranked above: 0.5 by chance, 1 "
          f"at best): {_listed(ranks)}.")  # fmt: skip
    n_users = len(found[ours].hits)
    summary = {"held out": len(held_out), "users with held-out items": n_users, "items by": ours, "mean rank": ranks,
               f"hits among the first {n}": hits, "beside": against}  # fmt: skip
    said = (f"Of the {'item' if n == 1 else f'{n} items'} listed first for each of {counted(n_users, 'user')}, this "
            f"share were held-out items of that user: {_listed(hits)}. {_compared(ours, against)}")  # fmt: skip
    return Judged(better, said.rstrip(), summary)


def _certainly_better(found: Mapping[str, Placed], rivals: Sequence[Popularity]) -> Popularity | None:
    """Return the rival with the most hits among those that certainly have more than the model."""
    told = [(rival, _beside(found, "model", rival.short)) for rival in rivals]
    ahead = [(one["difference"], rival) for rival, one in told if one and one["difference"] > one["margin"]]
    return max(ahead, key=lambda pair: pair[0])[1] if ahead else None


def _beside(found: Mapping[str, Placed], ours: str, other: str) -> dict[str, Any] | None:
    both = found[ours], found[other]
    return beside(
        {"hits": (both[0].hits, both[1].hits), "mean_rank": (both[0].by_user(), both[1].by_user())}, other, of="users"
    )


def _compared(ours: str, against: Mapping[str, Any]) -> str:
    """Tell the ranking that lists the items from each other one, popularity first."""
    words = []
    for other in sorted(against, key=lambda name: name != "popularity"):
        found = against[other]
        if found is None:
            continue
        apart = f"{abs(found['difference']):.3f} +- {found['margin']:.3f}"
        if abs(found["difference"]) <= found["margin"]:
            words.append(f"Whether {_named(ours)} or {_named(other)} is better cannot be told ({apart} apart).")
            continue
        first, second = map(_named, (ours, other) if found["difference"] < 0 else (other, ours))
        words.append(f"{first[0].upper()}{first[1:]} is certainly better than {second} (by {apart}).")
    return " ".join(words)


def _named(ranking: str) -> str:
    return ranking if ranking == "popularity" else f"the {ranking}"


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {one:.3f}" for name, one in values.items())


def _write(found: Mapping[str, Placed], folder: Job) -> None:
    """Write ranks.csv: of all users, and of quarters of them by how many items they have in the fit."""
    first = next(iter(found.values()))
    seen = np.zeros(len(first.hits), dtype=np.int64)
    seen[first.users] = first.seen
    quarter = np.searchsorted(np.unique(np.quantile(seen, (0.25, 0.5, 0.75), method="lower")), seen)
    groups = [quarter == one for one in np.unique(quarter)] if quarter.any() else []
    groups = [np.ones(len(seen), dtype=bool), *groups]
    table: dict[str, list[Any]] = {
        "users": ["all"] + ["by activity"] * (len(groups) - 1),
        "least": [int(seen[one].min()) for one in groups],
        "most": [int(seen[one].max()) for one in groups],
        "n_users": [int(one.sum()) for one in groups],
    }
    for name, of in found.items():
        for judge, values in (("", of.by_user()), (" hits", of.hits)):
            table[f"{name}{judge}"] = [float(values[one].mean()) for one in groups]
            table[f"{name}{judge} error"] = [
                float(values[one].std(ddof=1) / np.sqrt(one.sum())) if one.sum() > 1 else None for one in groups
            ]
    folder.write_csv("ranks.csv", table)
    if len(groups) > 1:
        _draw(table, list(found), folder)


def _draw(table: Mapping[str, list[Any]], names: Sequence[str], folder: Job) -> None:
    """Draw the mean ranks of quarters of the users, a point each, with 95% intervals."""
    drawing, ax = plots.figure(7.0, 4.0)
    places = np.arange(len(table["users"]) - 1)
    for k, name in enumerate(names):
        errors = 1.96 * np.array([one or 0.0 for one in table[f"{name} error"][1:]])
        ax.errorbar(places + 0.06 * (k - 1), table[name][1:], errors, label=name, **style(name, k))
    bounds = zip(table["least"][1:], table["most"][1:], strict=True)
    ax.set_xticks(places, [f"{least}" if least == most else f"{least} to {most}" for least, most in bounds])
    ax.set(xlabel="items of the user", ylabel="mean rank of held-out items (95% intervals)")
    ax.margins(y=0.2)
    ax.legend(frameon=False, loc="upper center", ncols=len(names))
    tidy(ax)
    folder.draw(drawing, "ranks")


def items_of(ranking: Any, users: Sequence[Any], folder: Job) -> tuple[list[tuple[Any, Any]], dict[str, list[Any]]]:
    """Return the pairs of users and the items that rank highest for them, and the columns of items.csv so far."""
    settings = folder.settings
    listed = {
        user: ranking.recommend(user, settings["items"]).tolist() for user in settings["to"] or users[:MOST_USERS]
    }
    for user in settings["to"]:
        print(f"{user}: {', '.join(map(str, listed[user]))}")
    pairs = [(user, item) for user, items in listed.items() for item in items]
    ranks = [rank for items in listed.values() for rank in range(1, len(items) + 1)]
    columns = {settings["user"]: [user for user, _ in pairs], settings["item"]: [item for _, item in pairs]}
    return pairs, {**columns, "rank": ranks}
