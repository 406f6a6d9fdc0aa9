"""A fit that is kept in the folder as soon as it is there, and found there by a run that goes on."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from adaptive.cli.run_folder import RunFolder
from adaptive.files import write_file
from adaptive.loop.log.snapshots import pack, unpack

__all__ = ["fitted"]


def fitted(estimator: Any, fit: Callable[[Any], Any], folder: RunFolder, name: str = "state.npz") -> Any:
    """Return the estimator as the folder has it, or after ``fit(estimator)``, which is kept.

    Nothing is warned of where it did not converge: the summary says so.
    """
    path = folder.log / name
    if path.is_file():
        return estimator.restore(unpack(path.read_bytes()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit(estimator)
    write_file(path, pack(estimator.state()))
    return estimator
