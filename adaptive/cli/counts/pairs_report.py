"""Counts of pairs: predictions for those without a count, and the pairs worth asking for."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import diagnostics
from adaptive.cli import beside
from adaptive.cli.counts import recommending
from adaptive.cli.fitting import fitted
from adaptive.cli.job import Job
from adaptive.cli.understanding import counted
from adaptive.estimators import PoissonFactorization
from designs.pool import Product

__all__ = ["write"]

TRIED = 2  # fifths of the counts that are left out and predicted, each by a fit of its own


def write(pairs: list[tuple[Any, Any]], y: np.ndarray, folder: Job) -> None:
    """Factorise the counts; write predictions.csv and next.csv where there is any, items.csv and summary.json."""
    settings: dict[str, Any] = folder.settings
    zeros = settings["zeros"] == "observed"
    names, seed = (settings["user"], settings["item"]), settings["seed"]
    known = np.flatnonzero(np.isfinite(y))
    listed = [pairs[k] for k in known]
    model = PoissonFactorization(settings["components"], zeros=settings["zeros"], random_state=seed)
    found = None
    if not zeros:  # where they are observed, a pair that is left out would be taught as one: ranks tell instead
        found = beside.kept(folder, lambda: diagnostics.beside_rival(model, (listed, y[known]), n_tried=TRIED))
    model = fitted(model, lambda estimator: estimator.fit(listed, y[known]), folder)
    open_pairs = [pairs[k] for k in np.flatnonzero(~np.isfinite(y))]
    if open_pairs:
        low, high = model.interval(open_pairs)
        finite = [float(value) if np.isfinite(value) else None for value in model.predict(open_pairs)]
        table = {**_columns(names, open_pairs), "count": finite, "lower": low.tolist(), "upper": high.tolist()}
        folder.write_csv("predictions.csv", table)
    chosen = [] if zeros else _worth_asking(model, open_pairs, listed, folder)
    print(f"{counted(len(known), 'count')} of {counted(len(model.users_), 'user')} and "
          f"{counted(len(model.items_), 'item')}"
          f"{f'; {len(open_pairs)} pairs predicted' if open_pairs else ''}")  # fmt: skip
    if model.dispersion_ > 1.0:
        print(f"counts scatter {model.dispersion_:.3g} times as much as Poisson's about their rates: each says less")
    beside.say(found)
    if chosen:
        print("worth asking for: " + "; ".join(f"{a} and {b}" for a, b in chosen[:5]))
    folder.doing = "ranking items that were held out"
    summary, said = recommending.write(model, pairs, y, folder)
    folder.write_summary(
        {"users": len(model.users_), "items": len(model.items_), "counts": len(known), "converged": model.converged_,
         "bound": float(model.log_evidence_), "dispersion": model.dispersion_, "beside the rival": found, **summary}
    )  # fmt: skip
    print(said)


def _worth_asking(
    model: PoissonFactorization, open_pairs: list[tuple[Any, Any]], listed: list[tuple[Any, Any]], folder: Job
) -> list[tuple[Any, Any]]:
    """Write next.csv: of pairs without a count, or, where none is listed, of those that are not listed."""
    settings = folder.settings
    pool: Any = open_pairs
    exclude: np.ndarray = np.zeros(0, dtype=np.int64)
    if not open_pairs:
        pool = Product(model.users_.tolist(), model.items_.tolist())
        exclude = np.unique(pool.positions(listed))
    n = min(settings["ask"], len(pool) - len(exclude))
    if not n:
        return []
    positions, gains = model.select(pool, n, exclude=exclude, return_scores=True, random_state=settings["seed"])
    chosen = [pool[int(k)] for k in positions]
    folder.write_csv("next.csv", {**_columns((settings["user"], settings["item"]), chosen), "nats": gains.tolist()})
    return chosen


def _columns(names: tuple[str, str], pairs: list[tuple[Any, Any]]) -> dict[str, list[Any]]:
    return {name: [pair[k] for pair in pairs] for k, name in enumerate(names)}
