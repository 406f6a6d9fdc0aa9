"""Rows to choose from, for estimators of several families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.contract.case import Case

__all__ = ["POINTS", "ROWS", "classifier", "falling", "label"]

RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((23, 2))
ROWS = RNG.standard_normal((23, 3))
NEW = RNG.standard_normal((5, 2))  # inputs to be predicted


def label(points: Any) -> np.ndarray:
    """Two classes."""
    return (np.asarray(points)[:, 0] + 0.5 * np.asarray(points)[:, 1] > 0.2).astype(int)


def falling(rows: Any) -> np.ndarray:
    """Numbers without noise."""
    return np.asarray(rows) @ [1.0, -2.0, 0.5]


def classifier(name: str, make: Callable[[], Any], answer: Callable[[Any], Any] = label, **options: Any) -> Case:
    """A classifier of points."""
    learn = np.vstack([POINTS[:6], -POINTS[:6]])
    return Case(name, make, POINTS, (learn, answer(learn)), answer, **{"target": NEW, "given": "direction", **options})
