"""K-space lines chosen by information gain against every comparison design; MAP against the mean; evidence's scales.

The designed lines are chosen one by one on the training slice, then used on it and on slices that were not seen; the
comparison designs, the two that waste no line on a mirror included, are tuned on the same slice by as many tries.
Errors are | |truth| - |reconstruction| |_2. Images, sizes and tuning: `experiments.kspace.shared.kspace_runs`. What was
computed is kept, so that a run that was stopped goes on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from adaptive.images import paired_interval
from adaptive.plots import PALETTE
from experiments import artifacts
from experiments.equivalence import all_of, inside
from experiments.kspace.shared.kspace_runs import (
    DESIGN_SETTINGS,
    EXPONENTS,
    MEASURES,
    RANDOM,
    SEED,
    SETTINGS,
    all_designs,
    best_exponents,
    best_scales,
    best_setting,
    cell,
    data_folder,
    design_errors,
    estimators,
    evaluate,
    reconstruct,
    reconstructor,
    scan,
    tune_reconstruction,
)
from experiments.script import Script, command, panels

MIRROR_FREE = ("half_plane_variable_density", "one_sided_low_pass")
OTHERS = ("low_pass", "equispaced", "uniform", "variable_density", *MIRROR_FREE)
RUNS = (("default", 30.0), ("default", 50.0), ("default", 200.0), ("whole-head", 50.0), ("whole-head", 200.0))
SIMULATED = (
    "Simulated: a smooth random phase (polynomial of order 2, up to pi) and complex noise, SNR {} (largest magnitude "
    "over the standard deviation of each part), one coil. Phase and noise were estimated from the samples; the model "
    "was told nothing that a user would not know."
)
TIE = 0.99  # one slice, one noise: a ratio nearer to 1 says nothing
LESS_NOISE = " With less noise (default, SNR 200) each of them is beaten; the noise hides what the design would add."


def label(dataset: str, snr: float) -> str:
    """Name a set of runs."""
    return f"{dataset}, SNR {snr:g}"


# ---------------------------------------------------------------------------------------------------------- the tables
def evaluated(dataset: str, snr: float) -> dict[str, np.ndarray]:
    """Return (images, measures) of every design, the training slice first."""
    found = [cell(evaluate, dataset, snr, k) for k in range(len(SETTINGS[dataset].names))]
    return {name: np.array([one[name] for one in found]) for name in ("designed", *OTHERS)}


def tabulate(script: Script, results: dict[tuple[str, float], dict[str, np.ndarray]]) -> None:
    """Write every error, and what was tuned."""
    rows = [
        (dataset, snr, image, "same" if k == 0 else "unseen", design, *values[k])
        for (dataset, snr), found in results.items()
        for design, values in found.items()
        for k, image in enumerate(SETTINGS[dataset].names)
    ]
    names = ("images", "snr", "image", "slice", "design", *MEASURES)
    script.table(
        dict(zip(names, zip(*rows, strict=True), strict=True)),
        "kspace-designs",
        "MAP reconstruction of every image from every design (random designs: means over the draws). "
        + SIMULATED.format("as in the table")
        + " Tuned on the training slice (slice: same) only.",
    )
    tuned = []
    for dataset, snr in results:
        errors = design_errors(dataset, snr)
        exponents, scales = best_exponents(dataset, snr), best_scales(dataset, snr)
        learnt = cell(tune_reconstruction, dataset, snr)["scales"][0]
        best = DESIGN_SETTINGS[best_setting(dataset, snr)]
        tuned.append(
            (dataset, snr, *(round(float(scale), 4) for scale in (*scales, *learnt)), *best,
             " ".join(f"{error:.3f}" for error in errors), *(exponents[name] for name in RANDOM))
        )  # fmt: skip
    columns = ("images", "snr", "scale_wavelet", "scale_tv", "evidence_wavelet", "evidence_tv", "design_noise_sd",
               "design_scale", "errors_of_design_settings", *(f"exponent_{name}" for name in RANDOM))  # fmt: skip
    script.table(
        dict(zip(columns, zip(*tuned, strict=True), strict=True)),
        "kspace-tuning",
        f"What was tuned on the training slices: scales of the reconstruction (mean error of four comparison designs), "
        f"what the design assumes (tried: {DESIGN_SETTINGS}), exponents of the random designs (tried: {EXPONENTS}).",
    )


# -------------------------------------------------------------------------------------------------------- the verdicts
def ratios(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return designed / other errors by other design, (images,) each."""
    return {other: found["designed"][:, 0] / found[other][:, 0] for other in OTHERS}


def intervals(found: dict[str, np.ndarray]) -> dict[str, list[float]]:
    """Return mean and paired 95% interval of the ratios on the unseen images."""
    return {
        other: [round(x, 4) for x in paired_interval(found["designed"][1:, 0], found[other][1:, 0])[:3]]
        for other in OTHERS
    }


def overlap(dataset: str, snr: float) -> str:
    """Say how many of the designed lines the one-sided low-pass design has too."""
    designs, setting = all_designs(dataset, snr), SETTINGS[dataset]
    chosen, centre, n = designs["designed"][0], setting.n_central, setting.shape[0]
    further = np.abs(chosen[centre:] - n // 2)
    mirrored = len(set(further))
    one_sided = np.abs(designs["one_sided_low_pass"][0] - n // 2).max()
    return (
        f"{int(np.sum(further <= one_sided))} of the {len(further)} lines chosen have frequencies that the one-sided "
        f"low-pass design measures too; the largest is {further.max()} against {one_sided}, and "
        f"{len(further) - mirrored or 'none'} of them mirror one another"
    )


def judge_designs(script: Script, dataset: str, snr: float, results: dict[tuple[str, float], Any]) -> None:
    """Judge one set of images: same slice and unseen ones, comparison designs with and without wasted mirrors."""
    found = results[dataset, snr]
    quiet = intervals(results["default", 200.0]) if ("default", 200.0) in results and snr < 200 else None
    setting = SETTINGS[dataset]
    same = {other: float(values[0]) for other, values in ratios(found).items()}
    unseen = intervals(found)
    suffix = f"{dataset}-snr-{snr:g}"
    about = (
        f"{label(dataset, snr)}: {setting.n_lines} of {setting.shape[0]} lines, {setting.n_central} central; "
        f"{len(setting.names) - 1} unseen images."
    )
    groups = (
        ("", [o for o in OTHERS if o not in MIRROR_FREE], ""),
        ("-mirror-free", list(MIRROR_FREE), "mirror-free "),
    )
    for ending, others, kind in groups:
        worst = max(same[other] for other in others)
        script.judge(
            f"ours-kspace-same-slice{ending}-{suffix}",
            worst < TIE,
            claim=f"Lines chosen by information gain beat every {kind}comparison design on the slice they were chosen "
            f"on. {about}",
            target=f"ratio of the errors below {TIE:g} for each (nearer to 1 is a tie)",
            value={other: round(same[other], 4) for other in others},
            reason="" if worst < TIE else f"They tie with the best of them. Here {overlap(dataset, snr)}.",
            seed=SEED,
        )
        beaten = [other for other in others if unseen[other][2] < 1]
        script.judge(
            f"ours-kspace-unseen{ending}-{suffix}",
            len(beaten) == len(others),
            claim=f"The same lines beat every {kind}comparison design on unseen images. {about}",
            target="paired 95% interval of the ratio of errors below 1 for each",
            value={other: {"mean ratio": unseen[other][0], "95% interval": unseen[other][1:]} for other in others},
            reason=""
            if len(beaten) == len(others)
            else f"Not beaten: {', '.join(o for o in others if o not in beaten)}. Here {overlap(dataset, snr)}. "
            "The design gains most because no line is wasted on a mirror or far out, and these rules waste none either."
            + (LESS_NOISE if quiet and all(quiet[other][2] < 1 for other in others) else ""),
            seed=SEED,
        )


def judge_estimators(script: Script, compared: dict[tuple[str, float], np.ndarray]) -> None:
    """Judge MAP against the mean, and evidence's against tuned scales; ``compared``: (pairs, 4) errors by set."""
    value: dict[str, Any] = {}
    better, close = True, []
    costs: dict[str, Any] = {}
    for (dataset, snr), errors in compared.items():
        tuned, own = (paired_interval(errors[:, k], errors[:, k + 1]) for k in (0, 2))
        cost, cost_mean = (paired_interval(errors[:, k + 2], errors[:, k]) for k in (0, 1))
        value[label(dataset, snr)] = {"tuned scales": _rounded(tuned), "evidence": _rounded(own), "pairs": tuned.n}
        costs[label(dataset, snr)] = {"MAP": _rounded(cost), "mean": _rounded(cost_mean), "pairs": cost.n}
        better &= tuned.high < 1 and own.high < 1
        close.append(inside(cost.low, cost.high, most=1.015))
    script.judge(
        "ours-map-against-mean",
        better,
        claim="MAP reconstructs better than the posterior mean from the same lines (designed, one-sided low-pass, "
        "variable density).",
        target="paired 95% interval of MAP / mean below 1, with tuned and with the evidence's scales",
        value=value,
        reason="" if better else "The mean is as good or better in at least one set; scales were tuned for MAP.",
        seed=SEED,
    )
    script.judge(
        "ours-evidence-against-tuned-scales",
        all_of(close),
        claim="Scales learnt by evidence from the lines measured cost MAP at most 1.5% against scales tuned on the "
        "training slice.",
        target="95% interval of the ratio of the errors, evidence / tuned, below 1.015",
        value=costs,
        reason="" if all(close) else "The evidence's scales are wider than those that suit MAP best.",
        seed=SEED,
    )


def _rounded(interval: Any) -> list[float]:
    return [round(float(x), 4) for x in interval[:3]]


# --------------------------------------------------------------------------------------------------------- the figures
def draw_ratios(script: Script, results: dict[tuple[str, float], dict[str, np.ndarray]]) -> None:
    """Draw the ratios with their paired intervals."""
    figure, (axes,) = panels(1, len(results), 3.0 + 2.3 * len(results), 3.4)
    every = np.concatenate([values for found in results.values() for values in ratios(found).values()])
    limits = (every.min() - 0.03, max(every.max(), 1.0) + 0.03)
    for ax, ((dataset, snr), found) in zip(axes, results.items(), strict=True):
        shares, means = ratios(found), intervals(found)
        for row, other in enumerate(OTHERS):
            colour = PALETTE[1] if other in MIRROR_FREE else PALETTE[0]
            jitter = row + 0.16 + 0.16 * np.linspace(-1, 1, len(shares[other]) - 1)
            ax.plot(shares[other][1:], jitter, ".", color="#AAAAAA", markersize=4, label="unseen image" * (row == 0))
            ax.plot(shares[other][0], row - 0.2, "D", color="black", markersize=4, label="same slice" * (row == 0))
            mean, low, high = means[other]
            ax.plot([low, high], [row + 0.16] * 2, "-", color=colour, linewidth=2.2)
            ax.plot(mean, row + 0.16, "o", color=colour, markersize=5, label=_legend(row, other))
        ax.axvline(1, color="black", linewidth=0.8)
        ax.set(title=label(dataset, snr), xlabel="error, designed / other", yticks=range(len(OTHERS)), xlim=limits)
        ax.set_yticklabels([other.replace("_", " ") for other in OTHERS] if ax is axes[0] else [])
        ax.invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    script.figure(
        figure,
        "kspace-designs",
        "Error of the designed lines over that of each comparison design (below 1: designed is better), MAP "
        "reconstructions: on the slice the lines were chosen on, and on unseen images with mean and paired 95% "
        "interval. Random designs are means over draws. " + SIMULATED.format("as in the title"),
    )


def _legend(row: int, other: str) -> str:
    if row == 0:
        return "mean, 95% interval"
    return "mean, a design without mirrors" if other == MIRROR_FREE[0] else ""


def draw_images(script: Script, dataset: str, snr: float, k: int) -> None:
    """Draw one image from four designs: reconstructions above, residuals below, lines at the side."""
    acquired, model = scan(dataset, snr, k), reconstructor(dataset, best_scales(dataset, snr))
    designs = all_designs(dataset, snr)
    shown = ("designed", *MIRROR_FREE, "low_pass")
    figure, axes = panels(2, len(shown) + 1, 8.4, 4.0 if dataset == "whole-head" else 3.4)
    for ax in axes.flat:
        ax.set(xticks=[], yticks=[])
        ax.grid(False)
        ax.spines[:].set_visible(False)
    axes[0, 0].imshow(np.rot90(acquired.image), cmap="gray", vmin=0, vmax=1)
    axes[0, 0].set_title("truth", fontsize=8)
    n = len(acquired.image)
    axes[1, 0].set(xlim=(-n // 2, n // 2), ylim=(-0.6, len(shown) - 0.3), xlabel="line (0: DC)")
    axes[1, 0].set_xticks([-n // 2, 0, n // 2])
    for row, name in enumerate(shown):
        found = reconstruct(model, acquired, designs[name][0])
        error = float(np.linalg.norm(acquired.image - found))
        title = name.replace("_", " ").replace("half plane variable", "half-plane variable")
        axes[0, row + 1].imshow(np.rot90(found), cmap="gray", vmin=0, vmax=1)
        axes[0, row + 1].set_title(f"{title}\nerror {error:.2f}", fontsize=8)
        residual = axes[1, row + 1].imshow(np.rot90(np.abs(found - acquired.image)), cmap="gray_r", vmin=0, vmax=0.3)
        places = designs[name][0] - n // 2
        axes[1, 0].plot(places, np.full(len(places), len(shown) - 1 - row), "|", color=PALETTE[0], markersize=8)
        axes[1, 0].text(-n // 2, len(shown) - 0.7 - row, title, fontsize=6)
    figure.colorbar(residual, ax=axes[1, 1:].tolist(), shrink=0.8, label="|residual|", location="right")
    path = artifacts.save_figure(
        figure,
        f"kspace-images-{dataset}",
        f"{SETTINGS[dataset].names[k]} ({'the training slice' if k == 0 else 'not seen by the design'}), MAP from "
        f"{SETTINGS[dataset].n_lines} of {n} lines: reconstructions (above), absolute residuals (below), lines "
        "measured (left). " + SIMULATED.format(f"{snr:g}"),
        results=script.results,
    )
    in_greys(path)


def in_greys(path: Path) -> None:
    """Write a picture again with 40 greys and the colour of the lines: a third of the bytes, and no shifted hues."""
    from PIL import Image

    greys = np.linspace(0, 255, 40).round().astype(int).repeat(3)
    colour = [int(PALETTE[0][i : i + 2], 16) for i in (1, 3, 5)]
    palette = Image.new("P", (1, 1))
    palette.putpalette([*greys.tolist(), *colour])
    with Image.open(path) as image:
        reduced = image.convert("RGB").quantize(palette=palette, dither=Image.Dither.NONE)
    reduced.save(path, optimize=True)


# ------------------------------------------------------------------------------------------------------------- the run
def run(script: Script) -> None:
    """Compute what is not there; judge, tabulate and draw what is, set after set."""
    runs = (("quick", 50.0),) if script.quick else RUNS
    if not script.quick and not (data_folder() / "mri-volumes" / "chris_t1.nii.gz").is_file():
        raise SystemExit(f"the full mode needs the volumes of {data_folder()} (ADAPTIVE_DATA).")
    results = {}
    for dataset, snr in runs:
        results[dataset, snr] = evaluated(dataset, snr)
        for each in results:  # those before, too: a reason may look at what came after
            judge_designs(script, *each, results)
        tabulate(script, results)
        draw_ratios(script, results)
        if snr == 50:
            draw_images(script, dataset, snr, 1 if dataset == "whole-head" else 0)
    compared = {}
    for dataset, snr in runs:
        if snr == 50:
            images = range(1, 2 if script.quick else 6 if dataset == "default" else 3)
            found = [cell(estimators, dataset, snr, k) for k in images]
            compared[dataset, snr] = np.array([errors[:4] for one in found for errors in one.values()])
            judge_estimators(script, compared)


if __name__ == "__main__":
    command(run, __doc__, __file__)
