"""Figure of the designs: the picture each makes, their errors, what is left uncertain, and the filters in order."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import plots
from adaptive.cli.photograph.comparison import DESIGNED, N_RANDOM, Run
from adaptive.images import psnr

__all__ = ["draw"]

SHOWN = 40  # filters


def draw(truth: np.ndarray, runs: dict[str, Run], title: str) -> Any:
    """The picture, what each design makes of it, errors, uncertainty and the filters in order."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(11.0, 9.4), layout="constrained")
    parts: Any = drawing.subfigures(3, 1, height_ratios=[1.05, 1.25, 1.35])
    top, middle, bottom = parts
    axes = top.subplots(1, 1 + len(runs))
    top.suptitle(f"{title}, after {runs[DESIGNED].measurements[-1]} measurements", fontsize=10)
    _picture(axes[0], truth, "the picture", vmin=0, vmax=1)
    for axis, (name, run) in zip(axes[1:], runs.items(), strict=True):
        _picture(axis, run.image, f"{name}: {psnr(truth, run.image, 1.0):.1f} dB", vmin=0, vmax=1)

    curve, spread, missed = middle.subplots(1, 3, width_ratios=[1.7, 1, 1])
    for k, (name, run) in enumerate(runs.items()):
        curve.plot(
            run.measurements, run.errors, color=plots.PALETTE[k], label=name, linestyle=["-", "--", "-.", ":"][k]
        )
    curve.set(xlabel="measurements", ylabel="error |image - picture|", ylim=(0, None))
    curve.spines[["top", "right"]].set_visible(False)
    curve.legend(frameon=False, fontsize=8)
    best = runs[DESIGNED]
    wrong = np.abs(best.image - truth)
    limit = float(max(np.quantile(wrong, 0.99), 2 * best.std.max()))
    shown = _picture(spread, 2 * best.std, "two standard deviations", cmap="magma", vmin=0, vmax=limit)
    inside = float(np.mean(wrong < 1.6448536 * best.std))
    _picture(missed, wrong, f"error; {inside:.0%} of pixels inside 90% bands", cmap="magma", vmin=0, vmax=limit)
    middle.colorbar(shown, ax=[spread, missed], shrink=0.7, label="grey values")

    rows = best.rows[:SHOWN].reshape(-1, *truth.shape)
    tiles = bottom.subplots(-(-SHOWN // 10), 10)
    bottom.suptitle(f"the first {len(rows)} filters: {N_RANDOM} random ones, then designed three at a time", fontsize=9)
    for axis in tiles.flat:
        axis.set_axis_off()
    for axis, row in zip(tiles.flat, rows, strict=False):
        extent = np.abs(row).max()
        _picture(axis, row, "", cmap="gray", vmin=-extent, vmax=extent)
    return drawing


def _picture(axis: Any, image: np.ndarray, title: str, cmap: str = "gray", **limits: float) -> Any:
    axis.set_axis_off()
    axis.set_title(title, fontsize=9)
    return axis.imshow(image, cmap=cmap, interpolation="nearest", **limits)
