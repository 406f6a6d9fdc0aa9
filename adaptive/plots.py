"""Figures of what a run has shown: learning curves with bands, calibration, paired differences.

Each function draws given columns on Matplotlib axes and returns the axes; none computes a model. Colours are those of
Okabe and Ito (2008), which people with colour-blindness tell apart; lines differ in dash and marker as well, for print
in grey. A series called "random" is always the grey dashed one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PALETTE", "calibration", "differences", "figure", "learning_curve", "save"]

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_GREY = "#6E6E6E"
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)))
_MARKERS = "os^Dv<>"


def figure(width: float = 6.4, height: float = 4.2) -> tuple[Figure, Axes]:
    """Return an empty figure (inches) and its axes, independent of pyplot and of any screen.

    Examples
    --------
    >>> drawing, ax = figure()
    >>> ax = learning_curve({"scorer": ["random"], "n_labelled": [1], "mean": [0.5], "lower": [0.4], "upper": [0.6]},
    ...                     ax=ax)
    >>> ax.get_xlabel()
    'answers used'
    """
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(width, height), layout="constrained")
    return drawing, drawing.add_subplot()


def save(drawing: Figure, path: str | os.PathLike[str], dpi: int = 150) -> None:
    """Write a figure whole or not at all; the same figure gives the same bytes (no date, no version inside)."""
    target = Path(path)
    partial = target.with_name(f".{target.name}.partial")
    kind = target.suffix.lstrip(".") or "png"
    metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None, "Producer": None}}
    drawing.savefig(partial, format=kind, dpi=dpi, metadata=metadata.get(kind))
    os.replace(partial, target)


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
        to ``curve.csv``. A frame serves.
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
    """
    axes = _axes(ax)
    names, x, mean, lower, upper = _columns(curve, ("scorer", "n_labelled", "mean", "lower", "upper"))
    factor = 100.0 if percent else 1.0
    order = sorted(dict.fromkeys(names.tolist()), key=lambda name: name == "random")  # random last, else as given
    for number, name in enumerate(order):
        rows = np.flatnonzero(names == name)
        rows = rows[np.argsort(x[rows].astype(float), kind="stable")]
        at, middle = x[rows].astype(float), factor * mean[rows].astype(float)
        style = _style(name, number)
        below, above = factor * lower[rows].astype(float), factor * upper[rows].astype(float)
        axes.fill_between(at, below, above, color=style["color"], alpha=0.15, linewidth=0)
        axes.plot(
            at, middle, label=_words(name), markevery=max(1, len(at) // 8), markersize=4.5, linewidth=1.8, **style
        )
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.legend(frameon=False, loc="lower right", title=f"band: {band}" if band else None, title_fontsize="small")
    return _tidy(axes)


def calibration(
    probabilities: Sequence[float] | np.ndarray,
    happened: Sequence[bool] | np.ndarray,
    *,
    n_bins: int = 10,
    label: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw how often events happened against the probability they were given; a perfect forecaster is on the diagonal.

    Parameters
    ----------
    probabilities : array-like of shape (n,)
        Predicted probabilities of the event.
    happened : array-like of shape (n,), booleans
        Whether it did.
    n_bins : int, default 10
        Bins of equal width; empty ones are not drawn.
    label : str, default ""
        Name of the series, for the legend. Several calls on one ``ax`` take successive colours.
    ax : matplotlib axes or None, default None

    Returns
    -------
    matplotlib axes
        Bars are 95% Wilson intervals of the frequency in a bin.
    """
    p = checks.finite("probabilities", probabilities)
    event = np.asarray(happened, dtype=bool)
    checks.shape("happened", event, p.shape)
    if p.size == 0 or p.min() < 0 or p.max() > 1:
        raise ValueError("probabilities must hold at least one number, all between 0 and 1.")
    axes = _axes(ax)
    bins = np.minimum((p * checks.integer("n_bins", n_bins, minimum=1)).astype(int), n_bins - 1)
    kept = [np.flatnonzero(bins == b) for b in range(n_bins) if (bins == b).any()]
    at = np.array([p[rows].mean() for rows in kept])
    often = np.array([event[rows].mean() for rows in kept])
    low, high = _wilson(often, np.array([len(rows) for rows in kept]))
    number = len(axes.containers)
    if number == 0:
        axes.plot([0, 100], [0, 100], color=_GREY, linewidth=1, linestyle=(0, (1, 2)), label="perfectly calibrated")
    errors = 100 * np.clip(np.stack([often - low, high - often]), 0, None)
    style = _style(label, number)
    axes.errorbar(100 * at, 100 * often, yerr=errors, label=label or None, capsize=2, markersize=4.5, **style)
    axes.set(xlabel="predicted probability (%)", ylabel="observed frequency (%)", xlim=(-2, 102), ylim=(-2, 102))
    axes.set_aspect("equal")
    axes.legend(frameon=False, loc="upper left")
    return _tidy(axes)


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
    """
    axes = _axes(ax)
    middle, low, high = (
        checks.finite(name, values) for name, values in (("mean", mean), ("lower", lower), ("upper", upper))
    )
    for name, values in (("mean", middle), ("lower", low), ("upper", high)):
        checks.shape(name, values, (len(names),))
    rows = np.arange(len(names))[::-1]
    axes.axvline(0, color=_GREY, linewidth=1)
    errors = np.stack([middle - low, high - middle])
    axes.errorbar(middle, rows, xerr=errors, fmt="o", color=PALETTE[0], capsize=3, markersize=5)
    axes.set_yticks(rows, [_words(name) for name in names])
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_xlabel(xlabel)
    return _tidy(axes)


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.gca()


def _columns(table: Mapping[str, Sequence[Any]], wanted: tuple[str, ...]) -> list[np.ndarray]:
    missing = [name for name in wanted if name not in table]
    if missing:
        raise ValueError(f"curve must have the columns {', '.join(wanted)}; {', '.join(missing)} is missing.")
    columns = [np.asarray(table[name]) for name in wanted]
    if len({len(column) for column in columns}) != 1:
        raise ValueError(f"the columns of curve must have one length, got {[len(column) for column in columns]}.")
    return columns


def _style(name: str, number: int) -> dict[str, Any]:
    if name == "random":
        return {"color": _GREY, "linestyle": "--", "marker": "x"}
    return {
        "color": PALETTE[number % len(PALETTE)],
        "linestyle": _DASHES[number % len(_DASHES)],
        "marker": _MARKERS[number % len(_MARKERS)],
    }


def _words(name: str) -> str:
    return str(name).replace("_", " ")


def _wilson(share: np.ndarray, count: np.ndarray, z: float = 1.959963984540054) -> tuple[np.ndarray, np.ndarray]:
    """95% interval of a frequency (Wilson 1927): never outside [0, 1], sensible at 0 and 1."""
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    return middle - half, middle + half


def _tidy(axes: Axes) -> Axes:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    return axes
