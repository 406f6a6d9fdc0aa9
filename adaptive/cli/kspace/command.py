"""``adaptive kspace``: which lines of k-space should a scanner measure to see this slice?

The central lines are given; every further one is chosen in the light of those measured before. The design is then
compared with designs that look at no data, on the slice that chose it and on the slice beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from adaptive.cli.errors import CommandError
from adaptive.cli.options import Format, Jobs, Resume, out_folder, require_at_least, stated, whole_number
from adaptive.cli.run_folder import RunFolder

if TYPE_CHECKING:
    from adaptive.cli.kspace.subject import Subject

__all__ = ["kspace"]


def kspace(
    context: typer.Context,
    image: Annotated[
        Path | None,
        typer.Option(
            help="NIfTI or other volume, .npy or .npz array, PNG or other picture (default: the head scan that nibabel "
            "ships).",
            metavar="FILE",
        ),
    ] = None,
    slice: Annotated[
        int | None, typer.Option(help="Slice of the volume or stack, from 0 (default: the middle one).", metavar="N")
    ] = None,
    lines: Annotated[int, whole_number("Lines to measure in all, the central ones included (default 40).")] = 40,
    initial: Annotated[
        int | None,
        typer.Option(
            help="How many of them are the central ones (default: an eighth of those of the image).",
            metavar="N",
            show_default=False,
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
        typer.Option(
            help="What is known of the phase: what the central lines show (central), or all of it (known); default "
            "central.",
            metavar="WORD",
            show_default=False,
        ),
    ] = "central",
    reference: Annotated[
        Path | None,
        typer.Option(
            help="An earlier, full scan of the same head, in any format of --image: lines from it are compared, too.",
            metavar="FILE",
        ),
    ] = None,
    axis: Annotated[int, whole_number("Axis of the image along which lines are chosen, 0 or 1 (default 0).")] = 0,
    draws: Annotated[int, whole_number("Draws of every random design, of which means are shown (default 10).")] = 10,
    seed: Annotated[int, whole_number("Seed of the simulated scan and of all random choices (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-kspace-run")] = Path("adaptive-kspace-run"),
    pictures: Format = "png",
    resume: Resume = False,
    jobs: Jobs = 0,
) -> None:
    """Which lines of k-space should a scanner measure to see this slice?

    Simulates a scan of a real slice: the central lines are given, further lines are chosen one by one, each where it
    tells most about the image. The design is compared with seven others of the same size, on this slice and on the one
    beside it. Writes lines.csv (the lines in the order chosen), designs.csv (error, PSNR and SSIM of all designs),
    lines_of_designs.csv (theirs), design.png, summary.json, and a log from which --resume continues a run that was
    stopped.
    """
    wanted: dict[str, Any] = {
        "image": None if image is None else str(image.expanduser().resolve()),
        "slice": slice,
        "lines": lines,
        "initial": initial,
        "snr": snr,
        "phase": phase,
        "reference": None if reference is None else str(reference.expanduser().resolve()),
        "axis": axis,
        "draws": draws,
        "seed": seed,
        "models": "smooth",
    }
    _check_numbers(wanted, jobs)
    _check_extras(image)
    folder = RunFolder(
        out, "kspace", wanted, given=stated(context, wanted), resume=resume, pictures=pictures, former=_former
    )
    from adaptive.cli.kspace.subject import read_subject

    subject = read_subject(folder.settings["image"], folder.settings["slice"])
    if folder.settings["initial"] is None:
        folder.settings["initial"] = max(4, subject.same.image.shape[folder.settings["axis"]] // 8)
    _check_sizes(subject, folder.settings)
    folder.fix("pixels", _fingerprint(subject, folder.settings["models"]), "the pixels of the image")
    with folder:
        from adaptive.cli.kspace.report import write  # from here on it pays to load what computes and draws

        write(_run_all(subject, folder, jobs), subject, folder)


def _former(stored: Mapping[str, Any]) -> dict[str, Any]:
    """What runs of earlier versions went by: they told their models the angle of the central lines."""
    known = {"snr": 50.0, "phase": "central", "reference": None}
    return known | {"models": "complex" if "snr" in stored else "real"}


def _check_numbers(wanted: dict[str, Any], jobs: int) -> None:
    require_at_least(
        ("slice", wanted["slice"] or 0, 0),
        ("initial", 1 if wanted["initial"] is None else wanted["initial"], 1),
        ("lines", wanted["lines"], 2),
        ("draws", wanted["draws"], 1),
        ("seed", wanted["seed"], 0),
        ("jobs", jobs, 0),
    )
    if not 0 < wanted["snr"] < float("inf"):
        raise CommandError(f"--snr must be positive, got {wanted['snr']}.")
    if wanted["phase"] not in ("central", "known"):
        raise CommandError(f"--phase must be central or known, got {wanted['phase']}.")
    if wanted["axis"] not in (0, 1):
        raise CommandError(f"--axis must be 0 or 1, got {wanted['axis']}.")
    if wanted["seed"] >= 2**32 - 1:
        raise CommandError(f"--seed must be below 2^32 - 1, got {wanted['seed']}.")


def _check_extras(image: Path | None) -> None:
    """Say what is not installed before anything is computed."""
    from importlib.util import find_spec

    for module, package in (("skimage", "scikit-image"), ("nibabel", "nibabel")):
        if find_spec(module) is None and (module == "skimage" or image is None):
            what = "" if module == "skimage" else " for its default image"
            raise CommandError(f"adaptive kspace needs {package}{what}: pip install 'adaptive-designs[mri]'.")


def _check_sizes(subject: Subject, settings: dict[str, Any]) -> None:
    if settings["lines"] <= settings["initial"]:
        raise CommandError(
            f"--lines counts the central lines too: it must be more than --initial {settings['initial']}, got "
            f"{settings['lines']}."
        )
    n = subject.same.image.shape[settings["axis"]]
    for name in ("initial", "lines"):
        if settings[name] > n:
            raise CommandError(
                f"--{name} {settings[name]} is more than the {n} lines along axis {settings['axis']} of "
                f"{subject.same.title}."
            )


def _fingerprint(subject: Subject, models: str) -> str:
    digest = hashlib.sha256()
    training = None if models == "real" else subject.training  # which the first version did not look at
    for one in (subject.same, subject.neighbour, training):
        if one is not None:
            digest.update(repr((one.image.dtype.str, one.image.shape)).encode())
            digest.update(np.ascontiguousarray(one.image).tobytes())
    return digest.hexdigest()


def _run_all(subject: Subject, folder: RunFolder, jobs: int) -> list[Any]:
    from adaptive.cli.kspace.line_designs import choose_and_compare, n_chosen, tasks
    from adaptive.cli.workers import spread
    from adaptive.loop import LogError

    settings = folder.settings
    log = folder.log / "lines.jsonl"
    go_on = f"adaptive kspace --out {folder.path} --resume"
    try:
        return spread(
            choose_and_compare, tasks(subject, settings, log), jobs=jobs, title="choosing lines", unit="designs"
        )
    except KeyboardInterrupt:
        raise CommandError(
            f"stopped after {n_chosen(log)} of {settings['lines']} lines; continue with: {go_on}", 130
        ) from None
    except OSError as error:
        raise CommandError(f"{error}; when that is mended, continue with: {go_on}", 1) from None
    except MemoryError as error:
        raise CommandError(f"{subject.same.title} is too large for the memory there is: {error}", 1) from None
    except LogError as error:  # damaged, in use, or of another run
        raise CommandError(str(error)) from error
