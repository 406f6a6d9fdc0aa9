"""Exact posteriors in one to three dimensions, by nested Gauss-Legendre panels that end at the potentials' kinks.

The latents are the projections (B = I): u = m + L z with the Gaussian factor's mean and Cholesky factor, so that

    ln Z = c + ln of the integral of  N(z | 0, I) T_1(u_1) ... T_n(u_n),      u_j = m_j + sum over k <= j of L_jk z_k,

and given the outer coordinates the kink of T_j, at u_j = 0, is one point of z_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Exact", "Problem", "exact_posterior", "masses"]

RADIUS = 9.0  # standard deviations: beyond, the Gaussian factor has a mass of 2e-19


@dataclass(frozen=True)
class Problem:
    """Gaussian factor and potentials, in the two ways of the library: a prior covariance, or measurements X, y.

    Attributes
    ----------
    mean, root, log_constant : (n,), (n, n) lower triangle, float
        m, L, c above.
    potential : Potential
        One row per latent, its kinks at 0.
    glm : dict
        The same as arguments of `adaptive.inference.GLM`.
    """

    mean: np.ndarray
    root: np.ndarray
    log_constant: float
    potential: Any
    glm: dict[str, Any]

    @classmethod
    def with_prior(cls, K: np.ndarray, potential: Any) -> Problem:
        """A zero-mean Gaussian prior of covariance K."""
        return cls(np.zeros(len(K)), np.linalg.cholesky(K), 0.0, potential, {"prior_covariance": K})

    @classmethod
    def with_data(cls, X: np.ndarray, y: np.ndarray, noise: float, potential: Any) -> Problem:
        """As many Gaussian measurements as latents: N(y | X u, noise) = N(u | X^-1 y, V) / |det X|."""
        inverse = np.linalg.inv(X)
        root = np.linalg.cholesky(noise * inverse @ inverse.T)
        constant = -float(np.linalg.slogdet(X)[1])
        return cls(inverse @ y, root, constant, potential, {"X": X, "y": y, "noise_variance": noise})


@dataclass(frozen=True)
class Exact:
    """Log evidence, means and standard deviations of the latents."""

    log_evidence: float
    mean: np.ndarray
    deviation: np.ndarray


def exact_posterior(problem: Problem, n_panels: int = 12, order: int = 8, depth: int = 5) -> Exact:
    """Integrate over 9 standard deviations of the Gaussian factor, by panels on both sides of each kink.

    Parameters
    ----------
    problem : Problem
    n_panels, order, depth : int
        Panels of equal width on each side of a kink, nodes per panel, how often the first one is divided towards it.
    """
    n = len(problem.mean)
    rule = graded_rule(n_panels, order, depth)
    first = _axis(problem, 0, [], np.zeros(()), rule)
    sums = []
    for k in range(first[0].size):  # one slice at a time keeps memory small
        z, u, log_weight = [first[0][k]], [first[1][k]], first[2][k]
        for j in range(1, n):
            z_j, u_j, log_weight = _axis(problem, j, z, log_weight, rule)
            z, u = [one[..., None] for one in z] + [z_j], [one[..., None] for one in u] + [u_j]
        peak = np.max(log_weight)
        if np.isfinite(peak):
            mass = np.exp(log_weight - peak)
            moments = [np.sum(mass * one**power) for one in u for power in (1, 2)]
            sums.append((peak, np.sum(mass), *moments))
    table = np.array(sums)
    top = table[:, 0].max()
    total = np.exp(table[:, 0] - top) @ table[:, 1:]
    mean, square = total[1::2] / total[0], total[2::2] / total[0]
    return Exact(float(problem.log_constant + top + np.log(total[0])), mean, np.sqrt(square - mean**2))


def masses(problem: Problem, n_panels: int = 30, order: int = 12, depth: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and their probabilities, for one latent."""
    _, nodes, log_weight = _axis(problem, 0, [], np.zeros(()), graded_rule(n_panels, order, depth))
    mass = np.exp(log_weight - log_weight.max())
    return nodes, mass / mass.sum()


def _axis(problem: Problem, j: int, z: list[Any], log_weight: Any, rule: Any) -> tuple[Any, Any, Any]:
    """Return nodes, latents and log weights of coordinate j, one more axis than the outer coordinates ``z`` have."""
    offset = np.asarray(problem.mean[j] + sum(problem.root[j, k] * one for k, one in enumerate(z)), dtype=float)
    scale = problem.root[j, j]
    kink = np.clip(-offset / scale, -RADIUS, RADIUS)[..., None]
    nodes, weights = rule
    z_j = np.concatenate([kink - (RADIUS + kink) * nodes, kink + (RADIUS - kink) * nodes], axis=-1)
    u_j = offset[..., None] + scale * z_j
    with np.errstate(divide="ignore"):
        widths = np.concatenate([(RADIUS + kink) * weights, (RADIUS - kink) * weights], axis=-1)
        log_weight = log_weight[..., None] + np.log(widths) - 0.5 * z_j**2 - 0.5 * np.log(2 * np.pi)
        log_weight = log_weight + problem.potential[[j]].log_density(u_j[..., None])[..., 0]
    return z_j, u_j, log_weight


def graded_rule(n_panels: int, order: int, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights on [0, 1], with panels that shrink towards 0.

    Examples
    --------
    >>> nodes, weights = graded_rule(4, 6, 5)
    >>> bool(abs(weights @ nodes**0.5 - 2 / 3) < 1e-5)
    True
    """
    even = np.arange(1, n_panels + 1) / n_panels
    edges = np.concatenate([[0.0], even[0] * 4.0 ** np.arange(-depth, 0), even])
    x, w = np.polynomial.legendre.leggauss(order)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    return (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()
