"""The table of how well rankings place held-out items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from adaptive.cli.job import Job

__all__ = ["write_ranks"]


def write_ranks(found: Mapping[str, Mapping[str, Any]], folder: Job) -> dict[str, float]:
    """Write ranks.csv from what `adaptive.diagnostics.mean_rank` says of each ranking; print and return the means."""
    first = next(iter(found.values()))
    columns: dict[str, Any] = {"users": ["all"] + ["by activity"] * (len(first["least"]) - 1)}
    columns |= {name: first[name] for name in ("least", "most", "n_pairs")}
    for name, table in found.items():
        columns |= {name: table["mean_rank"],
                    f"{name} error": [e if np.isfinite(e) else None for e in table["standard_error"]]}  # fmt: skip
    folder.write_csv("ranks.csv", columns)
    means = {name: float(table["mean_rank"][0]) for name, table in found.items()}
    print("mean rank of a held-out item, 1 at best: " + ", ".join(f"{name} {one:.3f}" for name, one in means.items()))
    return means
