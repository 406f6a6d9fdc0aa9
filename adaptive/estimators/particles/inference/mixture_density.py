"""Densities of many mixtures of very many Gaussians, each on a grid of its own.

    p_j(y) = sum_k w_k N(y | m_kj, s_kj^2)  =  F^-1 [ sum_l F(masses_jl) exp(-omega^2 s_jl^2 / 2) ]

The masses w_k are put on a grid of step s / 2 by cubic weights, which keep the first three moments, and so between
four deviations s_l per octave; one Fourier transform for each of them smooths, of twice as broad noise on half as many
points.  Entropies by sums over the grid are within 2e-4 nats of the mixture (`tests/estimators/particles`), at a
cost of k operations and not of k per point.  Where noise is too narrow for 8192 points the density is that of noise
which they resolve, quantiles are exact to two steps of it, and entropies come octave by octave (`narrow`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.fft
from scipy.special import xlogy

from adaptive.estimators.particles.inference.compiled import deposit
from adaptive.estimators.particles.inference.narrow import narrow_entropy

__all__ = ["MixtureDensities", "mixture_densities", "mixture_entropies"]

REACH = 8.0  # deviations beyond the outermost means
PER_DEVIATION = 2.0  # grid points, at least
PER_OCTAVE = 4  # levels of deviations
LEVEL = np.log(2.0) / PER_OCTAVE
FEWEST, MOST = 64, 8192  # grid points; densities of noise too narrow for so many are those of what they resolve
AT_ONCE = 2**22  # numbers of a block of grids


@dataclass(frozen=True, eq=False)
class MixtureDensities:
    """Densities of m mixtures, in groups of as many grid points.

    Attributes
    ----------
    groups : list of (positions (g,), low (g,), step (g,), density (g, n))
    components : (weights (k,), means (k, m), deviations (k or 1, m))
    unresolved : (u,) array
        Positions of those too narrow for their grids, whose densities are of wider noise.
    """

    groups: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]
    components: tuple[np.ndarray, np.ndarray, np.ndarray]
    unresolved: np.ndarray

    @cached_property
    def entropy(self) -> np.ndarray:
        """(m,) - int p log p, nats."""
        weights, means, deviations = self.components
        found = np.empty(means.shape[1])
        for at, _, step, density in self.groups:
            found[at] = -xlogy(density, density).sum(axis=1) * step
        for j in self.unresolved:
            found[j] = narrow_entropy(weights, means[:, j], np.broadcast_to(deviations[:, j], len(weights)))
        return found

    def quantiles(self, probabilities: np.ndarray) -> np.ndarray:
        """Return (q, m) values below which the outcome lies with these probabilities (q,)."""
        found = np.empty((len(probabilities), self.components[1].shape[1]))
        for at, low, step, density in self.groups:
            below = np.cumsum(density, axis=1) * step[:, None]
            for row, position in enumerate(at):  # to the middle between two points belongs the sum up to the first
                places = low[row] + step[row] * (np.arange(density.shape[1]) + 0.5)
                found[:, position] = np.interp(probabilities, below[row] / below[row, -1], places)
        return found


def mixture_densities(
    weights: np.ndarray, means: np.ndarray, deviations: np.ndarray, *, per_deviation: float = PER_DEVIATION
) -> MixtureDensities:
    """Return the densities of m mixtures of k Gaussians.

    Parameters
    ----------
    weights : (k,) array, adding up to 1
    means : (k, m) array
    deviations : array that broadcasts to (k, m), > 0
        Those that are the same for all components, (1, m) or (1, 1), need one level only.
    per_deviation : float, default 2
        Grid points for each deviation of the narrowest component, at least.
    """
    k, m = means.shape
    kept = weights > 0
    weights, means = weights[kept], means[kept]
    if deviations.shape[0] > 1:
        deviations = deviations[kept]
    deviations = np.broadcast_to(deviations, (deviations.shape[0], m))
    components = weights, means, deviations
    narrow, wide = deviations.min(axis=0), deviations.max(axis=0)
    low, high = means.min(axis=0), means.max(axis=0)
    length = high - low + 2.0 * REACH * wide
    resolved = PER_DEVIATION * length / (MOST - 2.0 * REACH * PER_DEVIATION)  # of the length that it makes, too
    unresolved = np.flatnonzero(narrow < resolved)
    if len(unresolved):
        deviations = np.where(narrow < resolved, np.maximum(deviations, resolved), deviations)
        narrow, wide = deviations.min(axis=0), deviations.max(axis=0)
        length = high - low + 2.0 * REACH * wide
    needed = np.exp2(np.ceil(np.log2(np.clip(per_deviation * length / narrow, FEWEST, MOST)))).astype(int)
    several = wide > narrow * (1.0 + 1e-12)
    n_levels = np.where(several, np.ceil(np.log(wide / narrow) / LEVEL).astype(int) + 3, 1)
    groups = []
    for n_points in np.unique(needed):
        for levels in np.unique(n_levels[needed == n_points]):
            chosen = np.flatnonzero((needed == n_points) & (n_levels == levels))
            rows = max(1, AT_ONCE // int(2 * PER_OCTAVE * n_points))
            for start in range(0, len(chosen), rows):
                at = chosen[start : start + rows]
                lowest, step = low[at] - REACH * wide[at], length[at] / n_points
                groups.append(_on_grids(weights, means, deviations, at, lowest, step, n_points, levels))
    return MixtureDensities(groups, components, unresolved)


def mixture_entropies(weights: np.ndarray, means: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Return the entropies (m,) of m mixtures of k Gaussians, nats; arguments as for `mixture_densities`.

    Examples
    --------
    >>> one = mixture_entropies(np.ones(1), np.zeros((1, 1)), np.ones((1, 1)))
    >>> bool(abs(one[0] - 0.5 * np.log(2 * np.pi * np.e)) < 1e-9)
    True
    """
    return mixture_densities(weights, means, deviations).entropy


def _on_grids(
    weights: np.ndarray,
    means: np.ndarray,
    deviations: np.ndarray,
    at: np.ndarray,
    low: np.ndarray,
    step: np.ndarray,
    n_points: int,
    n_levels: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (positions, low, step, density) of the mixtures ``at``, all on ``n_points`` points and ``n_levels``."""
    narrow = deviations[:, at].min(axis=0)
    first = np.log(narrow) - (LEVEL if n_levels > 1 else 0.0)
    coarsest = int(np.log2(n_points)) - 4  # sixteen points are left where deviations differ by many octaves
    octaves = np.minimum(np.arange(n_levels) // PER_OCTAVE, coarsest)
    sizes = n_points >> octaves
    starts = np.cumsum(sizes) - sizes
    masses = np.zeros((len(at), int(sizes.sum())))
    deposit(masses, weights, means, deviations, at, low, step, first, LEVEL, starts, octaves)
    levels = np.exp(first[:, None] + LEVEL * np.arange(n_levels))
    omega = 2.0 * np.pi * np.arange(n_points // 2 + 1) / (n_points * step[:, None])
    total = np.zeros((len(at), n_points // 2 + 1), dtype=complex)
    for level, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        spectrum = scipy.fft.rfft(masses[:, start : start + size], axis=1)
        half = spectrum.shape[1]
        spectrum *= np.exp(-0.5 * np.square(omega[:, :half] * levels[:, level, None]))
        total[:, :half] += spectrum
    density = scipy.fft.irfft(total, n=n_points, axis=1) / step[:, None]
    return at, low, step, np.maximum(density, 0.0)
