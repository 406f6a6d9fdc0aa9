"""Report of ``adaptive topics``: word lists, figures, completion, what to read next, and what is said on the screen."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from adaptive import plots
from adaptive.cli import beside
from adaptive.cli.job import Job
from adaptive.cli.topics import documents
from adaptive.cli.topics.stream import AGAIN, Stream
from adaptive.cli.topics.texts import Texts, Vocabulary
from adaptive.estimators import MetadataTopicModel
from adaptive.plots.style import tidy

__all__ = ["write"]

MOST_GROUPS, N_LINES = 12, 6
MOST_SAID = 10  # topics
ADVICE = (
    "with this number of topics the columns mislead; leave them out, or try another number",
    "so few texts show no topics",
)


def write(stream: Stream, file: Texts, vocabulary: Vocabulary, folder: Job) -> bool:
    """Write all tables, the figures and summary.json, print, and return if there are words and texts for each topic."""
    settings, model = folder.settings, stream.models["with metadata"]
    found = documents.write(stream, file, vocabulary, folder)
    names = [[vocabulary.words[j] for j in one] for one in model.top_words(10)]
    lists = [names[k] for k in found.order]
    topics = {
        "topic": list(range(1, len(lists) + 1)),
        "share": found.share.tolist(),
        "texts": found.texts.tolist(),
        "found again": [f"{n} of {AGAIN}" for n in found.again],
        "words": [" ".join(one) for one in lists],
    }
    folder.write_csv("topics.csv", topics)
    shares = found.effects.shares()
    for column in dict.fromkeys(shares["column"]):
        _draw(shares, column, column == settings["time"], lists, folder)
    completion = _write_completion(stream, folder)
    unread = _read_next(stream, settings)
    folder.write_csv("read_next.csv", unread)
    beaten, empty = stream.beside(), _empty(model, found.order)
    folder.write_summary({"texts": vocabulary.n_texts, "words": len(vocabulary.words), "topics": len(lists),
                          "empty": empty, "completion": completion, "beside": beaten})  # fmt: skip
    print(f"{vocabulary.n_texts} texts, {len(vocabulary.words)} words, {len(lists)} topics.{_chosen(stream)}")
    sound = _say_topics(found, lists, empty)
    documents.say(found, lists)
    if completion:
        said = [f"{np.exp(-completion[name]):.0f}" for name in ("with metadata", "without")]
        print(f"By one half of a text, a word of the other half is foretold as well as one of {said[0]} equally likely "
              f"words;\nwithout the metadata, as one of {said[1]}.")  # fmt: skip
    once = stream.n_blocks == 1
    how = "a fifth of all, which were not learnt" if once else "none of them learnt yet"
    for one, advice in zip(beaten, ADVICE, strict=False):
        beside.say(one, advice=advice, how=how)
    if unread["line"]:
        print(f"worth reading next: lines {', '.join(map(str, unread['line']))}")
    return sound


def _write_completion(stream: Stream, folder: Job) -> dict[str, float] | None:
    """Write numbers.csv where a number was chosen, and completion.csv; return means over words."""
    if stream.tried:
        columns = ("topics", "completion", "loss against the best", "standard error")
        tried = dict(zip(columns, map(list, zip(*stream.tried, strict=True)), strict=True))
        folder.write_csv("numbers.csv", {**tried, "topics": [int(k) for k in tried["topics"]]})
    lines, weights, first, second = zip(*stream.scores, strict=True) if stream.scores else ((), (), (), ())
    folder.write_csv("completion.csv", {"line": [int(n) for n in lines], "with metadata": first, "without": second})
    means = {"with metadata": first, "without": second}
    return {name: float(np.average(one, weights=weights)) for name, one in means.items()} if weights else None


def _say_topics(found: documents.Found, lists: list[list[str]], empty: list[int]) -> bool:
    """Print the topics, and which are empty or were not found again; return if none is."""
    full = [k for k in range(1, len(lists) + 1) if k not in empty]
    for k in full[:MOST_SAID]:
        print(f"{k:4d} {found.share[k - 1]:6.1%}  {' '.join(lists[k - 1])}")
    if len(full) > MOST_SAID:
        print(f"     and {len(full) - MOST_SAID} more, in topics.csv")
    if empty:
        print(f"{len(empty)} of the {len(lists)} topics are empty ({', '.join(map(str, empty))}): all texts together "
              "give them fewer words than one text has.")  # fmt: skip
    lost = [k for k in full if 2 * found.again[k - 1] <= AGAIN]
    if lost:
        print(f"Not to be relied on: of {AGAIN} models of texts drawn anew from these, half or fewer found "
              f"topic{'s' * (len(lost) > 1)} {', '.join(map(str, lost))} again.")  # fmt: skip
    return not empty and not lost


def _empty(model: MetadataTopicModel, order: np.ndarray) -> list[int]:
    """Numbers, from 1 in this order, of topics to which all texts together give fewer words than one text has."""
    belief = model.fitted_belief()
    few = belief.tables.totals < belief.n_tokens / max(belief.n_documents, 1)
    return [place + 1 for place, k in enumerate(order) if few[k]]


def _chosen(stream: Stream) -> str:
    """Say how the number was chosen."""
    if not stream.tried:
        return ""
    told = [f"{int(row[0])}" for row in stream.tried]
    if len(told) < 2:
        return ""
    return (
        f"\nOf {', '.join(told[:-1])} and {told[-1]} topics these are the fewest that foretell texts left out as "
        "well as any (numbers.csv)."
    )


def _draw(table: dict[str, list[Any]], column: str, along: bool, lists: list[list[str]], folder: Job) -> None:
    """The topics that differ most between the groups of a column, with 90% bands."""
    rows = np.flatnonzero(np.array(table["column"]) == column)
    groups = list(dict.fromkeys(table["group"][r] for r in rows))
    groups = groups if along else groups[:MOST_GROUPS]
    K = len(lists)
    values = {
        (table["group"][r], table["topic"][r] - 1): (table["share"][r], table["lower"][r], table["upper"][r])
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
        ax.set_title("\n".join([f"{k + 1}: {' '.join(lists[k][:2])}", " ".join(lists[k][2:4])]), loc="left", fontsize=8)
        ax.set_ylim(bottom=0.0)
        tidy(ax)
    for ax in panels[len(chosen) :]:
        ax.set_visible(False)
    drawing.supylabel("mean share of the texts (%), with 90% bands", fontsize=9)
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
