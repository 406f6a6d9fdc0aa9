"""One way to draw what was repeated: the mean with its 95% interval, a band along a curve or bars at points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.statistics import limits

__all__ = ["BAND", "BARS", "with_interval"]

BAND = "Bands: 95% intervals of the mean"  # how captions name them; what was repeated follows
BARS = "Bars: 95% intervals of the mean"


def with_interval(ax: Any, x: Any, samples: Sequence[Any] | np.ndarray, *, bars: bool = False, **look: Any) -> Any:
    """Draw the mean of each sample with its 95% interval by Student's t; a single value has none.

    Parameters
    ----------
    ax : Matplotlib axes
    x : array-like of shape (places,)
    samples : sequence of arrays
        The repeated values of each place; of runs (runs, places), their transpose.
    bars : bool, default False
        Bars at points in place of a band, for places that no curve joins or where bands would hide each other.
    **look
        Of the line: colour, style, marker, label. Without a colour the axes' next one.

    Returns
    -------
    Matplotlib line

    Examples
    --------
    >>> from adaptive.plots import figure
    >>> _, ax = figure()
    >>> with_interval(ax, [10, 20], np.array([[1.0, 3.0], [2.0, 2.0]]), label="two runs").get_ydata().tolist()
    [2.0, 2.0]
    >>> len(ax.collections)
    1
    """
    mean, low, high = np.array([limits(np.asarray(one, dtype=float)) for one in samples]).reshape(-1, 3).T
    (line,) = ax.plot(x, mean, **look)
    if np.any(high > low):
        if bars:
            ax.errorbar(x, mean, [mean - low, high - mean], fmt="none", color=line.get_color(), capsize=2, linewidth=1)
        else:
            ax.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    return line
