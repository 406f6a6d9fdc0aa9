"""Designs of k-space drawn: the order of lines, points or shots, and what each was worth.

Designs are pools in the order of the scan, those that `designs.kspace.export_design` writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks
from adaptive.plots.style import GREY, PALETTE, axes_of, style, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from adaptive.types import ArrayLike

__all__ = ["sampling_order", "sampling_scores"]

_FREQUENCY = "frequency of the line (0: centre of k-space)"
_TURNS = 20  # of shots that are told apart between the centre of k-space and the border of a picture


def sampling_order(design: Any, n_central: int = 0, *, ax: Axes | None = None) -> Axes:
    """Draw where a design measures, and in which order.

    Parameters
    ----------
    design : LinePool, PhaseEncodePool or TrajectoryPool
        In the order of the scan.
    n_central : int, default 0
        How many of the first ones were given, drawn in grey.
    ax : matplotlib axes or None, default None

    Returns
    -------
    matplotlib axes
        Of lines frequency against order; of points and shots the plane of k-space, coloured by order; of shots that lie
        close to each other its centre.

    Raises
    ------
    ValueError
        If ``design`` is none of them, or empty.

    Examples
    --------
    >>> from adaptive.plots import figure
    >>> from designs.kspace import lines
    >>> drawing, ax = figure()
    >>> np.array(sampling_order(lines((8, 8)).take([4, 3, 5, 6]), 3, ax=ax).get_ylim()).tolist()
    [-5.0, 5.0]
    """
    if not any(hasattr(design, name) for name in ("lines", "encodes", "samples")):
        raise ValueError(f"design must be a pool of lines, phase encodes or shots, got {type(design).__name__}.")
    if not len(design):
        raise ValueError("design must hold something that is measured, and it is empty.")
    n_central = checks.integer("n_central", n_central, minimum=0)
    axes = axes_of(ax)
    if hasattr(design, "lines"):
        return _order_of_lines(axes, np.asarray(design.lines), design.image_shape[design.axis], n_central)
    if hasattr(design, "encodes"):
        return _order_of_points(axes, np.asarray(design.encodes), design.plane, n_central)
    return _order_of_shots(axes, design, n_central)


def sampling_scores(
    pool: Any,
    scores: Mapping[str, ArrayLike] | ArrayLike,
    *,
    measured: Mapping[str, ArrayLike] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the scores of all lines as curves, or those of all points as a picture of k-space.

    Parameters
    ----------
    pool : LinePool or PhaseEncodePool
        The candidates.
    scores : array (m,), or mapping of names to such arrays
        As ``estimator.select(..., return_scores=True)`` and the functions of `adaptive.scorers` return them, in nats;
        of points one array.
    measured : mapping of names to positions, optional
        Candidates that are left out, for they were measured already.
    ax : matplotlib axes or None, default None

    Returns
    -------
    matplotlib axes
        Of lines a curve for each array against frequency; of points the plane of k-space, coloured by score.

    Raises
    ------
    ValueError
        If there is not one score per candidate, or several arrays for points.

    Examples
    --------
    >>> from adaptive.plots import figure
    >>> from designs.kspace import lines
    >>> drawing, ax = figure()
    >>> sampling_scores(lines((4, 4)), {"before": [1.0, 2.0, 3.0, 2.0]}, measured={"before": [2]}, ax=ax).get_ylabel()
    'information gain (nats)'
    """
    given = dict(scores) if isinstance(scores, Mapping) else {"": scores}
    columns = {name: checks.finite(f"scores {name}".rstrip(), values) for name, values in given.items()}
    for name, values in columns.items():
        checks.shape(f"scores {name}".rstrip(), values, (len(pool),))
    left_out = {} if measured is None else {name: np.asarray(where, dtype=int) for name, where in measured.items()}
    axes = axes_of(ax)
    for name, where in left_out.items():
        if name in columns:
            columns[name] = columns[name].copy()
            columns[name][where] = np.nan
    if hasattr(pool, "encodes"):
        if len(columns) != 1:
            raise ValueError(f"scores of points are one picture, got {len(columns)} arrays.")
        return _score_map(axes, pool, next(iter(columns.values())))
    n = pool.image_shape[pool.axis]
    order = np.argsort(pool.lines)
    for number, (name, values) in enumerate(columns.items()):
        look = {**style("", number), "marker": ".", "markersize": 3}  # a line between two measured ones is a point
        axes.plot(np.asarray(pool.lines)[order] - n // 2, values[order], linewidth=1.6, label=name or None, **look)
    axes.set(xlabel=_FREQUENCY, ylabel="information gain (nats)")
    axes.set_ylim(bottom=0)
    if any(columns):
        axes.legend(frameon=False, fontsize=8.5)
    return tidy(axes)


def _order_of_lines(axes: Axes, lines: np.ndarray, n: int, n_central: int) -> Axes:
    frequency, step = lines - n // 2, np.arange(1, len(lines) + 1)
    if n_central:
        axes.axvspan(0.5, n_central + 0.5, color=GREY, alpha=0.15, linewidth=0, label="central lines")
        axes.plot(step[:n_central], frequency[:n_central], color=GREY, marker="_", markersize=6, linestyle="none")
    axes.plot(
        step[n_central:], frequency[n_central:], color=PALETTE[0], marker="o", markersize=4.5, linestyle="none",
        label="further lines",
    )  # fmt: skip
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set(xlabel="lines measured", ylabel=_FREQUENCY)
    axes.locator_params(axis="x", integer=True)
    axes.set(xlim=(0.5, len(lines) + 0.5), ylim=(-n / 2 - 1, n / 2 + 1))
    if n_central:
        axes.legend(frameon=False, loc="best", fontsize=8.5)
    return tidy(axes)


def _order_of_points(axes: Axes, encodes: np.ndarray, plane: tuple[int, int], n_central: int) -> Axes:
    from matplotlib.colors import ListedColormap

    given, order = np.full(plane, np.nan), np.full(plane, np.nan)
    given[tuple(encodes[:n_central].T)] = 1.0
    order[tuple(encodes[n_central:].T)] = np.arange(n_central, len(encodes)) + 1
    axes.imshow(given, extent=_edges(plane), cmap=ListedColormap([GREY]), interpolation="nearest")
    shown = axes.imshow(
        order, extent=_edges(plane), cmap=_order_colours(), interpolation="nearest",
        vmin=n_central + 1, vmax=max(len(encodes), n_central + 2),
    )  # fmt: skip
    axes.figure.colorbar(shown, ax=axes, label="order (grey: given)" if n_central else "order", fraction=0.05)
    axes.set(xlabel="frequency, second axis", ylabel="frequency, first axis")
    return axes


def _edges(plane: tuple[int, int]) -> tuple[float, float, float, float]:
    """The plane's left, right, lower and upper edge in frequencies, half a point around the outermost ones."""
    first, second = plane
    return -(second // 2) - 0.5, second - second // 2 - 0.5, first - first // 2 - 0.5, -(first // 2) - 0.5


def _order_of_shots(axes: Axes, design: Any, n_central: int) -> Axes:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scale, colours = Normalize(1, max(2, len(design))), _order_colours()
    sides, length = np.array(design.image_shape[:2]), 0.0
    for k, shot in enumerate(design.samples):
        path = np.asarray(shot)[:, :2] * sides / (2 * np.pi)
        far = np.linalg.norm(np.diff(path, axis=0), axis=1)
        arms = np.flatnonzero(far > 0.25 * sides.min())  # a shot of several arms jumps between them
        length += float(np.delete(far, arms).sum())
        path = np.insert(path, arms + 1, np.nan, axis=0)
        colour = GREY if k < n_central else colours(scale(k + 1))
        axes.plot(path[:, 1], path[:, 0], color=colour, linewidth=1.0)
    half = np.minimum(sides / 2, _TURNS * np.prod(sides) / max(length, 1.0)) + 0.5
    axes.set(xlim=(-half[1], half[1]), ylim=(-half[0], half[0]))
    label = "order (grey: given)" if n_central else "order"
    axes.figure.colorbar(ScalarMappable(scale, colours), ax=axes, label=label, fraction=0.05)
    axes.set(xlabel="frequency, second axis", ylabel="frequency, first axis", aspect="equal")
    axes.invert_yaxis()
    return axes


def _order_colours() -> Any:
    """Viridis without its yellow end, which is hard to see on white."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["viridis"](np.linspace(0, 0.85, 256)))


def _score_map(axes: Axes, pool: Any, values: np.ndarray) -> Axes:
    grid = np.full(pool.plane, np.nan)
    grid[tuple(np.asarray(pool.encodes).T)] = values
    shown = axes.imshow(grid, extent=_edges(pool.plane), cmap="magma", interpolation="nearest")
    axes.figure.colorbar(shown, ax=axes, label="information gain (nats)", fraction=0.05)
    axes.set(xlabel="frequency, second axis", ylabel="frequency, first axis")
    return axes
