"""Slope and curvature of the log normaliser of N(s | m, v) T(s) in m: what the classic updates are written in.

a = d ln Z^ / dm = (tilted mean - m) / v,    b = d^2 ln Z^ / dm^2 = (tilted variance / v - 1) / v,
site:  pi = -b / (1 + b v),    nu = (a - m b) / (1 + b v).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from adaptive.potentials import Potential

__all__ = ["log_normaliser_derivatives", "site"]


def log_normaliser_derivatives(
    potential: Potential, mean: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ln Z^, a and b."""
    log_normaliser, tilted_mean, tilted_variance = potential.tilted_moments(mean, variance)
    return log_normaliser, (tilted_mean - mean) / variance, (tilted_variance / variance - 1.0) / variance


def site(mean: float, variance: float, first: float, second: float) -> tuple[float, float]:
    """Return precision and precision-mean of the site that gives N(mean, variance) the tilted moments."""
    share = 1.0 + second * variance
    return -second / share, (first - mean * second) / share
