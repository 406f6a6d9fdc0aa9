"""The user's functions, asked in blocks and checked: what comes back is of the shape expected, and possible.

log_likelihood(parameters (n, d), X (m, f), y (m, ...))  ->  (n, m)
model(parameters (n, d), X (m, f))  ->  (n, m), or (n, m, c) where y has c channels;  noise a standard deviation

A complex model is its real parts and, behind them, its imaginary parts: 2 c channels with noise of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from adaptive.types import ArrayLike

    Function: TypeAlias = Callable[..., ArrayLike]  # of the user, of parameters (n, d) first

__all__ = [
    "AT_ONCE",
    "GaussianNoise",
    "Likelihood",
    "StatedLikelihood",
    "called",
    "joined",
    "real_numbers",
    "refuse",
    "row_blocks",
    "stacked",
]

AT_ONCE = 2**22  # numbers that a user's function is asked for at once
_LOG_ROOT = 0.5 * np.log(2.0 * np.pi)


def row_blocks(n: int, m: int, each: int = 1) -> list[slice]:
    """Return slices of m rows, so that n x rows x ``each`` numbers are at most `AT_ONCE`."""
    rows = max(1, AT_ONCE // max(1, n * each))
    return [slice(start, min(start + rows, m)) for start in range(0, m, rows)]


def stacked(numbers: np.ndarray) -> np.ndarray:
    """Return (..., 2 c) real numbers of (..., c) complex ones: real parts, then imaginary parts; real ones as they are.

    Examples
    --------
    >>> stacked(np.array([1 + 2j, 3 + 4j])).tolist(), joined(np.array([1.0, 3.0, 2.0, 4.0])).tolist()
    ([1.0, 3.0, 2.0, 4.0], [(1+2j), (3+4j)])
    """
    return np.concatenate([numbers.real, numbers.imag], axis=-1) if np.iscomplexobj(numbers) else numbers


def joined(channels: np.ndarray) -> np.ndarray:
    """Return (..., c) complex numbers of their (..., 2 c) parts."""
    c = channels.shape[-1] // 2
    return channels[..., :c] + 1j * channels[..., c:]


def real_numbers(found: np.ndarray) -> np.ndarray:
    """Return numbers as floats; TypeError where that would drop imaginary parts."""
    if found.dtype.kind == "c":
        raise TypeError("complex numbers where real ones are expected")
    return found.astype(float, copy=False)


def called(
    name: str, function: Function, values: np.ndarray, *given: np.ndarray, may_be_complex: bool = False
) -> np.ndarray:
    """Return what the user's function says as numbers; what it raises is said in one sentence."""
    try:
        found = np.asarray(function(values, *given))
        return found.astype(complex) if found.dtype.kind == "c" and may_be_complex else real_numbers(found)
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

    def channels(self, values: np.ndarray, X: np.ndarray) -> tuple[int, bool]:
        """Return the number of real channels, and whether they are parts of complex numbers."""
        return self.moments(values, X)[0].shape[2], False

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
        Of each real component; a complex one has the deviation of real parts and of imaginary parts.
    """

    def __init__(self, model: Function, noise: complex | Function | int) -> None:
        self.model, self.noise = model, noise

    def moments(self, values: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return means (n, m, c) and deviations that broadcast to them; of complex ones all parts, c is even."""
        means = self._means(values, X)
        return stacked(means), self._deviations(values, X, means)

    def channels(self, values: np.ndarray, X: np.ndarray) -> tuple[int, bool]:
        """Return the number of real channels, and whether they are parts of complex numbers."""
        means = self._means(values, X)
        is_complex = np.iscomplexobj(means)
        return means.shape[2] * (2 if is_complex else 1), is_complex

    def _means(self, values: np.ndarray, X: np.ndarray) -> np.ndarray:
        """(n, m, c) means as the model has them."""
        means = called("model", self.model, values, X, may_be_complex=True)
        n, m = len(values), len(X)
        if means.ndim not in (2, 3) or means.shape[:2] != (n, m):
            raise ValueError(
                f"model must return shape ({n}, {m}), one row per parameter row and one column per setting "
                f"(parameters[:, j, None] broadcasts so), or ({n}, {m}, channels), got {means.shape}."
            )
        refuse(~np.isfinite(means), "model", means, values, X, "finite numbers")
        return means.reshape(n, m, -1)

    def _deviations(self, values: np.ndarray, X: np.ndarray, means: np.ndarray) -> np.ndarray:
        shape = means.shape
        if isinstance(self.noise, int):
            found = values[:, self.noise, None, None]
        elif callable(self.noise):
            found = called("noise", self.noise, values, X, may_be_complex=np.iscomplexobj(means))
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
            found = np.full((1, 1, 1), self.noise)
        if np.iscomplexobj(found) and not np.iscomplexobj(means):
            raise ValueError("noise must be real where model returns real numbers, got a complex one.")
        wrong = ~(np.isfinite(found) & (found.real > 0))
        if np.iscomplexobj(found):
            wrong |= found.imag <= 0
        refuse(wrong, "noise", found, values, X, "finite standard deviations > 0")
        if found.shape[2] == 1 and not np.iscomplexobj(found):
            return found  # the same of all parts
        if np.iscomplexobj(means):
            found = np.broadcast_to(found, (*found.shape[:2], shape[2]))
            return stacked(found) if np.iscomplexobj(found) else np.concatenate([found, found], axis=2)
        return found

    def of_rows(self, values: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        means, outcomes = self._means(values, X), y.reshape(len(y), -1)
        if np.iscomplexobj(means) != np.iscomplexobj(outcomes):
            expected, given = ("complex", "real") if np.iscomplexobj(means) else ("real", "complex")
            raise ValueError(f"y must hold {expected} numbers, as model returns, got {given} ones ({y.dtype}).")
        if outcomes.shape[1] != means.shape[2]:
            raise ValueError(
                f"y must have {means.shape[2]} columns, one per channel of model, got shape {y.shape}."
                if means.shape[2] > 1
                else f"y must hold one number per setting, as model returns, got shape {y.shape}."
            )
        deviations = self._deviations(values, X, means)
        z = stacked(outcomes - means) / deviations
        terms = -0.5 * np.square(z) - np.log(deviations) - _LOG_ROOT
        return terms.sum(axis=2)


def refuse(wrong: np.ndarray, name: str, found: np.ndarray, values: np.ndarray, X: np.ndarray, expected: str) -> None:
    """Raise ValueError about the first number that is wrong, with the parameters and the setting that it is for."""
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        i, j = min(at[0], len(values) - 1), min(at[1], len(X) - 1)
        raise ValueError(
            f"{name} gave {found[at]} for parameters {values[i].tolist()} at setting {X[j].tolist()}; "
            f"expected {expected}."
        )
