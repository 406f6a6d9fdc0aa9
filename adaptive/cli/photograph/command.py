"""``adaptive photograph``: a picture measured through filters, each chosen by what those before it left open."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from adaptive.cli import progress
from adaptive.cli.errors import CommandError
from adaptive.cli.job import Job
from adaptive.cli.options import DryRun, Format, Resume, out_folder, require_at_least, whole_number

if TYPE_CHECKING:
    from adaptive.cli.photograph.comparison import Run

__all__ = ["photograph"]

SIZES = (16, 32, 64)
PATCH = 4  # pixels on a side
LEAST = 11  # measurements: ten random filters, then the first designed one


def photograph(
    context: typer.Context,
    image: Annotated[
        Path | None,
        typer.Argument(
            help="A picture: PNG, JPEG, .npy, ... (default: a photograph that PyWavelets ships).",
            metavar="IMAGE",
            show_default=False,
        ),
    ] = None,
    size: Annotated[int, whole_number("Pixels per side of its middle square: 16, 32 or 64 (default 32).")] = 32,
    measurements: Annotated[int, whole_number("How many filters are shown (default 200).")] = 200,
    seed: Annotated[int, whole_number("Seed of the noise and of the first, random filters (default 0).")] = 0,
    out: Annotated[Path, out_folder("adaptive-photograph-run")] = Path("adaptive-photograph-run"),
    pictures: Format = "png",
    resume: Resume = False,
    dry_run: DryRun = False,
) -> None:
    """See how well a single-pixel camera sees your picture with filters that are chosen one after another. The command
    simulates a detector that looks at the picture through one filter at a time, with noise. It compares this with three
    designs that are fixed in advance. That takes half a minute at 32 x 32 pixels. It writes photograph.png, errors.csv,
    filters.npy (a row for each measurement, in order), image.npy and image_std.npy, and a log from which --resume
    continues a run that was stopped.
    """
    job = Job(context, locals())
    require_at_least(("seed", seed, 0))
    settings = job.settings
    if settings["size"] not in SIZES:
        raise CommandError(f"--size must be one of 16, 32 and 64, got {settings['size']}.")
    most = settings["size"] ** 2
    if not LEAST <= settings["measurements"] <= most:
        raise CommandError(
            f"--measurements must be between {LEAST} and the number of pixels, {most}, got {settings['measurements']}."
        )
    path = None if settings["image"] is None else Path(settings["image"])
    truth = picture(path, settings["size"])
    job.fix("pixels", hashlib.sha256(truth.tobytes()).hexdigest(), "the pixels")
    title = path.name if path else "camera, of PyWavelets"
    job.understood(f"{title}: its middle square, {truth.shape[0]} x {truth.shape[1]} pixels, grey",
                   f"{settings['measurements']:,} filters are shown, in simulation.")  # fmt: skip
    with job:
        job.doing = "measuring"
        _run(truth, title, job)
        job.then("adaptive photograph IMAGE", "for a picture of your own")


def picture(path: Path | None, size: int) -> np.ndarray:
    """The middle square of a picture (None: one that PyWavelets ships), grey, of so many pixels, in [0, 1]."""
    from adaptive.images import middle_square
    from adaptive.scanner import read_images

    if path is None:
        import pywt.data

        return middle_square(pywt.data.camera().astype(float), size) / 255.0
    try:
        stack = read_images(path)
        whole = np.abs(stack[stack.middle].image)
    except (OSError, ValueError) as problem:
        raise CommandError(str(problem)) from None
    if min(whole.shape) < size:
        raise CommandError(f"{path.name} has {whole.shape[0]} x {whole.shape[1]} pixels, fewer than --size {size}.")
    reduced = middle_square(whole, size)
    if np.ptp(reduced) == 0.0:
        raise CommandError(f"the middle square of {path.name} is of one grey: there is nothing to measure.")
    return reduced


def _run(truth: np.ndarray, title: str, folder: Job) -> None:
    from rich.progress import Progress

    from adaptive.cli.photograph.comparison import BASELINES, DESIGNED, Settings, compare

    wanted = {key: folder.settings[key] for key in ("size", "measurements", "seed")}
    print(f"{title}: its middle square, {truth.shape[0]} x {truth.shape[1]} pixels, noise simulated")
    shown = sys.stderr.isatty()
    with progress.hushed() if shown else contextlib.nullcontext(), Progress(disable=not shown) as bars:
        tasks = {name: bars.add_task(name, total=1.0) for name in (DESIGNED, *BASELINES)}
        runs = compare(
            truth, Settings(**wanted), folder.log / "filters.jsonl",
            lambda name, share: bars.update(tasks[name], completed=share),
        )  # fmt: skip
    _write(truth, runs, title, folder)
    _print(truth, runs, folder)


def _write(truth: np.ndarray, runs: dict[str, Run], title: str, folder: Job) -> None:
    from adaptive.cli.photograph.comparison import DESIGNED
    from adaptive.cli.photograph.figure import draw

    folder.draw(draw(truth, runs, title), "photograph")
    rows = [
        (name, m, error) for name, run in runs.items() for m, error in zip(run.measurements, run.errors, strict=True)
    ]
    folder.write_csv("errors.csv", dict(zip(("design", "measurements", "error"), zip(*rows, strict=True), strict=True)))
    designed = runs[DESIGNED]
    for name, array in (("filters", designed.rows), ("image", designed.image), ("image_std", designed.std)):
        np.save(folder.result(f"{name}.npy"), array)


def _print(truth: np.ndarray, runs: dict[str, Run], folder: Job) -> None:
    from adaptive.cli import beside
    from adaptive.cli.photograph.comparison import BASELINES, DESIGNED
    from adaptive.images import psnr

    for name, run in runs.items():
        said = BASELINES.get(name, "expectation propagation, three at a time")
        print(f"  {name:20s} error {run.errors[-1]:6.3f}  {psnr(truth, run.image, 1.0):5.1f} dB   ({said})")
    best = min(BASELINES, key=lambda name: runs[name].errors[-1])
    ratio = runs[DESIGNED].errors[-1] / runs[best].errors[-1]
    print(f"chosen filters have {ratio:.2f} times the error of the best other ({best})")
    found = by_patches(truth, runs[DESIGNED].image, runs[best].image, best)
    folder.write_json("beside.json", {"beside the rival": found})
    beside.say(found, advice="choosing does not pay here", how="the picture being known here")


def by_patches(truth: np.ndarray, image: np.ndarray, other: np.ndarray, name: str) -> dict[str, Any] | None:
    """Return the square errors of two reconstructions of a picture, beside each other patch by patch.

    Neighbouring pixels are wrong together, so that a patch of 4 x 4 is one unit.
    """
    from adaptive.diagnostics import beside

    of = np.arange(truth.shape[0]) // PATCH
    patches = (of[:, None] * (of[-1] + 1) + of[None]).ravel()
    judges = {"square_error": tuple(((one - truth) ** 2).ravel() for one in (image, other))}
    return beside(judges, name, of="pixels", groups=patches)  # type: ignore[arg-type]
