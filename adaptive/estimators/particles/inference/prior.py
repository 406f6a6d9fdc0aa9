"""Prior of the parameters: draws, and a log density that moves ask for.

Frozen SciPy distributions are drawn by a scrambled Sobol sequence through their quantile functions, which makes means
over the first particles far more exact than independent draws would; a function draws as it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

import numpy as np
from scipy.stats import qmc

from adaptive import checks
from adaptive.estimators.particles.inference.fitted_density import N_DRAWS, FittedDensity

__all__ = ["Prior", "checked_draws", "prior_of"]

_EXPECTED = "prior must be a function (n, random_state) -> (n, d), or a frozen continuous distribution of scipy.stats"


if TYPE_CHECKING:
    from adaptive.types import ArrayLike

    Draws: TypeAlias = Callable[[int, np.random.Generator], ArrayLike]
    PriorLike: TypeAlias = Draws | "Frozen" | Sequence["Frozen"] | Mapping[str, "Frozen"] | None


@runtime_checkable
class Frozen(Protocol):
    """Frozen continuous distribution of one variable, of `scipy.stats`."""

    dist: object

    def ppf(self, q: np.ndarray) -> np.ndarray: ...
    def logpdf(self, x: np.ndarray) -> np.ndarray: ...


class Prior(Protocol):
    """Prior as inference asks for it."""

    names: tuple[str, ...]

    def draw(self, n: int, seed: int) -> np.ndarray:
        """Return (n, d) draws."""

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Return log p (n,), minus infinity outside of the support."""


class Stated:
    """Independent parameters, each with a frozen SciPy distribution.

    Parameters
    ----------
    distributions : dict of name -> frozen distribution
    """

    def __init__(self, distributions: Mapping[str, Frozen]) -> None:
        self.names = tuple(distributions)
        self._distributions = tuple(distributions.values())

    def draw(self, n: int, seed: int) -> np.ndarray:
        d = len(self.names)
        sobol = qmc.Sobol(d, scramble=True, seed=np.random.default_rng([seed, 0]))
        unit = sobol.random_base2(int(np.ceil(np.log2(max(n, 2)))))[:n]
        unit = np.clip(unit, 1e-12, 1.0 - 1e-12)
        return np.stack([one.ppf(column) for one, column in zip(self._distributions, unit.T, strict=True)], axis=1)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            columns = zip(self._distributions, values.T, strict=True)
            return np.sum([one.logpdf(column) for one, column in columns], axis=0)


class Drawn:
    """A function that draws, and its ``logpdf(values) -> (n,)`` where it has one; else a density is fitted.

    Parameters
    ----------
    function : callable(n, random_state) -> (n, d)
        ``random_state`` is a Generator. It may have ``logpdf``, and ``names``.
    """

    def __init__(self, function: Draws) -> None:
        self._function = function
        self._density: Callable[[np.ndarray], ArrayLike] | None = getattr(function, "logpdf", None)
        d = self._drawn(2, 0).shape[1]
        self.names = tuple(map(str, getattr(function, "names", [f"parameter_{j}" for j in range(d)])))
        if len(self.names) != d:
            raise ValueError(f"prior.names must be {d}, one per column of its draws, got {len(self.names)}.")

    def _drawn(self, n: int, *seed: int) -> np.ndarray:
        rng = np.random.default_rng(list(seed))
        draws = checks.finite("prior(n, random_state)", self._function(n, rng))
        if draws.ndim != 2 or len(draws) != n or draws.shape[1] == 0:
            raise ValueError(f"prior(n, random_state) must return ({n}, d) draws for n = {n}, got shape {draws.shape}.")
        return draws

    def draw(self, n: int, seed: int) -> np.ndarray:
        return self._drawn(n, seed, 0)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        if self._density is None:
            self._density = FittedDensity(self._drawn(N_DRAWS, 0, 1))
        found = np.array(self._density(values), dtype=float)
        if found.shape != (len(values),) or np.isnan(found).any():
            raise ValueError(
                f"prior.logpdf must return {len(values)} numbers, one per row of values, got shape {found.shape}"
                f"{' with NaN' if np.isnan(found).any() else ''}."
            )
        return found


def prior_of(given: PriorLike) -> Prior:
    """Return the prior that a user gave, checked.

    Parameters
    ----------
    given : callable(n, random_state) -> (n, d), frozen distribution, list or dict of these
        A dict names the parameters; else they are parameter_0, parameter_1, ...

    Examples
    --------
    >>> from scipy import stats
    >>> prior_of({"rate": stats.uniform(0, 2)}).draw(2, 0).shape
    (2, 1)
    """
    if isinstance(given, Mapping):
        return Stated(_checked({str(name): one for name, one in given.items()}))
    if isinstance(given, Frozen):
        given = [given]
    if isinstance(given, Sequence) and not isinstance(given, str):
        return Stated(_checked({f"parameter_{j}": one for j, one in enumerate(given)}))
    if not callable(given):
        raise ValueError(f"{_EXPECTED} per parameter (a list or a dict by name), got {type(given).__name__}.")
    return Drawn(given)


def _checked(distributions: dict[str, Frozen]) -> dict[str, Frozen]:
    if not distributions:
        raise ValueError(f"{_EXPECTED} per parameter, got none.")
    for name, one in distributions.items():
        if not isinstance(one, Frozen):
            raise ValueError(f"{_EXPECTED} per parameter, got {type(one).__name__} for {name!r}.")
    return distributions


def checked_draws(prior: Prior, n: int, seed: int) -> np.ndarray:
    """Return (n, d) draws of which not all are the same point."""
    values = prior.draw(n, seed)
    if not np.isfinite(values).all():
        name = prior.names[int(np.flatnonzero(~np.isfinite(values).all(axis=0))[0])]
        raise ValueError(f"prior must draw finite numbers, got some that are not for {name!r}.")
    if n > 1 and not np.ptp(values, axis=0).any():
        raise ValueError(f"prior must draw different points, got {n} times {values[0].tolist()}.")
    return values
