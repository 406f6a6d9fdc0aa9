"""Texts that come later: their topics by a finished run, of which nothing changes.

A run leaves its models in log/state.npz, and in log/learnt.json what else new texts need: the columns, the words, the
tenths of the time, the groups and the order of the topics. A text then gets what the same line would get in
documents.csv of the run: shares by each of the models, from its words and its metadata.

A group that the run has no text of, or a time outside its own, has weights z ~ N(0, v I) by the prior: the forecast is
that of a text of which this column is not known, and as wide as the weights of any group may be.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job, called, shown
from adaptive.cli.topics.texts import LOOKED_AT, Texts, Vocabulary, group_of, words_of
from adaptive.cli.understanding import counted, in_a_row, table_in_words
from adaptive.files import write_file

__all__ = ["Learnt", "of_new_texts"]

LEARNT = "learnt.json"
MOST_NAMED = 3  # groups, or lines
MOST_SAID = 10  # topics


@dataclass(frozen=True)
class Learnt:
    """Findings of a finished run that new texts need beside its models.

    Attributes
    ----------
    text, metadata, time : str, list of str, str or None
        The columns.
    vocabulary : Vocabulary
    order : list of int
        Of the model's topics, as the tables number them.
    groups : dict of column -> list of str
        Groups that have texts, and tenths of the time.
    """

    text: str
    metadata: list[str]
    time: str | None
    vocabulary: Vocabulary
    order: list[int]
    groups: dict[str, list[str]]

    def write(self, log: Path) -> None:
        """Keep it in this folder."""
        write_file(log / LEARNT, json.dumps(asdict(self), ensure_ascii=False) + "\n")

    @classmethod
    def of(cls, run: Path) -> Learnt:
        """Return that of the run in this folder.

        Raises
        ------
        CommandError
            If there is no run of this command, or none that has ended.
        """
        try:
            settings = json.loads((run / "settings.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            settings = {}
        if not isinstance(settings, dict) or settings.get("command") != "topics":
            raise CommandError(f"--learnt must name the folder of a run of adaptive topics, got {shown(run)}.")
        if settings.get("learnt"):
            raise CommandError(
                f"--learnt must name a run that learnt topics; {shown(run)} took them from {shown(settings['learnt'])}."
            )
        if not (run / "log" / LEARNT).is_file():
            raise CommandError(
                f"the run in {shown(run)} has not ended, or is one of an earlier version; complete it first with: "
                f"{called()} topics --out {shown(run)} --resume"
            )
        kept = json.loads((run / "log" / LEARNT).read_text(encoding="utf-8"))
        return cls(**{**kept, "vocabulary": Vocabulary(**kept["vocabulary"])})


@dataclass
class News:
    """Things in a table of new texts that the run does not know, found by a first look.

    Attributes
    ----------
    n_texts, n_empty : int
        Lines with a text and without one.
    n_words, n_strange : int
        Words but the commonest of English, and those that are not in the vocabulary.
    wordless : list of int
        Lines of texts without any word of the vocabulary.
    groups : Counter of (column, group)
        Texts of groups that the run has none of.
    times : Counter of bool
        Texts of times that the run has none of: outside its own (True), or in a gap.
    """

    n_texts: int = 0
    n_empty: int = 0
    n_words: int = 0
    n_strange: int = 0
    wordless: list[int] = field(default_factory=list)
    groups: Counter[tuple[str, str]] = field(default_factory=Counter)
    times: Counter[bool] = field(default_factory=Counter)

    @classmethod
    def of(cls, file: Texts, learnt: Learnt) -> News:
        """Look the file through; a time that cannot be read is refused."""
        news, vocabulary = cls(), learnt.vocabulary
        known, groups = set(vocabulary.words), {column: set(names) for column, names in learnt.groups.items()}
        for cells in file.file.blocks(LOOKED_AT):
            texts = cells.frame[file.text]
            there = (texts != "").to_numpy()
            news.n_texts += int(there.sum())
            news.n_empty += int((~there).sum())
            for line, text in texts[there].items():
                words = words_of(text)
                strange = sum(word not in known for word in words)
                news.n_words += len(words)
                news.n_strange += strange
                if strange == len(words):
                    news.wordless.append(int(line))
            for column in file.metadata:
                found = Counter(map(group_of, cells.frame[column][there]))
                news.groups.update(
                    {(column, group): n for group, n in found.items() if group not in groups.get(column, ())}
                )
            if file.time:
                for moment in file.moments(cells, vocabulary)[there].tolist():
                    if vocabulary.period(moment) not in groups[file.time]:
                        news.times[not vocabulary.first <= moment <= vocabulary.last] += 1
        return news

    def said(self, learnt: Learnt, run: str) -> Iterator[str]:
        """Yield a sentence for each thing that the run does not know."""
        vocabulary, little = (
            learnt.vocabulary,
            "this column tells nothing of such texts, and their intervals are wider.",
        )
        if self.groups:
            named = [f"{column} {group} ({counted(n, 'text')})" for (column, group), n in self.groups.most_common()]
            yield f"{run} has no text of {_listed(named)}; {little}"
        if self.times[True]:
            span = f"{_time(vocabulary.first)} to {_time(vocabulary.last)}"
            yield f"{_with(self.times[True])} a {learnt.time} outside those of {run}, {span}; {little}"
        if self.times[False]:
            yield f"{_with(self.times[False])} a {learnt.time} in a tenth of which {run} has no text; {little}"
        if self.n_strange:
            yield (f"{self.n_strange / self.n_words:.0%} of the words, the commonest of English aside, are not among "
                   f"the {len(vocabulary.words)} of {run}, and tell nothing.")  # fmt: skip
        if self.wordless:
            lines = _listed([str(line) for line in self.wordless])
            yield (f"Left out of documents.csv: {counted(len(self.wordless), 'text')} without any word of {run}, in "
                   f"line{'s' * (len(self.wordless) > 1)} {lines}.")  # fmt: skip
        if self.n_empty:
            yield f"Left out of documents.csv: {counted(self.n_empty, 'line')} with an empty {learnt.text}."


def of_new_texts(job: Job, given: Collection[str]) -> None:
    """Write documents.csv of the table of a job by the run that it names; ``given`` are the options that were stated.

    Raises
    ------
    CommandError
        If there is no such run, options are not those of the run, or no text has a word of its vocabulary.
    """
    run, settings = Path(job.settings["learnt"]), job.settings
    learnt, name = Learnt.of(run), shown(run)
    own = {"text": learnt.text, "metadata": learnt.metadata, "time": learnt.time}
    for option in sorted({*given} - {"table", "learnt"}):
        if option not in own or settings[option] != own[option]:
            raise CommandError(f"--{option} is not for new texts, which take columns, words and topics from {name}.")
    settings |= own
    path = job.file("table", "of texts")
    file = Texts(path, learnt.text, learnt.metadata, learnt.time)
    job.fix_file("table")
    kept = b"".join((run / "log" / one).read_bytes() for one in ("state.npz", LEARNT))
    job.fix("learnt_content", hashlib.sha256(kept).hexdigest(), f"the topics of {name}")
    news = News.of(file, learnt)
    if news.n_texts == len(news.wordless):
        raise CommandError(f"no text of {path.name} has a word of {name}, so there is nothing to tell its topics by.")
    roles = {"text": [learnt.text], "metadata": learnt.metadata, "time": [*filter(None, [learnt.time])]}
    kinds = {"text": "texts", "metadata": "groups", "time": "times"}
    job.understood(lambda: table_in_words(next(file.file.blocks(LOOKED_AT)), roles, kinds))
    told = [f"{counted(news.n_texts, 'new text')} by the {len(learnt.order)} topics of {name}, which stay as they are."]
    told += news.said(learnt, name)
    job.understood(*told)
    with job:
        from adaptive.cli.topics.stream import Stream  # from here on it pays to load what computes
        from adaptive.cli.topics.table import Models, written

        print("\n".join(told))
        job.doing, n = "looking up the topics of each new text", 0
        job.progress = lambda: f" after {counted(n, 'text')}"
        models = Models(Stream.begun({"topics": None}, run).models, np.array(learnt.order))
        largest = np.zeros(len(learnt.order), dtype=int)
        total = np.zeros(len(learnt.order))
        for _, shares in written(models, file, learnt.vocabulary, job):
            n += len(shares.places)
            total += shares.mean.sum(axis=0)
            largest += np.bincount(shares.mean.argmax(axis=1), minlength=len(largest))
        unknown = [{"column": column, "group": group, "texts": count} for (column, group), count in news.groups.items()]
        job.write_summary({"texts": n, "topics": len(total), "shares": (total / n).tolist(),
                           "largest": largest.tolist(), "left out": news.wordless, "groups not known": unknown,
                           "texts of times not known": news.times.total(),
                           "share of words not known": news.n_strange / max(news.n_words, 1)})  # fmt: skip
        lists = models.model.top_words(10)
        for k, place in enumerate(learnt.order[:MOST_SAID]):
            words = " ".join(learnt.vocabulary.words[j] for j in lists[place])
            print(f"{k + 1:4d} {total[k] / n:6.1%}  {words}")


def _listed(names: list[str]) -> str:
    """The first few names, and the number of the others."""
    told = names[:MOST_NAMED]
    if len(names) > MOST_NAMED:
        told = [*told, f"{len(names) - MOST_NAMED:,} more"]
    return in_a_row(told)


def _with(n: int) -> str:
    return f"{counted(n, 'text')} {'has' if n == 1 else 'have'}"


def _time(at: float) -> str:
    return f"{round(at, 1):g}"
