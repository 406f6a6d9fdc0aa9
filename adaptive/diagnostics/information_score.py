"""Information score, bits: the entropy of labels given class frequencies only, minus the log loss of predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

__all__ = ["information_score"]

_SMALLEST = 1e-300


def information_score(
    probabilities: ArrayLike, y: ArrayLike, y_train: ArrayLike, *, classes: ArrayLike | None = None
) -> float:
    """Return the information of predictions about labels, in bits per label.

    Parameters
    ----------
    probabilities : (m, c) array
        Of every class, for held-out rows.
    y : (m,) array of labels
        Their labels.
    y_train : (n,) array of labels
        The training labels: what would be predicted without inputs are their frequencies.
    classes : (c,) array of labels, optional
        The columns of ``probabilities``; None: the sorted labels of ``y_train``.

    Returns
    -------
    float
        0: no better than the class frequencies; the most there is to know, 1 bit of two classes equally frequent, where
        every label was certain; below 0 where predictions mislead.

    Raises
    ------
    ValueError
        If shapes do not fit, a label of ``y`` is no class, or one has no training row.

    References
    ----------
    Rasmussen and Williams (2006), section 3.7.2; Nickisch (2010), section 4.11.1.

    Examples
    --------
    >>> p = np.array([0.9, 0.2, 0.6])
    >>> round(information_score(np.column_stack([1 - p, p]), [1, 0, 1], [0, 1, 0, 1]), 3)
    0.596
    """
    y, y_train = np.asarray(y), np.asarray(y_train)
    labels = np.unique(y_train) if classes is None else np.asarray(classes)
    p = checks.finite("probabilities", probabilities)
    checks.shape("probabilities", p, (len(y), len(labels)))
    happened = y[:, None] == labels
    unknown = y[~happened.any(axis=1)]
    if len(unknown):
        raise ValueError(
            f"y contains the label {unknown.tolist()[0]!r}, which is not among the classes {labels.tolist()}."
        )
    frequency = np.mean(y_train[:, None] == labels, axis=0)
    expected = happened @ frequency
    if not expected.all():
        raise ValueError(
            f"the class {y[expected == 0].tolist()[0]!r} of y is not among y_train: its frequency would be 0."
        )
    of_label = np.maximum((p * happened).sum(axis=1), _SMALLEST)
    return float(np.mean(np.log2(of_label)) - np.mean(np.log2(expected)))
