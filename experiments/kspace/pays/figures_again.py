"""Figures 6.8 and 6.9 once more, with the smooth phase and the complex model that designs: errors over the lines.

64 x 64 with 8 central lines, and the figures' own size, 256 x 256 with 32; SNR 100, phase estimated, MAP at one scale
for all. Lines are chosen on one slice (nibabel's 12; at 256 a sagittal one of a whole head) and judged there (6.8) and
on four (three) other heads (6.9), beside the source's designs and their halves of k-space; random ones are means of
three (two) draws.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from adaptive.images import SimulatedScan, paired_interval, simulate_scan
from adaptive.plots import PALETTE
from designs.kspace import comparison_designs
from experiments import runs
from experiments.kspace.pays.points import plane
from experiments.kspace.pays.shared import designed, error, image
from experiments.script import Script, command, panels

HEADS = {  # by side: the slice that designs, then others
    256: ("chris_t1 sagittal 94", "ppnp 1", "norm axial 120", "ch2 sagittal 90"),
    64: ("nibabel 12", "admm 1", "ppnp 1", "norm axial 120", "FLAIR axial 75"),
    16: ("nibabel 12", "admm 1"),
}
SNR, HOW = 100.0, ("pixel", 0.1)
DRAWS = {256: 2, 64: 3, 16: 1}
COUNTS = {256: (64, 96, 128), 64: (16, 20, 24, 32, 40), 16: (6, 8)}
RULES = ("low_pass", "equispaced", "variable_density", "half_plane_variable_density", "one_sided_low_pass")
SOURCE = RULES[:3]  # those of the source


def scan(name: str, side: int) -> SimulatedScan:
    """Return a scan of a small image."""
    shown = image(name, side) if side > 128 else plane(name, side)
    return simulate_scan(shown, snr=SNR, random_state=sum(map(ord, name)))


def centre_of(side: int) -> int:
    """Return the number of central lines."""
    return max(4, side // 8)


def chosen(side: int) -> dict[str, np.ndarray]:
    """Return the lines chosen on the first head, in order."""
    return {"lines": designed(scan(HEADS[side][0], side), COUNTS[side][-1], centre_of(side))}


@cache
def lines_of(side: int) -> np.ndarray:
    """Return the same, kept."""
    return (chosen(side) if side == 16 else runs.kept("kspace-pays-again-lines", chosen, side))["lines"]


def errors(name: str, side: int) -> dict[str, np.ndarray]:
    """Return the errors by design over the numbers of lines."""
    acquired, centre, lines = scan(name, side), centre_of(side), lines_of(side)
    found: dict[str, list[float]] = {kind: [] for kind in ("designed", *RULES)}
    for n in COUNTS[side]:
        rules = comparison_designs(side, n, centre, n_draws=DRAWS[side], random_state=0)
        found["designed"].append(error(acquired, lines[:n], HOW))
        for rule in RULES:
            found[rule].append(float(np.mean([error(acquired, one, HOW) for one in rules[rule]])))
    return {kind: np.array(one) for kind, one in found.items()}


def run(script: Script) -> None:
    """Choose, compare, draw, judge."""
    for side in (16,) if script.quick else (64, 256):
        found = {name: script.kept("kspace-pays-again", errors, name, side) for name in HEADS[side]}
        more = "-256" if side == 256 else ""
        show(script, found, side, f"kspace-pays-again{more}")
        if not script.quick:
            judge(script, found, side, more)


def show(script: Script, found: dict[str, dict[str, np.ndarray]], side: int, name: str) -> None:
    """Tabulate and draw."""
    counts, heads = COUNTS[side], HEADS[side]
    rows = [(head, n, *(float(one[k][j]) for k in one)) for head, one in found.items() for j, n in enumerate(counts)]
    what = (__doc__ or "").strip().split(chr(10) * 2)[1]
    columns = ("head", "lines", "designed", *RULES)
    script.table(
        dict(zip(columns, zip(*rows, strict=True), strict=True)), name, f"{side} x {side}: errors of MAP. {what}"
    )
    figure, axes = panels(1, 2, 9.0, 3.4)
    own, others = [found[heads[0]]], [found[head] for head in heads[1:]]
    for ax, title, each in ((axes[0, 0], "the slice itself", own), (axes[0, 1], "other heads", others)):
        for k, kind in enumerate(("designed", *RULES)):
            means = np.mean([one[kind] for one in each], axis=0)
            ax.plot(counts, means, "o-", color=PALETTE[k], label=kind.replace("_", " "), markersize=3)
        ax.set(xlabel="lines", ylabel="error of MAP", title=title, yscale="log")
    axes[0, 0].legend(frameon=False, fontsize=6)
    script.figure(figure, name, f"{side} x {side}. {' '.join((__doc__ or '').split())}")


def judge(script: Script, found: dict[str, dict[str, np.ndarray]], side: int, more: str) -> None:
    """Record the verdicts of one size."""
    counts, own = COUNTS[side], found[HEADS[side][0]]
    others = [found[head] for head in HEADS[side][1:]]
    ratios = {rule: np.round(own["designed"] / own[rule], 3).tolist() for rule in RULES}
    script.judge(
        f"ours-kspace-pays-figure-6-8{more}",
        all(max(ratios[rule]) < 1 for rule in SOURCE),
        claim="Figure 6.8 again: on the slice itself chosen lines have less error than low-pass, equispaced and "
        f"variable density designs at every number of lines ({counts} of {side}).",
        target="ratio of errors below 1 for each, at each",
        value=ratios,
        reason="One slice, one scan; the designs of half of k-space beside them are ours.",
    )
    limits = {rule: [_limits(others, rule, j) for j in range(len(counts))] for rule in RULES}
    script.judge(
        f"ours-kspace-pays-figure-6-9{more}",
        all(one[0] < 1 for rule in SOURCE for one in limits[rule]),
        claim=f"Figure 6.9 again: on {len(others)} other heads the same lines have less error than low-pass, "
        f"equispaced and variable density designs at every number of lines ({counts} of {side}).",
        target="mean ratio below 1 for each, at each",
        value=limits,
        reason="Mean ratios with 95% limits over heads, one scan each; the designs of half of k-space beside them are "
        "ours.",
    )


def _limits(found: list[dict[str, np.ndarray]], rule: str, j: int) -> list[float]:
    """Return the ratio of the mean errors over heads with its limits."""
    values, base = (np.array([one[kind][j] for one in found]) for kind in ("designed", rule))
    return [round(float(x), 3) for x in paired_interval(values, base)[:3]]


if __name__ == "__main__":
    command(run, __doc__, __file__)
