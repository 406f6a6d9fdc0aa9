"""The density of a prior that only draws: smooth marginals tied together by a Gaussian copula.

    log p(v)  =  sum_j log f_j(v_j)  +  log N(z | 0, R)  -  sum_j log N(z_j | 0, 1),        z_j = Phi^-1(F_j(v_j))

F_j runs smoothly through quantiles of the draws. Exact, up to some percent, for independent parameters and for what a
change of each parameter's scale makes Gaussian; beyond the extreme draws there is nothing.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import expit, ndtri

__all__ = ["FittedDensity"]

N_DRAWS = 2**14
N_KNOTS = 33
_EDGE = 1e-9  # probabilities are kept this far from 0 and 1


class FittedDensity:
    """Log density fitted to draws.

    Parameters
    ----------
    draws : (n, d) array
        A parameter of which all draws are equal is left out.

    Examples
    --------
    >>> draws = np.random.default_rng(0).uniform(2.0, 4.0, (4000, 1))
    >>> density = FittedDensity(draws)
    >>> bool(abs(density(np.array([[3.0]]))[0] + np.log(2.0)) < 0.1), density(np.array([[4.5]]))
    (True, array([-inf]))
    """

    def __init__(self, draws: np.ndarray) -> None:
        levels = np.concatenate([[0.0], expit(np.linspace(-6.0, 6.0, N_KNOTS)), [1.0]])
        self._columns = np.flatnonzero(np.ptp(draws, axis=0) > 0)
        self._curves = []
        for column in draws[:, self._columns].T:
            places, first = np.unique(np.quantile(column, levels), return_index=True)
            self._curves.append(PchipInterpolator(places, levels[first], extrapolate=False))
        correlation = np.corrcoef(self._normal(draws), rowvar=False).reshape(len(self._curves), -1)
        self._precision = np.linalg.inv(correlation) - np.eye(len(correlation))
        self._half_log_determinant = 0.5 * np.linalg.slogdet(correlation)[1]

    def _normal(self, values: np.ndarray) -> np.ndarray:
        shares = np.stack([curve(values[:, j]) for j, curve in zip(self._columns, self._curves, strict=True)], axis=1)
        return ndtri(np.clip(shares, _EDGE, 1.0 - _EDGE))

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return log p (n,) of values (n, d)."""
        z = self._normal(values)
        with np.errstate(divide="ignore"):
            marginals = [
                np.log(np.maximum(curve.derivative()(values[:, j]), 0.0))
                for j, curve in zip(self._columns, self._curves, strict=True)
            ]
        found = np.sum(marginals, axis=0) - 0.5 * np.einsum("ni,ij,nj->n", z, self._precision, z)
        return np.where(np.isnan(found), -np.inf, found - self._half_log_determinant)
