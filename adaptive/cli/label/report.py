"""Report of ``adaptive label`` at the end of every call: the labels, how the run went, and whether to stop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.beside import say
from adaptive.cli.job import Job
from adaptive.cli.understanding import counted

if TYPE_CHECKING:
    from adaptive.cli.label.asked_rows import AnyRows
    from adaptive.loop import SequentialDesign

__all__ = ["count_in_words", "plain", "progress", "write"]

NAME_OF_RIVAL = "beside LogisticRegressionCV"
RIVAL_HERE = "take its predictions: labels.csv has them in the columns that end in _rival"


def write(design: SequentialDesign, rows: AnyRows, folder: Job, report: bool = False) -> None:
    """Write labels.csv, answers.csv (line of the file, answer, score), and once there are answers progress.csv,
    summary.json, accuracy and stopping figures; print what they say.
    """
    history = design.history_
    labels = rows.labels() | dict(zip(history["position"], history["outcome"], strict=True))
    beside = _beside(design, rows, report)
    rows.write(design, labels, folder, report, rival=_better(design, rows, labels, beside))
    lines = [rows.line(position) for position in history["position"]]
    folder.write_csv(
        "answers.csv",
        {"step": history["step"], "line": lines, rows.target: history["outcome"], "score": plain(history["score"])},
    )
    counts, asked = Counter(labels.values()), len(history["step"])
    print(f"\n{count_in_words(labels, rows)}, {asked} of them asked.")
    by_class = {str(label): counts[label] for label in rows.classes}
    if asked:
        progress(design, folder, by_class, beside=beside)
    elif beside is not None:  # of labels that the table gave
        say(beside, advice=RIVAL_HERE)
        folder.write_summary({"labels": by_class, "asked": 0, NAME_OF_RIVAL: beside})


def count_in_words(labels: Mapping[int, Any], rows: AnyRows) -> str:
    """Return how many rows have a label, and which."""
    counts = Counter(labels.values())
    told = ", ".join(f"{counts[label]} {label}" for label in rows.classes)
    n = sum(counts.values())
    return f"{n} of {counted(len(rows), 'row')} {'has' if n == 1 else 'have'} a label ({told})"


def _beside(design: SequentialDesign, rows: AnyRows, report: bool) -> dict[str, Any] | None:
    """Compare with what a user would have taken instead, where that is asked for, or labelling has ended."""
    from adaptive import diagnostics

    X, y = getattr(rows, "X", None), getattr(rows, "y", None)
    if not (report or design.finished) or X is None or y is None:  # a stored table is not read for it
        return None
    known = np.flatnonzero([label is not None for label in y])
    return diagnostics.beside_rival(design, (X[known], y[known]) if len(known) else None)


def _better(
    design: SequentialDesign, rows: AnyRows, labels: Mapping[int, Any], beside: Mapping[str, Any] | None
) -> Any:
    """Return the simple rival, having learnt all labels, where it is certainly better; None otherwise."""
    if beside is None or beside["difference"] <= beside["margin"]:
        return None
    from adaptive import pool as pools
    from adaptive.diagnostics.rivals import rival_of

    known = sorted(labels)
    X = rows.X  # in memory: others are not compared
    return rival_of(design.estimator_).fit(pools.take(X, np.array(known)), np.array([labels[k] for k in known]))


def progress(
    design: SequentialDesign, folder: Job, counts: dict[str, int], *, beside: dict[str, Any] | None = None
) -> None:
    """Write progress.csv, summary.json and the figures on accuracy and stopping; print what they say.

    Parameters
    ----------
    design : SequentialDesign
    folder : Job
    counts : dict
        Labels by class.
    beside : dict, optional
        See `adaptive.diagnostics.beside_rival`.
    """
    from adaptive import diagnostics, plots

    every = max(1, design.iteration // 20)
    report = diagnostics.when_to_stop(design, every=every)
    judged = diagnostics.calibration(design, every=every)
    if report["n_labelled"]:
        folder.write_csv("progress.csv", {name: plain(column) for name, column in report.items()})
        folder.draw(plots.when_to_stop(report), "stopping")
        print(diagnostics.in_words(report, judged))
    if judged["n_labelled"]:
        drawing, ax = plots.figure()
        plots.calibration_along(judged, ax=ax)
        ax.set_title("Each answer as it was predicted before it was given", fontsize="medium")
        folder.draw(drawing, "predicted")
    say(beside, advice=RIVAL_HERE)
    folder.write_summary(
        {
            "labels": counts,
            "asked": len(design.history_["step"]),
            "finished": design.finished,
            "believed accuracy": report["expected_accuracy"][-1] if report["n_labelled"] else None,
            NAME_OF_RIVAL: beside,
        }
    )


def plain(column: list[Any]) -> list[Any]:
    """Return a column with None for nan."""
    return [None if isinstance(one, float) and np.isnan(one) else one for one in column]
