"""Banks of the ordinal model as CSV files: an item's thresholds with covariances, its noise, and the model's settings.

item, model = "ordinal", categories, reverse, measures:TRAIT, threshold_1 .., covariance_1_1 .., trait_noise, styles,
response, threshold_noise, trait_scale: nothing is lost.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators.questionnaires.bank_columns import cells, covariance_columns, label_columns
from adaptive.estimators.questionnaires.ordinal.bank import OrdinalBank
from adaptive.estimators.questionnaires.ordinal.model import OrdinalModel
from adaptive.files import write_csv

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.bank_columns import Sheet

__all__ = ["ordinal_bank_of", "write_ordinal_bank"]

SETTINGS = ("styles", "response", "threshold_noise", "trait_scale")


def write_ordinal_bank(bank: OrdinalBank, path: str | os.PathLike[str]) -> None:
    """Write a bank so that reading it gives the same numbers."""
    columns = label_columns(bank, "ordinal")
    for k in range(bank.means.shape[1]):
        columns[f"threshold_{k + 1}"] = cells(bank.means[:, k])
    columns |= covariance_columns(bank.covariances) | {"trait_noise": cells(bank.trait_noise)}
    for name in SETTINGS:
        columns[name] = [getattr(bank.model, name)] * len(bank)
    write_csv(Path(path), columns)


def ordinal_bank_of(sheet: Sheet) -> OrdinalBank:
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
