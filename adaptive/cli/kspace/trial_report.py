"""Report of a trial: the plan, tables, pictures, a summary, and a few lines on the terminal."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import plots
from adaptive.cli.kspace.exports import unplaced, write_exports
from adaptive.cli.kspace.trial import METRICS, SCALES, SLACKS, Trial
from adaptive.cli.kspace.trial_designs import DESIGNED, REFERENCE, Tried
from adaptive.cli.kspace.trial_rules import EXPONENT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from adaptive.cli.job import Job

__all__ = ["said_of", "verdict", "write"]

TIE = 0.03  # a ratio of errors nearer to one says nothing
_LOOKS = 0.005  # a difference of SSIM that is worth a word
_SHOWN = 4


def write(tried: Sequence[Tried], trial: Trial, job: Job) -> None:
    """Write the plan, designs.csv, positions_of_designs.csv, the pictures and summary.json, and print the table."""
    ordered = sorted(tried, key=lambda one: (one.design != DESIGNED, one.design != REFERENCE, one.mean("nmse")))
    designed = ordered[0]
    assert designed.chosen is not None
    said = said_of(trial)
    plan = trial.pool.take(designed.positions[0])
    write_exports(plan, job, job.settings["export"], trial.geometry, trial.protocol)
    rows = [{"design": one.design, "draws": len(one.positions), **_means(one)} for one in ordered]
    job.write_csv("designs.csv", {name: [row[name] for row in rows] for name in rows[0]})
    job.write_csv("labels_of_designs.csv", _labels(ordered, trial))
    job.draw(_draw(ordered, trial, said), "design")
    if designed.chosen.maps is not None:
        sets = designed.chosen.maps if trial.sets > 1 else [designed.chosen.maps]
        for name, maps in zip(("coils", "coils_wrapped_around"), sets, strict=False):
            job.draw(plots.coil_maps(maps, upright=trial.upright), name)
    job.write_summary(_summary(ordered, trial, said))
    remark = unplaced(job.settings["export"], trial.geometry)
    _print(ordered, trial, f"{said} {remark}".rstrip())
    counts = Counter(message for one in ordered for message in one.warnings)
    for message, count in counts.most_common():
        print(f"adaptive: warning in {count} of {len(ordered)} designs: {message}", file=sys.stderr)


def said_of(trial: Trial) -> str:
    """Caption: what was replayed or simulated, and what was told."""
    scales = ", ".join(f"{name} {value:g}" for name, value in SCALES.items())
    tuned = [f"All images are MAP with prior scales {scales}", "Errors are inside the object"]
    if trial.trajectory in ("lines", "points"):
        slacks = " or ".join(f"{slack:g}" for slack in SLACKS)
        tuned[0] += (
            f"; exponents of rules {EXPONENT:g}. The noise is taken {slacks} times, whichever explains better what "
            "each design measured and held out"
        )
    return " ".join(f"{one.rstrip('.')}." for one in (*trial.statements, *tuned))


def verdict(ordered: Sequence[Tried]) -> str:
    """Verdict against the rule of the least error; where that one's image looks better, this is said, too."""
    designed, *others = ordered
    best = min((one for one in others if one.design != REFERENCE), key=lambda one: one.mean("nmse"))
    ratio, name = float(np.sqrt(designed.mean("nmse") / best.mean("nmse"))), best.design.replace("_", " ")
    seen, others_seen = designed.mean("ssim"), best.mean("ssim")
    though = f"; its SSIM is lower, {seen:.3f} against {others_seen:.3f}" if others_seen - seen > _LOOKS else ""
    if ratio < 1 - TIE:
        return f"design pays: it has {ratio:.2f} times the error of the best simple rule ({name}){though}"
    if ratio <= 1 + TIE:
        return f"design and the best simple rule ({name}) tie: the design has {ratio:.2f} times its error{though}"
    return f"a simple rule does better: the design has {ratio:.2f} times the error of the best one ({name})"


def _means(one: Tried) -> dict[str, float]:
    return {name: one.mean(name) for name in METRICS} | {"nmse_95": one.half_width("nmse")}


def _labels(ordered: Sequence[Tried], trial: Trial) -> dict[str, list[Any]]:
    table: dict[str, list[Any]] = {"design": [], "draw": [], "label": []}
    for one in ordered:
        for draw, positions in enumerate(one.positions):
            labels = trial.pool.labels(positions)
            table["design"] += [one.design] * len(labels)
            table["draw"] += [draw] * len(labels)
            table["label"] += [" ".join(map(str, np.atleast_1d(label))) for label in labels]
    return table


def _draw(ordered: Sequence[Tried], trial: Trial, said: str) -> Figure:
    from matplotlib.figure import Figure

    shown = {one.design + (", first draw" if len(one.positions) > 1 else ""): one.image for one in ordered[:_SHOWN]}
    height, width = trial.upright(trial.truth).shape
    pictures = 2 * (11.0 / (len(shown) + 1) * min(max(height / width, 0.4), 1.6) + 0.55)  # inches
    drawn = any(len(one.positions) > 1 for one in ordered)
    caption = textwrap.fill(f"{said} Bars: 95% intervals of the mean over draws." if drawn else said, 185)
    below = 0.2 + 0.16 * (1 + caption.count("\n"))
    drawing = Figure(figsize=(12.5, pictures + 4.2 + below), layout="constrained")
    parts: Any = drawing.subfigures(3, 1, height_ratios=[pictures, 4.2, below])
    plots.residuals(trial.truth, shown, upright=trial.upright, into=parts[0])
    for ax, one in zip(parts[0].axes[len(shown) + 2 :], ordered[:_SHOWN], strict=False):  # of those images, inside
        ax.set_title(f"error {np.sqrt(one.measures[0]['nmse']):.3f}", fontsize=10)
    chosen = ordered[0].chosen
    assert chosen is not None
    scored = trial.trajectory in ("lines", "points")
    axes = parts[1].subplots(1, 2 + scored, width_ratios=[1] * (1 + scored) + [1.15])
    n_first = len(trial.first)
    plots.sampling_order(trial.pool.take(chosen.positions), n_first, ax=axes[0]).set_title(
        f"order of {trial.trajectory}"
    )
    if trial.trajectory == "lines":
        scores = {"before the first choice": chosen.before, "after the last choice": chosen.after}
        measured = dict(zip(scores, (chosen.positions[:n_first], chosen.positions), strict=True))
        plots.sampling_scores(trial.pool, scores, measured=measured, ax=axes[1]).set_title("score")
    elif scored:
        given = {"": chosen.positions[:n_first]}
        plots.sampling_scores(trial.pool, chosen.before, measured=given, ax=axes[1]).set_title(
            "score before the first choice"
        )
    error = [float(np.sqrt(one.mean("nmse"))) for one in ordered]
    columns: dict[str, list[Any]] = {
        "design": [one.design for one in ordered],
        "slice": ["same"] * len(ordered),
        "error": error,
        "error_95": [one.half_width("nmse") / (2 * root) for one, root in zip(ordered, error, strict=True)],
    }
    label = "relative error inside the object\n(less is better)"
    plots.design_errors(columns, ax=axes[-1], xlabel=label).set_title("all designs of this size")
    parts[2].text(0.01, 0.5, caption, fontsize=8.5, va="center", color="#333333")
    return drawing


def _summary(ordered: Sequence[Tried], trial: Trial, said: str) -> dict[str, Any]:
    from adaptive.loop.log.header import versions

    chosen = ordered[0].chosen
    assert chosen is not None
    return {
        "scan": trial.title,
        "trajectory": trial.trajectory,
        "shape": list(trial.shape),
        "said": said,
        "candidates": len(trial.pool),
        "measured in any case": len(trial.first),
        "verdict": verdict(ordered),
        "order": trial.pool.labels(chosen.positions),
        "information gained": [None if np.isnan(one) else float(one) for one in chosen.scores],
        "designs": {one.design: {"draws": len(one.positions), "slack": one.slack, **_means(one)} for one in ordered},
        "versions": versions(),
    }


def _print(ordered: Sequence[Tried], trial: Trial, said: str) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    printed = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    printed.add_column(f"{trial.trajectory} chosen by", no_wrap=True)
    for heading in ("NMSE", "PSNR", "SSIM"):
        printed.add_column(heading, justify="right", no_wrap=True)
    least = min(one.mean("nmse") for one in ordered)
    for one in ordered:
        mark = "*" if one.mean("nmse") == least else " "
        cells = (f"{one.mean('nmse'):.5f}{mark}", f"{one.mean('psnr'):.2f}", f"{one.mean('ssim'):.3f}")
        printed.add_row(one.design.replace("_", " "), *cells)
    console = Console(highlight=False)
    n = len(ordered[0].positions[0])
    console.print(
        f"{trial.title}: {n} of {len(trial.pool)} {trial.trajectory}, the first {len(trial.first)} given",
        soft_wrap=True,
    )
    console.print(printed)
    console.print(f"{verdict(ordered)[0].upper()}{verdict(ordered)[1:]}.", soft_wrap=True)
    console.print("PSNR in dB; * least error; random designs are means over their draws.", style="dim", soft_wrap=True)
    console.print(said, style="dim", soft_wrap=True)
