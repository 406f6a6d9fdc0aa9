"""The table documents.csv: a line for each text, with the share of each topic in it and its interval.

share of a topic in a text ~ Beta with the moments
    mean = E s,    variance = Var s + mean over the other models of (E' s - E s)^2

E and Var are over what the text's words and metadata leave open, by the run's model. E' is by a model of texts drawn
anew, from another start, and says how far the topics themselves might have been found otherwise.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from adaptive.cli.run_folder import RunFolder
from adaptive.cli.topics.shares import matched, moments
from adaptive.cli.topics.texts import Block, Texts, Vocabulary
from adaptive.estimators import MetadataTopicModel

__all__ = ["LEVEL", "Models", "Shares", "plain", "written"]

BLOCK = 2000
LEVEL = 0.9


@dataclass(frozen=True)
class Shares:
    """Shares of the K topics in the m texts of a block that have a word of the vocabulary.

    Attributes
    ----------
    places : (m,) array
        Which lines of the block they are.
    mean, square : (m, K) arrays
        Posterior means of the shares and of their squares.
    again : (M, m, K) array
        Means by the other models.
    """

    places: np.ndarray
    mean: np.ndarray
    square: np.ndarray
    again: np.ndarray


@dataclass
class Models:
    """The model of a run, and those of texts drawn anew, each topic of which is paired with one of the model's.

    Parameters
    ----------
    learnt : mapping of name -> MetadataTopicModel
        Those of a stream: "with metadata" is the model, "again 1" and so on are the others.
    order : (K,) array, optional
        Of the model's topics, by which the tables number them; by default the largest in the first block first.
    """

    learnt: Mapping[str, MetadataTopicModel]
    order: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int))

    def __post_init__(self) -> None:
        self.model = self.learnt["with metadata"]
        self.others = [model for name, model in self.learnt.items() if "again" in name]
        self.pairs = [matched(self.model, other) for other in self.others]

    def shares(self, block: Block) -> Shares | None:
        """Return the shares in the texts of a block; None where no text has a known word."""
        places = np.flatnonzero(np.asarray(block.counts.sum(axis=1)).ravel() > 0)
        if not len(places):
            return None
        counts = block.counts[places]
        frame = pd.DataFrame({name: one[places] for name, one in block.metadata.items()})
        mean, square = moments(self.model, counts, frame)
        self.order = self.order if len(self.order) else np.argsort(-mean.mean(axis=0), kind="stable")
        again = np.empty((len(self.others), *mean.shape))
        for m, (other, (pair, _)) in enumerate(zip(self.others, self.pairs, strict=True)):
            again[m] = moments(other, counts, frame)[0][:, pair[self.order]]
        return Shares(places, mean[:, self.order], square[:, self.order], again)

    @property
    def found_again(self) -> np.ndarray:
        """(K,) how many of the other models have a topic like it, which is no more like another one."""
        mutual = np.array([one for _, one in self.pairs]).reshape(len(self.others), self.model.n_topics)
        return np.asarray(mutual.sum(axis=0)[self.order])


def written(models: Models, file: Texts, vocabulary: Vocabulary, folder: RunFolder) -> Iterator[tuple[Block, Shares]]:
    """Write documents.csv whole, and yield each block of texts with its shares on the way."""
    path = folder.result("documents.csv")
    partial = path.with_name(f".{path.name}.partial")
    names = [*file.metadata, *filter(None, [file.time])]
    numbers = range(1, models.model.n_topics + 1)
    with partial.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["line", *names, "topic", *(f"topic {k}" for k in numbers),
                         *(f"{side} {k}" for k in numbers for side in ("lower", "upper"))])  # fmt: skip
        for block in file.blocks(vocabulary, BLOCK):
            shares = models.shares(block)
            if shares is None:
                continue
            variance = np.maximum(shares.square - shares.mean**2, 0.0)
            if models.others:
                variance = variance + ((shares.again - shares.mean) ** 2).mean(axis=0)
            sides = np.stack(_between(shares.mean, variance), axis=2).reshape(len(variance), -1)
            most = shares.mean.argmax(axis=1) + 1
            writer.writerows(
                [block.lines[d], *(block.cells[name][d] for name in names), most[row],
                 *map(plain, shares.mean[row]), *map(plain, sides[row])] for row, d in enumerate(shares.places)
            )  # fmt: skip
            yield block, shares
    partial.replace(path)


def _between(mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the intervals of Beta distributions of these moments; the mean of a lopsided one is its end."""
    mean = np.clip(mean, 1e-6, 1.0 - 1e-6)
    weight = np.maximum(mean * (1.0 - mean) / np.maximum(variance, 1e-12) - 1.0, 1e-3)
    low, high = (stats.beta.ppf(at, mean * weight, (1.0 - mean) * weight) for at in (0.5 - LEVEL / 2, 0.5 + LEVEL / 2))
    return np.minimum(low, mean), np.maximum(high, mean)


def plain(value: Any) -> Any:
    """Return a number as the tables have it, to six places."""
    return round(float(value), 6) if isinstance(value, float | np.floating) else value
