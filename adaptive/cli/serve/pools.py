"""A table as a pool that several people label: what the model looks at, what people see, and the design of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import tables
from adaptive.cli.errors import CommandError
from adaptive.cli.label.asked_rows import design_of, model_of, of_people, rows_of
from adaptive.cli.label.embeddings import read_embeddings
from adaptive.cli.label.rows import MOST_SHOWN, Rows, names_of, read_labels
from adaptive.cli.run_folder import RunFolder
from adaptive.cli.serve.features import grey, words
from adaptive.cli.stopping import stopping_rule

if TYPE_CHECKING:
    from adaptive.loop import EventLog, SequentialDesign
    from adaptive.serve import Pool

__all__ = ["of_run", "pool"]

TARGET = "label"
_RUN = (
    "table",
    "classes",
    "target",
    "show",
    "ignore",
    "embeddings",
    "max_missing",
    "stop",
    "seed",
    "skills",
)  # settings of `adaptive label`


def pool(
    path: Path, classes: str, *, text: str | None, image: str | None, features: str | None, overlap: int, seed: int,
    stop: Sequence[str] | None, skills: int = 0, embeddings: str | None = None,
) -> Pool:  # fmt: skip
    """Read a table to label; a CommandError where it, or an option, is at fault."""
    from adaptive.serve import Pictures, Pool, Shown

    if text and image:
        raise CommandError("--text and --image both say what people see; give one.")
    cells = tables.read_cells(path)
    named = names_of(features)
    cells.require(*filter(None, (text, image)), *named)
    frame, known, labels = read_labels(cells, TARGET, names_of(classes))
    pictures = None if image is None else Pictures(path.parent, frame[image].tolist())
    blocks = []
    vectors = ""
    of_texts = text is not None and embeddings is None
    if embeddings is not None:
        found, vectors = read_embeddings(embeddings, len(frame), path)
        blocks.append(found)
    elif text is not None:
        blocks.append(words(frame[text].tolist(), path, text))
    elif pictures is not None:
        blocks.append(grey(pictures))
    if named or not blocks:
        aside = {TARGET} | ({*frame.columns} - {*named} if named else set())
        columns = tables.columns_of(cells, leave_out=aside, max_missing=0.5)
        preparation = tables.Preparation(columns, str(path))
        found = preparation.features_of()
        weight = preparation.weight(1) if of_texts and not preparation.of_texts else 1.0
        blocks.append(weight * (found.toarray() if hasattr(found, "toarray") else np.asarray(found)))
    X = np.hstack(blocks)
    seen = named or [name for name in frame.columns if name != TARGET][:MOST_SHOWN]
    rows = Rows(path, TARGET, frame, X, known, labels, seen, [], of_texts=of_texts)
    if not (~rows.labelled).any():
        raise CommandError(f"every row of {path} has a label already: nothing is left to ask.")

    def shown(position: int) -> Shown:
        if pictures is not None:
            return pictures.shown(position)
        row = frame.iloc[position]
        return Shown.of_text(row[text]) if text else Shown.of_row({name: row[name] for name in seen})

    rule = stopping_rule(list(stop or []))
    people = list(range(skills + 1)) if skills else []

    def begin(log: EventLog, begun: bool) -> SequentialDesign:
        from adaptive.loop import SequentialDesign

        if people:
            return _of_people(rows, X, skills, rule, seed, log, begun)
        free = ~rows.labelled
        if begun:
            return SequentialDesign.load(log, model_of(rows), X, mask=free, stop=rule)
        first = 0 if rows.labelled.any() else min(len(labels), int(free.sum()))
        return SequentialDesign(
            model_of(rows),
            X,
            mask=free,
            initial=first or None,
            stop=rule,
            random_state=seed,
            log=log,
            repeat=overlap > 1,
        )

    chosen = f"{vectors}|" if vectors else ""
    chosen += f"{text}|{image}|{','.join(named)}|{','.join(map(str, labels))}"
    chosen += f"|skills {skills}" if skills else ""
    what = hashlib.blake2b(f"{rows.fingerprint}|{chosen}".encode(), digest_size=16).hexdigest()
    return Pool(path.stem, begin, labels, shown, pictures, overlap, identity=f"pool {what}", people=people)


def _of_people(
    rows: Rows, X: np.ndarray, skills: int, rule: Any, seed: int, log: EventLog, begun: bool
) -> SequentialDesign:
    """Design whose candidates are a row and a session; number 0 is the table, whose labels are taken for the truth."""
    from adaptive.loop import SequentialDesign

    model, pairs, free = of_people(rows, X, skills)
    if begun:
        return SequentialDesign.load(log, model, pairs, mask=free, stop=rule)
    return SequentialDesign(model, pairs, mask=free, stop=rule, random_state=seed, log=log)


def of_run(path: Path) -> Pool:
    """Go on with a run of ``adaptive label``, in its own log."""
    from adaptive.serve import Pool, Shown

    folder = RunFolder(path, "label", dict.fromkeys(_RUN), resume=True, later={"skills": 0})
    if folder.settings.get("skills"):
        raise CommandError(
            f"the run in {path} learns people's skills by their names, and sessions have numbers: go on with it by "
            f"`adaptive label`, or begin anew with adaptive serve --label ... --skills {folder.settings['skills']}."
        )
    rows, settings = rows_of(folder), folder.settings

    def begin(_: EventLog, begun: bool) -> SequentialDesign:
        return design_of(rows, folder.log / "answers.jsonl", settings["seed"], stopping_rule(settings["stop"]))

    def shown(position: int) -> Shown:
        return Shown.of_row(rows.seen(position))

    return Pool(rows.path.stem, begin, rows.classes, shown, identity=f"run {rows.fingerprint}", own_log=True)
