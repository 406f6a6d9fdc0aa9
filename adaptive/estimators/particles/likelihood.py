"""The user's functions, asked in blocks and checked: what comes back is of the shape expected, and possible.

log_likelihood(parameters (n, d), X (m, f), y (m, ...))  ->  (n, m)
model(parameters (n, d), X (m, f))  ->  (n, m), or (n, m, c) where y has c channels;  noise a standard deviation
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

    Function: TypeAlias = Callable[..., ArrayLike]  # of the user, of parameters (n, d) first

__all__ = ["AT_ONCE", "GaussianNoise", "Likelihood", "StatedLikelihood", "row_blocks"]

AT_ONCE = 2**22  # numbers that a user's function is asked for at once
_LOG_ROOT = 0.5 * np.log(2.0 * np.pi)


def row_blocks(n: int, m: int, each: int = 1) -> list[slice]:
    """Return slices of m rows, so that n x rows x ``each`` numbers are at most `AT_ONCE`."""
    rows = max(1, AT_ONCE // max(1, n * each))
    return [slice(start, min(start + rows, m)) for start in range(0, m, rows)]


def called(name: str, function: Function, values: np.ndarray, *given: np.ndarray) -> np.ndarray:
    """Return what the user's function says as numbers; what it raises is said in one sentence."""
    try:
        return np.asarray(function(values, *given), dtype=float)
    except Exception as problem:
        text = str(problem).splitlines()[0] if str(problem) else "no message"
        raise ValueError(
            f"{name} raised {type(problem).__name__} ({text}) for {len(values)} parameter rows from within the prior; "
            "it must take all that the prior allows."
        ) from problem


class Likelihood:
    """Log likelihoods of rows, added; a subclass has ``of_rows(values, X, y) -> (n, m)``, and perhaps ``moments``."""

    def of_rows(self, values: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return log p(y_j | values_i, X_j), (n, m)."""
        raise NotImplementedError  # pragma: no cover

    def moments(self, values: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return means (n, m, c) of numbers and deviations that broadcast to them."""
        raise NotImplementedError  # pragma: no cover

    def total(self, values: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return sum_j log p(y_j | values_i, X_j), (n,)."""
        total = np.zeros(len(values))
        for part in row_blocks(len(values), len(X)):
            total += self.of_rows(values, X[part], y[part]).sum(axis=1)
        return total


class StatedLikelihood(Likelihood):
    """``log_likelihood`` as a user states it."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def of_rows(self, values: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        found = called("log_likelihood", self.function, values, X, y)
        if found.shape != (len(values), len(X)):
            raise ValueError(
                f"log_likelihood must return shape ({len(values)}, {len(X)}), one row per parameter row and one column "
                f"per setting (parameters[:, j, None] broadcasts so), got {found.shape}."
            )
        wrong = np.isnan(found) | (found == np.inf)
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise ValueError(
                f"log_likelihood returned {found[i, j]} for parameters {values[i].tolist()} at setting "
                f"{X[j].tolist()}; expected finite numbers, or minus infinity where y is impossible."
            )
        return found


class GaussianNoise(Likelihood):
    """The user's mean and Gaussian noise around it.

    Parameters
    ----------
    model : callable(parameters, X) -> (n, m) or (n, m, c)
    noise : float > 0, callable(parameters, X) -> what broadcasts to the mean, or int: the column that holds it
    """

    def __init__(self, model: Function, noise: float | Function | int) -> None:
        self.model, self.noise = model, noise

    def moments(self, values: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return means (n, m, c) and deviations that broadcast to them."""
        means = called("model", self.model, values, X)
        n, m = len(values), len(X)
        if means.ndim not in (2, 3) or means.shape[:2] != (n, m):
            raise ValueError(
                f"model must return shape ({n}, {m}), one row per parameter row and one column per setting "
                f"(parameters[:, j, None] broadcasts so), or ({n}, {m}, channels), got {means.shape}."
            )
        _refuse(~np.isfinite(means), "model", means, values, X, "finite numbers")
        means = means.reshape(n, m, -1)
        return means, self._deviations(values, X, means.shape)

    def _deviations(self, values: np.ndarray, X: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        if isinstance(self.noise, int):
            found = values[:, self.noise, None, None]
        elif callable(self.noise):
            found = called("noise", self.noise, values, X)
            given = found.shape
            if found.ndim == 2 or (found.ndim == 1 and shape[2] == 1):  # of settings, the same for all channels
                found = found[..., None]
            try:
                np.broadcast_to(found, shape)
            except ValueError:
                expected = shape[:2] if shape[2] == 1 else shape
                raise ValueError(
                    f"noise must return standard deviations that broadcast to the model's {expected}, got shape "
                    f"{given}."
                ) from None
            found = found.reshape((1,) * (3 - found.ndim) + found.shape)
        else:
            return np.full((1, 1, 1), float(self.noise))
        _refuse(~(np.isfinite(found) & (found > 0)), "noise", found, values, X, "finite standard deviations > 0")
        return found

    def of_rows(self, values: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        means, deviations = self.moments(values, X)
        outcomes = y.reshape(len(y), -1)
        if outcomes.shape[1] != means.shape[2]:
            raise ValueError(
                f"y must have {means.shape[2]} columns, one per channel of model, got shape {y.shape}."
                if means.shape[2] > 1
                else f"y must hold one number per setting, as model returns, got shape {y.shape}."
            )
        z = (outcomes - means) / deviations
        terms = -0.5 * np.square(z) - np.log(deviations) - _LOG_ROOT
        return terms.sum(axis=2)


def _refuse(wrong: np.ndarray, name: str, found: np.ndarray, values: np.ndarray, X: np.ndarray, expected: str) -> None:
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        i, j = min(at[0], len(values) - 1), min(at[1], len(X) - 1)
        raise ValueError(
            f"{name} gave {found[at]} for parameters {values[i].tolist()} at setting {X[j].tolist()}; "
            f"expected {expected}."
        )
