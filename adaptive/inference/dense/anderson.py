"""Anderson's mixing for fixed points of sites: the combination of the last steps that cancels best.

With points x_k and steps f_k = g(x_k) - x_k, the weights w minimise |f - sum_k w_k (f_k - f_{k-1})| and the next point
is g(x) - sum_k w_k (x_k + f_k - x_{k-1} - f_{k-1}): for a linear g, GMRES on its residual.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["AndersonMixing"]


class AndersonMixing:
    """The last few sweeps, and where they point.

    Parameters
    ----------
    memory : int, default 3
        Earlier sweeps that are looked at.

    References
    ----------
    Walker and Ni (2011), Anderson acceleration for fixed-point iterations.
    """

    def __init__(self, memory: int = 3):
        self.memory = memory
        self._history: list[tuple[np.ndarray, np.ndarray]] = []

    def clear(self) -> None:
        """Forget all sweeps."""
        self._history.clear()

    def keep_last(self) -> None:
        """Forget all sweeps but the last."""
        del self._history[:-1]

    def add(self, point: np.ndarray, step: np.ndarray) -> None:
        """Remember a point (k, q) and the step of the fixed-point map from there."""
        self._history.append((point, step))
        del self._history[: -self.memory - 1]

    def next(self, units: Callable[..., np.ndarray]) -> np.ndarray | None:
        """The extrapolated point, in the form of those added; None before there are two sweeps.

        Parameters
        ----------
        units : callable
            Steps (first, second row) in the units in which they are to be small.
        """
        if len(self._history) < 2:
            return None
        points, steps = (np.diff(np.stack(column), axis=0) for column in zip(*self._history, strict=True))
        point, step = self._history[-1]
        matrix = np.stack([units(*one) for one in steps], axis=1)
        gram = matrix.T @ matrix
        gram[np.diag_indices(len(gram))] += 1e-14 * np.trace(gram) + 1e-300
        weights = np.linalg.solve(gram, matrix.T @ units(*step))
        return point + step - np.tensordot(weights, points + steps, 1)
