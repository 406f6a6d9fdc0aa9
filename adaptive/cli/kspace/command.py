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
    image_option: Annotated[
        Path | None, typer.Option("--image", help="Another way to give IMAGE.", metavar="FILE")
    ] = None,
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
            help=(
                "Write only the ordered design of the next scan and its export, without a table of all rules. Give the "
                "head that will be scanned as --reference. IMAGE is taken for another head."
            ),
        ),
    ] = False,
    reference: Annotated[
        Path | None,
        _file(
            "An earlier, full scan of this head, as images or raw samples. A design that is learnt from it joins "
            "the comparison, or becomes the plan."
        ),
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
        int | None, _number("Which volume of a file that holds several (default: the first, with a note).")
    ] = None,
    series: Annotated[
        int | None,
        _number(
            "Follow this many volumes of a file, one after another. Lines are planned from the volume before, and "
            "used only if simulated scans find them ahead of a fixed design."
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
            help=(
                "Compress raw samples of many coils (--kspace, --reference) to N virtual coils. With auto these "
                "are the fewest that keep 99% of the energy, if there are more than 12 coils; with off all coils "
                "stay (default auto)."
            ),
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
            "How many of the lines are central ones; for points the side of the central block, for shots how many "
            "come first (default: chosen for lines on a slice, else an eighth of all lines, or of each side; a "
            "quarter of the shots)."
        ),
    ] = None,
    exchanges: Annotated[
        int | None,
        _number(
            "Lines of the design to exchange on trial, if it is learnt from the slice itself or from a reference "
            "of it. Exchanges that fresh simulated scans confirm are kept (default 32, with --plan 0)."
        ),
    ] = None,
    snr: Annotated[
        float,
        typer.Option(
            help=(
                "Largest magnitude over the standard deviation of the noise in the real part, which is that in the "
                "imaginary part, too (default 50). The largest is the 99.8 percentile: what is brighter is clipped."
            ),
            metavar="X",
            show_default=False,
        ),
    ] = 50.0,
    phase: Annotated[
        str,
        _word(
            "How the phase is found: as a smooth one that the central lines show (central), as the plain angle of "
            "the centre, as in many reconstructions (rough), or it is known (known); default central."
        ),
    ] = "central",
    axis: Annotated[
        int | None,
        _number(
            "Axis of the image along which lines are chosen, 0 or 1 (default 0; of raw samples and a reference as "
            "acquired, where the file says so)."
        ),
    ] = None,
    draws: Annotated[
        int,
        whole_number(
            "Draws of each random design in a comparison, whose means are shown (default 10). It is not for --plan, "
            "which takes a new draw for every scan, nor for --series."
        ),
    ] = 10,
    export: Annotated[
        list[str] | None,
        typer.Option(
            help="Also write the chosen design as csv, npy, bart (mask or trajectory), ismrmrd, text or pulseq (with "
            "--plan: a sequence); may be given several times.",
            metavar="WORD",
            show_default=False,
        ),
    ] = None,
    tr: Annotated[
        float | None, _ms("Repetition time of a Pulseq sequence, ms (default: as short as possible).")
    ] = None,
    te: Annotated[float | None, _ms("Echo time of a Pulseq sequence, ms (default: as short as possible).")] = None,
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
            "A Cartesian Pulseq sequence of your own. With --export pulseq its phase encodes become those of the "
            "plan, and everything else stays."
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

    The command scans a real slice in simulation. Simulated scans choose the rule, the centre and the exponent of the
    design, and say what error to expect. Or it replays raw samples (--kspace): it starts with the central ones, and
    chooses further ones one by one, each where it tells most about the image. The design is compared with simple rules
    of its size; lines are also compared on the neighbouring slice. With --series the command follows a slice through
    the volumes of a file. With --plan it compares nothing, and writes the ordered design for the next scan. It writes
    tables (lines.csv or plan.csv, designs.csv), pictures, summary.json, what --export asks for, and a log from which
    --resume continues a run that was stopped. If you have an image of the head that will be scanned, begin with
    --plan --reference FILE: it takes a fraction of the time.
    """
    options = locals() | {"compress": compressed_to(compress), "export": exports(export or ())}
    options |= main_file(context, options)
    options["fov"] = sides(fov)
    if coils not in (None, "estimate"):
        options["coils"] = Path(str(coils))
    check_numbers(options, jobs)
    check_choices(options)
    check_together(options, stated(context, ("snr", "phase", "compress", "draws")), resume)
    check_extras(options)
    from adaptive.cli.kspace.runs import run_job  # loads what computes

    run_job(Job(context, options, aside=("image_option",)), jobs)
