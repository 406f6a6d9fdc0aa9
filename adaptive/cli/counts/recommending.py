"""Items for users by their expected counts, and how well held-out items are ranked by the model and by its rivals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adaptive import diagnostics
from adaptive.cli.fitting import fitted
from adaptive.cli.held_out_items import write_ranks
from adaptive.cli.job import Job
from adaptive.diagnostics.rankings import Popularity, held_out_items, rankings_of
from adaptive.estimators import PoissonFactorization

__all__ = ["write"]

MOST_USERS = 1000  # that items are recommended to, unless they are named


class _Model:
    """Ranking of items for users by a model, as `adaptive.diagnostics.mean_rank` takes it."""

    def __init__(self, model: PoissonFactorization) -> None:
        self.model, self.items_, self.seen = model, model.items_, model.seen

    def item_scores(self, users: Sequence[Any], items: Sequence[Any] | None = None, **_: float) -> np.ndarray:
        return self.model.item_scores(users, items)


def write(model: PoissonFactorization, pairs: list[tuple[Any, Any]], y: np.ndarray, folder: Job) -> None:
    """Write ranks.csv and items.csv: by the model, or by the rival that ranks held-out items better."""
    settings: dict[str, Any] = folder.settings
    taken = [pair for pair, count in zip(pairs, y, strict=True) if count > 0]
    held_out = held_out_items(taken, settings["seed"])
    better = None
    if held_out:
        out = set(held_out)
        rest = [k for k, pair in enumerate(pairs) if pair not in out and np.isfinite(y[k])]
        start = PoissonFactorization(settings["components"], zeros=settings["zeros"], random_state=settings["seed"])
        part = fitted(
            start, lambda one: one.fit([pairs[k] for k in rest], y[rest]), folder, "held-out.npz"
        )  # fmt: skip
        rivals = rankings_of([pairs[k] for k in rest], y[rest].tolist(), settings["seed"])
        better = _ranks(part, rivals, held_out, folder)
    known = np.flatnonzero(np.isfinite(y))
    _items(model, model if better is None else better.again([pairs[k] for k in known], y[known].tolist()), folder)


def _ranks(
    model: PoissonFactorization, rivals: list[Popularity], held_out: list[tuple[Any, Any]], folder: Job
) -> Popularity | None:
    """Write ranks.csv; say and return which rival ranks better than the model."""
    rankings: dict[str, Any] = {"model": _Model(model)} | {rival.short: rival for rival in rivals}
    found = {name: diagnostics.mean_rank(one, held_out, ties=0.5) for name, one in rankings.items()}
    means = write_ranks(found, folder)
    best = max(rivals, key=lambda rival: means[rival.short])
    if means["model"] >= means[best.short]:
        return None
    again = "" if folder.settings["zeros"] == "observed" else "; --zeros observed ranks better if such pairs are zeros"
    print(f"{best.name.capitalize()} ranks better than the model: items.csv lists {best.lists}{again}.")
    return best


def _items(model: PoissonFactorization, ranking: PoissonFactorization | Popularity, folder: Job) -> None:
    """Write items.csv: of each user the items that rank highest, their expected counts with 90% intervals."""
    settings = folder.settings
    users = settings["to"] or model.users_.tolist()[:MOST_USERS]
    chosen = [(user, item) for user in users for item in ranking.recommend(user, settings["items"]).tolist()]
    columns: dict[str, Any] = {settings["user"]: [one for one, _ in chosen], settings["item"]: [i for _, i in chosen]}
    mean, low, high = np.zeros((3, 0))
    if chosen:
        mean, (low, high) = model.predict(chosen), model.interval(chosen)
    finite = [float(one) if np.isfinite(one) else None for one in mean]
    folder.write_csv("items.csv", columns | {"expected": finite, "lower": low.tolist(), "upper": high.tolist()})
    for user in settings["to"]:
        print(f"{user}: " + ", ".join(str(item) for one, item in chosen if one == user))
