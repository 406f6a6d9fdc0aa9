"""Bands of pixels scaled by held-out lines: how often 90% bands hold the truth inside the head.

64 x 64, 8 central lines, 16 or 24 lines of three rules, SNR 50 and 200, scales learnt by evidence, phase estimated;
three heads on which the scaling was not developed. A pixel is covered where |image_ - truth| <= 1.645 image_std_.
"""

from __future__ import annotations

import numpy as np

from adaptive import ImageReconstructor
from adaptive.images import simulate_scan
from designs.kspace import half_plane_quantiles, lines, one_sided_low_pass, variable_density
from experiments.kspace.pays.points import plane
from experiments.script import Script, command

HEADS = ("ppnp 1", "norm axial 120", "FLAIR axial 75")
SNRS, COUNTS = (50.0, 200.0), (16, 24)
QUANTILE, LOW, HIGH = 1.6449, 0.85, 0.95


def covered(name: str, side: int, snr: float, n_lines: int) -> dict[str, np.ndarray]:
    """Return by design the share of the head's pixels that the bands cover, and what it is without the scaling."""
    truth, centre = plane(name, side), side // 8
    scan = simulate_scan(truth, snr=snr, random_state=1)
    designs = {
        "half-plane quantiles": half_plane_quantiles(side, n_lines, centre),
        "variable density": variable_density(side, n_lines, centre, random_state=0),
        "one-sided low-pass": one_sided_low_pass(side, n_lines, centre),
    }
    found = {}
    for kind, design in designs.items():
        block = lines(truth.shape).take(np.sort(design))
        model = ImageReconstructor(truth.shape, check=False).fit(block, scan.measure(block))
        apart, std = np.abs(model.image_ - truth), model.image_std_
        inside, factor = truth > 0.05, model.belief_.reconstruction.band_factor
        found[kind] = np.array([(apart <= QUANTILE * one)[inside].mean() for one in (std, std / factor)])
    return found


def run(script: Script) -> None:
    """Cover, judge."""
    side, heads = (16, ("small 12",)) if script.quick else (64, HEADS)
    cells = [(name, snr, n) for name in heads for snr in SNRS for n in (COUNTS if side == 64 else (8,))]
    rows = []
    for name, snr, n in cells:
        found = script.kept("kspace-pays-bands", covered, name, side, snr, n)
        rows += [(name, snr, n, kind, *(round(float(x), 3) for x in one)) for kind, one in found.items()]
    columns = ("head", "snr", "lines", "design", "covered", "covered_unscaled")
    table = dict(zip(columns, zip(*rows, strict=True), strict=True))
    script.table(table, "kspace-pays-bands", (__doc__ or "").strip().replace("\n\n", " "))
    shares, former = np.array(table["covered"]), np.array(table["covered_unscaled"])
    by_design = {kind: round(float(np.mean([r[4] for r in rows if r[3] == kind])), 3) for kind in {r[3] for r in rows}}
    script.judge(
        "ours-kspace-pays-bands",
        bool(np.all((shares >= LOW) & (shares <= HIGH))),
        claim="90% bands of pixels, scaled by held-out lines, cover 85 to 95% of the pixels of the head in every cell.",
        target=f"between {LOW} and {HIGH} in every cell",
        value={
            "mean, least, largest": [round(float(f(shares)), 3) for f in (np.mean, np.min, np.max)],
            "share of cells within": round(float(np.mean((shares >= LOW) & (shares <= HIGH))), 3),
            "without the scaling": [round(float(f(former)), 3) for f in (np.mean, np.min, np.max)],
            "by design": dict(sorted(by_design.items())),
        },
        reason="Held-out lines lie among measured ones: of one-sided low-pass designs they say nothing of what lies "
        "beyond. Factors are at least one. On the three heads on which the scaling was developed (chris, nibabel, "
        "admm) cells are between .84 and .98; holding out the outermost lines, too, was tried there and was no nearer.",
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
