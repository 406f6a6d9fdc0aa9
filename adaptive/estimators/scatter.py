"""Scatter of counts beyond Poisson's: one variance more on every log rate, by rows left out; or less than Poisson's.

    y_j ~ Poisson(e_j rate(s_j)),    s_j ~ N(c_j - t/2, v_j + t),    t = (gamma - 1) typical v,    gamma >= 1

c and v are the cavities. Rates e^s keep their means (those of the other links are left where they are, without t/2).
What nothing in the model tells differs from row to row, so that t is the same everywhere, while v shrinks with every
answer.

Few rows do not tell t. A band that takes the likeliest one is then too narrow, so that bands mix the possible ones,

    p(y) = sum_k w_k p(y | t_k),    w_k ~ p(gamma_k) prod_j p(y_j | t_k, others),

and, of e^s, also those that leave s where it is: counts so skewed show their mean late, and a fit to few of them finds
what is nearer to the middle. Half of the prior is on t = 0, the model as it is: counts of the
model would else be predicted too broadly by few rows (``ours-bands-drawn``).

Counts that scatter less (ratings, logarithms of plays: a share phi of Poisson's variance) would be predicted too
broadly even at their true rates m, by Poisson's variance and that of the rates. What is too much, the rates give up:

    m^2 (v - d) + m = m^2 v + phi m,    d = min(v, (1 - phi) / m),    phi <= 1
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive.estimators.rows.leave_one_out import without_sites
from adaptive.estimators.variance_factor import VarianceFactor, possible_factors, variance_factor

if TYPE_CHECKING:
    from collections.abc import Callable

    from adaptive.potentials import Poisson

__all__ = ["LeftOut", "Scatter", "Scattering", "Widening"]

FEWEST = 5  # rows of which something is learnt
NONE = 1.01  # a factor gamma up to which counts are looked at for scattering less
LEAST_SHARE = 0.02  # of Poisson's variance
_LEAST, _LEAST_LEFT = 1e-300, 1e-12
_SHARE = 0.999  # of a row's information that is its own: beyond, nothing else speaks of it
_PLACES = 7  # scatters that may be, of a centring
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
        mean, variance = moments
        return mean - (0.5 * self.variance if self.keeps_means else 0.0), np.maximum(variance + self.variance, _LEAST)


class Scatter(NamedTuple):
    """Variance of projections that nothing in the model explains.

    Attributes
    ----------
    variance : float
        t >= 0.
    factor : VarianceFactor
        gamma, its error, what it gains.
    share : float
        phi <= 1, of exponential rates and where it was asked for; else 1.
    """

    variance: float
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


def _spared(moments: tuple[np.ndarray, np.ndarray], share: float, exposure: Any = 1.0) -> np.ndarray:
    mean, variance = moments
    counts = exposure * np.exp(np.minimum(mean + 0.5 * variance, 700.0))
    return np.minimum((1.0 - share) / counts, variance)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Rows of which something else speaks, and what that says of each.

    Attributes
    ----------
    family : Poisson
        Potentials of the rows.
    cavities : two (n,) arrays
        Means and variances of their projections without themselves.
    """

    family: Poisson
    cavities: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(
        cls,
        counts: Callable[[np.ndarray], Poisson],
        moments: tuple[np.ndarray, np.ndarray],
        sites: tuple[np.ndarray, np.ndarray],
    ) -> LeftOut | None:
        """Return those of the rows; None of too few.

        Parameters
        ----------
        counts : callable (positions) -> Poisson
            Potentials of those rows.
        moments : two (n,) arrays
            Means and variances of the rows' projections.
        sites : two (n,) arrays
            Precisions, and precisions times means, of the rows' own sites.
        """
        known = np.flatnonzero(np.isfinite(moments).all(axis=0) & (sites[0] * moments[1] < _SHARE) & (moments[1] > 0))
        if len(known) < FEWEST:
            return None
        return cls(counts(known), without_sites(*(part[known] for part in (*moments, *sites))))

    @cached_property
    def scatter(self) -> Scatter:
        """The likeliest scatter; of exponential rates one that keeps their means."""
        return self._likeliest(self.family.rate == "exp")

    def narrowed(self) -> Scatter:
        """The likeliest scatter, or that of counts that scatter less than Poisson's."""
        if self.family.rate != "exp" or self.scatter.factor.value > NONE:
            return self.scatter
        mean, variance = self.cavities

        def left(share: float) -> np.ndarray:
            less = _spared(self.cavities, share, self.family.exposure)
            return self.family.tilted_moments(mean + 0.5 * less, np.maximum(variance - less, _LEAST_LEFT))[0]

        return self.scatter._replace(share=min(variance_factor(left, least=LEAST_SHARE).value, 1.0))

    def possible(self) -> tuple[np.ndarray, tuple[Widening, ...]]:
        """Return weights (k,), which sum to one, and the scatters that they are of."""
        found, scores = [Widening(0.0, False)], [math.fsum(self._log_scores_by(False, 1.0))]
        centrings = (True, False) if self.family.rate == "exp" else (False,)
        for keeps in centrings:
            factor = self.scatter.factor if keeps == (self.family.rate == "exp") else self._likeliest(keeps).factor
            log_weights, log_factors = possible_factors(partial(self._log_scores_by, keeps), factor, places=_PLACES)
            found += [Widening(math.expm1(u) * self._typical, keeps) for u in log_factors]
            scores += (log_weights - math.log(len(centrings))).tolist()
        weights = np.exp(np.array(scores) - max(scores))
        kept = np.flatnonzero(weights > _NEGLIGIBLE * weights.sum())
        return weights[kept] / weights[kept].sum(), tuple(found[k] for k in kept)

    def _likeliest(self, keeps_means: bool) -> Scatter:
        factor = variance_factor(partial(self._log_scores_by, keeps_means))
        return Scatter((factor.value - 1.0) * self._typical, factor)

    @cached_property
    def _typical(self) -> float:
        return float(np.median(self.cavities[1]))

    def _log_scores_by(self, keeps_means: bool, gamma: float) -> np.ndarray:
        widening = Widening((gamma - 1.0) * self._typical, keeps_means)
        return self.family.tilted_moments(*widening.of(self.cavities))[0]
