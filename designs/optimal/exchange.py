"""Exact optimal designs by exchange: leave out one run, put in the candidate that improves the criterion most, repeat.

Fedorov's algorithm makes the best of all n_runs x N exchanges at a time; the modified one (default) goes through the
runs and makes the best exchange of each. Information and covariance follow by updates of rank two. Exchanges end in a
design that no single exchange improves, hence several random starts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from adaptive.checks import choice, finite, generator, integer
from designs.optimal.certified import certified, efficiency_of
from designs.optimal.constraints import Constraints
from designs.optimal.criteria import Criterion
from designs.optimal.problem import Model, OptimalDesign

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, RandomState

__all__ = ["optimal_design"]

GAIN = 1e-9  # relative improvement below which an exchange is rounding


def optimal_design(
    candidates: ArrayLike,
    n_runs: int,
    criterion: str | float = "D",
    *,
    prior_precision: ArrayLike | None = None,
    points: ArrayLike | None = None,
    max_replicates: ArrayLike | None = None,
    include: ArrayLike = (),
    allowed: ArrayLike | None = None,
    forbidden: Iterable[tuple[int, int]] = (),
    limits: tuple[ArrayLike, ArrayLike] | None = None,
    feasible: Callable[[np.ndarray], bool] | None = None,
    blocks: Sequence[int] | None = None,
    method: str = "modified",
    n_starts: int = 10,
    max_iter: int = 100,
    random_state: RandomState = None,
) -> OptimalDesign:
    """Choose the runs of a linear experiment among candidates.

    Parameters
    ----------
    candidates : array-like (N, d)
        Model rows: what each candidate measures of the d unknowns (with a constant column for an intercept).
    n_runs : int
        Number of runs; at least d without a prior.
    criterion : {"D", "A", "E", "I", "V"} or float, default "D"
        Determinant, mean variance, worst direction, mean prediction variance over the candidates, or over ``points``;
        a number is the power p of Kiefer's phi_p.
    prior_precision : float, array (d,) or (d, d), optional
        Of the unknowns, in units of the noise variance (Bayesian designs): precision times noise variance.
    points : array-like (k, d), optional
        Rows whose prediction variances are averaged, for criterion "V".
    max_replicates : int or array (N,), optional
        How often a candidate may be run; default as often as there are runs.
    include : list of int, optional
        Positions that must be run.
    allowed : array of bool (N,), optional
        Candidates that may be run.
    forbidden : list of pairs of int, optional
        Positions that may not be run together; (i, i) forbids replicates of i.
    limits : pair of arrays (k, N), (k,), optional
        Amounts >= 0 that each candidate uses up, and the most that all runs together may.
    feasible : callable, optional
        Of the sorted positions of a complete design: whether it is admitted.
    blocks : list of int, optional
        Sizes of blocks, whose unknown effects are taken out.
    method : {"modified", "fedorov"}, default "modified"
        Best exchange of each run in turn, or best exchange of all.
    n_starts : int, default 10
        Random starts; the best result is returned.
    max_iter : int, default 100
        Sweeps through the runs (or single exchanges) of one start.
    random_state : None, int or Generator
        Seed of the starts.

    Returns
    -------
    OptimalDesign
        Positions, value, efficiency, information.

    Raises
    ------
    ValueError
        Where the design would be singular, or the constraints leave none.

    References
    ----------
    Fedorov (1972), Theory of optimal experiments. Cook and Nachtsheim (1980), A comparison of algorithms for
    constructing exact D-optimal designs, Technometrics 22. DuMouchel and Jones (1994), A simple Bayesian modification
    of D-optimal designs, Technometrics 36.

    Examples
    --------
    >>> line = np.column_stack([np.ones(5), np.linspace(-1, 1, 5)])
    >>> design = optimal_design(line, 4, random_state=0)
    >>> design.positions, round(design.value, 12), round(design.efficiency, 3)
    (array([0, 0, 4, 4]), 0.25, 1.0)
    >>> design = optimal_design(line, 1, prior_precision=0.1, random_state=0)  # fewer runs than unknowns
    >>> design.positions
    array([0])
    """
    rows = finite("candidates", candidates)
    if rows.ndim != 2 or not rows.size:
        raise ValueError(f"candidates must be a table of model rows (N, d), got shape {rows.shape}.")
    model = Model(rows.shape[1], n_runs, prior_precision, blocks, constant=_spans_constant(rows))
    measure, name = model.criterion(criterion, rows, points)
    rules = Constraints(
        len(rows),
        model.n_runs,
        max_replicates=max_replicates,
        include=include,
        allowed=allowed,
        forbidden=forbidden,
        limits=limits,
        feasible=feasible,
    )
    choice("method", method, ("modified", "fedorov"))
    rng = generator(random_state)
    best: _Search | None = None
    for _ in range(integer("n_starts", n_starts, minimum=1)):
        search = _Search(rows, model, measure, rules, rules.random_start(rng))
        for stage in measure.stages():
            search.run(stage, method == "fedorov", integer("max_iter", max_iter, minimum=0))
        if best is None or search.better_than(best):
            best = search
    assert best is not None
    order = np.lexsort((best.positions, model.labels))
    positions = best.positions[order]
    information = model.information(rows[positions])
    model.check_rank(information)
    design = model.design(rows[positions])
    value = measure.value(design.T @ design + model.prior)
    if not best.converged:
        message = f"the exchanges were stopped after max_iter = {max_iter} sweeps; the design may still improve."
        warnings.warn(message, ConvergenceWarning, stacklevel=2)
    efficiency = efficiency_of(rows, rules.most, model, positions, name, points if name == "V" else rows, value)
    return OptimalDesign(
        positions,
        None,
        model.labels[order],
        name,
        value,
        efficiency,
        information,
        best.n_exchanges,
        best.converged,
        certified(rows, rules.most, model, positions, name, efficiency),
    )


class _Search:
    """One start: positions, information and covariance, and the exchanges made so far."""

    def __init__(self, rows: np.ndarray, model: Model, measure: Criterion, rules: Constraints, positions: np.ndarray):
        self.rows, self.model, self.measure, self.rules = rows, model, measure, rules
        self.positions = positions
        self.n_exchanges, self.converged, self.value = 0, False, np.inf
        # A little prior keeps a singular start apart from a worse one; it goes as soon as the data suffice.
        size = np.concatenate([np.ones(model.nuisance), np.mean(rows**2, axis=0)])
        self.ridge = np.diag(1e-6 * np.maximum(size, size.max() * 1e-12))
        self.information = self.covariance = self.ridge  # set by the next line
        self._refresh()

    def run(self, measure: Criterion, fedorov: bool, max_iter: int) -> None:
        self.measure, self.converged = measure, False
        self._refresh()
        movable = range(len(self.rules.include), self.model.n_runs)
        for _ in range(max_iter):
            before = self.n_exchanges
            if fedorov:
                proposals = [(*self._best_exchange(run), run) for run in movable]
                proposals.sort(key=lambda proposal: proposal[0])
                for value, candidate, run in proposals[:1]:
                    self._exchange(run, candidate, value)
            else:
                for run in movable:
                    value, candidate = self._best_exchange(run)
                    self._exchange(run, candidate, value)
            if self.model.nuisance:
                self._interchange_blocks()
            self._refresh()
            if self.n_exchanges == before:
                self.converged = True
                return

    def better_than(self, other: _Search) -> bool:
        """Lower value; among equals the lower positions, so that ties do not depend on the seed alone."""
        if abs(self.value - other.value) > GAIN * other.value:
            return self.value < other.value
        return sorted(self.positions.tolist()) < sorted(other.positions.tolist())

    def _best_exchange(self, run: int) -> tuple[float, int]:
        """Lowest value that a candidate in the place of a run gives, and which; infinite where none is admitted."""
        block = self.model.labels[run]
        choices = np.flatnonzero(self.rules.candidates(np.delete(self.positions, run)))
        out = self.model.rows(self.rows[[self.positions[run]]], block)[0]
        values = self.measure.swapped(
            self.information, self.covariance, out, self.model.rows(self.rows[choices], block)
        )
        trial = self.positions.copy()
        for k in np.argsort(values, kind="stable"):
            if not values[k] < self.value * (1 - GAIN):
                break
            trial[run] = choices[k]
            if self.rules.accepts(trial):
                return float(values[k]), int(choices[k])
        return np.inf, -1

    def _exchange(self, run: int, candidate: int, value: float) -> None:
        if not value < self.value * (1 - GAIN):
            return
        block = self.model.labels[run]
        pair = self.model.rows(self.rows[[candidate, self.positions[run]]], block)
        signs = np.diag([1.0, -1.0])
        left = self.covariance @ pair.T
        self.covariance = self.covariance - left @ np.linalg.solve(signs + pair @ left, left.T)
        self.information = self.information + pair.T @ signs @ pair
        self.positions[run], self.value = candidate, value
        self.n_exchanges += 1

    def _interchange_blocks(self) -> None:
        """Two runs of different blocks change places, where that improves."""
        for one in range(self.model.n_runs):
            for other in range(one + 1, self.model.n_runs):
                if self.model.labels[one] == self.model.labels[other] or self.positions[one] == self.positions[other]:
                    continue
                trial = self.positions.copy()
                trial[[one, other]] = trial[[other, one]]
                value = self.measure.value(self._information(trial))
                if value < self.value * (1 - GAIN):
                    self.positions = trial
                    self.n_exchanges += 1
                    self._refresh()

    def _information(self, positions: np.ndarray) -> np.ndarray:
        design = self.model.design(self.rows[positions])
        return design.T @ design + self.model.prior + self.ridge

    def _refresh(self) -> None:
        """Information, covariance and value from the runs, without rounding from the updates."""
        self.information = self._information(self.positions)
        if self.ridge.any() and np.isfinite(self.measure.value(self.information - self.ridge)):
            scale = np.sqrt(np.diag(self.information))
            if np.linalg.eigvalsh((self.information - self.ridge) / np.outer(scale, scale))[0] > 1e-8:
                self.information = self.information - self.ridge
                self.ridge = np.zeros_like(self.ridge)
        self.covariance = np.linalg.inv(self.information)
        self.value = self.measure.value(self.information)


def _spans_constant(rows: np.ndarray) -> bool:
    ones = np.ones(len(rows))
    weights = np.linalg.lstsq(rows, ones, rcond=None)[0]
    return bool(np.allclose(rows @ weights, ones, atol=1e-8))
