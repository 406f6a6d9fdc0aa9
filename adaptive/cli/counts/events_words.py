"""Sentences about the rate of events, for a person who knows no statistics of processes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from adaptive.cli.counts.events_axis import MONTH, Axis
from adaptive.cli.understanding import counted

if TYPE_CHECKING:
    from adaptive.cli.counts.events_change import Change
    from adaptive.estimators import CoxProcess
    from adaptive.estimators.counts.constant_rate import ConstantRate

__all__ = [
    "again_in_words",
    "change_in_words",
    "constant_in_words",
    "counted_in_bins",
    "highest_in_words",
    "looked_for",
    "scatter_in_words",
]

NOTABLE = 1.05  # of a variance, in means
ODDS, MOST = 20, 1_000  # that are strong evidence; that are written out


def looked_for(axes: list[Axis]) -> list[str]:
    """Return a line for each axis: from where to where its events were looked for."""
    lines = []
    for axis in axes:
        width = 0.0 if axis.start else axis.high - axis.low
        why = "" if axis.told else ", which is the range of the events: say --window START:END if it was longer"
        lines.append(f"Events of {axis.name} were looked for from {axis.span(axis.low, axis.high, width)}{why}.")
    return lines


def counted_in_bins(axes: list[Axis], n_bins: list[int], widths: list[float]) -> str:
    """Return how many events are counted in which bins."""
    n, total = len(axes[0].values), math.prod(n_bins)
    size = " by ".join(axis.width_in_words(width) for axis, width in zip(axes, widths, strict=True))
    bins = f"{counted(total, 'bin')}{', each' if total > 1 else ''} {size} wide"
    return "\n".join([*looked_for(axes), f"{counted(n, 'event')}, counted in {bins}."])


def highest_in_words(
    axes: list[Axis], X: np.ndarray, rates: tuple[np.ndarray, ...], widths: list[float], unit: str,
    ends: tuple[float, float] | None,
) -> str:  # fmt: skip
    """Return where the rate is highest, and how sure that is."""
    mean, low, high = rates
    k = int(np.argmax(mean))
    spots = [axis.shown(value, width) for axis, value, width in zip(axes, X[k], widths, strict=True)]
    named = " and ".join(f"{axis.name} is {spot}" for axis, spot in zip(axes, spots, strict=True))
    where = f"about {spots[0]}" if len(axes) == 1 and axes[0].start else f"where {named}"
    sure = "" if ends is None else f" (90% interval: {axes[0].span(*ends, widths[0])})"
    long = f" of {MONTH:.2f} days" if axes[0].start and unit == "month" else ""
    return (
        f"The rate is highest {where}{sure}: {mean[k]:.3g} events per {unit}{long} (90% band: {low[k]:.3g} to "
        f"{high[k]:.3g})."
    )


def change_in_words(axis: Axis, found: Change) -> str:
    """Return whether the rate has risen from the first fifth to the last."""
    first = axis.span(axis.low, axis.low + found.fifth, found.fifth)
    last = axis.span(axis.high - found.fifth, axis.high, found.fifth)
    up = found.probability_risen
    way, sure = ("risen", up) if up >= 0.5 else ("fallen", 1.0 - up)
    if found.is_sure:
        verdict = f"It has {way}: the probability is {'above 0.999' if sure > 0.999 else f'{sure:.3f}'}."
    else:
        verdict = f"Whether it has {way} cannot be told: the probability is {sure:.2f}."
    return (
        f"From the first fifth ({first}: {counted(found.first_events, 'event')}) to the last ({last}: "
        f"{counted(found.last_events, 'event')})\nthe rate became {_ratio(found.ratio)} times what it was (90% "
        f"interval: {_ratio(found.lower)} to {_ratio(found.upper)}). {verdict}"
    )


def constant_in_words(constant: ConstantRate, per: float, unit: str, changed: bool) -> str:
    """Return how much more, or less, probable the counts are under a rate that varies than under one that does not."""
    factor = constant.log_bayes_factor
    rate, margin = per * constant.rate, per * 1.645 * constant.rate_std
    flat = f"a constant one ({rate:.3g} events per {unit}, 90% interval {rate - margin:.3g} to {rate + margin:.3g})"
    if math.isnan(factor):
        return f"A rate that varies was not compared with {flat}."
    if factor >= 0:
        found = f"The counts are {_times(factor)} as probable under a rate that varies as under {flat}."
    else:
        found = f"The counts are {_times(-factor)} as probable under {flat} as under a rate that varies."
    if changed and factor < math.log(ODDS):
        return f"{found} A curve may bend anywhere, so it needs more events than the two fifths to tell a change."
    if abs(factor) < math.log(ODDS):
        return f"{found} That is no strong evidence, which begins at {ODDS} times."
    return f"{found} {'So it varies' if factor > 0 else 'A constant rate will do'}."


def scatter_in_words(model: CoxProcess, mean: float) -> str:
    """Return whether counts of one rate scatter as chance alone would have it; ``mean`` is that of a bin."""
    times = 1.0 + model.overdispersion_ * mean
    if (model.overdispersion_gain_ or 0.0) > 0.0 and times >= NOTABLE:
        return (
            "About its rate the count of a bin scatters more than chance alone would have it: its variance is "
            f"{times:.2f} times its mean. The bands allow for it."
        )
    return "About its rate the count of a bin scatters as chance alone would have it."


def again_in_words(axes: list[Axis], places: np.ndarray, widths: list[float]) -> str:
    """Return where a second count would tell most."""
    listed = "; ".join(
        ", ".join(axis.shown(value, width) for axis, value, width in zip(axes, place, widths, strict=True))
        for place in places
    )
    names = " and ".join(axis.name for axis in axes)
    return (
        f"If you can count again, it tells most where {names} {'is' if len(axes) == 1 else 'are'}: {listed}.\n"
        "Do not add such counts to this table, which has each place as looked at once: in Python "
        "CoxProcess(exposure=...) takes both."
    )


def _ratio(value: float) -> str:
    return f"{value:.2f}" if 0.01 <= value < 100 else "over 100" if value >= 100 else "under 0.01"


def _times(log: float) -> str:
    return f"over {MOST:,} times" if log > math.log(MOST) else f"{math.exp(log):.3g} times"
