"""A CSV file with a header line as features and a target of two classes or more."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from adaptive.cli.errors import CommandError

__all__ = ["Table", "read_table"]


@dataclass(frozen=True)
class Table:
    """Rows with their classes.

    Parameters
    ----------
    X : ndarray of shape (n, d), float64
        Finite numbers.
    y : ndarray of shape (n,), int64 or text
        The class as printed in the file; integers where all classes are.
    features : tuple of str
        Column names of X.
    """

    X: np.ndarray
    y: np.ndarray
    features: tuple[str, ...]


def read_table(path: Path, target: str, ignore: Collection[str] = ()) -> Table:
    """Read a CSV file (comma, semicolon or tab; UTF-8; first line names the columns).

    Parameters
    ----------
    path : Path
    target : str
        The column that holds the class.
    ignore : collection of str
        Columns that are neither features nor target, such as row names.

    Raises
    ------
    CommandError
        Naming file, line and column, if the file is not such a table, a feature is not a finite number, or the target
        has fewer than two classes.
    """
    header, rows = _read_cells(path)
    for column in (target, *ignore):
        if column not in header:
            raise CommandError(f"{path} has no column {column!r}; its columns are {_listed(header)}.")
    kept = [k for k, name in enumerate(header) if name != target and name not in ignore]
    if not kept:
        raise CommandError(f"{path} has no feature columns besides the target {target!r}.")
    labels = [row[header.index(target)].strip() for _, row in rows]
    for (line, _), label in zip(rows, labels, strict=True):
        if not label:
            raise CommandError(f"{path}, line {line}: the target {target!r} is empty; leave out rows without a class.")
    classes = sorted(set(labels))
    if len(classes) < 2:
        raise CommandError(f"the target {target!r} of {path} must have two classes or more, found only {classes[0]!r}.")
    return Table(_numbers(path, header, rows, kept), _typed(labels), tuple(header[k] for k in kept))


def _read_cells(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header, and each row with its line number; all rows are as long as the header."""
    if not path.exists():
        raise CommandError(f"there is no file {path}.")
    if path.is_dir():
        raise CommandError(f"{path} is a folder; expected a CSV file.")
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            first = stream.readline()
            stream.seek(0)
            delimiter = max(",;\t", key=first.count)
            reader = csv.reader(stream, delimiter=delimiter)
            cells = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise CommandError(f"{path} is not a CSV file in UTF-8: {error}.") from None
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
    if len(cells) < 2:
        raise CommandError(f"{path} has no rows; expected a line of column names, then one row per line.")
    header = [name.strip() for name in cells[0][1]]
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise CommandError(f"{path} names the column {twice[0]!r} twice.")
    for line, row in cells[1:]:
        if len(row) != len(header):
            raise CommandError(f"{path}, line {line}: {len(row)} fields, but the header has {len(header)}.")
    return header, cells[1:]


def _numbers(path: Path, header: list[str], rows: list[tuple[int, list[str]]], kept: list[int]) -> np.ndarray:
    try:
        X = np.array([[row[k] for k in kept] for _, row in rows], dtype=float)
    except ValueError:
        X = None  # some cell is no number: found below
    if X is not None and np.isfinite(X).all():
        return X
    for line, row in rows:
        for k in kept:
            problem = _problem(row[k].strip())
            if problem:
                raise CommandError(f"{path}, line {line}, column {header[k]!r}: {problem}")
    raise AssertionError("a table that NumPy refused has no bad cell")  # pragma: no cover


def _problem(cell: str) -> str:
    """Return what is wrong with a cell that should hold a finite number, or nothing."""
    if not cell or cell == "?" or cell.lower() in ("na", "nan", "null", "none"):
        return "a missing value; fill it in or leave out the row."
    try:
        value = float(cell)
    except ValueError:
        return f"{cell!r} is not a number; write categories as 0/1 columns, or leave the column out with --ignore."
    return "" if math.isfinite(value) else f"{cell!r} is not finite; fill it in or leave out the row."


def _typed(labels: list[str]) -> np.ndarray:
    """Classes as integers where each is the usual print of one ("1" and "01" are two texts), else as text."""
    numbers = [int(label) for label in labels if re.fullmatch(r"-?[0-9]{1,18}", label)]
    if [str(number) for number in numbers] == labels:
        return np.array(numbers, dtype=np.int64)
    return np.array(labels)


def _listed(names: Collection[str], most: int = 8) -> str:
    shown = [repr(name) for name in list(names)[:most]]
    return ", ".join(shown) + (f", ... ({len(names)} in all)" if len(names) > most else "")
