"""Figures that need no screen, and one look for all: colours, dashes and markers by series."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.files import write_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["GREY", "PALETTE", "axes_of", "columns_of", "figure", "save", "style", "tidy", "words"]

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GREY = "#6E6E6E"
SHEET: dict[str, Any] = {  # for pyplot, as `tidy` and `style` do: the gallery of the site is drawn by it
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "axes.grid": True,
    "grid.color": "#DDDDDD", "grid.linewidth": 0.6, "legend.frameon": False,
}  # fmt: skip
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.5, 1, 1.5)))
_MARKERS = "os^Dv<>"


def figure(width: float = 6.4, height: float = 4.2) -> tuple[Figure, Axes]:
    """Return an empty figure (inches) and its axes, independent of pyplot and of any screen.

    Parameters
    ----------
    width, height : float, default 6.4 and 4.2
        Inches.

    Returns
    -------
    figure : matplotlib Figure
    axes : matplotlib axes

    Examples
    --------
    >>> from adaptive.plots import learning_curve
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
    """Write a figure whole or not at all; the same figure gives the same bytes (no date, no version inside).

    Parameters
    ----------
    drawing : matplotlib Figure
    path : path
        Its ending says which format.
    dpi : int, default 150
        Pixels per inch, of formats made of pixels.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> drawing, _ = figure()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(drawing, Path(folder) / "empty.png")
    ...     (Path(folder) / "empty.png").stat().st_size > 0
    True
    """
    import matplotlib

    target = Path(path)
    kind = target.suffix.lstrip(".") or "png"
    metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None, "Producer": None}}
    drawn = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "adaptive"}):  # names of parts by what they are, not by chance
        drawing.savefig(drawn, format=kind, dpi=dpi, metadata=metadata.get(kind))
    write_file(target, drawn.getvalue(), durable=False)  # it can be drawn again


def axes_of(ax: Axes | None) -> Axes:
    """Return the axes given, else pyplot's current ones."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.gca()


def columns_of(table: Mapping[str, Sequence[Any]], wanted: tuple[str, ...], name: str = "curve") -> list[np.ndarray]:
    """Return the columns of a table as arrays of one length."""
    missing = [name for name in wanted if name not in table]
    if missing:
        raise ValueError(f"{name} must have the columns {', '.join(wanted)}; {', '.join(missing)} is missing.")
    columns = [np.asarray(table[name]) for name in wanted]
    if len({len(column) for column in columns}) != 1:
        raise ValueError(f"the columns of {name} must have one length, got {[len(column) for column in columns]}.")
    return columns


def style(name: str, number: int) -> dict[str, Any]:
    """Return colour, dash and marker of a series."""
    if name == "random":
        return {"color": GREY, "linestyle": "--", "marker": "x"}
    return {
        "color": PALETTE[number % len(PALETTE)],
        "linestyle": _DASHES[number % len(_DASHES)],
        "marker": _MARKERS[number % len(_MARKERS)],
    }


def words(name: str) -> str:
    """Return a name as it is printed."""
    return str(name).replace("_", " ")


def tidy(axes: Axes) -> Axes:
    """Leave the axes with a light grid and without a frame."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True, color=SHEET["grid.color"], linewidth=SHEET["grid.linewidth"])
    axes.set_axisbelow(True)
    return axes
