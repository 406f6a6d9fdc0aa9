"""A likelihood of counts: negative binomial, for counts that scatter more than Poisson counts do,

    P(y | s) = Gamma(y + r) / (Gamma(r) y!) p^y (1 - p)^r,    p = exp(s) / (exp(s) + r),    r = 1 / dispersion,

with mean exp(s) and variance exp(s) + dispersion exp(2 s).

To add a likelihood of counts, write what an outcome may be, its log density and two derivatives, how to draw, and the
table of all counts at once with its entropy. `Likelihood` would integrate outcome by outcome: right for a few labels,
minutes for counts. Tilted moments and expectations have defaults by quadrature.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import entr, expit, gammaln, log_expit
from scipy.stats import nbinom

from adaptive import checks
from adaptive.potentials import Likelihood

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["NegativeBinomial"]

TAIL = 1e-11  # of the probability, which a table leaves out
MOST = 20_000  # counts beyond which a table is not sensible
NODES = np.linspace(-7.5, 7.5, 121)  # of a standard Gaussian; beyond is less than 1e-13
WEIGHTS = np.exp(-0.5 * NODES**2) / np.exp(-0.5 * NODES**2).sum()


class NegativeBinomial(Likelihood):
    """T(s) = Gamma(y + r) / (Gamma(r) y!) p^y (1 - p)^r, p = exp(s) / (exp(s) + r), r = 1 / dispersion.

    Parameters
    ----------
    y : array (q,) of counts, or None
        Outcomes; None for the likelihood family.
    dispersion : float or array (q,), default 1.0
        > 0: what the square of the mean adds to the variance; near 0, Poisson counts.

    References
    ----------
    J. M. Hilbe (2011), Negative Binomial Regression (the form NB2).

    Examples
    --------
    >>> family = NegativeBinomial(dispersion=0.5)
    >>> family.log_density(0.0, y=[0, 1]).round(4)
    array([-0.8109, -1.2164])
    >>> counts, table = family.outcome_probabilities([0.0], [0.1])
    >>> float((table[0] @ counts).round(6)), float(np.exp(0.05).round(6))
    (1.051271, 1.051271)
    """

    log_concave = True  # so that expectation propagation may be used
    dispersion: Number

    def __init__(self, y: ArrayLike | None = None, dispersion: ArrayLike = 1.0):
        super().__init__(y)
        self._set(dispersion=checks.positive("dispersion", dispersion))

    def _checked(self, y: ArrayLike) -> np.ndarray:
        counts = checks.finite("y", y)
        wrong = (counts < 0) | (counts != np.round(counts))
        if wrong.any():
            raise ValueError(f"y must hold counts (integers >= 0), got {float(counts[wrong].flat[0]):g}.")
        return counts

    def log_density(self, s: ArrayLike, y: ArrayLike | None = None) -> np.ndarray:
        y, r = self._outcome(y), 1.0 / self.dispersion
        odds = np.asarray(s, dtype=float) - np.log(r)  # of p, in logarithms
        return gammaln(y + r) - gammaln(r) - gammaln(y + 1.0) + y * log_expit(odds) + r * log_expit(-odds)

    def derivatives(self, s: ArrayLike, y: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
        y, r = self._outcome(y), 1.0 / self.dispersion
        odds = np.asarray(s, dtype=float) - np.log(r)
        p, rest = expit(odds), expit(-odds)
        return y * rest - r * p, -(y + r) * p * rest

    def _draw(self, s: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.poisson(rng.gamma(1.0 / self.dispersion, self.dispersion * np.exp(s))).astype(float)

    # ---------------------------------------------------------------------------------------------- likelihood family
    def outcome_probabilities(self, mean: ArrayLike, variance: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts 0, 1, ... (c,) and their probabilities (m, c), 0 where a row's own tail begins."""
        rows = [WEIGHTS @ table for table in self._tables(mean, variance)]
        padded = np.zeros((len(rows), max(map(len, rows), default=1)))
        for i, row in enumerate(rows):
            padded[i, : len(row)] = row
        return np.arange(padded.shape[1], dtype=float), padded.reshape(*np.shape(mean), -1)

    def expected_outcome_entropy(self, mean: ArrayLike, variance: ArrayLike) -> np.ndarray:
        """Return E_s H(y | s) in nats for s ~ N(mean, variance)."""
        rows = [WEIGHTS @ entr(table).sum(axis=1) for table in self._tables(mean, variance)]
        return np.reshape(rows, np.shape(mean))

    def _tables(self, mean: ArrayLike, variance: ArrayLike) -> Iterator[np.ndarray]:
        """P(count | s) at the nodes of each row (nodes, c): as many counts as the row needs."""
        mean, variance = (np.ravel(one) for one in self._moments(mean, variance))
        deviation = np.sqrt(variance)
        largest = np.exp(np.minimum(mean + NODES[-1] * deviation, 50.0))
        last = nbinom.isf(TAIL, 1.0 / self.dispersion, 1.0 / (1.0 + self.dispersion * largest))
        if not (last < MOST).all():
            raise ValueError(f"counts at mean {float(mean[np.argmax(last)]):g} of s reach beyond {MOST}; use draws.")
        for i in range(len(mean)):
            s = mean[i] + deviation[i] * NODES
            yield np.exp(self.log_density(s[:, None], np.arange(last[i] + 1.0)))
