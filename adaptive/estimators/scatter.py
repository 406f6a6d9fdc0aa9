"""Scatter of counts beyond Poisson's: one variance more on every log rate, by rows left out; or less than Poisson's.

    y_j ~ Poisson(e_j rate(s_j)),    s_j ~ N(c_j - t/2, v_j + t),    t = (gamma - 1) typical v,    gamma >= 1

c and v are the cavities. Rates e^s keep their means (those of the other links are left where they are, without t/2).
What nothing in the model tells differs from row to row, so that t is the same everywhere, while v shrinks with every
answer.

Few rows do not tell t. A band that takes the likeliest one is then too narrow, so that bands mix the possible ones,

    p(y) = sum_k w_k p(y | t_k),    w_k ~ p(gamma_k) prod_j p(y_j | t_k, others),

and, of e^s, also those that leave s where it is: counts so skewed show their mean late, and a fit to few of them finds
what is nearer to the middle.

Counts that scatter less (ratings, logarithms of plays: a share phi of Poisson's variance) would be predicted too
broadly even at their true rates m, by Poisson's variance and that of the rates. What is too much, the rates give up:

    m^2 (v - d) + m = m^2 v + phi m,    d = min(v, (1 - phi) / m),    phi <= 1
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.estimators.rows.leave_one_out import without_sites
from adaptive.estimators.variance_factor import VarianceFactor, variance_factor

if TYPE_CHECKING:
    from collections.abc import Callable

    from adaptive.potentials import Poisson

__all__ = ["Scatter", "Scattering", "Widening", "possible_scatters", "scatter_of"]

FEWEST = 5  # rows of which something is learnt
NONE = 1.01  # a factor gamma up to which counts are looked at for scattering less
LEAST_SHARE = 0.02  # of Poisson's variance
_LEAST, _LEAST_LEFT = 1e-300, 1e-12
_SHARE = 0.999  # of a row's information that is its own: beyond, nothing else speaks of it
_PLACES = np.linspace(-2.5, 2.5, 7)  # of scatters that may be, in standard errors of ln gamma from the likeliest
_LARGEST = 8.0  # ln gamma
_DEVIATION = 1.5  # of its prior, as in `variance_factor`
_NEGLIGIBLE = 0.01  # weight


class Widening(NamedTuple):
    """One scatter that may be.

    Attributes
    ----------
    variance : float
        t >= 0.
    keeps_means : bool
        Rates e^s keep their means; else s does.
    """

    variance: float
    keeps_means: bool

    def of(self, moments: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Moments (m,) of projections, with the scatter."""
        return _widened(moments, self.variance, self.keeps_means)


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


class _LeftOut(NamedTuple):
    """Rows of which something else speaks, and what that says."""

    family: Poisson
    cavities: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(
        cls,
        counts: Callable[[np.ndarray], Poisson],
        moments: tuple[np.ndarray, np.ndarray],
        sites: tuple[np.ndarray, np.ndarray],
    ) -> _LeftOut | None:
        known = np.flatnonzero(np.isfinite(moments).all(axis=0) & (sites[0] * moments[1] < _SHARE) & (moments[1] > 0))
        if len(known) < FEWEST:
            return None
        return cls(counts(known), without_sites(*(part[known] for part in (*moments, *sites))))

    @property
    def typical(self) -> float:
        return float(np.median(self.cavities[1]))

    def log_scores(self, widening: Widening) -> np.ndarray:
        return self.family.tilted_moments(*widening.of(self.cavities))[0]

    def likeliest(self, keeps_means: bool) -> VarianceFactor:
        return variance_factor(lambda gamma: self.log_scores(Widening((gamma - 1.0) * self.typical, keeps_means)))


def scatter_of(
    counts: Callable[[np.ndarray], Poisson],
    moments: tuple[np.ndarray, np.ndarray],
    sites: tuple[np.ndarray, np.ndarray],
    *,
    narrows: bool = False,
) -> Scatter | None:
    """Return the likeliest scatter when each row is predicted without itself; None of too few rows.

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
    rows = _LeftOut.of(counts, moments, sites)
    if rows is None:
        return None
    keeps = rows.family.rate == "exp"
    found = rows.likeliest(keeps)
    scatter = Scatter((found.value - 1.0) * rows.typical, keeps, found)
    if not narrows or not keeps or found.value > NONE:
        return scatter
    mean, variance = rows.cavities

    def left(share: float) -> np.ndarray:
        less = _spared(rows.cavities, share, rows.family.exposure)
        return rows.family.tilted_moments(mean + 0.5 * less, np.maximum(variance - less, _LEAST_LEFT))[0]

    return scatter._replace(share=min(variance_factor(left, least=LEAST_SHARE).value, 1.0))


def possible_scatters(
    counts: Callable[[np.ndarray], Poisson],
    moments: tuple[np.ndarray, np.ndarray],
    sites: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, tuple[Widening, ...]]:
    """Return weights (k,), which sum to one, and the scatters that they are of; none of too few rows.

    Parameters as of `scatter_of`.
    """
    rows = _LeftOut.of(counts, moments, sites)
    if rows is None:
        return np.ones(1), (Widening(0.0, False),)
    found: list[Widening] = []
    scores: list[float] = []
    for keeps in (True, False) if rows.family.rate == "exp" else (False,):
        likeliest = rows.likeliest(keeps)
        places = np.clip(math.log(likeliest.value) + likeliest.error * _PLACES, 0.0, _LARGEST)
        log_factors = np.linspace(places[0], places[-1], len(_PLACES))
        each = [Widening(math.expm1(u) * rows.typical, keeps) for u in log_factors]
        ends = np.full(len(each), math.log(places[-1] - places[0]))  # of the trapezoidal rule
        ends[[0, -1]] -= math.log(2.0)
        log_prior = ends - 0.5 * (log_factors / _DEVIATION) ** 2
        found += each
        scores += [p + math.fsum(rows.log_scores(one)) for p, one in zip(log_prior, each, strict=True)]
    weights = np.exp(np.array(scores) - max(scores))
    kept = np.flatnonzero(weights > _NEGLIGIBLE * weights.sum())
    return weights[kept] / weights[kept].sum(), tuple(found[k] for k in kept)
