"""A net that is trained in the folder of a run: kept after an epoch every few seconds, and gone on with from there."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from adaptive.cli.fitting import fitted
from adaptive.cli.run_folder import RunFolder
from adaptive.estimators import CollaborativeRNN
from adaptive.files import write_file
from adaptive.loop.log.snapshots import pack, unpack

__all__ = ["net_of", "trained"]

EVERY = 5.0  # seconds between two snapshots


def net_of(settings: Mapping[str, Any], items: Sequence[str], *, pooled: bool, **others: Any) -> CollaborativeRNN:
    """The estimator of the command's options, and of ``others``."""
    given = {
        "cell": settings["cell"], "pooled": pooled, "n_members": settings["members"],
        "n_sampled": settings["sampled"] or None, "max_iter": settings["epochs"], "items": list(items),
        "random_state": settings["seed"],
    }  # fmt: skip
    return CollaborativeRNN(settings["components"], **given | others)


def trained(model: CollaborativeRNN, sequences: Any, folder: RunFolder, name: str) -> CollaborativeRNN:
    """Return the net as the folder has it, or after training, which goes on from the last snapshot there is."""
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    path = folder.log / f"{name}-training.npz"
    saved = time.monotonic()

    def fit(estimator: CollaborativeRNN) -> None:
        with Progress(
            TextColumn("{task.description}"), TimeElapsedColumn(), disable=not sys.stderr.isatty(), transient=True
        ) as bars:
            task = bars.add_task(f"{name} memory")

            def note(training: Any) -> None:
                nonlocal saved
                done = len(training.trace)
                text = f"{name} memory: epoch {done} of at most {model.max_iter}, {training.trace[-1]:.3f} nats"
                bars.update(task, description=text)
                if time.monotonic() - saved > EVERY:
                    write_file(path, pack(training.state()))
                    saved = time.monotonic()

            resume = unpack(path.read_bytes()) if path.is_file() else None
            estimator.fit(sequences, callback=note, resume=resume)

    model = fitted(model, fit, folder, f"{name}.npz")
    path.unlink(missing_ok=True)
    return model
