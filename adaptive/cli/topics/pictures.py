"""Pictures of topics by group, over time, and of each group over time; a panel a topic, in the order of topics."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from adaptive import plots
from adaptive.cli.job import Job
from adaptive.cli.topics.documents import Effects
from adaptive.plots.style import tidy

__all__ = ["draw"]

MOST_TOPICS = 6
MOST_GROUPS = 12  # beside each other
MOST_LINES = 5  # in one panel
APART = 0.12  # of a period, from the points of one group to those of the next


def draw(effects: Effects, lists: list[list[str]], folder: Job) -> None:
    """Draw groups-COLUMN, time-COLUMN and over_time-COLUMN; of many topics those that differ most.

    Parameters
    ----------
    effects : Effects
    lists : list of K lists of str
        The words of each topic.
    folder : Job
    """
    table = effects.shares()
    for column in dict.fromkeys(table["column"]):
        along = column == effects.time
        groups = [group for at, group in zip(table["column"], table["group"], strict=True) if at == column]
        groups = list(dict.fromkeys(groups))[: None if along else MOST_GROUPS]
        found = _cube(table, {"column": column}, "group", groups, len(lists))
        drawing, panels = _panels(found[..., 0], lists)
        for ax, k in panels:
            if along and len(groups) > 1:
                _band(ax, [float(group) for group in groups], found[:, k])
            else:
                _points(ax, np.arange(len(groups)), found[:, k])
                ax.set_xticks(np.arange(len(groups)), groups, rotation=40, ha="right")
                ax.margins(x=0.15)
        _saved(drawing, column, f"{'time' if along else 'groups'}-{_file(column)}", folder)
    for column in dict.fromkeys(column for column, _, _ in effects.within):
        _draw_within(effects, column, lists, folder)


def _draw_within(effects: Effects, column: str, lists: list[list[str]], folder: Job) -> None:
    """A line over time for each group of a column, of many those with the most texts."""
    table = effects.shares_within()
    periods = sorted({period for at, _, period in effects.within if at == column}, key=float)
    if len(periods) < 2:
        return
    sizes = {group: own.n for (at, group), own in effects.groups.items() if at == column}
    groups = sorted(sorted(sizes, key=lambda group: (-sizes[group], group))[:MOST_LINES])
    cubes = [_cube(table, {"column": column, "group": group}, "time", periods, len(lists)) for group in groups]
    drawing, panels = _panels(np.concatenate([cube[..., 0] for cube in cubes]), lists)
    places = np.array([float(period) for period in periods])
    step = APART * (places[1] - places[0])
    for ax, k in panels:
        for g, cube in enumerate(cubes):
            colour = plots.PALETTE[g]
            at = places + (g - (len(groups) - 1) / 2) * step
            _points(ax, at, cube[:, k], colour)
            there = np.isfinite(cube[:, k, 0])
            ax.plot(at[there], cube[there, k, 0], color=colour, linewidth=1.2, label=groups[g])
        ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    handles, names = panels[0][0].get_legend_handles_labels()
    title = column if len(groups) == len(sizes) else f"{column}: the {len(groups)} of {len(sizes)} with most texts"
    drawing.legend(handles, names, loc="outside upper center", ncols=len(names), title=title, frameon=False, fontsize=8,
                   title_fontsize=8)  # fmt: skip
    _saved(drawing, str(effects.time), f"over_time-{_file(column)}", folder)


def _cube(table: dict[str, list[Any]], of: dict[str, str], along: str, places: list[str], n_topics: int) -> np.ndarray:
    """(places, K, 3) mean, lower and upper in per cent; NaN where there is nothing."""
    found = np.full((len(places), n_topics, 3), np.nan)
    for r, place in enumerate(table[along]):
        if place in places and all(table[name][r] == value for name, value in of.items()):
            values = [table[name][r] for name in ("share", "lower", "upper")]
            found[places.index(place), table["topic"][r] - 1] = values
    return 100 * found


def _panels(means: np.ndarray, lists: list[list[str]]) -> tuple[Figure, list[tuple[Axes, int]]]:
    """A figure with a panel for each topic, or for those whose means (n, K) differ most; in the order of topics."""
    apart = np.nanmax(means, axis=0) - np.nanmin(means, axis=0)
    chosen = np.sort(np.argsort(-apart, kind="stable")[:MOST_TOPICS]).tolist()
    columns = min(3, len(chosen))
    lines = -(-len(chosen) // columns)
    drawing, _ = plots.figure(3.0 * columns, 2.2 * lines + 0.8)
    drawing.clear()
    panels = drawing.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for ax, k in zip(panels, chosen, strict=False):
        ax.set_title("\n".join([f"{k + 1}: {' '.join(lists[k][:2])}", " ".join(lists[k][2:4])]), loc="left", fontsize=8)
        tidy(ax)
    for ax in panels[len(chosen) :]:
        ax.set_visible(False)
    return drawing, list(zip(panels, chosen, strict=False))


def _points(ax: Axes, places: np.ndarray, values: np.ndarray, colour: str = plots.PALETTE[0]) -> None:
    """Means with their intervals, of one text without; whole also on the axis."""
    mean, lower, upper = values.T
    reach = np.nan_to_num([mean - lower, upper - mean])
    ax.errorbar(places, mean, reach, fmt="o", markersize=3.5, linewidth=1.0, color=colour, clip_on=False)


def _band(ax: Axes, places: list[float], values: np.ndarray) -> None:
    mean, lower, upper = values.T
    ax.plot(places, mean, color=plots.PALETTE[0])
    ax.fill_between(places, lower, upper, color=plots.PALETTE[0], alpha=0.25, linewidth=0)
    ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))


def _saved(drawing: Figure, along: str, name: str, folder: Job) -> None:
    for ax in drawing.axes:
        ax.set_ylim(bottom=0.0)
    drawing.supylabel("mean share of the texts (%),\nwith 90% intervals", fontsize=9)
    drawing.supxlabel(along, fontsize=9)
    folder.draw(drawing, name)


def _file(column: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in column)
