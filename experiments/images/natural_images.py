"""Figure 5.4 of Nickisch (2010): photographs from few measurements, six panels of ways to measure and reconstruct.

32 x 32 pixels on 25 photographs, and a part of the methods at 64 x 64 on five; the source has 75 of 64 x 64. The noise
variance is 0.005 and known. Numbers of measurements of the source are divided by four at 32 x 32, as the number of
pixels is. Errors are |estimate - photograph|, differences between methods are paired by photograph. `filter_runs` says
what the methods are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from adaptive.plots import PALETTE
from experiments.equivalence import all_of
from experiments.images.shared.filter_orderings import LARGE, PANELS, QUICK, SMALL, Study, better, orderings, paired
from experiments.images.shared.filter_runs import MILESTONES, RATES, cell
from experiments.images.shared.photographs import TUNING, photograph
from experiments.script import Script, command, panels
from experiments.statistics import standard_error

COLOURS = {"EP": PALETTE[1], "L2": PALETTE[6], "L1+TV": PALETTE[0], "L1": PALETTE[5], "BCS": PALETTE[3]}
DASHES = {"free": "-", "wavelet": "-", "uniform": "-", "across": (0, (5, 1.5)), "coefficients": (0, (1, 1)),
          "noiselet": (0, (1, 1)), "coloured": (0, (5, 1.5)), "search": (0, (1, 1))}  # fmt: skip
DASHED = {"BCS free": "-", "BCS uniform": (0, (1, 1)), "EP wavelet": (0, (5, 1.5))}
WORDS = {"free": "free design", "across": "designs of others", "coefficients": "best coefficients",
         "wavelet": "wavelet order", "search": "tree search", "uniform": "random", "noiselet": "noiselets",
         "coloured": "coloured noise", "signs": "signs of free design", "hadamard": "Hadamard patterns"}  # fmt: skip
TOLD = {True: True, False: False, None: "cannot be told"}
WHY = {
    "b": "The rates of L1+TV are tuned here (the source's 0.075 and 0.075 cost it 1 to 13%), and with them coloured "
    "filters are level with the wavelet order at 300 measurements.",
    "e": "L1 rises with the first random filters; with 300 measurements its error is back where it began (+0.06, "
    "standard error 0.06), but not in panel f.",
    "f": "The rates of L1+TV are tuned here, and with them it ends level with L2 (wavelet order), not above; at 200 "
    "measurements the order is clear.",
}
HOPE = {100: 0.85, 200: 0.80, 300: 0.78}  # of EP (free) / L2 (wavelet order)
NEIGHBOURS = {
    "EP": ((0.075, 0.25), (0.075, 1.0), (0.15, 0.5), (0.0375, 0.5)),
    "L1+TV": ((0.075, 0.075), (0.075, 0.15), (0.0375, 0.15), (0.01, 0.15), (0.01, 0.1), (0.02, 0.3)),
}


# -------------------------------------------------------------------------------------------------------------- results
def contact_sheet(script: Script, names: Sequence[str]) -> None:
    """Figure 5.3: the photographs."""
    columns = min(10, len(names))
    rows = -(-len(names) // columns)
    figure, axes = panels(rows, columns, 0.95 * columns, 1.0 * rows)
    for ax in axes.flat:
        ax.axis("off")
    for ax, name in zip(axes.flat, names, strict=False):
        ax.imshow(photograph(name, 64), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    script.figure(
        figure,
        "nickisch-fig-5.3",
        f"The {len(names)} photographs in place of the source's 75: middle squares of Set12, Kodak and BSD68 pictures, "
        "averaged over blocks to 64 x 64 pixels (as here) or 32 x 32, grey values from 0 to 1.",
    )
    script.judge(
        "nickisch-fig-5.3",
        len(names) >= 25,
        claim="A set of small grey photographs for the benchmark of filters.",
        target="at least 25 photographs (the source: 75, of which the originals may not be passed on)",
        value={
            "photographs": len(names),
            "Set12, Kodak, BSD68": [sum(part in name for name in names) for part in ("set12", "kodak", "bsd68")],
        },
        reason="Other photographs than the source's, prepared as its were: grey, averaged over blocks, 64 x 64.",
    )


def title(method: str) -> str:
    """Return what a method is called in figures."""
    reconstruction, design, _ = method.split()
    return f"{reconstruction} ({WORDS[design]})"


def draw(script: Script, study: Study, name: str, caption: str, keys: Sequence[str] = tuple(PANELS)) -> None:
    """Figure 5.4: mean errors and their standard errors, panel by panel."""
    keys = [key for key in keys if len(study.panel(key)) > 1]
    columns = min(3, len(keys))
    figure, axes = panels(-(-len(keys) // columns), columns, 3.9 * columns, 3.5 * -(-len(keys) // columns))
    for ax, key in zip(axes.flat, keys, strict=False):
        shown = []
        for method in study.panel(key):
            runs = study.runs(method)
            reconstruction, design, first = method.split()
            start = study.warm[key == "f"] if key in "ef" else 10
            m = runs[0]["measurements"]  # the same for all
            errors = np.array([run["errors"] for run in runs])[:, m >= start]
            m, mean = m[m >= start], errors.mean(axis=0)
            error = standard_error(errors)
            dash = DASHED.get(f"{reconstruction} {design}", DASHES[design])
            ax.plot(m, mean, color=COLOURS[reconstruction], linestyle=dash, linewidth=1.6, label=title(method))
            ax.fill_between(m, mean - error, mean + error, color=COLOURS[reconstruction], alpha=0.15, linewidth=0)
            shown.append(mean)
        low = min(mean.min() for mean in shown)
        high = np.median([mean[: max(2, len(mean) // 4)].max() for mean in shown])
        high *= 1 + 0.17 * len(shown)  # room for the legend
        ax.set(yscale="log", ylim=(0.9 * low, high), xlabel="measurements")
        ax.set_title(f"{key}) {PANELS[key][0].replace('few', str(study.warm[0])).replace('more', str(study.warm[1]))}",
                     fontsize=10)  # fmt: skip
        ticks = [t for t in (0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12, 16) if 0.9 * low < t < high]
        ax.set_yticks(ticks, [f"{t:g}" for t in ticks])
        ax.minorticks_off()
        ax.legend(frameon=False, fontsize=7.5, loc="upper right")
    for ax in axes.flat[len(keys) :]:
        ax.axis("off")
    for row in axes:
        row[0].set_ylabel("error |estimate - photograph|")
    script.figure(figure, name, caption)


def table(script: Script, study: Study, name: str) -> None:
    """Write the errors at the milestones, and how often each method beats the heuristic."""
    rows = []
    for method in study.methods:
        seconds = float(np.mean([run["seconds"].sum() for run in study.runs(method)]))
        coverage = np.array([run["coverage"] for run in study.runs(method)])
        covered = {int(m): share for m, share in coverage.mean(axis=0)} if coverage.size else {}
        for m in MILESTONES[study.side]:
            if m <= study.last and m >= int(method.split()[2]):
                errors = study.errors(method, m)
                ratio = paired(study, method, "L2 wavelet 0", m) if method != "L2 wavelet 0" else {}
                rows.append((method, m, round(errors.mean(), 4), round(standard_error(errors), 4),
                             ratio.get("ratio of means", 1.0), ratio.get("better on", ""),
                             round(covered[m], 3) if m in covered else "", round(seconds, 2)))  # fmt: skip
    names = ("method", "measurements", "error", "standard_error", "ratio_to_wavelet_order", "better_share",
             "coverage_90", "seconds_per_photograph")  # fmt: skip
    script.table(
        dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)),
        name,
        f"Errors of {len(study.names)} photographs of {study.side} x {study.side} pixels: mean, standard error, ratio "
        "to least squares with the wavelet order, share of photographs on which it is better, share of pixels inside "
        "their 90% bands (methods with a variance), and seconds of CPU of all reconstructions of a run.",
    )


def tuned(script: Script, study: Study) -> dict[str, Any]:
    """Try neighbouring rates on photographs that are not in the test; return the mean errors by rates."""
    found: dict[str, Any] = {}
    for reconstruction, method in (("EP", "EP free 0"), ("L1+TV", "L1+TV uniform 0")):
        for rates in (RATES[reconstruction], *NEIGHBOURS[reconstruction]):
            runs = [cell(study.side, name, method, 200, rates) for name in TUNING]
            errors = [[np.interp(m, run["measurements"], run["errors"]) for m in (100, 200)] for run in runs]
            found[f"{reconstruction} wavelets {rates[0]:g}, differences {rates[1]:g}"] = np.mean(errors, axis=0).round(
                3
            )
    return found


def judge_panels(script: Script, study: Study, where: str) -> dict[str, dict[str, tuple[bool | None, Any]]]:
    """Record one verdict per panel; return the orderings."""
    found = orderings(study, study.last)
    for key, claims in found.items():
        missed = [claim for claim, (holds, _) in claims.items() if holds is False]
        unsure = [claim for claim, (holds, _) in claims.items() if holds is None]
        said = [
            f"{title}: {'; '.join(of)}."
            for title, of in (("This does not hold", missed), ("This cannot be told", unsure))
            if of
        ]
        script.judge(
            f"ours-images-panel-{key}",
            all_of(holds for holds, _ in claims.values()),
            claim=f"Figure 5.4 {key}, {PANELS[key][0]}: " + "; ".join(claims) + ".",
            target=f"each with {study.last} measurements (or the number given), paired by photograph, by more than "
            "two standard errors",
            value={claim: {"holds": TOLD[holds], **numbers} for claim, (holds, numbers) in claims.items()},
            reason=" ".join([where, *said, WHY.get(key, "")]).strip(),
        )
    return found


def run(script: Script) -> None:
    """Draw and judge."""
    study = QUICK if script.quick else SMALL
    contact_sheet(script, study.names)
    where = (
        f"{len(study.names)} photographs of {study.side} x {study.side}, {study.last} measurements of {study.side**2}."
    )
    draw(
        script,
        study,
        "nickisch-fig-5.4" if not script.quick else "quick",
        f"{where} Mean error and its standard error by number of measurements (noise variance 0.005, known). EP: mean "
        "by expectation propagation, fraction 0.9, rates 0.075 and 0.5; L1+TV: mode, rates 0.02 and 0.15; L1: basis "
        "pursuit; BCS: sparse Bayesian learning; L2: least squares. Random start: 10 "
        f"uniform filters (BCS: 25), then 3 designed ones at a time; panels e and f: the first {study.warm[0]} and "
        f"{study.warm[1]} coefficients first, a quarter of the source's 100 and 400 for a quarter of its pixels.",
    )
    table(script, study, f"natural-images-{study.side}")
    if script.quick:
        return
    found = judge_panels(script, study, where)
    headline = {
        "L2 (wavelet order) below L1+TV (random)": found["a"]["L2 (wavelet order) below L1+TV (random)"],
        "L2 (wavelet order) below L1 (random)": _less(study, "L2 wavelet 0", "L1 uniform 0"),
        "L2 (wavelet order) below BCS (its own design)": _less(study, "L2 wavelet 0", "BCS free 0"),
        "EP (free) below L2 (wavelet order)": _less(study, "EP free 0", "L2 wavelet 0"),
        "EP (designs of others) below L2 (wavelet order)": found["a"][
            "EP (designs of others) below L2 (wavelet order)"
        ],
    }
    script.judge(
        "nickisch-fig-5.4",
        all(holds for holds, _ in headline.values()),
        claim="The wavelet heuristic with least squares beats compressed sensing with random filters; filters designed "
        "by EP beat it and transfer to other photographs.",
        target="each by more than two standard errors, paired by photograph",
        value={
            "orderings": {claim: {"holds": bool(holds), **numbers} for claim, (holds, numbers) in headline.items()},
            "all orderings of the six panels": f"{sum(h is True for c in found.values() for h, _ in c.values())} of "
            f"{sum(map(len, found.values()))}",
        },
        reason=f"{where} The panels have entries of their own, ours-images-panel-a to f.",
        seed=0,
    )
    judge_hope(script, study, where)
    judge_large(script, LARGE)


def judge_large(script: Script, study: Study) -> None:
    """The main orderings at the source's size."""
    where = f"{len(study.names)} photographs of 64 x 64, {study.last} measurements of 4,096; the source goes to 1,024."
    draw(
        script,
        study,
        "natural-images-64",
        f"{where} Mean error and its standard error; the methods are those of figure 5.4.",
        keys=("a", "c"),
    )
    table(script, study, "natural-images-64")
    chain = ("EP free 0", "EP coefficients 0", "L2 wavelet 0", "L1+TV uniform 0")
    pairs = {
        f"{title(first)} below {title(second)}": paired(study, first, second, study.last)
        for first, second in pairwise(chain)
    }
    runs = study.runs("EP free 0")
    script.judge(
        "ours-images-64",
        all(map(better, pairs.values())),
        claim="At 64 x 64 as at 32 x 32: EP (free) below EP (best coefficients) below L2 (wavelet order) below L1+TV "
        "(random filters).",
        target="each by more than two standard errors, paired by photograph",
        value={
            f"with {study.last} measurements": pairs,
            "EP (free) / L2 (wavelet order)": {
                m: paired(study, "EP free 0", "L2 wavelet 0", m) for m in MILESTONES[64] if m <= study.last
            },
            "the tree search / the wavelet order": paired(study, "L2 search 0", "L2 wavelet 0", study.last),
            "updates of EP per increment of 3": round(
                float(np.mean([run["iterations"][1:].mean() for run in runs])), 2
            ),
            "seconds of CPU per photograph, EP (free)": round(
                float(np.mean([run["seconds"].sum() for run in runs])), 1
            ),
        },
        reason=where,
        seed=0,
    )


def _less(study: Study, first: str, second: str) -> tuple[bool, Any]:
    found = paired(study, first, second, study.last)
    return better(found), found


def judge_hope(script: Script, study: Study, where: str) -> None:
    """EP's free design against the heuristic, by number of measurements; rates; time."""
    found = {m: paired(study, "EP free 0", "L2 wavelet 0", m) for m in HOPE}
    runs = study.runs("EP free 0")
    rates = tuned(script, study)
    script.judge(
        "ours-images-free-design",
        all(one["ratio of means"] <= HOPE[m] and one["better on"] >= 0.8 for m, one in found.items()),
        claim="At 32 x 32 EP with its free design has at most 0.85 (100 measurements), 0.80 (200), 0.78 (300) of the "
        "error of least squares with the wavelet order, and is better on 80% of the photographs.",
        target=HOPE,
        value={
            "EP (free) / L2 (wavelet order)": found,
            "seconds of CPU per photograph": round(float(np.mean([run["seconds"].sum() for run in runs])), 2),
            "updates of EP per increment of 3": round(
                float(np.mean([run["iterations"][1:].mean() for run in runs])), 2
            ),
            "mean of the photographs' ratios": {
                m: round(float(np.mean(study.errors("EP free 0", m) / study.errors("L2 wavelet 0", m))), 3)
                for m in HOPE
            },
            "mean errors of 3 tuning photographs at 100 and 200, by rates": rates,
        },
        reason=f"{where} It is better on nearly all photographs, but by less than hoped for. The hope came from a "
        "trial on five photographs; with this code three of those (camera, Set12 03, Kodak 23) have 0.74 to 0.92 at "
        "100 measurements and 0.65 to 0.79 at 300. More photographs here have fine texture, and the wavelet order is "
        "at its best at 200, where it has just read the third scale. Other rates change the error by 1 to 3%.",
        seed=0,
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
