"""Exports of a plan (``--export``) in the formats of sequences, simulators and reconstructions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive.cli.errors import CommandError
from adaptive.cli.kspace.values import ENDINGS
from adaptive.scanner import exchange_encodes, write_pulseq
from adaptive.scanner.pulseq.hardware import read_hardware
from adaptive.scanner.pulseq.plans import check_exchange
from designs.kspace import PhaseEncodePool, export_design

if TYPE_CHECKING:
    from adaptive.cli.job import Job

__all__ = ["check_sequence", "unplaced", "write_exports"]


def unplaced(names: Sequence[str], geometry: Any, view: Any = None) -> str:
    """Remark on an export that states a place in the patient, where none is known."""
    if geometry is not None or "ismrmrd" not in names:
        return ""
    if view is not None:
        return "Nothing says how it lies in the patient: the orientation of plan.h5 is zero, to be filled in."
    return (
        "Nothing says how it lies in the patient: field of view and orientation of plan.h5 are zero, to be filled in."
    )


def write_exports(
    plan: Any, job: Job, names: Sequence[str], geometry: Any = None, protocol: Any = None, n_readout: int = 1,
    view: Any = None, told: str = "",
) -> None:  # fmt: skip
    """Write plan.csv, and the plan in every other format.

    Points of a plane are written as phase encodes of a volume with ``n_readout`` samples along its read-out, axis 0.
    ``told``: more for the text for people.
    """
    if isinstance(plan, PhaseEncodePool) and plan.readout is None:
        plan = PhaseEncodePool((n_readout, *plan.image_shape), plan.encodes, 0)
        if geometry is not None:  # of one slice: where the volume begins is not known
            view, geometry = tuple(geometry.field_of_view.tolist()), None
        view = None if view is None else (view[2] * n_readout, view[0], view[1])
    for name in dict.fromkeys(("csv", *names)):
        path = job.result(f"plan{ENDINGS[name]}")
        try:
            if name == "pulseq":
                _write_sequence(plan, path, job.settings, geometry, view)
                continue
            export_design(plan, path, geometry=geometry, protocol=protocol, field_of_view=view)
        except (ValueError, ImportError) as error:
            raise CommandError(f"--export {name}: {error}") from None
        if name == "text" and told:
            path.write_text(f"{path.read_text(encoding='utf-8')}\n{told}\n", encoding="utf-8")
        if name == "bart":
            job.result("plan.hdr")
        if path.with_name(f"{path.name}.json").is_file():
            job.result(f"{path.name}.json")


def check_sequence(settings: dict[str, Any], known: Any) -> None:
    """Refuse a sequence that cannot take a plan, or a plan without a field of view, before anything is planned."""
    if "pulseq" not in settings["export"]:
        return
    try:
        stated = settings["fov"] is not None or known.geometry is not None or known.field_of_view is not None
        if settings["sequence"] is not None:
            check_exchange(settings["sequence"], 1 if settings["trajectory"] == "lines" else 2, stated)
        elif not stated:
            raise ValueError("the reference does not say its field of view: give it as --fov 220x220x5, in mm.")
        if settings["system"] is not None:
            read_hardware(settings["system"])
    except ValueError as error:
        raise CommandError(f"--export pulseq: {error}") from None


def _write_sequence(plan: Any, path: Path, settings: dict[str, Any], geometry: Any, view: Any) -> None:
    """Write plan.seq, of our own making or with the read-outs of --sequence."""
    if settings["fov"] is not None:
        geometry, view = None, settings["fov"]
        if isinstance(plan, PhaseEncodePool):  # of the plane's two axes and across: the read-out comes first
            view = [view[2], view[0], view[1]]
    system = None if settings["system"] is None else read_hardware(settings["system"])
    if settings["sequence"] is not None:
        exchange_encodes(path, settings["sequence"], plan, view, geometry=geometry, system=system)
        return
    times = {name: settings[name] for name in ("tr", "te", "flip") if settings[name] is not None}
    write_pulseq(path, plan, view, geometry=geometry, system=system, **times)
