"""Exchanges of single lines of a tuned design, on the slice that is scanned.

128 x 128, one coil, the slices of six heads. A design is tuned by four simulated scans of the slice
(`designs.kspace.tuned_lines`), then 32 single lines are exchanged on trial and what fresh scans confirm is kept; judged
on scans with another noise and phase, beside the design without exchanges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from designs.kspace import tuned_lines
from designs.kspace.from_images.halving import errors_of
from experiments.kspace.pays.portfolio_runs import DRAWS, JUDGED, JUDGING, TUNING, scans, seed_of
from experiments.kspace.pays.shared import image
from experiments.script import Script, command
from experiments.statistics import standard_error

CELLS = ((50.0, 32), (200.0, 64))
EXCHANGES = 32
QUICK: dict[str, Any] = {"judged": ("small 12", "small 16"), "cells": ((50.0, 12),), "exchanges": 4, "n_scans": 2}


def judged(name: str, snr: float, n_lines: int, exchanges: int, n_scans: int) -> dict[str, np.ndarray]:
    """Return the errors with and without exchanges, and how many were confirmed."""
    picture = image(name)
    told: dict[str, Any] = {"snr": snr, "n_scans": n_scans, "random_state": seed_of(name, TUNING)}
    found = tuned_lines(picture, n_lines, exchanges=exchanges, **told)
    plain, _, said = found.rule.rpartition(", ") if found.fresh is not None else (found.rule, "", "0")
    n = picture.shape[0]
    masks = {"with": np.isin(np.arange(n), found.lines), "without": np.isin(np.arange(n), found.designs[plain])}
    errors = errors_of(scans(name, n, snr, JUDGING, DRAWS if n_scans > 2 else 2), masks)
    mean = {kind: np.array(np.exp(np.mean(np.log(one)))) for kind, one in errors.items()}
    return mean | {"accepted": np.array(int(said.split()[0])), "rule": np.array(plain)}


def run(script: Script) -> None:
    """Exchange, judge."""
    heads, cells = (QUICK["judged"], QUICK["cells"]) if script.quick else (JUDGED, CELLS)
    told = (QUICK["exchanges"], QUICK["n_scans"]) if script.quick else (EXCHANGES, 4)
    found = {
        (*cell, head): script.kept("kspace-exchanges", judged, head, *cell, *told) for cell in cells for head in heads
    }
    rows = [
        (*key, str(one["rule"]), int(one["accepted"]), float(one["without"]), float(one["with"] / one["without"]))
        for key, one in found.items()
    ]
    columns = ("snr", "lines", "slice", "tuned", "exchanged", "error_without", "ratio")
    script.table(
        dict(zip(columns, zip(*rows, strict=True), strict=True)),
        "kspace-exchanges",
        f"Errors of MAP magnitudes as shares of the image's length. {(__doc__ or '').strip().split(chr(10) * 2)[1]}",
    )
    ratios = {cell: np.array([float(found[(*cell, h)]["with"] / found[(*cell, h)]["without"]) for h in heads])
              for cell in cells}  # fmt: skip
    script.judge(
        "ours-tuned-lines-exchanged",
        all(one.mean() < 1 and one.max() <= 1.02 for one in ratios.values()),
        claim=f"Exchanges of single lines that fresh simulated scans of the slice confirm lower the error of its next "
        f"scan, and are nowhere behind. {len(heads)} heads, {DRAWS} scans of each, on the slice itself.",
        target="mean ratio below 1 in both cells, on no slice above 1.02",
        value={
            f"SNR {snr:g}, {n} lines": {
                "mean": round(float(one.mean()), 3), "standard error": round(float(standard_error(one[:, None])[0]), 3),
                "largest": round(float(one.max()), 3), "confirmed on": int((one != 1).sum()),
            }
            for (snr, n), one in ratios.items()
        },
        reason="A unit is a head.",
    )  # fmt: skip


if __name__ == "__main__":
    command(run, __doc__, __file__)
