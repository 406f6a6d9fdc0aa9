"""Tables as people leave them on a disk."""

from __future__ import annotations


def written(folder, text, name="table.csv"):
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path
