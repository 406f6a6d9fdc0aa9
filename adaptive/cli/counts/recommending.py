"""Items for users by their expected counts, and how well held-out items are ranked by the model and by popularity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from adaptive import diagnostics
from adaptive.cli.fitting import fitted
from adaptive.cli.held_out_items import held_out_items, write_ranks
from adaptive.cli.job import Job
from adaptive.estimators import PoissonFactorization

__all__ = ["write"]

MOST_USERS = 1000  # that items are recommended to, unless they are named


class _Ranking:
    """Ranking of items for users, as `adaptive.diagnostics.mean_rank` takes it: by a model, or by popularity."""

    def __init__(self, model: PoissonFactorization, popularity: Counter[Any] | None = None) -> None:
        self.model, self.counts, self.items_, self.seen = model, popularity, model.items_, model.seen

    def item_scores(self, users: Sequence[Any], items: Sequence[Any] | None = None, **_: float) -> np.ndarray:
        if self.counts is None:
            return self.model.item_scores(users, items)
        named = self.items_.tolist() if items is None else items
        return np.tile([float(self.counts[item]) for item in named], (len(users), 1))


def write(model: PoissonFactorization, pairs: list[tuple[Any, Any]], y: np.ndarray, folder: Job) -> None:
    """Write ranks.csv and items.csv: by the model, or by popularity where that ranks held-out items better."""
    settings: dict[str, Any] = folder.settings
    taken = [pair for pair, count in zip(pairs, y, strict=True) if count > 0]
    held_out = held_out_items(taken, settings["seed"])
    ahead = True
    if held_out:
        out = set(held_out)
        rest = [k for k, pair in enumerate(pairs) if pair not in out and np.isfinite(y[k])]
        start = PoissonFactorization(settings["components"], zeros=settings["zeros"], random_state=settings["seed"])
        part = fitted(
            start, lambda one: one.fit([pairs[k] for k in rest], y[rest]), folder, "held-out.npz"
        )  # fmt: skip
        ahead = _ranks(part, [pair for pair in taken if pair not in out], held_out, folder)
    _items(model, None if ahead else Counter(item for _, item in taken), folder)


def _ranks(
    model: PoissonFactorization, rest: list[tuple[Any, Any]], held_out: list[tuple[Any, Any]], folder: Job
) -> bool:
    """Write ranks.csv, and say and return whether the model ranks better than popularity."""
    rankings = {"model": _Ranking(model), "popularity": _Ranking(model, Counter(item for _, item in rest))}
    found = {name: diagnostics.mean_rank(one, held_out, ties=0.5) for name, one in rankings.items()}
    means = write_ranks(found, folder)
    if means["model"] > means["popularity"]:
        return True
    again = "" if folder.settings["zeros"] == "observed" else "; --zeros observed ranks better if such pairs are zeros"
    print(f"The model ranks no better than popularity: items.csv lists what most users have{again}.")
    return False


def _items(model: PoissonFactorization, popularity: Counter[Any] | None, folder: Job) -> None:
    """Write items.csv: of each user the items with the highest expected counts, with 90% intervals."""
    settings = folder.settings
    users = settings["to"] or model.users_.tolist()[:MOST_USERS]
    chosen: list[tuple[Any, Any]] = []
    for user in users:
        best = model.recommend(user, settings["items"]).tolist()
        if popularity is not None:
            seen = set(model.seen(user).tolist())
            best = [item for item, _ in popularity.most_common() if item not in seen][: settings["items"]]
        chosen += [(user, item) for item in best]
    columns: dict[str, Any] = {settings["user"]: [one for one, _ in chosen], settings["item"]: [i for _, i in chosen]}
    mean, low, high = np.zeros((3, 0))
    if chosen:
        mean, (low, high) = model.predict(chosen), model.interval(chosen)
    finite = [float(one) if np.isfinite(one) else None for one in mean]
    folder.write_csv("items.csv", columns | {"expected": finite, "lower": low.tolist(), "upper": high.tolist()})
    for user in settings["to"]:
        print(f"{user}: " + ", ".join(str(item) for one, item in chosen if one == user))
