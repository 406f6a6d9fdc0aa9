"""The model of a table of comparisons: its kernel's length by held-out comparisons, and what it is worth on these."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.gaussian_process.kernels import RBF

from adaptive import diagnostics
from adaptive.diagnostics.rivals import Alike
from adaptive.estimators import CollaborativePreference

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.types import RandomState

__all__ = ["judged", "model_of"]

LENGTHS = (0.5, 1.0, 2.0)  # in units of the root of the number of features: of distances between unlike items
SHARE = 0.2  # of comparisons, held out


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

    ``bits`` are the model's, ``bits_alike`` those of the same prior without knowing who is asked; a coin has 1. Beside
    it stands one ranking for everybody (``beside``, see `adaptive.diagnostics.beside`).
    """
    held = np.zeros(len(rows), dtype=bool)
    held[np.random.default_rng(seed).permutation(len(rows))[: max(1, int(SHARE * len(rows)))]] = True
    learn = [row for row, out in zip(rows, held, strict=True) if not out]
    test = [row for row, out in zip(rows, held, strict=True) if out]
    rival, whose = -Alike().fit(learn, y[~held]).log_predictive(test, y[held]), [row[0] for row in test]
    found = []
    for length in LENGTHS if features is not None else (1.0,):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit on all says so
            model = model_of(features, components, length, seed).fit(learn, y[~held])
        nobody = max(model.users_.tolist(), key=len) + "?"
        alike = model.log_predictive([(nobody, first, second) for _, first, second in test], y[held])
        own = model.log_predictive(test, y[held])
        bits = [-float(np.mean(values)) / np.log(2.0) for values in (own, alike)]
        beside = diagnostics.beside({"log_loss": (-own, rival)}, Alike.name, of=Alike.of, groups=whose)
        found.append({"length": length, "bits": bits[0], "bits_alike": bits[1], "held_out": len(test),
                      "beside": beside})  # fmt: skip
    return min(found, key=lambda one: one["bits"])
