"""A posterior as weighted particles, and what was paid for it.

E f(parameters)  =  sum_k w_k f(value_k),        effective sample size  =  1 / sum_k w_k^2
log evidence     =  sum of the logs of mean weights;  its variance the sum of  1/ESS - 1/k  at each resampling
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from adaptive import checks

if TYPE_CHECKING:
    from pandas import DataFrame

    from adaptive.types import ArrayLike, RandomState

__all__ = ["Cloud", "effective_sample_size", "systematic"]


def effective_sample_size(log_weights: np.ndarray) -> float:
    """Return (sum w)^2 / sum w^2 of unnormalised log weights (k,).

    Examples
    --------
    >>> round(effective_sample_size(np.array([0.0, 0.0, -np.inf])), 6)
    2.0
    """
    return float(np.exp(2.0 * logsumexp(log_weights) - logsumexp(2.0 * log_weights)))


def systematic(weights: np.ndarray, n: int, uniform: float) -> np.ndarray:
    """Return n positions, ascending, drawn in proportion to ``weights``, by one uniform number for all.

    Particle k is kept floor or ceil of  n w_k  times. The error is far below that of independent draws where the
    weights hardly differ (Kitagawa, 1996, Monte Carlo filter and smoother).

    Parameters
    ----------
    weights : (k,) array, >= 0
    n : int
    uniform : float in [0, 1)

    Examples
    --------
    >>> systematic(np.array([0.5, 0.0, 0.25, 0.25]), 4, 0.5).tolist()
    [0, 0, 2, 3]
    """
    edges = np.cumsum(weights)
    places = (np.arange(n) + uniform) * (edges[-1] / n)
    return np.minimum(np.searchsorted(edges, places, side="right"), np.flatnonzero(weights)[-1])


@dataclass(frozen=True, eq=False)
class Cloud:
    """Weighted draws of the parameters.

    Parameters
    ----------
    names : tuple of d str
    values : (k, d) array
    log_weights : (k,) array, normalised
    log_evidence : float
        Of all answers so far.
    evidence_variance : float
        What the resamplings so far have added to its variance.
    n_moves : int
        How often the particles were resampled and moved.
    acceptance : float
        Share of the last moves' proposals that was accepted; nan before any.
    sizes : tuple of float
        The effective sample size after each learning.

    Examples
    --------
    >>> cloud = Cloud(("a",), np.array([[0.0], [1.0]]), np.log([0.25, 0.75]))
    >>> cloud.mean, cloud.quantiles([0.5]).ravel()
    (array([0.75]), array([1.]))
    """

    names: tuple[str, ...]
    values: np.ndarray
    log_weights: np.ndarray
    log_evidence: float = 0.0
    evidence_variance: float = 0.0
    n_moves: int = 0
    acceptance: float = float("nan")
    sizes: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def weights(self) -> np.ndarray:
        """(k,) probabilities of the draws."""
        weights = np.exp(self.log_weights)
        return weights / weights.sum()

    @property
    def effective_sample_size(self) -> float:
        """Number of draws of equal weight that say as much."""
        return effective_sample_size(self.log_weights)

    @property
    def log_evidence_std(self) -> float:
        """Standard error of the log evidence."""
        now = 1.0 / self.effective_sample_size - 1.0 / len(self)
        return float(np.sqrt(max(self.evidence_variance + now, 0.0)))

    @property
    def mean(self) -> np.ndarray:
        """(d,) posterior means."""
        return self.weights @ self.values

    @property
    def std(self) -> np.ndarray:
        """(d,) posterior standard deviations."""
        return np.sqrt(self.variances())

    def variances(self) -> np.ndarray:
        """(d,) posterior variances."""
        return self.weights @ np.square(self.values - self.mean)

    def covariance(self) -> np.ndarray:
        """(d, d) posterior covariance."""
        apart = self.values - self.mean
        return (apart * self.weights[:, None]).T @ apart

    def quantiles(self, probabilities: ArrayLike) -> np.ndarray:
        """Return the (q, d) values below which each parameter lies with the given probabilities (q,)."""
        levels = np.atleast_1d(np.asarray(probabilities, dtype=float))
        if not np.all((levels >= 0) & (levels <= 1)):
            raise ValueError(f"probabilities must lie between 0 and 1, got {levels}.")
        return np.stack([_quantiles(column, self.weights, levels) for column in self.values.T], axis=1)

    def sample(self, n: int, random_state: RandomState = None) -> np.ndarray:
        """Return (n, d) draws of equal weight."""
        rng = checks.generator(random_state)
        return self.values[rng.choice(len(self), size=checks.integer("n", n, minimum=1), p=self.weights)]

    def to_frame(self) -> DataFrame:
        """Return the draws as a pandas frame: one column per parameter, and ``weight``."""
        import pandas

        columns = dict(zip(self.names, self.values.T, strict=True))
        return pandas.DataFrame({**columns, "weight": self.weights})


def _quantiles(values: np.ndarray, weights: np.ndarray, levels: np.ndarray) -> np.ndarray:
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    at = np.searchsorted(below, levels * below[-1] - 1e-12)
    return values[order[np.minimum(at, len(order) - 1)]]
