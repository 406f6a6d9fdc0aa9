"""Columns that banks of all models share as CSV files: labels, answers, traits, covariances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.estimators.questionnaires.loadings import Loadings

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.bank import Bank
    from adaptive.estimators.questionnaires.ordinal.bank import OrdinalBank

__all__ = ["Sheet", "cells", "covariance_columns", "label_columns"]


class Sheet(NamedTuple):
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
    labels: Sequence[Any]
    column: Callable[..., np.ndarray]

    def same(self, name: str) -> str:
        """What stands in a column that is the same for all items."""
        if name not in self.names:
            raise ValueError(f"the bank {self.path} lacks the column {name!r}.")
        return self.rows[0][name]

    def categories(self) -> tuple[int, ...]:
        """The answers, in order."""
        return tuple(int(one) for one in self.same("categories").split())

    def loadings(self) -> Loadings:
        """Which item measures which traits."""
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


def label_columns(bank: Bank | OrdinalBank, model: str) -> dict[str, list[Any]]:
    """Columns that say what the items are."""
    columns: dict[str, list[Any]] = {
        "item": list(bank.items), "model": [model] * len(bank),
        "categories": [" ".join(map(str, bank.categories))] * len(bank), "reverse": [int(one) for one in bank.reverse],
    }  # fmt: skip
    for k, trait in enumerate(bank.traits):
        columns[f"measures:{trait}"] = [int(one) for one in bank.loadings.mask[:, k]]
    return columns


def covariance_columns(covariances: np.ndarray) -> dict[str, list[float | None]]:
    """The lower halves of (items, p, p)."""
    p = covariances.shape[1]
    return {f"covariance_{i + 1}_{j + 1}": cells(covariances[:, i, j]) for i in range(p) for j in range(i + 1)}


def cells(values: np.ndarray) -> list[float | None]:
    """Numbers, None where there is none."""
    return [None if np.isnan(one) else float(one) for one in values]
