"""Tree-structured scale mixtures on photographs: denoising (table 2.6) and inpainting (table 2.7) of Ko (2017).

256 x 256 photographs of Set12, Kodak and BSD68 in the place of the source's 77, which cannot be redistributed. Noise of
standard deviation 0.1, or three quarters of the pixels missing (the same ones of every photograph) and noise variance
1e-5. Daubechies wavelets with four taps, five levels (the source does not say). Four priors: Laplace or Student t
(2.1 degrees of freedom), one density for each level, or two states in a tree. Each by the double loop (VB; at most 60
outer steps of denoising, which cost little, and 15 of inpainting, with 30 samples; the source takes 15 of both) and at
the mode (MAP, the same steps with variances zero), with the parameters fitted to the data's coefficients (initial) or
learnt.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.imaging.trees import TreeMixture, exact_denoising, tree_bounds
from adaptive.operators import Identity, Wavelet
from experiments.images.shared.photographs import SHIPPED, TEST, photograph
from experiments.images.shared.tree_runs import METHODS, PRIORS, SEED, TASKS, restored, task_of
from experiments.runs import kept
from experiments.script import Script, command, panels
from experiments.statistics import standard_error

SIDE = 256
OUTER = {"denoising": 60, "inpainting": 15}
COUNT = {"denoising": 16, "inpainting": 12}
BRIDGE, LENA = "images-set12/10.png", "images-set12/08.png"  # a boat stands in for the bridge
FIGURES = {"ko-fig-2.13": BRIDGE, "ko-fig-2.14": LENA}
GAIN, OVER_MODE = 0.2, 1.5  # dB
TREES = (("Lap-tree", "Lap-fact"), ("T-tree", "T-fact"))


def names_of(task: str, quick: bool) -> tuple[str, ...]:
    """The photographs of a task; those of the figures are among them."""
    if quick:
        return SHIPPED[:1]
    named = tuple(FIGURES.values()) if task == "inpainting" else ()
    return (*named, *(name for name in TEST if name not in named))[: COUNT[task]]


def runs_of(task: str, script: Script) -> dict[str, dict[str, np.ndarray]]:
    """All photographs of a task."""
    side, outer = (16, 2) if script.quick else (SIDE, OUTER[task])
    runs = {}
    for name in names_of(task, script.quick):
        pictures = int(task == "inpainting" and (script.quick or name in FIGURES.values()))
        run = restored if script.quick else lambda *arguments: kept("tree_tables", restored, *arguments)
        runs[name] = run(task, name.replace("/", ":"), side, outer, pictures)
        print(task, name, np.round(runs[name]["psnr"], 2).tolist(), flush=True)
    return runs


def paired(differences: np.ndarray) -> str:
    """Mean and standard error."""
    error = standard_error(differences) if len(differences) > 1 else 0.0
    return f"{differences.mean():+.2f} +- {error:.2f}"


def judge_table(script: Script, task: str, id: str) -> dict[str, dict[str, np.ndarray]]:
    """One of the two tables."""
    runs = runs_of(task, script)
    values = np.stack([run["psnr"] for run in runs.values()])  # (photographs, priors, methods)
    priors, learnt, at_mode = list(PRIORS), METHODS.index("VB learnt"), METHODS.index("MAP learnt")
    data = np.array([run["data_psnr"] for run in runs.values()])
    columns: dict[str, list[Any]] = {"prior": priors}
    for m, method in enumerate(METHODS):
        mean, deviation = values[:, :, m].mean(axis=0), values[:, :, m].std(axis=0)
        columns[method] = [f"{a:.2f} +- {b:.2f}" for a, b in zip(mean, deviation, strict=True)]
    if task == "denoising":
        for heading, key in (("VB learnt, 15 steps", "short_psnr"), ("exact mean", "exact_psnr")):
            other = np.stack([run[key] for run in runs.values()])
            columns[heading] = [f"{a:.2f} +- {b:.2f}" for a, b in zip(other.mean(0), other.std(0), strict=True)]
    columns["VB less MAP, learnt"] = [paired(values[:, p, learnt] - values[:, p, at_mode]) for p in range(len(priors))]
    others = {tree: values[:, priors.index(tree), learnt] - values[:, priors.index(f), learnt] for tree, f in TREES}
    columns["tree less factorial, VB learnt"] = [paired(others[p]) if p in others else "" for p in priors]
    seconds = np.mean([run["seconds"] for run in runs.values()], axis=0)
    columns["seconds, VB learnt"] = [round(float(one), 1) for one in seconds[:, learnt]]
    what = (
        f"Noise of standard deviation 0.1 ({data.mean():.2f} dB)."
        if task == "denoising"
        else f"Three quarters of the pixels missing, noise variance 1e-5 (unseen pixels at the mean: {data.mean():.2f} "
        "dB)."
    )
    extra = " exact mean: the exact posterior mean with the parameters learnt by VB." if task == "denoising" else ""
    script.table(
        columns,
        id,
        f"{task.capitalize()} of {len(runs)} photographs, {SIDE} x {SIDE}, the noise drawn. {what} PSNR in dB, mean +- "
        f"standard deviation over photographs; paired differences +- standard errors.{extra} The noise variance was "
        "told, all else learnt from the one photograph.",
    )
    gains = {tree: float(one.mean()) for tree, one in others.items()}
    modes = {p: float((values[:, k, learnt] - values[:, k, at_mode]).mean()) for k, p in enumerate(priors)}
    means = {p: float(values[:, k, learnt].mean()) for k, p in enumerate(priors)}
    best = max(means, key=lambda p: means[p])
    holds = min(gains.values()) >= GAIN and best.endswith("tree")
    text = ", ".join(f"{p} {one:.1f}" for p, one in means.items())
    said = ", ".join(f"{tree} over {f} {paired(others[tree])} dB" for tree, f in TREES)
    if task == "denoising":
        short = np.mean([run["short_psnr"] for run in runs.values()], axis=0)
        said += "; after 15 outer steps " + ", ".join(f"{p} {one:.1f}" for p, one in zip(priors, short, strict=True))
    script.judge(
        id,
        holds,
        claim=f"{task.capitalize()}: with learnt parameters and VB, trees are 0.2 to 0.5 dB better than one density "
        "for each level.",
        target=f"each tree at least {GAIN} dB over its factorial prior, the best prior is a tree",
        value=f"learnt VB: {text}; {said} ({len(runs)} photographs)",
        seed=SEED,
        reason=_REASONS[id],
    )
    asked = priors if task == "denoising" else [tree for tree, _ in TREES]
    script.judge(
        f"ours-tree-{task}-over-mode",
        all(modes[p] >= OVER_MODE for p in asked),
        claim=f"{task.capitalize()}: learnt VB is at least 1.5 dB better than the learnt mode.",
        target=f"at least {OVER_MODE} dB for {', '.join(asked)}",
        value=", ".join(f"{p} {one:+.1f} dB" for p, one in modes.items()) + f" ({len(runs)} photographs)",
        seed=SEED,
        reason=_REASONS[f"ours-tree-{task}-over-mode"],
    )
    return runs


_REASONS = {
    "ko-tab-2.6": "Outer steps cost a tenth of a second each, so that 60 are allowed; after 15, as in the source, "
    "scales below that of the noise are still on their way. Wavelet and depth are ours, since the source does not "
    "name them.",
    "ko-tab-2.7": "The source has 23.3 and 23.5 for Laplace, 20.1 and 23.6 for Student t. Student t trees gain here, "
    "too, and Laplace ones hardly: a parent speaks for four children, of which three were not seen. Three changes "
    "were tried on two photographs. Other starts of the parameters (a Gaussian fit for each level, generic ones) "
    "gain less with Laplace trees; four times as many steps make the narrow state too narrow; more exact solves do "
    "not help.",
    "ours-tree-denoising-over-mode": "In the source's own table it is 1.5, -1.4, 0.0 and 0.9 dB. Parameters learnt at "
    "a mode call zero what is only small; a Student t penalises large coefficients least and loses least by it.",
    "ours-tree-inpainting-over-mode": "Judged on the trees, whose cells in the source are readable (3.8 dB both). The "
    "factorial Laplace prior collapses at its mode.",
}


def draw(script: Script, runs: dict[str, dict[str, np.ndarray]]) -> None:
    """Figures 2.13 and 2.14: reconstructions and what is left of them."""
    shown = (("T-tree", "VB learnt"), ("Lap-tree", "VB learnt"), ("Lap-tree", "MAP learnt"), ("Lap-fact", "VB learnt"))
    for id, name in list(FIGURES.items())[: 1 if script.quick else None]:
        run = runs[name if name in runs else next(iter(runs))]
        truth = run["truth"]
        figure, axes = panels(2, 2 + len(shown), 11.0, 4.1)
        for ax in axes.flat:
            ax.grid(False)
            ax.set(xticks=[], yticks=[])
            for spine in ax.spines.values():
                spine.set_visible(False)
        axes[0, 0].imshow(truth, cmap="gray", vmin=0, vmax=1)
        axes[0, 0].set_title("original", fontsize=8)
        axes[0, 1].imshow(run["data"], cmap="gray", vmin=0, vmax=1)
        axes[0, 1].set_title(f"what is seen, {float(run['data_psnr']):.1f} dB", fontsize=8)
        values = {}
        for k, (prior, method) in enumerate(shown, start=2):
            p, m = list(PRIORS).index(prior), METHODS.index(method)
            image, value = run["images"][p, m], float(run["psnr"][p, m])
            values[f"{prior} {method}"] = value
            axes[0, k].imshow(image, cmap="gray", vmin=0, vmax=1)
            axes[0, k].set_title(f"{prior}, {method}, {value:.1f} dB", fontsize=8)
            axes[1, k].imshow(image - truth, cmap="gray", vmin=-0.25, vmax=0.25)
        script.figure(
            figure,
            id,
            "Inpainting with three quarters of the pixels missing, and what is left (grey is zero, black and white "
            f"-0.25 and 0.25). {'Lena' if name == LENA else 'A boat in the place of the bridge'}, {SIDE} x {SIDE}, "
            "pixels dropped at random, noise of variance 1e-5 drawn; the noise variance was told.",
        )
        tree = max(value for key, value in values.items() if "tree VB" in key)
        mode, factorial = values["Lap-tree MAP learnt"], values["Lap-fact VB learnt"]
        script.judge(
            id,
            tree > mode and tree > factorial,
            claim="Inpainting: the tree with learnt VB shows fewer artefacts than the tree's mode and than the "
            "factorial prior.",
            target="higher PSNR than both",
            value="; ".join(f"{key} {value:.2f} dB" for key, value in values.items()),
            seed=SEED,
            reason=f"{'Lena' if name == LENA else 'A boat in the place of the bridge'}.",
        )


def judge_loop(script: Script) -> None:
    """Algorithm 3: the bound, the exact evidence above it, and what a step costs."""
    side, outer = (16, 4) if script.quick else (SIDE, 40)
    truth = photograph(SHIPPED[0] if script.quick else LENA, side)
    _, y, _ = task_of("denoising", truth, 0)
    calls = 0
    rise, gap, slack = np.inf, [], np.inf
    for components in ("laplace", "student_t"):
        wavelet = Counted(truth.shape, "db2", 2 if script.quick else 5)
        prior = TreeMixture.generic(wavelet, 0.05, components)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            posterior = tree_bounds(Identity(truth.shape), y, TASKS["denoising"], prior, max_iter=outer, tol=0.0)
        calls = max(calls, wavelet.calls)
        trace = -np.asarray(posterior.objective_trace)
        rise = min(rise, float(np.diff(trace).min() / abs(trace[-1])))
        exact = exact_denoising(y, TASKS["denoising"], posterior.prior)
        slack = min(slack, exact.log_evidence - posterior.log_evidence)
        gap.append(f"{(exact.log_evidence - posterior.log_evidence) / truth.size:.3f}")
    script.judge(
        "ko-alg-3",
        rise > -1e-9 and slack >= 0 and calls <= 120 * outer,
        claim="The double loop with tree-structured indicators: the bound never falls and stays below the exact "
        "evidence of the denoising tree.",
        target="no step lowers the bound by more than 1e-9 of it; bound <= exact evidence; at most 60 pairs of wavelet "
        "transforms in an outer step of denoising",
        value=f"least relative rise {rise:.1e} over {outer} outer steps; exact evidence above the bound by "
        f"{gap[0]} (Laplace) and {gap[1]} (Student t) nats per pixel; {calls} transforms in all",
        kind="must hold",
        seed=SEED,
        reason="Denoising is diagonal in the coefficients: only data and result are transformed. Inpainting, states "
        "and probabilities: tests/estimators/imaging/trees.",
    )


class Counted(Wavelet):
    """A wavelet that counts its transforms."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.calls = 0

    def _forward(self, u: np.ndarray) -> np.ndarray:
        self.calls += len(u)
        return super()._forward(u)

    def _adjoint(self, v: np.ndarray) -> np.ndarray:
        self.calls += len(v)
        return super()._adjoint(v)


def run(script: Script) -> None:
    """Both tables, both figures, the algorithm."""
    judge_loop(script)
    judge_table(script, "denoising", "ko-tab-2.6")
    draw(script, judge_table(script, "inpainting", "ko-tab-2.7"))


if __name__ == "__main__":
    command(run, __doc__, __file__)
