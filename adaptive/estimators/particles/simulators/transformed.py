"""The density of a summary whose simulations are not normal, by transformations that make them so:

    p(s | particle)  =  |dx/ds| Synthetic(x),      x_k = T_k((s_k - mean_k) / deviation_k)

T_k maps quantiles of what the simulations of alike particles deviate by to those of normal ones, and is linear in
between and beyond. One particle's simulations hardly tell the shape of their distribution; particles of like mean and
deviation share one, and so do their simulations. What is left to each particle is a Gaussian, of which the unbiased
density is taken, so that the errors of few simulations still average out.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv, ndtr

from adaptive.estimators.particles.simulators.densities import Density, Synthetic, effective, whole

__all__ = ["Transformed", "transformed"]

ALIKE = 32  # particles at least whose simulations show one shape
KNOTS = ndtr(np.linspace(-3.0, 3.0, 17))  # probabilities of the quantiles
FEW = 50  # simulations that say nothing of a shape
TESTED = 200  # particles, about, whose simulations are tested
NORMAL = 1e-6  # of a test of normality: what it takes to transform
BEYOND = 1e3  # deviations: where the last stretch ends
SMALLEST = 1e-9  # of its size: a deviation that only rounding makes


def transformed(replicates: np.ndarray) -> Density:
    """Return the density of simulations (n, R, s): of Gaussians where these are normal, whole or hardly scatter.

    Normality is tested by skewness and kurtosis of the simulations of many particles together (Jarque and Bera 1987).
    """
    plain = Synthetic(replicates)
    some = replicates[:: max(1, len(replicates) // TESTED)]
    odd = np.flatnonzero(_odd(some) & ~whole(some))
    return Transformed(replicates, plain, odd) if len(odd) else plain


def _odd(some: np.ndarray) -> np.ndarray:
    """Return which summaries (n, R, s) are not normal; those that hardly scatter, or have ties, count as if they were.

    By their own mean and deviation, normal ones are a little short of tails.
    """
    n, R, s = some.shape
    if n * R < FEW:
        return np.zeros(s, dtype=bool)
    apart = some - some.mean(axis=1, keepdims=True)
    squares = apart**2
    variance = squares.sum(axis=1, keepdims=True) / (R - 1)
    smooth = (variance[:, 0] > np.square(SMALLEST * np.abs(some).max(axis=(0, 1)))).all(axis=0)
    variance = np.where(variance > 0, variance, 1.0)
    skewness = np.mean(apart * squares / variance**1.5, axis=(0, 1))
    kurtosis = np.mean((squares / variance) ** 2, axis=(0, 1)) / np.mean(squares / variance, axis=(0, 1)) ** 2
    far = skewness**2 * (n * R / 6.0) + (kurtosis - 3.0 * (R - 1) / (R + 1)) ** 2 * (n * R / 24.0)
    odd = smooth & (np.exp(-0.5 * far) < NORMAL)
    for k in np.flatnonzero(odd):
        odd[k] = len(np.unique(some[:, :, k])) >= 0.9 * n * R
    return odd


class Transformed(Density):
    """A Gaussian's density, of summaries that were made normal.

    Parameters
    ----------
    replicates : (n, R, s) array
    plain : Synthetic
        Of the same, as they are.
    odd : (k,) array of int
        The summaries that are transformed.
    """

    def __init__(self, replicates: np.ndarray, plain: Synthetic, odd: np.ndarray) -> None:
        _, R, s = replicates.shape
        self.n_simulations, self.mean, self.variance = R, plain.mean, plain.variance
        turned = np.isin(np.arange(s), odd)
        self._centre = np.where(turned, self.mean, 0.0)
        self._size = np.where(turned, np.sqrt(self.variance), 1.0)
        places = np.column_stack([self._centre[:, odd], np.log(self._size[:, odd])])
        blocks = _alike(places)
        self._block = np.empty(len(replicates), dtype=np.intp)
        for number, block in enumerate(blocks):
            self._block[block] = number
        half = 0.5 * (R - 2)  # quantiles of normal ones, by their own mean and deviation
        normal = (2.0 * betaincinv(half, half, KNOTS) - 1.0) * (R - 1) / np.sqrt(R)
        self._maps = {}
        for k in odd:
            apart = (replicates[:, :, k] - self._centre[:, None, k]) / self._size[:, None, k]
            self._maps[int(k)] = [_Map(_quantiles(apart[block].ravel()), normal) for block in blocks]
        everywhere = np.arange(len(replicates))
        self.inner = Synthetic(self._forth(replicates, everywhere)[0])

    def _forth(self, numbers: np.ndarray, particles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return x of numbers (i, j, s) given each particle, and log|dx/ds| (i, j)."""
        x = (numbers - self._centre[particles, None]) / self._size[particles, None]
        slopes = np.zeros(x.shape[:2])
        blocks = self._block[particles]
        for k, maps in self._maps.items():
            for block in np.unique(blocks):
                rows = blocks == block
                x[rows, :, k], log_slope = maps[block](x[rows, :, k])
                slopes[rows] += log_slope
            slopes -= np.log(self._size[particles, None, k])
        return x, slopes

    def _back(self, x: np.ndarray, particles: np.ndarray) -> np.ndarray:
        """Return numbers (j, s) of x, one given each of the particles."""
        blocks = self._block[particles]
        for k, maps in self._maps.items():
            for block in np.unique(blocks):
                rows = blocks == block
                x[rows, k] = maps[block].back(x[rows, k])
        return self._centre[particles] + self._size[particles] * x

    def log_density(self, outcomes: np.ndarray, particles: np.ndarray | slice = slice(None)) -> np.ndarray:
        which = np.arange(len(self))[particles]
        shape = (len(which), *outcomes.shape)
        x, slopes = self._forth(np.broadcast_to(outcomes, shape), which)
        return self.inner.log_density(x, which) + slopes

    def draw(self, particles: np.ndarray, normal: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        return self._back(self.inner.draw(particles, normal, uniform), np.asarray(particles))

    def speaking(self, outcome: np.ndarray, weights: np.ndarray) -> float:
        return effective(weights * np.exp(self.log_density(outcome[None])[:, 0])) * self.n_simulations

    def beyond(self, outcome: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        which = np.arange(len(self))
        return self.inner.beyond(self._forth(np.broadcast_to(outcome, (len(self), 1, len(outcome))), which)[0][:, 0])


def _quantiles(numbers: np.ndarray) -> np.ndarray:
    """Return the quantiles at the knots, as ``np.quantile`` does in a fifth of the time."""
    at = KNOTS * (len(numbers) - 1)
    return np.interp(at, np.arange(len(numbers)), np.sort(numbers))


class _Map:
    """A rising piecewise linear function through (quantiles, normal), whose end stretches go on.

    Parameters
    ----------
    quantiles, normal : (g,) arrays
    """

    def __init__(self, quantiles: np.ndarray, normal: np.ndarray) -> None:
        least = 1e-6 * (quantiles[-1] - quantiles[0])  # ties of what was simulated
        q = quantiles + least * np.arange(len(quantiles))
        first, last = (np.diff(normal)[end] / np.diff(q)[end] for end in (0, -1))
        self.q = np.concatenate([[q[0] - BEYOND], q, [q[-1] + BEYOND]])
        self.g = np.concatenate([[normal[0] - first * BEYOND], normal, [normal[-1] + last * BEYOND]])
        self.log_slope = np.log(np.diff(self.g) / np.diff(self.q))

    def __call__(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the function at z, and the logarithm of its slope."""
        z = np.clip(z, self.q[0], self.q[-1])
        stretch = np.clip(np.searchsorted(self.q, z, side="right") - 1, 0, len(self.log_slope) - 1)
        return np.interp(z, self.q, self.g), self.log_slope[stretch]

    def back(self, x: np.ndarray) -> np.ndarray:
        """Return the z of which the function is x."""
        return np.interp(x, self.g, self.q)


def _alike(places: np.ndarray) -> list[np.ndarray]:
    """Return rows in blocks of places (n, d) near to each other, halved along the longest side."""
    scale = places.std(axis=0)
    places = places / np.where(scale > 0, scale, 1.0)
    found, waiting = [], [np.arange(len(places))]
    while waiting:
        block = waiting.pop()
        if len(block) < 2 * ALIKE:
            found.append(block)
            continue
        side = int(np.argmax(places[block].std(axis=0)))
        ordered = block[np.argsort(places[block, side], kind="stable")]
        half = len(ordered) // 2
        waiting += [ordered[:half], ordered[half:]]
    return found
