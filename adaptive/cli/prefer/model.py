"""The model of a table of comparisons: its kernel's length by held-out comparisons, and what it is worth on these."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from adaptive import diagnostics
from adaptive.estimators import CollaborativePreference

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.types import RandomState

__all__ = ["MOST", "judged", "model_of"]

LENGTHS = (0.5, 1.0, 2.0)  # in units of the root of the number of features: of distances between unlike items
FOLDS = 5  # parts of the comparisons, each predicted by a model of the others
MOST = 5000  # comparisons, up to which that is worth the time


def model_of(
    features: pd.DataFrame | None, components: int | None, length: float, seed: RandomState
) -> CollaborativePreference:
    """The estimator; ``length`` counts where there are features, components None are chosen by held-out comparisons."""
    number = "auto" if components is None else components
    if features is None:
        return CollaborativePreference(number, random_state=seed)
    kernel = RBF(length * np.sqrt(features.shape[1]))
    return CollaborativePreference(number, kernel, item_features=features, random_state=seed)


def judged(
    rows: list[tuple[str, str, str]], y: np.ndarray, features: pd.DataFrame | None, components: int | None, seed: int
) -> dict[str, Any]:
    """Return the length of the kernel that predicts held-out comparisons best, and bits per one of these.

    Each comparison is held out once, in `FOLDS` parts; of a table of more than `MOST` one part is. ``bits`` are the
    model's, ``bits_one_ranking`` those of one ranking for everybody; a coin has 1. ``beside`` has their difference,
    with an interval over people, as of `adaptive.diagnostics.beside_rival`. Of a table that is too short for it these
    are None.
    """
    tried = FOLDS if len(rows) <= MOST else 1
    found: list[dict[str, Any]] = []
    for length in LENGTHS if features is not None else (1.0,):
        model = model_of(features, components, length, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit on all says so
            beside = diagnostics.beside_rival(model, (rows, y), n_folds=FOLDS, n_tried=tried, random_state=seed)
        if beside is None:
            return {"length": 1.0, "bits": None, "bits_one_ranking": None, "held_out": 0, "folds": 0, "beside": None}
        bits = {name: float(beside[loss] / np.log(2.0))
                for name, loss in (("bits", "log_loss"), ("bits_one_ranking", "rival_log_loss"))}  # fmt: skip
        found.append({"length": length, **bits, "held_out": beside["n"], "folds": tried, "beside": beside})
    return min(found, key=lambda one: one["bits"])
