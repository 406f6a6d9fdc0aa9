"""Learning curves with bands, and paired differences with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks
from adaptive.plots.style import GREY, PALETTE, axes_of, columns_of, style, tidy, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["differences", "learning_curve"]


def learning_curve(
    curve: Mapping[str, Sequence[Any]],
    *,
    ax: Axes | None = None,
    xlabel: str = "answers used",
    ylabel: str = "accuracy on held-out rows (%)",
    percent: bool = True,
    band: str = "",
) -> Axes:
    """Draw one line with its band per scorer.

    Parameters
    ----------
    curve : mapping of columns
        "scorer" (names), "n_labelled", "mean", "lower" and "upper", all of one length; what `adaptive classify` writes
        to ``curve.csv``. A frame serves. Where limits are infinite or missing there is no band.
    ax : matplotlib axes or None, default None
        Where to draw; None takes pyplot's current axes.
    xlabel, ylabel : str
        What the axes say, with units.
    percent : bool, default True
        Show fractions as percentages.
    band : str, default ""
        What the shaded band is, for the legend ("95% interval of the mean of 5 seeds").

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from adaptive.plots import figure
    >>> drawing, ax = figure()
    >>> curve = {"scorer": ["random"] * 2, "n_labelled": [1, 2], "mean": [0.5, 0.7]}
    >>> ax = learning_curve({**curve, "lower": [0.4, 0.6], "upper": [0.6, 0.8]}, ax=ax)
    >>> len(ax.lines)
    1
    """
    axes = axes_of(ax)
    names, x, mean, lower, upper = columns_of(curve, ("scorer", "n_labelled", "mean", "lower", "upper"))
    factor = 100.0 if percent else 1.0
    order = sorted(dict.fromkeys(names.tolist()), key=lambda name: name == "random")  # random last, else as given
    for number, name in enumerate(order):
        rows = np.flatnonzero(names == name)
        rows = rows[np.argsort(x[rows].astype(float), kind="stable")]
        at, middle = x[rows].astype(float), factor * mean[rows].astype(float)
        look = style(name, number)
        below, above = factor * lower[rows].astype(float), factor * upper[rows].astype(float)
        known = np.isfinite(below) & np.isfinite(above)  # one seed sets no limits
        axes.fill_between(at, below, above, where=known, color=look["color"], alpha=0.15, linewidth=0)
        axes.plot(at, middle, label=words(name), markevery=max(1, len(at) // 8), markersize=4.5, linewidth=1.8, **look)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.legend(frameon=False, loc="lower right", title=f"band: {band}" if band else None, title_fontsize="small")
    return tidy(axes)


def differences(
    names: Sequence[str],
    mean: Sequence[float],
    lower: Sequence[float],
    upper: Sequence[float],
    *,
    xlabel: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw paired differences with their intervals, one row each; what does not cross the zero line is a difference.

    Parameters
    ----------
    names : sequence of str
        One per row, drawn from top to bottom.
    mean, lower, upper : sequences of float
        The difference and its interval.
    xlabel : str
        What is subtracted from what, in which unit.
    ax : matplotlib axes or None, default None

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ValueError
        If names, differences and limits differ in number, or are not finite.

    Examples
    --------
    >>> from adaptive.plots import figure
    >>> drawing, ax = figure()
    >>> differences(["margin"], [0.4], [0.2], [0.6], xlabel="margin minus random (points)", ax=ax).get_xlabel()
    'margin minus random (points)'
    """
    axes = axes_of(ax)
    middle, low, high = (
        checks.finite(name, values) for name, values in (("mean", mean), ("lower", lower), ("upper", upper))
    )
    for name, values in (("mean", middle), ("lower", low), ("upper", high)):
        checks.shape(name, values, (len(names),))
    rows = np.arange(len(names))[::-1]
    axes.axvline(0, color=GREY, linewidth=1)
    errors = np.stack([middle - low, high - middle])
    axes.errorbar(middle, rows, xerr=errors, fmt="o", color=PALETTE[0], capsize=3, markersize=5)
    axes.set_yticks(rows, [words(name) for name in names])
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_xlabel(xlabel)
    return tidy(axes)
