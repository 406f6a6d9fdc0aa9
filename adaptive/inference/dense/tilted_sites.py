"""New sites: those with which the marginals have the moments of the tilted distributions

    cavity_j(s) T_j(s)^eta,    cavity_j = marginal_j / site_j^eta,

and each site's part of the evidence (see `expectation_propagation`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from adaptive.potentials import Potential
    from adaptive.types import Number

__all__ = ["FLAT", "TiltedSites", "tilted_sites"]

FLAT = 1e-10  # cavity precision, in units of the marginal's, that stands for zero: only this site determines s_j


@dataclass(frozen=True)
class TiltedSites:
    """Sites as they should be, given marginals and sites as they are.

    Attributes
    ----------
    pi, nu : array (k,)
        Precisions and precision-means; those there were where there is no cavity.
    usable : boolean array (k,)
        Where there is a cavity and the new site is finite.
    proper : boolean array (k,)
        Where there is a cavity.
    variance : array (k,)
        Of the marginals, 1 where it is zero.
    terms : array (k,)
        Of the log evidence.
    """

    pi: np.ndarray
    nu: np.ndarray
    usable: np.ndarray
    proper: np.ndarray
    variance: np.ndarray
    terms: np.ndarray


def tilted_sites(
    potential: Potential,
    mean: np.ndarray,
    variance: np.ndarray,
    pi: np.ndarray,
    nu: np.ndarray,
    fraction: Number,
    negative: bool = False,
) -> TiltedSites:
    """New sites for k rows at their marginals N(mean, variance), whose sites are pi and nu.

    Parameters
    ----------
    potential : Potential
        Of these rows.
    mean, variance, pi, nu : array (k,)
    fraction : float or array (k,)
        Power eta.
    negative : bool, default False
        Whether site precisions may be negative.

    Examples
    --------
    >>> from adaptive.potentials import Gaussian
    >>> one, zero = np.ones(1), np.zeros(1)
    >>> tilted_sites(Gaussian(0.25), zero, one, zero, zero, 0.9).pi       # a Gaussian site is what it stands for
    array([4.])
    """
    eta = fraction
    fixed = ~(variance > 0)  # rows of zeros: their projection is known, and their site says nothing
    variance = np.where(fixed, 1.0, variance)
    cavity = 1.0 / variance - eta * pi  # precision
    proper = cavity > -FLAT / variance
    safe = np.where(proper, np.maximum(cavity, FLAT / variance), 1.0 / variance)
    slope = nu - pi * mean
    cavity_mean = mean - eta * slope / safe
    log_normaliser, tilted_mean, tilted_variance = potential.tilted_moments(cavity_mean, 1.0 / safe, eta)  # type: ignore[arg-type]
    new_pi = (1.0 / tilted_variance - safe) / eta
    if not negative:
        new_pi = np.maximum(new_pi, 0.0)
    # the new site's slope at the tilted mean t: nu' - pi' t = (t - c) / (eta v), free of cancellation
    new_nu = new_pi * tilted_mean + (tilted_mean - cavity_mean) * safe / eta
    usable = proper & np.isfinite(new_pi) & np.isfinite(new_nu)
    new_pi, new_nu = np.where(usable, new_pi, pi), np.where(usable, new_nu, nu)
    new_pi[fixed], new_nu[fixed] = 0.0, 0.0
    terms = (log_normaliser + 0.5 * np.log1p(eta * pi / safe)) / eta + 0.5 * eta * slope**2 / safe
    if fixed.any():
        terms[fixed] = potential.log_density(mean)[fixed]
    return TiltedSites(new_pi, new_nu, usable, proper, variance, terms)
