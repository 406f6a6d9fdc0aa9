"""Banks of items as CSV files: mirt's columns, catsim's, and ours with covariances.

catsim   a, b, c, d                       difficulty, upper asymptote 1
mirt     a1 .. aT, d [or d1 .. d(R-1)], g     intercepts
ours     item, model, categories, reverse, measures:TRAIT, trait slopes, coordinates, covariances, origin and unit:
         nothing is lost; of the ordinal model thresholds, covariances, trait_noise, and the model's settings
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import logit

from adaptive.estimators.questionnaires.answers import Label
from adaptive.estimators.questionnaires.bank import Bank
from adaptive.estimators.questionnaires.base import ItemBank, Loadings
from adaptive.estimators.questionnaires.curves import CURVES, difficulties, from_difficulties
from adaptive.estimators.questionnaires.ordinal.bank import OrdinalBank
from adaptive.estimators.questionnaires.ordinal.model import OrdinalModel
from adaptive.files import write_csv
from adaptive.tables import TableFile, number_of

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["SETTINGS", "bank_of_parameters", "read_bank", "write_bank"]

SETTINGS = ("styles", "response", "threshold_noise", "trait_scale")  # of an ordinal model, the same for all items


def bank_of_parameters(
    discrimination: ArrayLike | None, difficulty: ArrayLike | None = None, *, guessing: ArrayLike | None = None,
    thresholds: ArrayLike | None = None, covariance: ArrayLike | None = None, items: Sequence[Label] | None = None,
    model: str | None = None, categories: Sequence[int] | None = None,
) -> Bank:  # fmt: skip
    """A bank of known items of one trait.

    Parameters
    ----------
    discrimination : (items,) array
    difficulty : (items,) array
        Where P = 1/2 without guessing; or give ``thresholds``.
    guessing : (items,) array, optional
        Of the three-parameter model.
    thresholds : (items, R - 1) array, optional
        Of partial credit, or of the graded model with ``model="graded"``; NaN behind those of an item with fewer.
    covariance : (items, p, p) array, optional
        Of (discrimination, difficulty or thresholds, guessing) of each item; default: known exactly.
    """
    if discrimination is None:
        raise ValueError("a bank needs discrimination, one number per item (all 1 for a Rasch bank).")
    a = _column("discrimination", discrimination, None)
    n = len(a)
    if (difficulty is None) == (thresholds is None):
        raise ValueError("a bank needs either difficulty, one number per item, or thresholds, a row per item.")
    if thresholds is None:
        levels = _column("difficulty", difficulty, n)[:, None]
    else:
        levels = np.array(thresholds, dtype=float)
        if levels.ndim != 2 or len(levels) != n or not np.isfinite(levels[:, 0]).all():
            raise ValueError(f"thresholds must have a row for each of the {n} items, got shape {levels.shape}.")
    if model is None:
        model = (
            "three_parameter" if guessing is not None else "two_parameter" if levels.shape[1] == 1 else "partial_credit"
        )
    if model not in CURVES:
        raise ValueError(f"model must be one of {sorted(CURVES)}, got {model!r}.")
    if model == "graded":
        steps = np.diff(levels, axis=1)
        for wrong in np.flatnonzero((np.where(np.isnan(steps), 1.0, steps) <= 0).any(axis=1)):
            raise ValueError(f"thresholds of a graded item must increase, but those of item number {wrong + 1} do not.")
        if (a <= 0).any():
            raise ValueError("discrimination of graded items must be > 0; name items turned round in reverse.")
    parameters = np.concatenate([a[:, None], levels], axis=1)
    if guessing is not None:
        g = _column("guessing", guessing, n)
        if ((g < 0) | (g >= 1)).any():
            raise ValueError(f"guessing must be in [0, 1), got {float(g[(g < 0) | (g >= 1)][0])!r}.")
        parameters = np.concatenate([parameters, np.maximum(g, 1e-9)[:, None]], axis=1)
    if (a == 0).any():
        raise ValueError(
            f"discrimination must not be 0, but that of item number {int(np.flatnonzero(a == 0)[0]) + 1} is."
        )
    coordinates = from_difficulties(model, parameters, 1)
    p = parameters.shape[1]
    covariances = np.zeros((n, p, p))
    if covariance is not None:
        given = np.asarray(covariance, dtype=float)
        if given.shape != (n, p, p):
            raise ValueError(f"covariance must have shape {(n, p, p)}, one block per item, got {given.shape}.")
        for k in range(n):
            kept = np.flatnonzero(~np.isnan(parameters[k]))
            slope = _jacobian(model, parameters[k][kept])
            covariances[k][np.ix_(kept, kept)] = slope @ given[k][np.ix_(kept, kept)] @ slope.T
    scale = categories or ((0, 1) if levels.shape[1] == 1 else tuple(range(1, levels.shape[1] + 2)))
    labels = tuple(range(n)) if items is None else tuple(items)
    if len(labels) != n or len(set(labels)) < n:
        raise ValueError(f"items must be {n} different labels, got {len(labels)}.")
    return Bank(model, labels, scale, Loadings(("trait",), np.ones((n, 1), dtype=bool)), coordinates, covariances)


def _jacobian(model: str, parameters: np.ndarray) -> np.ndarray:
    """d coordinates / d parameters, by central differences."""
    steps = 1e-5 * np.maximum(np.abs(parameters), 0.1)
    columns = [
        (from_difficulties(model, parameters + d, 1) - from_difficulties(model, parameters - d, 1)) / (2 * d.max())
        for d in np.diag(steps)
    ]
    return np.stack(columns, axis=1)


def _column(name: str, values: ArrayLike | None, n: int | None) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1 or (n is not None and len(array) != n) or not len(array):
        expected = "numbers, one per item" if n is None else f"{n} numbers, one per item"
        raise ValueError(f"{name} must be {expected}, got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError(
            f"{name} must be finite, but that of item number {int(np.argmin(np.isfinite(array))) + 1} is not."
        )
    return array


def _label_columns(bank: ItemBank, model: str) -> dict[str, list[object]]:
    """Labels, answers and traits of the items as columns."""
    columns: dict[str, list[object]] = {
        "item": list(bank.items), "model": [model] * len(bank),
        "categories": [" ".join(map(str, bank.categories))] * len(bank), "reverse": [int(one) for one in bank.reverse],
    }  # fmt: skip
    for k, trait in enumerate(bank.traits):
        columns[f"measures:{trait}"] = [int(one) for one in bank.loadings.mask[:, k]]
    return columns


def _covariance_columns(covariances: np.ndarray) -> dict[str, list[object]]:
    """The lower halves of (items, p, p)."""
    p = covariances.shape[1]
    return {f"covariance_{i + 1}_{j + 1}": _cells(covariances[:, i, j]) for i in range(p) for j in range(i + 1)}


def _cells(values: np.ndarray) -> list[object]:
    """Numbers, None where there is none."""
    return [None if np.isnan(one) else float(one) for one in values]


class _Sheet(NamedTuple):
    """A file of items, read.

    Attributes
    ----------
    path : Path
    rows : list of mappings, one per item
    names : list of str, the columns
    labels : list of the items' labels
    column : callable (name, default=None) -> (items,) array, NaN where a cell is empty
    """

    path: Path
    rows: Sequence[dict[str, str]]
    names: Sequence[str]
    labels: Sequence[Label]
    column: Callable[..., np.ndarray]

    def same(self, name: str) -> str:
        """The entry of a column that is the same for all items."""
        if name not in self.names:
            raise ValueError(f"the bank {self.path} lacks the column {name!r}.")
        return self.rows[0][name]

    def categories(self) -> tuple[int, ...]:
        """The answers, in order."""
        return tuple(int(one) for one in self.same("categories").split())

    def loadings(self) -> Loadings:
        """Traits that each item measures."""
        traits = tuple(name.split(":", 1)[1] for name in self.names if name.startswith("measures:"))
        return Loadings(traits, np.stack([self.column(f"measures:{trait}") for trait in traits], axis=1) == 1)

    def reverse(self) -> np.ndarray:
        """Items of which a higher answer means less."""
        return self.column("reverse", 0.0) == 1

    def numbered(self, name: str) -> np.ndarray:
        """(items, p) columns name_1 to name_p."""
        p = sum(one.startswith(f"{name}_") and one[len(name) + 1 :].isdigit() for one in self.names)
        return np.stack([self.column(f"{name}_{k + 1}") for k in range(p)], axis=1)

    def covariances(self, p: int) -> np.ndarray:
        """(items, p, p) from their lower halves."""
        found = np.zeros((len(self.rows), p, p))
        for i in range(p):
            for j in range(i + 1):
                found[:, i, j] = found[:, j, i] = self.column(f"covariance_{i + 1}_{j + 1}", 0.0)
        return found


def write_bank(bank: Bank | OrdinalBank, path: str | os.PathLike[str]) -> None:
    """Write a bank so that reading it gives the same numbers; difficulties stand beside the coordinates, for people."""
    write_csv(Path(path), _ordinal_columns(bank) if isinstance(bank, OrdinalBank) else _columns(bank))


def _ordinal_columns(bank: OrdinalBank) -> dict[str, list[object]]:
    columns = _label_columns(bank, "ordinal")
    for k in range(bank.means.shape[1]):
        columns[f"threshold_{k + 1}"] = _cells(bank.means[:, k])
    columns |= _covariance_columns(bank.covariances) | {"trait_noise": _cells(bank.trait_noise)}
    for name in SETTINGS:
        columns[name] = [getattr(bank.model, name)] * len(bank)
    return columns


def _columns(bank: Bank) -> dict[str, list[object]]:
    t, p = len(bank.traits), bank.coordinates.shape[1]
    columns = _label_columns(bank, bank.model)
    readable = difficulties(bank.model, bank.coordinates, t)
    names = [*(f"discrimination:{trait}" for trait in bank.traits), *(f"threshold_{k}" for k in range(1, p - t + 1))]
    if bank.model == "three_parameter":
        names[-1] = "guessing"
    for k, name in enumerate(names):
        columns[name] = _cells(readable[:, k])
    for k in range(p):
        columns[f"coordinate_{k + 1}"] = _cells(bank.coordinates[:, k])
    columns |= _covariance_columns(bank.covariances)
    for k, trait in enumerate(bank.traits):
        for name, (i, j) in (("origin", (0, 0)), ("origin_unit", (0, 1)), ("unit", (1, 1))):
            columns[f"{name}:{trait}"] = [float(bank.shared[k, i, j])] * len(bank)
    return columns


def read_bank(path: str | os.PathLike[str]) -> Bank | OrdinalBank:
    """Read a bank: ours, or one with mirt's or catsim's columns."""
    path = Path(path)
    if not path.exists():
        raise ValueError(f"there is no bank {path}.")
    file = TableFile(path)
    rows, names = [dict(zip(file.header, row, strict=True)) for _, row in file.rows()], file.header
    if not rows:
        raise ValueError(f"the bank {path} holds no items.")
    number = number_of(file.delimiter)
    labels = [_label(row.get("item") or row.get("Unnamed: 0") or str(k)) for k, row in enumerate(rows)]
    if len(set(labels)) < len(labels):
        twice = next(one for k, one in enumerate(labels) if one in labels[:k])
        raise ValueError(f"the bank {path} has two items called {twice!r}.")

    def column(name: str, default: float | None = None) -> np.ndarray:
        found = np.full(len(rows), np.nan)
        for k, row in enumerate(rows):
            cell = (row.get(name) or "").strip()
            known = cell.lower() not in ("", "nan", "na")
            value = number(cell) if known else default
            if known and value is None:
                raise ValueError(f"{path}, line {k + 2}: {name} must be a number, got {cell!r}.")
            found[k] = np.nan if value is None else value
        return found

    def needed(name: str) -> np.ndarray:
        if name not in names:
            raise ValueError(f"the bank {path} lacks the column {name!r}; it has {', '.join(names)}.")
        found = column(name)
        if np.isnan(found).any():
            raise ValueError(f"{path}, line {int(np.argmax(np.isnan(found))) + 2}: {name} is missing.")
        return found

    sheet = _Sheet(path, rows, names, labels, column)
    if "trait_noise" in names:
        return _ordinal(sheet)
    if "coordinate_1" in names:
        return _ours(sheet)
    if "a1" in names:
        return _mirt(names, labels, needed, column)
    if "a" not in names:
        raise ValueError(f"the bank {path} has no column of discriminations: a (catsim), a1 (mirt) or coordinate_1.")
    if "d" in names and (column("d", 1.0) < 1.0).any():
        raise ValueError(f"the bank {path} has upper asymptotes d below 1, which no model here has.")
    guessing = column("c", 0.0) if "c" in names else np.zeros(len(rows))
    return bank_of_parameters(needed("a"), needed("b"), guessing=guessing if guessing.any() else None, items=labels)


def _label(text: str) -> Label:
    return int(text) if text.isdigit() and str(int(text)) == text else text


def _mirt(
    names: Sequence[str],
    labels: Sequence[Label],
    needed: Callable[[str], np.ndarray],
    column: Callable[..., np.ndarray],
) -> Bank:
    slopes = [name for name in names if name[:1] == "a" and name[1:].isdigit()]
    levels = [name for name in names if name[:1] == "d" and name[1:].isdigit()]
    a = np.stack([needed(name) for name in slopes], axis=1)
    rest = np.stack([column(name) for name in levels], axis=1) if levels else needed("d")[:, None]
    guessing = column("g", 0.0) if "g" in names else np.zeros(len(labels))
    if levels and levels[0] == "d0":  # gpcm: sums of steps, from 0
        model, rest = "partial_credit", np.diff(rest, axis=1)
    elif rest.shape[1] > 1:
        steps = np.diff(rest, axis=1)
        for wrong in np.flatnonzero((np.where(np.isnan(steps), -1.0, steps) >= 0).any(axis=1)):
            raise ValueError(f"intercepts of a graded item must decrease, but those of {labels[int(wrong)]!r} do not.")
        model, rest = "graded", np.concatenate([rest[:, :1], np.log(-steps)], axis=1)
    elif guessing.any():
        model, rest = "three_parameter", np.column_stack([rest[:, 0], logit(np.maximum(guessing, 1e-9))])
    else:
        model = "two_parameter"
    coordinates = np.concatenate([a, rest], axis=1)
    n, p = coordinates.shape
    traits = ("trait",) if len(slopes) == 1 else tuple(f"trait_{k + 1}" for k in range(len(slopes)))
    n_categories = 2 if model in ("two_parameter", "three_parameter") else p - len(slopes) + 1
    scale = (0, 1) if n_categories == 2 else tuple(range(1, n_categories + 1))
    return Bank(model, labels, scale, Loadings(traits, a != 0), coordinates, np.zeros((n, p, p)))


def _ours(sheet: _Sheet) -> Bank:
    model, categories = sheet.same("model"), sheet.categories()
    if model not in CURVES:
        raise ValueError(f"{sheet.path}, line 2: model must be one of {sorted(CURVES)}, got {model!r}.")
    loadings, coordinates = sheet.loadings(), sheet.numbered("coordinate")
    shared = np.zeros((len(loadings.traits), 2, 2))
    for k, trait in enumerate(loadings.traits):
        origin, both, unit = (sheet.column(f"{name}:{trait}", 0.0)[0] for name in ("origin", "origin_unit", "unit"))
        shared[k] = [[origin, both], [both, unit]]
    return Bank(
        model, sheet.labels, categories, loadings, coordinates, sheet.covariances(coordinates.shape[1]),
        reverse=sheet.reverse(), shared=shared,
    )  # fmt: skip


def _ordinal(sheet: _Sheet) -> OrdinalBank:
    """The bank of a file that was read."""
    loadings, categories, means = sheet.loadings(), sheet.categories(), sheet.numbered("threshold")
    noise, threshold_noise, scale = (sheet.column(name) for name in ("trait_noise", "threshold_noise", "trait_scale"))
    for name, values in (("threshold", means), ("trait_noise", noise), ("threshold_noise", threshold_noise)):
        wrong = ~np.isfinite(values).reshape(len(values), -1).all(axis=1)
        if wrong.any():
            raise ValueError(f"{sheet.path}, line {int(np.argmax(wrong)) + 2}: {name} is missing.")
    if means.shape[1] != len(categories) - 1:
        raise ValueError(
            f"the bank {sheet.path} must have {len(categories) - 1} thresholds for {len(categories)} categories, got "
            f"{means.shape[1]}."
        )
    model = OrdinalModel(
        len(categories), len(loadings.traits), sheet.same("styles"), sheet.same("response"), float(threshold_noise[0]),
        float(scale[0]),
    )  # fmt: skip
    return OrdinalBank(
        model, sheet.labels, categories, loadings, means, sheet.covariances(means.shape[1]), noise, sheet.reverse()
    )
