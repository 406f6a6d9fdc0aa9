"""Files that are whole or not there: written under another name, synced, renamed."""

from __future__ import annotations

import csv
import io
import os
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["plain_cell", "write_csv", "write_file"]


def write_file(path: Path, data: bytes | str, *, exclusive: bool = False, durable: bool = True) -> None:
    """Write ``data`` to ``path`` so that after a crash the file is the old one or the new one, never a part.

    Parameters
    ----------
    path : Path
    data : bytes or str
        Text is written as UTF-8.
    exclusive : bool, default False
        Leave a file that exists alone (FileExistsError), even if it appeared just now.
    durable : bool, default True
        On the disk when this returns. False leaves that to the system, for what can be made again: a process that is
        killed leaves no part of a file still, a power cut may.
    """
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.partial")
    try:
        with open(partial, "xb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if exclusive:
            _rename_exclusively(partial, path)
        else:
            os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    if durable and hasattr(os, "O_DIRECTORY"):  # the new name itself is durable only once its folder is
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_csv(path: Path, columns: Mapping[str, Sequence[Any]], *, durable: bool = True) -> None:
    """Write columns of one length as a table, as `write_file` does: floats read back equal, None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([one.item() if isinstance(one, (np.generic, np.ndarray)) else one for one in row])
    write_file(path, text.getvalue(), durable=durable)


def plain_cell(text: str | None) -> str | None:
    """Return a text that somebody typed as a spreadsheet shows it, and does not compute it.

    Examples
    --------
    >>> plain_cell("=1+1"), plain_cell("Ann")
    ("'=1+1", 'Ann')
    """
    return f"'{text}" if text and text[0] in "=+-@\t\r" else text


def _rename_exclusively(partial: Path, path: Path) -> None:
    try:
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError(path) from None
        os.replace(partial, path)
