"""The six sets of Nickisch's table 4.8 and splits of their sizes; which rows the source trained on is not known.

Columns are standardised by the training rows, pixels of USPS are left as they are (they share one scale, and some are
nearly constant).
"""

from __future__ import annotations

import numpy as np

from adaptive import datasets
from experiments.statistics import standardised

__all__ = ["SIZES", "split", "whole"]

SIZES = {  # training rows, test rows, columns as printed
    "breast": (300, 383, 9),
    "crabs": (100, 100, 6),
    "ionosphere": (200, 151, 34),
    "pima": (350, 418, 8),
    "sonar": (108, 100, 60),
    "usps": (767, 773, 256),
}
_NAMES = {"breast": "breast_cancer_wisconsin"}


def whole(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return all rows, and labels -1 and +1 (the second class in sorted order)."""
    if name == "usps":
        parts = [datasets.usps(part) for part in ("train", "test")]
        X, y = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    else:
        X, y = datasets.uci(_NAMES.get(name, name))
    return X, np.where(y == np.unique(y)[1], 1, -1)


def split(name: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return X_train, X_test, y_train, y_test of a random split of the source's size."""
    X, y = whole(name)
    n_train, n_test, _ = SIZES[name]
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:n_train], order[n_train : n_train + n_test]
    if name != "usps":
        X = standardised(X, train)
    return X[train], X[test], y[train], y[test]
