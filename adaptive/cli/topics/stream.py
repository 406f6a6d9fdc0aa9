"""One pass over the texts by models with metadata and without, each block scored before it is learnt.

The first block is learnt in batch: topics that a single pass begins with hardly come apart later. Of a file of one
block a fifth is completed by models that learnt the rest of it. Beside both stand the words' frequencies.

Five more models with metadata learn texts drawn from the same ones with replacement (Efron's bootstrap, a block at a
time), each from another start: how far their shares lie from those of the first says what intervals must allow for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from adaptive import diagnostics
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job
from adaptive.cli.topics.numbers import best_number, learnt
from adaptive.cli.topics.texts import Block, Texts, Vocabulary
from adaptive.estimators import MetadataTopicModel
from adaptive.estimators.topics.documents import halves
from adaptive.files import write_file
from adaptive.loop.log.snapshots import pack, unpack

__all__ = ["Stream"]

BLOCK = 2000
AGAIN = 5  # models of texts drawn anew
MOST_UNREAD = 100_000  # distinct metadata of unread documents that are kept
MOST_JUDGED = 10_000  # texts, the first, by which the models are compared
ONE_IN = 5  # texts of a file of one block are left out, to be completed
PRIOR = 0.1  # of each word, beside its count
STATE = "state.npz"


@dataclass
class Stream:
    """State that is kept along the file, and written after every block.

    Attributes
    ----------
    settings : dict
        Of the command.
    n_topics : int or None
        None: chosen by the first block.
    tried : list of [number, nats a word, loss against the best, standard error]
        Numbers of topics; empty where it was given.
    models : dict of "with metadata", "without", and "again 1" to "again 5"
    n_blocks : int
        Learnt so far.
    scores : list of [line, words, with, without]
        Of each block but the first: the last line, and completion before the block was learnt.
    texts : list of [with, without, frequencies]
        Of texts that were completed: nats a word that each lost.
    words : (V,) array
        Counts of words so far.
    unread : dict of metadata -> first line
        Documents without a text.
    """

    settings: dict[str, Any]
    n_topics: int | None = None
    tried: list[list[float]] = field(default_factory=list)
    models: dict[str, MetadataTopicModel] = field(default_factory=dict)
    n_blocks: int = 0
    scores: list[list[float]] = field(default_factory=list)
    texts: list[list[float]] = field(default_factory=list)
    words: Any = 0.0
    unread: dict[tuple[str, ...], int] = field(default_factory=dict)

    @classmethod
    def begun(cls, settings: dict[str, Any], run: Path) -> Stream:
        """As the folder of a run has it, or from the start."""
        stream, path = cls(settings, settings["topics"]), run / "log" / STATE
        if path.is_file():
            state = unpack(path.read_bytes())
            if "tried" not in state:
                raise CommandError(f"{run} was begun by an earlier version; name another folder with --out.")
            stream.n_topics = None if state["n_topics"] is None else int(state["n_topics"])
            stream.tried = [list(map(float, row)) for row in state["tried"]]
            for name, kept in state["models"].items():
                stream.models[name] = MetadataTopicModel(int(state["n_topics"])).restore(kept)
            stream.n_blocks = int(state["n_blocks"])
            stream.scores = [list(map(float, row)) for row in state["scores"]]
            stream.texts = [list(map(float, row)) for row in state["texts"]]
            stream.words = np.asarray(state["words"], dtype=float)
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
        frame = frame.reset_index(drop=True)
        given = {"with metadata": frame, "without": np.zeros((len(frame), 0))}
        if self.models:
            self._complete(self.models, counts, given, block.lines[-1])
        else:
            out = (np.arange(counts.shape[0]) % ONE_IN == 0) & (len(block.lines) < BLOCK)
            if self.n_topics is None:
                self.n_topics, self.tried = best_number(counts[~out], frame[~out], self.settings["seed"])
            if out.any() and not out.all():
                self._complete_a_part(counts, given, out, block.lines[-1])
        for name, metadata in given.items():
            self._learn_by(name, counts, metadata, self.settings["seed"])
        for k in range(1, AGAIN + 1):
            draw = np.random.default_rng([self.settings["seed"], k, self.n_blocks])
            drawn = np.sort(draw.integers(counts.shape[0], size=counts.shape[0]))
            if counts[drawn].nnz:
                self._learn_by(f"again {k}", counts[drawn], frame.iloc[drawn], self.settings["seed"] + 1000 * k)
        self.words = self.words + counts.sum(axis=0)

    def _learn_by(self, name: str, counts: Any, metadata: Any, seed: int) -> None:
        """One more block by this model; the first is learnt in batch."""
        if name in self.models:
            self.models[name].partial_fit(counts, metadata)
        else:
            assert self.n_topics is not None
            self.models[name] = learnt(self.n_topics, seed, counts, metadata)

    def _complete_a_part(self, counts: Any, given: dict[str, Any], out: np.ndarray, line: int) -> None:
        """Note every fifth text of the only block, by models of the others."""
        assert self.n_topics is not None
        seed = self.settings["seed"]
        models = {name: learnt(self.n_topics, seed, counts[~out], one[~out]) for name, one in given.items()}
        self.words = counts[~out].sum(axis=0)
        self._complete(models, counts[out], {name: one[out] for name, one in given.items()}, line)
        self.words = 0.0

    def _complete(self, models: dict[str, Any], counts: Any, given: dict[str, Any], line: int) -> None:
        """Note how the second half of each text is completed from the first, and by frequencies of words alone."""
        if counts.sum(axis=1).max() < 2:
            return
        found = [models[name].completion(counts, metadata) for name, metadata in given.items()]
        words = found[0][1]
        self.scores.append([float(line), float(counts.sum()), *(float(logs.sum() / words.sum()) for logs, _ in found)])
        share = np.log((self.words + PRIOR) / (self.words + PRIOR).sum())
        rival = halves(counts, 0)[1] @ share
        long = np.flatnonzero(words > 0)[: MOST_JUDGED - len(self.texts)]
        columns = [-logs[long] / words[long] for logs in (found[0][0], found[1][0], rival)]
        self.texts += np.column_stack(columns).tolist()

    def beside(self) -> list[dict[str, Any]]:
        """Return the topics with metadata beside those without, and beside the words' frequencies."""
        ours, without, frequencies = np.array(self.texts).reshape(-1, 3).T
        rivals = {"the same model without metadata": without, "frequencies of words alone": frequencies}
        found = [diagnostics.beside({"log_loss": (ours, one)}, name, of="texts") for name, one in rivals.items()]
        return [one for one in found if one is not None]

    def _state(self) -> dict[str, Any]:
        return {
            "n_topics": self.n_topics,
            "tried": self.tried,
            "models": {name: model.state() for name, model in self.models.items()},
            "n_blocks": self.n_blocks,
            "scores": self.scores,
            "texts": self.texts,
            "words": self.words,
            "unread": [[*key, line] for key, line in self.unread.items()],
        }
