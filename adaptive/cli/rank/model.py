"""The model of a table of comparisons; where there are features, with the kernel's length that explains them best."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from adaptive.estimators import BradleyTerry

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.cli.rank.tables import Known

__all__ = ["model_of", "pairs_of"]

LENGTHS = (0.5, 1.0, 2.0)  # in units of the root of the number of features: of distances between unlike items


def model_of(
    known: Known, features: pd.DataFrame | None, *, ties: bool, position_bias: bool, judged: bool, stands_for: str
) -> BradleyTerry:
    """The estimator after the table's comparisons; those of nobody in particular count as ``stands_for``'s."""
    options = {"ties": ties, "position_bias": position_bias, "judges": judged}
    rows = [row if len(row) == 2 + judged else (*row, stands_for) for row in known.rows]

    def fitted(model: BradleyTerry) -> BradleyTerry:
        return model.partial_fit(rows, known.y) if rows else model

    if features is None:
        return fitted(BradleyTerry(known.names, **options))
    from sklearn.gaussian_process.kernels import RBF

    lengths = LENGTHS if rows else (1.0,)
    models = [
        fitted(BradleyTerry(None, RBF(length * np.sqrt(features.shape[1])), item_features=features, **options))
        for length in lengths
    ]
    return max(models, key=lambda model: model.log_evidence_) if rows else models[0]


def pairs_of(names: list[str], judges: list[str] | None) -> list[tuple[str, ...]]:
    """All that may be asked: two names in either order, and a judge where there are several."""
    judged: list[tuple[str, ...]] = [()] if judges is None else [(judge,) for judge in judges]
    return [(*pair, *judge) for pair in itertools.permutations(names, 2) for judge in judged]
