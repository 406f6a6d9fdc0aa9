"""Predictive of counts by two uncertain factors:  eta = z.w + o,    y ~ Poisson(exp eta).

    E eta = m.mu + o,    Var eta = tr(S V) + m' S m + mu' V mu

are exact, and eta's shape is taken for Gaussian where it enters entropies and probabilities; that is 13% low for one
component, 1 to 4% at 5 to 10 components of small variances, up to 13% at larger ones: good for ranking, and
``refined`` computes some candidates exactly, by draws of w given which eta is Gaussian.

Information about chosen users or items alone is  I(y; z) = H(y) - E_z H(y | z),  the other side integrated out: given z
the log rate has the mean  z.mu + o  and the variance  z' S z, whose mean is  m' S m + tr(S V); what z explains of it is
mu' V mu.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from adaptive.estimators.pairs.factorization.mixtures import N_EXACT, N_WHAT_IF, item_nodes, mixture_entropies
from adaptive.estimators.pairs.inference.rows import solve_rows
from adaptive.potentials import Poisson
from adaptive.predictive import Predictive
from adaptive.predictive.conditional_variance import representatives
from adaptive.predictive.derivations import likely

if TYPE_CHECKING:
    from adaptive.estimators.pairs.columns import Positions
    from adaptive.estimators.pairs.inference.rounds import Entries, Factor, Factors, Kind
    from adaptive.types import ArrayLike, RandomState

    Chosen: TypeAlias = Mapping[str, ArrayLike] | None

__all__ = ["About", "PairPredictive", "conditional_moments", "eta_moments", "expected_entropies"]


_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(16)


@dataclass(frozen=True, eq=False)
class About:
    """Rows that are to be learnt about.

    Attributes
    ----------
    sides : (frozenset of int, frozenset of int)
        Of users and of items.
    """

    sides: tuple[frozenset[int], frozenset[int]]

    @classmethod
    def of(cls, target: Chosen, positions: Positions) -> About | None:
        """Read ``{"users": [...], "items": [...]}``, ids of the fit; None is everything."""
        if target is None:
            return None
        if not isinstance(target, Mapping) or not target or not set(target) <= {"users", "items"}:
            raise ValueError(f'target must be None or like {{"users": [ids]}} or {{"items": [ids]}}, got {target!r}.')
        sides = []
        for name, known in zip(("users", "items"), positions, strict=True):
            labels = np.asarray(target.get(name, [])).tolist()
            unknown = [label for label in labels if label not in known]
            if unknown:
                raise ValueError(f"target must name {name} of the fit, got {unknown[0]!r}.")
            sides.append(frozenset(known[label] for label in labels))
        return cls((sides[0], sides[1]))

    def which(self, users: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Membership of the users, and of the items, of pairs (m,)."""
        first, second = (np.isin(rows, list(side)) for rows, side in zip((users, items), self.sides, strict=True))
        return first, second


def expected_entropies(mean: np.ndarray, explained: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Return E H(y | s) (m,) for  log rate | s ~ N(s, rest),  s ~ N(mean, explained)."""
    places = mean[:, None] + np.sqrt(np.maximum(explained, 0.0))[:, None] * _NODES
    left = np.broadcast_to(np.maximum(rest, 0.0)[:, None], places.shape)
    found = Poisson().outcome_entropy(places.ravel(), left.ravel()).reshape(places.shape)
    return found @ (_WEIGHTS / _WEIGHTS.sum())


N_DRAWS = 256
STEPS = 30  # of a row in a what-if
SHORT_LIST = 8  # candidates of which draws are tabled
LARGEST_TABLE = 2**23  # numbers there


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


def conditional_moments(
    factors: Factors, user: int, item: int, normals: np.ndarray, side: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance (d,) of a log rate at draws of the item, made of standard normals (d, k); ``side`` 0: of
    the user."""
    rows = (user, item)
    drawn_from, other = factors.sides[side], factors.sides[1 - side]
    drawn = drawn_from.mean[rows[side]] + normals @ _root(drawn_from.spread[rows[side]]).T
    V = other.spread[rows[1 - side]]
    spread = np.broadcast_to(V, (len(drawn), *V.shape))
    return factors.offset + drawn @ other.mean[rows[1 - side]], _form(drawn, spread)


def nodes_at(
    factors: Factors, user: int, item: int, seed: int, side: int = 1, n: int = N_EXACT
) -> tuple[np.ndarray, np.ndarray]:
    """Return standard normal nodes (d, k) of the item (``side`` 0: of the user) of a pair, and their weights (d,)."""
    rows = (user, item)
    drawn_from, other = factors.sides[side], factors.sides[1 - side]
    direction = _root(drawn_from.spread[rows[side]]).T @ other.mean[rows[1 - side]]
    return item_nodes(drawn_from.variance, direction, seed, n)


class PairPredictive(Predictive):
    """Predictive of pairs.

    Parameters
    ----------
    factors : Factors
    entries : Entries
        What they were fitted to.
    users, items : (m,) arrays
        Rows of the candidates.
    kind : Kind
    learns : tuple of int
        Sides whose rows learn in a what-if: (0, 1), or (0,) where items stand still.
    more : tuple of (user, item, count)
        What was measured since.
    about : About, optional
        Rows of users and items that alone are to be learnt about; None: all.
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
        about: About | None = None,
        random_state: RandomState = None,
    ) -> None:
        mean, variance = eta_moments(factors, users, items)
        super().__init__(len(users), mean=mean, variance=variance, likelihood=Poisson(), random_state=random_state)
        self.factors, self.entries, self.users, self.items = factors, entries, users, items
        self.kind, self.learns, self.more, self.about = kind, learns, more, about
        with np.errstate(over="ignore"):  # the curvature that a count adds, E exp(eta): no tables of what it may be
            self._fields["expected_variance"] = variance / (1.0 + variance * np.exp(mean + 0.5 * variance))
        if about is not None:
            self._fields["expected_entropy"] = self._entropy_given_the_target

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

    def _provides(self, name: str) -> bool:
        """Return whether the field ``name`` is there: tables of draws are for short lists of moderate counts, and of
        points, of which nothing is uncertain, no what-ifs. ``refined`` of a what-if answers where it is called, and
        is not offered: a batch would ask it of 8 futures a step, for differences of a hundredth."""
        if name in ("given", "draws") and all(self.kind.points):
            return False
        if name == "draws" and self.about is not None:  # those are of everything
            return False
        if name == "refined":
            return not self.more
        if name == "draws":
            return len(self) <= SHORT_LIST and self._n_counts * len(self) * N_DRAWS <= LARGEST_TABLE
        return super()._provides(name)

    @property
    def _n_counts(self) -> float:
        """Length of a table of counts, at most."""
        try:
            return len(self.outcomes)
        except ValueError:  # too many
            return np.inf

    def refined(self, positions: np.ndarray) -> Predictive:
        """Return these candidates with exact entropies: to 1e-4 nats by quadrature over up to two components of the
        items, to about 3e-3 by draws over more (in a what-if, of which there are many, to about 1e-2)."""
        rows = np.atleast_1d(np.arange(len(self))[positions])
        entropies = np.array([self._entropies(int(self.users[k]), int(self.items[k])) for k in rows]).reshape(-1, 2)
        exact = self._of(self.factors, rows, self.more)
        exact._fields["outcome_entropy"], exact._fields["expected_entropy"] = entropies.T
        return exact

    def _of(
        self, factors: Factors, rows: np.ndarray | slice, more: tuple[tuple[int, int, float], ...]
    ) -> PairPredictive:
        """The candidates ``rows`` by other factors."""
        return PairPredictive(
            factors, self.entries, self.users[rows], self.items[rows], self.kind, learns=self.learns, more=more,
            about=self.about, random_state=self.seed,
        )  # fmt: skip

    def _entropy_given_the_target(self) -> np.ndarray:
        """E H(y | chosen rows), by moments: all of a pair known, one of its rows, or none."""
        assert self.about is not None
        user_known, item_known = self.about.which(self.users, self.items)
        after = self.outcome_entropy.copy()
        both = user_known & item_known
        after[both] = self.likelihood.expected_outcome_entropy(self.mean[both], self.variance[both])
        own, other = self.factors.sides
        for one, vectors, spread in (
            (user_known & ~item_known, other.mean[self.items], own.spread[self.users]),
            (item_known & ~user_known, own.mean[self.users], other.spread[self.items]),
        ):
            explained = _form(vectors[one], spread[one])
            after[one] = expected_entropies(self.mean[one], explained, self.variance[one] - explained)
        return np.minimum(after, self.outcome_entropy)

    def _entropies(self, user: int, item: int) -> tuple[float, float]:
        """H(y), and E H(y | eta) of a pair, or given those of its rows that are to be learnt about."""
        normals, weights = nodes_at(self.factors, user, item, self.seed, 1, N_WHAT_IF if self.more else N_EXACT)
        before, after = mixture_entropies(*conditional_moments(self.factors, user, item, normals), weights)
        if self.about is None:
            return before, after
        known = [bool(flags[0]) for flags in self.about.which(np.array([user]), np.array([item]))]
        if all(known) or not any(known):
            return before, after if all(known) else before
        side = known.index(True)
        normals, weights = nodes_at(self.factors, user, item, self.seed, side, N_WHAT_IF if self.more else N_EXACT)
        moments = conditional_moments(self.factors, user, item, normals, side)
        return before, float(weights @ self.likelihood.outcome_entropy(*moments))

    def likely_outcomes(self, i: int) -> list[tuple[object, float]]:
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
            raise self._unknown(i)
        user, item = int(self.users[i]), int(self.items[i])
        more = (*self.more, (user, item, float(np.asarray(outcome, dtype=float))))
        factors = self.factors
        for side in self.learns:
            factors = _with_row_solved(factors, self.entries, side, (user, item)[side], more, self.kind)
        after = self._of(factors, slice(None), more)
        after.asked = self.asked
        return after


def _with_row_solved(
    factors: Factors, entries: Entries, side: int, row: int, more: tuple[tuple[int, int, float], ...], kind: Kind
) -> Factors:
    """The factors after one row was solved on its entries and the ``more`` ones."""
    indptr, index, y, exposure, _ = entries.by(side)
    a, b = (indptr[row], indptr[row + 1]) if row < entries.lengths[side] else (0, 0)
    new = [pair for pair in more if pair[side] == row]
    index = np.append(index[a:b], np.array([pair[1 - side] for pair in new], dtype=np.int64))
    y = np.append(y[a:b], [pair[2] / entries.dispersion for pair in new])
    exposure = np.append(exposure[a:b], np.full(len(new), 1.0 / entries.dispersion))
    own: Factor = factors.sides[side].copy()
    other = factors.sides[1 - side]
    ends = np.zeros(len(own.mean) + 1, dtype=np.int64)
    ends[row + 1 :] = len(y)
    solve_rows(
        row, row + 1, ends, index, y, exposure, np.zeros(len(own.mean)), factors.offset, own.mean, own.spread,
        other.mean, other.spread, own.prior, own.variance, kind.points[side], STEPS, 1e-9, np.zeros(len(own.mean)),
    )  # fmt: skip
    sides = (own, other) if side == 0 else (other, own)
    return replace(factors, sides=sides)
