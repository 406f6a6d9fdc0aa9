"""Runs that are kept: a script that was stopped goes on where it was, one whose code has changed begins anew.

A run is a function of plain arguments that returns a dict of arrays; it is kept as an .npz file in
``$ADAPTIVE_RUNS`` (default ``~/.cache/adaptive-experiments``), under a name made of its own, of its arguments, and of
the source of the library and of its module.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import adaptive
import designs
from adaptive.files import write_file

__all__ = ["kept", "taken"]

_taken: list[Path] = []  # files that were read in place of a run


def kept(group: str, run: Callable[..., dict[str, np.ndarray]], *arguments: Any) -> dict[str, np.ndarray]:
    """Return ``run(*arguments)``, from its file where there is one.

    Parameters
    ----------
    group : str
        Folder of the script.
    run : callable
        Of a module, so that its source can be read.
    *arguments : str, int, float
        They name the file.
    """
    source = Path(inspect.getfile(run))
    name = "-".join([run.__name__, *map(str, arguments), _fingerprint(source)]) + ".npz"
    path = _folder() / group / name
    if path.is_file():
        _taken.append(path)
        with np.load(path) as stored:
            return {key: stored[key] for key in stored.files}
    result = run(*arguments)
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = io.BytesIO()
    np.savez_compressed(packed, **result)
    write_file(path, packed.getvalue(), durable=False)
    return result


def taken() -> int:
    """Return how many runs this process took from their files."""
    return len(_taken)


def _folder() -> Path:
    return Path(os.environ.get("ADAPTIVE_RUNS") or "~/.cache/adaptive-experiments").expanduser()


@functools.cache
def _fingerprint(source: Path) -> str:
    """Hash of the library, its designs, and one more file."""
    digest = hashlib.sha256()
    library = [path for package in (adaptive, designs) for path in Path(str(package.__file__)).parent.rglob("*.py")]
    for path in [*sorted(library), source]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
