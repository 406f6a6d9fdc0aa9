"""A constant rate beside a process: how much better, or worse, counts are predicted by a rate that varies.

y_i ~ Poisson(e_i r),  r ~ Gamma(1/2, 0) (Jeffreys);   y_i without itself is negative binomial
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import nbinom

__all__ = ["ConstantRate"]


class ConstantRate(NamedTuple):
    """One rate for all counts, and what the process that was fitted gains over it.

    Attributes
    ----------
    rate, rate_std : float
        Events per unit of exposure: mean and standard deviation of the posterior.
    gain, gain_std : float
        By how much the process predicts a count without itself better than the constant rate does, nats, and the
        standard error. Its kernel and mean knew the count: every learnt parameter takes a nat off, as in Akaike's
        criterion, spread over all counts.
    """

    rate: float
    rate_std: float
    gain: float
    gain_std: float

    @property
    def suffices(self) -> bool:
        """True where the process is not certainly ahead."""
        return not self.gain > 2.0 * self.gain_std

    @classmethod
    def beside(cls, log_scores: np.ndarray, y: np.ndarray, exposure: np.ndarray, n_learnt: int = 0) -> ConstantRate:
        """A constant rate of counts y (n,) at exposures (n,), beside a process's ``log_scores`` (n,) of them, left out.

        ``n_learnt`` of the process's parameters were learnt from all of them.

        Examples
        --------
        >>> y, exposure = np.array([3.0, 5.0, 4.0]), np.ones(3)
        >>> one = ConstantRate.beside(np.full(3, -2.0), y, exposure)
        >>> round(one.rate, 2), one.suffices
        (4.17, True)
        """
        shape, time = y.sum() + 0.5, exposure.sum()
        rest = time - exposure
        share = rest / np.maximum(rest + exposure, np.finfo(float).tiny)
        alone = nbinom.logpmf(y, shape - y, share) if len(y) > 1 else np.full(len(y), np.nan)
        ahead = log_scores - alone - n_learnt / len(y)
        spread = ahead.std(ddof=1) / np.sqrt(len(y)) if len(y) > 1 else np.nan
        return cls(float(shape / time), float(np.sqrt(shape) / time), float(ahead.mean()), float(spread))
