"""Reliability diagrams: how often events happened against the probability they were given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.plots.style import GREY, axes_of, style, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["calibration"]


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

    Raises
    ------
    ValueError
        If there is no probability, one is not between 0 and 1, or events and probabilities differ in number.

    Examples
    --------
    >>> from adaptive.plots import figure
    >>> drawing, ax = figure()
    >>> ax = calibration([0.1, 0.2, 0.8, 0.9], [False, False, True, True], n_bins=2, ax=ax)
    >>> ax.get_xlabel()
    'predicted probability (%)'
    """
    p = checks.finite("probabilities", probabilities)
    event = np.asarray(happened, dtype=bool)
    checks.shape("happened", event, p.shape)
    if p.size == 0 or p.min() < 0 or p.max() > 1:
        raise ValueError("probabilities must hold at least one number, all between 0 and 1.")
    axes = axes_of(ax)
    bins = np.minimum((p * checks.integer("n_bins", n_bins, minimum=1)).astype(int), n_bins - 1)
    kept = [np.flatnonzero(bins == b) for b in range(n_bins) if (bins == b).any()]
    at = np.array([p[rows].mean() for rows in kept])
    often = np.array([event[rows].mean() for rows in kept])
    low, high = _wilson(often, np.array([len(rows) for rows in kept]))
    number = len(axes.containers)
    if number == 0:
        axes.plot([0, 100], [0, 100], color=GREY, linewidth=1, linestyle=(0, (1, 2)), label="perfectly calibrated")
    errors = 100 * np.clip(np.stack([often - low, high - often]), 0, None)
    look = style(label, number)
    axes.errorbar(100 * at, 100 * often, yerr=errors, label=label or None, capsize=2, markersize=4.5, **look)
    axes.set(xlabel="predicted probability (%)", ylabel="observed frequency (%)", xlim=(-2, 102), ylim=(-2, 102))
    axes.set_aspect("equal")
    axes.legend(frameon=False, loc="upper left")
    return tidy(axes)


def _wilson(share: np.ndarray, count: np.ndarray, z: float = 1.959963984540054) -> tuple[np.ndarray, np.ndarray]:
    """95% interval of a frequency (Wilson 1927): never outside [0, 1], sensible at 0 and 1."""
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    return middle - half, middle + half
