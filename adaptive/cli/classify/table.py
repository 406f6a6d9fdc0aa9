"""Rows with their classes: of a table file, or handwritten digits."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from adaptive import tables
from adaptive.cli.understanding import features_in_words
from adaptive.labelling.naming import twins

__all__ = ["LEAST", "Table", "digits", "read_table"]

LEAST = 4  # rows of a class, to ask and to hold out


@dataclass(frozen=True)
class Table:
    """Rows with their classes.

    Attributes
    ----------
    name : str
        What the data are called.
    features : ndarray of shape (n, d), or Preparation
    y : ndarray of shape (n,), int64 or text
        Integers where all classes are.
    fingerprint : str
        Changes when the rows do.
    notes : list of str
        What was done to the table, a line each.
    columns_in_words : tuple of str
        What every column was read as.
    """

    name: str
    features: np.ndarray | tables.Preparation
    y: np.ndarray
    fingerprint: str
    notes: list[str] = field(default_factory=list)
    columns_in_words: tuple[str, ...] = ()

    @property
    def of_texts(self) -> bool:
        """Features are words of texts, perhaps beside numbers, dates and categories."""
        return isinstance(self.features, tables.Preparation) and self.features.of_texts

    def X(self, pool: np.ndarray) -> Any:
        """The features of all rows, prepared by what the rows of the pool alone show."""
        if isinstance(self.features, tables.Preparation):
            return self.features.features_of(pool)
        return self.features


def digits() -> Table:
    """Handwritten 3s and 5s, as they are."""
    from adaptive.datasets import digits_pair

    X, y = digits_pair(3, 5)
    digest = hashlib.sha256(np.ascontiguousarray(X).tobytes() + y.tobytes())
    return Table("handwritten digits, 3 against 5", X, y, digest.hexdigest())


def read_table(
    path: Path, target: str, ignore: Collection[str] = (), *, max_missing: float = 0.5, drop_rare: bool = False
) -> Table:
    """Read a table file, its columns of any kind; rows without a class are left out.

    Parameters
    ----------
    path : Path
    target : str
        The column that holds the class.
    ignore : collection of str
        Columns that are neither features nor target, such as row names.
    max_missing : float in [0, 1], default 0.5
        A column of which a larger share is missing is left out.
    drop_rare : bool, default False
        Leave out the rows of classes with fewer than four.

    Raises
    ------
    TableError
        Naming file, line and column, if the file is no table, the target has fewer than two classes or is no class.
    """
    cells = tables.read_cells(path)
    cells.require(target, *ignore)
    notes = []
    unlabelled = cells.frame[target].map(tables.is_missing)
    if unlabelled.any():
        notes.append(f"{unlabelled.sum()} of {len(unlabelled)} rows have no {target!r} and are left out")
        cells = cells.where(~unlabelled)
    labels = cells.frame[target].tolist()
    tables.refuse_continuous(labels, target, path)
    alike = twins(labels)
    if alike is not None:
        raise tables.TableError(
            f"the target {target!r} of {path} holds {alike[0]!r} and {alike[1]!r}: write them alike where they are one "
            "class, further apart where they are two."
        )
    counts = Counter(labels)
    rare = [label for label, count in counts.items() if count < LEAST]
    if rare and drop_rare:
        notes.append(f"rows of rare classes are left out: {tables.listed(rare)}")
        cells = cells.where(~cells.frame[target].isin(rare))
        labels = cells.frame[target].tolist()
        counts = Counter(labels)
    if len(counts) < 2:
        found = f"only {next(iter(counts))!r}" if counts else "none"
        raise tables.TableError(f"the target {target!r} of {path} must have two classes or more, found {found}.")
    if rare and not drop_rare:
        least = min(counts.values())
        of_many = f" (one of {len(counts)} classes)" if len(counts) > 2 else ""
        raise tables.TableError(
            f"the class {min(rare, key=counts.__getitem__)}{of_many} has {least} {'row' if least == 1 else 'rows'}; at "
            f"least {LEAST} are needed, to ask and to hold out: add rows, or leave such classes out with --drop-rare."
        )
    columns = tables.columns_of(cells, leave_out=(target, *ignore), max_missing=max_missing)
    preparation = tables.Preparation(columns, str(path))
    fingerprint = hashlib.sha256(path.read_bytes()).hexdigest()
    y = tables.class_labels(labels)
    words = tuple(features_in_words(cells, columns, {target: "the class"}))
    return Table(f"{path.name}, {target}", preparation, y, fingerprint, [preparation.in_words(), *notes], words)
