"""Items held out, one of each user, and the table of how well rankings place them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from adaptive.cli.job import Job

__all__ = ["held_out_items", "write_ranks"]

LEAST = 3  # items of a user of whom one is held out


def held_out_items(taken: Iterable[tuple[Any, Any]], seed: int) -> list[tuple[Any, Any]]:
    """Return one item, at random, of each user who has three.

    Examples
    --------
    >>> held_out_items([("anna", "tea"), ("anna", "milk"), ("anna", "water"), ("ben", "tea")], 0)
    [('anna', 'water')]
    """
    by_user: dict[Any, dict[Any, None]] = {}
    for user, item in taken:
        by_user.setdefault(user, {})[item] = None
    rng = np.random.default_rng(seed)
    return [(user, [*items][int(rng.integers(len(items)))]) for user, items in by_user.items() if len(items) >= LEAST]


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
