"""Report of ``adaptive recommend``: ranks of held-out pairs, items for users, pairs worth showing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from adaptive import scorers
from adaptive.cli.fitting import fitted
from adaptive.cli.held_out_items import NOBODY, SHARE, items_of, judge
from adaptive.cli.job import Job
from adaptive.diagnostics.rankings import Popularity, held_out_items, rankings_of
from adaptive.estimators import PairedSymbols
from designs.pool import Product

__all__ = ["write"]

MOST_SHOWN = 2  # pairs of a user that are worth showing


def write(pairs: list[tuple[str, str]], answers: list[int | None], folder: Job) -> None:
    """Fit and write ranks.csv, items.csv, show.csv and summary.json."""
    settings: dict[str, Any] = folder.settings
    stream = [pair for pair, answer in zip(pairs, answers, strict=True) if answer is None]
    held_out = held_out_items(stream, settings["seed"], SHARE)
    summary: dict[str, Any] = {"pairs": len(pairs), "held out": len(held_out)}
    better, said = None, NOBODY
    if held_out:
        out = set(held_out)
        rest = [k for k, pair in enumerate(pairs) if pair not in out]
        given = [pairs[k] for k in rest], [answers[k] for k in rest]
        rivals = rankings_of(*given, random_state=settings["seed"])
        found = judge(_fitted(given, folder, "held-out.npz"), rivals, held_out, folder)
        better, said, summary = found.better, found.said, summary | found.summary
        if better is not None:
            print(f"items.csv lists {better.lists}: more of it had been held out. Probabilities are the model's.")
    model = _fitted((pairs, answers), folder, "state.npz")
    _items(model, folder, model if better is None else better.again(pairs, answers))
    _show(model, settings, folder)
    summary |= {"users": len(model.users_), "items": len(model.items_), "converged": model.converged_,
                "bound": float(model.log_evidence_)}  # fmt: skip
    folder.write_summary(summary)
    print(said)


def _fitted(given: tuple[Any, Any], folder: Job, name: str) -> PairedSymbols:
    settings = folder.settings
    model = PairedSymbols(settings["components"], censored_ratio=settings["ratio"], selection=settings["selection"],
                          random_state=settings["seed"])  # fmt: skip
    return fitted(model, lambda estimator: estimator.fit(*given), folder, name)


def _items(model: PairedSymbols, folder: Job, ranking: PairedSymbols | Popularity) -> None:
    """items.csv, by the ranking that placed held-out items best."""
    chosen, columns = items_of(ranking, model.users_.tolist(), folder)
    taken, low, high = np.zeros((3, 0))
    if chosen:
        taken, (low, high) = model.predict_proba(chosen)[:, 1], model.interval(chosen)
    columns |= {"probability": taken.tolist(), "lower": low.tolist(), "upper": high.tolist()}
    folder.write_csv("items.csv", columns)


def _show(model: PairedSymbols, settings: dict[str, Any], folder: Job) -> None:
    """show.csv: of pairs that were neither seen nor shown, few of a user and of an item."""
    data, (n_users, n_items) = model.belief_.data, (len(model.users_), len(model.items_))
    pool = Product(model.users_.tolist(), model.items_.tolist())
    most = MOST_SHOWN, -(-2 * settings["show"] // n_items)  # an item is shown twice as often as all would be, or once
    exclude = data.rows[0] * n_items + data.rows[1]
    found: list[tuple[int, float]] = []
    while len(found) < settings["show"] and len(exclude) < len(pool):
        found = _few_of_each(found, _best(model, pool, exclude, settings), n_items, most)[: settings["show"]]
        places = np.array([place for place, _ in found], dtype=np.int64)
        (users, n_of_user), (items, n_of_item) = (np.unique(one, return_counts=True)
                                                  for one in (places // n_items, places % n_items))  # fmt: skip
        full, taken = users[n_of_user >= most[0]], items[n_of_item >= most[1]]  # these are shown no more
        theirs = (full[:, None] * n_items + np.arange(n_items)).ravel()
        its = (np.arange(n_users)[:, None] * n_items + taken).ravel()
        exclude = np.unique(np.concatenate([exclude, theirs, its, places]).astype(np.int64))
    chosen = [pool[place] for place, _ in found]
    taken_odds = model.predict_proba(chosen)[:, 1] if chosen else np.zeros(0)
    if chosen:
        print("worth showing: " + "; ".join(f"{item} to {user}" for user, item in chosen[:5]))
    columns = {settings["user"]: [user for user, _ in chosen], settings["item"]: [item for _, item in chosen]}
    scores = [score for _, score in found]
    folder.write_csv("show.csv", {**columns, "probability": taken_odds.tolist(), settings["scorer"]: scores})


def _best(model: PairedSymbols, pool: Any, exclude: np.ndarray, settings: dict[str, Any]) -> list[tuple[int, float]]:
    """Positions of the pairs that are worth showing most, and their scores."""
    name = settings["scorer"]
    scorer: Any = scorers.upper_confidence_bound(1.0) if name == "upper_confidence_bound" else name
    positions, scores = model.select(
        pool, min(settings["show"], len(pool) - len(exclude)), scorer=scorer, exclude=exclude, joint=False,
        return_scores=True, random_state=settings["seed"],
    )  # fmt: skip
    return list(zip(positions.tolist(), scores.tolist(), strict=True))


def _few_of_each(
    found: list[tuple[int, float]], best: list[tuple[int, float]], n_items: int, most: tuple[int, int]
) -> list[tuple[int, float]]:
    """Return the pairs that were found and the best ones, of each user and of each item so many at most."""
    kept, both = [*found], [divmod(place, n_items) for place, _ in found]
    of_user, of_item = Counter(user for user, _ in both), Counter(item for _, item in both)
    for place, score in best:
        user, item = divmod(place, n_items)
        if of_user[user] < most[0] and of_item[item] < most[1]:
            of_user[user] += 1
            of_item[item] += 1
            kept.append((place, score))
    return kept
