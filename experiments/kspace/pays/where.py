"""Where choosing lines pays: ratio of errors to the best simple rule over SNR and share of the lines.

64 x 64, 8 central lines, SNR 30, 100 and 400, 3/16 to 5/8 of the lines (an eighth is the centre itself). Lines are
chosen by information gain under the default model on the slice itself; or on another slice of the head ("unseen
slices") or on a slice of another head ("unseen heads"), a design made once for all. The best simple rule and its
exponent are tuned on that other head's slice at every SNR and number of lines; one reconstruction for all; random
rules have 2 draws.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy import stats

from adaptive.plots import PALETTE
from experiments import runs
from experiments.kspace.pays.shared import RECONSTRUCTIONS, best_rule, designed, error, rule_error, scan
from experiments.script import Script, command, panels

HEADS = {  # and another slice of each, where there is one
    "nibabel 12": "nibabel 14",
    "admm 1": "admm 2",
    "ppnp 1": "",
    "norm axial 120": "norm axial 112",
    "FLAIR axial 75": "FLAIR axial 70",
}
TRAINING = "chris_t1 sagittal 94"
SNRS, COUNTS, DRAWS = (400.0, 100.0, 30.0), (12, 16, 24, 32, 40), 2
TUNED = (1.5, 2.0, 3.0)  # exponents of the rules
HOW = RECONSTRUCTIONS[0]
SIDES = {64: 8, 32: 6}  # central lines
TITLES = {"own": "the slice itself", "slice": "unseen slices", "head": "unseen heads"}


@cache
def chosen(name: str, side: int, snr: float, n_lines: int) -> np.ndarray:
    """Return the lines chosen on a slice, in their order."""
    return designed(scan(name, snr, side=side), n_lines, SIDES[side])


def tuned(training: str, side: int, snr: float, counts: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Return the best rule for every number of lines, and the lines chosen there."""
    acquired, exponents = scan(training, snr, side=side), TUNED if side == 64 else TUNED[:1]
    rules = [best_rule(acquired, n, SIDES[side], False, 1, exponents)[0] for n in counts]
    return {"rules": np.array(rules), "lines": chosen(training, side, snr, counts[-1])}


@cache
def taught(training: str, side: int, snr: float, counts: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Return what `tuned` found, kept."""
    return (runs.kept if side == 64 else _anew)("kspace-pays-where", tuned, training, side, snr, counts)


def _anew(group: str, run: Any, *arguments: Any) -> dict[str, np.ndarray]:
    return run(*arguments)


def judged(
    name: str, other: str, training: str, side: int, snr: float, counts: tuple[int, ...]
) -> dict[str, np.ndarray]:
    """Return the ratios to the rule over the numbers of lines: own slice, other slice (perhaps none), other head."""
    known = taught(training, side, snr, counts)
    found: dict[str, list[float]] = {kind: [] for kind in TITLES}
    scans = [scan(name, snr, side=side) for name in (name, other) if name]
    own = chosen(name, side, snr, counts[-1])
    for n, rule in zip(counts, map(str, known["rules"]), strict=True):
        base = [rule_error(one, rule, 0, n, SIDES[side], DRAWS) for one in scans]
        found["own"].append(error(scans[0], own[:n], HOW) / base[0])
        found["head"].append(error(scans[0], known["lines"][:n], HOW) / base[0])
        found["slice"].append(error(scans[1], own[:n], HOW) / base[1] if len(scans) > 1 else np.nan)
    return {kind: np.array(values) for kind, values in found.items()}


def drawn(table: dict[str, Any], side: int) -> Any:
    """Means over heads with their intervals, by signal to noise."""
    figure, axes = panels(1, 3, 10.0, 3.2)
    snr, lines = np.array(table["snr"]), np.array(table["lines"])
    for ax, (kind, title) in zip(axes[0], TITLES.items(), strict=True):
        ratios = np.array(table[f"ratio_{kind}"])
        for k, one in enumerate(np.unique(snr)[::-1]):
            at = np.unique(lines)
            cells = [ratios[(snr == one) & (lines == n) & np.isfinite(ratios)] for n in at]
            mean = np.array([cell.mean() for cell in cells])
            half = np.array([t_interval(cell) for cell in cells])
            x = at / side + 0.006 * (k - 1)  # beside one another
            ax.errorbar(x, mean, half, fmt="o-", color=PALETTE[k], markersize=3.5, linewidth=1, capsize=2)
        ax.axhline(1, color="black", linewidth=0.8)
        ax.set(xlabel="share of the lines", title=title)
    low, high = (f([axes[0, k].get_ylim() for k in range(3)]) for f in (np.min, np.max))
    for ax in axes[0]:
        ax.set_ylim(low, high)
    axes[0, 0].set_ylabel("error / error of the best rule")
    for k, one in enumerate(np.unique(snr)[::-1]):
        axes[0, 0].text(0.03, 0.2 - 0.08 * k, f"SNR {one:g}", color=PALETTE[k], transform=axes[0, 0].transAxes)
    return figure


def t_interval(values: np.ndarray) -> float:
    """Half of the 95% interval of a mean; nan of one value."""
    n = len(values)
    return float(stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan


def run(script: Script) -> None:
    """Tune, choose, compare, draw."""
    side, snrs, counts = (32, SNRS[:1], (10,)) if script.quick else (64, SNRS, COUNTS)
    heads: Any = {"small 12": "small 10"} if script.quick else HEADS
    rows, means = [], {}
    for snr in snrs:
        told = "small 8" if script.quick else TRAINING, side, snr, counts
        found = [script.kept("kspace-pays-where", judged, one, other, *told) for one, other in heads.items()]
        rules = taught(*told)["rules"].tolist()
        for kind in TITLES:
            means[kind, snr] = np.nanmean([one[kind] for one in found], axis=0)
        for name, one in zip(heads, found, strict=True):
            rows += [(snr, n, rules[k], name, *(float(one[kind][k]) for kind in TITLES)) for k, n in enumerate(counts)]
    what = (__doc__ or "").strip().split(chr(10) * 2)[1]
    columns = ("snr", "lines", "best_rule", "slice", *(f"ratio_{kind}" for kind in TITLES))
    table = dict(zip(columns, zip(*rows, strict=True), strict=True))
    script.table(table, "kspace-pays-where", f"Ratios of errors of MAP. {what}")
    script.figure(
        drawn(table, side),
        "kspace-pays-where",
        "Where choosing lines pays: errors of MAP over those of the best tuned simple rule, means over five heads (of "
        "four for other slices; on two, nibabel and admm, the model that designs was picked) and their 95% intervals. "
        f"{' '.join(what.split())} Simulated: smooth random phases, complex noise; phases are read from the centre.",
    )
    if script.quick:
        return
    pays = {f"SNR {snr:g}": np.round(means["head", snr], 3).tolist() for snr in snrs}
    script.judge(
        "ours-kspace-pays-where",
        bool(all(means["head", 400.0][k] <= 0.95 for k in (3, 4))),
        claim="With half of the lines or more at SNR 400 lines chosen on another head have at most 0.95 of the error "
        "of the best simple rule (64 x 64).",
        target="mean ratio at most 0.95 in these cells",
        value={TITLES["head"]: pays}
        | {TITLES[k]: {f"SNR {s:g}": np.round(means[k, s], 3).tolist() for s in snrs} for k in ("own", "slice")},
        reason=f"Ratios at {counts} of 64 lines, means over five heads, one scan each. With 40 lines the one-sided "
        "low-pass design holds one half of k-space whole, and so does the design of the other head.",
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
