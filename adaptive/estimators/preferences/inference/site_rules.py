"""Site of a comparison by each approximation, given the marginal N(m, v) of its difference of utilities:

expectation_propagation    the site with which the marginal has the moments of cavity times likelihood
laplace_approximation      slope and curvature of the log likelihood at m
variational_bounds         the bound of Jaakkola and Jordan that is tight at sqrt(E s^2), of a logistic likelihood
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from adaptive.inference.dense.tilted_sites import tilted_sites
from adaptive.potentials import BernoulliLogit, BernoulliProbit

__all__ = ["LIKELIHOODS", "RULES", "SiteRule"]

#: (y, mean, variance, pi, nu), all (q,) -> new pi, new nu, terms of the log evidence at the present sites
SiteRule: TypeAlias = Callable[
    [np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]
]


def _propagated(
    y: np.ndarray, mean: np.ndarray, variance: np.ndarray, pi: np.ndarray, nu: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sites = tilted_sites(BernoulliProbit(y), mean, variance, pi, nu, 1.0)
    return sites.pi, sites.nu, sites.terms


def _tangent(
    y: np.ndarray, mean: np.ndarray, variance: np.ndarray, pi: np.ndarray, nu: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    likelihood = BernoulliProbit(y)
    slope, curvature = likelihood.derivatives(mean)
    return -curvature, slope - curvature * mean, likelihood.log_density(mean)


def _bounded(
    y: np.ndarray, mean: np.ndarray, variance: np.ndarray, pi: np.ndarray, nu: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    likelihood = BernoulliLogit(y)
    tilt = np.asarray(likelihood.tilt)
    # ln T >= tilt s - s^2 pi / 2 - h(1/pi) / 2; where no bound was taken yet it is the flattest one
    used = np.where(pi > 0, pi, 0.25)
    terms = nu * mean - 0.5 * pi * mean**2 - 0.5 * likelihood.height(1.0 / used)
    return 1.0 / likelihood.tight_width(np.sqrt(mean**2 + variance)), tilt, terms


RULES: dict[str, SiteRule] = {
    "expectation_propagation": _propagated,
    "laplace_approximation": _tangent,
    "variational_bounds": _bounded,
}
LIKELIHOODS: dict[str, type[BernoulliProbit | BernoulliLogit]] = {
    "expectation_propagation": BernoulliProbit,
    "laplace_approximation": BernoulliProbit,
    "variational_bounds": BernoulliLogit,
}
