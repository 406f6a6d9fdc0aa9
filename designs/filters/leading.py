"""Filters that are designed anew from what is known: directions in which the image is most uncertain.

    x_1, ..., x_d = leading eigenvectors of Cov(u | y)      the d unit-norm filters that teach most, jointly

A pool here is a function of the estimator alone, so that a design that was stopped and resumed goes on as if it had
never stopped.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.checks import integer
from designs.filters.hadamard import signs
from designs.filters.measured import measured_rows, require_answer
from designs.filters.normalised import as_filters

__all__ = ["LeadingDirections", "LeadingSigns"]


class LeadingDirections:
    """Callable pool: the ``n`` orthonormal filters that nothing restricts, the best ones there are.

    Parameters
    ----------
    n : int, default 3
        How many at a time; give `SequentialDesign` the same ``batch_size``.

    Notes
    -----
    For Gaussian noise and a Gaussian posterior the joint information of d rows of norm one, log|I + X V X'| / 2, is
    largest for the d leading eigenvectors of the covariance V. The estimator needs ``leading_directions(n)``.

    References
    ----------
    Nickisch (2010), section 5.3, algorithm 5.1, "opt free".

    Examples
    --------
    >>> class Belief:
    ...     def leading_directions(self, n):
    ...         return np.eye(4)[:n]
    >>> LeadingDirections(2)(Belief())
    array([[1., 0., 0., 0.],
           [0., 1., 0., 0.]])
    """

    def __init__(self, n: int = 3):
        self.n = integer("n", n, minimum=1)

    def __call__(self, estimator: Any) -> np.ndarray:
        require_answer(estimator, "leading_directions")
        return _directions(estimator, self.n)


class LeadingSigns:
    """Callable pool: the signs of the leading directions, for detectors that can show +1 and -1 only.

    Parameters
    ----------
    n : int, default 3
        How many at a time. Patterns that were measured already are passed over, further directions taken instead.

    Notes
    -----
    The estimator needs ``leading_directions(n)`` and ``measurements_``.

    References
    ----------
    Nickisch (2010), section 5.3, algorithm 5.1, for the directions; their signs are ours.

    Examples
    --------
    >>> class Belief:
    ...     measurements_ = np.empty((0, 4)), np.empty(0)
    ...     def leading_directions(self, n):
    ...         return np.array([[0.1, 0.1, -0.9, 0.4], [0.5, -0.5, 0.5, -0.5]])[:n]
    >>> LeadingSigns(1)(Belief())
    array([[ 0.5,  0.5, -0.5,  0.5]])
    """

    def __init__(self, n: int = 3):
        self.n = integer("n", n, minimum=1)

    def __call__(self, estimator: Any) -> np.ndarray:
        require_answer(estimator, "leading_directions")
        rows, _ = measured_rows(estimator)
        wanted = self.n
        while True:
            directions = _directions(estimator, wanted)
            fresh = _new_patterns(signs(directions), rows)
            if len(fresh) >= self.n or wanted >= directions.shape[1]:
                return fresh[: self.n]
            wanted = min(2 * wanted, directions.shape[1])


def _directions(estimator: Any, n: int) -> np.ndarray:
    directions = np.asarray(estimator.leading_directions(n))
    return as_filters(directions.reshape(len(directions), -1))


def _new_patterns(patterns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Patterns that equal no row before them, nor one that was measured, up to the sign."""
    fresh: list[np.ndarray] = []
    for pattern in patterns:
        known = np.concatenate([rows, *[one[None] for one in fresh]])
        lengths = np.linalg.norm(known, axis=1)
        if not np.any(np.abs(known @ pattern) > (1 - 1e-9) * lengths):
            fresh.append(pattern)
    return np.array(fresh).reshape(-1, patterns.shape[1])
