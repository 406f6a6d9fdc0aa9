"""The rate of events over time or two axes of places, and where to look next."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import diagnostics, plots
from adaptive.cli import beside
from adaptive.cli.fitting import fitted
from adaptive.cli.job import Job
from adaptive.cli.understanding import counted
from adaptive.estimators import CoxProcess

__all__ = ["write"]


def write(events: np.ndarray, limits: list[tuple[float, float]], folder: Job, starts: list[str]) -> None:
    """Fit a Cox process to the binned events and write rate.csv, rate.png, next.csv and summary.json.

    ``starts`` are the dates that columns of days are counted from, "" for others.
    """
    settings: dict[str, Any] = folder.settings
    names = settings["place"]
    one = len(names) == 1
    X, y = CoxProcess.binned(events[:, 0] if one else events, limits[0] if one else limits, settings["bins"] or None)
    model = CoxProcess(rate=settings["rate"], random_state=settings["seed"])
    found = beside.kept(folder, lambda: diagnostics.beside_rival(model, (X, y)))
    model = fitted(model, lambda estimator: estimator.fit(X, y), folder)
    mean, low, high = model.intensity(X)
    centres = {name: X[:, k].tolist() for k, name in enumerate(names)}
    curves = {"count": y, "rate": mean, "lower": low, "upper": high}
    folder.write_csv("rate.csv", {**centres, **{name: values.tolist() for name, values in curves.items()}})
    n = min(settings["ask"], len(X))
    positions, gains = model.select(X, n, return_scores=True, random_state=settings["seed"])
    folder.write_csv(
        "next.csv", {**{name: X[positions, k].tolist() for k, name in enumerate(names)}, "nats": gains.tolist()}
    )
    _draw(X, y, (mean, low, high), positions, names, folder)
    constant = model.constant_rate_
    summary = {"events": len(events), "bins": len(X), "kernel": str(model.kernel_), "rate": model.rate_,
               "overdispersion": model.overdispersion_, "overdispersion_gain": model.overdispersion_gain_,
               "converged": bool(model.converged_), "log_evidence": float(model.log_evidence_),
               "beside the rival": found}  # fmt: skip
    if constant is not None:
        summary["constant_rate"] = constant._asdict()
    folder.write_summary(summary)
    highest = int(np.argmax(mean))
    where = " and ".join(f"{name} is {said}" for name, said in zip(names, _spot(X[highest], starts), strict=True))
    print(f"The rate is highest where {where}: {mean[highest]:.3g} events a bin "
          f"({low[highest]:.3g} to {high[highest]:.3g}); there are {counted(len(X), 'bin')}.")  # fmt: skip
    print(_counts_in_words(model))
    if constant is not None and constant.suffices:
        print(f"A constant rate, {constant.rate:.3g} +- {constant.rate_std:.2g} events a bin, predicts bins that are "
              f"left out no worse ({-constant.gain:+.3f} +- {constant.gain_std:.3f} nats a bin).")  # fmt: skip
    beside.say(found, advice="take its rate")
    listed = "; ".join(", ".join(_spot(X[k], starts)) for k in positions[:5])
    print(f"Worth counting next, in this order: {listed}.")


def _counts_in_words(model: CoxProcess) -> str:
    """Name the counts that were taken, and say what the others predicted."""
    gain = model.overdispersion_gain_
    if gain is None:
        return f"Counts about a rate behind the link {model.rate_}."
    of, other = ("Negative binomial", "Poisson") if gain > 0 else ("Poisson", "Negative binomial")
    varies = f", overdispersion {model.overdispersion_:.2g}" if gain > 0 else ""
    return (f"{of} counts ({model.rate_} rate{varies}): {other} ones predict bins that are left out worse, by "
            f"{abs(gain):.3f} nats a bin.")  # fmt: skip


def _spot(place: np.ndarray, starts: list[str]) -> list[str]:
    """A place in words; a time that is counted from a date is a date again."""
    import pandas as pd

    return [
        f"{pd.Timestamp(start) + pd.Timedelta(days=float(value)):%Y-%m-%d}" if start else f"{value:.4g}"
        for value, start in zip(place, starts, strict=True)
    ]


def _draw(
    X: np.ndarray, y: np.ndarray, rates: tuple[np.ndarray, ...], positions: np.ndarray, names: list[str],
    folder: Job,
) -> None:  # fmt: skip
    drawing, ax = plots.figure(8.0, 4.0 if len(names) == 1 else 6.0)
    mean, low, high = rates
    if len(names) == 1:
        ax.step(X[:, 0], y, where="mid", color="0.7", label="events in a bin")
        ax.fill_between(X[:, 0], low, high, color=plots.PALETTE[0], alpha=0.25, linewidth=0, label="90% band")
        ax.plot(X[:, 0], mean, color=plots.PALETTE[0], label="rate")
        ax.plot(X[positions, 0], np.zeros(len(positions)), "^", color=plots.PALETTE[1], label="count here next")
        ax.set(xlabel=names[0], ylabel="events per bin")
    else:
        shape = [len(np.unique(column)) for column in X.T]
        picture = ax.pcolormesh(np.unique(X[:, 0]), np.unique(X[:, 1]), mean.reshape(shape).T, shading="nearest")
        drawing.colorbar(picture, label="events per bin")
        ax.plot(*X[positions].T, "^", color=plots.PALETTE[1], label="count here next")
        ax.set(xlabel=names[0], ylabel=names[1])
    ax.legend(fontsize=8)
    folder.draw(drawing, "rate")
