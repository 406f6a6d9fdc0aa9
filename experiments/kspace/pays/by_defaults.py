"""What `adaptive kspace --image` designs by its defaults, over the best of all rules in its own table.

Stacks of three slices of five heads, 128 x 128, SNR 50 and 200, 32 lines; none of the slices chose a default. The first
one teaches and tunes, the others are judged: the second is the one that is named, the third lies beside it. The best
rule is the best on the judged scan, of eleven whose exponents and reconstructions are tuned as the design's: at the
designed centre and at the usual one. Of random rules the mean of 3 draws counts (by default 10 are drawn).
"""

from __future__ import annotations

import contextlib
import csv
import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from adaptive.cli import run as command_line
from adaptive.cli.kspace.line_designs import DESIGNED, GAIN, REFERENCE
from adaptive.images import paired_interval
from experiments.kspace.pays.shared import image
from experiments.script import Script, command

STACKS = {
    "nibabel": ("nibabel 14", "nibabel 16", "nibabel 18"),
    "FLAIR": ("FLAIR axial 79", "FLAIR axial 83", "FLAIR axial 87"),
    "ch2": ("ch2 axial 94", "ch2 axial 98", "ch2 axial 102"),
    "mni": tuple(f"mni_icbm152_t1_2009a coronal {k}" for k in (114, 118, 122)),
    "dwi_b0": ("dwi_b0 axial 40", "dwi_b0 axial 42", "dwi_b0 axial 44"),
    "small": ("small 8", "small 12", "small 16"),  # of the quick mode
}
HEADS, SNRS, DRAWS = tuple(STACKS)[:-1], (50.0, 200.0), 3
BEHIND = 1.02


def tabled(head: str, snr: float, draws: int) -> dict[str, np.ndarray]:
    """Return the errors in the table of the command, designs by slices, and what it designed."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "head.npy", Path(folder) / "run"
        step = 2 if head == "small" else 1
        np.save(file, np.stack([image(name)[::step, ::step] for name in STACKS[head]]))
        words = ["--image", str(file), "--snr", f"{snr:g}", "--draws", str(draws), "--jobs", "1", "--out", str(out)]
        words += ["--initial", "4", "--exchanges", "0"] if head == "small" else []  # not by its defaults, but quick
        with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
            failed = command_line(["kspace", *words])
        if failed:
            raise RuntimeError(f"adaptive kspace {' '.join(words)} failed:\n{said.getvalue()}")
        with (out / "designs.csv").open(newline="") as stored:
            rows = list(csv.DictReader(stored))
    designs = list(dict.fromkeys(row["design"] for row in rows))
    errors = [[float(row["error"]) for row in rows if row["design"] == name] for name in designs]
    told = " ".join(said.getvalue().split())
    return {"designs": np.array(designs), "errors": np.array(errors),
            "design": np.array(told.partition("Design: ")[2].partition(", the least error")[0])}  # fmt: skip


def run(script: Script) -> None:
    """Call the command, judge its table."""
    heads, snrs, draws = (("small",), (50.0,), 1) if script.quick else (HEADS, SNRS, DRAWS)
    rows, ratios = [], {}
    for snr in snrs:
        for head in heads:
            found = script.kept("kspace-by-defaults", tabled, head, snr, draws)
            designs, errors = found["designs"].tolist(), found["errors"]
            own, rules = (
                designs.index(DESIGNED),
                [k for k, n in enumerate(designs) if n not in (DESIGNED, GAIN, REFERENCE)],
            )
            best = errors[rules].argmin(axis=0)
            ratios[snr, head] = errors[own] / errors[rules].min(axis=0)
            rows += [
                (snr, head, where, str(found["design"]), designs[rules[best[k]]], float(errors[own, k]),
                 float(ratios[snr, head][k]), float(errors[designs.index(GAIN), k] / errors[own, k]))
                for k, where in enumerate(("same", "neighbour"))
            ]  # fmt: skip
    columns = ("snr", "head", "judged_on", "designed", "best_rule", "error", "ratio", "information_gain_over_designed")
    script.table(
        dict(zip(columns, zip(*rows, strict=True), strict=True)),
        "kspace-by-defaults",
        f"Errors of MAP magnitudes, Euclidean. {(__doc__ or '').strip().split(chr(10) * 2)[1]}",
    )
    for snr in snrs:
        judge(script, snr, np.array([ratios[snr, head] for head in heads]), heads)


def judge(script: Script, snr: float, ratios: np.ndarray, heads: tuple[str, ...]) -> None:
    """Record a verdict; a head, the mean of its two slices, is a unit."""
    means = ratios.mean(axis=1)
    limits = paired_interval(means, np.ones(len(means)))[:3] if len(means) > 1 else (float(means[0]),) * 3
    above = limits[1] > BEHIND
    value: dict[str, Any] = {
        "mean ratio and limits": [round(float(x), 3) for x in limits],
        "by head": {head: one.round(3).tolist() for head, one in zip(heads, ratios, strict=True)},
        f"slices above {BEHIND}": f"{int((ratios > BEHIND).sum())} of {ratios.size}",
        "largest": round(float(ratios.max()), 3),
    }
    script.judge(
        f"ours-kspace-defaults-{snr:g}",
        bool(limits[2] <= BEHIND) or (False if above else None),
        claim=f"`adaptive kspace --image` by its defaults, unseen slices at SNR {snr:g}: the design is as good as the "
        f"best of all rules in its own table. {len(heads)} heads, two slices of each, one scan of a slice.",
        target="mean over heads of the ratio of errors at most 1.02, 95% limits",
        value=value,
        reason="The best rule is the best of eleven on the judged scan itself, which nobody knows beforehand.",
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
