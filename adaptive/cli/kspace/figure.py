"""The figure of ``adaptive kspace``: images, what is wrong with them, the lines in their order, and the gains."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adaptive import plots
from adaptive.cli.kspace.line_designs import Choice, Outcome
from adaptive.cli.kspace.subject import Subject
from designs import kspace

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw"]

_SHOWN = ("designed", "low_pass", "variable_density", "half_plane_variable_density")


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
    first = {one.design: ", first draw" if len(one.lines) > 1 else "" for one in shown}
    images = {f"{one.design}{first[one.design]}": one.image for one in shown}
    plots.residuals(subject.same.image, images, upright=subject.same.upright, into=upper)
    order, gains, errors = lower.subplots(1, 3, width_ratios=[1, 1, 1.15])
    choice = outcomes[0].choice
    assert choice is not None
    pool = kspace.lines(subject.same.image.shape, settings["axis"])
    plots.sampling_order(pool.take(choice.lines), settings["initial"], ax=order).set_title("order of lines")
    _gains(gains, choice, pool, settings["initial"])
    rows = [row for one in outcomes for row in one.rows]
    columns = {name: [row[name] for row in rows] for name in ("design", "slice", "error")}
    columns["slice"] = [f"{name} slice" if name == "same" else f"{name}ing slice" for name in columns["slice"]]
    label = "error |true - reconstructed|, less is better"
    plots.design_errors(columns, ax=errors, xlabel=label).set_title("all designs of this size")
    caption.text(0.01, 0.5, textwrap.fill(said, 185), fontsize=8.5, va="center", color="#333333")
    return drawing


def _gains(ax: Axes, choice: Choice, pool: kspace.LinePool, n_central: int) -> None:
    """The score of every line: before the first choice, and after the last."""
    scores = {"before the first choice": choice.before_first, "after the last choice": choice.after_last}
    measured = {"before the first choice": choice.lines[:n_central], "after the last choice": choice.lines}
    plots.sampling_scores(pool, scores, measured=measured, ax=ax)
    chosen, middle = choice.lines[n_central:], pool.image_shape[pool.axis] // 2
    ax.plot(
        chosen - middle, choice.gains[n_central:], color=plots.PALETTE[2], marker="^", markersize=4.5,
        linestyle="none", label="chosen lines, when chosen",
    )  # fmt: skip
    ax.set(title="score")
    ax.legend(frameon=False, loc="lower center", fontsize=8.5)
