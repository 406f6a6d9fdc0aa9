"""A tree with beliefs: nodes from left to right by depth, each with the interval of its value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.plots.style import GREY, PALETTE, axes_of, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["tree_of_values"]


def tree_of_values(
    table: Mapping[str, Sequence[Any]], *, ax: Axes | None = None, deviations: float = 1.645, xlabel: str = "moves made"
) -> Axes:
    """Draw nodes of a game tree; right of its line is good for the maximising player.

    Parameters
    ----------
    table : mapping of columns
        "node" (tuples of moves), "value", "value_std" and "visits", as `GameTreeSearch.to_frame` has them; a node whose
        parent is not there is left out.
    ax : matplotlib axes or None, default None
    deviations : float, default 1.645
        Half width of a bar, in standard deviations; by default 90% intervals.
    xlabel : str

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> from adaptive.plots import figure
    >>> drawing, ax = figure()
    >>> table = {"node": [(), (0,), (1,)], "value": [0.5, 1.0, 0.0], "value_std": [0.1, 0.2, 0.3], "visits": [3, 2, 1]}
    >>> tree_of_values(table, ax=ax).get_xlabel()
    'moves made'
    """
    axes = axes_of(ax)
    paths = [tuple(node) for node in table["node"]]
    values, spreads, visits = (np.asarray(table[name], dtype=float) for name in ("value", "value_std", "visits"))
    children: dict[tuple[Any, ...], list[int]] = {}
    for k, path in enumerate(paths):
        if path:
            children.setdefault(path[:-1], []).append(k)
    place, row = {}, [0.0]

    def lay(k: int) -> float:
        below = sorted(children.get(paths[k], []), key=lambda j: str(paths[j][-1]))
        places = [lay(j) for j in below]
        if not places:
            row[0] += 1.0
        place[k] = float(np.mean(places)) if places else row[0]
        return place[k]

    lay(paths.index(()))
    largest = max(float(np.max(visits)), 1.0)
    scale = 0.45 / max(float(np.max(np.abs(values) + deviations * spreads)), 1e-12)
    for k, y in place.items():
        x, value, half = len(paths[k]), float(values[k]), deviations * float(spreads[k])
        if paths[k]:
            parent = paths.index(paths[k][:-1])
            axes.plot([x - 1, x - 0.45], [place[parent], y], color=GREY, linewidth=0.6, alpha=0.6, zorder=1)
            axes.text(x - 0.47, y, str(paths[k][-1]), fontsize=7, ha="right", va="center", color=GREY)
        colour = PALETTE[0] if value > 0 else PALETTE[1]
        axes.plot([x + scale * (value - half), x + scale * (value + half)], [y, y], color=colour, linewidth=1.4)
        axes.plot([x, x], [y - 0.3, y + 0.3], color=GREY, linewidth=0.6)
        axes.scatter([x + scale * value], [y], s=8 + 60 * np.sqrt(float(visits[k]) / largest), color=colour, zorder=3)
    axes.set_yticks([])
    axes.set_xticks(range(max(map(len, paths)) + 1))
    axes.set_xlabel(xlabel)
    tidy(axes)
    return axes
