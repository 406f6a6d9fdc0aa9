"""Options of ``adaptive kspace`` that are wrong, or do not go together: said before anything is read or computed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from adaptive.cli.errors import CommandError
from adaptive.cli.kspace.values import ENDINGS, READERS
from adaptive.cli.options import require_at_least

if TYPE_CHECKING:
    import typer

    from adaptive.images import Slice

__all__ = [
    "check_choices",
    "check_extras",
    "check_numbers",
    "check_size",
    "check_sizes",
    "check_together",
    "compressed_to",
    "exports",
    "main_file",
    "sides",
]

LEAST = 4  # central lines of a design, where their number is chosen
RAW = (".h5", ".hdf5", ".cfl")  # endings of raw samples
TRAJECTORIES = ("lines", "points", "spirals", "spokes")


def check_numbers(wanted: dict[str, Any], jobs: int) -> None:
    """Refuse the first number that is too small."""
    require_at_least(
        ("slice", wanted["slice"] or 0, 0),
        ("volume", wanted["volume"] or 0, 0),
        ("series", 2 if wanted["series"] is None else wanted["series"], 2),
        ("initial", 1 if wanted["initial"] is None else wanted["initial"], 1),
        ("exchanges", wanted["exchanges"] or 0, 0),
        ("lines", 2 if wanted["lines"] is None else wanted["lines"], 2),
        ("draws", wanted["draws"], 1),
        ("seed", wanted["seed"], 0),
        ("jobs", jobs, 0),
    )
    if not 0 < wanted["snr"] < float("inf"):
        raise CommandError(f"--snr must be positive, got {wanted['snr']}.")
    if wanted["seed"] >= 2**32 - 1:
        raise CommandError(f"--seed must be below 2^32 - 1, got {wanted['seed']}.")


def check_choices(wanted: dict[str, Any]) -> None:
    """Refuse the first word that is none of those that an option knows."""
    if wanted["phase"] not in READERS:
        raise CommandError(f"--phase must be one of {', '.join(READERS)}, got {wanted['phase']}.")
    if wanted["axis"] not in (None, 0, 1):
        raise CommandError(f"--axis must be 0 or 1, got {wanted['axis']}.")
    if wanted["trajectory"] not in (None, *TRAJECTORIES):
        raise CommandError(f"--trajectory must be one of {', '.join(TRAJECTORIES)}, got {wanted['trajectory']}.")
    if wanted["plane"] is not None:
        from adaptive.scanner.geometry import PLANES

        if wanted["plane"] not in PLANES:
            raise CommandError(f"--plane must be one of {', '.join(sorted(PLANES))}, got {wanted['plane']}.")


def exports(given: Sequence[str]) -> list[str]:
    """The formats that were asked for, each once; refused in one sentence where one is none."""
    names = list(dict.fromkeys(name for one in given for name in one.split(",") if name))
    for name in names:
        if name not in ENDINGS:
            raise CommandError(f"--export must be one of {', '.join(ENDINGS)}, got {name}.")
    return names


def sides(given: str | None) -> list[float] | None:
    """Three lengths in mm out of 220x220x5."""
    if given is None:
        return None
    try:
        found = [float(one) for one in given.lower().split("x")]
    except ValueError:
        found = []
    if len(found) != 3 or min(found) <= 0 or not max(found) < float("inf"):
        raise CommandError(f"--fov must be three lengths in mm, as 220x220x5, got {given}.")
    return found


def main_file(context: typer.Context, wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the image and the raw samples, by whichever name the main file came; the latter by their ending."""
    named, option, kspace = wanted["image"], wanted["image_option"], wanted["kspace"]
    if named is not None and option is not None:
        raise CommandError(f"IMAGE and --image are the same: give one of {named} and {option}.")
    image, name = option if named is None else named, "image"
    if named is not None and kspace is None and not wanted["plan"] and named.suffix.lower() in RAW:
        image, kspace, name = None, named, "kspace"
    source = context.get_parameter_source("image_option" if named is None else "image")
    if source is not None and (image is not None or name == "kspace"):
        context.set_parameter_source(name, source)
    return {"image": image, "kspace": kspace}


def compressed_to(given: str) -> int | str:
    """Number of virtual coils that was asked for: a number, "auto" or "off"."""
    if given in ("auto", "off"):
        return given
    if not (given.isascii() and given.isdigit() and int(given) > 0):
        raise CommandError(f"--compress must be a number of virtual coils of at least 1, auto or off, got {given}.")
    return int(given)


def check_together(wanted: dict[str, Any], given: Sequence[str], resume: bool) -> None:
    """Refuse options that say two things, or nothing beside the others."""
    if resume:  # they have to agree with those of the run
        return
    _check_pulseq(wanted)
    if "draws" in given:
        if wanted["plan"]:
            raise CommandError(
                "--draws is about a comparison: a --plan is set beside a new draw for every scan, leave it out."
            )
        if wanted["series"] is not None:
            raise CommandError(
                "--draws is about a comparison: with --series random designs have one draw, leave it out."
            )
    if wanted["kspace"] is not None:
        if wanted["image"] is not None:
            raise CommandError("--image is scanned in simulation and --kspace replayed: give one of them.")
        if wanted["plan"]:
            raise CommandError("--plan tries nothing: give the raw samples as --reference, not as --kspace.")
        if wanted["trajectory"] in ("spirals", "spokes"):
            raise CommandError(
                f"--trajectory {wanted['trajectory']} cannot be replayed from samples on a grid: use lines or points."
            )
        for name in ("snr", "phase"):
            if name in given:
                raise CommandError(f"--{name} is about a simulation: with --kspace nothing is simulated, leave it out.")
    elif wanted["coils"] is not None and not (wanted["plan"] and wanted["reference"] is not None):
        raise CommandError(
            "--coils is about raw samples of several coils: give them with --kspace, or for a --plan with --reference."
        )
    if "compress" in given and wanted["kspace"] is None and wanted["reference"] is None:
        raise CommandError("--compress is about raw samples of several coils: give them with --kspace or --reference.")
    if wanted["series"] is not None:
        for name in ("kspace", "plan", "reference", "export"):
            if wanted[name]:
                raise CommandError(f"--series scans volumes of an image in simulation: --{name} does not go with it.")
        if wanted["trajectory"] not in (None, "lines"):
            raise CommandError(f"--series is about lines: --trajectory {wanted['trajectory']} does not go with it.")
    if wanted["exchanges"] is not None:
        if wanted["trajectory"] not in (None, "lines") or wanted["kspace"] is not None or wanted["series"] is not None:
            raise CommandError("--exchanges is about lines that are designed for a slice, or planned from a reference.")
        if wanted["plan"] and wanted["reference"] is None:
            raise CommandError("--exchanges needs the same head: with --plan give it as --reference.")
    if wanted["plan"] and wanted["reference"] is not None and wanted["image"] is not None:
        raise CommandError("--plan is made from --reference (the same head) or from --image (other heads), not both.")
    simulated = wanted["kspace"] is None and not wanted["plan"]
    if simulated and wanted["reference"] is not None and wanted["image"] is None:
        raise CommandError(
            "--reference is an earlier scan of a head: plan the next one from it with --plan, or name that one with "
            "--image or --kspace to compare."
        )
    if simulated and wanted["reference"] is not None and wanted["trajectory"] in ("spirals", "spokes"):
        raise CommandError(
            f"--reference has no design of {wanted['trajectory']} to compare; with --plan they are planned from it."
        )


def _check_pulseq(wanted: dict[str, Any]) -> None:
    """Refuse options of a sequence without one, and a sequence without a plan."""
    if "pulseq" in wanted["export"] and not wanted["plan"]:
        raise CommandError("--export pulseq writes the sequence of a --plan.")
    for name in ("tr", "te", "flip", "fov", "system", "sequence"):
        if wanted[name] is not None and "pulseq" not in wanted["export"]:
            raise CommandError(f"--{name} is about a Pulseq sequence: ask for it with --export pulseq.")
    for name in ("tr", "te", "flip"):
        if wanted[name] is not None and not 0 < wanted[name] < float("inf"):
            raise CommandError(f"--{name} must be positive, got {wanted[name]}.")
        if wanted[name] is not None and wanted["sequence"] is not None:
            raise CommandError(f"--{name} is that of --sequence, in which only phase encodes change: leave it out.")
    if wanted["sequence"] is not None and wanted["trajectory"] in ("spirals", "spokes"):
        raise CommandError(f"--sequence keeps its read-outs: --trajectory {wanted['trajectory']} cannot go into it.")
    for name in ("system", "sequence"):
        if wanted[name] is not None and not wanted[name].is_file():
            raise CommandError(f"--{name}: there is no file {wanted[name]}.")


def check_extras(wanted: dict[str, Any]) -> None:
    """Say what is not installed before anything is computed."""
    needed = [] if wanted["plan"] else [("skimage", "scikit-image", "")]
    if wanted["image"] is None and wanted["kspace"] is None and not (wanted["plan"] and wanted["reference"]):
        needed.append(("nibabel", "nibabel", " for its default image"))
    if "ismrmrd" in wanted["export"]:
        needed.append(("ismrmrd", "ismrmrd", " for --export ismrmrd"))
    if "pulseq" in wanted["export"]:
        needed.append(("pypulseq", "pypulseq", " for --export pulseq"))
    for module, package, what in needed:
        if find_spec(module) is None:
            extra = "pulseq" if module == "pypulseq" else "mri"
            raise CommandError(f"adaptive kspace needs {package}{what}: pip install 'adaptive-designs[{extra}]'.")


def check_size(n: int, first: int, there: int, kind: str) -> None:
    """Refuse what is not between the centre and everything."""
    if not first < n <= there:
        raise CommandError(
            f"--lines counts the first {first} {kind} too, and there are {there}: it must be more than {first} and at "
            f"most {there}, got {n}."
        )


def check_sizes(scanned: Slice, settings: dict[str, Any]) -> None:
    """Refuse more lines than there are, or no further one than the central ones."""
    if settings["lines"] <= (settings["initial"] or LEAST):
        raise CommandError(
            f"--lines counts the central lines too: it must be more than --initial {settings['initial'] or LEAST}, got "
            f"{settings['lines']}."
        )
    n = scanned.image.shape[settings["axis"]]
    for name in ("initial", "lines"):
        if settings[name] is not None and settings[name] > n:
            raise CommandError(
                f"--{name} {settings[name]} is more than the {n} lines along axis {settings['axis']} of "
                f"{scanned.title}."
            )
