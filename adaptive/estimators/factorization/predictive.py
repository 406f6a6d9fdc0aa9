"""What two uncertain factors say of pairs:  eta = z.w + o,    y ~ Poisson(exp eta).

    E eta = m.mu + o,    Var eta = tr(S V) + m' S m + mu' V mu

are exact, and eta's shape is taken for Gaussian where it enters entropies and probabilities; that is 13% low for one
component, 1 to 4% at 5 to 10 components of small variances, up to 13% at larger ones: good for ranking, and
``refined`` computes some candidates exactly, by draws of w given which eta is Gaussian.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import entr, gammaln, ndtri
from scipy.stats import qmc

from adaptive.inference.factorization.rows import solve_rows
from adaptive.potentials import Poisson
from adaptive.potentials.poisson_outcomes import poisson_entropy
from adaptive.predictive import Predictive
from adaptive.predictive.base import StatedPredictive
from adaptive.predictive.conditional_variance import representatives
from adaptive.predictive.derivations import likely
from adaptive.predictive.scenarios import branch

if TYPE_CHECKING:
    from adaptive.inference.factorization.rounds import Entries, Factor, Factors, Kind
    from adaptive.types import RandomState

__all__ = ["PairPredictive", "conditional_moments", "eta_moments"]

N_DRAWS = 256
N_EXACT = 256  # draws of w for `refined`
FIRST = 2000  # counts whose masses are summed one by one there
LARGEST_GRID = 1500
STEPS = 30  # of a row in a what-if


def _form(vectors: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """x' S x of every row (n, k), S variances or covariances."""
    if spread.ndim == 2:
        return np.einsum("nk,nk->n", vectors**2, spread)
    return np.einsum("ni,nij,nj->n", vectors, spread, vectors)


def eta_moments(factors: Factors, users: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance (n,) of the log rates of pairs of rows."""
    own, other = factors.sides
    m, V, mu, S = own.mean[users], own.spread[users], other.mean[items], other.spread[items]
    both = np.einsum("nk,nk->n", V, S) if V.ndim == 2 else np.einsum("nij,nij->n", V, S)
    return factors.offset + np.einsum("nk,nk->n", m, mu), both + _form(m, S) + _form(mu, V)


def _root(spread: np.ndarray) -> np.ndarray:
    """A square root (k, k) of one row's spread."""
    if spread.ndim == 1:
        return np.diag(np.sqrt(spread))
    values, vectors = np.linalg.eigh(spread)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def conditional_moments(factors: Factors, user: int, item: int, normals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance (d,) of a log rate at ``d`` draws of the item, made of standard normals (d, k)."""
    own, other = factors.sides
    drawn = other.mean[item] + normals @ _root(other.spread[item]).T
    V = own.spread[user]
    spread = np.broadcast_to(V, (len(drawn), *V.shape))
    return factors.offset + drawn @ own.mean[user], _form(drawn, spread)


def sobol_normals(n: int, k: int, seed: int) -> np.ndarray:
    """Return (n, k) standard normals of low discrepancy; n a power of two."""
    return ndtri(np.clip(qmc.Sobol(k, seed=np.random.default_rng(seed)).random(n), 1e-12, 1 - 1e-12))


def item_nodes(variance: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return standard normal nodes (d, k) and weights (d,): a grid where at most two entries are free, else draws."""
    free = np.flatnonzero(variance > 0)
    if len(free) <= 2:
        nodes, weights = np.polynomial.hermite_e.hermegauss((1, 24, 12)[len(free)])
        grid = np.stack(np.meshgrid(*[nodes] * len(free), indexing="ij"), axis=-1).reshape(-1, len(free))
        product = np.prod(np.meshgrid(*[weights] * len(free), indexing="ij"), axis=0).ravel()
        product = product / product.sum()
    else:
        grid = sobol_normals(N_EXACT, len(free), seed)
        product = np.full(N_EXACT, 1.0 / N_EXACT)
    normals = np.zeros((len(grid), len(variance)))
    normals[:, free] = grid
    return normals, product


def mixture_entropies(mean: np.ndarray, variance: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return H(y) and E H(y | eta) for a log rate that is a mixture of Gaussians.

    The density f of eta is laid out on a grid. Of the first 2000 counts every mass is summed; beyond them the noise of
    counting is nothing beside the breadth of f, and a count has the density f(log y) / y.
    """
    sd = np.sqrt(variance)
    low, high = float(np.min(mean - 8.0 * sd)), float(np.max(mean + 8.0 * sd))
    if high - low < 1e-9:
        certain = float(poisson_entropy(np.exp(np.minimum(mean[0], 600.0))))
        return certain, certain
    low = max(low, -25.0)
    narrowest = float(np.quantile(sd, 0.01))
    step = min(
        0.35 * max(narrowest, 1e-3), 0.35 / np.sqrt(min(np.exp(min(high, 20.0)), FIRST) + 1.0), (high - low) / 100
    )
    step = max(step, (high - low) / LARGEST_GRID)
    eta = np.arange(low, high + step, step)
    z = (eta - mean[:, None]) / np.maximum(sd, step)[:, None]
    share = (weights / np.maximum(sd, step)) @ np.exp(-0.5 * z * z) * (step / np.sqrt(2 * np.pi))
    silent = max(1.0 - float(share.sum()), 0.0)  # below the grid there are no counts
    after = float(share @ poisson_entropy(np.exp(np.minimum(eta, 600.0))))
    first = min(int(np.exp(min(high, 20.0)) + 9.0 * np.exp(0.5 * min(high, 20.0)) + 30), FIRST)
    y = np.arange(first, dtype=float)
    rate = np.exp(np.minimum(eta, 600.0))
    p = np.exp(y[:, None] * eta - rate - gammaln(y + 1.0)[:, None]) @ share
    p[0] += silent
    before = float(entr(p).sum())
    beyond = (eta > np.log(first - 0.5)) & (share > 0)
    if first == FIRST and beyond.any():
        before -= float(share[beyond] @ (np.log(share[beyond] / step) - eta[beyond]))
    return before, after


class PairPredictive(Predictive):
    """Predictive of pairs.

    Parameters
    ----------
    factors : Factors
    entries : Entries
        What they were learnt from.
    users, items : (m,) arrays
        Rows of the candidates.
    kind : Kind
    learns : tuple of int
        Sides whose rows learn in a what-if: (0, 1), or (0,) where items stand still.
    more : tuple of (user, item, count)
        What was measured since.
    random_state : None, int, Generator or RandomState
    """

    def __init__(
        self,
        factors: Factors,
        entries: Entries,
        users: np.ndarray,
        items: np.ndarray,
        kind: Kind,
        *,
        learns: tuple[int, ...] = (0, 1),
        more: tuple[tuple[int, int, float], ...] = (),
        random_state: RandomState = None,
    ) -> None:
        mean, variance = eta_moments(factors, users, items)
        super().__init__(len(users), mean=mean, variance=variance, likelihood=Poisson(), random_state=random_state)
        self.factors, self.entries, self.users, self.items = factors, entries, users, items
        self.kind, self.learns, self.more = kind, learns, more

    def draws(self, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return equal weights (n,) and p(count | factors) (n, m, c) at ``n`` joint draws of the factors' rows."""
        n = N_DRAWS if n is None else n
        eta = np.zeros((n, len(self)))
        drawn: list[dict[int, np.ndarray]] = [{}, {}]
        for side, rows in enumerate((self.users, self.items)):
            factor = self.factors.sides[side]
            for row in np.unique(rows):
                normals = np.random.default_rng([self.seed, side, int(row)]).standard_normal((n, len(factor.prior)))
                drawn[side][int(row)] = factor.mean[row] + normals @ _root(factor.spread[row]).T
        for k, (user, item) in enumerate(zip(self.users.tolist(), self.items.tolist(), strict=True)):
            eta[:, k] = self.factors.offset + np.einsum("nk,nk->n", drawn[0][user], drawn[1][item])
        table = np.stack([np.exp(self.likelihood.log_density(eta, y)) for y in self.outcomes], axis=-1)
        return np.full(n, 1.0 / n), table * (self.probabilities > 0)

    def provides(self, name: str) -> bool:
        """Return whether the field ``name`` is there; what-ifs are not refined, of which there are many."""
        return not self.more if name == "refined" else super().provides(name)

    def refined(self, positions: np.ndarray) -> Predictive:
        """Return these candidates with exact entropies: to 1e-4 nats by quadrature over up to two components of the
        items, to about 1e-2 by draws over more."""
        rows = np.atleast_1d(np.arange(len(self))[positions])
        entropies = np.array([self._entropies(int(self.users[k]), int(self.items[k])) for k in rows]).reshape(-1, 2)
        return StatedPredictive(
            len(rows),
            mean=self.mean[rows],
            variance=self.variance[rows],
            likelihood=self.likelihood,
            outcome_entropy=entropies[:, 0],
            expected_entropy=entropies[:, 1],
            random_state=self.seed,
        )

    def _entropies(self, user: int, item: int) -> tuple[float, float]:
        """H(y) and E H(y | eta) of a pair."""
        normals, weights = item_nodes(self.factors.sides[1].variance, self.seed)
        return mixture_entropies(*conditional_moments(self.factors, user, item, normals), weights)

    def likely_outcomes(self, i: int) -> list[tuple[Any, float]]:
        """Return at most 64 counts that stand for what candidate ``i`` may be."""
        counts, shares = representatives(self.likelihood, self.mean[i : i + 1], self.variance[i : i + 1], self.seed)
        return likely(counts[0], shares[0])

    def outcome_probability(self, i: int, outcome: object) -> float:
        """Return the probability of the count ``outcome`` at candidate ``i``."""
        mean, variance = self.mean[i : i + 1], np.maximum(self.variance[i : i + 1], 1e-300)
        return float(np.exp(self.likelihood.observe(np.array([outcome])).tilted_moments(mean, variance)[0][0]))

    def given(self, i: int, outcome: object = None) -> Predictive:
        """Return the belief had candidate ``i`` been counted: its user's row, then its item's, solved again."""
        i = range(len(self))[i]
        if outcome is None:
            return branch([(1.0, self)], i, self.seed)
        user, item = int(self.users[i]), int(self.items[i])
        more = (*self.more, (user, item, float(outcome)))  # type: ignore[arg-type]
        factors = self.factors
        for side in self.learns:
            factors = _with_row_solved(factors, self.entries, side, (user, item)[side], more, self.kind)
        options: dict[str, Any] = {"learns": self.learns, "more": more, "random_state": self.seed}
        after = PairPredictive(factors, self.entries, self.users, self.items, self.kind, **options)
        after.asked = self.asked
        return after


def _with_row_solved(
    factors: Factors, entries: Entries, side: int, row: int, more: tuple[tuple[int, int, float], ...], kind: Kind
) -> Factors:
    """The factors after one row was solved on its entries and the ``more`` ones."""
    indptr, index, y, exposure = entries.by(side)
    a, b = (indptr[row], indptr[row + 1]) if row < entries.lengths[side] else (0, 0)
    new = [pair for pair in more if pair[side] == row]
    index = np.append(index[a:b], np.array([pair[1 - side] for pair in new], dtype=np.int64))
    y, exposure = np.append(y[a:b], [pair[2] for pair in new]), np.append(exposure[a:b], np.ones(len(new)))
    own: Factor = factors.sides[side].copy()
    other = factors.sides[1 - side]
    ends = np.zeros(len(own.mean) + 1, dtype=np.int64)
    ends[row + 1 :] = len(y)
    solve_rows(
        row, row + 1, ends, index, y, exposure, factors.offset, own.mean, own.spread, other.mean, other.spread,
        own.prior, own.variance, kind.points[side], STEPS, 1e-9, np.zeros(len(own.mean)),
    )  # fmt: skip
    sides = (own, other) if side == 0 else (other, own)
    return replace(factors, sides=sides)
