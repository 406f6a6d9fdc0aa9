"""The figure of ``adaptive kspace``: images, what is wrong with them, the lines in their order, and the gains."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import plots
from adaptive.cli.kspace.line_designs import Choice, Outcome
from adaptive.cli.kspace.subject import Subject

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw"]

_SHOWN = ("designed", "low_pass", "variable_density", "half_plane_variable_density")
_GREY = "#6E6E6E"


def draw(outcomes: Sequence[Outcome], subject: Subject, settings: dict[str, Any], said: str) -> Figure:
    """Return the figure.

    Parameters
    ----------
    outcomes : sequence of Outcome
        The chosen design first.
    subject : Subject
    settings : dict
        lines, initial, axis.
    said : str
        What was simulated, for the caption.
    """
    from matplotlib.figure import Figure

    shown = [one for name in _SHOWN for one in outcomes if one.design == name]
    height, width = subject.same.upright().shape
    pictures = 2 * (11.0 / (len(shown) + 1) * min(max(height / width, 0.4), 1.6) + 0.55)  # inches
    drawing = Figure(figsize=(12.5, pictures + 4.9), layout="constrained")
    parts: Any = drawing.subfigures(3, 1, height_ratios=[pictures, 4.2, 0.7])
    upper, lower, caption = parts
    _images(upper, shown, subject)
    order, gains, errors = lower.subplots(1, 3, width_ratios=[1, 1, 1.15])
    choice = outcomes[0].choice
    assert choice is not None
    n = subject.same.image.shape[settings["axis"]]
    _order(order, choice, n, settings["initial"])
    _gains(gains, choice, n, settings["initial"])
    _errors(errors, outcomes)
    caption.text(0.01, 0.5, textwrap.fill(said, 185), fontsize=8.5, va="center", color="#333333")
    return drawing


def _images(part: Figure | Any, shown: Sequence[Outcome], subject: Subject) -> None:
    """True image and reconstructions; below them true minus reconstructed, all in one scale."""
    truth = np.abs(subject.same.image)
    axes = part.subplots(2, len(shown) + 1)
    residuals = [truth - one.image for one in shown]
    largest = max(float(np.percentile(np.abs(residual), 99.8)) for residual in residuals) or 1.0
    top = axes[0, 0].imshow(subject.same.upright(truth), cmap="gray", vmin=0, vmax=1)
    axes[0, 0].set_title("true image", fontsize=10)
    bottom: Any = None
    for column, (one, residual) in enumerate(zip(shown, residuals, strict=True), start=1):
        axes[0, column].imshow(subject.same.upright(one.image), cmap="gray", vmin=0, vmax=1)
        first = ", first draw" if len(one.lines) > 1 else ""
        axes[0, column].set_title(f"{_words(one.design)}{first}", fontsize=10)
        bottom = axes[1, column].imshow(subject.same.upright(residual), cmap="RdBu_r", vmin=-largest, vmax=largest)
        axes[1, column].set_title(f"error {np.linalg.norm(residual):.2f}", fontsize=10)
    for ax in axes.flat:
        ax.set_xticks([])
        ax.set_yticks([])
    axes[1, 0].axis("off")
    axes[1, 0].text(
        0.5, 0.5, "true minus\nreconstructed,\nmagnitudes", ha="center", va="center", transform=axes[1, 0].transAxes
    )
    part.colorbar(top, ax=axes[0, :], fraction=0.02, pad=0.01, label="magnitude")
    part.colorbar(bottom, ax=axes[1, :], fraction=0.02, pad=0.01, label="difference of magnitudes")


def _order(ax: Axes, choice: Choice, n: int, n_central: int) -> None:
    frequency = choice.lines - n // 2
    step = np.arange(1, len(frequency) + 1)
    ax.axvspan(0.5, n_central + 0.5, color=_GREY, alpha=0.15, linewidth=0, label="central lines, given")
    ax.plot(
        step[n_central:], frequency[n_central:], color=plots.PALETTE[0], marker="o", markersize=4.5, linestyle="none",
        label="chosen one by one",
    )  # fmt: skip
    ax.plot(step[:n_central], frequency[:n_central], color=_GREY, marker="_", markersize=6, linestyle="none")
    ax.axhline(0, color=_GREY, linewidth=0.8)
    ax.set(xlabel="lines measured", ylabel="frequency of the line (0: centre of k-space)")
    ax.set(xlim=(0.5, len(step) + 0.5), ylim=(-n / 2 - 1, n / 2 + 1), title="order of lines")
    ax.legend(frameon=False, loc="upper right", fontsize=8.5)
    _tidy(ax)


def _gains(ax: Axes, choice: Choice, n: int, n_central: int) -> None:
    """The score of every line: before the first choice, and after the last."""
    frequency = np.arange(n) - n // 2
    for gains, color, dash, measured, label in (
        (choice.before_first, plots.PALETTE[1], "--", choice.lines[:n_central], "before the first choice"),
        (choice.after_last, plots.PALETTE[0], "-", choice.lines, "after the last choice"),
    ):
        left = np.where(np.isin(np.arange(n), measured), np.nan, gains)
        ax.plot(frequency, left, color=color, linestyle=dash, linewidth=1.6, label=label)
    chosen = choice.lines[n_central:]
    ax.plot(
        chosen - n // 2, choice.gains[n_central:], color=plots.PALETTE[2], marker="^", markersize=4.5,
        linestyle="none", label="chosen lines, when chosen",
    )  # fmt: skip
    ax.set(xlabel="frequency of the line (0: centre of k-space)", ylabel="information gain (nats)", title="score")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, loc="lower center", fontsize=8.5)
    _tidy(ax)


def _errors(ax: Axes, outcomes: Sequence[Outcome]) -> None:
    slices = [row["slice"] for row in outcomes[0].rows]
    at = np.arange(len(outcomes))[::-1]
    for k, name in enumerate(slices):
        label = f"{name} slice" if name == "same" else "neighbouring slice"
        shift = 0.12 * (1 - 2 * k) * (len(slices) > 1)
        ax.plot(
            [one.rows[k]["error"] for one in outcomes], at + shift, color=plots.PALETTE[k], marker="os"[k],
            markersize=6, linestyle="none", label=label,
        )  # fmt: skip
    ax.set_yticks(at, [_words(one.design, 18) for one in outcomes], fontsize=9)
    ax.set_ylim(-0.6, len(outcomes) - 0.4)
    ax.set(xlabel="error |true - reconstructed|, less is better", title="all designs of this size")
    ax.legend(frameon=False, loc="best", fontsize=8.5)
    _tidy(ax)


def _words(name: str, width: int = 22) -> str:
    return textwrap.fill(name.replace("_", " "), width)


def _tidy(ax: Axes) -> None:
    ax.title.set_fontsize(10.5)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="#DDDDDD", linewidth=0.6)
    ax.set_axisbelow(True)
