"""Earlier systems and new ones, as the command is told of them: tables, earlier runs, a file of answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive.cli.errors import CommandError

if TYPE_CHECKING:
    from adaptive.cli.job import Job
    from adaptive.tables import Responses

__all__ = ["KINDS", "earlier_systems", "new_systems", "of_use"]

KINDS = "system, item, score, benchmark, text, family"


def earlier_systems(job: Job) -> Responses:
    """The table of earlier systems, with those of earlier runs."""
    from adaptive.tables import read_responses

    settings = job.settings
    found = read_responses(
        job.file("responses", "of earlier systems"), columns=_columns(settings["column"]), metric=settings["metric"],
        about=settings["about"],
    )  # fmt: skip
    for folder in settings["learn_from"]:
        path = Path(folder) / "asked.csv"
        if not path.is_file():
            raise CommandError(f"--learn-from {folder} holds no asked.csv: it is not a run of adaptive evaluate.")
        more = read_responses(path)
        found = found.joined(more.without(found.systems))
    return found


def of_use(earlier: Responses, whole: Responses) -> Responses:
    """Earlier systems that answered something, and the items that somebody answered."""
    import numpy as np

    seen = ~np.isnan(earlier.scores)
    rows, columns = np.flatnonzero(seen.any(axis=1)), np.flatnonzero(seen.any(axis=0))
    if len(rows) < 2 or len(columns) < 2:
        raise CommandError(
            f"earlier answers are needed of two systems and two items at least, got {len(rows)} and {len(columns)}."
        )
    if len(columns) < len(whole.items):
        print(f"{len(whole.items) - len(columns)} items that nobody answered are left out.")
    kept = earlier.rows(rows)
    return replace(
        kept, scores=kept.scores[:, columns], items=tuple(kept.items[j] for j in columns),
        benchmarks=tuple(kept.benchmarks[j] for j in columns), texts=tuple(kept.texts[j] for j in columns),
    )  # fmt: skip


def new_systems(settings: dict[str, Any], begun: bool) -> tuple[list[str], Responses | None]:
    """Names of the new systems, and what the file of answers says of them; ``begun``: one without a name was asked."""
    names, path = list(settings["name"]) or (["new"] if begun else []), settings["answers"]
    if path is None or not Path(path).exists():
        return names or ["new"], None
    from adaptive.tables import read_responses

    alone = names[0] if len(names) == 1 else "new" if not names else None
    told = read_responses(path, metric=settings["metric"], columns=_columns(settings["column"]), system=alone)
    if len(names) == 1 and len(told) == 1:
        return names, replace(told, systems=(names[0],))
    return names or list(told.systems), told


def _columns(given: list[str]) -> dict[str, str]:
    found = {}
    for one in given:
        kind, equals, name = one.partition("=")
        if not equals or kind not in KINDS.split(", "):
            raise CommandError(f"--column must be KIND=NAME, with one of {KINDS}; got {one!r}.")
        found[kind] = name
    return found
