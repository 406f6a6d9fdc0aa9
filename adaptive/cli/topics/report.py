"""Report of ``adaptive topics``: word lists, figures, completion, what to read next, and what is said on the screen."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.cli import beside
from adaptive.cli.job import Job
from adaptive.cli.topics import documents, pictures
from adaptive.cli.topics.stream import AGAIN, Stream
from adaptive.cli.topics.texts import Texts, Vocabulary
from adaptive.cli.understanding import in_a_row
from adaptive.estimators import MetadataTopicModel

__all__ = ["write"]

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
    pictures.draw(found.effects, lists, folder)
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
    if stream.settings["topics"]:
        return f"\nThe number of topics was given by --topics {stream.n_topics}, and not compared with others."
    told = [f"{int(row[0])}" for row in stream.tried]
    if len(told) < 2:
        return ""
    return (
        f"\nOf {in_a_row(told)} topics these are the fewest that foretell texts left out as well as any (numbers.csv)."
    )


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
