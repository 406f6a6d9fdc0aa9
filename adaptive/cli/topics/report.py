"""Report of ``adaptive topics``: word lists, topics by group and over time, completion, what to read next."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from adaptive import plots
from adaptive.cli import beside
from adaptive.cli.job import Job
from adaptive.cli.topics.stream import Stream
from adaptive.cli.topics.texts import Vocabulary
from adaptive.plots.style import tidy

__all__ = ["write"]

MOST_GROUPS, N_LINES = 12, 6
ADVICE = ("the columns mislead here; leave them out", "so few texts show no topics")


def write(stream: Stream, vocabulary: Vocabulary, folder: Job) -> None:
    """Write topics.csv, groups.csv, completion.csv, read_next.csv, the figures and summary.json, and print."""
    settings, model = folder.settings, stream.models["with metadata"]
    lists = [[vocabulary.words[j] for j in one] for one in model.top_words(10)]
    shares = model.components_.sum(axis=1)
    shares = shares / shares.sum()
    order = np.argsort(-shares)
    folder.write_csv(
        "topics.csv",
        {
            "topic": [int(k) + 1 for k in order],
            "share": [float(shares[k]) for k in order],
            "words": [" ".join(lists[k]) for k in order],
        },
    )
    groups = _groups(model)
    folder.write_csv("groups.csv", groups)
    for column in dict.fromkeys(groups["column"]):
        _draw(groups, column, column == settings["time"], lists, folder)
    lines, weights, first, second = zip(*stream.scores, strict=True) if stream.scores else ((), (), (), ())
    folder.write_csv("completion.csv", {"line": [int(n) for n in lines], "with metadata": first, "without": second})
    unread = _read_next(stream, settings)
    folder.write_csv("read_next.csv", unread)
    completion = None
    if weights:
        completion = {
            "with metadata": float(np.average(first, weights=weights)),
            "without": float(np.average(second, weights=weights)),
        }
    found = stream.beside()
    folder.write_summary({"texts": vocabulary.n_texts, "words": len(vocabulary.words), "completion": completion,
                          "beside": found})  # fmt: skip
    print(f"{vocabulary.n_texts} texts, {len(vocabulary.words)} words, {settings['topics']} topics")
    for k in order[:10]:
        print(f"{shares[k]:6.1%}  {' '.join(lists[k])}")
    if completion:
        with_, without = (f"{completion[name]:.3f}" for name in ("with metadata", "without"))
        told = f"log probability {with_} nats with metadata, {without} without"
        print(f"Half of a text predicts a word of the other half: {told}.")
    for one, advice in zip(found, ADVICE, strict=False):
        beside.say(one, advice=advice)
    if unread["line"]:
        print(f"worth reading next: lines {', '.join(map(str, unread['line']))}")


def _groups(model: Any) -> dict[str, list[Any]]:
    """Mean topics of each group or period, and how far they may be off by what is known of the weights."""
    table: dict[str, list[Any]] = {name: [] for name in ("column", "group", "topic", "mean", "lower", "upper")}
    for column, group in model.belief_.data.categories:
        profile = model.profile((column, group))
        for k in range(model.n_topics):
            spread = 1.645 * float(profile.proportion_deviations[k])
            mean = float(profile.proportions[k])
            values = (column, group, k + 1, mean, max(mean - spread, 0.0), min(mean + spread, 1.0))
            for name, value in zip(table, values, strict=True):
                table[name].append(value)
    return table


def _draw(table: dict[str, list[Any]], column: str, along: bool, lists: list[list[str]], folder: Job) -> None:
    """The topics that differ most between the groups of a column, with 90% bands."""
    rows = np.flatnonzero(np.array(table["column"]) == column)
    groups = list(dict.fromkeys(table["group"][r] for r in rows))
    if along:
        groups.sort(key=float)
    groups = groups if along else groups[:MOST_GROUPS]
    K = len(lists)
    values = {
        (table["group"][r], table["topic"][r] - 1): (table["mean"][r], table["lower"][r], table["upper"][r])
        for r in rows
    }
    cube = 100 * np.array([[values[group, k] for k in range(K)] for group in groups])
    chosen = np.argsort(-np.ptp(cube[:, :, 0], axis=0), kind="stable")[:N_LINES]
    columns = min(3, len(chosen))
    lines = -(-len(chosen) // columns)
    drawing, ax = plots.figure(3.0 * columns, 2.2 * lines + 0.8)
    drawing.clear()
    panels = drawing.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).ravel()
    places = np.array([float(group) for group in groups]) if along else np.arange(len(groups))
    for ax, k in zip(panels, chosen, strict=False):
        mean, lower, upper = cube[:, k].T
        if along and len(groups) > 1:
            ax.plot(places, mean, color=plots.PALETTE[0])
            ax.fill_between(places, lower, upper, color=plots.PALETTE[0], alpha=0.25, linewidth=0)
            ax.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        else:
            ax.errorbar(places, mean, [mean - lower, upper - mean], fmt="o", markersize=4, color=plots.PALETTE[0])
            ax.set_xticks(places, groups, rotation=40, ha="right")
            ax.margins(x=0.15)
        ax.set_title("\n".join([" ".join(lists[k][:2]), " ".join(lists[k][2:4])]), loc="left", fontsize=8)
        ax.set_ylim(bottom=0.0)
        tidy(ax)
    for ax in panels[len(chosen) :]:
        ax.set_visible(False)
    drawing.supylabel("share of the words (%), 90% bands", fontsize=9)
    drawing.supxlabel(column, fontsize=9)
    name = "".join(c if c.isalnum() else "_" for c in column)
    folder.draw(drawing, f"{'time' if along else 'groups'}-{name}")


def _read_next(stream: Stream, settings: dict[str, Any]) -> dict[str, list[Any]]:
    """Unread documents in the order in which they are worth reading, and nats about the weights that each adds."""
    import pandas as pd

    model, names = stream.models["with metadata"], [*settings["metadata"], *filter(None, [settings["time"]])]
    if not stream.unread:
        return {name: [] for name in ("line", *names, "nats")}
    frame = pd.DataFrame(list(stream.unread), columns=names)
    n = min(settings["read"], len(frame))
    positions, gains = model.reader().select(frame, n, return_scores=True, random_state=settings["seed"])
    lines = list(stream.unread.values())
    return {
        "line": [lines[i] for i in positions],
        **{name: list(frame[name].iloc[positions]) for name in names},
        "nats": [float(gain) for gain in gains],
    }
