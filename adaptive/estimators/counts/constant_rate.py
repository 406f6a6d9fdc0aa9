"""A constant rate beside a process: how much better, or worse, counts are predicted by a rate that varies.

y_i ~ Poisson(e_i r),  r ~ Gamma(1/2, 0) (Jeffreys);   y_i without itself is negative binomial

By evidence, for which Jeffreys' rate has none: r ~ Exponential of the mean rate that was counted (one event),
and each learnt parameter of the process takes half a log n, as in Schwarz's criterion. Beside a process of
overdispersed counts those of the constant rate are, too: the same integrals over r, on a grid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy
from scipy.stats import nbinom

__all__ = ["ConstantRate"]

N_RATES = 801  # of the grid


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
    log_evidence : float
        Of the constant rate, nats.
    log_bayes_factor : float
        The log of how many times as probable all counts are under the process: 3 is twenty times. It is the difference
        of the log evidences, less half a log n for each learnt parameter. NaN where the inference has no evidence.
    """

    rate: float
    rate_std: float
    gain: float
    gain_std: float
    log_evidence: float = np.nan
    log_bayes_factor: float = np.nan

    @property
    def suffices(self) -> bool:
        """True where the process is not certainly ahead."""
        return not self.gain > 2.0 * self.gain_std

    @classmethod
    def beside(
        cls,
        log_scores: np.ndarray,
        y: np.ndarray,
        exposure: np.ndarray,
        n_learnt: int = 0,
        log_evidence: float = np.nan,
        overdispersion: float = 0.0,
    ) -> ConstantRate:
        """A constant rate of counts y (n,) at exposures (n,), beside a process's ``log_scores`` (n,) of them, left out.

        ``n_learnt`` of the process's parameters were learnt from all of them, with this ``log_evidence``; of counts of
        a variance mean + ``overdispersion`` mean^2 the constant rate says the same.

        Examples
        --------
        >>> y, exposure = np.array([3.0, 5.0, 4.0]), np.ones(3)
        >>> one = ConstantRate.beside(np.full(3, -2.0), y, exposure)
        >>> round(one.rate, 2), one.suffices
        (4.17, True)
        """
        shape, time = y.sum() + 0.5, exposure.sum()
        rate, rate_std = shape / time, np.sqrt(shape) / time
        if overdispersion > 0.0:
            rate, rate_std, alone, own = _of_overdispersed(y, exposure, overdispersion)
        else:
            rest = time - exposure
            share = rest / np.maximum(rest + exposure, np.finfo(float).tiny)
            alone, own = nbinom.logpmf(y, shape - y, share), evidence_of(y, exposure)
        alone = alone if len(y) > 1 else np.full(len(y), np.nan)
        ahead = log_scores - alone - n_learnt / len(y)
        spread = ahead.std(ddof=1) / np.sqrt(len(y)) if len(y) > 1 else np.nan
        factor = float(log_evidence - 0.5 * n_learnt * np.log(len(y)) - own)
        return cls(float(rate), float(rate_std), float(ahead.mean()), float(spread), own, factor)


def _of_overdispersed(
    y: np.ndarray, exposure: np.ndarray, overdispersion: float
) -> tuple[float, float, np.ndarray, float]:
    """Mean and deviation of the rate, log probabilities (n,) of counts without themselves, log evidence."""
    r, typical = 1.0 / overdispersion, (y.sum() + 0.5) / exposure.sum()
    width = np.sqrt(1.0 / (y.sum() + 0.5) + overdispersion / len(y))
    log_rate = np.log(typical) + np.linspace(-14.0, 8.0, N_RATES) * max(width, 0.02)
    means = exposure[:, None] * np.exp(log_rate)
    terms = nbinom.logpmf(y[:, None], r, 1.0 / (1.0 + overdispersion * means))
    total, step = terms.sum(axis=0), np.log(log_rate[1] - log_rate[0])
    jeffreys = total + 0.5 * log_rate  # r^(-1/2) dr
    both = logsumexp(jeffreys)
    posterior, rate = np.exp(jeffreys - both), np.exp(log_rate)
    mean = float(posterior @ rate)
    own = logsumexp(total + log_rate - rate / typical) + step - np.log(typical)
    alone = both - logsumexp(jeffreys - terms, axis=1)
    return mean, float(np.sqrt(posterior @ (rate - mean) ** 2)), alone, float(own)


def evidence_of(y: np.ndarray, exposure: np.ndarray) -> float:
    """Return the log probability of counts y (n,) at exposures (n,) under one rate, exponential about that counted.

    Examples
    --------
    >>> round(evidence_of(np.array([1.0]), np.array([1.0])), 3)  # 1 of a geometric count of mean 1.5
    -1.427
    """
    total, time = y.sum(), exposure.sum()
    mean = (total + 0.5) / time
    each = xlogy(y, exposure) - gammaln(y + 1.0)
    return float(each.sum() + gammaln(total + 1.0) - (total + 1.0) * np.log(time + 1.0 / mean) - np.log(mean))
