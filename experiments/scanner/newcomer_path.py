"""A newcomer's path from a folder of DICOM to an exported plan, timed, and every message on the way and off it.

The FLAIR volume of the data folder (124 x 160 x 140) is written as a folder of DICOM, one file per slice. Then what
somebody types who has read the README: the help, a plan from the folder as ISMRMRD and as text, the plan read back; and
what goes wrong on a first day - a wrong folder, an option forgotten, a slice that is missing, two series in one folder,
raw samples given as an image, another voxel size. Times are CPU seconds in one process, which has loaded the library. A
message counts as read where it is one line, names its option, leaves the folder free, and says what to do or what is
expected.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.cli import run as run_command
from adaptive.images import head_scan
from adaptive.scanner import Geometry, Protocol, Scan, read_scan, write_dicom
from designs.kspace import import_design
from experiments.kspace.pays.shared import data_folder
from experiments.script import Script, command

SECONDS = 120.0  # CPU, from the first command to the exported plan
FILE = "mri-volumes/FLAIR.nii.gz"


def prepared(folder: Path, quick: bool) -> int:
    """Write the folders that the newcomer has; return the number of lines of a plan."""
    scan = read_scan(data_folder() / FILE) if not quick else None
    if scan is None:
        data = np.stack([head_scan()[k].image[::4, ::4] for k in (10, 12, 14)], axis=2)
        scan = Scan(data, "image", geometry=Geometry.from_affine(np.diag([8.0, 8.0, 4.0, 1.0]), data.shape))
    assert scan.geometry is not None
    times = Protocol(echo_time=0.1, repetition_time=9.0, name="flair")
    write_dicom(folder / "head", scan.data, scan.geometry, times)
    few = scan.data[..., scan.data.shape[2] // 2 - 1 : scan.data.shape[2] // 2 + 2]
    affine = scan.geometry.affine
    for name, scale in (("series", 1.0), ("finer", 0.5)):
        write_dicom(folder / name, few, Geometry.from_affine(affine @ np.diag([scale, scale, 1, 1]), few.shape), times)
    files = sorted((folder / "head").iterdir())
    for name in ("gap", "mixed"):
        (folder / name).mkdir()
        for k, one in enumerate(files):
            if name == "mixed" or k != len(files) // 2:
                shutil.copy(one, folder / name)
    for one in (folder / "series").iterdir():
        shutil.copy(one, folder / "mixed" / f"other-{one.name}")
    np.save(folder / "raw.npy", np.fft.fftshift(np.fft.fft2(np.fft.ifftshift(few[..., 0]))).astype(np.complex64))
    (folder / "nothing").mkdir()
    return 8 if quick else 40


def typed(folder: Path, *arguments: str) -> tuple[int, str, str, float]:
    """Return what a command ended with, said, and took: exit code, stdout, stderr, CPU seconds."""
    said, complaint, begun = io.StringIO(), io.StringIO(), time.process_time()
    with contextlib.chdir(folder), redirect_stdout(said), redirect_stderr(complaint):
        code = run_command(["kspace", *arguments])
    return code, said.getvalue(), complaint.getvalue(), time.process_time() - begun


def path_of(lines: int, quick: bool) -> list[tuple[str, ...]]:
    """Return what is typed on the way, in its order; in the quick mode without the help."""
    plan = ("--plan", "--reference", "head", "--lines", str(lines), "--export", "ismrmrd", "--export", "text")
    return (
        [(*plan, "--jobs", "1", "--out", "plan")] if quick else [("--help",), (*plan, "--jobs", "1", "--out", "plan")]
    )


MISTAKES = {  # what is typed, and words that the sentence has to hold
    "no such folder": (("--plan", "--reference", "haed"), ("--reference", "haed")),
    "an empty folder": (("--plan", "--reference", "nothing"), ("--reference", "DICOM")),
    "a slice is missing": (("--plan", "--reference", "gap"), ("--reference", "lacks a slice")),
    "two series in one folder": (("--plan", "--reference", "mixed"), ("--reference", "series")),
    "raw samples as an image": (("--image", "raw.npy"), ("--image", "--kspace")),
    "an image as raw samples": (("--kspace", "head"), ("--kspace", "--image")),
    "another voxel size": (("--image", "series", "--reference", "finer"), ("--reference", "voxel size")),
    "fewer lines than central ones": (("--plan", "--reference", "series", "--lines", "2"), ("--reference", "at least")),
    "more lines than there are": (("--plan", "--reference", "series", "--lines", "400"), ("--lines", "at most")),
    "a folder without its option": (("--plan", "head"), ("options",)),
    "no word of a plan": (("--reference", "series"), ("--reference", "--plan")),
    "an unknown format": (("--plan", "--reference", "head", "--export", "ismrm"), ("--export", "ismrmrd")),
    "no such slice": (("--plan", "--reference", "head", "--slice", "900"), ("--reference", "900")),
}


def run(script: Script) -> None:
    """Walk the path, and off it."""
    with tempfile.TemporaryDirectory() as one:
        folder = Path(one)
        lines = prepared(folder, script.quick)
        steps, seconds = [], 0.0
        for arguments in path_of(lines, script.quick):
            code, said, complaint, took = typed(folder, *arguments)
            if code:
                raise RuntimeError(f"{arguments}: {complaint}")
            seconds += took
            steps.append({"typed": " ".join(arguments), "ended": code, "seconds": round(took, 1), "said": _flat(said)})
        plan = import_design(folder / "plan/plan.h5")
        written = read_scan(folder / "plan/plan.h5").geometry
        before = read_scan(folder / "head").slice("axial").geometry
        assert before is not None
        kept = written is not None and np.allclose(written.affine, before.affine, atol=1e-3)
        whole = len(plan) == lines and (folder / "plan/plan.txt").is_file()
        unclear = []
        chosen = list(MISTAKES.items())[:: 5 if script.quick else 1]
        for name, (arguments, words) in chosen:
            code, _, complaint, took = typed(folder, *arguments, "--out", "wrong")
            steps.append(
                {"typed": " ".join(arguments), "ended": code, "seconds": round(took, 1), "said": _flat(complaint)}
            )
            clear = code == 2 and complaint.count("\n") == 1 and all(word in complaint for word in words)
            if not clear or (folder / "wrong/settings.json").exists():
                unclear.append(name)
    script.table({name: [step[name] for step in steps] for name in steps[0]}, "scanner-newcomer", _said())
    value: dict[str, Any] = {
        "commands from the folder to the plan": 1,
        "CPU seconds, the help included": round(seconds, 1),
        "plan read back, place in the patient kept": [bool(whole), bool(kept)],
        "mistakes tried": len(chosen),
        "not one clear line": unclear,
    }
    script.judge(
        "ours-scanner-newcomer",
        bool(whole and kept and not unclear and seconds <= SECONDS),
        claim="A newcomer comes from a folder of DICOM to an exported plan by one command, and whatever goes wrong on "
        "the way ends in one line that names its option.",
        target=f"one command, at most {SECONDS:g} CPU seconds, the place in the patient kept, every mistake one line",
        value=value,
        reason="A script followed the project's own path; no person outside the project was timed."
        + (f" Not clear: {', '.join(unclear)}." if unclear else ""),
    )


def _said() -> str:
    return " ".join((__doc__ or "").strip().split("\n\n")[1].split())


def _flat(text: str) -> str:
    return " ".join(text.split())[:400]


if __name__ == "__main__":
    command(run, __doc__, __file__)
