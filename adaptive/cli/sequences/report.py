"""Report of ``adaptive sequences``: held-out nats by who predicts, next items, users worth observing."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import diagnostics, plots
from adaptive.cli.job import Job
from adaptive.cli.sequences.training import net_of, trained
from adaptive.cli.sequences.whom import worth_observing
from adaptive.estimators import CollaborativeRNN
from adaptive.estimators.sequences.histories import Histories, events_of
from adaptive.estimators.sequences.nets.ngrams import chosen
from adaptive.estimators.sequences.nets.training import Plan
from adaptive.loop.comparison import interval

__all__ = ["write"]

LEAST = 5  # events of a user of whom some are held out
TOGETHER = 512  # users whose next items are in memory at a time


def write(histories: dict[str, list[str]], folder: Job) -> dict[str, Any]:
    """Train, and write summary.json, users.csv, next.csv and observe.csv; return the summary."""
    settings: dict[str, Any] = folder.settings
    n_held = {who: _held(len(items), settings["held_out"]) for who, items in histories.items()}
    early = {who: items[: len(items) - n_held[who]] for who, items in histories.items()}
    late = {who: items[len(items) - n_held[who] :] for who, items in histories.items()}
    every = list(dict.fromkeys(item for items in histories.values() for item in items))
    pooled = trained(net_of(settings, every, pooled=True), early, folder, "pooled")
    own = trained(net_of(settings, every, pooled=False), early, folder, "own")
    errors = _errors(histories, early, late, every, pooled, own)
    length = np.array([len(items) for items in histories.values()])
    folder.write_csv("users.csv", {"user": list(histories), "events": length.tolist(),
                                   "held_out": list(n_held.values()),
                                   **{name: [None if np.isnan(v) else float(v) for v in column]
                                      for name, column in errors.items()}})  # fmt: skip
    nats = {name: float(np.nanmean(column)) if np.isfinite(column).any() else None for name, column in errors.items()}
    together = not nats["own"] or (nats["pooled"] or 0.0) < nats["own"]
    converged = {"own": bool(own.converged_), "pooled": bool(pooled.converged_)}
    summary = {
        "users": len(histories), "items": len(every), "events": int(length.sum()), "held_out": sum(n_held.values()),
        "nats": nats, "next_by": "pooled" if together else "own", "converged": converged,
        "epochs": {"own": own.n_iter_, "pooled": pooled.n_iter_}, "beside": _beside(errors, nats, together),
    }  # fmt: skip
    folder.write_summary(summary)
    _draw(errors, folder)
    best = (pooled if together else own).partial_fit(late)  # users stand where their histories end
    _next(best, settings["next"], folder)
    observe = worth_observing(histories, folder)
    folder.write_csv("observe.csv", observe)
    summary["observe"] = observe["user"]
    return summary


def _beside(errors: dict[str, np.ndarray], nats: dict[str, float | None], together: bool) -> dict[str, Any] | None:
    """The better net beside the better way of counting, user by user."""
    ours = errors["pooled" if together else "own"]
    counted = min(("1-gram", "2-gram"), key=lambda name: nats[name] or 0.0)
    told = np.isfinite(ours)
    return diagnostics.beside({"log_loss": (ours[told], errors[counted][told])}, f"counting ({counted})", of="users")


def _held(n: int, share: float) -> int:
    return max(1, int(share * n)) if n >= LEAST and share > 0 else 0


def _errors(
    histories: dict[str, list[str]], early: dict[str, list[str]], late: dict[str, list[str]], items: list[str],
    pooled: CollaborativeRNN, own: CollaborativeRNN,
) -> dict[str, np.ndarray]:  # fmt: skip
    """Nats per held-out event of each user, nan where nothing is held out."""
    known = np.array(items)
    whole = Histories.of(events_of(histories), known, closed=True).codes
    n_seen = np.array([len(one) for one in early.values()])
    learn = [codes[:n] for codes, n in zip(whole, n_seen.tolist(), strict=True)]
    found = {"uniform": np.full(len(whole), np.log(len(items)))}
    for order, name in ((1, "1-gram"), (2, "2-gram")):
        counted = chosen(order, learn, Plan().trained_on(n_seen), len(items))
        logs = counted.log_probabilities(whole)
        found[name] = np.array([_mean(one[n:]) for one, n in zip(logs, n_seen.tolist(), strict=True)])
    for name, model in (("pooled", pooled), ("own", own)):
        found[name] = np.array([_mean(one) for one in model.log_predictive(late)])
    return found


def _mean(logs: np.ndarray) -> float:
    return -float(logs.mean()) if len(logs) else float("nan")


def _next(model: CollaborativeRNN, n: int, folder: Job) -> None:
    rows: list[tuple[Any, ...]] = []
    for begin in range(0, len(model.users_), TOGETHER):
        users = model.users_[begin : begin + TOGETHER]
        chances = model.predict_proba(users)
        best = np.argsort(-chances, axis=1, kind="stable")[:, :n]
        for user, places, p in zip(users.tolist(), best, chances, strict=True):
            rows += [(user, k + 1, model.items_[i].item(), float(p[i])) for k, i in enumerate(places)]
    columns = zip(*rows, strict=True)
    folder.write_csv("next.csv", dict(zip(("user", "rank", "item", "probability"), map(list, columns), strict=True)))


def _draw(errors: dict[str, np.ndarray], folder: Job) -> None:
    """Mean nats of each way to predict, with 95% intervals where several users have held-out events."""
    shown = {name: column[np.isfinite(column)] for name, column in errors.items() if np.isfinite(column).any()}
    limits = np.array([interval(column) for column in shown.values()]).reshape(-1, 3)
    mean, half = limits[:, 0], limits[:, 2] - limits[:, 0]
    drawing, ax = plots.figure(6.0, 2.8)
    ax.barh(range(len(shown)), mean, xerr=np.where(np.isfinite(half), half, 0.0),
            error_kw={"linewidth": 1, "capsize": 2},
            color=[plots.PALETTE[0] if name == "own" else "#BBBBBB" for name in shown])  # fmt: skip
    ax.set_yticks(range(len(shown)), ["a memory for each" if name == "own" else name for name in shown])
    ax.invert_yaxis()
    ax.set(xlabel="nats per held-out event (mean over users, 95% interval)", title="Predictions of what comes next")
    folder.draw(drawing, "nats")
