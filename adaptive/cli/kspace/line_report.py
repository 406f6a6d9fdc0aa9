"""Report of the lines on two slices: tables, a figure, and a few lines on the terminal."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
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
from adaptive.cli.kspace.paired import Judged
from adaptive.cli.kspace.tuning import Designed, Expected, usual_centre
from adaptive.cli.kspace.values import ERROR, Subject, named, one_side
from adaptive.images import foreground, l2_error, psnr, ssim
from adaptive.images.design_table import COLUMNS
from designs import kspace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["contenders", "simulated", "write"]

USUALLY = ("variable_density, n/8", "variable_density")  # what protocols take: the first that was tried
READ = {"central": "Phase and noise were", "rough": "Phase (the bare angle) and noise were", "known": "Noise was"}
SHOWN = {"same": "this slice", "neighbour": "the next slice"}  # as people read them
SHORT = {"same": "here", "neighbour": "next"}  # above columns
TOWARDS = {"R": "the patient's right", "A": "the front", "S": "the head"}
BEST = 2  # rules that are tried in fresh scans, by the table
DENSITY, EQUISPACED = "variable_density", "equispaced"  # tried there, too, at the better one of two centres


def contenders(outcomes: Mapping[str, Outcome], k: int) -> list[str]:
    """The best rules by the table of slice ``k``, the usual one, and equispaced: of other lines than the design."""
    rules = [one for one in outcomes.values() if one.design not in (DESIGNED, GAIN, REFERENCE)]
    ranked = sorted(rules, key=lambda one: one.rows[k]["error"])
    ranked = [one for one in ranked if not _alike(one, outcomes[DESIGNED])] or ranked
    found: list[Outcome] = []
    for one in ranked:
        if len(found) < BEST and not any(_alike(one, other) for other in found):
            found.append(one)
    for kind in (DENSITY, EQUISPACED):
        found += [one for one in ranked if one.design.startswith(kind)][:1]
    return list(dict.fromkeys(one.design for one in found))


def _alike(one: Outcome, other: Outcome) -> bool:
    """True where both have the same lines."""
    return all(np.array_equal(np.sort(one.lines[0]), np.sort(lines)) for lines in (*one.lines, *other.lines))


def write(
    outcomes: Sequence[Outcome], subject: Subject, job: Job, designed: Designed, fresh: Mapping[str, Judged]
) -> None:
    """Write lines.csv, designs.csv, lines_of_designs.csv, design.png and summary.json, and print the table.

    ``fresh`` has for each slice the errors in scans that decided nothing: lines.csv has the lines of the design, or of
    a rule that has certainly less error there.
    """
    by_name = {one.design: one for one in outcomes}
    ordered = [by_name[name] for name in (DESIGNED, GAIN, REFERENCE, *COMPARED, *USUAL) if name in by_name]
    rows = [row for one in ordered for row in one.rows]
    designed = designed._replace(expected=_expected(designed, fresh["same"]))
    said = f"{simulated(subject, job.settings)} {designed.said(job.settings)}"
    n = subject.same.image.shape[job.settings["axis"]]
    taken = fresh["same"].least
    lines, n_central = designed.lines, designed.n_central
    if taken != DESIGNED:
        n_central = usual_centre(n) if taken.endswith(AT_USUAL) else n_central
        lines = _outwards(by_name[taken].lines[0], kspace.central(n, n_central), n)
    job.write_csv("lines.csv", {"line": lines.tolist(), "frequency": (lines - n // 2).tolist()})
    job.write_csv("lines_of_designs.csv", _lines_of(ordered, n // 2))
    job.write_csv("designs.csv", {name: [row[name] for row in rows] for name in (*COLUMNS, "relative_error")})
    drawn = _draw(ordered, subject, job.settings, (lines, n_central), said)
    job.draw(drawn, "design")
    job.write_summary(_summary(ordered, subject, designed, said, fresh) | {"lines of": taken, "lines": lines.tolist()})
    _print(ordered, subject, job.settings, designed, said, fresh, lines[n_central:])
    _warn(ordered)


def _outwards(lines: np.ndarray, centre: np.ndarray, n: int) -> np.ndarray:
    """The centre, then the others outwards."""
    others = np.setdiff1d(lines, centre)
    return np.concatenate([centre, others[np.argsort(np.abs(others - n // 2), kind="stable")]])


def _expected(designed: Designed, fresh: Judged) -> dict[str, Expected]:
    """Errors to expect of the design, of the best rule, and of the others by their names."""
    found = {"design": fresh.expected(DESIGNED)._replace(design=designed.rule)}
    found["best simple rule"] = fresh.expected(fresh.best)
    return found | {named(one): fresh.expected(one) for one in fresh.errors if one not in (DESIGNED, fresh.best)}


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
    best = "" if subject.training is not None else " So the table is kind to the rules; the further scans are not."
    told = (
        f"{READ[settings['phase']]} estimated from the central lines. The table was told what a scanner "
        f"does not know: {'the phase, and ' if known else ''}the true image of {where}, which tuned the exponents of "
        f"the simple rules ({exponents}) and, for each design, the reconstruction's prior (one of {len(SCALES)} "
        f"scales, then one of {len(PRIORS)} kinds; MAP).{best}"
    )
    padded = f" Padded: {subject.padded}." if subject.padded else ""
    return f"{what} {told}{padded}"


def _summary(
    ordered: Sequence[Outcome], subject: Subject, designed: Designed, said: str, fresh: Mapping[str, Judged]
) -> dict[str, Any]:
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
        "verdicts": {name: one.verdict() for name, one in fresh.items()},
        "design over others": {
            name: {other: one.beside(other)._asdict() for other in one.errors if other != DESIGNED}
            for name, one in fresh.items()
        },
        "design": {"rule": designed.rule, "central": designed.n_central, "taught by": designed.source},
        "expected error": {name: one._asdict() for name, one in designed.expected.items()},
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
        numbers = {"error": row["relative_error"], "psnr": row["psnr"], "ssim": row["ssim"]}
        result[row["slice"]] = numbers | {"error of the designed lines over this": reference["error"] / row["error"]}
    return result


def _print(
    ordered: Sequence[Outcome], subject: Subject, settings: dict[str, Any], designed: Designed, said: str,
    fresh: Mapping[str, Judged], lines: np.ndarray,
) -> None:  # fmt: skip
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
            cells += [f"{row['relative_error']:.3f}{mark}", f"{row['psnr']:.1f}", f"{row['ssim']:.3f}"]
        printed.add_row(*cells)
    n = subject.same.image.shape[settings["axis"]]
    console = Console(highlight=False)
    console.print(
        f"{subject.same.title}: {settings['lines']} of {n} lines, the {designed.n_central} central ones given",
        soft_wrap=True,
    )
    console.print(printed)
    for name, found in fresh.items():
        console.print(f"On {SHOWN[name]} {found.verdict()}.", soft_wrap=True)
    taken = fresh["same"].least
    rule = next((one for one in ordered[1:] if _alike(one, ordered[0])), None)
    console.print(
        f"lines.csv holds the design{'' if rule is None else f', which is that of {named(rule.design)}'}."
        if taken == DESIGNED
        else f"lines.csv holds the lines of {named(taken)}, which do better here, and not those of the design.",
        soft_wrap=True,
    )
    error = f"{ERROR}; * least. PSNR (dB) and SSIM inside the head. The table is of one simulated scan."
    n_draws = settings["draws"]
    means = f"means over {n_draws} draws, with their 95% intervals in design.png" if n_draws > 1 else "one draw each"
    turns = " The further scans take the draws in turn." if n_draws > 1 else ""
    draws = f"Random designs (uniform, both densities): {means}.{turns}"
    if subject.neighbour is None:
        where = f"No neighbouring slice: {subject.alone}."
    else:
        where = f"The next slice is {subject.neighbour.title}, with a phase and noise of its own."
    if any(one.design in USUAL for one in ordered):
        where += f" n/8: with {usual_centre(n)} central lines, an eighth of all {n}, as is usual."
    centre = (
        f"Line {n // 2} is the centre of k-space{_way(subject, settings['axis'])}; lines_of_designs.csv has the lines "
        "of the other designs."
    )
    side = one_side(lines - n // 2, n, np.iscomplexobj(subject.same.image))
    for remark in (error, draws, where, centre, side, subject.said, said):
        if not remark:
            continue
        console.print(remark, style="dim", soft_wrap=True)


def _way(subject: Subject, axis: int) -> str:
    """Which way the lines' axis runs in the patient, where that is known."""
    sides = subject.same.sides
    return f", and lines are encoded along the axis that runs towards {TOWARDS[sides[1 - axis]]}" if sides else ""


def _warn(outcomes: Sequence[Outcome]) -> None:
    counts = Counter(message for one in outcomes for message in one.warnings)
    for message, count in counts.most_common():
        print(f"adaptive: warning in {count} of {len(outcomes)} designs: {message}", file=sys.stderr)


def _draw(
    outcomes: Sequence[Outcome],
    subject: Subject,
    settings: dict[str, Any],
    order: tuple[np.ndarray, int],
    said: str,
) -> Figure:
    """Return the figure.

    Parameters
    ----------
    outcomes : sequence of Outcome
        The chosen design first.
    subject : Subject
    settings : dict
        axis.
    order : tuple of array (m,) and int
        Lines as they are handed over, and how many of them are central.
    said : str
        What was simulated, for the caption.
    """
    from matplotlib.figure import Figure

    shown = _shown(outcomes)
    height, width = subject.same.upright().shape
    pictures = 2 * (11.0 / (len(shown) + 1) * min(max(height / width, 0.4), 1.6) + 0.65)  # inches
    words = textwrap.fill(said, 185)
    below = 0.2 + 0.16 * (1 + words.count("\n"))
    drawing = Figure(figsize=(12.5, pictures + 4.2 + below), layout="constrained")
    parts: Any = drawing.subfigures(3, 1, height_ratios=[pictures, 4.2, below])
    upper, lower, caption = parts
    images = {title: one.image for title, one in shown.items()}
    plots.residuals(subject.same.image, images, upright=subject.same.upright, into=upper, sides=subject.same.sides)
    truth = np.abs(subject.same.image)
    head = foreground(truth)
    for ax, one in zip(upper.axes[len(shown) + 2 :], shown.values(), strict=False):  # of the errors
        image, draw = np.abs(one.image), ", first draw" if len(one.lines) > 1 else ""
        measures = f"SSIM {ssim(truth, image, inside=head):.3f}, PSNR {psnr(truth, image, inside=head):.1f}"
        ax.set_title(
            f"error {l2_error(truth, image) / np.linalg.norm(truth):.3f}{draw}\nin the head: {measures}", fontsize=10
        )
    places, gains, errors = lower.subplots(1, 3, width_ratios=[1, 1, 1.15])
    choice = _choice(outcomes)
    pool = kspace.lines(subject.same.image.shape, settings["axis"])
    plots.sampling_order(pool.take(order[0]), order[1], ax=places).set_title("lines.csv, in its order")
    _gains(gains, choice, pool, int(np.isnan(choice.gains).sum()))
    rows = [row for one in outcomes for row in one.rows]
    columns = {name: [row[name] for row in rows] for name in ("design", "slice")}
    columns |= {name: [row[f"relative_{name}"] for row in rows] for name in ("error", "error_95")}
    columns["slice"] = [SHOWN[name] for name in columns["slice"]]
    label = "|true - reconstructed| / |true|, less is better"
    plots.design_errors(columns, ax=errors, xlabel=label).set_title("all designs of this size")
    caption.text(0.01, 0.5, words, fontsize=8.5, va="center", color="#333333")
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
