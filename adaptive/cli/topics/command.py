"""``adaptive topics``: one pass over a file of texts, its topics by group and over time, and what to read next."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive.cli.errors import CommandError
from adaptive.cli.options import Format, Resume, out_folder, require_at_least, stated, whole_number
from adaptive.cli.run_folder import RunFolder
from adaptive.cli.topics.texts import Texts

__all__ = ["topics"]


def topics(
    context: typer.Context,
    texts: Annotated[
        Path | None,
        typer.Option(help="CSV file in UTF-8; its first line names the columns.", metavar="FILE"),
    ] = None,
    text: Annotated[
        str, typer.Option(help="The column of texts; an empty cell is a document not read yet.", metavar="COLUMN")
    ] = "text",
    metadata: Annotated[
        list[str] | None,
        typer.Option(help="A column that says something of each text, such as its author; repeatable.",
                     metavar="COLUMN"),
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="A column of numbers, such as years; its range is cut in ten.", metavar="COLUMN")
    ] = None,
    n_topics: Annotated[int, typer.Option("--topics", help="Topics (default 20).", metavar="N",
                                          show_default=False)] = 20,
    words: Annotated[int, whole_number("Words that are looked at, the most frequent (default 5000).")] = 5000,
    read: Annotated[int, whole_number("Documents without a text to name as worth reading (default 10).")] = 10,
    seed: Annotated[int, whole_number("What is drawn is drawn from it (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-topics-run")] = Path("adaptive-topics-run"),
    pictures: Format = "png",
    resume: Resume = False,
) -> None:  # fmt: skip
    """Which topics are in these texts, who writes on them, and which document is worth reading next?

    Reads the file in blocks, twice: once for the words, once to learn, so that memory does not grow with it. Writes
    topics.csv (word lists), groups.csv and figures (topics by group and over time, with bands), completion.csv (half of
    each text completed from the other, with metadata and without, before it is learnt), read_next.csv, summary.json,
    and a state from which --resume continues a run that was stopped.
    """
    wanted: dict[str, Any] = {
        "texts": None if texts is None else str(texts.resolve()),
        "text": text,
        "metadata": list(dict.fromkeys(metadata or [])),
        "time": time,
        "topics": n_topics,
        "words": words,
        "read": read,
        "seed": seed,
    }
    require_at_least(("topics", n_topics, 2), ("words", words, 2), ("read", read, 1), ("seed", seed, 0))
    given = [*stated(context, wanted), *(["topics"] if stated(context, ["n_topics"]) else [])]
    folder = RunFolder(out, "topics", wanted, given=given, resume=resume, pictures=pictures)
    settings = folder.settings
    if settings["texts"] is None:
        raise CommandError("name the file of texts with --texts FILE.")
    if not settings["metadata"] and not settings["time"]:
        raise CommandError("name what is known of each text with --metadata COLUMN or --time COLUMN.")
    file = Texts(Path(settings["texts"]), settings["text"], settings["metadata"], settings["time"])
    folder.fix("content", _fingerprint(file.path), "the texts")
    vocabulary = file.vocabulary(settings["words"])
    if len(vocabulary.words) < settings["topics"]:
        raise CommandError(
            f"{file.path.name} has {len(vocabulary.words)} words that stand in enough texts, fewer than "
            f"--topics {settings['topics']}."
        )
    with folder:
        from adaptive.cli.topics.report import write  # from here on it pays to load what computes and draws
        from adaptive.cli.topics.stream import Stream

        go_on = f"adaptive topics --out {shlex.quote(str(folder.path))} --resume"
        stream = Stream.begun(settings, folder)
        try:
            stream.learn(file, vocabulary, folder)
            write(stream, vocabulary, folder)
        except KeyboardInterrupt:
            raise CommandError(f"stopped after {stream.n_blocks} blocks; continue with: {go_on}", 130) from None
        except OSError as error:  # a full disk
            raise CommandError(f"{error}; when that is mended, continue with: {go_on}", 1) from None


def _fingerprint(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
