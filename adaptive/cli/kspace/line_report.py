"""Report of the lines on two slices: tables, a figure, and a few lines on the terminal."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import plots
from adaptive.cli.job import Job
from adaptive.cli.kspace.line_designs import (
    AT_USUAL,
    COMPARED,
    DESIGNED,
    EXPONENTS,
    GAIN,
    PRIORS,
    REFERENCE,
    SCALES,
    USUAL,
    Choice,
    Outcome,
)
from adaptive.cli.kspace.tuning import Designed
from adaptive.cli.kspace.values import Subject
from adaptive.images import foreground, psnr, ssim
from adaptive.images.design_table import COLUMNS
from designs import kspace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["simulated", "verdict", "write"]

USUALLY = ("variable_density, n/8", "variable_density")  # what protocols take: the first that was tried
READ = {"central": "Phase and noise were", "rough": "Phase (the bare angle) and noise were", "known": "Noise was"}
SHOWN = {"same": "this slice", "neighbour": "the next slice"}  # as people read them
SHORT = {"same": "here", "neighbour": "next"}  # above columns
TIE = 0.03  # a ratio of errors nearer to one says nothing: draws and noise make as much


def write(outcomes: Sequence[Outcome], subject: Subject, job: Job, designed: Designed) -> None:
    """Write lines.csv, designs.csv, lines_of_designs.csv, design.png and summary.json, and print the table."""
    by_name = {one.design: one for one in outcomes}
    ordered = [by_name[name] for name in (DESIGNED, GAIN, REFERENCE, *COMPARED, *USUAL) if name in by_name]
    rows = [row for one in ordered for row in one.rows]
    said = f"{simulated(subject, job.settings)} {designed.said(job.settings)}"
    centre = subject.same.image.shape[job.settings["axis"]] // 2
    job.write_csv("lines.csv", {"line": designed.lines.tolist(), "frequency": (designed.lines - centre).tolist()})
    job.write_csv("lines_of_designs.csv", _lines_of(ordered, centre))
    job.write_csv("designs.csv", {name: [row[name] for row in rows] for name in COLUMNS})
    job.draw(_draw(ordered, subject, job.settings, designed, said), "design")
    job.write_summary(_summary(ordered, subject, designed, said))
    _print(ordered, subject, job.settings, designed, said)
    _warn(ordered)


def _lines_of(ordered: Sequence[Outcome], centre: int) -> dict[str, list[Any]]:
    """The lines of every design, so that whoever finds a rule that does better has them."""
    table: dict[str, list[Any]] = {"design": [], "draw": [], "line": [], "frequency": []}
    for one in ordered:
        for number, lines in enumerate(one.lines):
            table["design"] += [one.design] * len(lines)
            table["draw"] += [number] * len(lines)
            table["line"] += np.asarray(lines).tolist()
            table["frequency"] += (np.asarray(lines) - centre).tolist()
    return table


def simulated(subject: Subject, settings: dict[str, Any]) -> str:
    """Return what was simulated and what was known, in sentences, for captions."""
    own = np.iscomplexobj(subject.same.image)
    phase = "its own phase" if own else "a smooth random phase (polynomial of order 2, up to pi)"
    seed = settings["seed"]
    noise = f"complex noise of SNR {settings['snr']:g}"
    what = f"Simulated from {subject.same.title}: {phase}, {noise}, one coil, seed {seed}."
    known = settings["phase"] == "known"
    tried = [f"{one:g}" for one in EXPONENTS["variable_density"]]
    exponents = f"{tried[0]} to {tried[-1]}"
    where = "the same slice" if subject.training is None else f"a third one ({subject.training.title})"
    told = (
        f"{READ[settings['phase']]} estimated from the central lines. Told what a scanner "
        f"does not know: {'the phase, and ' if known else ''}the true image of {where}, which tuned the exponents of "
        f"the densities ({exponents}) and, for each design, the reconstruction's prior (one of {len(SCALES)} scales, "
        f"then one of {len(PRIORS)} kinds; MAP)."
    )
    padded = f" Padded: {subject.padded}." if subject.padded else ""
    return f"{what} {told}{padded}"


def verdict(ordered: Sequence[Outcome], k: int) -> str:
    """Verdict by the errors on slice ``k``, against the best of the simple rules, and the best at the usual centre."""
    designed, *others = ordered
    rules = [one for one in others if one.design not in (GAIN, REFERENCE)]
    ratio, name = _beside_best(designed, rules, k)
    at_usual = [one for one in rules if one.design in USUAL]
    more = ""
    if at_usual and not name.endswith(AT_USUAL):
        more = ", and {:.2f} times that of the best one at the usual centre ({})".format(
            *_beside_best(designed, at_usual, k)
        )
    if ratio < 1 - TIE:
        return f"design pays: it has {ratio:.2f} times the error of the best simple rule ({name}){more}"
    if ratio <= 1 + TIE:
        return f"all good rules tie: the design has {ratio:.2f} times the error of the best one ({name}){more}"
    return f"a simple rule does better: the design has {ratio:.2f} times the error of the best one ({name}){more}"


def _beside_best(designed: Outcome, rules: Sequence[Outcome], k: int) -> tuple[float, str]:
    """Ratio of the errors on slice ``k``, and the name of the best rule."""
    best = min(rules, key=lambda one: one.rows[k]["error"])
    return designed.rows[k]["error"] / best.rows[k]["error"], best.design.replace("_", " ")


def _summary(ordered: Sequence[Outcome], subject: Subject, designed: Designed, said: str) -> dict[str, Any]:
    from adaptive.loop.log.header import versions

    choice = _choice(ordered)
    gains = [None if np.isnan(gain) else float(gain) for gain in choice.gains]
    return {
        "image": subject.same.title,
        "neighbour": None if subject.neighbour is None else subject.neighbour.title,
        "no neighbour because": subject.alone or None,
        "shape": list(subject.same.image.shape),
        "padded": subject.padded or None,
        "simulated": said,
        "verdicts": {row["slice"]: verdict(ordered, k) for k, row in enumerate(ordered[0].rows)},
        "design": {"rule": designed.rule, "central": designed.n_central, "taught by": designed.source},
        "expected error": {name: one._asdict() for name, one in designed.expected.items()},
        "lines": designed.lines.tolist(),
        "lines by information gain": choice.lines.tolist(),
        "information gained": gains,
        "designs": {one.design: _design(one, ordered[0]) for one in ordered},
        "versions": versions(),
    }


def _choice(ordered: Sequence[Outcome]) -> Choice:
    return next(one.choice for one in ordered if one.design == GAIN and one.choice is not None)


def _design(one: Outcome, designed: Outcome) -> dict[str, Any]:
    result: dict[str, Any] = {"draws": len(one.lines), "prior scale": one.scale, "imaginary prior": one.imaginary}
    result["mean error by prior scale"] = {f"{scale:g}": error for scale, error in one.by_scale.items()}
    if one.exponent is not None:
        result["exponent"] = one.exponent
        result["mean error by exponent"] = {f"{p:g}": error for p, error in one.by_exponent.items()}
    for row, reference in zip(one.rows, designed.rows, strict=True):
        numbers = {name: row[name] for name in ("error", "psnr", "ssim")}
        result[row["slice"]] = numbers | {"error of the designed lines over this": reference["error"] / row["error"]}
    return result


def _print(
    ordered: Sequence[Outcome], subject: Subject, settings: dict[str, Any], designed: Designed, said: str
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    slices = [row["slice"] for row in ordered[0].rows]
    printed = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    printed.add_column("\nlines chosen by", no_wrap=True)
    for name in slices:
        for heading in (f"{SHORT[name]}\nerror ", "\nPSNR", "\nSSIM"):
            printed.add_column(heading, justify="right", no_wrap=True)
    best = {name: min(row["error"] for one in ordered for row in one.rows if row["slice"] == name) for name in slices}
    for one in ordered:
        cells = [one.design.replace("_", " ")]
        for row in one.rows:
            mark = "*" if row["error"] == best[row["slice"]] else " "
            cells += [f"{row['error']:.2f}{mark}", f"{row['psnr']:.1f}", f"{row['ssim']:.3f}"]
        printed.add_row(*cells)
    n = subject.same.image.shape[settings["axis"]]
    console = Console(highlight=False)
    console.print(
        f"{subject.same.title}: {settings['lines']} of {n} lines, the {designed.n_central} central ones given",
        soft_wrap=True,
    )
    console.print(printed)
    for k, row in enumerate(ordered[0].rows):
        console.print(f"On {SHOWN[row['slice']]} {verdict(ordered, k)}.", soft_wrap=True)
    error = (
        "error: |true - reconstructed|, Euclidean, magnitudes in [0, 1]; * least. PSNR (dB) and SSIM inside the head."
    )
    n_draws = settings["draws"]
    means = f"means over {n_draws} draws, with their 95% intervals in design.png" if n_draws > 1 else "one draw each"
    draws = f"Random designs (uniform, both densities): {means}."
    if subject.neighbour is None:
        where = f"No neighbouring slice: {subject.alone}."
    else:
        where = f"The next slice is {subject.neighbour.title}, with a phase and noise of its own."
    if any(one.design in USUAL for one in ordered):
        where += " n/8: at the usual centre, an eighth of all lines."
    centre = f"Line {n // 2} is the centre of k-space; lines_of_designs.csv has the lines of the other designs."
    for remark in (error, draws, where, centre, subject.said, said):
        if not remark:
            continue
        console.print(remark, style="dim", soft_wrap=True)


def _warn(outcomes: Sequence[Outcome]) -> None:
    counts = Counter(message for one in outcomes for message in one.warnings)
    for message, count in counts.most_common():
        print(f"adaptive: warning in {count} of {len(outcomes)} designs: {message}", file=sys.stderr)


def _draw(
    outcomes: Sequence[Outcome], subject: Subject, settings: dict[str, Any], designed: Designed, said: str
) -> Figure:
    """Return the figure.

    Parameters
    ----------
    outcomes : sequence of Outcome
        The chosen design first.
    subject : Subject
    settings : dict
        axis.
    designed : Designed
    said : str
        What was simulated, for the caption.
    """
    from matplotlib.figure import Figure

    shown = _shown(outcomes)
    height, width = subject.same.upright().shape
    pictures = 2 * (11.0 / (len(shown) + 1) * min(max(height / width, 0.4), 1.6) + 0.65)  # inches
    drawing = Figure(figsize=(12.5, pictures + 4.9), layout="constrained")
    parts: Any = drawing.subfigures(3, 1, height_ratios=[pictures, 4.2, 0.7])
    upper, lower, caption = parts
    images = {title: one.image for title, one in shown.items()}
    plots.residuals(subject.same.image, images, upright=subject.same.upright, into=upper, sides=subject.same.sides)
    truth = np.abs(subject.same.image)
    head = foreground(truth)
    for ax, one in zip(upper.axes[len(shown) + 2 :], shown.values(), strict=False):  # of the errors
        image, draw = np.abs(one.image), ", first draw" if len(one.lines) > 1 else ""
        measures = f"SSIM {ssim(truth, image, inside=head):.3f}, PSNR {psnr(truth, image, inside=head):.1f}"
        ax.set_title(f"{ax.get_title()}{draw}\nin the head: {measures}", fontsize=10)
    order, gains, errors = lower.subplots(1, 3, width_ratios=[1, 1, 1.15])
    choice = _choice(outcomes)
    pool = kspace.lines(subject.same.image.shape, settings["axis"])
    plots.sampling_order(pool.take(designed.lines), designed.n_central, ax=order).set_title("order of lines")
    _gains(gains, choice, pool, designed.n_central)
    rows = [row for one in outcomes for row in one.rows]
    columns = {name: [row[name] for row in rows] for name in ("design", "slice", "error", "error_95")}
    columns["slice"] = [SHOWN[name] for name in columns["slice"]]
    label = "error |true - reconstructed|, less is better"
    plots.design_errors(columns, ax=errors, xlabel=label).set_title("all designs of this size")
    caption.text(0.01, 0.5, textwrap.fill(said, 185), fontsize=8.5, va="center", color="#333333")
    return drawing


def _shown(outcomes: Sequence[Outcome]) -> dict[str, Outcome]:
    """The design, the best simple rule on this slice, and the usual one, by their titles; each set of lines once."""
    rules = [one for one in outcomes if one.design not in (DESIGNED, GAIN, REFERENCE)]
    found = {"designed": outcomes[0]}
    if rules:
        best = min(rules, key=lambda one: one.rows[0]["error"])
        usual = next((one for name in USUALLY for one in rules if one.design == name), best)
        found |= {f"best rule: {_title(best)}": best}
        found |= {} if usual is best else {f"usual rule: {_title(usual)}": usual}
    seen: dict[bytes, str] = {}
    for title, one in found.items():
        seen.setdefault(np.sort(one.lines[0]).tobytes(), title)
    return {title: found[title] for title in seen.values()}


def _title(one: Outcome) -> str:
    return one.design.replace("_", " ")


def _gains(ax: Axes, choice: Choice, pool: kspace.LinePool, n_central: int) -> None:
    """The score of every line: before the first choice, and after the last."""
    scores = {"before the first choice": choice.before_first, "after the last choice": choice.after_last}
    measured = {"before the first choice": choice.lines[:n_central], "after the last choice": choice.lines}
    plots.sampling_scores(pool, scores, measured=measured, ax=ax)
    chosen, middle = choice.lines[n_central:], pool.image_shape[pool.axis] // 2
    ax.plot(
        chosen - middle, choice.gains[n_central:], color=plots.PALETTE[2], marker="^", markersize=4.5,
        linestyle="none", label="chosen lines, when chosen",
    )  # fmt: skip
    low, high = ax.get_ylim()
    top = max([high, *(1.05 * choice.gains[n_central:])])  # marks above the curves are shown whole
    ax.set(title="information gain, line by line", ylim=(low, top))
    ax.legend(frameon=False, loc="lower center", fontsize=8.5)
