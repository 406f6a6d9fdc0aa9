"""Report of ``adaptive label`` at the end of every call: the labels, how the run went, and whether to stop."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.job import Job

if TYPE_CHECKING:
    from adaptive.cli.label.asked_rows import AnyRows
    from adaptive.loop import SequentialDesign

__all__ = ["write"]


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
        {"step": history["step"], "line": lines, rows.target: history["outcome"], "score": _plain(history["score"])},
    )
    counts = Counter(labels.values())
    told = ", ".join(f"{counts[label]} {label}" for label in rows.classes)
    asked = len(history["step"])
    print(f"\n{sum(counts.values())} of {len(rows)} rows have a label ({told}), {asked} of them asked.")
    if asked:
        _progress(design, folder, {str(label): counts[label] for label in rows.classes})


def _progress(design: SequentialDesign, folder: Job, counts: dict[str, int]) -> None:
    from adaptive import diagnostics, plots

    every = max(1, design.iteration // 20)
    report = diagnostics.when_to_stop(design, every=every)
    judged = diagnostics.calibration(design, every=every)
    if report["n_labelled"]:
        folder.write_csv("progress.csv", {name: _plain(column) for name, column in report.items()})
        folder.draw(plots.when_to_stop(report), "stopping")
        print(diagnostics.in_words(report))
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


def _plain(column: list[Any]) -> list[Any]:
    return [None if isinstance(one, float) and np.isnan(one) else one for one in column]
