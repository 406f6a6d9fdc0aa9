"""The jobs of ``adaptive kspace``: lines on a slice and the one beside it, a series, a trial of one scan, a plan."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.cli.kspace.checking import check_size, check_sizes

if TYPE_CHECKING:
    from adaptive.cli.job import Job
    from adaptive.cli.kspace.trial import Trial
    from adaptive.cli.kspace.values import Known, Subject

__all__ = ["run_job"]

_SHOTS = {"spirals": 16, "spokes": 32}
FURTHER = 1_000_003  # added to the seed: scans that decided nothing


def run_job(job: Job, jobs: int) -> None:
    """Do what the settings say."""
    from adaptive.cli.kspace.reading import acquired_plane

    settings = job.settings
    settings["trajectory"] = settings["trajectory"] or (None if settings["kspace"] else "lines")
    settings["plane"] = settings["plane"] or acquired_plane(settings["image"] or settings["reference"])
    if settings["plan"]:
        _plan(job, jobs)
    elif settings["series"] is not None:
        _series(job, jobs)
    elif settings["kspace"] is None and settings["trajectory"] == "lines":
        _lines_on_two_slices(job, jobs)
    else:
        _trial(job, jobs)


def _lines_on_two_slices(job: Job, jobs: int) -> None:
    from adaptive.cli.kspace.reading import read_subject, require_same_grid

    settings = job.settings
    subject = read_subject(settings["image"], settings["slice"], settings["plane"], settings["volume"])
    if settings["reference"] is not None:
        require_same_grid(settings["reference"], settings["image"], settings["volume"])
    settings["axis"] = settings["axis"] or 0
    if settings["lines"] is None:
        settings["lines"] = _quarter(subject.same.image.shape[settings["axis"]])
    check_sizes(subject.same, settings)
    job.fix("pixels", _pixels(subject), "the pixels of the image")
    job.understood(*_understood(subject.same.title, subject.same.image.shape, settings))
    with job:
        # from here on it pays to load what computes and draws
        job.doing = "designing lines by simulated scans"
        from adaptive.cli.kspace.duration import of_a_comparison, say_duration
        from adaptive.cli.kspace.line_designs import DESIGNED, GAIN, REFERENCE, choose_and_compare, tasks
        from adaptive.cli.kspace.line_report import contenders, write
        from adaptive.cli.kspace.paired import judged
        from adaptive.cli.kspace.tuning import ahead, design_lines, require_centred
        from adaptive.cli.workers import n_workers

        log = job.log / "lines.jsonl"
        if not log.exists():
            require_centred(subject, settings)  # before anything is printed
            slices = 1 if subject.neighbour is None else 2
            say_duration(
                subject.same.image, settings, of_a_comparison(settings["lines"], settings["draws"], slices), jobs
            )
        job.progress = lambda: _so_far(log, settings["lines"], "lines")
        designed = design_lines(subject, settings, jobs)
        every = tasks(subject, settings, log, designed)
        outcomes = {one.design: one for one in _spread(choose_and_compare, every, jobs, "choosing lines")}
        tried = {name: outcomes[name] for name in (GAIN, REFERENCE) if name in outcomes}
        designed = ahead(designed, {name: (one.lines[0], one.simulated) for name, one in tried.items()})
        if designed.rule in tried:
            outcomes[DESIGNED] = tried[designed.rule].called(DESIGNED)
        fresh = {}
        for k, (name, one) in enumerate((("same", subject.same), ("neighbour", subject.neighbour))):
            if one is not None:
                job.doing = f"trying the best of them in further scans of {one.title}"
                drawn = {which: outcomes[which].lines for which in (DESIGNED, *contenders(outcomes, k))}
                fresh[name] = judged(one, drawn, settings, settings["seed"] + FURTHER + k, n_workers(jobs, 16))
        write(list(outcomes.values()), subject, job, designed, fresh)
        _then_the_plan(job, subject)


def _then_the_plan(job: Job, subject: Subject) -> None:
    """Name the line that plans a scan of the slice that was tried, if its own matrix has so many lines."""
    from adaptive.images.stack import head_path

    settings = job.settings
    if subject.padded and settings["lines"] > subject.same.image.shape[settings["axis"]] - 16:
        job.then(job.anew("--seed", str(settings["seed"] + 1)), "for other simulated scans")
        return
    given = settings["reference"] or settings["image"] or str(head_path())
    tried = dict(settings)
    # none of these is about a plan of the same head
    settings |= {"image": None, "reference": given, "draws": 10, "exchanges": None}
    try:
        print(
            "A --plan may choose other lines than the design of this table: it learns from variants of the slice, with "
            "some motion."
        )
        job.then(job.anew("--plan", "--export", "csv"), "to plan a scan of this head, with the file for the scanner")
    finally:
        settings |= tried


def _series(job: Job, jobs: int) -> None:
    from adaptive.cli.kspace.reading import read_series
    from adaptive.cli.kspace.series import follow, write

    settings = job.settings
    where = (settings["series"], settings["slice"], settings["plane"], settings["volume"])
    volumes = read_series(settings["image"], *where)
    settings["axis"] = settings["axis"] or 0
    if settings["lines"] is None:
        settings["lines"] = _quarter(volumes[0].image.shape[settings["axis"]])
    check_sizes(volumes[0], settings)
    job.understood(*_understood(volumes[0].title, volumes[0].image.shape, settings), f"{len(volumes)} volumes")
    job.fix("pixels", _digest([one.image for one in volumes]), "the pixels of the image")
    with job:
        job.doing = "following the volumes"
        write(follow(volumes, settings, jobs), volumes, job)
        job.then(job.anew("--seed", str(settings["seed"] + 1)), "for another simulated scan")


def _understood(title: str, shape: Sequence[int], settings: dict[str, Any]) -> list[str]:
    """Say the size of the image, and what is chosen along which axis."""
    kind, n = settings["trajectory"], settings["lines"]
    lines = [f"{title}: {shape[0]} x {shape[1]} pixels", f"{n:,} {kind} are chosen"]
    if kind == "lines" and settings["axis"] is not None:
        lines[-1] += f" of the {shape[settings['axis']]} along axis {settings['axis']}; the read-out is the other axis"
    return lines


def _quarter(n: int) -> int:
    """A quarter of the lines, and at least so many that there is a choice."""
    return max(n // 4, min(8, n))


def _trial(job: Job, jobs: int) -> None:
    from adaptive.cli.kspace.trial_designs import tasks, try_design
    from adaptive.cli.kspace.trial_report import write

    settings = job.settings
    trial, reference = _trial_of(settings)
    n = _size_of(trial, settings)
    job.fix("pixels", _samples(trial), "the samples" if settings["kspace"] else "the pixels of the image")
    axis = getattr(trial.pool, "axis", None)
    job.understood(
        *_understood(trial.title, trial.shape, settings | {"axis": axis}),
        f"{len(trial.pool):,} {trial.trajectory} can be measured",
    )
    with job:
        planned = None if reference is None else _positions_from(trial, reference, n, settings, jobs)
        log = job.log / "order.jsonl"
        job.progress = lambda: _so_far(log, n, trial.trajectory)
        every = tasks(trial, n, settings["draws"], settings["seed"], log, planned)
        tried = _spread(try_design, every, jobs, f"choosing {trial.trajectory}")
        write(tried, trial, job)
        job.then(job.anew("--seed", str(settings["seed"] + 1)), "to see how much is chance")


def _plan(job: Job, jobs: int) -> None:
    from adaptive.cli.kspace.plan import plan
    from adaptive.cli.kspace.reading import of_several, read_heads, read_reference_scan

    settings = job.settings
    where = (settings["plane"], settings["slice"], settings["volume"])
    if settings["reference"] is not None:
        scan, known = read_reference_scan(settings["reference"], *where, settings["compress"], settings["coils"])
        said = of_several(scan, settings["volume"])
        del scan  # its samples are let go
    else:
        known, said = read_heads(settings["image"], *where)
    if settings["axis"] is None:
        settings["axis"] = 0 if known.readout is None else 1 - known.readout
    shape = known.images[0].shape
    defaults = {"lines": _quarter(shape[settings["axis"]]), "points": int(np.prod(shape)) // 4, **_SHOTS}
    if settings["lines"] is None:
        settings["lines"] = defaults[settings["trajectory"]]
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in known.images)).hexdigest()
    job.fix("pixels", digest, "the pixels of the image")
    job.understood(*_understood(known.title, shape, settings))
    with job:
        if settings["reference"] is None and settings["image"] is None:
            print("adaptive: no --reference and no --image: a plan from the head that nibabel ships.", file=sys.stderr)
        job.progress = lambda: _so_far(job.log / "plan.jsonl", settings["lines"], settings["trajectory"])
        job.doing = f"planning {settings['trajectory']}"
        if settings["trajectory"] == "lines" and settings["lines"] <= shape[settings["axis"]]:
            from adaptive.cli.kspace.duration import of_a_plan, say_duration

            n = of_a_plan(
                settings["lines"], shape[settings["axis"]], settings["exchanges"] or 0, 1 if known.same else 3
            )
            say_duration(known.images[0], settings, n, jobs)
        plan(known, job, jobs, os.getpid(), said)
        if not settings["export"]:
            job.then(job.anew("--export", "ismrmrd"), "for a file that a scanner or a simulator reads")


def _trial_of(settings: dict[str, Any]) -> tuple[Trial, Known | None]:
    """The trial, and the reference that it is also planned from."""
    from adaptive.cli.kspace.reading import (
        MULTIPLE,
        of_several,
        read_maps,
        read_raw,
        read_reference_scan,
        read_subject,
        require_alike,
        require_same_grid,
        turned_to,
    )
    from adaptive.cli.kspace.trial_setup import replayed, simulated
    from adaptive.images import padded

    where = (settings["plane"], settings["slice"], settings["volume"])
    if settings["kspace"] is None:
        subject = read_subject(settings["image"], settings["slice"], settings["plane"], settings["volume"])
        side = min(subject.same.image.shape)
        n = settings["lines"] or {"points": subject.same.image.size // 4, **_SHOTS}[settings["trajectory"]]
        if settings["initial"] is not None and settings["initial"] > side:
            raise CommandError(f"--initial must be at most {side}, got {settings['initial']}.")
        options = {name: settings[name] for name in ("trajectory", "initial", "snr", "phase", "seed")}
        trial = simulated(subject.same, axis=settings["axis"] or 0, n=n, **options).saying(subject.said)
        if settings["reference"] is None:
            return trial, None
        require_same_grid(settings["reference"], settings["image"], settings["volume"])
        known = read_reference_scan(settings["reference"], *where, settings["compress"])[1]
        return trial, known._replace(images=[padded(one, MULTIPLE) for one in known.images])
    raw = read_raw(settings["kspace"], *where)
    reference = None
    if settings["reference"] is not None:
        scan, reference = read_reference_scan(settings["reference"], *where, settings["compress"])
        require_alike(scan, raw)
        reference = turned_to(reference, scan, raw)
    maps = settings["coils"] if settings["coils"] in (None, "estimate") else read_maps(settings["coils"])
    options = {name: settings[name] for name in ("trajectory", "axis", "initial", "compress")} | {
        "n": settings["lines"]
    }
    trial = replayed(raw, coils="estimate" if maps is None else maps, **options)
    return trial.saying(of_several(raw, settings["volume"])), reference


def _size_of(trial: Trial, settings: dict[str, Any]) -> int:
    """Number of measurements in all; refused where it is not between the centre and everything."""
    there, first, kind = len(trial.pool), len(trial.first), trial.trajectory
    n = settings["lines"]
    if n is None:
        n = there // 3 if settings["kspace"] else {"points": there // 4, **_SHOTS}[kind]
    check_size(n, first, there, kind)
    settings["lines"], settings["trajectory"] = n, kind
    return int(n)


def _positions_from(trial: Trial, reference: Known, n: int, settings: dict[str, Any], jobs: int) -> np.ndarray:
    """Positions in the pool of a design from the reference."""
    from adaptive.cli.kspace.plan import designed_from
    from adaptive.cli.kspace.trial_rules import snapped

    options = {"lines": n, "initial": _width(trial), "axis": getattr(trial.pool, "axis", 0)}
    design, _, _ = designed_from(
        reference, settings | options | {"trajectory": trial.trajectory}, None, jobs, os.getpid()
    )
    if design.image_shape != trial.shape:
        raise CommandError(
            f"--reference: {reference.title} has {design.image_shape} pixels, {trial.title} {trial.shape}."
        )
    wanted = design.lines[:, None] if trial.trajectory == "lines" else design.encodes
    return snapped(trial, wanted, n)


def _width(trial: Trial) -> int:
    """Central lines, or the side of the central block."""
    return len(trial.first) if trial.trajectory == "lines" else round(len(trial.first) ** 0.5)


def _pixels(subject: Subject) -> str:
    """Digest of the pixels that a run depends on."""
    slices = (subject.same, subject.neighbour, subject.training)
    return _digest([one.image for one in slices if one is not None])


def _digest(images: Sequence[np.ndarray]) -> str:
    digest = hashlib.sha256()
    for one in images:
        digest.update(repr((one.dtype.str, one.shape)).encode())
        digest.update(np.ascontiguousarray(one).tobytes())
    return digest.hexdigest()


def _samples(trial: Trial) -> str:
    samples = trial.source.kspace if hasattr(trial.source, "kspace") else trial.source.data
    return hashlib.sha256(repr(samples.shape).encode() + np.ascontiguousarray(samples).tobytes()).hexdigest()


def _spread(call: Callable[..., Any], every: list[dict[str, Any]], jobs: int, title: str) -> list[Any]:
    from adaptive.cli.workers import spread

    return spread(call, every, jobs=jobs, title=title, unit="designs")


def _so_far(log: Path, n: int, kind: str) -> str:
    from adaptive.cli.kspace.line_designs import n_chosen

    return f" after {n_chosen(log)} of {n} {kind}"
