"""A posterior over who is paired with whom, from a stream in which refusals are censored.

    i ~ pi, j ~ psi, kept with the odds sigmoid(u_i . v_j + b_i + c_j), else censored;    D kept, D' = r D censored

    log p(stream) >= sum_G n B + half E a + D' sum_i s_i O_i + sum_i (c_i + D' s_i) E log pi_i - D' sum_i s_i log s_i
                     + the same of items - KL of rows - KL of pi and psi

Every step below maximises that bound over its part, so that it never falls (`selection="constant"` replaces O_i by a
constant and is no such step). Costs are those of the pairs that were seen: the others enter through two caches.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import digamma, gammaln, xlogy
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.pairs.inference.censored_rows import solve_censored_rows, survey_rows
from adaptive.estimators.pairs.inference.rounds import Factor, Factors
from adaptive.inference.rest import at_rest

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Censored", "Graph", "climb_censored", "started_censored", "swept"]

CONCENTRATION = 1.0  # of both Dirichlet priors
START = 0.1  # deviation of the means from which a fit starts: at means of zero it would stay
CHUNK = 512  # rows of a task
WARM_UP = 15  # sweeps before precisions are fitted: a start has no structure yet, and learns that there is none
PRECISIONS = (1e-3, 1e6)  # between which they are fitted
EVERYTHING_SEEN = 1e-12


@dataclass(frozen=True, eq=False)
class Graph:
    """Pairs that were seen, each once.

    Attributes
    ----------
    rows : ((n,) array, (n,) array)
        Of users and of items.
    counts, half, trials : (n,) arrays
        How often the stream had the pair; half of kept less refused, and kept and refused, trials that were shown
        included.
    lengths : (int, int)
    """

    rows: tuple[np.ndarray, np.ndarray]
    counts: np.ndarray
    half: np.ndarray
    trials: np.ndarray
    lengths: tuple[int, int]
    _sorted: list[tuple[np.ndarray, ...]] = field(default_factory=list, repr=False)
    _sums: list[np.ndarray] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        for side in (0, 1):
            own, other, n = self.rows[side], self.rows[1 - side], self.lengths[side]
            order = np.argsort(own, kind="stable")
            indptr = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=n))])
            self._sorted.append((indptr, other[order].astype(np.int32), self.half[order], self.trials[order]))
            self._sums.append(np.bincount(own, self.counts, minlength=n))

    def by(self, side: int) -> tuple[np.ndarray, ...]:
        """indptr, rows of the other side, half, trials, by rows of this side."""
        return self._sorted[side]

    def sums(self, side: int) -> np.ndarray:
        """Stream counts of every row of a side."""
        return self._sums[side]

    @property
    def n_pairs(self) -> float:
        """Pairs that tolerances are counted by, those that were shown included."""
        return max(1.0, float(self.trials.sum()))

    @property
    def total(self) -> float:
        """D, the length of the stream."""
        return float(self._sums[0].sum())


@dataclass(frozen=True, eq=False)
class Censored:
    """The posterior, and the steps that raise its bound; every step returns another one.

    Attributes
    ----------
    factors : Factors
        Rows (u, 1, b) of users and (v, c, 1) of items; ``.trace`` has the bounds.
    selection : ((I,) array, (J,) array)
        s and t: whose the censored pairs are thought to be, each adding up to 1.
    dirichlet : ((I,) array, (J,) array)
        Parameters of q(pi) and q(psi).
    shared : float
        xi*.
    """

    factors: Factors
    selection: tuple[np.ndarray, np.ndarray]
    dirichlet: tuple[np.ndarray, np.ndarray]
    shared: float = 1.0

    def background(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """The caches of a side: sum_j t_j E[y y'] and sum_j t_j E[y]."""
        rows, weights = self.factors.sides[side], self.selection[side]
        weighted = weights[:, None] * rows.mean
        return weighted.T @ rows.mean + np.diag(weights @ rows.spread), weighted.sum(axis=0)

    def solved(
        self, graph: Graph, side: int, n_censored: float, *, rows: np.ndarray | None = None, n_jobs: int = 1
    ) -> Censored:
        """After the rows (all, or those named) of a side were solved."""
        own, other = self.factors.sides[side].copy(), self.factors.sides[1 - side]
        given = (
            *graph.by(side), own.mean, own.spread, other.mean, other.spread, own.variance,
            n_censored * self.selection[side], self.selection[1 - side], *self.background(1 - side), self.shared,
        )  # fmt: skip
        _in_chunks(lambda part: solve_censored_rows(part, *given), _all(own) if rows is None else rows, n_jobs)
        return self._with(side, own)

    def surveyed(self, graph: Graph, side: int, *, n_jobs: int = 1) -> np.ndarray:
        """(n, 4): O_i, sum_G t E a^2, sum_G t and the fit, of every row of a side."""
        own, other = self.factors.sides[side], self.factors.sides[1 - side]
        out = np.empty((len(own.mean), 4))
        given = (
            *graph.by(side), own.mean, own.spread, other.mean, other.spread, self.selection[1 - side],
            *self.background(1 - side), self.shared, out,
        )  # fmt: skip
        _in_chunks(lambda part: survey_rows(part, *given), _all(own), n_jobs)
        return out

    def counted(self, graph: Graph, n_censored: float) -> Censored:
        """After the step over q(pi) and q(psi)."""
        found = [CONCENTRATION + graph.sums(side) + n_censored * self.selection[side] for side in (0, 1)]
        return replace(self, dirichlet=(found[0], found[1]))

    def selected(self, graph: Graph, side: int, *, constant: bool = False, n_jobs: int = 1) -> Censored:
        """After the step over s (side 0) or t: softmax(E log pi + O), O left out where it is taken for constant."""
        energy = _expected_logs(self.dirichlet[side])
        if not constant:
            energy = energy + self.surveyed(graph, side, n_jobs=n_jobs)[:, 0]
        weights = np.exp(energy - energy.max())
        both = list(self.selection)
        both[side] = weights / weights.sum()
        return replace(self, selection=(both[0], both[1]))

    def shared_over(self, graph: Graph, *, n_jobs: int = 1) -> Censored:
        """After the step over xi*: the root of the mean of E a^2 over the pairs that were not seen."""
        _, squares, mass, _ = self.surveyed(graph, 0, n_jobs=n_jobs).T
        users = self.selection[0]
        left = 1.0 - float(users @ mass)
        if left < EVERYTHING_SEEN:
            return self
        everywhere = float(np.sum(self.background(0)[0] * self.background(1)[0]))
        return replace(self, shared=float(np.sqrt(max(everywhere - float(users @ squares), 0.0) / left)))

    def with_precisions(self, n_components: int, learns: tuple[bool, bool, bool]) -> Censored:
        """After the step over those prior precisions that are fitted: of users, of items, of both biases together."""
        sides = list(self.factors.sides)
        squares = [rows.mean**2 + rows.spread for rows in sides]
        ends = 1.0 / PRECISIONS[1], 1.0 / PRECISIONS[0]
        for side in (0, 1):
            variance = sides[side].variance.copy()
            if learns[side]:
                variance[:n_components] = np.clip(squares[side][:, :n_components].mean(), *ends)
            if learns[2]:
                biases = [square[:, _bias(n_components, k)] for k, square in enumerate(squares)]
                variance[_bias(n_components, side)] = np.clip(np.concatenate(biases).mean(), *ends)
            sides[side] = replace(sides[side], variance=variance)
        return replace(self, factors=replace(self.factors, sides=(sides[0], sides[1])))

    def bound(self, graph: Graph, n_censored: float, *, n_jobs: int = 1) -> float:
        """The lower bound of log p(ordered stream), all constants kept, at the best xi of every pair seen."""
        energy, _, _, fit = self.surveyed(graph, 0, n_jobs=n_jobs).T
        total = float(fit.sum()) + n_censored * float(self.selection[0] @ energy)
        for side in (0, 1):
            weights, dirichlet = self.selection[side], self.dirichlet[side]
            chosen = graph.sums(side) + n_censored * weights
            total += float(chosen @ _expected_logs(dirichlet)) - n_censored * float(xlogy(weights, weights).sum())
            total -= _dirichlet_divergence(dirichlet) + _row_divergence(self.factors.sides[side])
        return total

    def _with(self, side: int, own: Factor) -> Censored:
        sides = (own, self.factors.sides[1]) if side == 0 else (self.factors.sides[0], own)
        return replace(self, factors=replace(self.factors, sides=sides))


def _bias(n_components: int, side: int) -> int:
    """The column of a side's own bias; the other one of the two holds ones."""
    return n_components + 1 - side


def _all(rows: Factor) -> np.ndarray:
    return np.arange(len(rows.mean))


def _in_chunks(task: Callable[[np.ndarray], object], rows: np.ndarray, n_jobs: int) -> None:
    """Run the task over all rows; each writes its own, so that threads change nothing."""
    if n_jobs == 1 or len(rows) <= CHUNK:
        task(rows)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        list(pool.map(task, np.split(rows, range(CHUNK, len(rows), CHUNK))))


def _expected_logs(dirichlet: np.ndarray) -> np.ndarray:
    return digamma(dirichlet) - digamma(dirichlet.sum())


def _dirichlet_divergence(dirichlet: np.ndarray) -> float:
    """KL(Dir(alpha) || Dir(1, ..., 1))."""
    n, total = len(dirichlet), dirichlet.sum()
    own = gammaln(total) - gammaln(dirichlet).sum()
    prior = gammaln(n * CONCENTRATION) - n * gammaln(CONCENTRATION)
    return float(own - prior + (dirichlet - CONCENTRATION) @ _expected_logs(dirichlet))


def _row_divergence(rows: Factor) -> float:
    """KL of all rows to their prior."""
    free = rows.variance > 0
    ratio, moved = rows.spread[:, free] / rows.variance[free], (rows.mean - rows.prior)[:, free]
    return 0.5 * float(np.sum(moved**2 / rows.variance[free] + ratio - 1.0 - np.log(ratio)))


def started_censored(
    lengths: tuple[int, int],
    n_components: int,
    precisions: tuple[float, float, float],
    fit_bias: bool,
    rng: np.random.Generator | None,
) -> Censored:
    """Return a start at the prior, its means small and random; without a generator the prior itself."""
    sides = []
    for side in (0, 1):
        prior, variance = np.zeros(n_components + 2), np.zeros(n_components + 2)
        prior[_bias(n_components, 1 - side)] = 1.0
        variance[:n_components] = 1.0 / precisions[side]
        variance[_bias(n_components, side)] = 1.0 / precisions[2] if fit_bias else 0.0
        mean = np.repeat(prior[None], lengths[side], axis=0)
        if rng is not None:
            mean[:, :n_components] = START * rng.standard_normal((lengths[side], n_components))
        sides.append(Factor(mean, np.repeat(variance[None], lengths[side], axis=0), prior, variance))
    users, items = (np.full(n, 1.0 / max(n, 1)) for n in lengths)
    ones = tuple(np.full(n, CONCENTRATION) for n in lengths)
    return Censored(Factors((sides[0], sides[1]), 0.0), (users, items), (ones[0], ones[1]))


def climb_censored(
    graph: Graph,
    start: Censored,
    n_censored: float,
    *,
    n_components: int,
    learns: tuple[bool, bool, bool] = (False, False, False),
    constant: bool = False,
    max_iter: int,
    tol: float,
    n_jobs: int = 1,
    warm_up: int = WARM_UP,
) -> Censored:
    """Return the posterior after sweeps over all parts, until in half of them the bound moved by ``tol`` nats a pair.

    Precisions are fitted after ``warm_up`` sweeps.
    """
    now, trace, converged = start, list[float](), False
    warm_up = warm_up if any(learns) else 0
    n_pairs = graph.n_pairs
    for sweep in range(max_iter):
        now = swept(graph, now, n_censored, constant=constant, n_jobs=n_jobs)
        if any(learns) and sweep >= warm_up:
            now = now.with_precisions(n_components, learns)
        trace.append(now.bound(graph, n_censored, n_jobs=n_jobs))
        converged = at_rest(trace[warm_up:], tol * n_pairs)
        if converged:
            break
    if not converged:
        warnings.warn(
            f"paired symbols stopped after {max_iter} sweeps, half of which still moved the bound by more than "
            f"tol = {tol:g} nats a pair; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    now = now.counted(graph, n_censored)
    return replace(now, factors=replace(now.factors, trace=trace, converged=converged))


def swept(
    graph: Graph,
    now: Censored,
    n_censored: float,
    *,
    constant: bool = False,
    rows: tuple[np.ndarray, np.ndarray] | None = None,
    n_jobs: int = 1,
) -> Censored:
    """One sweep: pi and psi, s, users, xi*, t, items; of users and items those ``rows`` that are named."""
    now = now.counted(graph, n_censored)
    for side in (0, 1):
        now = now.selected(graph, side, constant=constant, n_jobs=n_jobs)
        touched = None if rows is None else rows[side]
        now = now.solved(graph, side, n_censored, rows=touched, n_jobs=n_jobs)
        if side == 0:
            now = now.shared_over(graph, n_jobs=n_jobs)
    return now
