"""Folder of the sets, ``ADAPTIVE_DATA``, and the one sentence where a file is not in it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

__all__ = ["DataNotFoundError", "file", "folder", "stored_part"]


class DataNotFoundError(FileNotFoundError):
    """A data set that is not on this machine; the message says which file is wanted and where it may lie."""


def folder() -> Path:
    """Return the folder that the sets are read from: ``$ADAPTIVE_DATA``, by default ``~/adaptive_data``.

    Examples
    --------
    >>> folder().is_absolute()
    True
    """
    return Path(os.environ.get("ADAPTIVE_DATA") or "~/adaptive_data").expanduser()


def file(name: str, source: str = "its publisher") -> Path:
    """Return the path of ``name`` inside the data folder.

    Parameters
    ----------
    name : str
        Path below the folder, as in ``"uci/sonar.csv"``.
    source : str
        Where a user gets the set, for the message.

    Returns
    -------
    Path

    Raises
    ------
    DataNotFoundError
        If there is no such file.

    Examples
    --------
    >>> file("counts/coal.csv").name
    'coal.csv'
    """
    path = folder() / name
    if not path.is_file():
        told = "ADAPTIVE_DATA" if os.environ.get("ADAPTIVE_DATA") else "ADAPTIVE_DATA is not set; the default"
        raise DataNotFoundError(
            f"{name} is not in the data folder {folder()} ({told}): get it from {source}, put it there, "
            "or set ADAPTIVE_DATA to the folder that holds it."
        )
    return path


def stored_part(name: str, part: str, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Return X and y of one ``part``, "train" or "test", of a file of NumPy arrays that holds both."""
    with np.load(file(name, source)) as stored:
        return stored[f"X_{part}"], stored[f"y_{part}"]
