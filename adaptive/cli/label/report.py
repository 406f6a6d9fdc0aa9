"""Report of ``adaptive label`` at the end of every call: the labels, how the run went, and whether to stop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.job import Job

if TYPE_CHECKING:
    from adaptive.cli.label.asked_rows import AnyRows
    from adaptive.loop import SequentialDesign

__all__ = ["count_in_words", "plain", "progress", "write"]


def write(design: SequentialDesign, rows: AnyRows, folder: Job, report: bool = False) -> None:
    """Write labels.csv, answers.csv (line of the file, answer, score), and once there are answers progress.csv,
    summary.json, accuracy and stopping figures; print what they say.
    """
    history = design.history_
    labels = rows.labels() | dict(zip(history["position"], history["outcome"], strict=True))
    rows.write(design, labels, folder, report)
    lines = [rows.line(position) for position in history["position"]]
    folder.write_csv(
        "answers.csv",
        {"step": history["step"], "line": lines, rows.target: history["outcome"], "score": plain(history["score"])},
    )
    counts, asked = Counter(labels.values()), len(history["step"])
    print(f"\n{count_in_words(labels, rows)}, {asked} of them asked.")
    if asked:
        progress(design, folder, {str(label): counts[label] for label in rows.classes})


def count_in_words(labels: Mapping[int, Any], rows: AnyRows) -> str:
    """Return how many rows have a label, and which."""
    counts = Counter(labels.values())
    told = ", ".join(f"{counts[label]} {label}" for label in rows.classes)
    return f"{sum(counts.values())} of {len(rows)} rows have a label ({told})"


def progress(design: SequentialDesign, folder: Job, counts: dict[str, int]) -> None:
    """Write progress.csv, summary.json and the figures on accuracy and stopping; print what they say."""
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
        right, n = judged["accuracy"][-1], judged["n_events"][-1]
        print(f"Of the {n} answers {right:.0%} were predicted right before they were given (they are the hard ones).")
    folder.write_summary(
        {
            "labels": counts,
            "asked": len(design.history_["step"]),
            "finished": design.finished,
            "believed accuracy": report["expected_accuracy"][-1] if report["n_labelled"] else None,
        }
    )


def plain(column: list[Any]) -> list[Any]:
    """Return a column with None for nan."""
    return [None if isinstance(one, float) and np.isnan(one) else one for one in column]
