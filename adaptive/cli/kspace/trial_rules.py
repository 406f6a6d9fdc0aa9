"""Designs that look at no data, as positions in a pool: what a chosen design is compared with.

Where not everything was acquired, what a rule asks for and is not there is replaced by the nearest that is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive.cli.kspace.trial import Trial
from designs import kspace

__all__ = ["EXPONENT", "names", "rules", "snapped"]

EXPONENT = 3.0  # of the densities; nothing is there to tune it on
_LINES = (
    "equispaced",
    "variable_density",
    "half_plane_variable_density",
    "half_plane_quantiles",
    "one_sided_low_pass",
    "low_pass",
)
_POINTS = ("poisson_disc", "variable_density", "uniform", "low_pass")
_SHOTS = ("equispaced_angles", "golden_angles", "random_angles")


def names(trajectory: str) -> tuple[str, ...]:
    """The rules for a kind of trajectory."""
    return {"lines": _LINES, "points": _POINTS}.get(trajectory, _SHOTS)


def rules(
    trial: Trial, rule: str, n: int, *, draws: int = 3, seed: int = 0, exponent: float = EXPONENT
) -> list[np.ndarray]:
    """The draws of one rule, one of a fixed one, each ``n`` positions with the first ones in front.

    Parameters
    ----------
    trial : Trial
    rule : str
        One of `names`.
    n : int
        In all.
    draws, seed : int
    exponent : float
        Of the density, or of what Poisson discs grow by.
    """
    if trial.trajectory == "lines":
        powers = dict.fromkeys(("variable_density", "half_plane_variable_density", "half_plane_quantiles"), exponent)
        side = trial.shape[trial.pool.axis]
        found = kspace.comparison_designs(side, n, len(trial.first), exponents=powers, n_draws=draws, random_state=seed)
        wanted = [lines[:, None] for lines in found[rule]]
        return [snapped(trial, one, n) for one in wanted]
    if trial.trajectory == "points":
        tuned = {"variable_density": exponent, "poisson_disc": exponent}
        encodes = kspace.comparison_encodes(
            trial.shape, n, len(trial.first), tuned=tuned, n_draws=draws, random_state=seed
        )
        return [snapped(trial, one, n) for one in encodes[rule]]
    return _angles(trial, rule, n, draws, seed)


def _angles(trial: Trial, rule: str, n: int, draws: int, seed: int) -> list[np.ndarray]:
    angles = np.array(trial.pool.names, dtype=float)
    period = np.pi if trial.trajectory == "spokes" else 2 * np.pi
    if rule == "random_angles":
        rng = np.random.default_rng(seed)
        return [np.sort(rng.choice(len(angles), n, replace=False)) for _ in range(draws)]
    wanted = getattr(kspace, rule)(n, period)
    around = np.exp(2j * np.pi / period * np.stack([angles])).T
    goal = np.exp(2j * np.pi / period * wanted)[:, None]
    return [_nearest(np.c_[around.real, around.imag], np.c_[goal.real, goal.imag], np.zeros(len(angles), bool), n)]


def snapped(trial: Trial, wanted: np.ndarray, n: int) -> np.ndarray:
    """The first positions, and of the pool those nearest to lines (m, 1) or points (m, 2) that are wanted."""
    there = trial.pool.lines[:, None] if trial.trajectory == "lines" else trial.pool.encodes
    taken = np.zeros(len(there), bool)
    taken[trial.first] = True
    middle = np.array([side // 2 for side in trial.shape]) if there.shape[1] == 2 else trial.shape[trial.pool.axis] // 2
    inside = {tuple(one) for one in there[trial.first].tolist()}
    outer = np.array([one for one in wanted.tolist() if tuple(one) not in inside]).reshape(-1, there.shape[1])
    order = np.argsort(np.linalg.norm(outer - middle, axis=1), kind="stable")
    return np.concatenate([trial.first, _nearest(there, outer[order], taken, n - len(trial.first))])


def _nearest(there: np.ndarray, wanted: np.ndarray, taken: np.ndarray, n: int) -> np.ndarray:
    """For each that is wanted the nearest that is free, until there are ``n``; the first of equals."""
    free, chosen = ~taken, []
    for one in wanted[:n]:
        distance: Any = np.where(free, np.sum((there - one) ** 2, axis=1), np.inf)
        chosen.append(int(np.argmin(distance)))
        free[chosen[-1]] = False
    return np.array(chosen, int)
