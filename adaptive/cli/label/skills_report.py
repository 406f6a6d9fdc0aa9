"""Report of ``adaptive label --skills``: what is believed to be true beside what was said, and people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.job import Job
from adaptive.cli.label.report import count_in_words, plain, progress
from adaptive.cli.label.skills import places_of
from adaptive.cli.understanding import counted
from adaptive.estimators.linear.annotators.asked import FEWEST_LABELS
from adaptive.files import plain_cell
from adaptive.labelling.agreement import people_table
from adaptive.labelling.standing import Standing

if TYPE_CHECKING:
    from adaptive.cli.label.rows import Rows
    from adaptive.loop import SequentialDesign

__all__ = ["write"]


def write(design: SequentialDesign, rows: Rows, folder: Job, report: bool = False) -> None:
    """Write labels.csv, answers.csv (line, person, answer, score), and once there are answers people.csv, progress.csv,
    summary.json and the figures; print what they say.
    """
    candidates, history, standing = places_of(design, rows), design.history_, Standing(design)
    said = [(candidates.row(one.position), str(one.who), one.outcome) for one in standing.said]
    truth = _truth(design, rows)
    labels = rows.labels() | {row: label for row, (label, _) in truth.items() if rows.label_of(row) is None}
    _write_labels(design, rows, folder, said, labels, truth)
    who = {one.position: str(one.who) for one in standing.said}
    folder.write_csv(
        "answers.csv",
        {"step": history["step"], "line": [rows.line(candidates.row(one)) for one in history["position"]],
         "annotator": [plain_cell(who[one]) for one in history["position"]], rows.target: history["outcome"],
         "score": plain(history["score"])},
    )  # fmt: skip
    whose = counted(len({name for _, name, _ in said}), "person", "people")
    print(f"\n{count_in_words(labels, rows)}; {counted(len(said), 'answer')} of {whose}.")
    if said:
        found = design.estimator_.annotators_
        skills = {name: found[place] for name, place in candidates.places.items() if place in found}
        people = people_table(said, skills)
        folder.write_csv("people.csv", people | {"annotator": [plain_cell(name) for name in people["annotator"]]})
        print("\n".join([*_in_words(people), *design.estimator_.doubts_.values()]))
        progress(design, folder, {str(label): sum(one == label for one in labels.values()) for label in rows.classes})


def _truth(design: SequentialDesign, rows: Rows) -> dict[int, tuple[Any, float]]:
    """The most probable true label, and its probability, of each row that somebody has answered."""
    if not _learnt(design, rows):
        return {}
    ids, chances = design.estimator_.truth_
    best = np.argmax(chances, axis=1)
    labels = np.asarray(design.estimator_.classes_)[best].tolist()
    return dict(zip(ids.tolist(), zip(labels, chances.max(axis=1).tolist(), strict=True), strict=True))


def _learnt(design: SequentialDesign, rows: Rows) -> bool:
    return bool(design.history_["step"]) or rows.known() is not None


def _write_labels(
    design: SequentialDesign, rows: Rows, folder: Job, said: list[tuple[int, str, Any]], labels: dict[int, Any],
    truth: dict[int, tuple[Any, float]],
) -> None:  # fmt: skip
    """Write the table as it came, the labels that are believed, who said what, and what the model predicts."""
    n, target = len(rows), rows.target
    table: dict[str, list[Any]] = {name: rows.cells[name].tolist() for name in rows.cells.columns}
    table[target] = [labels.get(row, "") for row in range(n)]
    table[f"{target}_certainty"] = [truth[row][1] if row in truth else None for row in range(n)]
    voices: dict[int, list[str]] = {}
    for row, name, label in said:
        voices.setdefault(row, []).append(f"{name}: {label}")
    table[f"{target}_said"] = [plain_cell("; ".join(voices.get(row, []))) for row in range(n)]
    best: list[Any] = [None] * n
    probability: list[Any] = [None] * n
    if _learnt(design, rows):
        chances = design.estimator_.predict_proba(rows.X)
        best = np.asarray(design.estimator_.classes_)[chances.argmax(axis=1)].tolist()
        probability = chances.max(axis=1).tolist()
    for name, column in (("predicted", best), ("probability", probability)):
        table[f"{target}_{name}"] = column
    folder.write_csv("labels.csv", table)


def _in_words(people: dict[str, list[Any]]) -> list[str]:
    """A sentence for each person."""
    lines = []
    for name, n, agreed, skill, low, high in zip(*people.values(), strict=True):
        few = "; with so few the prior decides" if n < FEWEST_LABELS else ""
        also = "" if agreed is None else f"; others said the same in {agreed:.0%}"
        count = "1 label" if n == 1 else f"{n} labels"
        lines.append(f"{name}: believed right in {skill:.0%} ({low:.0%} to {high:.0%}), by {count}{few}{also}.")
    return lines
