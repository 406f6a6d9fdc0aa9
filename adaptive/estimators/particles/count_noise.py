"""Counts around a model: Poisson, negative binomial and binomial, with exposure or trials in a column of X.

poisson     y ~ Poisson(e mean)              e the exposure, 1 without a column
            y ~ NegativeBinomial,  variance = e mean + a (e mean)^2,     with overdispersion a
binomial    y ~ Binomial(n, mean)            n the trials, 1 without a column
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from adaptive.estimators.particles.likelihood import Likelihood, called, refuse

if TYPE_CHECKING:
    from adaptive.estimators.particles.likelihood import Function

__all__ = ["FAMILIES", "CountNoise", "check_counts"]

FAMILIES = ("poisson", "binomial")
MOST = 1e12  # counts beyond are no counts of a double


def check_counts(y: np.ndarray) -> None:
    """Refuse what are no counts."""
    if y.ndim != 1:
        raise ValueError(f"y must hold one count per setting, (m,), got shape {y.shape}.")
    if np.iscomplexobj(y):
        raise ValueError("y must hold counts 0, 1, 2, ..., got complex numbers.")
    wrong = (y < 0) | (y > MOST) | (y != np.floor(y))
    if wrong.any():
        raise ValueError(f"y must hold counts 0, 1, 2, ..., got {y[wrong][0]:g}.")


class CountNoise(Likelihood):
    """Counts whose mean, or whose chance, is the user's model.

    Parameters
    ----------
    family : "poisson" or "binomial"
    model : callable(parameters, X) -> (n, m)
        Mean counts per unit of exposure, >= 0; or chances from 0 to 1. It gets X with all its columns.
    column : int, str or None
        Of the exposure, or of the trials; a name is a number by the time that numbers are asked for.
    overdispersion : float >= 0, or int: the column of the parameters that holds it
        Of Poisson counts.
    """

    def __init__(
        self, family: str, model: Function, column: int | str | None = None, overdispersion: float | int = 0.0
    ) -> None:
        self.family, self.model, self.column, self.overdispersion = family, model, column, overdispersion

    def channels(self, values: np.ndarray, X: np.ndarray) -> tuple[int, bool]:
        """Return one, and that counts are no complex numbers."""
        return 1, False

    def sizes(self, X: np.ndarray) -> np.ndarray:
        """Return the exposures, or the trials (m,)."""
        if self.column is None:
            return np.ones(len(X))
        name = "exposure" if self.family == "poisson" else "trials"
        if isinstance(self.column, str):
            raise ValueError(f"{name} names the column {self.column!r}, but the columns of X have no names.")
        if not -X.shape[1] <= self.column < X.shape[1]:
            raise ValueError(f"{name} is column {self.column}, but X has {X.shape[1]} columns.")
        sizes = X[:, self.column]
        if self.family == "poisson" and not (sizes > 0).all():
            raise ValueError(f"exposure must be positive, got {sizes[~(sizes > 0)][0]:g}.")
        if self.family == "binomial" and not ((sizes >= 1) & (sizes == np.floor(sizes))).all():
            raise ValueError(
                f"trials must be 1, 2, 3, ..., got {sizes[(sizes < 1) | (sizes != np.floor(sizes))][0]:g}."
            )
        return sizes

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Return the overdispersion (n,) under each parameter row."""
        if isinstance(self.overdispersion, int):
            found = values[:, self.overdispersion]
            if not (found >= 0).all():
                raise ValueError(f"the overdispersion must be >= 0 under the prior, got {found[~(found >= 0)][0]:g}.")
            return found
        return np.full(len(values), self.overdispersion)

    def means(self, values: np.ndarray, X: np.ndarray) -> np.ndarray:
        """Return mean counts (n, m), or chances."""
        found = called("model", self.model, values, X)
        if found.shape == (len(values), len(X), 1):
            found = found[:, :, 0]
        if found.shape != (len(values), len(X)):
            raise ValueError(
                f"model must return shape ({len(values)}, {len(X)}), one row per parameter row and one column per "
                f"setting (parameters[:, j, None] broadcasts so), got {found.shape}."
            )
        if self.family == "binomial":
            refuse(~((found >= 0) & (found <= 1)), "model", found, values, X, "a chance from 0 to 1")
            return found
        refuse(~((found >= 0) & np.isfinite(found)), "model", found, values, X, "a mean count >= 0")
        return found * self.sizes(X)

    def moments(self, values: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean counts (n, m, 1) and the deviations of counts around them."""
        means = self.means(values, X)
        if self.family == "binomial":
            n = self.sizes(X)
            means, variances = n * means, n * means * (1.0 - means)
        else:
            variances = means + self.spread(values)[:, None] * np.square(means)
        return means[:, :, None], np.sqrt(variances)[:, :, None]

    def of_rows(self, values: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        means, y = self.means(values, X), np.asarray(y, dtype=float).ravel()
        if self.family == "binomial":
            n = self.sizes(X)
            if (y > n).any():
                k = int(np.flatnonzero(y > n)[0])
                raise ValueError(f"y must be at most the trials, got {y[k]:g} of {n[k]:g} in row {k}.")
            ways = gammaln(n + 1.0) - gammaln(y + 1.0) - gammaln(n - y + 1.0)
            return ways + xlogy(y, means) + xlog1py(n - y, -means)
        found = xlogy(y, means) - means - gammaln(y + 1.0)
        spread = self.spread(values)
        if (spread > 0).any():
            wide = spread > 0
            r, mean = 1.0 / spread[wide, None], means[wide]
            log_share = -np.log1p(mean / r)  # of r / (r + mean)
            ways = gammaln(y + r) - gammaln(r) - gammaln(y + 1.0)
            found[wide] = ways + r * log_share + xlogy(y, mean / r) + y * log_share
        return found

    def sample(self, values: np.ndarray, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return counts (n, m) of parameters (n, d) at settings X (m, f)."""
        means = self.means(values, X)
        if self.family == "binomial":
            return rng.binomial(self.sizes(X).astype(np.int64), means).astype(float)
        spread = np.broadcast_to(self.spread(values)[:, None], means.shape)
        wide = spread > 0
        rates = means.copy()
        rates[wide] = rng.gamma(1.0 / spread[wide], means[wide] * spread[wide])
        return rng.poisson(rates).astype(float)
