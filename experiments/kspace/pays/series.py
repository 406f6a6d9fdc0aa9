"""A dynamic series: each volume's lines planned from the volume before, against lines that stay.

nibabel's functional scan, its middle slice (17 x 21 pixels, padded to 24 x 24) at 20 times; half of the lines, 6 of
them central, SNR 100, a phase of its own for the series and noise of its own for every volume, the phase estimated. The
first volume is measured whole. Reconstructed with the volume before as reference, or without. Portfolio: the rule, the
centre and the exponent that simulated scans of the first volume choose, once for all; offered: before every volume the
lines that simulated scans of the one before choose among these rules and those planned from it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import ImageReconstructor
from adaptive.images import SimulatedScan, l2_error, paired_interval, polynomial_phase, simulate_scan
from designs.kspace import (
    half_plane_quantiles,
    lines,
    one_sided_low_pass,
    reference_lines,
    tuned_lines,
    variable_density,
)
from experiments.script import Script, command

SIDE, N_LINES, N_CENTRAL, SNR, SCALE = 24, 12, 6, 100.0, 0.1
FIXED = ("one-sided low-pass", "half-plane quantiles", "variable density")
TUNED = {"snr": SNR, "n_scans": 2, "random_state": 0}


def volumes(n: int) -> list[np.ndarray]:
    """Return the slice at the first ``n`` times."""
    import nibabel
    from nibabel.testing import data_path

    whole = np.asarray(nibabel.load(f"{data_path}/functional.nii").dataobj, float)[:, :, 1, :n]
    found = np.pad(whole, ((3, 4), (1, 2), (0, 0))) / whole.max()
    return [found[..., k] for k in range(n)]


def image_from(scan: SimulatedScan, design: np.ndarray, before: np.ndarray | None) -> np.ndarray:
    """Return the MAP image."""
    scales = {"wavelet": 2 * SCALE, "tv": SCALE, "imaginary": SCALE / 10}
    settings: dict[str, Any] = {"check": False, "max_iter": 40, "tol": 2e-3}
    model = ImageReconstructor(scan.image.shape, prior_scales=scales, reference=before, **settings)
    block = lines(scan.image.shape).take(np.sort(design))
    return model.reconstruct(block, scan.measure(block))


def errors(n: int) -> dict[str, np.ndarray]:
    """Return the errors of every volume after the first."""
    every, phase = volumes(n), polynomial_phase((SIDE, SIDE), largest=np.pi / 2, random_state=0)
    scans = [simulate_scan(one * np.exp(1j * phase), snr=SNR, random_state=k) for k, one in enumerate(every)]
    before, phase_seen = np.abs(scans[0].acquired), np.angle(scans[0].acquired)  # measured whole
    designs = {
        FIXED[0]: one_sided_low_pass(SIDE, N_LINES, N_CENTRAL),
        FIXED[1]: half_plane_quantiles(SIDE, N_LINES, N_CENTRAL),
        FIXED[2]: variable_density(SIDE, N_LINES, N_CENTRAL, random_state=0),
        "first volume": reference_lines(before, N_LINES, N_CENTRAL, contrasts=False, motion=(0, 0), n_variants=2),
        "portfolio": tuned_lines(scans[0].acquired, N_LINES, phase="reference", **TUNED).lines,
    }
    every_one = (*designs, "before", "offered")
    found: dict[str, list[float]] = {f"{k}{more}": [] for k in every_one for more in ("", ", reference")}
    taken = 0
    for scan in scans[1:]:
        known = {"contrasts": False, "motion": (0, 0), "n_variants": 2}
        designs["before"] = reference_lines(before, N_LINES, N_CENTRAL, **known)
        own = {name: designs[name] for name in ("before", "portfolio", "first volume")}
        offered = tuned_lines(before * np.exp(1j * phase_seen), N_LINES, phase="reference", extra=own, **TUNED)
        designs["offered"], taken = offered.lines, taken + (offered.rule == "before")
        shown = {}
        for name, design in designs.items():
            for more, reference in (("", None), (", reference", before)):
                shown[name + more] = image_from(scan, design, reference)
                found[name + more].append(l2_error(scan.image, shown[name + more]))
        before = shown["before, reference"]
    return {name: np.array(one) for name, one in found.items()} | {"taken": np.array(taken)}


def run(script: Script) -> None:
    """Follow the series, judge."""
    found = dict(script.kept("kspace-pays-series", errors, 2 if script.quick else 20))
    taken = int(found.pop("taken"))
    means = {name: round(float(np.mean(one)), 4) for name, one in found.items()}
    script.table(
        {"volume": list(range(1, 1 + len(found["before"])))} | {k: v.tolist() for k, v in found.items()},
        "kspace-pays-series",
        f"Errors of MAP. {(__doc__ or '').strip().split(chr(10) * 2)[1]}",
    )
    if script.quick:
        return
    for id, more, what in (("series", "", "without it"), ("series-reference", ", reference", "with it")):
        best = min((f"{name}{more}" for name in (*FIXED, "first volume", "portfolio")), key=means.__getitem__)
        limits = [round(float(x), 3) for x in paired_interval(found[f"before{more}"], found[best])[:3]]
        script.judge(
            f"ours-kspace-pays-{id}",
            limits[0] < 1 and limits[2] < 1,
            claim="In a dynamic series, lines planned from the volume before beat the best fixed design, with images "
            f"reconstructed {what} as prior knowledge.",
            target="mean ratio below 1 with 95% limits over volumes",
            value={"ratio": limits, "the best fixed design": best, "mean errors": means},
            reason="One small slice (17 x 21) of one head at 19 times, which are not independent.",
        )
        ahead = [round(float(x), 3) for x in paired_interval(found[f"offered{more}"], found[best])[:3]]
        script.judge(
            f"ours-kspace-pays-{id}-offered",
            ahead[0] <= 1.02,
            claim="In a dynamic series, lines that are used only where simulated scans of the volume before find "
            f"them ahead of the rules are not behind the best fixed design, with images reconstructed {what} as prior "
            "knowledge.",
            target="mean ratio at most 1.02",
            value={"ratio": ahead, "the best fixed design": best, "planned from the volume before": taken},
            reason="One small slice (17 x 21) of one head at 19 times, which are not independent.",
        )


if __name__ == "__main__":
    command(run, __doc__, __file__)
