"""Scans drawn: reconstructions with their residuals, coil maps, errors by design and by what was measured."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks
from adaptive.plots.style import PALETTE, axes_of, columns_of, style, tidy, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from adaptive.types import ArrayLike

__all__ = ["coil_maps", "design_errors", "error_curves", "mark_sides", "residuals"]

MANY = 10  # designs, from which on their names are written small and in one row


def residuals(
    truth: ArrayLike,
    images: Mapping[str, ArrayLike],
    *,
    upright: Callable[[np.ndarray], np.ndarray] | None = None,
    into: Any = None,
    sides: str = "",
) -> Figure | Any:
    """Draw reconstructions, and below each the true magnitudes minus its own, all in one scale.

    Parameters
    ----------
    truth : array (h, w)
        Magnitudes, or complex.
    images : mapping of names to arrays (h, w)
        Drawn from left to right.
    upright : callable, optional
        Turns a picture as it is looked at, such as `adaptive.images.Slice.upright`.
    into : matplotlib Figure or SubFigure, optional
        Where to draw; default: a new figure.
    sides : str, default ""
        Letters of the sides of the patient on top and on the right, such as "AR": drawn on the true image.

    Returns
    -------
    Figure, or ``into``

    Raises
    ------
    ValueError
        If there is no image, or one of another shape than the truth.

    Examples
    --------
    >>> drawing = residuals(np.eye(4), {"half": np.eye(4) / 2})
    >>> [ax.get_title() for ax in drawing.axes[:4]]
    ['true image', 'half', '', 'error 1.00']
    """
    whole = np.abs(checks.finite("truth", truth, dtype=None))
    shown = {name: np.abs(checks.finite(f"image {name}", image, dtype=None)) for name, image in images.items()}
    if not shown or whole.ndim != 2:
        raise ValueError(f"residuals are of images (h, w), one or more, got {len(shown)} and a truth of {whole.shape}.")
    for name, image in shown.items():
        checks.shape(f"image {name}", image, whole.shape)
    turn = upright or np.asarray
    height, width = turn(whole).shape
    into = _figure(11.0 / (len(shown) + 1) * min(max(height / width, 0.4), 1.6) * 2 + 1.1) if into is None else into
    axes = into.subplots(2, len(shown) + 1, squeeze=False)
    brightest = float(np.percentile(whole, 99.8)) or 1.0
    left = {name: whole - image for name, image in shown.items()}
    largest = max(float(np.percentile(np.abs(one), 99.8)) for one in left.values()) or 1.0
    top = axes[0, 0].imshow(turn(whole), cmap="gray", vmin=0, vmax=brightest)
    axes[0, 0].set_title("true image", fontsize=10)
    mark_sides(axes[0, 0], sides)
    bottom: Any = None
    for column, (name, image) in enumerate(shown.items(), start=1):
        axes[0, column].imshow(turn(image), cmap="gray", vmin=0, vmax=brightest)
        axes[0, column].set_title(_heading(name), fontsize=10)
        bottom = axes[1, column].imshow(turn(left[name]), cmap="RdBu_r", vmin=-largest, vmax=largest)
        axes[1, column].set_title(f"error {np.linalg.norm(left[name]):.2f}", fontsize=10)
    for ax in axes.flat:
        ax.set_xticks([])
        ax.set_yticks([])
    axes[1, 0].axis("off")
    axes[1, 0].text(
        0.5, 0.5, "true minus\nreconstructed,\nmagnitudes", ha="center", va="center", transform=axes[1, 0].transAxes
    )
    into.colorbar(top, ax=axes[0, :], fraction=0.02, pad=0.01, label="magnitude")
    into.colorbar(bottom, ax=axes[1, :], fraction=0.02, pad=0.01, label="difference of magnitudes")
    return into


def mark_sides(ax: Axes, sides: str) -> None:
    """Write the letters of the patient's sides, top and right of ``sides`` and those opposite, on a picture."""
    opposite = {"R": "L", "A": "P", "S": "I"}
    opposite |= {value: key for key, value in opposite.items()}
    if len(sides) != 2 or not set(sides) <= set(opposite):
        return
    top, right = sides[0], sides[1]
    places = ((0.5, 0.98, top, "center", "top"), (0.5, 0.02, opposite[top], "center", "bottom"),
              (0.98, 0.5, right, "right", "center"), (0.02, 0.5, opposite[right], "left", "center"))  # fmt: skip
    box = {"facecolor": "black", "alpha": 0.6, "linewidth": 0, "pad": 1.0}
    for x, y, letter, across, along in places:
        ax.text(x, y, letter, transform=ax.transAxes, ha=across, va=along, color="#ffd24d", fontsize=9, bbox=box)


def coil_maps(
    maps: ArrayLike, *, upright: Callable[[np.ndarray], np.ndarray] | None = None, into: Any = None
) -> Figure | Any:
    """Draw the sensitivities of the coils: magnitudes above, phases below.

    Parameters
    ----------
    maps : array (coils, h, w), complex
        As `ImageReconstructor.coil_maps_` has them, or `adaptive.images.estimate_coils`.
    upright : callable, optional
    into : matplotlib Figure or SubFigure, optional
        Both as of `residuals`.

    Returns
    -------
    Figure, or ``into``
        One column for each coil.

    Raises
    ------
    ValueError
        If they are not finite, or not the maps of one slice.

    Examples
    --------
    >>> from adaptive.images import simulate_coils
    >>> len(coil_maps(simulate_coils((16, 16), 4, random_state=0)).axes)  # two for each coil, and two colour bars
    10
    """
    seen = checks.finite("maps", maps, dtype=complex)
    if seen.ndim != 3 or not len(seen):
        raise ValueError(f"maps must be those of one slice, (coils, h, w), got shape {seen.shape}.")
    turn = upright or np.asarray
    height, width = turn(seen[0]).shape
    tall = 2 * 11.0 / max(len(seen), 4) * min(max(height / width, 0.4), 1.6) + 0.9
    drawing = _figure(tall) if into is None else into
    axes = drawing.subplots(2, len(seen), squeeze=False)
    for coil, one in enumerate(seen):
        size = axes[0, coil].imshow(turn(np.abs(one)), cmap="viridis", vmin=0, vmax=float(np.abs(seen).max()) or 1.0)
        turned = np.where(one == 0, np.nan, np.angle(one))
        angle = axes[1, coil].imshow(turn(turned), cmap="twilight", vmin=-np.pi, vmax=np.pi)
        axes[0, coil].set_title(f"coil {coil}", fontsize=10)
    for ax in axes.flat:
        ax.set_xticks([])
        ax.set_yticks([])
    drawing.colorbar(size, ax=axes[0, :], fraction=0.02, pad=0.01, label="magnitude")
    bar = drawing.colorbar(angle, ax=axes[1, :], fraction=0.02, pad=0.01, label="phase (radians)")
    bar.set_ticks([-np.pi, 0, np.pi], labels=["-π", "0", "π"])
    return drawing


def error_curves(
    table: Mapping[str, Sequence[Any]],
    *,
    ax: Axes | None = None,
    xlabel: str = "lines measured",
    ylabel: str = "error |true - reconstructed|",
) -> Axes:
    """Draw the error of every design against how much was measured.

    Parameters
    ----------
    table : mapping of columns, or frame
        "design" (names), "measured" (numbers) and "error"; of several rows alike the mean is drawn, with a band from
        the least to the largest.
    ax : matplotlib axes or None, default None
    xlabel, ylabel : str

    Returns
    -------
    matplotlib axes
        One curve for each design, in the order of the table.

    Raises
    ------
    ValueError
        If a column is missing, or of another length.

    Examples
    --------
    >>> from adaptive.plots import figure
    >>> drawing, ax = figure()
    >>> table = {"design": ["designed", "designed"], "measured": [20, 40], "error": [5.0, 3.0]}
    >>> [line.get_label() for line in error_curves(table, ax=ax).lines]
    ['designed']
    """
    axes = axes_of(ax)
    names, measured, error = columns_of(table, ("design", "measured", "error"), "table")
    for number, name in enumerate(dict.fromkeys(names.tolist())):
        rows = names == name
        at = np.unique(measured[rows].astype(float))
        each = [error[rows & (measured == one)].astype(float) for one in at]
        look = style(name, number)
        axes.fill_between(
            at, [min(one) for one in each], [max(one) for one in each], color=look["color"], alpha=0.15, linewidth=0
        )
        axes.plot(at, [one.mean() for one in each], label=words(name), markersize=4.5, linewidth=1.8, **look)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8.5)
    return tidy(axes)


def design_errors(
    table: Mapping[str, Sequence[Any]], *, ax: Axes | None = None, xlabel: str = "error, less is better"
) -> Axes:
    """Draw the errors of designs of one size, one row each, from top to bottom.

    Parameters
    ----------
    table : mapping of columns, or frame
        "design" (names), "slice" (what was reconstructed: one marker for each) and "error"; what `adaptive kspace`
        writes to ``designs.csv``. A column "error_95" is half of the interval that is drawn.
    ax : matplotlib axes or None, default None
    xlabel : str

    Returns
    -------
    matplotlib axes
        One row for each design, in the order of the table.

    Raises
    ------
    ValueError
        If a column is missing, or of another length.

    Examples
    --------
    >>> from adaptive.plots import figure
    >>> drawing, ax = figure()
    >>> ax = design_errors({"design": ["designed", "low_pass"], "slice": ["same"] * 2, "error": [3.0, 5.0]}, ax=ax)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['designed', 'low pass']
    """
    axes = axes_of(ax)
    names, slices, error = columns_of(table, ("design", "slice", "error"), "table")
    designs, seen = list(dict.fromkeys(names.tolist())), list(dict.fromkeys(slices.tolist()))
    at, few = {name: len(designs) - 1 - k for k, name in enumerate(designs)}, len(designs) <= MANY
    for k, one in enumerate(seen):
        rows = slices == one
        shift = 0.12 * (1 - 2 * k / max(1, len(seen) - 1)) * (len(seen) > 1)
        half = np.asarray(table["error_95"], dtype=float)[rows] if "error_95" in table else None
        axes.errorbar(
            error[rows].astype(float), [at[name] + shift for name in names[rows].tolist()], xerr=half, capsize=0,
            color=PALETTE[k % len(PALETTE)], marker="os^Dv<>"[k % 7], markersize=6, linestyle="none", label=words(one),
        )  # fmt: skip
    axes.set_yticks(
        list(at.values()), [_heading(name, 18 if few else 30) for name in designs], fontsize=9 if few else 8
    )
    axes.set_ylim(-0.6, len(designs) - 0.4)
    axes.set(xlabel=xlabel)
    if len(seen) > 1:
        axes.legend(frameon=False, loc="best", fontsize=8.5)
    return tidy(axes)


def _figure(height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(12.5, height), layout="constrained")


def _heading(name: str, width: int = 22) -> str:
    return textwrap.fill(words(name), width)
