"""Optimal designs without a list of candidates: change one factor of one run at a time, to its best level.

Candidates of many factors are too many to list; coordinate exchange tries, for every run and every factor, all levels
of that factor while the others stay, and repeats until nothing improves.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.checks import finite, generator, integer, shape
from designs.optimal.certified import certified, efficiency_of
from designs.optimal.exchange import GAIN
from designs.optimal.problem import Model, OptimalDesign

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState
    from designs.optimal.criteria import Criterion

__all__ = ["coordinate_exchange"]

LARGEST_REGION = 10_000  # settings that stand for the region: all of them, or so many drawn at random


def coordinate_exchange(
    levels: Sequence[ArrayLike],
    n_runs: int,
    expand: Callable[[np.ndarray], np.ndarray],
    criterion: str | float = "D",
    *,
    prior_precision: ArrayLike | None = None,
    points: ArrayLike | None = None,
    include: ArrayLike | None = None,
    feasible: Callable[[np.ndarray], np.ndarray] | None = None,
    blocks: Sequence[int] | None = None,
    n_starts: int = 10,
    max_iter: int = 100,
    random_state: RandomState = None,
) -> OptimalDesign:
    """Choose factor settings of a linear experiment.

    Parameters
    ----------
    levels : list of k arrays, each (levels,)
        The levels that each factor may take.
    n_runs : int
        Number of runs.
    expand : callable
        From settings (m, k) to model rows (m, d): constant, main effects, interactions, squares, ...
    criterion, prior_precision, points, blocks, n_starts, max_iter, random_state
        As in ``optimal_design``; "I" averages over all settings (or 10,000 drawn from them), ``points`` are model rows.
    include : array-like (m, k), optional
        Settings that must be run.
    feasible : callable, optional
        From settings (m, k) to booleans (m,): which may be run, each by itself (linear constraints, for example).

    Returns
    -------
    OptimalDesign
        With ``points``, the settings (n_runs, k), instead of positions; the efficiency refers to the same settings that
        stand for the region, and is None where they are only a sample.

    Raises
    ------
    ValueError
        If a factor has no level, more settings are included than there are runs, or none is feasible.

    References
    ----------
    Meyer and Nachtsheim (1995), The coordinate-exchange algorithm for constructing exact optimal experimental designs,
    Technometrics 37.

    Examples
    --------
    >>> def main_effects(x):
    ...     return np.column_stack([np.ones(len(x)), x])
    >>> design = coordinate_exchange([[-1, 1]] * 3, 4, main_effects, random_state=0)
    >>> design.information.round(12) + 0.0  # a half fraction of the 2^3 factorial
    array([[4., 0., 0., 0.],
           [0., 4., 0., 0.],
           [0., 0., 4., 0.],
           [0., 0., 0., 4.]])
    """
    factors = [finite(f"levels[{k}]", level) for k, level in enumerate(levels)]
    if not factors or any(level.ndim != 1 or not level.size for level in factors):
        raise ValueError("levels must be a list with, for every factor, a list of one or more levels.")
    rng = generator(random_state)
    region, complete = _region(factors, rng)
    if feasible is not None:
        region = region[_mask(feasible, region)]
        if not len(region):
            raise ValueError("feasible admits none of the settings.")
    rows = finite("what expand returns", expand(region))
    shape("what expand returns", rows, (len(region), None))
    constant = bool(np.allclose(rows @ np.linalg.lstsq(rows, np.ones(len(rows)), rcond=None)[0], 1.0, atol=1e-8))
    model = Model(rows.shape[1], n_runs, prior_precision, blocks, constant)
    measure, name = model.criterion(criterion, rows, points)
    fixed = np.empty((0, len(factors))) if include is None else finite("include", include)
    shape("include", fixed, (None, len(factors)))
    if len(fixed) > model.n_runs:
        raise ValueError(f"include must hold at most n_runs = {n_runs} settings, got {len(fixed)}.")
    size = np.concatenate([np.ones(model.nuisance), np.mean(rows**2, axis=0)])
    ridge = np.diag(1e-8 * np.maximum(size, 1e-12 * size.max()))

    best: tuple[float, np.ndarray, int, bool] | None = None
    for _ in range(integer("n_starts", n_starts, minimum=1)):
        start = np.concatenate([fixed, region[rng.integers(0, len(region), model.n_runs - len(fixed))]])
        exchanges = 0
        for stage in measure.stages():
            value, n, converged = _improve(start, factors, expand, feasible, model, stage, ridge, len(fixed), max_iter)
            exchanges += n
        if best is None or value < best[0] * (1 - GAIN):
            best = value, start, exchanges, converged
    assert best is not None
    _, settings, n_exchanges, converged = best
    information = model.information(expand(settings))
    model.check_rank(information)
    design = model.design(expand(settings))
    value = measure.value(design.T @ design + model.prior)
    if not converged:
        message = f"the exchanges were stopped after max_iter = {max_iter} sweeps; the design may still improve."
        warnings.warn(message, ConvergenceWarning, stacklevel=2)
    efficiency, certificate = None, None
    if complete:
        everywhere = np.concatenate([region, fixed])  # what is included need not be feasible, nor one of the levels
        there = finite("what expand returns", expand(everywhere))
        chosen, most = _places(everywhere, settings), np.full(len(there), model.n_runs)
        efficiency = efficiency_of(there, most, model, chosen, name, points if name == "V" else rows, value)
        certificate = certified(there, most, model, chosen, name, efficiency)
    return OptimalDesign(
        None, settings, model.labels, name, value, efficiency, information, n_exchanges, converged, certificate
    )


def _improve(
    settings: np.ndarray,
    factors: list[np.ndarray],
    expand: Callable[[np.ndarray], np.ndarray],
    feasible: Callable[[np.ndarray], np.ndarray] | None,
    model: Model,
    measure: Criterion,
    ridge: np.ndarray,
    n_fixed: int,
    max_iter: int,
) -> tuple[float, int, bool]:
    """Exchange the rows of ``settings`` in place; value, number of exchanges, whether nothing improves any more."""
    n_exchanges, converged = 0, False
    design = np.array(model.design(expand(settings)))  # its own: expand may return a view of the settings
    information = design.T @ design + model.prior + ridge
    for _ in range(integer("max_iter", max_iter, minimum=0)):
        before = n_exchanges
        for run, factor in itertools.product(range(n_fixed, len(settings)), range(len(factors))):
            trial = np.repeat(settings[[run]], len(factors[factor]), axis=0)
            trial[:, factor] = factors[factor]
            if feasible is not None:
                trial = trial[_mask(feasible, trial)]
            rows = model.rows(expand(trial), model.labels[run])
            values = measure.swapped(information, np.linalg.inv(information), design[run], rows)
            if len(values) and values.min() < measure.value(information) * (1 - GAIN):
                best = values.argmin()
                settings[run], design[run] = trial[best], rows[best]
                information = design.T @ design + model.prior + ridge
                n_exchanges += 1
        converged = n_exchanges == before
        if converged:
            break
    return measure.value(information), n_exchanges, converged


def _region(factors: list[np.ndarray], rng: np.random.Generator) -> tuple[np.ndarray, bool]:
    """All settings, or a sample of them; and whether they are all."""
    count = 1
    for level in factors:
        count *= len(level)
    if count <= LARGEST_REGION:
        return np.array(list(itertools.product(*factors))), True
    return np.column_stack([rng.choice(level, LARGEST_REGION) for level in factors]), False


def _places(region: np.ndarray, settings: np.ndarray) -> np.ndarray:
    """Positions of settings in the region."""
    places = {tuple(row): k for k, row in enumerate(region.tolist())}
    return np.array([places[tuple(row)] for row in settings.tolist()], dtype=np.intp)


def _mask(feasible: Callable[[np.ndarray], np.ndarray], settings: np.ndarray) -> np.ndarray:
    mask = np.asarray(feasible(settings))
    if mask.shape != (len(settings),) or mask.dtype != bool:
        raise ValueError(
            f"feasible must return {len(settings)} booleans, one per setting, got {mask.dtype} {mask.shape}."
        )
    return mask
