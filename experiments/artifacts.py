"""Figures and tables of the results: each is written beside a caption, which the index page shows with it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adaptive import plots
from adaptive.files import write_csv
from experiments.claims import RESULTS, replace


def save_figure(figure: Any, name: str, caption: str, *, results: str | os.PathLike[str] = RESULTS) -> Path:
    """Write ``figures/NAME.png`` and its caption.

    Parameters
    ----------
    figure : matplotlib Figure
    name : str
        File name without suffix; begin it with the id of the source's figure where there is one.
    caption : str
        What is seen. Of simulated data: what was simulated, and what the model was told that a user would not know.
    results : path
        The folder of the results.
    """
    path = captioned(Path(results) / "figures" / f"{name}.png", caption)
    plots.save(figure, path)
    return path


def save_table(
    columns: Mapping[str, Sequence[Any]], name: str, caption: str, *, results: str | os.PathLike[str] = RESULTS
) -> Path:
    """Write ``tables/NAME.csv``, one column per key, and its caption. Floats read back equal."""
    lengths = {key: len(column) for key, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"the columns of table {name!r} must have one length, got {lengths}.")
    path = captioned(Path(results) / "tables" / f"{name}.csv", caption)
    write_csv(path, columns, durable=False)
    return path


def captioned(path: Path, caption: str) -> Path:
    """Write the caption of a file beside it, and return the file's path."""
    if not caption.strip():
        raise ValueError(f"{path.name} owes a caption: what is seen, and from which data.")
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path.with_suffix(".txt"), " ".join(caption.split()) + "\n")
    return path
