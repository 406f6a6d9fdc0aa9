"""Scatter of counts beyond Poisson's: one variance more on every log rate, by rows left out; or less than Poisson's.

    y_j ~ Poisson(e_j rate(s_j)),    s_j ~ N(c_j - t/2, v_j + t),    t = (gamma - 1) typical v,    gamma >= 1

c and v are the cavities. Rates e^s keep their means (those of the other links are left where they are, without t/2).
What nothing in the model tells differs from row to row, so that t is the same everywhere, while v shrinks with every
answer.

Counts that scatter less (ratings, logarithms of plays: a share phi of Poisson's variance) would be predicted too
broadly even at their true rates m, by Poisson's variance and that of the rates. What is too much, the rates give up:

    m^2 (v - d) + m = m^2 v + phi m,    d = min(v, (1 - phi) / m),    phi <= 1
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.estimators.rows.leave_one_out import without_sites
from adaptive.estimators.variance_factor import VarianceFactor, variance_factor

if TYPE_CHECKING:
    from collections.abc import Callable

    from adaptive.potentials import Poisson

__all__ = ["Scatter", "Scattering", "scatter_of"]

FEWEST = 5  # rows of which something is learnt
NONE = 1.01  # a factor gamma up to which counts are looked at for scattering less
LEAST_SHARE = 0.02  # of Poisson's variance
_LEAST, _LEAST_LEFT = 1e-300, 1e-12
_SHARE = 0.999  # of a row's information that is its own: beyond, nothing else speaks of it


class Scatter(NamedTuple):
    """Variance of projections that nothing in the model explains.

    Attributes
    ----------
    variance : float
        t >= 0.
    keeps_means : bool
        Whether rates are exponential.
    factor : VarianceFactor
        gamma, its error, what it gains.
    share : float
        phi <= 1, of exponential rates and where it was asked for; else 1.
    """

    variance: float
    keeps_means: bool
    factor: VarianceFactor
    share: float = 1.0

    def widened(self, moments: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Moments (m,) of projections, with the scatter."""
        return _widened(moments, self.variance, self.keeps_means)

    def spared(self, moments: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        """The variance d (m,) that projections are to be predicted without."""
        return _spared(moments, self.share)


class Scattering:
    """Belief with a ``scatter``: a `Scatter`, or None where that is not known."""

    scatter: Scatter | None

    @property
    def variance_factor(self) -> VarianceFactor | None:
        """The scatter as a factor of the projections' typical variance, with its error."""
        return None if self.scatter is None else self.scatter.factor

    @property
    def scatter_variance(self) -> float:
        """Variance of projections that nothing in the model explains; 0 where it is not known."""
        return 0.0 if self.scatter is None else self.scatter.variance

    @property
    def poisson_share(self) -> float:
        """Share of Poisson's variance that counts have, at most 1; 1 where it is not known."""
        return 1.0 if self.scatter is None else self.scatter.share


def _widened(moments: tuple[np.ndarray, np.ndarray], extra: float, keeps_means: bool) -> tuple[np.ndarray, np.ndarray]:
    mean, variance = moments
    return mean - (0.5 * extra if keeps_means else 0.0), np.maximum(variance + extra, _LEAST)


def _spared(moments: tuple[np.ndarray, np.ndarray], share: float, exposure: Any = 1.0) -> np.ndarray:
    mean, variance = moments
    counts = exposure * np.exp(np.minimum(mean + 0.5 * variance, 700.0))
    return np.minimum((1.0 - share) / counts, variance)


def scatter_of(
    counts: Callable[[np.ndarray], Poisson],
    moments: tuple[np.ndarray, np.ndarray],
    sites: tuple[np.ndarray, np.ndarray],
    *,
    narrows: bool = False,
) -> Scatter | None:
    """Return the scatter that rows ask for when each is predicted without itself; None of too few.

    Parameters
    ----------
    counts : callable (positions) -> Poisson
        Potentials of those rows.
    moments : two (n,) arrays
        Means and variances of the rows' projections.
    sites : two (n,) arrays
        Precisions, and precisions times means, of the rows' own sites.
    narrows : bool, default False
        Look for counts that scatter less than Poisson's, too.
    """
    known = np.flatnonzero(np.isfinite(moments).all(axis=0) & (sites[0] * moments[1] < _SHARE) & (moments[1] > 0))
    if len(known) < FEWEST:
        return None
    family, cavities = counts(known), without_sites(*(part[known] for part in (*moments, *sites)))
    typical, keeps = float(np.median(cavities[1])), family.rate == "exp"
    found = variance_factor(lambda gamma: family.tilted_moments(*_widened(cavities, (gamma - 1.0) * typical, keeps))[0])
    scatter = Scatter((found.value - 1.0) * typical, keeps, found)
    if not narrows or not keeps or found.value > NONE:
        return scatter

    def left(share: float) -> np.ndarray:
        less = _spared(cavities, share, family.exposure)
        return family.tilted_moments(cavities[0] + 0.5 * less, np.maximum(cavities[1] - less, _LEAST_LEFT))[0]

    return scatter._replace(share=min(variance_factor(left, least=LEAST_SHARE).value, 1.0))
