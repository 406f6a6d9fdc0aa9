"""How honest the 90% bands of pixels are, method by method; and what detectors lose that can show +1 and -1 only.

Photographs of 32 x 32 pixels, noise of variance .005 in every measurement. After 200 measurements - random filters,
wavelet coefficients coarse to fine, or filters designed for each photograph - five methods state a mean and a standard
deviation for every pixel from the same samples. A band holds a pixel whose error is below 1.645 standard deviations.

    EP, VB           Laplace potentials on wavelets and differences, with the scales of the literature
    VB, learnt       the same with scales by evidence
    tree             wavelet coefficients that are narrow or wide and take after their parents, parameters learnt
    BCS              sparse Bayesian learning of wavelet coefficients

The second question takes the designs of `filter_runs`: leading eigenvectors (free), the signs of these, and Hadamard
patterns in the order of their frequency, all reconstructed by EP.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adaptive import ImageReconstructor, plots
from adaptive.images import paired_interval
from adaptive.inference.classic import sparse_bayesian_learning
from experiments.images.shared import filter_runs
from experiments.images.shared.filter_runs import NOISE_VARIANCE, cell, first_rows, operators, random
from experiments.images.shared.photographs import SHIPPED, TEST, photograph
from experiments.runs import kept
from experiments.script import Script, command, panels
from experiments.statistics import standard_error

DESIGNS = {"random": "random filters", "wavelet": "coefficients, coarse to fine", "free": "designed filters"}
METHODS = ("EP", "VB", "VB, learnt", "tree", "BCS")
SCALES = {"wavelet": NOISE_VARIANCE**0.5 / 0.075, "tv": NOISE_VARIANCE**0.5 / 0.5}
INSIDE = 1.6448536  # standard deviations of a central 90% band
HONEST = (0.80, 0.97)  # of the pixels in 90% bands
PATTERNS = {"free": "EP free 0", "signs": "EP signs 0", "hadamard": "EP hadamard 0"}
ENDS = ("", ", low", ", high")
WHY_BANDS = (
    "EP does (0.92 to 0.97), VB does (0.85 to 0.97), and sparse Bayesian learning does not (0.28 to 0.45), as "
    "expected. Before bands were widened by what rows say without themselves, EP had 0.88 to 0.93 and VB 0.73 to "
    "0.84, since its bounds underestimate variances. The tree is too sure of fine coefficients where the coarse ones "
    "alone were measured, and no row speaks of these."
)
WHY_PATTERNS = (
    "Signs lose 3 to 8% (the interval at 300 measurements ends at 1.116), Hadamard patterns 1 to 7% without looking at "
    "anything. Climbing from the signs to patterns of larger variance, s = sign(V s) repeated, gained 1% on the same "
    "photographs: at this noise it matters little which smooth patterns come when."
)
LOST = 1.10  # error of signs over that of free filters that would be hoped for


def bands(side: int, name: str, design: str, last: int) -> dict[str, np.ndarray]:
    """Measure a photograph; coverage, mean half-width and error of each method's bands.

    Returns
    -------
    dict
        coverage, width, error (methods,)
    """
    image = photograph(name.replace("_", "/"), side)
    if design == "free":
        rows = cell(side, name, "EP free 0", _longest(side))["rows"][:last].astype(float)
    elif design == "wavelet":
        rows = first_rows(side, name, "wavelet", 0, last)
    else:
        rows = first_rows(side, name, "uniform", 0, last)
    noise = np.sqrt(NOISE_VARIANCE) * random(name, "noise").standard_normal(last)
    outcomes = rows @ image.ravel() + noise
    found = [_stated(method, side, rows, outcomes) for method in METHODS]
    wrong = [np.abs(mean - image) for mean, _ in found]
    return {
        "coverage": np.array([np.mean(w < INSIDE * std) for w, (_, std) in zip(wrong, found, strict=True)]),
        "width": np.array([INSIDE * std.mean() for _, std in found]),
        "error": np.array([np.linalg.norm(w) for w in wrong]),
    }


def _longest(side: int) -> int:
    """Measurements of the designs that `filter_runs` makes."""
    return filter_runs.MILESTONES[side][-1]


def _stated(method: str, side: int, rows: np.ndarray, outcomes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the pixels."""
    if method == "BCS":
        posterior = sparse_bayesian_learning(rows, outcomes, NOISE_VARIANCE, B=operators(side)[1])
        return posterior.mean.reshape(side, side), np.sqrt(posterior.variances()).reshape(side, side)
    options: dict[str, Any] = {
        "EP": {"inference": "expectation_propagation", "prior_scales": SCALES},
        "VB": {"prior_scales": SCALES},
        "VB, learnt": {},
        "tree": {"prior": "tree"},
    }[method]
    model = ImageReconstructor(
        (side, side), noise_variance=NOISE_VARIANCE, reconstruction="mean", n_samples=32, **options
    )
    return model.fit(rows, outcomes).predict(return_std=True)


# -------------------------------------------------------------------------------------------------------------- results
def judge_bands(script: Script, side: int, names: Sequence[str], last: int) -> dict[str, np.ndarray]:
    """Coverage of all methods by design, (photographs, methods) each."""
    runs = {
        design: [kept(f"pixel-bands-{side}", bands, side, name.replace("/", "_"), design, last) for name in names]
        for design in DESIGNS
    }
    found = {design: {key: np.array([one[key] for one in own]) for key in own[0]} for design, own in runs.items()}
    rows = [
        (design, method, *(values[key][:, k].mean() for key in ("coverage", "width", "error")))
        for design, values in found.items()
        for k, method in enumerate(METHODS)
    ]
    columns = dict(zip(("design", "method", "coverage", "half_width", "error"), zip(*rows, strict=True), strict=True))
    script.table(
        columns,
        "pixel-bands",
        f"Share of pixels inside their 90% bands, mean half-width of the bands (grey values in [0, 1]) and error "
        f"|estimate - photograph|: means over {len(names)} photographs of {side} x {side} pixels, after {last} "
        "measurements. Simulated noise, whose variance the methods were told.",
    )
    coverage = {design: values["coverage"] for design, values in found.items()}
    means = {design: values.mean(axis=0).round(3).tolist() for design, values in coverage.items()}
    honest = [all(HONEST[0] <= means[d][k] <= HONEST[1] for d in DESIGNS) for k in range(len(METHODS))]
    script.judge(
        "ours-pixel-bands",
        honest == [method != "BCS" for method in METHODS],
        claim="The 90% pixel bands of EP, VB and the tree hold 80 to 97% of the pixels, whatever was measured; "
        "those of sparse Bayesian learning, which drops coefficients for good, do not.",
        target=f"mean coverage from {HONEST[0]} to {HONEST[1]} with random, wavelet and designed filters",
        value={design: dict(zip(METHODS, own, strict=True)) for design, own in means.items()},
        reason=WHY_BANDS,
        seed=filter_runs.SEED,
    )
    return coverage


def judge_patterns(script: Script, side: int, names: Sequence[str], last: int) -> dict[str, np.ndarray]:
    """Errors of the free design, of its signs and of Hadamard patterns, (photographs, milestones) each."""
    counts = milestones(side, last)
    errors = {}
    for word, method in PATTERNS.items():
        runs = [cell(side, name, method, last) for name in names]
        errors[word] = np.array([[run["errors"][run["measurements"] == m][0] for m in counts] for run in runs])
    ratios = {
        f"{a} / {b}": [paired_interval(*pair) for pair in zip(errors[a].T, errors[b].T, strict=True)]
        for a, b in (("signs", "free"), ("hadamard", "free"), ("signs", "hadamard"))
    }
    script.table(
        {"measurements": counts}
        | {f"error of {word}": values.mean(axis=0).tolist() for word, values in errors.items()}
        | {f"{key}{end}": [one[k] for one in found] for key, found in ratios.items() for k, end in enumerate(ENDS)},
        "sign-patterns",
        f"Errors of three designs on {len(names)} photographs of {side} x {side} pixels, reconstructed by EP, and "
        "their ratios, paired by photograph, with 95% intervals. Free filters are leading eigenvectors of the "
        "posterior covariance, signs their signs, Hadamard patterns fixed. All of norm one. Simulated noise.",
    )
    late = [k for k, m in enumerate(counts) if m >= min(100, last)]
    little, better = ratios["signs / free"], ratios["signs / hadamard"]
    script.judge(
        "ours-sign-patterns",
        all(little[k].high < LOST and better[k].high < 1 for k in late),
        claim="Detectors that show only +1 and -1 lose little: the signs of the free design have at most 10% more "
        "error than the free design itself, and less error than Hadamard patterns in the order of frequency.",
        target=f"95% intervals of the ratios below {LOST} (signs / free) and below 1 (signs / Hadamard) from 100 "
        "measurements on",
        value={f"{key} at {counts[k]}": np.round(found[k][:3], 3) for key, found in ratios.items() for k in late},
        reason=WHY_PATTERNS,
        seed=filter_runs.SEED,
    )
    return errors


def milestones(side: int, last: int) -> list[int]:
    """Numbers of measurements that every run visits."""
    return [m for m in filter_runs.MILESTONES[side] if m <= last]


def draw(script: Script, coverage: dict[str, np.ndarray], errors: dict[str, np.ndarray], counts: list[int]) -> None:
    """Coverage by method and design; errors of the patterns."""
    figure, axes = panels(1, 2, 10.0, 3.8)
    left, right = axes[0]
    for k, (design, values) in enumerate(coverage.items()):
        at = np.arange(len(METHODS)) + 0.2 * (k - 1)
        _points(left, at, values, k, fmt="os^"[k], label=DESIGNS[design])
    left.axhline(0.9, color="#6E6E6E", linewidth=1)
    left.set_xticks(range(len(METHODS)), METHODS)
    left.set(ylabel="share of pixels inside 90% bands", ylim=(None, 1.0))
    left.legend(frameon=False, fontsize=8)
    for k, (word, label) in enumerate({"signs": "signs of the free design", "hadamard": "Hadamard patterns"}.items()):
        _points(right, counts, errors[word] / errors["free"], 3 + k, fmt="-" + "os"[k], label=label)
    right.axhline(1.0, color="#6E6E6E", linewidth=1)
    right.set(xlabel="measurements", ylabel="error / error of free filters")
    right.legend(frameon=False, fontsize=8)
    script.figure(
        figure,
        "pixel-bands",
        "Left: share of pixels inside their 90% bands, five methods from the same samples of three designs. Right: "
        "error of patterns of +1 and -1 over that of free filters, both reconstructed by EP. Means over photographs, "
        "with two standard errors. Simulated noise, whose variance the methods were told.",
    )


def _points(axis: Any, at: Any, values: np.ndarray, colour: int, **options: Any) -> None:
    """Means over photographs with two standard errors."""
    error = standard_error(values)
    axis.errorbar(at, values.mean(axis=0), 2 * error, color=plots.PALETTE[colour], capsize=2, **options)


def run(script: Script) -> None:
    side, names, last = (16, SHIPPED[:2], 40) if script.quick else (32, TEST[:12], 300)
    coverage = judge_bands(script, side, names, 40 if script.quick else 200)
    errors = judge_patterns(script, side, names, last)
    draw(script, coverage, errors, milestones(side, last))


if __name__ == "__main__":
    command(run, __doc__, __file__)
