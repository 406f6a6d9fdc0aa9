"""Figure 3.1 of Nickisch (2010): eight potentials as Gaussian scale mixtures, T(s) = integral of N(s | 0, g) P(g) dg.

The mixing densities P are written down from their formulas and integrated numerically (trapezoids in ln g, which
converge geometrically); the result is compared with the potential's own closed form, relative to it, for |s| from 0.01
to 10. No random numbers. Run by ``gallery.py``.

References
----------
Andrews and Mallows (1974), Scale mixtures of normal distributions: the logistic. West (1987), On scale mixtures of
normal distributions: the exponential power family, by Kanter's integral for positive stable densities.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from adaptive.plots import PALETTE
from adaptive.potentials import ExponentialPower, Gaussian, Laplace, Logistic, StudentT
from experiments.script import Script, panels

POWER, DF, SHAPE, TAIL = 1.5, 3.0, 1.5, 1.0  # of the generalised Gaussian, Student t, variance gamma, NIG
WEIGHTS, WIDTHS = np.array([0.7, 0.3]), np.array([0.15, 2.5])  # of the finite mixture


@dataclass(frozen=True)
class Mixture:
    """A potential (its logarithm), and the logarithm of its mixing density; ``widths`` of a discrete one instead."""

    name: str
    mixing: str
    log_potential: Callable[[np.ndarray], Any]
    log_mixing: Callable[[np.ndarray], Any] | None = None


def exponential(g: np.ndarray) -> Any:
    """Of Laplace with scale 1: rate 1/2."""
    return np.log(0.5) - 0.5 * g


def inverse_gamma(g: np.ndarray) -> Any:
    """Of Student t with DF degrees of freedom and scale 1: shape DF/2, scale DF/2."""
    return stats.invgamma.logpdf(g, DF / 2, scale=DF / 2)


def alternating_series(g: np.ndarray) -> np.ndarray:
    """Sum of (-1)^(k+1) k^2 exp(-k^2 g/2), of the logistic density of scale 1; by Jacobi's identity where g is small.

    The identity: the integral up to g is sqrt(8 pi / g) times the sum over odd k of exp(-k^2 pi^2 / (2 g)).
    """
    k = np.arange(1, 40)[:, None]
    series = np.sum((-1.0) ** (k + 1) * k**2 * np.exp(-(k**2) * g / 2), axis=0)
    rate = ((2 * k - 1) * np.pi) ** 2 / 2
    exponent = -rate / g
    dual = np.sum(np.exp(exponent) * (rate / g - 0.5), axis=0) * np.sqrt(8 * np.pi) * g**-1.5
    with np.errstate(divide="ignore"):
        return np.log(np.where(g > 2.0, series, dual))


def positive_stable(g: np.ndarray) -> np.ndarray:
    """Of exp(-|s|^POWER), normalised: 1/(2g) is positive stable of index POWER/2, times sqrt(g) and a constant.

    exp(-s^POWER) = integral of exp(-s^2 w) f(w) dw with f stable of index a = POWER/2 (its Laplace transform), by
    Kanter: f(w) = a/(1-a) w^(-1/(1-a)) times the mean over (0, pi) of A exp(-A w^(-a/(1-a))).
    """
    a = POWER / 2
    nodes, weights = special.roots_legendre(1000)
    u, weights = np.pi * (nodes + 1) / 2, weights / 2
    log_kernel = (a * np.log(np.sin(a * u)) + (1 - a) * np.log(np.sin((1 - a) * u)) - np.log(np.sin(u))) / (1 - a)
    log_w = -np.log(2 * g)
    exponent = log_kernel[:, None] - np.exp(log_kernel[:, None] - a / (1 - a) * log_w)
    log_stable = np.log(a / (1 - a)) - log_w / (1 - a) + special.logsumexp(exponent, b=weights[:, None], axis=0)
    normaliser = np.log(POWER / (2 * special.gamma(1 / POWER)))
    return normaliser + log_stable + 0.5 * np.log(2 * np.pi * g) - np.log(2) - 2 * np.log(g)


def jeffreys(g: np.ndarray) -> np.ndarray:
    """1/g, improper as the potential 1/|s| is."""
    return -np.log(g)


def inverse_gaussian(g: np.ndarray) -> np.ndarray:
    """Of the normal-inverse Gaussian with tail TAIL and scale 1."""
    return -0.5 * np.log(2 * np.pi) - 1.5 * np.log(g) + TAIL - 0.5 * (1 / g + TAIL**2 * g)


def normal_inverse_gaussian(s: np.ndarray) -> Any:
    """SciPy's closed form."""
    return stats.norminvgauss.logpdf(s, TAIL, 0.0)


def gamma(g: np.ndarray) -> Any:
    """Of variance gamma: shape SHAPE, scale 1."""
    return stats.gamma.logpdf(g, SHAPE)


def variance_gamma(s: np.ndarray) -> Any:
    """Bessel's closed form."""
    x = np.sqrt(2) * np.abs(s)
    order = SHAPE - 0.5
    constant = np.log(2 / np.sqrt(2 * np.pi)) - special.gammaln(SHAPE)
    return constant + order * np.log(x / 2) + np.log(special.kve(order, x)) - x


def finite_mixture(s: np.ndarray) -> Any:
    """The two Gaussians by the library's own potential."""
    each = np.stack([Gaussian(width).log_density(s) for width in WIDTHS])
    return special.logsumexp(each, b=WEIGHTS[:, None], axis=0)


EIGHT = (
    Mixture("Laplace", "exponential", Laplace(1.0).log_density, exponential),
    Mixture(f"Student t ({DF:g} d.f.)", "inverse gamma", StudentT(DF, 1.0).log_density, inverse_gamma),
    Mixture("logistic", "alternating series", Logistic(1.0).log_density, alternating_series),
    Mixture(f"exp(-|s|^{POWER:g})", "positive stable", ExponentialPower(POWER, 1.0).log_density, positive_stable),
    Mixture("Jeffreys, 1/|s|", "1/γ (improper)", lambda s: -np.log(np.abs(s)), jeffreys),
    Mixture("normal-inverse Gauss", "inverse Gaussian", normal_inverse_gaussian, inverse_gaussian),
    Mixture("variance gamma", "gamma", variance_gamma, gamma),
    Mixture("mixture of two", "two atoms", finite_mixture),
)  # fmt: skip


def integrate(mixture: Mixture, s: np.ndarray, n_nodes: int) -> np.ndarray:
    """Return ln of the integral of N(s | 0, g) P(g) dg."""
    if mixture.log_mixing is None:
        log_g, log_p, step = np.log(WIDTHS), np.log(WEIGHTS), 1.0
    else:
        log_g = np.linspace(-25, 60, n_nodes)
        step = log_g[1] - log_g[0]
        log_p = mixture.log_mixing(np.exp(log_g)) + log_g  # the density of ln g
    g = np.exp(log_g)[:, None]
    log_normal = -0.5 * np.log(2 * np.pi * g) - s**2 / (2 * g)
    return special.logsumexp(log_normal + log_p[:, None], axis=0) + np.log(step)


def run(script: Script) -> None:
    """Check the eight integrals, draw potentials and mixing densities."""
    figure, axes = panels(4, 4, 10.0, 9.0)
    grid = np.linspace(-5, 5, 400)  # even: leaves 0 out, where 1/|s| is infinite
    widths = np.geomspace(1e-2, 30, 400)
    s = np.geomspace(0.01, 10, 40)
    errors = {}
    for k, mixture in enumerate(EIGHT):
        ratio = integrate(mixture, s, 2001 if script.quick else 8001) - mixture.log_potential(s)
        errors[mixture.name] = float(np.abs(np.expm1(ratio)).max())
        above, below = axes[2 * (k // 4), k % 4], axes[2 * (k // 4) + 1, k % 4]
        above.plot(grid, np.exp(mixture.log_potential(grid)), color=PALETTE[0], linewidth=1.7)
        above.set(title=mixture.name, xlabel="projection s", ylim=(0, 1.5 if "Jeffreys" in mixture.name else None))
        if mixture.log_mixing is None:
            below.vlines(WIDTHS, 0, WEIGHTS, color=PALETTE[1], linewidth=2.5)
            below.set(ylim=(0, 1), xlim=(7e-3, 45))
        else:
            below.plot(widths, np.exp(mixture.log_mixing(widths)), color=PALETTE[1], linewidth=1.7)
            below.set(ylim=(0, 3.0 if "Jeffreys" in mixture.name else None))
        below.set(title=mixture.mixing, xlabel="width γ", xscale="log")
    for row in range(4):
        axes[row, 0].set_ylabel("T(s)" if row % 2 == 0 else "P(γ)")
    axes[3, 3].set_ylabel("weight")
    script.figure(
        figure,
        "nickisch-fig-3.1",
        "Eight Gaussian scale mixtures (blue) and, below each, the density of the Gaussian's width γ (orange) that "
        "makes it.",
    )
    script.judge(
        "nickisch-fig-3.1",
        max(errors.values()) < 1e-8,
        claim="Laplace, Student t, logistic, generalised Gaussian, Jeffreys, NIG, variance gamma and finite mixture "
        "are integrals over Gaussian widths.",
        target="largest relative error of the integral for 0.01 <= |s| <= 10 below 1e-8",
        value=errors,
    )
