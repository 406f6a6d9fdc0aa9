"""A move of many chains at once that leaves exp(-|w|^2 / 2 + tau r(w)) unchanged, for an r that has a gradient."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["hamiltonian"]

Slope = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
_LONGEST = 50  # leapfrog steps of one trajectory


def hamiltonian(
    w: np.ndarray, slope: Slope, temperature: float, step: float, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """One trajectory of a quarter of a turn per chain, accepted or refused.

    Parameters
    ----------
    w : (chains, n)
    slope : callable
        w -> r (chains,), and its gradient (chains, n).
    temperature : float
        tau.
    step : float
        Of the leapfrog integrator; each call varies it by a fifth.
    rng : Generator

    Returns
    -------
    w : (chains, n)
    accepted : float
        Share of the chains.

    References
    ----------
    Neal (2011), MCMC using Hamiltonian dynamics.
    """
    length = step * rng.uniform(0.8, 1.2)
    n_steps = min(_LONGEST, int(np.ceil(np.pi / (2 * step))))
    momentum = rng.standard_normal(w.shape)
    r, gradient = slope(w)
    energy = 0.5 * np.einsum("ij,ij->i", w, w) - temperature * r + 0.5 * np.einsum("ij,ij->i", momentum, momentum)
    position = w
    with np.errstate(over="ignore", invalid="ignore"):
        momentum = momentum + 0.5 * length * (temperature * gradient - position)
        for k in range(n_steps):
            position = position + length * momentum
            r, gradient = slope(position)
            last = 0.5 if k == n_steps - 1 else 1.0
            momentum = momentum + last * length * (temperature * gradient - position)
        after = 0.5 * np.einsum("ij,ij->i", position, position) - temperature * r
        after = after + 0.5 * np.einsum("ij,ij->i", momentum, momentum)
        accept = np.log(rng.uniform(size=len(w))) < np.nan_to_num(energy - after, nan=-np.inf)
    return np.where(accept[:, None], position, w), float(accept.mean())
