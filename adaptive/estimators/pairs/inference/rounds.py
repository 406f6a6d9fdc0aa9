"""Rounds over the two factors of a table of counts, each solved with the other held, so that the bound never falls.

    log p(Y) >= sum over entries [y E eta - E exp(eta) - log y!] - sum over rows KL(q || prior),   eta = z.w + b + c + o

A row is (z, 1, c) or (w, b, 1): the constants have variance 0 and stay. Plain rounds creep; each starts from
``w + length (w - w before)``, and taken back where the bound is not higher than what the round before had reached.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, xlogy
from sklearn.exceptions import ConvergenceWarning

from adaptive.estimators.pairs.inference.rows import solve_rows
from adaptive.inference.leaps import Leaps
from adaptive.inference.rest import at_rest

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Entries", "Factor", "Factors", "Kind", "climb", "solved"]

KINDS = ("mean_field", "full", "em", "map")
BIAS_VARIANCE = 1.0
STRONG = 0.05  # item variance of the point from which variances start
SMALL = (0.05, 0.02)  # variances of users and items at that start
CHUNK = 512  # rows of a task


@dataclass(frozen=True)
class Kind:
    """Kind of posterior, points or covariances: "mean_field", "full", "em" or "map"."""

    name: str

    @property
    def full(self) -> bool:
        """Rows have covariances."""
        return self.name in ("full", "em")

    @property
    def points(self) -> tuple[bool, bool]:
        """Users, and items, are points."""
        return self.name == "map", self.name in ("em", "map")


@dataclass(frozen=True, eq=False)
class Entries:
    """Counts of pairs.

    Attributes
    ----------
    rows : ((n,) array, (n,) array)
        Of users and of items.
    y, exposure : (n,) arrays
    lengths : (int, int)
        How many users and items there are.
    dispersion : float
        Counts say as much as counts and exposures that many times smaller would: a quasi-Poisson likelihood.
    """

    rows: tuple[np.ndarray, np.ndarray]
    y: np.ndarray
    exposure: np.ndarray
    lengths: tuple[int, int]
    dispersion: float = 1.0
    _sorted: list[tuple] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        y, exposure = self.y / self.dispersion, self.exposure / self.dispersion
        for side in (0, 1):
            own, other = self.rows[side], self.rows[1 - side]
            order = np.argsort(own, kind="stable")
            indptr = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=self.lengths[side]))])
            constants = np.bincount(own, log_constants(y, exposure), minlength=self.lengths[side])
            self._sorted.append((indptr, other[order], y[order], exposure[order], constants))

    def dispersed(self, dispersion: float) -> Entries:
        """Return the same counts, of another dispersion."""
        return Entries(self.rows, self.y, self.exposure, self.lengths, dispersion)

    @cached_property
    def n_counted(self) -> int:
        """Pairs that tolerances are counted by: all that are listed, at most twice those that are not 0."""
        return max(1, min(len(self.y), 2 * int(np.count_nonzero(self.y))))

    def by(self, side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """indptr, rows of the other side, counts and exposures by rows of this side, over the dispersion; constants of
        its rows' bounds.
        """
        return self._sorted[side]


def log_constants(y: np.ndarray, exposure: np.ndarray) -> np.ndarray:
    """Part of the bound that depends on neither factor, y log e - log y!, of counts and exposures (n,)."""
    return xlogy(y, exposure) - gammaln(y + 1.0)


@dataclass(frozen=True, eq=False)
class Factor:
    """Rows of a factor: means (n, k), variances (n, k) or covariances (n, k, k), prior mean and variance (k,)."""

    mean: np.ndarray
    spread: np.ndarray
    prior: np.ndarray
    variance: np.ndarray

    def copy(self) -> Factor:
        """One whose rows may be changed."""
        return replace(self, mean=self.mean.copy(), spread=self.spread.copy())

    @property
    def variances(self) -> np.ndarray:
        """(n, k), the diagonals of covariances."""
        return self.spread if self.spread.ndim == 2 else np.einsum("nkk->nk", self.spread)

    def with_rows(self, n: int, point: bool) -> Factor:
        """As many rows as n, the new ones at the prior."""
        new = n - len(self.mean)
        if not new:
            return self
        one = np.zeros(len(self.prior)) if point else self.variance
        spread = np.repeat((one if self.spread.ndim == 2 else np.diag(one))[None], new, axis=0)
        mean = np.repeat(self.prior[None], new, axis=0)
        return replace(self, mean=np.concatenate([self.mean, mean]), spread=np.concatenate([self.spread, spread]))


@dataclass(frozen=True, eq=False)
class Factors:
    """Both factors, and how they were found.

    Attributes
    ----------
    sides : (Factor, Factor)
        Users, items.
    offset : float
    trace : list of float
        The bound after every round.
    converged : bool
    """

    sides: tuple[Factor, Factor]
    offset: float
    trace: list[float] = field(default_factory=list)
    converged: bool = False

    @property
    def bound(self) -> float:
        """At the last round."""
        return self.trace[-1] if self.trace else float("nan")


def solved(
    entries: Entries,
    factors: Factors,
    side: int,
    kind: Kind,
    *,
    rows: Sequence[int] | None = None,
    steps: int = 1,
    tol: float = 1e-9,
    n_jobs: int = 1,
) -> tuple[Factor, np.ndarray]:
    """Return one side after its rows (all, or those named) were solved with the other held, and their bounds (n,)."""
    own, other = factors.sides[side].copy(), factors.sides[1 - side]
    values = np.zeros(len(own.mean))
    given = (*entries.by(side), factors.offset, own.mean, own.spread, other.mean, other.spread, own.prior, own.variance)

    def task(first: int, last: int) -> None:
        solve_rows(first, last, *given, kind.points[side], steps, tol, values)

    if rows is not None:
        for row in rows:
            task(row, row + 1)
        return own, values
    starts = range(0, len(values), CHUNK)
    if n_jobs == 1 or len(starts) == 1:
        task(0, len(values))
    else:
        with ThreadPoolExecutor(n_jobs) as pool:
            list(pool.map(lambda first: task(first, min(first + CHUNK, len(values))), starts))
    return own, values


def _divergences(factors: Factors, side: int, kind: Kind) -> float:
    """Minus the KL of all rows of a side: the bound of rows without entries."""
    own, other = factors.sides[side], factors.sides[1 - side]
    values, none = np.zeros(len(own.mean)), np.zeros(0)
    indptr, index = np.zeros(len(values) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64)
    solve_rows(
        0, len(values), indptr, index, none, none, np.zeros(len(values)), 0.0, own.mean.copy(), own.spread.copy(),
        other.mean, other.spread, own.prior, own.variance, kind.points[side], 0, 0.0, values,
    )  # fmt: skip
    return float(values.sum())


def _half(factors: Factors, side: int, own: Factor) -> Factors:
    sides = (own, factors.sides[1]) if side == 0 else (factors.sides[0], own)
    return replace(factors, sides=sides)


def _learnt_variance(rows: Factor, columns: slice) -> Factor:
    """Variances of some columns where the bound is largest: the mean square of the rows; constants have none."""
    squares = np.mean(rows.mean**2 + rows.variances, axis=0)
    variance = rows.variance.copy()
    variance[columns] = np.where(variance[columns] > 0.0, np.clip(squares[columns], 1e-6, None), 0.0)
    return replace(rows, variance=variance)


def climb(
    entries: Entries,
    factors: Factors,
    kind: Kind,
    *,
    max_iter: int,
    tol: float,
    n_jobs: int = 1,
    learn_variance: int = 0,
    steps: int = 1,
    quiet: bool = False,
) -> Factors:
    """Return the factors after rounds over both sides, until the second half of them gained less than ``tol``.

    Parameters
    ----------
    tol : float
        Nats a pair (``entries.n_counted`` of them).
    learn_variance : int
        Of so many components item variances, and those of biases, are set where the bound is largest, after every
        round.
    steps : int, default 1
        Of Newton in every row and round: more of them save few rounds, and take as many times as long.
    """
    bound, before, leaps, trace, converged = -np.inf, None, Leaps(), [], False
    for _ in range(max_iter):
        ahead, reached = factors, -np.inf
        if before is not None:
            items = factors.sides[1]
            leapt = replace(items, mean=items.mean + leaps.length * (items.mean - before))
            ahead, reached = _round(entries, _half(factors, 1, leapt), kind, steps, n_jobs)
        if reached > bound:
            leaps.kept()
        else:
            ahead, reached = _round(entries, factors, kind, steps, n_jobs)
            leaps.taken_back()
        before = factors.sides[1].mean
        factors = ahead
        if learn_variance:
            for side, columns in ((0, slice(learn_variance, None)), (1, slice(None))):
                if kind.points[side]:
                    continue
                lifted = _half(factors, side, _learnt_variance(factors.sides[side], columns))
                reached += _divergences(lifted, side, kind) - _divergences(factors, side, kind)
                factors = lifted
        bound = reached
        trace.append(bound)
        converged = at_rest(trace, tol * entries.n_counted)
        if converged:
            break
    if not converged and not quiet:
        warnings.warn(
            f"the factorisation stopped after {max_iter} rounds, half of which still gained more than tol = {tol:g} "
            "nats a pair; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return replace(factors, trace=[*factors.trace, *trace], converged=converged)


def _round(entries: Entries, factors: Factors, kind: Kind, steps: int, n_jobs: int) -> tuple[Factors, float]:
    """Users, then items; and the bound."""
    for side in (0, 1):
        own, values = solved(entries, factors, side, kind, steps=steps, n_jobs=n_jobs)
        factors = _half(factors, side, own)
    return factors, float(values.sum()) + _divergences(factors, 0, kind)


def started(
    entries: Entries,
    n_components: int,
    kind: Kind,
    *,
    user_variance: float,
    item_variance: float,
    fit_bias: bool,
    offset: float,
    rng: np.random.Generator,
    n_jobs: int = 1,
    rounds: int = 10,
) -> Factors:
    """Return a start: a strongly regularised point from small random means, its variances small.

    "em" and "full" begin with that, their axes rotated at random: where a component has no mean a diagonal covariance
    stays diagonal.
    """
    sides = []
    for side, variance in enumerate((user_variance, min(item_variance, STRONG))):
        prior = np.concatenate([np.zeros(n_components), [1.0, 0.0][:: 1 - 2 * side] if fit_bias else []])
        spread = np.concatenate(
            [np.full(n_components, variance), [0.0, BIAS_VARIANCE][:: 1 - 2 * side] if fit_bias else []]
        )
        mean = np.repeat(prior[None], entries.lengths[side], axis=0)
        mean[:, :n_components] = 0.1 * rng.standard_normal((len(mean), n_components))
        sides.append(Factor(mean, np.zeros_like(mean), prior, spread))
    point = Factors((sides[0], sides[1]), offset)
    point = climb(entries, point, Kind("map"), max_iter=rounds, tol=0.0, n_jobs=n_jobs, quiet=True)
    rotation = np.eye(n_components)
    if kind.full:
        rotation = np.linalg.qr(rng.standard_normal((n_components, n_components)))[0]
    found = []
    for side, (factor, variance) in enumerate(zip(point.sides, (user_variance, item_variance), strict=True)):
        mean = factor.mean.copy()
        mean[:, :n_components] = mean[:, :n_components] @ rotation
        own = factor.variance.copy()
        own[:n_components] = variance
        small = np.zeros_like(own) if kind.points[side] else np.minimum(SMALL[side], 0.5 * own) * (own > 0)
        spread = np.repeat((np.diag(small) if kind.full else small)[None], len(mean), axis=0)
        found.append(Factor(mean, spread, factor.prior, own))
    return Factors((found[0], found[1]), offset)
