"""Rooms of the library and their imports, counted and drawn: a box for each, an arrow where one imports another."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

__all__ = ["LAYERS", "draw", "edges"]

ROOT = Path(__file__).resolve().parents[2]
# From what people type down to what everything stands on.
LAYERS = (
    ("cli",),
    ("serve", "designs"),
    ("labelling", "diagnostics", "plots"),
    ("loop", "scanner"),
    ("estimators",),
    ("search", "images", "tables", "datasets"),
    ("selection", "inference"),
    ("scorers", "pool", "gaussians", "kernels", "means"),
    ("predictive", "linalg"),
    ("potentials", "operators"),
)
ROOMS = tuple(room for layer in LAYERS for room in layer)


def edges(root: Path = ROOT) -> Counter[tuple[str, str]]:
    """Return how many modules of a room import each other room."""
    found: Counter[tuple[str, str]] = Counter()
    for path in (*sorted((root / "adaptive").rglob("*.py")), *sorted((root / "designs").rglob("*.py"))):
        parts = path.relative_to(root).with_suffix("").parts
        own = parts[0] if parts[0] == "designs" else parts[1]
        others = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                others |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                others |= {alias.name for alias in node.names}
        named = {one.split(".")[0] if one.startswith("designs") else one.split(".")[1] for one in others if _ours(one)}
        found.update((own, other) for other in named if other != own and own in ROOMS and other in ROOMS)
    return found


def _ours(dotted: str) -> bool:
    return dotted.startswith(("adaptive.", "designs"))


def draw(path: Path) -> None:
    """Draw the rooms in their layers; the width of an arrow is the number of modules that import."""
    from matplotlib.figure import Figure

    from adaptive.plots.style import PALETTE

    figure = Figure(figsize=(9.0, 8.2))
    axes = figure.add_axes((0.01, 0.01, 0.98, 0.98))
    places = {}
    for depth, layer in enumerate(LAYERS):
        for k, room in enumerate(layer):
            places[room] = ((k + 0.5) / len(layer), -float(depth))
    for (own, other), count in edges().items():
        (x, y), (to_x, to_y) = places[own], places[other]
        down = to_y < y
        axes.annotate(
            "",
            (to_x, to_y + (0.17 if down else 0.0)),
            (x, y - (0.17 if down else 0.0)),
            arrowprops={
                "arrowstyle": "-|>",
                "color": PALETTE[0] if down else PALETTE[1],
                "alpha": 0.45,
                "linewidth": 0.4 + 0.5 * count**0.5,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
    for room, (x, y) in places.items():
        box = {"boxstyle": "round,pad=0.45", "facecolor": "white", "edgecolor": "0.3"}
        axes.text(x, y, room, ha="center", va="center", fontsize=11, bbox=box)
    axes.set_xlim(0, 1)
    axes.set_ylim(-len(LAYERS) + 0.4, 0.6)
    axes.set_axis_off()
    figure.savefig(path, metadata={"Date": None})
