"""The rate of events over time or two axes of places: has it risen, and where would counting again tell most?"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import diagnostics, plots
from adaptive.cli import beside
from adaptive.cli.counts import events_words
from adaptive.cli.counts.events_axis import BINS_OF_AN_AXIS, BINS_OF_TIME, Axis
from adaptive.cli.counts.events_change import change, where_highest
from adaptive.cli.fitting import fitted
from adaptive.cli.job import Job
from adaptive.estimators import CoxProcess
from adaptive.plots.style import tidy

__all__ = ["write"]

DRAWS = 20_000


def write(axes: list[Axis], folder: Job) -> None:
    """Fit a Cox process to the binned events, write rate.csv, rate.png, next.csv and summary.json, and say it."""
    settings: dict[str, Any] = folder.settings
    one = len(axes) == 1
    usual = BINS_OF_TIME if one else BINS_OF_AN_AXIS
    n_bins = [axis.n_bins(settings["bins"], usual) for axis in axes]
    widths = [(axis.high - axis.low) / n for axis, n in zip(axes, n_bins, strict=True)]
    events = np.column_stack([axis.values for axis in axes])
    X, y = CoxProcess.binned(events, [(axis.low, axis.high) for axis in axes], tuple(n_bins))
    print(events_words.counted_in_bins(axes, n_bins, widths))
    model = CoxProcess(rate=settings["rate"], random_state=settings["seed"])
    found = beside.kept(folder, lambda: diagnostics.beside_rival(model, (X, y)))
    model = fitted(model, lambda estimator: estimator.fit(X, y), folder)

    size, unit = axes[0].unit(len(events)) if one else (1.0, "bin")
    per = size / widths[0] if one else 1.0  # of a rate a bin
    rates = tuple(per * curve for curve in model.intensity(X))
    places = {axis.name: axis.written(X[:, k]) for k, axis in enumerate(axes)}
    curves = dict(zip(("rate", "lower", "upper"), (curve.tolist() for curve in rates), strict=True))
    folder.write_csv("rate.csv", {**places, "count": y.tolist(), **curves})
    again, gains = np.zeros(0, dtype=int), np.zeros(0)
    if not any(axis.start for axis in axes):  # nobody can count again on a day that is over
        asked = min(settings["ask"], len(X))
        again, gains = model.select(X, asked, return_scores=True, random_state=settings["seed"])
        chosen = {axis.name: axis.written(X[again, k]) for k, axis in enumerate(axes)}
        folder.write_csv("next.csv", {**chosen, "nats": gains.tolist()})
    _draw(X, per * y, rates, again, axes, unit, folder)

    constant = model.constant_rate_
    summary = {"events": len(events), "bins": len(X), "bin_width": dict(zip(places, widths, strict=True)),
               "rate_unit": f"events per {unit}",
               "kernel": str(model.kernel_), "rate": model.rate_, "overdispersion": model.overdispersion_,
               "overdispersion_gain": model.overdispersion_gain_, "converged": bool(model.converged_),
               "beside the rival": found}  # fmt: skip
    if constant is not None:
        own = constant._asdict()
        own.pop("log_evidence")  # the factor is not the difference of two evidences: learnt parameters cost, too
        scaled = {name: per * own[name] for name in ("rate", "rate_std")}
        summary["constant_rate"] = {
            name: value if np.isfinite(value) else None for name, value in (own | scaled).items()
        }  # fmt: skip
    highest = changed = None
    if one:
        draws = per * model.intensity_draws(X, DRAWS, random_state=settings["seed"])
        highest = where_highest(X[:, 0], draws)
        summary["highest"] = axes[0].written(np.array(highest))
        changed = change(axes[0], model.overdispersion_, widths[0])
        summary["change"] = changed._asdict()
    folder.write_summary(summary)

    print(events_words.highest_in_words(axes, X, rates, widths, unit, highest))
    if changed is not None:
        print(events_words.change_in_words(axes[0], changed))
    if constant is not None:
        print(events_words.constant_in_words(constant, per, unit, changed is not None and changed.is_sure))
    print(events_words.scatter_in_words(model, float(np.mean(y))))
    beside.say(found, advice="take its rate")
    if len(again):
        print(events_words.again_in_words(axes, X[again[:5]], widths))


def _draw(
    X: np.ndarray, y: np.ndarray, rates: tuple[np.ndarray, ...], again: np.ndarray, axes: list[Axis], unit: str,
    folder: Job,
) -> None:  # fmt: skip
    drawing, ax = plots.figure(8.0, 4.0 if len(axes) == 1 else 6.0)
    mean, low, high = rates
    drawn = [axis.drawn(X[:, k]) for k, axis in enumerate(axes)]
    if len(axes) == 1:
        ax.step(drawn[0], y, where="mid", color="0.7", label="counted in each bin")
        ax.fill_between(drawn[0], low, high, color=plots.PALETTE[0], alpha=0.25, linewidth=0, label="90% band")
        ax.plot(drawn[0], mean, color=plots.PALETTE[0], label="rate")
        if len(again):
            ax.plot(X[again, 0], np.zeros(len(again)), "^", color=plots.PALETTE[1], label="counting again tells most")
        ax.set(xlabel=axes[0].name, ylabel=f"events per {unit}")
        tidy(ax)
    else:
        shape = [len(np.unique(column)) for column in X.T]
        picture = ax.pcolormesh(*map(np.unique, drawn), mean.reshape(shape).T, shading="nearest")
        drawing.colorbar(picture, label="events per bin")
        if len(again):
            ax.plot(*X[again].T, "^", color=plots.PALETTE[1], label="counting again tells most")
        ax.set(xlabel=axes[0].name, ylabel=axes[1].name)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(fontsize=8, frameon=len(axes) > 1)  # a frame where it lies on colours
    folder.draw(drawing, "rate")
