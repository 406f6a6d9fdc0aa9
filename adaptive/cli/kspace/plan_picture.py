"""The picture of a plan: images of one simulated scan by the plan and by a usual rule, their errors, and the order.

upper left     the true image, that of the plan, that of variable density (or of the plain design beside the plan)
lower left     true minus reconstructed, each with its error
right          the order of the scan
"""

from __future__ import annotations

import textwrap
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from adaptive import plots
from adaptive.cli.kspace.plan_errors import DENSITY, PLAN
from adaptive.cli.kspace.tuning import ASSUMED
from adaptive.cli.kspace.values import named
from adaptive.plots.scans import mark_sides
from designs.kspace.from_images.tuned import mask_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from adaptive.cli.kspace.plan_errors import Planned
    from adaptive.cli.kspace.values import Known

__all__ = ["draw"]

WIDTH, PICTURES = 13.5, 9.0  # inches: of the figure, and of its images
ORDER = 4.2  # height of the order, at least


def draw(known: Known, design: Any, n_first: int, found: Planned, settings: dict[str, Any]) -> Figure:
    """Return the figure; of shots it has the slice and their order.

    Parameters
    ----------
    known : Known
    design : LinePool, PhaseEncodePool or TrajectoryPool
        The plan.
    n_first : int
        How many of them come first in any case.
    found : Planned
    settings : dict
        trajectory, snr, phase.
    """
    from matplotlib.figure import Figure

    shots = settings["trajectory"] in ("spirals", "spokes")
    beside = _beside(found)
    words = "\n".join(textwrap.fill(one, 175) for one in _caption(known, design, n_first, found, beside, settings))
    below = 0.25 + 0.17 * (1 + words.count("\n"))
    height, width = _upright(known, known.images[0]).shape
    tall = ORDER if shots else max(ORDER, 2 * (PICTURES / 3.6 * min(max(height / width, 0.4), 1.6) + 0.5))
    drawing = Figure(figsize=(WIDTH, tall + below), layout="constrained")
    parts: Any = drawing.subfigures(2, 1, height_ratios=[tall, below])
    above, caption = parts
    pictures, order = above.subfigures(1, 2, width_ratios=[PICTURES, WIDTH - PICTURES])
    if shots:
        _slice(known, pictures)
    else:
        _images(known, found, beside, pictures)
    plots.sampling_order(design, n_first, ax=order.subplots()).set_title("plan, in the order of the scan", fontsize=10)
    caption.text(0.01, 0.5, words, fontsize=9, va="center", color="#333333")
    return drawing


def _beside(found: Planned) -> str:
    """Name of what is shown beside the plan: variable density, whatever else it is called, or the plain design."""
    usual = [name for name, one in found.expected.items() if name != PLAN and one.design.startswith(DENSITY)]
    return usual[0] if usual else list(found.ratios)[-1]


def _images(known: Known, found: Planned, beside: str, into: Any) -> None:
    """Images of the scan that lies in the middle by the ratio of the errors, below each what is wrong with it."""
    images, errors = {}, []
    ratios = found.errors[PLAN] / found.errors[beside]
    k = int(np.argsort(ratios, kind="stable")[len(ratios) // 2])
    judged = found.judged[k]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of reconstructions that are only looked at
        scan = judged.made()
        n = scan.image.shape if judged.axis is None else scan.image.shape[judged.axis : judged.axis + 1]
        for name in (PLAN, beside):
            draws = found.patterns[name]
            pattern, drawn = (draws[k], f", draw {k}") if len(draws) > 1 else (draws[0], "")
            title = "plan" if name == PLAN else named(found.expected[name].design.split(",")[0])
            images[title] = np.abs(judged.found(mask_of(pattern, n)))
            errors.append(f"error {found.errors[name][k]:.3f}{drawn}")
    plots.residuals(scan.image, images, upright=lambda one: _upright(known, one), into=into, sides=_sides(known))
    columns = len(images) + 1
    into.axes[0].set_title("reference (true image)" if known.same else "a slice that taught\n(true image)", fontsize=10)
    for ax, error in zip(into.axes[columns + 1 :], errors, strict=False):
        ax.set_title(error, fontsize=10)


def _slice(known: Known, into: Any) -> None:
    """The slice alone."""
    head = into.subplots()
    drawn = head.imshow(_upright(known, np.abs(known.images[0])), cmap="gray")
    into.colorbar(drawn, ax=head, fraction=0.04, pad=0.02, label="magnitude")
    mark_sides(head, _sides(known))
    head.set(xticks=[], yticks=[])
    head.set_title("reference" if known.same else "one of the slices that taught", fontsize=10)


def _caption(
    known: Known, design: Any, n_first: int, found: Planned, beside: str, settings: dict[str, Any]
) -> list[str]:
    """Return what a picture needs: the size, the verdict, the errors to expect, and what was simulated."""
    size = " x ".join(map(str, known.images[0].shape))
    first = f", the first {n_first} in any case" if n_first else ""
    other = named(found.expected[beside].design.split(",")[0])
    middle = " The images are of the scan in the middle by the ratio of the two errors."
    shown = "" if settings["trajectory"] in ("spirals", "spokes") else middle
    return [
        f"{len(design)} {settings['trajectory']} of {size}{first}. {found.verdict()}",
        f"Error to expect (|true - reconstructed| / |true|), in brackets the range of nine in ten scans: plan "
        f"{found.expected[PLAN]}, {other} {found.expected[beside]}.",
        f"By {found.scans} at SNR {settings['snr']:g}, phase {ASSUMED[settings['phase']]}.{shown}",
    ]


def _upright(known: Known, picture: np.ndarray) -> np.ndarray:
    return np.rot90(picture) if known.anatomical else picture


def _sides(known: Known) -> str:
    """Letters of the patient's sides on top and on the right of the picture, where the file says how it lies."""
    place = known.geometry
    if place is None:
        return ""
    if known.anatomical:
        return place.side(1) + place.side(0)
    above = place.side(0)
    return {"R": "L", "L": "R", "A": "P", "P": "A", "S": "I", "I": "S"}[above] + place.side(1)
