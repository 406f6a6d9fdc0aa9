"""``adaptive kspace --plan``: the order of the next scan, from a reference of the same head or from other heads.

    --reference FILE    lines or points that follow the k-space of that head; shots by their information about it
    else                lines or points learnt on slices of other heads (--image), shots at golden angles

Nothing is measured: what is written is the ordered design, its exports and the error to expect in simulated scans. A
rule that has less error there is the plan; with --exchanges single lines are exchanged, too.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive.cli.errors import CommandError
from adaptive.cli.kspace.checking import check_size
from adaptive.cli.kspace.exports import check_sequence, unplaced, write_exports
from adaptive.cli.kspace.tuning import ASSUMED, usual_centre
from adaptive.cli.kspace.values import named, one_side
from adaptive.cli.workers import n_workers
from adaptive.images import Slice
from designs import kspace

if TYPE_CHECKING:
    from adaptive.cli.job import Job
    from adaptive.cli.kspace.plan_errors import Planned
    from adaptive.cli.kspace.values import Known
    from adaptive.selection import Certificate

__all__ = ["designed_from", "plan"]

_CANDIDATES, _SWAPS = 4, 2  # of lines that are learnt: half of what the library takes
_VARIANTS = {"lines": 4, "points": 2}  # scans that are tried in every round
BACKGROUND = 0.1  # of the brightest: below it are air and bone


def plan(known: Known, job: Job, jobs: int, parent: int, remark: str = "") -> None:
    """Make the design, and write plan.csv, its exports, plan.png, summary.json and the table of the designs beside it.

    ``remark`` is printed, too.
    """
    settings = job.settings
    check_sequence(settings, known)
    design, n_first, how = designed_from(known, settings, job.log / "plan.jsonl", jobs, parent)
    from adaptive.cli.kspace.plan_errors import planned, planned_shots
    from adaptive.cli.kspace.plan_picture import draw

    shape, kind = design.image_shape, settings["trajectory"]
    if kind in ("spirals", "spokes"):
        found = planned_shots(known, design, n_first, settings, jobs)
        design = found.design
    else:
        found = planned(known, design.lines if kind == "lines" else design.encodes, n_first, settings, jobs)
        design = (
            kspace.LinePool(shape, found.design, design.axis)
            if kind == "lines"
            else kspace.PhaseEncodePool(shape, found.design)
        )
    errors, n_first = found.said(how), found.n_central
    if not found.own:
        how = "by a simple rule, which had the least error in simulated scans"
    view = known.field_of_view
    told = (known.geometry, known.protocol, known.n_slices, view)
    write_exports(design, job, settings["export"], *told, told=_for_people(known, settings, design))
    certificate = _certificate(known, settings, design, n_first)
    paragraphs = _said(known, settings, design, n_first, how, [*errors, _information(certificate)])
    said = " ".join(paragraphs)
    job.write_csv(f"{kind}_of_designs.csv", _designs(found, design))
    job.draw(draw(known, design, n_first, found, settings), "plan")
    job.write_summary(_summary(known, design, n_first, said, found, certificate))
    place = None if settings["trajectory"] == "points" else known.geometry
    if place is not known.geometry and known.geometry is not None:
        view = tuple(known.geometry.field_of_view.tolist())
    remarks = [*paragraphs, remark, unplaced(settings["export"], place, view)]
    print("\n".join(filter(None, remarks)))


def designed_from(
    known: Known, settings: dict[str, Any], log: Path | None, jobs: int, parent: int
) -> tuple[Any, int, str]:
    """The ordered pool, how many are central, and by which rule.

    Parameters
    ----------
    known : Known
    settings : dict
        trajectory, lines, initial, axis, snr, seed.
    log : path or None
        Of shots, which are chosen one by one.
    jobs, parent : int

    Raises
    ------
    CommandError
        If no such design can be made.
    """
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of reconstructions on the way, none of which is shown
            return _design(known, settings, log, jobs, parent)
    except ValueError as error:
        raise CommandError(f"--{'reference' if known.same else 'image'}: {known.title}: {error}") from None


def _design(known: Known, settings: dict[str, Any], log: Path | None, jobs: int, parent: int) -> tuple[Any, int, str]:
    trajectory, n, centre = settings["trajectory"], settings["lines"], settings["initial"]
    shape = known.images[0].shape
    if trajectory in ("lines", "points"):
        there = shape[settings["axis"]] if trajectory == "lines" else int(np.prod(shape))
        if n > there:
            size = " x ".join(map(str, shape))
            raise CommandError(
                f"--lines must be at most {there}, all the {trajectory} of {known.title} ({size}), got {n}."
            )
    options: dict[str, Any] = {"snr": settings["snr"], "coils": known.coils, "random_state": settings["seed"]}
    options["n_jobs"] = n_workers(jobs, len(known.images) if not known.same else 4)
    if trajectory == "lines":
        axis = settings["axis"]
        first = usual_centre(shape[axis]) if centre is None else centre
        if centre is None and n <= first:
            first = max(4, n // 2)
        check_size(n, first, there, trajectory)
        if known.same:
            lines = kspace.reference_lines(
                known.images, n, first, axis=axis, n_variants=_VARIANTS[trajectory], **options
            )
        else:
            options |= {"n_candidates": _CANDIDATES, "n_swaps": _SWAPS}
            lines = kspace.learnt_lines(known.images, n, first, axis=axis, **options)
        return kspace.LinePool(shape, lines, axis), first, _by(known, trajectory)
    if trajectory == "points":
        sides = [max(4, side // 8) for side in shape] if centre is None else [centre, centre]
        check_size(n, int(np.prod(sides)), there, trajectory)
        make = kspace.reference_points if known.same else kspace.learnt_points
        more: dict[str, Any] = {"n_variants": _VARIANTS[trajectory]} if known.same else {"n_candidates": 1}
        points = make(known.images, n, sides, **options, **more)
        return kspace.PhaseEncodePool(shape, points), int(np.prod(sides)), _by(known, trajectory)
    if not known.same:
        period = np.pi if trajectory == "spokes" else 2 * np.pi
        return (
            getattr(kspace, trajectory)(shape, kspace.golden_angles(n, period)),
            0,
            "at golden angles",
        )
    assert log is not None
    from adaptive.cli.kspace.trial_designs import choose
    from adaptive.cli.kspace.trial_setup import simulated

    head = Slice(known.images[0], known.title)
    trial = simulated(
        head, trajectory=trajectory, axis=0, initial=centre, n=n, snr=settings["snr"], phase="central",
        seed=settings["seed"],
    )  # fmt: skip
    chosen = choose(trial, n, settings["seed"], log, parent)
    return (
        trial.pool.take(chosen.positions),
        len(trial.first),
        "one by one by the information about a simulated scan of it",
    )


def _by(known: Known, trajectory: str) -> str:
    if known.same:
        n = _VARIANTS[trajectory]
        return (
            f"one by one, each where images of {n} variants of the reference (other contrast, motion, phase, noise) err"
        )
    slices = "this slice" if len(known.images) == 1 else f"these {len(known.images)} slices"
    return f"to have the least error on {slices}"


def _certificate(known: Known, settings: dict[str, Any], design: Any, n_first: int) -> Certificate | None:
    """Information that the other lines tell of a simulated scan, beside that of any as many lines."""
    if settings["trajectory"] != "lines" or len(design) <= n_first:
        return None
    n = design.image_shape[design.axis]
    if not n_first or not np.isin(kspace.central(n, n_first), design.lines).all():
        return None
    image = known.images[0] if np.iscomplexobj(known.images[0]) else np.abs(known.images[0])
    with threadpool_limits(1):
        return kspace.line_certificate(
            image, design.lines, n_first, axis=design.axis, coils=known.coils, snr=settings["snr"],
            random_state=settings["seed"],
        )[1]  # fmt: skip


def _information(certificate: Certificate | None) -> str:
    """Say what share the plan has of the information that any as many lines could tell."""
    if certificate is None:
        return ""
    about = "an estimated " if certificate.kind == "estimate" else ""
    return (
        f"The {certificate.n} lines outside the centre tell {about}{certificate.share:.0%} or more of the information "
        f"about the image that any other {certificate.n} could tell, by the model."
    )


def _said(known: Known, settings: dict[str, Any], design: Any, n_first: int, how: str, errors: list[str]) -> list[str]:
    """Say what the plan is, what is known of its errors, what it relies on, and what was assumed: a paragraph each."""
    whose = (
        "the same head" if known.same else "taken for another head; of the head to be scanned, give it as --reference"
    )
    coils = "one coil" if known.coils is None else f"the coils of its raw samples ({known.received})"
    motion = "" if known.same else ", no motion"  # of the same head the variants have some, and that is said
    central = "" if settings["trajectory"] in ("spirals", "spokes") else " central ones"
    given = f", the first {n_first}{central} in any case" if n_first else ""
    size = " x ".join(map(str, known.images[0].shape))
    volume = (
        f", for a read-out of {known.n_slices}" if settings["trajectory"] == "points" and known.n_slices > 1 else ""
    )
    kind = settings["trajectory"]
    every = [
        f"{len(design)} {kind} of {size}{volume}, in the order of the scan{given}; from {known.title} "
        f"({whose}), chosen {how}.",
        *errors,
        _directions(known, settings, design),
        _side(known, design, n_first, settings),
        f"Assumed: {coils}, phase {ASSUMED[settings['phase']]}, SNR {_snr(known, settings['snr'])}{motion}. Errors are "
        "of the reconstruction that this command makes of such a scan, with that phase.",
    ]
    return [one for one in every if one]


def _snr(known: Known, snr: float) -> str:
    """Say what that SNR is of, and what it is in the mean of what is no background."""
    bright = np.abs(known.images[0])  # up to one
    inside = bright[bright > BACKGROUND * bright.max()]
    return f"{snr:g} of the brightest pixels ({snr * float(inside.mean()) / float(bright.max()):.2g} in the mean)"


def _directions(known: Known, settings: dict[str, Any], design: Any) -> str:
    """Directions in the patient of encoding and read-out, where they are known."""
    place = known.geometry
    if place is None or settings["trajectory"] != "lines":
        return ""
    encoded, read = (
        f"{place.direction(axis)} ({place.matrix[axis]}, {place.field_of_view[axis]:.4g} mm)"
        for axis in (design.axis, 1 - design.axis)
    )
    centre = design.image_shape[design.axis] // 2
    return (
        f"Phases are encoded {encoded}, read-outs are {read}. The axis of the lines runs towards "
        f"{place.side(design.axis)}; line {centre} is the centre."
    )


def _side(known: Known, design: Any, n_first: int, settings: dict[str, Any]) -> str:
    """Remark on a plan that leaves out one half of k-space: what it relies on."""
    if settings["trajectory"] != "lines":
        return ""
    n = design.image_shape[design.axis]
    own = known.coils is None and np.iscomplexobj(known.images[0])
    return one_side(design.lines[n_first:] - n // 2, n, own)


def _designs(found: Planned, design: Any) -> dict[str, list[Any]]:
    """Columns of the patterns that were compared, every draw of a random one: its lines, points or angles."""

    def columns_of(one: Any) -> dict[str, np.ndarray]:
        if hasattr(one, "angles"):
            return {"angle": one.angles}
        if np.ndim(one) == 1:
            return {"line": one, "frequency": one - design.image_shape[design.axis] // 2}
        return {"row": one[:, 0], "column": one[:, 1]}

    table: dict[str, list[Any]] = {"design": [], "rule": [], "draw": []}
    for called, draws in found.patterns.items():
        for number, one in enumerate(draws):
            columns = columns_of(one)
            size = len(next(iter(columns.values())))
            table["design"] += ["plan" if called == "design" else called] * size
            table["rule"] += [named(found.expected[called].design)] * size
            table["draw"] += [number] * size
            for name, column in columns.items():
                table.setdefault(name, []).extend(np.asarray(column).tolist())
    return table


def _for_people(known: Known, settings: dict[str, Any], design: Any) -> str:
    """Sentences for the text: how lines are counted, which way they run, and if the mirrored order is as good."""
    if settings["trajectory"] != "lines":
        return "All indices and axes count from 0."
    n, place = design.image_shape[design.axis], known.geometry
    said = (
        f"Lines and axes count from 0. Line {n // 2} is the centre of k-space: line k has frequency k - {n // 2}, and "
        f"line 0 has -{n // 2}."
    )
    if place is not None:
        side = place.side(design.axis)
        said += f" Axis {design.axis} of the image runs towards {side}: its pixel {n - 1} lies towards {side}."
    if known.coils is None and not np.iscomplexobj(known.images[0]):
        said += (
            f" The mirrored order, line {2 * (n // 2)} - k in the place of line k, is as good: the magnitudes of the "
            "reference do not tell the sides of k-space apart."
        )
    return said


def _summary(
    known: Known,
    design: Any,
    n_first: int,
    said: str,
    found: Planned,
    certificate: Certificate | None,
) -> dict[str, Any]:
    from adaptive.loop.log.header import versions

    place, times = known.geometry, known.protocol
    where: dict[str, Any] | None = None
    if place is not None:
        where = {"plane": place.plane, "voxel size (mm)": place.voxel_size.tolist(), "matrix": list(place.matrix)}
    elif known.field_of_view is not None:
        where = {"field of view (mm)": list(known.field_of_view), "matrix": list(known.images[0].shape)}
    stated = {} if times is None else {k: v for k, v in vars(times).items() if v not in (None, "")}
    return {
        "plan": said,
        "order": design.labels(),
        "central": n_first,
        "expected error": {name: one._asdict() for name, one in found.expected.items()},
        "plan over others": {name: one._asdict() for name, one in found.ratios.items()},
        "verdict": found.verdict(),
        "draws": {name: len(one) for name, one in found.patterns.items()},
        "errors by scan": {name: one.tolist() for name, one in found.errors.items()},
        "certificate": None if certificate is None else {**asdict(certificate), "share": certificate.share},
        "geometry": where,
        "protocol": stated or None,
        "versions": versions(),
    }
