"""Report of ``adaptive recommend``: ranks of held-out pairs, items for users, pairs worth showing."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from adaptive import diagnostics, plots, scorers
from adaptive.cli import beside
from adaptive.cli.fitting import fitted
from adaptive.cli.held_out_items import write_ranks
from adaptive.cli.job import Job
from adaptive.diagnostics.rankings import Popularity, beside_rankings, held_out_items, rankings_of
from adaptive.estimators import PairedSymbols
from adaptive.plots.style import style, tidy
from designs.pool import Product

__all__ = ["write"]

MOST_USERS = 1000  # that items are recommended to, unless they are named
MOST_SHOWN = 2  # pairs of a user that are worth showing


def write(pairs: list[tuple[str, str]], answers: list[int | None], folder: Job) -> None:
    """Fit and write ranks.csv, items.csv, show.csv and summary.json."""
    settings: dict[str, Any] = folder.settings
    stream = [pair for pair, answer in zip(pairs, answers, strict=True) if answer is None]
    held_out = held_out_items(stream, settings["seed"])
    summary: dict[str, Any] = {"pairs": len(pairs), "held out": len(held_out)}
    better = None
    if held_out:
        out = set(held_out)
        rest = [k for k, pair in enumerate(pairs) if pair not in out]
        given = [pairs[k] for k in rest], [answers[k] for k in rest]
        rivals = rankings_of(*given, random_state=settings["seed"])
        found, better = _ranks(_fitted(given, folder, "held-out.npz"), rivals, held_out, folder)
        summary |= found
    model = _fitted((pairs, answers), folder, "state.npz")
    _items(model, settings, folder, model if better is None else better.again(pairs, answers))
    _show(model, settings, folder)
    summary |= {"users": len(model.users_), "items": len(model.items_), "converged": model.converged_,
                "bound": float(model.log_evidence_)}  # fmt: skip
    folder.write_summary(summary)


def _fitted(given: tuple[Any, Any], folder: Job, name: str) -> PairedSymbols:
    settings = folder.settings
    model = PairedSymbols(settings["components"], censored_ratio=settings["ratio"], selection=settings["selection"],
                          random_state=settings["seed"])  # fmt: skip
    return fitted(model, lambda estimator: estimator.fit(*given), folder, name)


def _ranks(
    model: PairedSymbols, rivals: list[Popularity], held_out: list[tuple[str, str]], folder: Job
) -> tuple[dict[str, Any], Popularity | None]:
    """Write ranks.csv and its picture; return the means, the model beside a rival, and the rival if it ranks better."""
    found = {
        "model": diagnostics.mean_rank(model, held_out, ties=0.5),
        "odds alone": diagnostics.mean_rank(model, held_out, popularity=0.0, ties=0.5),
        **{rival.short: diagnostics.mean_rank(rival, held_out, ties=0.5) for rival in rivals},
    }
    means = write_ranks(found, folder)
    drawing, ax = plots.figure(7.0, 4.0)
    for k, (name, table) in enumerate(found.items()):
        middle = np.sqrt((np.array(table["least"][1:]) + 1.0) * (np.array(table["most"][1:]) + 1.0)) - 1.0
        errors = 1.96 * np.nan_to_num(table["standard_error"][1:])
        places = np.maximum(middle, 1.0) * 1.015 ** (k - len(found) // 2)  # beside each other: no bar hides another
        ax.errorbar(places, table["mean_rank"][1:], errors, label=name, **style(name, k))
    ax.set(xscale="log", xlabel="items of the user", ylabel="mean rank of the held-out item")
    groups = [f"{least}" if least == most else f"{least} to {most}" for least, most in zip(
        table["least"][1:], table["most"][1:], strict=True)]  # fmt: skip
    ax.set_xticks(np.maximum(middle, 1.0), groups)
    ax.minorticks_off()
    ax.margins(x=0.1, y=0.2)
    ax.legend(frameon=False, loc="upper center", ncols=2)
    tidy(ax)
    folder.draw(drawing, "ranks")
    against, best = beside_rankings(model, rivals, held_out)
    beside.say(against, advice=best.advice)
    better = best if means["model"] < means[best.short] else None
    if better is not None:
        print(f"items.csv ranks items by {better.name}; odds and intervals are the model's.")
    return {
        "mean rank": means,
        "beside the rival": against,
        "items by": "model" if better is None else better.short,
    }, better


def _items(model: PairedSymbols, settings: dict[str, Any], folder: Job, ranking: PairedSymbols | Popularity) -> None:
    """items.csv, by the ranking that placed held-out items best."""
    users = settings["to"] or model.users_.tolist()[:MOST_USERS]
    chosen = [(user, item) for user in users for item in ranking.recommend(user, settings["items"]).tolist()]
    columns: dict[str, Any] = {settings["user"]: [user for user, _ in chosen], settings["item"]: [i for _, i in chosen]}
    odds, low, high = np.zeros(0), np.zeros(0), np.zeros(0)
    if chosen:
        odds, (low, high) = model.predict_proba(chosen)[:, 1], model.interval(chosen)
    columns |= {"odds": odds.tolist(), "lower": low.tolist(), "upper": high.tolist()}
    folder.write_csv("items.csv", columns)
    if settings["to"]:
        for user in settings["to"]:
            print(f"{user}: " + ", ".join(str(item) for one, item in chosen if one == user))


def _show(model: PairedSymbols, settings: dict[str, Any], folder: Job) -> None:
    """show.csv: of pairs that were neither seen nor shown."""
    data = model.belief_.data
    pool = Product(model.users_.tolist(), model.items_.tolist())
    exclude = data.rows[0] * len(model.items_) + data.rows[1]
    found: list[tuple[int, float]] = []
    while len(found) < settings["show"] and len(exclude) < len(pool):
        more = _most_of_a_user(_best(model, pool, exclude, settings), len(model.items_), found)
        found = (found + more)[: settings["show"]]
        users, n_shown = np.unique([place // len(model.items_) for place, _ in found], return_counts=True)
        full = users[n_shown >= MOST_SHOWN]  # nothing further is shown to them
        theirs = (full[:, None] * len(model.items_) + np.arange(len(model.items_))).ravel()
        exclude = np.unique(np.concatenate([exclude, theirs, [place for place, _ in found]]).astype(np.int64))
    chosen = [pool[place] for place, _ in found]
    odds = model.predict_proba(chosen)[:, 1] if chosen else np.zeros(0)
    if chosen:
        print("worth showing: " + "; ".join(f"{item} to {user}" for user, item in chosen[:5]))
    columns = {settings["user"]: [user for user, _ in chosen], settings["item"]: [item for _, item in chosen]}
    scores = [score for _, score in found]
    folder.write_csv("show.csv", {**columns, "odds": odds.tolist(), settings["scorer"]: scores})


def _best(model: PairedSymbols, pool: Any, exclude: np.ndarray, settings: dict[str, Any]) -> list[tuple[int, float]]:
    """Positions of the pairs that are worth showing most, and their scores."""
    name = settings["scorer"]
    scorer: Any = scorers.upper_confidence_bound(1.0) if name == "upper_confidence_bound" else name
    positions, scores = model.select(
        pool, min(settings["show"], len(pool) - len(exclude)), scorer=scorer, exclude=exclude, joint=False,
        return_scores=True, random_state=settings["seed"],
    )  # fmt: skip
    return list(zip(positions.tolist(), scores.tolist(), strict=True))


def _most_of_a_user(
    best: list[tuple[int, float]], n_items: int, found: list[tuple[int, float]]
) -> list[tuple[int, float]]:
    """Those pairs of which each user has two at most, the ones found already among them."""
    n_of = Counter(place // n_items for place, _ in found)
    kept = []
    for place, score in best:
        if n_of[place // n_items] < MOST_SHOWN:
            n_of[place // n_items] += 1
            kept.append((place, score))
    return kept
