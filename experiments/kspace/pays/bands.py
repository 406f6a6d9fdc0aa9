"""Bands of pixels whose energy lies where the object is: how often 90% bands hold the truth inside the head.

64 x 64, 8 central lines, 16 or 24 lines of three rules, SNR 50 and 200, scales learnt by evidence, phase estimated.
The share of the energy was chosen on five slices of four heads (chris, admm, ch2, norm; means .89 to .95); these five
heads were not looked at before. A pixel is covered where |image_ - truth| <= 1.645 image_std_.
"""

from __future__ import annotations

import numpy as np

from adaptive import ImageReconstructor
from adaptive.images import simulate_scan
from designs.kspace import half_plane_quantiles, lines, one_sided_low_pass, variable_density
from experiments.kspace.pays.points import plane
from experiments.script import Script, command
from experiments.statistics import half_width

CHOSEN_ON = ("chris_t1 axial 90", "chris_t1 sagittal 94", "admm 1", "ch2 axial 90", "norm sagittal 110")
HEADS = ("ppnp 1", "FLAIR axial 75", "nibabel 12", "dwi_b0 axial 38", "mni_icbm152_t1_2009a axial 95")
SNRS, COUNTS = (50.0, 200.0), (16, 24)
QUANTILE, LOW, HIGH = 1.6449, 0.85, 0.95


def covered(name: str, side: int, snr: float, n_lines: int) -> dict[str, np.ndarray]:
    """Return by design, with the scaling and without, the share of the head's pixels covered, and their log density."""
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
        pair = (std, std / factor)
        found[kind] = np.array(
            [(apart <= QUANTILE * one)[inside].mean() for one in pair]
            + [(-0.5 * (apart / one) ** 2 - np.log(one) - 0.5 * np.log(2 * np.pi))[inside].mean() for one in pair]
        )
    return found


def run(script: Script) -> None:
    """Cover, judge."""
    side, heads = (16, ("small 12",)) if script.quick else (64, HEADS)
    cells = [(name, snr, n) for name in heads for snr in SNRS for n in (COUNTS if side == 64 else (8,))]
    rows = []
    for name, snr, n in cells:
        found = script.kept("kspace-pays-bands", covered, name, side, snr, n)
        rows += [(name, snr, n, kind, *(round(float(x), 3) for x in one)) for kind, one in found.items()]
    columns = ("head", "snr", "lines", "design", "covered", "covered_unscaled", "log_density", "log_density_unscaled")
    table = dict(zip(columns, zip(*rows, strict=True), strict=True))
    script.table(table, "kspace-pays-bands", (__doc__ or "").strip().replace("\n\n", " "))
    shares, former = np.array(table["covered"]), np.array(table["covered_unscaled"])
    by = {
        column: {
            key: round(float(shares[np.array(table[column]) == key].mean()), 3) for key in dict.fromkeys(table[column])
        }
        for column in ("head", "design")
    }
    gains = np.subtract(table["log_density"], table["log_density_unscaled"])
    gain = np.array([gains[np.array(table["head"]) == head].mean() for head in heads])
    half = float(half_width(gain)) if len(gain) > 1 else np.nan
    within = (shares >= LOW) & (shares <= HIGH)
    value = {
        "mean, least, largest": [round(float(f(shares)), 3) for f in (np.mean, np.min, np.max)],
        "share of cells within": round(float(np.mean(within)), 3),
        "without the scaling": [round(float(f(former)), 3) for f in (np.mean, np.min, np.max)],
        "by design": by["design"],
        "by head": by["head"],
        "log density gained, nats a pixel, over heads": f"{gain.mean():+.3f} +- {half:.3f}",
    }
    script.judge(
        "ours-kspace-pays-bands",
        bool(np.all(within)),
        claim="90% bands of pixels, scaled by the energy of what was not measured, cover 85 to 95% of the pixels of "
        "the head in every cell.",
        target=f"between {LOW} and {HIGH} in every cell",
        value=value,
        reason="Until November 2026 the scaling was by held-out lines; on other heads it gave 0.56 to 0.97, with 19% "
        "of the cells within the target. What is left is that the believed energy is right only to a fifth. With "
        "half of the lines or more, bands are too wide (0.95 and 0.99 on slices that the share was chosen on), as "
        "they are without any scaling.",
    )
    means = np.array(list(by["head"].values()))
    script.judge(
        "ours-bands-kspace-heads",
        bool(np.all((means >= LOW) & (means <= HIGH))),
        claim="90% bands of pixels cover 85 to 95% of a head's pixels on average over designs, lines and noise.",
        target=f"between {LOW} and {HIGH} for every head that the scaling was not chosen on",
        value=by["head"],
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
