"""Report of ``adaptive classify``: tables, a figure, and a few lines on the terminal."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adaptive import diagnostics, plots
from adaptive.cli import beside
from adaptive.cli.classify.labelling import Run, split
from adaptive.cli.classify.learning_curves import learning_curve, summary
from adaptive.cli.classify.table import Table
from adaptive.cli.job import Job
from adaptive.diagnostics.rivals import Logistic

__all__ = ["write"]


def write(runs: Sequence[Run], table: Table, folder: Job) -> None:
    """Write questions.csv, curve.csv, curve.png and summary.json, and print the table."""
    scorers = list(dict.fromkeys(run.scorer for run in runs))
    accuracies = {scorer: np.stack([run.accuracy for run in runs if run.scorer == scorer]) for scorer in scorers}
    curve, found = learning_curve(accuracies), summary(accuracies)
    against = _beside(runs, scorers)
    parts = split(table.y, folder.settings["seed"])
    classes, counts = np.unique(table.y, return_counts=True)
    folder.write_csv("questions.csv", _questions(runs))
    folder.write_csv("curve.csv", curve)
    _draw(curve, table.name, accuracies, folder)
    folder.write_summary(
        {
            "data": table.name,
            "rows": {"asked": len(parts.pool), "held out": len(parts.held_out)},
            "features": runs[0].n_features,
            "classes": {str(label): int(count) for label, count in zip(classes, counts, strict=True)},
            "scorers": found,
            "beside the rival": against,
            "versions": _versions(),
        },
    )
    _print(table.name, accuracies, found)
    beside.say(against, how="by the rows held out")
    _warn(runs)


def _beside(runs: Sequence[Run], scorers: Sequence[str]) -> dict[str, Any] | None:
    """Rows asked by the first scorer and our model, beside LogisticRegressionCV on random rows, or on the same.

    A seed is a unit where there are several, as in the table; else a held-out row is.
    """
    plain = "random" if "random" in scorers else scorers[0]
    ours, theirs = ([run.judged for run in runs if run.scorer == name] for name in (scorers[0], plain))
    a, b = (
        np.stack([one.mean(axis=1) for one in each], axis=1) if len(each) > 1 else each[0] for each in (ours, theirs)
    )
    how = "on random rows" if plain == "random" else "on the same rows"
    of = "splits" if len(ours) > 1 else "rows"
    judges = {"log_loss": (a[0], b[2]), "accuracy": (a[1], b[3])}
    return diagnostics.beside(judges, f"{Logistic.name} {how}", of=of)


def _questions(runs: Sequence[Run]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        key: [] for key in ("seed", "scorer", "step", "position", "label", "outcome", "score")
    }
    for run in runs:
        n = len(run.position)
        score = [None if np.isnan(one) else float(one) for one in run.score]
        values: tuple[Any, ...] = (
            [run.seed] * n,
            [run.scorer] * n,
            range(1, n + 1),
            run.position,
            run.label,
            run.outcome,
            score,
        )
        for column, more in zip(columns.values(), values, strict=True):
            column.extend(more)
    return columns


def _draw(curve: Mapping[str, Sequence[Any]], name: str, accuracies: Mapping[str, np.ndarray], folder: Job) -> None:
    n_seeds = len(next(iter(accuracies.values())))
    drawing, ax = plots.figure()
    band = f"95% interval of the mean, {n_seeds} seeds" if n_seeds > 1 else ""
    plots.learning_curve(curve, ax=ax, xlabel="labels asked for", band=band)
    ax.set_title(name, fontsize="medium")
    folder.draw(drawing, "curve")


def _print(name: str, accuracies: Mapping[str, np.ndarray], found: Mapping[str, Any]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as Printed

    n_seeds, n = next(iter(accuracies.values())).shape
    marks = sorted({min(10, n), max(1, n // 2), n})
    compared = "random" in found and len(found) > 1
    seeds = f"mean of {n_seeds} seeds" if n_seeds > 1 else "one seed"
    printed = Printed(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    printed.add_column("rows chosen by", no_wrap=True)
    for k in marks:
        printed.add_column(f"after {k}", justify="right", no_wrap=True)
    if compared:
        printed.add_column("vs random", justify="right", no_wrap=True)
        printed.add_column("catches up", justify="right", no_wrap=True)
    for scorer, values in accuracies.items():
        row = [scorer.replace("_", " "), *(f"{100 * values[:, k - 1].mean():.1f}%" for k in marks)]
        if "above_random_at_end" in found[scorer]:
            match = found[scorer]["answers_to_match_random"]
            row += [_points(found[scorer]["above_random_at_end"]), "never" if match is None else f"{match}"]
        printed.add_row(*row)
    console = Console(highlight=False)
    console.print(f"{name}: accuracy on held-out rows after that many labels, {seeds}", soft_wrap=True)
    console.print(printed)
    if compared:
        interval = " and 95% interval" if n_seeds > 1 else ""
        console.print(f"vs random: points above random choice after {n} labels{interval}.", style="dim")
        console.print(f"catches up: labels that give the accuracy of {n} random ones.", style="dim")


def _points(difference: Mapping[str, Any]) -> str:
    """A difference in percentage points, with half the width of its 95% interval where there is one."""
    mean = f"{100 * difference['mean']:+.1f}"
    return mean if difference["upper"] is None else f"{mean} ± {100 * (difference['upper'] - difference['mean']):.1f}"


def _versions() -> dict[str, str]:
    from adaptive.loop.log.header import versions

    return versions()


def _warn(runs: Sequence[Run]) -> None:
    counts = Counter(message for run in runs for message in run.warnings)
    for message, count in counts.most_common():
        print(f"adaptive: warning in {count} of {len(runs)} runs: {message}", file=sys.stderr)
