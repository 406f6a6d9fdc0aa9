"""Variance of a projection s that a Gaussian target explains, and information of an outcome of s about the target.

q = c' C^+ c            variance of E(s | target),   c = Cov(target, s),  C = Cov(target)
v - q                   what stays unknown of s when the target is known; it is integrated out like noise
C_y = C - c c' (v - v'(y)) / v^2        after outcome y, by one step of moment matching (exact for Gaussian noise)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from adaptive.predictive.conditional_variance import is_gaussian, noise_variance, variances_after
from adaptive.predictive.derivations import family_entropies
from adaptive.predictive.quadrature import normal_grid

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive

__all__ = [
    "check_size", "expected_entropy", "expected_target_entropy", "explained_variance", "log_determinant",
    "target_entropy",
]  # fmt: skip

LARGEST = 8_000  # components of which a dense covariance is formed
AT_ONCE = 200_000  # numbers of which entropies are taken in one call
_SUPPORT = 1e-11  # eigenvalues below this share of the largest are zero but for rounding


def check_size(size: int) -> None:
    """Refuse a target of which a dense covariance would not fit."""
    if size > LARGEST:
        raise ValueError(
            f"the covariance of {size} target components is not formed (at most {LARGEST}); name fewer by target."
        )


def explained_variance(predictive: Predictive) -> np.ndarray:
    """Return q (m,); C may be singular (more inputs than unknowns)."""
    values, vectors = linalg.eigh(predictive.target_variance)
    kept = values > _SUPPORT * max(values[-1], 0.0)
    loadings = predictive.target_covariance @ (vectors[:, kept] / np.sqrt(values[kept]))
    return np.minimum(np.einsum("ij,ij->i", loadings, loadings), predictive.variance)


def _residual_variance(predictive: Predictive) -> np.ndarray:
    return predictive.variance - predictive.explained_variance


def expected_entropy(predictive: Predictive) -> np.ndarray:
    """Return E H(y | target): the target leaves s ~ N(a, v - q), where a = E(s | target) is what varies."""
    family, mean = predictive.likelihood, predictive.mean
    residual, explained = _residual_variance(predictive), predictive.explained_variance
    if not np.any(residual > 1e-9 * predictive.variance):
        return family_entropies(predictive, 1)
    if is_gaussian(family):
        return family.outcome_entropy(mean, residual)
    spread = np.sqrt(explained)
    nodes, weights = normal_grid(float(spread.max()))
    total, rows = np.zeros(len(mean)), max(1, AT_ONCE // len(nodes))
    for start in range(0, len(mean), rows):  # all nodes in one call: a loop over them costs what its calls cost
        at = slice(start, start + rows)
        each = family.outcome_entropy(mean[at] + np.multiply.outer(nodes, spread[at]), residual[at])
        for values, weight in zip(each, weights, strict=True):
            total[at] += weight * values
    return total


def log_determinant(predictive: Predictive) -> tuple[np.ndarray, np.ndarray]:
    """Return log(1 + q / (noise + v - q)) (m,) and its errors (m,), which are zero."""
    noise = noise_variance(predictive.likelihood) + _residual_variance(predictive)
    values = np.log1p(predictive.explained_variance / noise)
    return values, np.zeros_like(values)


def target_entropy(predictive: Predictive) -> float:
    """Return 1/2 log|2 pi e C| on the support of the target."""
    values = linalg.eigvalsh(predictive.target_variance)
    kept = values[values > _SUPPORT * max(values[-1], 0.0)]
    return 0.5 * float(np.log(2 * np.pi * np.e * kept).sum())


def expected_target_entropy(predictive: Predictive) -> np.ndarray:
    """Return sum_y p(y) 1/2 log|2 pi e C_y|  (m,)."""
    probabilities, after = variances_after(predictive)
    variance = np.where(predictive.variance > 0, predictive.variance, 1.0)
    share = predictive.explained_variance / variance
    left = 1.0 - share[:, None] * (1.0 - after / variance[:, None])
    return predictive.target_entropy + 0.5 * np.einsum("ij,ij->i", probabilities, np.log(left))
