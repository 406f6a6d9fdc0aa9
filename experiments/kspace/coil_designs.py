"""Lines chosen by information gain for eight coils against every comparison design: simulated coils, and a raw scan.

"simulated": eight smooth coils around a complex head slice with its own phase (128 x 128, 32 of 128 lines, 16 of them
central); unseen are heads with simulated phases under the same coils. "joint": the same, designed for that slice and
one of another head jointly. "raw": the k-space of an eight-coil scanner (160 x 160, 40 of 160 lines, 24 central),
designed and tested on the one slice there is. Coil maps, phase and noise are estimated from the lines measured.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from adaptive import ImageReconstructor, SeveralImages
from adaptive.images import l2_error, paired_interval, scaled, simulate_coils, simulate_scan
from adaptive.operators import FourierLines
from adaptive.plots import PALETTE
from designs.kspace import central, comparison_designs, lines
from experiments.kspace.shared import kspace_runs
from experiments.runs import kept
from experiments.script import Script, command, panels

SEED, SNR, N_COILS = 0, 50.0, 8
SIZES = {
    "simulated": (128, 32, 16),
    "joint": (128, 32, 16),
    "raw": (160, 40, 24),
    "quick": (32, 12, 8),
}  # sides, lines, central lines
UNSEEN = {"simulated": (4, 5, 0, 1, 2), "joint": (4, 5, 1, 2), "raw": (), "quick": (1,)}  # numbers of the other heads
TUNED_AS = {"joint": "simulated"}  # the same images: the comparison designs are the same, too
DRAWS = {"simulated": 5, "raw": 5, "quick": 1}
EXPONENTS = (1.0, 2.0, 3.0, 4.0, 6.0)
TIE = 0.99  # a ratio nearer to 1 says nothing
RANDOM = ("variable_density", "half_plane_variable_density")
# (wavelet, differences, imaginary part) that the reconstruction may have; nan: the imaginary part as the real one
SCALES = ((0.2, 0.1, np.nan), (0.1, 0.05, np.nan), (0.05, 0.025, np.nan), (0.1, 0.05, 0.01), (0.1, 0.05, 0.002))
# (noise, scale, unknown) that the design may assume: a complex image makes it worth while to measure mirrors
ASSUMED = (
    (1e-3, 1 / 300, "float32"),
    (5e-3, 1 / 60, "float32"),
    (5e-3, 1 / 20, "float32"),
    (1e-3, 1 / 300, "complex64"),
    (5e-3, 1 / 60, "complex64"),
)
OTHERS = ("low_pass", "equispaced", "uniform", "variable_density", "half_plane_variable_density", "one_sided_low_pass")


def cell(run: Callable[..., dict[str, np.ndarray]], *arguments: Any) -> dict[str, np.ndarray]:
    """Return ``run(*arguments)``, from its file where it ran before."""
    return kept(f"coils-{run.__name__}", run, *arguments)


class Scan:
    """Coil images of full sampling, and the magnitudes that reconstructions are compared with."""

    def __init__(self, image: np.ndarray, coil_images: np.ndarray):
        self.image, self.coil_images = image, coil_images

    def measure(self, blocks: Any) -> list[np.ndarray]:
        """Samples (coils, *of a line) of every line."""
        return [block.forward(self.coil_images) for block in blocks]


@cache
def scan(dataset: str, k: int) -> Scan:
    """Return acquisition ``k`` of a set; 0 is the one to train on."""
    n = SIZES[dataset][0]
    if dataset == "raw":
        return raw_scan(n)
    if dataset == "quick":
        found = kspace_runs.image("quick", k)
    elif k == 0:
        with np.load(kspace_runs.data_folder() / "mri-slices" / "ppnp_brain_complex.npz") as stored:
            found = scaled(stored[stored.files[0]])
    else:
        found = kspace_runs.image("whole-head", UNSEEN[dataset][k - 1])
    factor = len(found) // n
    small = found.reshape(n, factor, n, factor).mean(axis=(1, 3))
    acquired = simulate_scan(
        small, snr=SNR, coils=simulate_coils((n, n), N_COILS, random_state=SEED), random_state=SEED + k
    )
    return Scan(acquired.image, acquired.acquired)


def raw_scan(n: int) -> Scan:
    """Return the raw scan: its central n x n samples, which are all acquired; the truth is their sum of squares."""
    with np.load(kspace_runs.data_folder() / "mri-kspace" / "brain_8ch_undersampled.npz") as stored:
        kspace = np.swapaxes(stored["ksp"], 1, 2)  # (coil, phase encode, read-out)
    rows, columns = (slice(side // 2 - n // 2, side // 2 + n // 2) for side in kspace.shape[1:])
    kspace = kspace[:, rows, columns]
    images = FourierLines((n, n), range(n)).adjoint(kspace)
    images = images / np.percentile(np.sqrt((np.abs(images) ** 2).sum(axis=0)), 99.8)
    return Scan(np.sqrt((np.abs(images) ** 2).sum(axis=0)), images)


def reconstructor(dataset: str, scales: Any, assumed: tuple[float, float, str] = ASSUMED[0]) -> ImageReconstructor:
    """Return the estimator, which is told nothing but the scales."""
    wavelet, tv, imaginary = (float(scale) for scale in scales)
    pixel = not np.isnan(imaginary)
    n = SIZES[dataset][0]
    return ImageReconstructor(
        (n, n),
        coils="estimate",
        prior_scales={"wavelet": wavelet, "tv": tv} | ({"imaginary": imaginary} if pixel else {}),
        imaginary_prior="pixel" if pixel else "transform",
        design_noise_variance=assumed[0] ** 2,
        design_prior_scales=assumed[1],
        design_dtype=assumed[2],
        largest=1.5,
        max_iter=5 if dataset == "quick" else 30,
        tol=0.1 if dataset == "quick" else 2e-3,
        random_state=SEED,
    )


def error(dataset: str, scales: Any, k: int, design: np.ndarray) -> float:
    """Return the error of MAP on acquisition ``k`` from the lines of a design."""
    acquired, n = scan(dataset, k), SIZES[dataset][0]
    blocks = lines((n, n)).take(design)
    return l2_error(acquired.image, reconstructor(dataset, scales).reconstruct(blocks, acquired.measure(blocks)))


def compared(dataset: str, exponents: dict[str, float] | None = None, n_draws: int | None = None) -> dict[str, Any]:
    """Return the comparison designs."""
    return comparison_designs(
        *SIZES[dataset], exponents=exponents, n_draws=n_draws or DRAWS[dataset], random_state=SEED
    )


# -------------------------------------------------------------------------------- tuning, on the training slice only
def tune_scales(dataset: str) -> dict[str, np.ndarray]:
    """Try the scales with three comparison designs; return the mean errors."""
    found = compared(dataset, n_draws=1)
    used = [found[name][0] for name in ("equispaced", "one_sided_low_pass", "variable_density")]
    tried = SCALES[: 1 if dataset == "quick" else None]
    return {
        "scales": np.array(tried),
        "errors": np.array([np.mean([error(dataset, scales, 0, one) for one in used]) for scales in tried]),
    }


def best_scales(dataset: str) -> np.ndarray:
    """Return the tuned scales; "joint" trains on another slice besides, but is tuned on the same one."""
    tried = cell(tune_scales, TUNED_AS.get(dataset, dataset))
    return tried["scales"][tried["errors"].argmin()]


def tune_exponents(dataset: str) -> dict[str, np.ndarray]:
    """Try the exponents of the random designs; return the mean errors of two draws."""
    errors: dict[str, list[float]] = {name: [] for name in RANDOM}
    for exponent in EXPONENTS[: 1 if dataset == "quick" else None]:
        found = compared(dataset, dict.fromkeys(RANDOM, exponent), 1 if dataset == "quick" else 2)
        for name in RANDOM:
            errors[name].append(float(np.mean([error(dataset, best_scales(dataset), 0, one) for one in found[name]])))
    return {name: np.array(values) for name, values in errors.items()}


def best_exponents(dataset: str) -> dict[str, float]:
    """Return the tuned exponents."""
    tried = cell(tune_exponents, TUNED_AS.get(dataset, dataset))
    return {name: EXPONENTS[int(tried[name].argmin())] for name in RANDOM}


def design(dataset: str, k: int) -> dict[str, np.ndarray]:
    """Choose line after line on the training slice with ASSUMED[k]; return them and the error of MAP."""
    n, n_lines, n_central = SIZES[dataset]
    scans = [scan(dataset, 0)] + ([scan("simulated", 3)] if dataset == "joint" else [])
    one = reconstructor(dataset, best_scales(dataset), ASSUMED[k])
    pool, model = lines((n, n)), SeveralImages([one] * len(scans))
    chosen = central(n, n_central).tolist()
    model.fit(pool.take(chosen), measured(scans, pool.take(chosen)))
    while len(chosen) < n_lines:
        chosen += model.select(pool, exclude=chosen).tolist()
        model.partial_fit(pool.take(chosen[-1:]), measured(scans, pool.take(chosen[-1:])))
    return {"lines": np.array(chosen), "error": np.array(error(dataset, best_scales(dataset), 0, np.array(chosen)))}


def measured(scans: list[Scan], blocks: Any) -> list[list[np.ndarray]]:
    """Return the samples of every block: one array for each scan."""
    return [list(samples) for samples in zip(*(one.measure(blocks) for one in scans), strict=True)]


def best_assumed(dataset: str) -> int:
    """Return which of ASSUMED chooses the lines that do best on the training slice."""
    tried = [cell(design, dataset, k) for k in range(1 if dataset == "quick" else len(ASSUMED))]
    return int(np.argmin([one["error"] for one in tried]))


def designed(dataset: str) -> np.ndarray:
    """Return these lines."""
    return cell(design, dataset, best_assumed(dataset))["lines"]


def evaluate(dataset: str, k: int) -> dict[str, np.ndarray]:
    """Return the errors of MAP on acquisition ``k`` from the comparison designs, one per draw."""
    every, scales = compared(dataset, best_exponents(dataset)), best_scales(dataset)
    return {name: np.array([error(dataset, scales, k, one) for one in draws]) for name, draws in every.items()}


def evaluate_designed(dataset: str, k: int, assumed: int) -> dict[str, np.ndarray]:
    """Return the error on acquisition ``k`` from the lines that were chosen with ASSUMED[assumed]."""
    return {"designed": np.array([error(dataset, best_scales(dataset), k, cell(design, dataset, assumed)["lines"])])}


def evaluated(dataset: str, k: int) -> dict[str, np.ndarray]:
    """Return the errors of every design; sets with the same images share those of the comparison designs."""
    found = cell(evaluate_designed, dataset, k, best_assumed(dataset))
    if dataset not in TUNED_AS:
        return cell(evaluate, dataset, k) | found
    other = TUNED_AS[dataset]
    at = 0 if k == 0 else 1 + UNSEEN[other].index(UNSEEN[dataset][k - 1])
    return cell(evaluate, other, at) | found


# --------------------------------------------------------------------------------------------------------- the results
def about(dataset: str) -> str:
    """Say what was simulated, and what the model was told."""
    n, n_lines, n_central = SIZES[dataset]
    size = f"{n_lines} of {n} lines, {n_central} of them central"
    told = "Coil maps, phase and noise are estimated from the lines measured; the model was told nothing else."
    if dataset == "raw":
        return (
            f"Raw 8-coil k-space, its central {n} x {n} samples; {size}. Nothing is simulated; the truth is the sum of "
            f"squares over the coils of all samples, whose noise is in it. {told}"
        )
    return (
        f"{n} x {n} pixels, {size}. Simulated: {N_COILS} smooth coils, independent noise of SNR {SNR:g} (largest "
        "magnitude over the standard deviation of each part), and, but for the training slice, whose phase is its own, "
        f"a smooth random phase (polynomial of order 2, up to pi). {told}"
        + (" Designed for the training slice and a sagittal one jointly." if dataset == "joint" else "")
    )


def judge(script: Script, dataset: str, found: dict[str, np.ndarray]) -> None:
    """Judge the lines chosen on the slice they were chosen on, and on unseen ones; ``found``: (images,) by design."""
    same = {other: float(found["designed"][0] / found[other][0]) for other in OTHERS}
    beaten = [other for other in OTHERS if same[other] < TIE]
    script.judge(
        f"ours-coils-same-slice-{dataset}",
        len(beaten) == len(OTHERS),
        claim="Lines chosen by information gain for eight coils beat every comparison design on the slice they were "
        f"chosen on ({dataset}).",
        target=f"ratio of the errors of MAP, designed / other, below {TIE:g} for each (nearer to 1 is a tie)",
        value={other: round(value, 3) for other, value in same.items()},
        reason="" if len(beaten) == len(OTHERS) else f"Not beaten: {', '.join(o for o in OTHERS if o not in beaten)}.",
        seed=SEED,
    )
    if len(found["designed"]) < 3:
        return
    intervals = {
        other: [round(float(x), 3) for x in paired_interval(found["designed"][1:], found[other][1:])[:3]]
        for other in OTHERS
    }
    beaten = [other for other in OTHERS if intervals[other][2] < 1]
    script.judge(
        f"ours-coils-unseen-{dataset}",
        len(beaten) == len(OTHERS),
        claim=f"The same lines beat every comparison design on {len(found['designed']) - 1} unseen heads ({dataset}).",
        target="paired 95% interval of the ratio of errors below 1 for each",
        value={other: {"mean ratio": v[0], "95% interval": v[1:]} for other, v in intervals.items()},
        reason=""
        if len(beaten) == len(OTHERS)
        else f"Not beaten: {', '.join(o for o in OTHERS if o not in beaten)}."
        + (
            " The training slice is T2-weighted, and the unseen heads are T1-weighted."
            if dataset == "simulated"
            else ""
        ),
        seed=SEED,
    )


def judge_joint(script: Script, single: dict[str, np.ndarray], joint: dict[str, np.ndarray]) -> None:
    """Judge the lines designed for two slices jointly against those designed for one, on heads that neither saw."""
    common = [1 + UNSEEN["simulated"].index(image) for image in UNSEEN["joint"]]
    found = paired_interval(joint["designed"][1:], single["designed"][common])
    script.judge(
        "ours-joint-design-unseen",
        bool(found.high < 1),
        claim="Lines designed for slices of two heads jointly are better on unseen heads than lines designed for one.",
        target="paired 95% interval of the ratio of errors, joint / single, below 1",
        value={"mean ratio": round(float(found.mean), 3), "95% interval": [round(float(x), 3) for x in found[1:3]]},
        reason="" if found.high < 1 else "The interval over four unseen heads includes 1.",
        seed=SEED,
    )


def draw(script: Script, results: dict[str, dict[str, np.ndarray]]) -> None:
    """Draw errors by design, and the lines chosen beside the coils' images."""
    figure, axes = panels(1, 2 * len(results), 4.4 * len(results), 2.8)
    for column, (dataset, found) in enumerate(results.items()):
        ax, picture = axes[0, 2 * column], axes[0, 2 * column + 1]
        for row, name in enumerate(("designed", *OTHERS)):
            relative = found[name] / found["designed"]
            ax.plot(relative[1:], np.full(len(relative) - 1, row), ".", color="#AAAAAA")
            ax.plot(relative[0], row, "D", color=PALETTE[0], markersize=5)
        ax.axvline(1, color="black", linewidth=0.8)
        ax.set(title=dataset, xlabel="error / designed", yticks=range(1 + len(OTHERS)))
        ax.set_yticklabels([name.replace("_", " ") for name in ("designed", *OTHERS)], fontsize=7)
        ax.invert_yaxis()
        n = SIZES[dataset][0]
        image = np.abs(FourierLines((n, n), range(n)).forward(scan(dataset, 0).coil_images)).max(axis=0)
        picture.imshow(np.log(image + 1e-3), cmap="gray", extent=(-n // 2, n // 2, n // 2, -n // 2))
        for line in designed(dataset) - n // 2:
            picture.axhline(line, color=PALETTE[1], linewidth=0.5)
        picture.set_title("lines chosen", fontsize=9)
        picture.set(xticks=[], aspect="auto")
        picture.grid(False)
    script.figure(
        figure,
        "coil-designs",
        "Errors of MAP from the same number of lines, as multiples of those of the lines chosen by information gain on "
        "the training slice (diamonds: that slice; dots: unseen heads; random designs: means over the draws), and the "
        "lines chosen. " + " ".join(f"{name}: {about(name)}" for name in results),
    )


def run(script: Script) -> None:
    """Evaluate, tabulate, draw, judge."""
    results = {}
    for dataset in ("quick",) if script.quick else ("simulated", "joint", "raw"):
        cells = [evaluated(dataset, k) for k in range(1 + len(UNSEEN[dataset]))]
        results[dataset] = {name: np.array([one[name].mean() for one in cells]) for name in ("designed", *OTHERS)}
        judge(script, dataset, results[dataset])
    if "joint" in results:
        judge_joint(script, results["simulated"], results["joint"])
    rows = [
        (dataset, k, "same" if k == 0 else "unseen", name, values[k])
        for dataset, found in results.items()
        for name, values in found.items()
        for k in range(len(values))
    ]
    names = ("images", "image", "slice", "design", "error")
    tuned = "; ".join(
        f"{dataset}: scales {np.round(best_scales(dataset), 4).tolist()}, exponents {best_exponents(dataset)}, noise, "
        f"scale and unknown of the design {ASSUMED[best_assumed(dataset)]}"
        for dataset in results
    )
    script.table(
        dict(zip(names, zip(*rows, strict=True), strict=True)),
        "coil-designs",
        f"Errors of MAP (random designs: means over the draws). Tuned on the training slices: {tuned}. "
        + " ".join(f"{name}: {about(name)}" for name in results),
    )
    draw(script, results)


if __name__ == "__main__":
    command(run, __doc__, __file__)
