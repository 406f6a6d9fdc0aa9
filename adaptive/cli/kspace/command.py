"""``adaptive kspace``: which parts of k-space should a scanner measure?

IMAGE            scanned in simulation: lines by simulated scans, or points, spirals, spokes one by one, beside rules
--kspace FILE    raw samples of several coils replayed: the same out of what was acquired
--series N       volumes of a file, one after the other: lines planned from the one before, where that pays
--plan           no trial: the ordered design of the next scan, from --reference FILE or from other heads
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive.cli.job import Job
from adaptive.cli.kspace.checking import (
    check_choices,
    check_extras,
    check_numbers,
    check_together,
    compressed_to,
    exports,
    main_file,
    sides,
)
from adaptive.cli.options import DryRun, Format, Jobs, Resume, out_folder, stated, whole_number

__all__ = ["kspace"]


def _file(text: str) -> Any:
    return typer.Option(help=text, metavar="FILE")


def _word(text: str) -> Any:
    return typer.Option(help=text, metavar="WORD", show_default=False)


def _ms(text: str) -> Any:
    return typer.Option(help=text, metavar="X", show_default=False)


def _number(text: str) -> Any:
    return typer.Option(help=text, metavar="N", show_default=False)


def kspace(
    context: typer.Context,
    image: Annotated[
        Path | None,
        typer.Argument(
            help="Folder of DICOM slices, NIfTI or other volume, .npy or .npz array, PNG or other picture, to be "
            "scanned in simulation (default: the head scan that nibabel ships). Raw samples (.h5, .cfl) are replayed.",
            metavar="IMAGE",
            show_default=False,
        ),
    ] = None,
    image_option: Annotated[Path | None, typer.Option("--image", help="The same as IMAGE.", metavar="FILE")] = None,
    kspace: Annotated[
        Path | None,
        _file(
            "Raw samples of one or several coils, to be replayed: ISMRMRD or fastMRI (.h5), BART (.cfl), .npy or .npz "
            "(coils, h, w)."
        ),
    ] = None,
    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="No trial: only the ordered design of the next scan and its export, from --reference (the same head) "
            "or from IMAGE (other heads).",
        ),
    ] = False,
    reference: Annotated[
        Path | None,
        _file("An earlier, full scan of the same head, image or raw: a design from it is compared, or planned."),
    ] = None,
    trajectory: Annotated[
        str | None,
        _word(
            "lines, points (of two phase-encode directions: the slice is a plane across the read-out), spirals or "
            "spokes (default lines; with --kspace as it was acquired)."
        ),
    ] = None,
    slice: Annotated[int | None, _number("Slice of the volume or stack, from 0 (default: the middle one).")] = None,
    plane: Annotated[
        str | None,
        _word(
            "How a volume is cut: axial, coronal or sagittal (default: slices of DICOM as they were acquired, other "
            "volumes axial)."
        ),
    ] = None,
    volume: Annotated[
        int | None, _number("Which volume of a file that holds several (default: the first, and that is said).")
    ] = None,
    series: Annotated[
        int | None,
        _number(
            "So many volumes of a file that holds several, one after the other: lines planned from the volume before, "
            "beside a design that stays; taken only where simulated scans find them ahead."
        ),
    ] = None,
    coils: Annotated[
        str | None,
        typer.Option(
            help="With --kspace, or a raw --reference of a --plan: estimate the coil maps from the centre (default), "
            "or read them from a FILE.",
            metavar="estimate|FILE",
            show_default=False,
        ),
    ] = None,
    compress: Annotated[
        str,
        typer.Option(
            help="Raw samples of many coils (--kspace, --reference) as N virtual coils; auto: as few as keep 99% of "
            "the energy, if there are more than 12; off: all coils as they are (default auto).",
            metavar="N|auto|off",
            show_default=False,
        ),
    ] = "auto",
    lines: Annotated[
        int | None,
        _number(
            "Lines, points or shots to measure in all, the central ones included (default: a quarter of the lines or "
            "points, 16 spirals, 32 spokes; of raw samples a third of those acquired)."
        ),
    ] = None,
    initial: Annotated[
        int | None,
        _number(
            "How many of them are the central ones, of points the side of the central block, of shots how many come "
            "first (default: of lines on a slice chosen, else an eighth of all lines that there are, of each side; a "
            "quarter of the shots)."
        ),
    ] = None,
    exchanges: Annotated[
        int | None,
        _number(
            "Single lines of the design that are exchanged on trial where the slice itself or a reference of it "
            "teaches; what fresh simulated scans confirm is kept (default 32, with --plan none)."
        ),
    ] = None,
    snr: Annotated[
        float,
        typer.Option(
            help="Largest magnitude over the standard deviation of the noise in each part (default 50).",
            metavar="X",
            show_default=False,
        ),
    ] = 50.0,
    phase: Annotated[
        str,
        _word(
            "Reading of the phase: a smooth one that the central lines show (central), the bare angle of the centre, "
            "as many reconstructions take it (rough), or it is known (known); default central."
        ),
    ] = "central",
    axis: Annotated[
        int | None,
        _number(
            "Axis of the image along which lines are chosen, 0 or 1 (default 0; of raw samples and a reference as "
            "acquired, where the file says so)."
        ),
    ] = None,
    draws: Annotated[int, whole_number("Draws of every random design, of which means are shown (default 10).")] = 10,
    export: Annotated[
        list[str] | None,
        typer.Option(
            help="Also write the chosen design as csv, npy, bart (mask or trajectory), ismrmrd, text or pulseq (with "
            "--plan: a sequence); may be given several times.",
            metavar="WORD",
            show_default=False,
        ),
    ] = None,
    tr: Annotated[float | None, _ms("Repetition time of a Pulseq sequence, ms (default: as short as can be).")] = None,
    te: Annotated[float | None, _ms("Echo time of a Pulseq sequence, ms (default: as short as can be).")] = None,
    flip: Annotated[float | None, _ms("Flip angle of a Pulseq sequence, degrees (default 10).")] = None,
    fov: Annotated[
        str | None,
        typer.Option(
            help="Field of view of a Pulseq sequence along the axes of the images and across them, mm, as 220x220x5 "
            "(default: that of the reference, or of --sequence).",
            metavar="AxBxC",
            show_default=False,
        ),
    ] = None,
    system: Annotated[
        Path | None,
        _file(
            "Limits of the scanner for a Pulseq sequence, TOML: max_grad (mT/m, default 28), max_slew (T/m/s, 120), "
            "rf_dead_time, rf_ringdown_time, adc_dead_time, dwell (seconds), rasters."
        ),
    ] = None,
    sequence: Annotated[
        Path | None,
        _file(
            "A Cartesian Pulseq sequence of your own: with --export pulseq its phase encodes become those of the plan, "
            "and all else stays."
        ),
    ] = None,
    seed: Annotated[int, whole_number("Seed of the simulated scan and of all random choices (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-kspace-run")] = Path("adaptive-kspace-run"),
    pictures: Format = "png",
    resume: Resume = False,
    jobs: Jobs = 0,
    dry_run: DryRun = False,
) -> None:
    """Which parts of k-space should a scanner measure to see this slice?

    The command scans a real slice in simulation. Simulated scans choose the rule, the centre and the exponent
    of the design, and say what error to expect. Or it replays raw samples (--kspace): the central ones are given, and
    further ones are chosen one by one, each where it tells most about the image. The design is compared with simple
    rules of the same size, and lines also on the slice beside it. With --series a slice is followed through the volumes
    of a file. With --plan nothing is tried: the command writes the ordered design for the next scan. It leaves tables
    (lines.csv or plan.csv, designs.csv), pictures, summary.json, what --export asks for, and a log from which --resume
    continues a run that was stopped.
    """
    options = locals() | {"compress": compressed_to(compress), "export": exports(export or ())}
    options |= main_file(context, options)
    options["fov"] = sides(fov)
    if coils not in (None, "estimate"):
        options["coils"] = Path(str(coils))
    check_numbers(options, jobs)
    check_choices(options)
    check_together(options, stated(context, ("snr", "phase", "compress")), resume)
    check_extras(options)
    from adaptive.cli.kspace.runs import run_job  # loads what computes

    run_job(Job(context, options, aside=("image_option",)), jobs)
