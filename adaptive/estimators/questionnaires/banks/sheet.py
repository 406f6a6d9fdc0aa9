"""A file of items as it is: a row each, its columns read as numbers where they are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from adaptive.estimators.questionnaires.answers import Label
from adaptive.estimators.questionnaires.base import Loadings
from adaptive.tables import TableFile, number_of

__all__ = ["Sheet", "read_sheet"]

NOTHING = ("", "nan", "na", "<na>", "null", "none")  # R's NA among them: the item has no such parameter


@dataclass(frozen=True)
class Sheet:
    """A file of items, read.

    Attributes
    ----------
    path : Path
    lines : list of int, where in the file each item stands
    rows : list of mappings, one per item
    names : list of str, the columns
    labels : list of the items' labels
    delimiter : str, what separates the cells
    """

    path: Path
    lines: Sequence[int]
    rows: Sequence[dict[str, str]]
    names: Sequence[str]
    labels: Sequence[Label]
    delimiter: str

    def column(self, name: str, default: float | None = None) -> np.ndarray:
        """Return (items,) finite numbers, ``default`` (NaN) where a cell says that there is none."""
        read, found = number_of(self.delimiter), np.full(len(self.rows), np.nan)
        for k, row in enumerate(self.rows):
            cell = (row.get(name) or "").strip()
            known = cell.lower() not in NOTHING
            value = read(cell) if known else default
            if known and (value is None or not np.isfinite(value)):
                raise ValueError(f"{self.path}, line {self.lines[k]}: {name} must be a number, got {cell!r}.")
            found[k] = np.nan if value is None else value
        return found

    def needed(self, name: str) -> np.ndarray:
        """Return (items,) finite numbers, none of which may lack."""
        self.require(name)
        found = self.column(name)
        if np.isnan(found).any():
            raise ValueError(f"{self.path}, line {self.lines[int(np.argmax(np.isnan(found)))]}: {name} is missing.")
        return found

    def require(self, name: str) -> None:
        """Refuse a file without this column."""
        if name not in self.names:
            raise ValueError(f"the bank {self.path} lacks the column {name!r}; it has {', '.join(self.names)}.")

    def same(self, name: str) -> str:
        """Return the entry of a column that is the same for all items."""
        self.require(name)
        return self.rows[0][name]

    def categories(self) -> tuple[int, ...]:
        """Return the answers, in order."""
        text = self.same("categories")
        try:
            found = tuple(int(one) for one in text.split())
        except ValueError:
            found = ()
        if len(found) < 2 or sorted(set(found)) != list(found):
            raise ValueError(
                f"{self.path}, line {self.lines[0]}: categories must be two or more rising whole numbers, got {text!r}."
            )
        return found

    def loadings(self) -> Loadings:
        """Return the traits that each item measures."""
        traits = tuple(name.split(":", 1)[1] for name in self.names if name.startswith("measures:"))
        if not traits:
            raise ValueError(f"the bank {self.path} names no traits; expected a column measures:TRAIT for each.")
        return Loadings(traits, np.stack([self.column(f"measures:{trait}") for trait in traits], axis=1) == 1)

    def reverse(self) -> np.ndarray:
        """Return the items of which a higher answer means less."""
        return self.column("reverse", 0.0) == 1

    def numbered(self, prefix: str, first: int = 1) -> np.ndarray:
        """Return the (items, p) columns of this prefix and the numbers from ``first`` on."""
        there = set(self.names)
        columns: list[np.ndarray] = []
        while f"{prefix}{first + len(columns)}" in there:
            columns.append(self.column(f"{prefix}{first + len(columns)}"))
        return np.stack(columns, axis=1) if columns else np.zeros((len(self.rows), 0))

    def covariances(self, p: int) -> np.ndarray:
        """Return (items, p, p) from their lower halves."""
        found = np.zeros((len(self.rows), p, p))
        for i in range(p):
            for j in range(i + 1):
                found[:, i, j] = found[:, j, i] = self.column(f"covariance_{i + 1}_{j + 1}", 0.0)
        return found


def read_sheet(path: str | os.PathLike[str]) -> Sheet:
    """Read a file of items; a ValueError where it is none, holds none, or has two of one name."""
    path = Path(path)
    if not path.exists():
        raise ValueError(f"there is no bank {path}.")
    file = TableFile(path)
    read = list(file.rows())
    rows, lines = [dict(zip(file.header, row, strict=True)) for _, row in read], [line for line, _ in read]
    if not rows:
        raise ValueError(f"the bank {path} holds no items.")
    labels = [_label(row.get("item") or row.get("Unnamed: 0") or str(k)) for k, row in enumerate(rows)]
    if len(set(labels)) < len(labels):
        twice = next(one for k, one in enumerate(labels) if one in labels[:k])
        raise ValueError(f"the bank {path} has two items called {twice!r}.")
    return Sheet(path, lines, rows, file.header, labels, file.delimiter)


def _label(text: str) -> Label:
    return int(text) if text.isdigit() and str(int(text)) == text else text
