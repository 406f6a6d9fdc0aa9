"""Figure 6.3: one design step with spiral interleaves - scores over the angle, residuals of several extensions.

And the angle refined between the points of a coarse grid, against the best of a fine one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import spearmanr

from adaptive.plots import PALETTE
from designs.kspace import RefinedAngles, TrajectoryPool, equispaced_angles
from experiments.kspace.shared.spiral_runs import (
    N_ANGLES,
    SEED,
    SHOTS,
    best_scales,
    candidates,
    cell,
    one_step,
    reconstructor,
    scan,
    shots,
    simulated,
)
from experiments.script import Script, command, panels

MEASURED = 5  # interleaves of the figure


def draw_step(script: Script, mode: str, step: dict[str, np.ndarray]) -> None:
    """Draw scores, errors of the extensions tried, and residuals of some."""
    acquired, grid = scan(mode, 0), np.degrees(candidates(mode, 2 * np.pi))
    figure, axes = panels(2, 4, 9.6, 5.0)
    grid_spec = axes[0, 0].get_gridspec()
    for ax in axes[0]:
        ax.remove()
    top = figure.add_subplot(grid_spec[0, :])
    top.spines[["top"]].set_visible(False)
    top.plot(grid, step["scores"], "-", color=PALETTE[0])
    top.set(xlabel="offset angle of the next interleaf, degrees", ylabel="score, nats", xlim=(0, 360))
    for k, angle in enumerate(np.degrees(step["measured"])):
        top.axvline(angle, color="black", linewidth=0.8, label="measured" if k == 0 else "")
        top.axvline((angle + 180) % 360, color="black", linewidth=0.8, linestyle=":", label="" if k else "conjugates")
    other = top.twinx()
    other.plot(grid[step["tried"]], step["errors"], ".", color=PALETTE[1], markersize=5, label="error of MAP with it")
    other.set_ylabel("error", color=PALETTE[1])
    handles = [*top.get_legend_handles_labels()[0], *other.get_legend_handles_labels()[0]]
    top.legend(handles=handles, frameon=False, fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    for ax, (title, position) in zip(axes[1], shown_steps(step).items(), strict=True):
        image = step["before"] if position is None else step["images"][position]
        error = np.linalg.norm(acquired.image - image)
        angle = "" if position is None else f", {grid[step['tried'][position]]:.0f} degrees"
        drawn = ax.imshow(np.rot90(np.abs(image - acquired.image)), cmap="gray_r", vmin=0, vmax=0.25)
        ax.set_title(f"{title}{angle}\nerror {error:.2f}", fontsize=8)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
        ax.grid(False)
    figure.colorbar(drawn, ax=axes[1].tolist(), shrink=0.8, label="|residual|")
    script.figure(
        figure,
        "nickisch-fig-6.3",
        f"One design step after {MEASURED} spiral interleaves: scores of 256 offset angles, the error of MAP with some "
        "of them as the sixth interleaf, and residuals of the reconstruction before and after three of them. "
        + simulated(mode),
    )


def shown_steps(step: dict[str, np.ndarray]) -> dict[str, int | None]:
    """Return the extensions whose residuals are drawn, as positions among those tried: top, median and lowest score."""
    order = np.argsort(step["scores"][step["tried"]])
    return {
        "before": None,
        "top score": int(order[-1]),
        "median score": int(order[len(order) // 2]),
        "lowest score": int(order[0]),
    }


def judge_step(script: Script, mode: str, step: dict[str, np.ndarray]) -> None:
    """Judge the scores: uneven, more than gaps, and pointing at small residuals."""
    scores, errors = step["scores"], step["errors"]
    shown = {name: float(errors[k]) for name, k in shown_steps(step).items() if k is not None}
    spread = float((scores.max() - scores.min()) / scores.max())
    correlation = float(spearmanr(scores[step["tried"]], -errors).statistic)
    gaps = gap_correlation(mode, step)
    lowest = min(shown, key=lambda name: shown[name]) == "top score"
    rank = int(np.argsort(np.argsort(errors))[shown_steps(step)["top score"]]) + 1
    script.judge(
        "nickisch-fig-6.3",
        lowest and spread > 0.1,
        claim="After 5 interleaves the scores of 256 angles are uneven, and the top-scoring angle leaves the smallest "
        "residual of those shown.",
        target="scores differ by more than 10%; the error with the top angle is the lowest of those drawn",
        value={
            "(largest - smallest) / largest score": round(spread, 3),
            "errors": {name: round(value, 3) for name, value in shown.items()},
            "rank of the top angle's error": f"{rank} of {len(errors)} tried",
            "rank correlation of score and -error": round(correlation, 3),
            "rank correlation of score and distance from the nearest measured angle or conjugate": round(gaps, 3),
        },
        reason="" if lowest and spread > 0.1 else "The top-scoring angle does not leave the smallest residual drawn.",
        seed=SEED,
    )


def gap_correlation(mode: str, step: dict[str, np.ndarray]) -> float:
    """Return how far the scores follow the distance from the nearest measured angle (or its conjugate)."""
    known = np.concatenate([step["measured"], step["measured"] + np.pi])
    apart = np.abs(np.angle(np.exp(1j * (candidates(mode, 2 * np.pi)[:, None] - known))))
    return float(spearmanr(step["scores"], apart.min(axis=1)).statistic)


def refine(mode: str, n_grid: int) -> dict[str, np.ndarray]:
    """Refine the angle of every further interleaf from a coarse grid; return scores, and how many shots were scored.

    The scores are those of the refined angle and of the best of 256, at the same state of knowledge.
    """
    acquired, made = scan(mode, 0), [0]

    def make(angles: Any) -> TrajectoryPool:
        made[0] += len(angles)
        return shots(mode, angles)

    model = reconstructor(mode, acquired, best_scales(mode))
    model.fit(shots(mode, [0.0]), acquired.measure(shots(mode, [0.0])))
    fine, found = (
        shots(mode, candidates(mode, 2 * np.pi)),
        RefinedAngles(make, equispaced_angles(n_grid), period=2 * np.pi),
    )
    scores, counts = [], []
    for _ in range(max(SHOTS[mode]) - 1):
        made[0] = 0
        pool = found(model)
        values = 0.5 * model.predictive(pool).log_determinant()[0]
        best = 0.5 * model.predictive(fine).log_determinant()[0].max()
        scores.append((values.max(), best))
        counts.append(made[0])
        block = pool.take([int(values.argmax())])
        model.partial_fit(block, acquired.measure(block))
    return {"scores": np.array(scores), "counts": np.array(counts)}


def judge_refinement(script: Script, mode: str, refined: dict[str, np.ndarray], n_grid: int) -> None:
    """Judge what a coarse grid with refinement reaches, and at what cost."""
    share = refined["scores"][:, 0] / refined["scores"][:, 1]
    holds = bool(share.min() > 1 - 1e-3)
    script.judge(
        "ours-spiral-refined-angle",
        holds,
        claim=f"Angles refined from the best peaks of {n_grid} score as high as the best of {N_ANGLES[mode]}.",
        target="refined / best of the fine grid at least 0.999 for every interleaf",
        value={
            "smallest and largest ratio": [round(float(share.min()), 5), round(float(share.max()), 5)],
            "shots scored per interleaf": f"{int(refined['counts'].mean())} instead of {N_ANGLES[mode]}",
        },
        reason="" if holds else "A peak between two angles of the coarse grid was missed.",
        seed=SEED,
    )


def run(script: Script) -> None:
    """Take one step, refine some, draw, judge."""
    mode = "quick" if script.quick else "full"
    step = cell(one_step, mode, 2 if script.quick else MEASURED, 2 if script.quick else 64)
    draw_step(script, mode, step)
    judge_step(script, mode, step)
    n_grid = 8 if script.quick else 32
    judge_refinement(script, mode, cell(refine, mode, n_grid), n_grid)


if __name__ == "__main__":
    command(run, __doc__, __file__)
