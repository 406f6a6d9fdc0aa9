"""Figure 5.1 of Nickisch (2010): two unknowns, one noisy measurement; where the mode lies and where the mean.

The posterior under independent Laplace priors is integrated on a grid (Simpson's rule, the axes among its lines). The
mode, from `laplace_mode`, has one unknown exactly zero for all measurements but those along a diagonal; the mean, near
which expectation propagation ends, has both different from zero. No random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import simpson

from adaptive.inference import GLM, expectation_propagation
from adaptive.inference.classic import laplace_mode
from adaptive.plots import PALETTE
from adaptive.potentials import Laplace
from experiments.script import Script, command, panels

RATE, NOISE_VARIANCE, OUTCOME = 1.5, 0.05, 1.0
ANGLES = (65.0, 50.0, 15.0)  # degrees, of the measured direction to the first axis
WIDTH = 8.0  # half the side of the square integrated over, in which all but 1e-4 of the prior lies


@dataclass(frozen=True)
class Belief:
    """One measurement: density on the grid, and three points."""

    density: np.ndarray
    mode: np.ndarray
    mean: np.ndarray
    ep: np.ndarray


def believe(angle: float, grid: np.ndarray) -> Belief:
    """Integrate the posterior after measuring along ``angle``, and find its mode."""
    row = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))])
    first, second = np.meshgrid(grid, grid, indexing="ij")
    gap = OUTCOME - row[0] * first - row[1] * second
    density = np.exp(-(gap**2) / (2 * NOISE_VARIANCE) - RATE * (np.abs(first) + np.abs(second)))
    mass = _integral(density, grid)
    mean = np.array([_integral(density * u, grid) for u in (first, second)]) / mass
    model = GLM(row[None], [OUTCOME], NOISE_VARIANCE, potentials=Laplace(1 / RATE))
    mode = laplace_mode(model, tol=1e-10).mean
    return Belief(density / mass, mode, mean, expectation_propagation(model, tol=1e-9).mean)


def _integral(values: np.ndarray, grid: np.ndarray) -> float:
    """Over the square, split at the axes, where the density has kinks."""
    middle = len(grid) // 2
    for _ in range(2):
        halves = (slice(None, middle + 1), slice(middle, None))
        values = np.sum([simpson(values[half], x=grid[half], axis=0) for half in halves], axis=0)
    return float(values)


def run(script: Script) -> None:
    """Integrate for three directions, draw the posteriors and judge the figure."""
    grid = np.linspace(-WIDTH, WIDTH, 801 if script.quick else 3201)
    coarse = grid[::2]
    figure, (axes,) = panels(1, len(ANGLES), 10.0, 3.9)
    found, holds = {}, True
    for axis, angle in zip(axes, ANGLES, strict=True):
        belief, check = believe(angle, grid), believe(angle, coarse)
        _draw(axis, belief, grid, angle)
        on_axis = int(np.sum(np.abs(belief.mode) < 1e-8)) == 1
        off_axis = float(np.min(np.abs(belief.mean)))
        error = float(np.abs(belief.mean - check.mean).max())
        found[f"{angle:g} degrees"] = {
            "mode": (belief.mode.round(4) + 0.0).tolist(),
            "mean": belief.mean.round(4).tolist(),
            "mean by expectation propagation": belief.ep.round(4).tolist(),
            "error of the quadrature": float(f"{error:.1e}"),
        }
        holds &= on_axis and off_axis > 0.02 and error < 1e-4
    axes[0].set_ylabel("second unknown")
    axes[0].legend(loc="lower left", frameon=False)
    script.figure(
        figure,
        "nickisch-fig-5.1",
        "Posterior of two unknowns with Laplace priors (rate 1.5) after one measurement (dashed: where it is met "
        "exactly; noise variance 0.05) in three directions: the mode lies on an axis, the mean does not.",
    )
    script.judge(
        "nickisch-fig-5.1",
        holds,
        claim="Two unknowns, one measurement: MAP lies on an axis, the posterior mean does not.",
        target="exactly one unknown of the mode is zero (to 1e-8), no unknown of the mean is below 0.02 in modulus "
        "(quadrature, error below 1e-4)",
        value=found,
    )


def _draw(axis: Any, belief: Belief, grid: np.ndarray, angle: float) -> None:
    near = np.abs(grid) <= 2.2
    shown = belief.density[np.ix_(near, near)].T
    axis.contour(
        grid[near], grid[near], shown, levels=shown.max() * np.exp(-np.arange(5.0, 0.2, -0.75)), colors="#888888",
        linewidths=0.8,
    )  # fmt: skip
    direction = np.deg2rad(angle)
    along = np.array([-4.0, 4.0])
    x, y = (
        OUTCOME * np.cos(direction) - along * np.sin(direction),
        OUTCOME * np.sin(direction) + along * np.cos(direction),
    )
    axis.plot(x, y, color="#555555", linestyle="--", linewidth=1.0)
    axis.axhline(0, color="black", linewidth=0.8)
    axis.axvline(0, color="black", linewidth=0.8)
    points = {"mode": (belief.mode, PALETTE[1], "s"), "mean": (belief.mean, PALETTE[0], "o"),
              "mean by EP": (belief.ep, "black", "x")}  # fmt: skip
    for label, (point, colour, marker) in points.items():
        axis.plot(*point, marker, color=colour, label=label, markersize=7)
    axis.set(
        xlim=(-1.2, 2.0), ylim=(-1.2, 2.0), xlabel="first unknown", title=f"measured at {angle:g}°", aspect="equal"
    )


if __name__ == "__main__":
    command(run, __doc__, __file__)
