"""A calibration that is kept: in the folder of the run, and by its digest for other runs on the same table.

The digest is of the table and of all that the calibration depends on, versions included. The cache is
``$XDG_CACHE_HOME/adaptive-designs`` (default ``~/.cache``); it may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive.cli.evaluate.calibration import Calibration, Way, calibrated, questionnaire_of, split
from adaptive.cli.evaluate.scale import Scale
from adaptive.files import write_file
from adaptive.loop.log.snapshots import pack, unpack

if TYPE_CHECKING:
    from adaptive.tables import Responses

__all__ = ["cache_folder", "kept"]

NAME = "calibration.npz"
KIND = 3  # what is kept was made in another way before


def cache_folder() -> Path:
    """Return the folder of all calibrations."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "adaptive-designs" / "evaluate"


def kept(responses: Responses, model: str | None, way: Way, seed: int, log: Path) -> tuple[Calibration, bool]:
    """Return the calibration, and whether it was there already."""
    path = log / NAME
    shared = cache_folder() / f"{_digest(responses, model, way, seed)}.npz"
    for place in (path, shared):
        with contextlib.suppress(OSError, ValueError, KeyError):
            stored = unpack(place.read_bytes())
            found = _restored(responses, model, way, seed, stored)
            if place is shared:
                write_file(path, shared.read_bytes())
            return found, True
    teach, judge = (len(one) for one in split(responses, way, seed))
    print(
        f"learning {len(responses.items)} items from {teach} systems, and asking {judge} of the table as a new one "
        "will be: once for this table",
        flush=True,
    )
    found = calibrated(responses, model, way, seed)
    packed = pack({
        "levels": found.scale.levels, "between": found.scale.between, "state": found.learnt.state(),
        "asked": found.asked, "mean": found.mean, "std": found.std,
    })  # fmt: skip
    write_file(path, packed)
    with contextlib.suppress(OSError):  # a run does not end for want of a cache
        shared.parent.mkdir(parents=True, exist_ok=True)
        write_file(shared, packed)
    return found, False


def _restored(responses: Responses, model: str | None, way: Way, seed: int, stored: dict[str, Any]) -> Calibration:
    scale = Scale(int(stored["levels"]), bool(stored["between"]))
    learnt = questionnaire_of(model, scale).restore(stored["state"])
    teach, judge = split(responses, way, seed)
    return Calibration(
        learnt, scale, responses.rows(teach), responses.rows(judge), stored["asked"], stored["mean"], stored["std"]
    )


def _digest(responses: Responses, model: str | None, way: Way, seed: int) -> str:
    versions = {name: metadata.version(name) for name in ("adaptive-designs", "numpy", "scipy")}
    told = json.dumps(
        [KIND, responses.digest(), model, way.most, way.batch, way.common, seed, versions], sort_keys=True
    )
    return hashlib.sha256(told.encode()).hexdigest()[:32]
