"""Files that are whole or not there: written under another name, synced, renamed."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

__all__ = ["write_file"]


def write_file(path: Path, data: bytes, *, exclusive: bool = False) -> None:
    """Write ``data`` to ``path`` so that after a crash the file is the old one or the new one, never a part.

    With ``exclusive`` a file that exists is left alone (FileExistsError), even if it appeared just now.
    """
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.partial")
    try:
        with open(partial, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if exclusive:
            _rename_exclusively(partial, path)
        else:
            os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    if hasattr(os, "O_DIRECTORY"):  # the new name itself is durable only once its folder is
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _rename_exclusively(partial: Path, path: Path) -> None:
    try:
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if path.exists():
            raise FileExistsError(path) from None
        os.replace(partial, path)
