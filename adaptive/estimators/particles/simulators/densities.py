"""The density of an outcome's summary given a particle, made of R simulations s_1 ... s_R at one setting.

    synthetic     c |M|^(-1/2) (1 - R / (R - 1) d' M^-1 d)^((R - s - 3) / 2),    d = y - mean,  M = sum of d_r d_r'
    kernel        mean_r N(y; s_r, h^2 covariance),   h = (4 / ((s + 2) R))^(1 / (s + 4)) (Silverman), all shrunk
                  towards their mean so that the covariance is that of the simulations
    frequencies   (how many simulations gave the label + 1/2) / (R + c/2)

The first is the unbiased estimate of a Gaussian's density (Ghurye and Olkin 1969; Price and others 2018), itself a
density: over many particles its errors average out, so that the posterior is the one of the true Gaussian, however few
simulations there are. A Gaussian with their moments makes it too wide, and a Student t (Sellentin and Heavens 2016)
wider still: it is the density of one more simulation, not an estimate of the likelihood. The second does not trust
summaries to be nearly Gaussian, and needs more simulations. `transformed.Transformed` makes them Gaussian first; whole
numbers are `lattice.Lattice`.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod

import numpy as np
from scipy.special import betainc, chdtri, gammaln, logsumexp, ndtr
from sklearn.exceptions import ConvergenceWarning

__all__ = ["Density", "Frequencies", "Kernel", "Synthetic", "effective", "whole"]

_LOG_ROOT = 0.5 * np.log(2.0 * np.pi)
_SMALLEST = 1e-9  # share of the typical variance below which a direction has none
_SAME = 1e-12  # of its size: the deviation of a number that only rounding changes
_EXACT = 1e-6  # of its size: the deviation of a number that is always the same
_ROUNDED = 1.0 / 12.0  # variance of what rounding takes away (Sheppard), of a channel of whole numbers
_FAR = np.log(1e-6)  # weight of the t beside the unbiased density, which ends after some root R deviations
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
    """

    def __init__(self, replicates: np.ndarray) -> None:
        self.n_simulations = replicates.shape[1]
        self.mean = replicates.mean(axis=1)
        self.variance = replicates.var(axis=1, ddof=1)

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
        """Return P(at most) and P(at least) of each number of an outcome (s,), given each particle: (n, s) both."""

    def possible(self, outcomes: np.ndarray) -> np.ndarray:
        """Return the outcomes nearest to these numbers."""
        return outcomes


class Spread(Density):
    """Numbers that have a covariance.

    Attributes
    ----------
    root : (n, s, s) array
        L with L L' the covariance of the simulations.
    """

    def __init__(self, replicates: np.ndarray) -> None:
        super().__init__(replicates)
        _, R, s = replicates.shape
        if s + 3 > R:
            raise ValueError(
                f"n_simulations must be at least {s + 3} where {s} numbers are kept of an outcome, got {R}."
            )
        apart = replicates - self.mean[:, None]
        covariance = np.einsum("nri,nrj->nij", apart, apart) / (R - 1)
        # simulations that are all alike bound how often others come: to about one in R
        typical = self.variance.mean(axis=0)
        alike = self.variance <= np.square(_SAME * self.mean)
        alone = alike.all(axis=0)
        self.variance = np.where(alike, typical / R, self.variance)
        self.variance[:, alone] = self._exact(alone)
        self.variance += np.where(whole(replicates), _ROUNDED, _SMALLEST * typical)
        covariance[:, np.arange(s), np.arange(s)] = self.variance
        self.root = np.linalg.cholesky(covariance)

    def _exact(self, alone: np.ndarray) -> np.ndarray:
        """Variances of the summaries ``alone`` that no repetition changes: of each other, or of rounding."""
        means = self.mean[:, alone]
        deviation = means.std(axis=0)
        size = _EXACT * np.maximum(1.0, np.abs(means).max(axis=0))
        if (deviation > size).any():
            warnings.warn(
                f"simulate returned the same summary number {int(np.flatnonzero(alone)[np.argmax(deviation)])} for "
                "every repetition with the same parameters: it should draw its noise from the generator that it is "
                "given. Until then a kernel over distances tells particles apart.",
                ConvergenceWarning,
                stacklevel=3,
            )
        kernel = (4.0 / (3.0 * len(self))) ** 0.2 * deviation
        return np.square(np.where(deviation > size, kernel, size))


class Synthetic(Spread):
    """The unbiased estimate of the density of a Gaussian of which there are R draws."""

    def __init__(self, replicates: np.ndarray) -> None:
        super().__init__(replicates)
        R, s = self.n_simulations, self.mean.shape[1]
        self.edge = self.root * ((R - 1) / np.sqrt(R))  # d = edge z with |z| < 1
        self.exponent = 0.5 * (R - s - 3)
        log_volume = np.log(np.einsum("iss->is", self.edge)).sum(axis=1)
        self._log_top = gammaln(0.5 * (R - 1)) - gammaln(0.5 * (R - s - 1)) - 0.5 * s * np.log(np.pi) - log_volume

    def log_density(self, outcomes: np.ndarray, particles: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Return log p(outcome_j | particle_i), (i, j), of outcomes (j, s), or (i, j, s) of each particle's own."""
        squared = _squared(outcomes, self.mean[particles], self.edge[particles])
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.log1p(-np.minimum(squared, 1.0)) * self.exponent
        outer = np.nonzero(squared > 0.25)  # elsewhere the t adds nothing
        inside = np.where(squared[outer] < 1.0, found[outer], -np.inf)
        found[outer] = np.logaddexp(inside, _FAR + self._next(squared[outer]))
        return self._log_top[particles][:, None] + found

    def _next(self, squared: np.ndarray) -> np.ndarray:
        """Log density of one more simulation, a t of R - s degrees of freedom, beside the top of the unbiased one."""
        R, s = self.n_simulations, self.mean.shape[1]
        wider = (R - 1) ** 2 / (R * (R + 1.0))
        constant = gammaln(0.5 * R) - gammaln(0.5 * (R - s)) - gammaln(0.5 * (R - 1)) + gammaln(0.5 * (R - s - 1))
        return constant + 0.5 * s * np.log(wider) - 0.5 * R * np.log1p(wider * squared)

    def draw(self, particles: np.ndarray, normal: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        R, s = self.n_simulations, self.mean.shape[1]
        length = np.sqrt(np.square(normal).sum(axis=1) + chdtri(R - s - 1, uniform))
        return self.mean[particles] + np.einsum("nij,nj->ni", self.edge[particles], normal / length[:, None])

    def speaking(self, outcome: np.ndarray, weights: np.ndarray) -> float:
        return effective(weights * np.exp(self.log_density(outcome[None])[:, 0])) * self.n_simulations

    def beyond(self, outcome: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z = np.clip((outcome - self.mean) / _deviations(self.edge), -1.0, 1.0)
        half = 0.5 * (self.n_simulations - 2)
        return betainc(half, half, 0.5 + 0.5 * z), betainc(half, half, 0.5 - 0.5 * z)


class Kernel(Spread):
    """A Gaussian kernel around every simulation."""

    def __init__(self, replicates: np.ndarray) -> None:
        super().__init__(replicates)
        _, R, s = replicates.shape
        width = (4.0 / ((s + 2.0) * R)) ** (1.0 / (s + 4.0))
        widened = np.sqrt(1.0 + width**2)
        self.points = self.mean[:, None] + (replicates - self.mean[:, None]) / widened
        self.root = self.root * width / widened

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
        return effective(terms.ravel())

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
                f"simulate gave {replicates[unknown][0].item()!r} at setting {x.tolist()}, which is not among the "
                f"outcomes {outcomes.tolist()}."
            )
        self.counts = happened.sum(axis=1)
        self.outcomes = outcomes

    def log_probability(self, y: object) -> np.ndarray:
        """Return log p(y | particle), (n,)."""
        counts = self.counts[:, np.flatnonzero(self.outcomes == y)[0]]
        return np.log((counts + 0.5) / (self.counts.sum(axis=1) + 0.5 * len(self.outcomes)))

    def speaking(self, y: object, weights: np.ndarray) -> float:
        """Return how many simulations of equal weight gave ``y``."""
        counts = self.counts[:, np.flatnonzero(self.outcomes == y)[0]]
        return float((weights @ counts) ** 2 / max(weights**2 @ counts, 1e-300))


def whole(replicates: np.ndarray) -> np.ndarray:
    """Return whether summaries (n, R, s) are whole numbers only, (s,)."""
    return (replicates == np.rint(replicates)).all(axis=(0, 1))


def _squared(outcomes: np.ndarray, mean: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Return |L_i^-1 (outcome_j - mean_i)|^2, (i, j), of outcomes (j, s) or (i, j, s)."""
    if mean.shape[1] == 1:
        return np.square((outcomes[..., 0] - mean) / root[:, :, 0])
    apart = np.swapaxes(outcomes - mean[:, None], 1, 2)  # (i, s, j)
    return np.square(np.linalg.solve(root, apart)).sum(axis=1)


def _gaussian(outcomes: np.ndarray, mean: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Return log N(outcome_j; mean_i, L_i L_i'), (i, j)."""
    log_volume = np.log(np.einsum("iss->is", root)).sum(axis=1)
    return -0.5 * _squared(outcomes, mean, root) - log_volume[:, None] - mean.shape[1] * _LOG_ROOT


def _deviations(root: np.ndarray) -> np.ndarray:
    """Return the standard deviations (n, s) of Gaussians with these roots (n, s, s)."""
    return np.sqrt(np.square(root).sum(axis=2))


def effective(terms: np.ndarray) -> float:
    """Return how many equal terms say as much as these, (sum)^2 / sum of squares."""
    return float(terms.sum() ** 2 / max(np.square(terms).sum(), 1e-300))
