"""Moments of the rectified Poisson factor: where the recursion and generic quadrature succeed, and what they cost.

Counts y of 0 to 10,000 at Gaussians with the mean y, as in the source, and with minus one and minus three standard
deviations; variances of 1e-8 to 1e6. Quadrature is `scipy.integrate.quad` over the half-line, as a user would call it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.special import gammaln

from adaptive.plots import PALETTE
from adaptive.potentials import Poisson
from experiments.benchmarks.cpu_seconds import least_seconds
from experiments.script import Script, command, panels

COUNTS = (0, 1, 2, 5, 10, 30, 100, 300, 1000, 3000, 10_000)
VARIANCES = 10.0 ** np.arange(-8, 7)
SOUND = 1e-3  # relative: where two ways agree


def generic(y: float, mean: float, variance: float) -> tuple[float, float]:
    """log of the mass and the tilted mean on the half-line, by adaptive quadrature of the product itself."""

    def product(f: float, power: int) -> float:
        return f**power * np.exp(y * np.log(f) - f - gammaln(y + 1) - 0.5 * (f - mean) ** 2 / variance)

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        mass, first = (quad(product, 0.0, np.inf, args=(power,))[0] for power in (0, 1))
        return float(np.log(mass) - 0.5 * np.log(2 * np.pi * variance)), float(np.divide(first, mass))


def maps() -> dict[str, Any]:
    """Whether both ways give sound moments, for mean y, and means below zero."""
    found: dict[str, Any] = {}
    for place in ("mean y", "mean -1 sd", "mean -3 sd"):
        ours, theirs = np.zeros((len(COUNTS), len(VARIANCES)), bool), np.zeros((len(COUNTS), len(VARIANCES)), bool)
        for i, y in enumerate(COUNTS):
            for j, variance in enumerate(VARIANCES):
                mean = float(y) if place == "mean y" else -float(place.split()[1][1]) * np.sqrt(variance)
                log_z, m, v = (float(part[0]) for part in Poisson([float(y)], "rectified").tilted_moments(
                    np.array([mean]), np.array([variance])))  # fmt: skip
                lowest = 0.0 if y else -np.inf
                ours[i, j] = bool(np.isfinite([log_z, m, v]).all() and m >= lowest and 0 < v <= variance * (1 + 1e-9))
                if y:
                    with np.errstate(all="ignore"):
                        other = generic(float(y), mean, variance)
                    theirs[i, j] = bool(
                        abs(other[0] - log_z) < SOUND * (1 + abs(log_z)) and abs(other[1] / m - 1) < SOUND
                    )
                else:
                    theirs[i, j] = True
        found[f"recursion, {place}"], found[f"quadrature, {place}"] = ours, theirs
    return found


def seconds(y: int, n: int) -> float:
    """Of one update, in a batch of n, the best of five; for counts the recursion walks down and up."""
    mean, variance = np.full(n, float(y)), np.full(n, 1.0 + y)
    factor = Poisson(np.full(n, float(y)), "rectified")
    factor.tilted_moments(mean, variance)
    return least_seconds(lambda: factor.tilted_moments(mean, variance), 5) / n


def run(script: Script) -> None:
    """The map and the line."""
    found = maps()
    sizes = (100, 1000, 10_000)
    times = {y: seconds(y, 20 if script.quick else 2000) for y in sizes}
    share = {name: round(float(table.mean()), 3) for name, table in found.items()}
    large = found["quadrature, mean y"][[y >= 100 for y in COUNTS]]
    small = found["quadrature, mean y"][[0 < y < 100 for y in COUNTS]]
    growth = times[10_000] / times[1000]
    script.judge(
        "ko-fig-2.5",
        all(found[name].all() for name in found if name.startswith("recursion")) and large.mean() < small.mean() < 1.0
        and (script.quick or 5.0 < growth < 15.0),
        claim="Quadrature fails beyond counts near 100 and at small variances; the recursion is linear in the count.",
        target="the recursion sound everywhere, also of negative means; quadrature less often sound from 100 on; ten "
        "times the count takes 5 to 15 times as long",
        value={"sound": share, "quadrature, counts below 100 / from 100": [round(float(small.mean()), 3),
               round(float(large.mean()), 3)], "microseconds": {y: round(1e6 * t, 2) for y, t in times.items()}},
        reason="Negative means need the recursion from above (ours): the source's, from below, gives garbage there.",
    )  # fmt: skip
    figure, axes = panels(1, 3, 9.0, 3.2)
    for ax, name in zip(axes[0], ("quadrature, mean y", "recursion, mean y", "recursion, mean -3 sd"), strict=True):
        ax.pcolormesh(np.log10(VARIANCES), np.arange(len(COUNTS)), found[name], cmap="gray", vmin=0, vmax=1,
                      edgecolors=PALETTE[0], linewidth=0.2)  # fmt: skip
        ax.set_yticks(range(len(COUNTS)), COUNTS, fontsize=7)
        ax.set(title=name, xlabel="log10 variance")
    axes[0, 0].set_ylabel("count")
    script.figure(figure, "counts-moments", "White: sound moments of an update, by count and variance.")


if __name__ == "__main__":
    command(run, __doc__, __file__)
