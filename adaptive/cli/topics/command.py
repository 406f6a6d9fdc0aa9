"""``adaptive topics``: one pass over a file of texts, its topics by group and over time, and what to read next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job, shown
from adaptive.cli.options import DryRun, Format, Resume, out_folder, require_at_least, stated, whole_number
from adaptive.cli.topics.later import of_new_texts
from adaptive.cli.topics.texts import LOOKED_AT, Texts
from adaptive.cli.understanding import counted, table_in_words
from adaptive.tables import TableFile

__all__ = ["topics"]

TIMES = ("time", "date", "day", "month", "year", "when", "timestamp", "created", "published")
NEW_TEXTS = "For the topics of new texts by a finished run, add --learnt RUN, and a new folder with --out."
MOST_GROUPS = 30  # of a column that nobody named


def topics(
    context: typer.Context,
    table: Annotated[
        Path | None,
        typer.Argument(help="Table of texts; its first line names the columns.", metavar="TABLE",
                       show_default=False),
    ] = None,
    text: Annotated[
        str, typer.Option(help="The column of texts; an empty cell is a document not read yet.", metavar="COLUMN")
    ] = "text",
    metadata: Annotated[
        list[str] | None,
        typer.Option(help="A column that describes each text, such as its author; repeatable.",
                     metavar="COLUMN"),
    ] = None,
    time: Annotated[
        str | None, typer.Option(help=(
            "A column of dates, or of numbers such as years; it is cut into ten parts."
        ), metavar="COLUMN")
    ] = None,
    topics: Annotated[int | None, whole_number(
        "Number of topics (default: the smallest that foretells texts left out as well as any)."
    )] = None,
    words: Annotated[int, whole_number(
        "Number of words in the model, the most frequent ones but common English words such as 'the' (default 5000)."
    )] = 5000,
    read: Annotated[int, whole_number("How many documents without a text to name as worth reading (default 10).")] = 10,
    seed: Annotated[int, whole_number("Seed of random choices (default 0).")] = 0,
    learnt: Annotated[
        Path | None, typer.Option(help=(
            "The folder of a finished run: learn nothing, and give the texts of TABLE the topics of that run."
        ), metavar="RUN", show_default=False)
    ] = None,
    out: Annotated[Path, out_folder("adaptive-topics-run")] = Path("adaptive-topics-run"),
    pictures: Format = "png",
    resume: Resume = False,
    dry_run: DryRun = False,
) -> None:  # fmt: skip
    """Find the topics of texts, who writes about them and when, and say which document is worth reading next.

    The command reads the file in blocks, so that memory does not grow with it: once for the words, once to learn, once
    for the topics of each document. It writes topics.csv (shares and words of the topics), documents.csv (the share of
    each topic in each text), groups.csv and figures (means of these shares in the texts of a group or a time),
    groups_over_time.csv (means in the texts of a group within a time), effects.csv (the mean of a group less that of
    all other texts, and that of the last three tenths of the time less that of the first three), numbers.csv (numbers
    of topics that were tried), completion.csv (how well one half of a text that was not learnt foretells the other),
    read_next.csv, summary.json, and a state from which --resume continues a run that was stopped.

    Texts that come later get theirs by ``adaptive topics NEW.csv --learnt RUN --out FOLDER``. It takes the words, the
    topics and the columns of the finished run, which stays as it is, and writes documents.csv of the new texts. A group
    or a time that the run does not know is named, and the intervals of its texts are wider.

    All intervals are of 90%, for other texts like these. They allow for the few words of a text, for the choice of
    texts and for the start of learning (by five more models of texts drawn anew), not for another number of topics.
    """
    options = {**locals(), "metadata": list(dict.fromkeys(metadata or []))}
    job = Job(context, options, later={"learnt": None}, hints={"table": NEW_TEXTS} if learnt is None else {})
    number = 2 if topics is None else topics
    require_at_least(("topics", number, 2), ("words", words, 2), ("read", read, 1), ("seed", seed, 0))
    settings = job.settings
    if settings.get("learnt"):
        of_new_texts(job, stated(context, settings))
        return
    path = job.file("table", "of texts")
    if not settings["metadata"] and not settings["time"]:
        settings |= _known(path, settings["text"])
    file = Texts(path, settings["text"], settings["metadata"], settings["time"])
    job.fix_file("table")
    vocabulary = file.vocabulary(settings["words"])
    if len(vocabulary.words) < (wanted := settings["topics"] or 2):
        raise CommandError(
            f"{path.name} has {len(vocabulary.words)} words that stand in enough texts, fewer than --topics {wanted}."
        )
    roles = {"text": [settings["text"]], "metadata": settings["metadata"], "time": [*filter(None, [settings["time"]])]}
    kinds = {"text": "texts", "metadata": "groups", "time": "times"}
    first = next(file.file.blocks(LOOKED_AT))
    job.understood(lambda: table_in_words(first, roles, kinds))
    seen = f"{counted(vocabulary.n_texts, 'text')} in all, and {counted(len(vocabulary.words), 'word')} to look at."
    job.understood(f"{f'These are the first {LOOKED_AT:,} rows. ' * (len(first.frame) == LOOKED_AT)}{seen}")
    with job:
        from adaptive.cli.topics import report  # from here on it pays to load what computes and draws
        from adaptive.cli.topics.numbers import NUMBERS
        from adaptive.cli.topics.stream import Stream

        stream = Stream.begun(settings, job.path)
        job.doing = f"learning topics from {counted(vocabulary.n_texts, 'text')}"
        job.progress = lambda: f" after {counted(stream.n_blocks, 'block')}"
        stream.learn(file, vocabulary, job)
        job.doing = "looking up the topics of each document"
        sound = report.write(stream, file, vocabulary, job)
        if stream.unread:
            job.then(job.anew(), "once you have read a document of read_next.csv and its text is in the table")
        elif not stream.tried and not sound:
            job.then(job.anew().replace(f" --topics {stream.n_topics}", ""), "to have the number of topics chosen")
        elif stream.tried and stream.n_topics == NUMBERS[-1]:
            job.then(job.anew("--topics", str(2 * NUMBERS[-1])), "to see whether more topics than were tried say more")
        else:
            job.then(f"adaptive topics NEW.csv --learnt {shown(job.path)} --out FOLDER", "for texts that come later")


def _known(path: Path, text: str) -> dict[str, Any]:
    """Settings that say what is known of each text, where nobody named it: a column of years, and groups."""
    first = next(TableFile(path).blocks(LOOKED_AT)).frame
    time = next((name for name in first.columns if name.strip().lower() in TIMES and name != text), None)
    groups = [
        name for name in first.columns
        if name not in (text, time) and 2 <= first[name].nunique() <= min(MOST_GROUPS, len(first) / 5)
    ]  # fmt: skip
    if time is None and not groups:
        raise CommandError("name what is known of each text with --metadata COLUMN or --time COLUMN.")
    print(f"Known of each text: {', '.join([*groups, *filter(None, [time])])}.")
    return {"metadata": groups, "time": time}
