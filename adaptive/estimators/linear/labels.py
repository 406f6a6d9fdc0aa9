"""The user's labels and the classes they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["codes_of", "known_classes"]


def known_classes(y: np.ndarray, named: ArrayLike | None, earlier: np.ndarray | None = None) -> np.ndarray:
    """Merge the classes that were ``named``, those known ``earlier`` and those of ``y``; sorted, without repeats.

    Raises
    ------
    ValueError
        If classes were named and y holds another label.

    Examples
    --------
    >>> known_classes(np.array(["b"]), ["b", "a"]).tolist()
    ['a', 'b']
    """
    check_classification_targets(y)
    known = np.unique(y) if named is None else np.unique(named)
    if named is not None:
        _refuse_strangers(y, known)
    return known if earlier is None else np.unique(np.concatenate([earlier, known]))


def codes_of(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the position of every label in ``classes``, (m,) ints."""
    _refuse_strangers(y, classes)
    return np.searchsorted(classes, y)


def _refuse_strangers(y: np.ndarray, classes: np.ndarray) -> None:
    unknown = ~np.isin(y, classes)
    if unknown.any():
        raise ValueError(
            f"y contains the label {y[unknown].tolist()[0]!r}, but the known classes are {classes.tolist()}."
        )
