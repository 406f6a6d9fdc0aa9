"""One pass over the texts by two models, with metadata and without, each block scored before it is learnt.

The first block is learnt in batch: topics that a single pass begins with hardly come apart later.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.cli.job import Job
from adaptive.cli.topics.texts import Block, Texts, Vocabulary
from adaptive.estimators import MetadataTopicModel
from adaptive.files import write_file
from adaptive.loop.log.snapshots import pack, unpack

__all__ = ["Stream"]

BLOCK = 2000
FIRST_PASSES = 50
MOST_UNREAD = 100_000  # distinct metadata of unread documents that are kept
STATE = "state.npz"


@dataclass
class Stream:
    """State that is kept along the file, and written after every block.

    Attributes
    ----------
    models : dict of "with metadata" and "without"
    n_blocks : int
        Learnt so far.
    scores : list of [line, words, with, without]
        Of each block but the first: the last line, and completion before the block was learnt.
    unread : dict of metadata -> first line
        Documents without a text.
    """

    models: dict[str, MetadataTopicModel]
    n_blocks: int = 0
    scores: list[list[float]] = field(default_factory=list)
    unread: dict[tuple[str, ...], int] = field(default_factory=dict)

    @classmethod
    def begun(cls, settings: dict[str, Any], folder: Job) -> Stream:
        """As the folder has it, or from the start."""
        models = {
            name: MetadataTopicModel(settings["topics"], max_iter=FIRST_PASSES, random_state=settings["seed"])
            for name in ("with metadata", "without")
        }
        stream, path = cls(models), folder.log / STATE
        if path.is_file():
            state = unpack(path.read_bytes())
            for name, model in models.items():
                model.restore(state[name])
            stream.n_blocks = int(state["n_blocks"])
            stream.scores = [list(map(float, row)) for row in state["scores"]]
            stream.unread = {tuple(map(str, row[:-1])): int(row[-1]) for row in state["unread"]}
        return stream

    def learn(self, texts: Texts, vocabulary: Vocabulary, folder: Job) -> None:
        """Read on to the end of the file."""
        for block in texts.blocks(vocabulary, BLOCK, self.n_blocks):
            self._learn(block)
            self.n_blocks += 1
            write_file(folder.log / STATE, pack(self._state()))

    def _learn(self, block: Block) -> None:
        import pandas as pd

        frame = pd.DataFrame(block.metadata)
        for position in np.flatnonzero(~block.has_text):
            if len(self.unread) < MOST_UNREAD:
                self.unread.setdefault(tuple(map(str, frame.iloc[position])), block.lines[position])
        counts = block.counts[block.has_text]
        frame = frame[block.has_text]
        if counts.nnz == 0:
            return
        given = {"with metadata": frame, "without": np.zeros((len(frame), 0))}
        if self.models["without"].__sklearn_is_fitted__() and counts.sum(axis=1).max() > 1:
            found = [self.models[name].score(counts, metadata) for name, metadata in given.items()]
            self.scores.append([float(block.lines[-1]), float(counts.sum()), *found])
        for name, metadata in given.items():
            if self.models[name].__sklearn_is_fitted__():
                self.models[name].partial_fit(counts, metadata)
            else:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)  # it goes on
                    self.models[name].fit(counts, metadata)

    def _state(self) -> dict[str, Any]:
        return {
            **{name: model.state() for name, model in self.models.items()},
            "n_blocks": self.n_blocks,
            "scores": self.scores,
            "unread": [[*key, line] for key, line in self.unread.items()],
        }
