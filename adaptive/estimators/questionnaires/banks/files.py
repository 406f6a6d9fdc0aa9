"""Banks of items as CSV files: those of other programs (`dialects`, `writing`), and ours with covariances.

ours     item, model, categories, reverse, measures:TRAIT, trait slopes, coordinates, covariances, origin and unit:
         nothing is lost; of the ordinal model thresholds, covariances, trait_noise, and the model's settings; of many
         traits loadings, steps and doubts (`many_traits`)
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TypeAlias

import numpy as np

from adaptive.estimators.questionnaires.bank import Bank
from adaptive.estimators.questionnaires.banks import many_traits
from adaptive.estimators.questionnaires.banks.dialects import bank_of_dialect
from adaptive.estimators.questionnaires.banks.sheet import Sheet, read_sheet
from adaptive.estimators.questionnaires.banks.writing import dialect_columns
from adaptive.estimators.questionnaires.base import ItemBank
from adaptive.estimators.questionnaires.curves import ASYMPTOTES, CURVES, difficulties
from adaptive.estimators.questionnaires.factors.bank import FactorBank
from adaptive.estimators.questionnaires.ordinal.bank import OrdinalBank
from adaptive.estimators.questionnaires.ordinal.model import OrdinalModel
from adaptive.files import write_csv

__all__ = ["SETTINGS", "read_bank", "write_bank"]

SETTINGS = ("styles", "response", "threshold_noise", "trait_scale")  # of an ordinal model, the same for all items


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


AnyBank: TypeAlias = Bank | OrdinalBank | FactorBank


def write_bank(bank: AnyBank, path: str | os.PathLike[str], dialect: str | None = None) -> None:
    """Write a bank so that reading it gives the same numbers; difficulties stand beside the coordinates, for people.

    In another program's ``dialect`` the curves are the same; a UserWarning says what else its form does not hold.
    """
    if dialect is not None:
        if isinstance(bank, FactorBank):
            columns, lost = many_traits.dialect_columns(bank, dialect)
        else:
            columns, lost = dialect_columns(bank, dialect)
        write_csv(Path(path), columns)
        if lost:
            warnings.warn(
                f"the form of {dialect} cannot hold {', '.join(lost)}; our own form can.", UserWarning, stacklevel=3
            )
        return
    if isinstance(bank, FactorBank):
        write_csv(Path(path), many_traits.our_columns(bank))
    else:
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
    if bank.model == "nominal":
        names = [f"{name}_{r}" for r in range(1, p // (t + 1) + 1) for name in (*_slope_names(bank), "intercept")]
    else:
        asymptotes = ASYMPTOTES.get(bank.model, ())
        names = [*_slope_names(bank), *(f"threshold_{k}" for k in range(1, p - t - len(asymptotes) + 1)), *asymptotes]
    for k, name in enumerate(names):
        columns[name] = _cells(readable[:, k])
    for k in range(p):
        columns[f"coordinate_{k + 1}"] = _cells(bank.coordinates[:, k])
    columns |= _covariance_columns(bank.covariances)
    for k, trait in enumerate(bank.traits):
        for name, (i, j) in (("origin", (0, 0)), ("origin_unit", (0, 1)), ("unit", (1, 1))):
            columns[f"{name}:{trait}"] = [float(bank.shared[k, i, j])] * len(bank)
    return columns


def _slope_names(bank: Bank) -> list[str]:
    return [f"discrimination:{trait}" for trait in bank.traits]


def read_bank(path: str | os.PathLike[str]) -> AnyBank:
    """Read a bank: ours, or one with the columns of mirt, catR, catsim or jsCAT (`dialects`)."""
    sheet = read_sheet(path)
    if "trait_noise" in sheet.names:
        return _ordinal(sheet)
    if "coordinate_1" in sheet.names:
        return _ours(sheet)
    if "loading_1" in sheet.names:
        return many_traits.bank_of_ours(sheet)
    return bank_of_dialect(sheet)


def _ours(sheet: Sheet) -> Bank:
    model, categories = sheet.same("model"), sheet.categories()
    if model not in CURVES:
        raise ValueError(f"{sheet.path}, line {sheet.lines[0]}: model must be one of {sorted(CURVES)}, got {model!r}.")
    if CURVES[model].dichotomous and len(categories) != 2:
        raise ValueError(
            f"the bank {sheet.path} has items of model {model!r}, with two answers, but names {len(categories)}."
        )
    loadings, coordinates = sheet.loadings(), sheet.numbered("coordinate_")
    t = len(loadings.traits)
    expected = t + len(CURVES[model].prior(len(categories), t)[0])
    if coordinates.shape[1] != expected:
        raise ValueError(
            f"the bank {sheet.path} must have {expected} coordinates for {t} traits and {len(categories)} answers, got "
            f"{coordinates.shape[1]}."
        )
    known = ~np.isnan(coordinates)
    wrong = ~known[:, : t + 1].all(axis=1) | (~known[:, :-1] & known[:, 1:]).any(axis=1)
    if CURVES[model].dichotomous:
        wrong |= ~known.all(axis=1)
    _refuse_lines(sheet, wrong, "coordinate")
    covariances = sheet.covariances(expected)
    least, most = np.linalg.eigvalsh(covariances)[:, [0, -1]].T
    _refuse_lines(sheet, least < -1e-8 * np.maximum(most, 0), "covariance", "has a negative variance")
    shared = np.zeros((t, 2, 2))
    for k, trait in enumerate(loadings.traits):
        origin, both, unit = (sheet.column(f"{name}:{trait}", 0.0)[0] for name in ("origin", "origin_unit", "unit"))
        shared[k] = [[origin, both], [both, unit]]
    return Bank(
        model, sheet.labels, categories, loadings, coordinates, covariances, reverse=sheet.reverse(), shared=shared
    )


def _ordinal(sheet: Sheet) -> OrdinalBank:
    """The bank of a file that was read."""
    loadings, categories, means = sheet.loadings(), sheet.categories(), sheet.numbered("threshold_")
    noise, threshold_noise, scale = (sheet.column(name) for name in ("trait_noise", "threshold_noise", "trait_scale"))
    found = {"threshold": means, "trait_noise": noise, "threshold_noise": threshold_noise, "trait_scale": scale}
    for name, values in found.items():
        _refuse_lines(sheet, ~np.isfinite(values).reshape(len(values), -1).all(axis=1), name)
        if name != "threshold":
            _refuse_lines(sheet, values <= 0, name, "must be > 0")
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


def _refuse_lines(sheet: Sheet, wrong: np.ndarray, name: str, why: str = "is missing") -> None:
    """Refuse the first item of which something is wrong, by its line."""
    if wrong.any():
        raise ValueError(f"{sheet.path}, line {sheet.lines[int(np.argmax(wrong))]}: {name} {why}.")
