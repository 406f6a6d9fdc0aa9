"""The tables of `adaptive.diagnostics` as figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.plots.style import GREY, PALETTE, axes_of, columns_of, style, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["calibration_along", "class_balance", "when_to_stop"]


def class_balance(table: Mapping[str, Sequence[Any]], *, ax: Axes | None = None) -> Axes:
    """Draw the share of each outcome among the answers; dotted, the share of the pool that it is believed to be.

    Parameters
    ----------
    table : columns of `diagnostics.class_balance`
    ax : matplotlib axes or None, default None

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from adaptive import BayesianLogisticRegression, SequentialDesign, diagnostics
    >>> from adaptive.plots import figure
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> model = BayesianLogisticRegression(classes=["no", "yes"])
    >>> design = SequentialDesign(model, X, lambda query: [y[k] for k in query.positions], random_state=0).run(3)
    >>> class_balance(diagnostics.class_balance(design), ax=figure()[1]).get_xlabel()
    'answers'
    """
    axes = axes_of(ax)
    n, outcome, share, believed = columns_of(table, ("n_labelled", "outcome", "share", "believed"), "table")
    for number, one in enumerate(dict.fromkeys(outcome.tolist())):
        rows = outcome == one
        look = style("", number)
        every = max(1, int(rows.sum()) // 8)
        axes.plot(n[rows], 100 * share[rows].astype(float), label=str(one), markevery=every, markersize=4.5, **look)
        if np.isfinite(believed[rows].astype(float)).any():
            axes.axhline(100 * float(believed[rows][-1]), color=look["color"], linewidth=1, linestyle=(0, (1, 2)))
    axes.set(xlabel="answers", ylabel="share of the answers (%)", ylim=(-2, 102))
    axes.legend(frameon=False, title="dotted: believed of the pool", title_fontsize="small")
    return tidy(axes)


def calibration_along(table: Mapping[str, Sequence[Any]], *, ax: Axes | None = None) -> Axes:
    """Draw the accuracy that was expected and the one that was observed, along the run.

    Parameters
    ----------
    table : columns of `diagnostics.calibration`
    ax : matplotlib axes or None, default None

    Returns
    -------
    matplotlib axes
        The band is two standard errors of the observed share around what was expected.

    Examples
    --------
    >>> from adaptive.plots import figure
    >>> drawing, ax = figure()
    >>> table = {"n_labelled": [5, 10], "n_events": [50, 50], "expected_accuracy": [0.7, 0.8], "accuracy": [0.6, 0.8]}
    >>> calibration_along(table, ax=ax).get_ylabel()
    'right labels (%)'
    """
    axes = axes_of(ax)
    wanted = ("n_labelled", "n_events", "expected_accuracy", "accuracy")
    n, events, expected, observed = (column.astype(float) for column in columns_of(table, wanted, "table"))
    error = 2 * np.sqrt(expected * (1 - expected) / events)
    lower, upper = np.clip([expected - error, expected + error], 0.0, 1.0)
    axes.fill_between(n, 100 * lower, 100 * upper, color=GREY, alpha=0.15, linewidth=0)
    axes.plot(n, 100 * expected, color=GREY, linestyle="--", label="expected by the model (band: two standard errors)")
    axes.plot(n, 100 * observed, color=PALETTE[0], label="observed")
    axes.set(xlabel="answers", ylabel="right labels (%)", ylim=(-2, 102))
    axes.legend(frameon=False)
    return tidy(axes)


def when_to_stop(table: Mapping[str, Sequence[Any]]) -> Figure:
    """Draw what one more answer was expected to bring along the run: information, accuracy, and how predictions moved.

    Parameters
    ----------
    table : columns of `diagnostics.when_to_stop`

    Returns
    -------
    matplotlib Figure of four axes

    Examples
    --------
    >>> table = {"n_labelled": [10, 20], "information_left": [0.3, 0.1], "change": [float("nan"), 0.02]}
    >>> len(when_to_stop({**table, "expected_accuracy": [0.8, 0.91], "expected_gain": [0.01, 0.002]}).axes)
    4
    """
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(9.0, 5.4), layout="constrained")
    axes = drawing.subplots(2, 2, sharex=True)
    panels = {
        "information_left": ("best question left (nats)", 1.0),
        "change": ("predictions moved by (points)", 100.0),
        "expected_accuracy": ("believed accuracy on the pool (%)", 100.0),
        "expected_gain": ("expected of the next answer (points)", 100.0),
    }
    n, *columns = columns_of(table, ("n_labelled", *panels), "table")
    for number, (ax, column, (label, factor)) in enumerate(zip(axes.flat, columns, panels.values(), strict=True)):
        ax.plot(n, factor * column.astype(float), markersize=4.5, **style("", number))
        ax.set_ylabel(label)
        if label.startswith(("best", "pred", "exp")):
            ax.set_ylim(bottom=0)
        tidy(ax)
    for ax in axes[1]:
        ax.set_xlabel("answers")
    return drawing
