"""Priors of single weights: as potentials of a given scale, and how far weights may be believed to lie from zero."""

from __future__ import annotations

from adaptive.potentials import Gaussian, Laplace, StudentT

__all__ = ["PRIORS", "weight_potential", "weight_variance"]

PRIORS = ("gaussian", "laplace", "student_t")


def weight_potential(prior: str, scale: float, df: float) -> Gaussian | Laplace | StudentT:
    """Return the prior density of a weight; ``df`` is that of "student_t"."""
    if prior == "gaussian":
        return Gaussian(scale**2)
    return Laplace(scale) if prior == "laplace" else StudentT(df, scale)


def weight_variance(prior: str, scale: float, df: float) -> float:
    """Return the variance of a weight; a Student t with at most two degrees of freedom has none and counts as of three.

    Examples
    --------
    >>> weight_variance("laplace", 1.0, 3.0), *(weight_variance("student_t", 1.0, df) for df in (4.0, 1.0))
    (2.0, 2.0, 3.0)
    """
    if prior == "gaussian":
        return scale**2
    return 2 * scale**2 if prior == "laplace" else scale**2 * (df / (df - 2) if df > 2 else 3.0)
