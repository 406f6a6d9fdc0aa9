"""Odds that a pair is taken, from those of a fit that spreads censored pairs as often as users and items are about.

Of D pairs kept and r D censored, a pair that is drawn with probability w was kept D (1 + r) w p times, p its true odds,
since 1 / (1 + r) of all draws are kept; as many as r D w of it are thought to be censored, whatever p. With S pairs
that were shown beside them the fit's odds are

    f = p (D (1 + r) + S) / (p D (1 + r) + r D + S),    so    p = f (r D + S) / (D (1 + r) (1 - f) + S)

which is f where nothing was in the stream, and r / (1 + r) f / (1 - f) where nothing was shown. That a user or an item
is taken more often than others is not told by a stream: it looks as if they were about more often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

__all__ = ["KeptOdds"]

MOST = 0.999  # odds of which nobody is surer
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True)
class KeptOdds:
    """Map from a fit's odds to those of being taken.

    Attributes
    ----------
    stream, shown : float
        Pairs of the stream, and pairs that were shown.
    ratio : float
        Censored pairs for each one of the stream.

    Examples
    --------
    >>> KeptOdds(900.0, 100.0, 1.0).of(np.array([0.0, 0.5, 0.9])).round(3)
    array([0.   , 0.5  , 0.999])
    >>> KeptOdds(0.0, 100.0, 1.0).of(np.array([0.9]))
    array([0.9])
    """

    stream: float
    shown: float
    ratio: float

    def of(self, fitted: np.ndarray) -> np.ndarray:
        """Return the odds of being taken, of the same shape, where ``fitted`` ones are known."""
        if self.stream * self.ratio == 0.0:
            return fitted
        D, S, kept = self.stream, self.shown, self.stream * (1.0 + self.ratio)
        surely = (kept + S) / (kept + self.ratio * D + S)  # f where p is one
        f = np.minimum(fitted, surely)
        return np.minimum(f * (self.ratio * D + S) / (kept * (1.0 - f) + S), MOST)

    def mean(self, mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
        """Return the expected odds (m,) of log odds of a fit with these moments (m,)."""
        deviation = np.sqrt(variance)
        total = np.zeros(np.shape(mean))
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            total += weight * self.of(expit(mean + deviation * node))
        return total
