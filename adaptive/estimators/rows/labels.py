"""The user's labels and the classes they stand for."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Outcomes

__all__ = ["codes_of", "known_classes", "refuse_other_than_labels", "refuse_two_kinds", "warn_of_one_class"]


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
    refuse_other_than_labels(y)
    known = np.unique(y) if named is None else np.unique(named)
    if named is not None:
        _refuse_strangers(y, known)
    return known if earlier is None else np.unique(np.concatenate([earlier, known]))


def codes_of(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the position of every label in ``classes``, (m,) ints."""
    _refuse_strangers(y, classes)
    return np.searchsorted(classes, y)


def warn_of_one_class(classes: np.ndarray) -> None:
    """Say where a whole fit has seen one class only, so that every prediction will be that one."""
    if len(classes) == 1:
        warnings.warn(
            f"y holds one class only, {classes.tolist()[0]!r}, and nothing else can be predicted: name the others by "
            "classes=, or wait for an answer of another class.",
            UserWarning,
            stacklevel=3,
        )


def refuse_other_than_labels(y: np.ndarray) -> None:
    """Refuse, in a sentence with the cure, what scikit-learn takes for no labels."""
    try:
        check_classification_targets(y)
    except ValueError:
        given = np.asarray(y)
        if given.dtype.kind != "f":
            refuse_two_kinds(given.ravel().tolist())
            raise
        number = given[given != np.round(given)][0]
        raise ValueError(
            f"Unknown label type: y must hold labels, and numbers such as {number:g} are for a regressor "
            "(SparseLinearRegression)."
        ) from None


def refuse_two_kinds(y: Outcomes) -> None:
    """Refuse a list of labels of which some are text and some are not: an array of it would be text."""
    if isinstance(y, (list, tuple)) and 0 < sum(isinstance(label, str) for label in y) < len(y):
        kinds = sorted({type(label).__name__ for label in y})
        raise ValueError(f"y must hold labels of one kind, all numbers or all text, got {' and '.join(kinds)}.")


def _refuse_strangers(y: np.ndarray, classes: np.ndarray) -> None:
    unknown = ~np.isin(y, classes)
    if unknown.any():
        raise ValueError(
            f"y contains the label {y[unknown].tolist()[0]!r}, but the known classes are {classes.tolist()}."
        )
