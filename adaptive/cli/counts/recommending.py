"""Items for users by their expected counts, and how well held-out items are ranked by the model and by its rivals."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.cli.fitting import fitted
from adaptive.cli.held_out_items import NOBODY, SHARE, items_of, judge
from adaptive.cli.job import Job
from adaptive.diagnostics.rankings import Popularity, held_out_items, rankings_of
from adaptive.estimators import PoissonFactorization

__all__ = ["write"]


def write(
    model: PoissonFactorization, pairs: list[tuple[Any, Any]], y: np.ndarray, folder: Job
) -> tuple[dict[str, Any], str]:
    """Write ranks.csv and items.csv, by the model or by the rival that ranks better; return the summary and a line."""
    settings: dict[str, Any] = folder.settings
    taken = [pair for pair, count in zip(pairs, y, strict=True) if count > 0]
    held_out = held_out_items(taken, settings["seed"], SHARE)
    better, said, summary = None, NOBODY, dict[str, Any]()
    if held_out:
        out = set(held_out)
        rest = [k for k, pair in enumerate(pairs) if pair not in out and np.isfinite(y[k])]
        given = [pairs[k] for k in rest], y[rest]
        start = PoissonFactorization(settings["components"], zeros=settings["zeros"], random_state=settings["seed"])
        part = fitted(start, lambda one: one.fit(*given), folder, "held-out.npz")
        found = judge(part, rankings_of(given[0], y[rest].tolist(), settings["seed"]), held_out, folder)
        better, said, summary = found.better, found.said, found.summary
    if better is not None:
        print(f"items.csv lists {better.lists}: more of it had been held out. Expected counts are the model's.")
        if settings["zeros"] == "missing":
            print("If pairs that are not listed never happened, --zeros observed ranks better.")
    known = np.flatnonzero(np.isfinite(y))
    _items(model, model if better is None else better.again([pairs[k] for k in known], y[known].tolist()), folder)
    return summary, said


def _items(model: PoissonFactorization, ranking: PoissonFactorization | Popularity, folder: Job) -> None:
    """Write items.csv: of each user the items that rank highest, their expected counts with 90% intervals."""
    chosen, columns = items_of(ranking, model.users_.tolist(), folder)
    mean, low, high = np.zeros((3, 0))
    if chosen:
        mean, (low, high) = model.predict(chosen), model.interval(chosen)
    finite = [float(one) if np.isfinite(one) else None for one in mean]
    folder.write_csv("items.csv", columns | {"expected": finite, "lower": low.tolist(), "upper": high.tolist()})
