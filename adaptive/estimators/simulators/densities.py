"""The density of an outcome's summary given a particle, made of R simulations s_1 ... s_R at one setting.

    synthetic     N(s; mean, covariance) of the simulations (Wood 2010), the covariance times 1 + 1/R for that of the
    mean kernel        mean_r N(s; s_r, h^2 covariance),   h = (4 / ((d + 2) R))^(1 / (d + 4)) (Silverman), all shrunk
                  towards their mean so that the covariance is that of the simulations
    frequencies   (how many simulations gave the label + 1/2) / (R + c/2)

The first trusts summaries to be nearly Gaussian, as sums and means are; the second does not, and needs more
simulations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.special import logsumexp, ndtr

__all__ = ["Density", "Frequencies", "Kernel", "Synthetic"]

_LOG_ROOT = 0.5 * np.log(2.0 * np.pi)
_SMALLEST = 1e-9  # share of the typical variance below which a direction has none
AT_ONCE = 2**22


class Density(ABC):
    """p(s | particle) at one setting, of summaries that are numbers.

    Parameters
    ----------
    replicates : (n, R, s) array
        Of each particle.

    Attributes
    ----------
    mean, variance : (n, s) arrays
    root : (n, s, s) array
        L with L L' the covariance of the Gaussian of which the density is made, or of each of them.
    """

    def __init__(self, replicates: np.ndarray) -> None:
        n, R, s = replicates.shape
        self.mean = replicates.mean(axis=1)
        apart = replicates - self.mean[:, None]
        covariance = np.einsum("nri,nrj->nij", apart, apart) / (R - 1)
        typical = np.einsum("nii->ni", covariance).mean(axis=0)
        if not (typical > 0).all():
            raise ValueError(
                f"simulate returned the same summary number {int(np.argmin(typical))} for every repetition with the "
                "same parameters; it must draw its noise from the generator that it is given (counts that are nearly "
                "always the same are learnt as labels: outcomes=[...])."
            )
        covariance[:, np.arange(s), np.arange(s)] += _SMALLEST * typical
        self.variance = np.einsum("nii->ni", covariance)
        self.root = np.linalg.cholesky(covariance)
        self.n_simulations = R

    def __len__(self) -> int:
        return len(self.mean)

    @abstractmethod
    def log_density(self, outcomes: np.ndarray, particles: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Return log p(outcome_j | particle_i) of outcomes (j, s), (i, j)."""

    @abstractmethod
    def draw(self, particles: np.ndarray, normal: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """Return one outcome (j, s) of each of the particles (j,), by normal (j, s) and uniform (j,) numbers."""

    @abstractmethod
    def speaking(self, outcome: np.ndarray, weights: np.ndarray) -> float:
        """Return how many simulations of equal weight say as much about the outcome (s,) as all of them do."""

    @abstractmethod
    def beyond(self, outcome: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return P(below) and P(above) of each number of an outcome (s,), given each particle: (n, s) both."""


class Synthetic(Density):
    """A Gaussian with the moments of the simulations."""

    def __init__(self, replicates: np.ndarray) -> None:
        super().__init__(replicates)
        self.root = self.root * np.sqrt(1.0 + 1.0 / self.n_simulations)

    def log_density(self, outcomes: np.ndarray, particles: np.ndarray | slice = slice(None)) -> np.ndarray:
        return _gaussian(outcomes, self.mean[particles], self.root[particles])

    def draw(self, particles: np.ndarray, normal: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        return self.mean[particles] + np.einsum("nij,nj->ni", self.root[particles], normal)

    def speaking(self, outcome: np.ndarray, weights: np.ndarray) -> float:
        terms = weights * np.exp(self.log_density(outcome[None])[:, 0])
        return _effective(terms) * self.n_simulations

    def beyond(self, outcome: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z = (outcome - self.mean) / _deviations(self.root)
        return ndtr(z), ndtr(-z)


class Kernel(Density):
    """A Gaussian kernel around every simulation."""

    def __init__(self, replicates: np.ndarray) -> None:
        super().__init__(replicates)
        _, R, s = replicates.shape
        width = (4.0 / ((s + 2.0) * R)) ** (1.0 / (s + 4.0))
        whole = np.sqrt(1.0 + width**2)
        self.points = self.mean[:, None] + (replicates - self.mean[:, None]) / whole
        self.root = self.root * width / whole

    def _of_points(self, outcomes: np.ndarray, particles: np.ndarray | slice) -> np.ndarray:
        points, root = self.points[particles], self.root[particles]
        n, R, s = points.shape
        return _gaussian(outcomes, points.reshape(n * R, s), np.repeat(root, R, axis=0)).reshape(n, R, -1)

    def log_density(self, outcomes: np.ndarray, particles: np.ndarray | slice = slice(None)) -> np.ndarray:
        where = np.arange(len(self))[particles]
        rows = max(1, AT_ONCE // (self.n_simulations * len(outcomes)))
        parts = [logsumexp(self._of_points(outcomes, where[k : k + rows]), axis=1) for k in range(0, len(where), rows)]
        return np.concatenate(parts) - np.log(self.n_simulations)

    def draw(self, particles: np.ndarray, normal: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        which = np.minimum((uniform * self.n_simulations).astype(np.intp), self.n_simulations - 1)
        return self.points[particles, which] + np.einsum("nij,nj->ni", self.root[particles], normal)

    def speaking(self, outcome: np.ndarray, weights: np.ndarray) -> float:
        terms = weights[:, None] * np.exp(self._of_points(outcome[None], slice(None))[:, :, 0])
        return _effective(terms.ravel())

    def beyond(self, outcome: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z = (outcome - self.points) / _deviations(self.root)[:, None]
        return ndtr(z).mean(axis=1), ndtr(-z).mean(axis=1)


class Frequencies:
    """Shares of labels among the simulations, with half a simulation more for each.

    Parameters
    ----------
    replicates : (n, R) array of labels
    outcomes : (c,) array
        All that there are.
    x : (f,) array
        The setting, for what is said of an unknown label.
    """

    def __init__(self, replicates: np.ndarray, outcomes: np.ndarray, x: np.ndarray) -> None:
        happened = replicates[:, :, None] == outcomes
        unknown = ~happened.any(axis=2)
        if unknown.any():
            raise ValueError(
                f"simulate gave {replicates[unknown][0].item()!r} at setting {x.tolist()}, which is none of the "
                f"outcomes {outcomes.tolist()}."
            )
        self.counts = happened.sum(axis=1)
        self.outcomes = outcomes

    def log_probability(self, y: Any) -> np.ndarray:
        """Return log p(y | particle), (n,)."""
        counts = self.counts[:, np.flatnonzero(self.outcomes == y)[0]]
        return np.log((counts + 0.5) / (self.counts.sum(axis=1) + 0.5 * len(self.outcomes)))

    def speaking(self, y: Any, weights: np.ndarray) -> float:
        """Return how many simulations of equal weight gave ``y``."""
        counts = self.counts[:, np.flatnonzero(self.outcomes == y)[0]]
        return float((weights @ counts) ** 2 / max(weights**2 @ counts, 1e-300))


def _gaussian(outcomes: np.ndarray, mean: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Return log N(outcome_j; mean_i, L_i L_i'), (i, j)."""
    s = mean.shape[1]
    if s == 1:
        z = (outcomes[:, 0] - mean) / root[:, :, 0]
        return -0.5 * np.square(z) - np.log(root[:, :, 0]) - _LOG_ROOT
    apart = np.swapaxes(outcomes[None] - mean[:, None], 1, 2)  # (i, s, j)
    z = np.linalg.solve(root, apart)
    log_volume = np.log(np.einsum("iss->is", root)).sum(axis=1)
    return -0.5 * np.square(z).sum(axis=1) - log_volume[:, None] - s * _LOG_ROOT


def _deviations(root: np.ndarray) -> np.ndarray:
    """Return the standard deviations (n, s) of Gaussians with these roots (n, s, s)."""
    return np.sqrt(np.square(root).sum(axis=2))


def _effective(terms: np.ndarray) -> float:
    return float(terms.sum() ** 2 / max(np.square(terms).sum(), 1e-300))
