"""``adaptive kspace --series``: a slice through the volumes of a file, every volume's lines from the one before.

    designed    rule, centre and exponent by simulated scans of the first volume, which is measured whole: they stay
    planned     lines where reconstructions of the volume before are wrong, neither contrast nor head having changed
    offered     planned, where simulated scans of the volume before and of the first one find that ahead; else designed

Every volume is reconstructed by the same MAP, without and with the volume before as prior knowledge: as it was
reconstructed from the lines that were offered. That image lacks what was not measured: the error to expect is by scans
of the first volume.
"""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive import plots
from adaptive.cli.errors import CommandError
from adaptive.cli.kspace.tuning import ASSUMED, SCANS, Expected, usual_centre
from adaptive.cli.kspace.values import READERS
from adaptive.cli.workers import n_workers
from adaptive.images import Slice, kspace_problem, l2_error, polynomial_phase, simulate_scan
from adaptive.parallel import in_parallel
from designs import kspace
from designs.kspace.from_images.given import checked_images, entropy_of
from designs.kspace.from_images.halving import errors_of, scores
from designs.kspace.from_images.simulated import TrialScan
from designs.kspace.from_images.tuned import expected_error, trial_scans

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from adaptive.cli.job import Job

__all__ = ["DESIGNED", "OFFERED", "PLANNED", "Followed", "Volume", "follow", "write"]

DESIGNED, PLANNED, OFFERED = "designed", "planned", "offered"
RULES = ("equispaced", "variable_density", "one_sided_low_pass", "half_plane_quantiles")  # at the usual centre
VARIANTS = 2  # noises, in every round of a plan
MAX_ITER, TOL = 100, 1e-3  # of images that are judged
TIE = 0.02


class Volume(NamedTuple):
    """A volume after the first.

    Attributes
    ----------
    lines : dict of str to array (m,)
        By design.
    taken : str
        "planned" or "designed": what was offered.
    expected : Expected
        The error of that without prior knowledge, by simulated scans of the first volume.
    errors : dict of str to pair of float
        Without and with the volume before as prior knowledge, as shares of the image's length.
    image : array (h, w)
        Magnitudes from the lines that were offered, with the volume before.
    """

    lines: dict[str, np.ndarray]
    taken: str
    expected: Expected
    errors: dict[str, tuple[float, float]]
    image: np.ndarray


class Followed(NamedTuple):
    """Result of `follow`: the rule and the centre of the design that stays, and the volumes after the first."""

    rule: str
    n_central: int
    volumes: list[Volume]

    def mean(self, design: str, known: int) -> float:
        """Mean error of a design over volumes; ``known``: 1 with the volume before as prior knowledge, 0 without."""
        return float(np.mean([one.errors[design][known] for one in self.volumes]))


def follow(volumes: Sequence[Slice], settings: Mapping[str, Any], jobs: int) -> Followed:
    """Scan volume after volume in simulation.

    Parameters
    ----------
    volumes : sequence of Slice
        At least two.
    settings : dict
        lines, initial (None: chosen), axis, snr, phase, seed.
    jobs : int
        The lines are the same for any number.

    Raises
    ------
    CommandError
        If no design can be made.
    """
    seed, axis, n_lines, snr = (settings[name] for name in ("seed", "axis", "lines", "snr"))
    shape, workers = volumes[0].image.shape, n_workers(jobs, 4 * SCANS)
    phase = polynomial_phase(shape, 2, np.pi, np.random.default_rng([seed, 1]))
    wholes = [v.image if np.iscomplexobj(v.image) else v.image * np.exp(1j * phase) for v in volumes]
    scans = [
        simulate_scan(one, snr=snr, random_state=np.random.default_rng([seed, 2, k])) for k, one in enumerate(wholes)
    ]
    if problem := kspace_problem(scans[0].kspace):
        raise CommandError(f"--image: {volumes[0].title}: {problem}")
    reader = READERS[settings["phase"]]
    read: dict[str, Any] = {"prescan": reader is None, "reader": reader or "smooth"}
    told: dict[str, Any] = {"axis": axis, "snr": snr, "phase": "reference", "n_jobs": workers}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of reconstructions on the way, none of which is shown
        before = scans[0].acquired  # measured whole
        try:
            tuned = kspace.tuned_lines(
                before, n_lines, n_central=settings["initial"], n_scans=SCANS, random_state=seed, **told, **read
            )
        except ValueError as error:
            raise CommandError(f"--image: {volumes[0].title}: {error}") from None
        first = _trials(before, settings, seed, read)
        stay = {DESIGNED: tuned.lines} | _rules(shape[axis], n_lines, seed)
        found = []
        for k, scan in enumerate(scans[1:], 1):
            entropy = entropy_of(seed) + k
            planned = kspace.reference_lines(
                before, n_lines, tuned.n_central, contrasts=False, motion=(0, 0), n_variants=VARIANTS,
                random_state=entropy, **told,
            )  # fmt: skip
            trials = [*first, *_trials(before, settings, entropy, read)]
            masks = {name: np.isin(np.arange(shape[axis]), one) for name, one in {**stay, PLANNED: planned}.items()}
            errors = errors_of(trials, {name: masks[name] for name in (DESIGNED, PLANNED)}, workers)
            taken = next(iter(scores(errors)))
            one = TrialScan(scan, axis, tol=TOL, max_iter=MAX_ITER, **read)
            ways = [one, replace(one, reference=np.abs(before))]
            images = iter(in_parallel(_found, [(way, mask) for mask in masks.values() for way in ways], workers))
            shown = {name: (next(images), next(images)) for name in masks}
            judged = {
                name: (_error(scan.image, plain), _error(scan.image, known)) for name, (plain, known) in shown.items()
            }
            before = shown[taken][1]
            found.append(
                Volume(
                    {**stay, PLANNED: planned, OFFERED: planned if taken == PLANNED else tuned.lines},
                    taken,
                    Expected(taken, *expected_error(errors[taken][:SCANS])),
                    {**judged, OFFERED: judged[taken]},
                    np.abs(before),
                )
            )
    return Followed(tuned.rule, tuned.n_central, found)


def _trials(image: np.ndarray, settings: Mapping[str, Any], entropy: int, read: Mapping[str, Any]) -> list[TrialScan]:
    given = checked_images("volumes", image, phase="reference")
    return trial_scans(given, settings["axis"], settings["snr"], SCANS, entropy_of(entropy), **read)


def _rules(n: int, n_lines: int, seed: int) -> dict[str, np.ndarray]:
    drawn = {"variable_density": {"random_state": seed}}
    central = min(usual_centre(n), n_lines)
    return {name: getattr(kspace, name)(n, n_lines, central, **drawn.get(name, {})) for name in RULES}


def _found(trial: TrialScan, mask: np.ndarray) -> np.ndarray:
    return trial.found(mask)


def _error(true: np.ndarray, found: np.ndarray) -> float:
    return l2_error(true, np.abs(found)) / float(np.linalg.norm(true))


def write(followed: Followed, volumes: Sequence[Slice], job: Job) -> None:
    """Write series.csv, series_lines.csv, series.png and summary.json, and print the table."""
    settings, first = job.settings, job.settings["volume"] or 0
    centre = volumes[0].image.shape[settings["axis"]] // 2
    rows = [
        (first + k, design, one.taken if design == OFFERED else design, *one.errors[design], *limits)
        for k, one in enumerate(followed.volumes, 1)
        for design in one.errors
        for limits in [one.expected[1:] if design == OFFERED else (None, None, None)]
    ]
    columns = ("volume", "design", "lines_of", "error", "error_with_the_one_before", "expected", "low", "high")
    job.write_csv("series.csv", dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True)))
    lines = [(first + k, int(line)) for k, one in enumerate(followed.volumes, 1) for line in one.lines[OFFERED]]
    job.write_csv("series_lines.csv", {"volume": [k for k, _ in lines], "line": [line for _, line in lines],
                                       "frequency": [line - centre for _, line in lines]})  # fmt: skip
    said = _said(followed, volumes, settings)
    job.draw(_draw(followed, volumes, first, said), "series")
    verdicts = [_verdict(followed, known) for known in (0, 1)]
    job.write_summary(_summary(followed, said, verdicts))
    _print(followed)
    for sentence in (*verdicts, said):
        print(f"{sentence[0].upper()}{sentence[1:]}")


def _verdict(followed: Followed, known: int) -> str:
    """Ratio of what was offered to the best design that stays, in words."""
    stay = (DESIGNED, *RULES)
    best = min(stay, key=lambda design: followed.mean(design, known))
    ratio = followed.mean(OFFERED, known) / followed.mean(best, known)
    planned = followed.mean(PLANNED, known) / followed.mean(best, known)
    what = "a plan from the volume before pays" if ratio < 1 - TIE else "a design that stays does as well"
    if ratio > 1 + TIE:
        what = "another design that stays does better"
    prior = "with the volume before as prior knowledge" if known else "without prior knowledge"
    taken = sum(one.taken == PLANNED for one in followed.volumes)
    return (
        f"{prior}: {what}: {ratio:.2f} of the error of the best one that stays, {best.replace('_', ' ')}; the plan was "
        f"taken for {taken} of {len(followed.volumes)} volumes, for all of them it has {planned:.2f}."
    )


def _said(followed: Followed, volumes: Sequence[Slice], settings: Mapping[str, Any]) -> str:
    n = volumes[0].image.shape[settings["axis"]]
    own = np.iscomplexobj(volumes[0].image)
    phase = "their own phases" if own else "one smooth random phase (polynomial of order 2, up to pi) for all"
    inside = sum(one.expected.low <= one.errors[one.taken][0] <= one.expected.high for one in followed.volumes)
    return (
        f"Simulated from {len(volumes)} volumes of {volumes[0].title.rpartition(',')[0]}: {phase}, complex noise of "
        f"SNR {settings['snr']:g}, one coil, seed {settings['seed']}; {settings['lines']} of {n} lines, the first "
        f"volume measured whole. Designed: {followed.rule.replace('_', ' ')}, the least error in {SCANS} simulated "
        f"scans of it. The error without prior knowledge was in the range stated before for {inside} of "
        f"{len(followed.volumes)} volumes. Assumed: phase {ASSUMED[settings['phase']]}, no motion, the same contrast."
    )


def _summary(followed: Followed, said: str, verdicts: Sequence[str]) -> dict[str, Any]:
    from adaptive.loop.log.header import versions

    designs = list(followed.volumes[0].errors)
    return {
        "simulated": said,
        "verdicts": list(verdicts),
        "design": {"rule": followed.rule, "central": followed.n_central},
        "mean error": {
            name: {"without prior knowledge": followed.mean(name, 0), "with the volume before": followed.mean(name, 1)}
            for name in designs
        },
        "taken": [one.taken for one in followed.volumes],
        "expected error": [one.expected._asdict() for one in followed.volumes],
        "versions": versions(),
    }


def _print(followed: Followed) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    printed = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for heading, side in (("\nlines", "left"), ("mean\nerror", "right"), ("with the\none before", "right")):
        printed.add_column(heading, justify=side, no_wrap=True)  # type: ignore[arg-type]
    designs = (OFFERED, PLANNED, DESIGNED, *RULES)
    best = [min(followed.mean(name, known) for name in designs) for known in (0, 1)]
    for name in designs:
        cells = [followed.mean(name, known) for known in (0, 1)]
        marks = ["*" if cell == least else " " for cell, least in zip(cells, best, strict=True)]
        printed.add_row(name.replace("_", " "), *(f"{cell:.3f}{mark}" for cell, mark in zip(cells, marks, strict=True)))
    Console(highlight=False).print(printed)


def _draw(followed: Followed, volumes: Sequence[Slice], first: int, said: str) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    drawing = Figure(figsize=(12.5, 5.4), layout="constrained")
    parts: Any = drawing.subfigures(2, 1, height_ratios=[4.6, 0.8])
    picture, *curves = parts[0].subplots(1, 3, width_ratios=[0.9, 1.2, 1.2])
    last = volumes[-1]
    picture.imshow(last.upright(followed.volumes[-1].image), cmap="gray")
    picture.set(xticks=[], yticks=[], title=f"volume {first + len(volumes) - 1}, as offered")
    for known, (ax, title) in enumerate(
        zip(curves, ("without prior knowledge", "with the volume before"), strict=True)
    ):
        rows = [
            (name, first + k, one.errors[name][known])
            for name in (OFFERED, PLANNED, DESIGNED, *RULES)
            for k, one in enumerate(followed.volumes, 1)
        ]
        table = dict(zip(("design", "measured", "error"), zip(*rows, strict=True), strict=True))
        ylabel = "" if known else "error, as a share of the image"
        plots.error_curves(table, ax=ax, xlabel="volume", ylabel=ylabel).set_title(title)
        ax.lines[0].set(linewidth=6, alpha=0.4)  # what is offered is one of two others, which is to be seen on it
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.get_legend().remove()
    parts[0].legend(*curves[0].get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize=8.5)
    parts[1].text(0.01, 0.5, textwrap.fill(said, 185), fontsize=8.5, va="center", color="#333333")
    return drawing
