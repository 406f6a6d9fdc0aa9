"""``--embeddings FILE``: vectors that somebody's network made of the rows, in place of what the columns say."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from adaptive.cli.errors import CommandError
from adaptive.tables.vectors import numbers_in

__all__ = ["read_embeddings"]


def read_embeddings(text: str, n: int, table: Path, entries: str = "rows") -> tuple[np.ndarray, str]:
    """Return the vectors (n, d) of a file, centred and of mean square 1, in single precision; and its digest.

    Parameters
    ----------
    text : str
        FILE.npy, of n rows, or FILE.parquet:COLUMN, of a column of vectors.
    n : int
        Rows of the table.
    table : Path
        For messages.
    entries : str, default "rows"
        What the table has, for messages.

    Raises
    ------
    CommandError
        If the file holds no such vectors, or not one for each row of the table.
    """
    name, _, column = text.partition(":") if ".parquet:" in text else (text, "", "")
    path = Path(name)
    if path.suffix not in (".npy", ".parquet") or (path.suffix == ".parquet") != bool(column):
        raise CommandError(f"--embeddings takes FILE.npy or FILE.parquet:COLUMN, got {text}.")
    if not path.exists():
        raise CommandError(f"there is no file {path} (--embeddings).")
    vectors = _of_array(path) if path.suffix == ".npy" else _of_column(path, column)
    if len(vectors) != n:
        raise CommandError(
            f"{path} holds {len(vectors)} vectors and {table} {n} {entries}; --embeddings needs one for each."
        )
    strange = ~np.isfinite(vectors).all(axis=1)
    if strange.any():
        raise CommandError(f"{path}: the vector of row {int(np.argmax(strange))} (from 0) holds nan or infinity.")
    centred = vectors - vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
    size = float(np.sqrt(np.mean(np.square(centred, dtype=np.float64))))
    if not size > 0:
        raise CommandError(f"{path}: all vectors are equal, so they say nothing of the rows.")
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return centred / np.float32(size), f"{digest}:{column}"


def _of_array(path: Path) -> np.ndarray:
    try:
        array = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError):
        raise CommandError(f"{path} is no .npy file of numbers (--embeddings).") from None
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise CommandError(f"{path} must hold an array (rows, numbers), got {array.dtype} of shape {array.shape}.")
    return np.asarray(array, dtype=np.float32)


def _of_column(path: Path, column: str) -> np.ndarray:
    import pandas as pd

    try:
        cells = pd.read_parquet(path, columns=[column])[column].tolist()
    except ImportError:
        raise CommandError(f"{path} needs pyarrow: pip install 'adaptive-designs[parquet]'.") from None
    except Exception as problem:  # of pyarrow's own kinds
        raise CommandError(
            f"{path} has no column {column!r} that can be read: {str(problem).splitlines()[0]}."
        ) from None
    vectors = [numbers_in(cell) for cell in cells]
    wrong = next((k for k, one in enumerate(vectors) if one is None), None)
    if wrong is not None:
        raise CommandError(f"{path}: row {wrong} (from 0) of the column {column!r} is no vector of numbers.")
    lengths = {len(one) for one in vectors if one is not None}
    if len(lengths) != 1:
        raise CommandError(f"{path}: the vectors of the column {column!r} differ in length: {sorted(lengths)[:5]}.")
    return np.array(vectors, dtype=np.float32)
