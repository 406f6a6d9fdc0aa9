"""Predictive of an answer yes or no by two uncertain vectors:  y ~ Bernoulli(sigmoid(a)),  a = x . y.

    Cov(x.y, x.y') = m_y' V_x m_y'    for two items of a user, mirrored for two users of an item,  Var = both + V_x.V_y

are exact; the shape of a is taken for Gaussian in entropies and what-ifs, and not in draws and in ``refined``.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from adaptive.estimators.pairs.factorization.predictive import conditional_moments, eta_moments, nodes_at
from adaptive.estimators.rows.labels import Labelled
from adaptive.potentials import BernoulliLogit
from adaptive.predictive import GaussianProjections, GaussianTarget
from adaptive.predictive.derivations import entropy
from adaptive.predictive.joint_gaussian import CANDIDATES, StatedSource
from adaptive.search.pairs import moments_of_products

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adaptive.estimators.pairs.columns import Columns
    from adaptive.estimators.pairs.inference.rounds import Factors
    from adaptive.types import RandomState

TOGETHER = 2**21  # numbers gathered at once
SHOWN: Any = Labelled(BernoulliLogit(), np.array([0, 1]))  # refused or taken

__all__ = ["OddsPredictive", "covariance_of_pairs", "drawn_rows", "moments_of_all", "odds"]


def odds(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return E sigmoid(a), a ~ N(mean, variance), of the same shape."""
    found = BernoulliLogit().outcome_probabilities(np.ravel(mean), np.ravel(variance))[1][:, 1]
    return found.reshape(np.shape(mean))


def covariance_of_pairs(factors: Factors, first: Columns, second: Columns) -> np.ndarray:
    """Return the covariances (m, k) of the products of two lists of pairs of rows."""
    same = [np.equal.outer(one, other) for one, other in zip(first, second, strict=True)]
    total = np.zeros(same[0].shape)
    for side in (0, 1):  # the side that is shared is uncertain, the other one enters by its means
        mean, spread = factors.sides[1 - side].mean, factors.sides[side].spread
        weighted = mean[first[1 - side]] * spread[first[side]]
        total += same[side] * (weighted @ mean[second[1 - side]].T)
    own, other = factors.sides
    both = np.einsum("nk,nk->n", own.spread[first[0]], other.spread[first[1]])
    return total + (same[0] & same[1]) * both[:, None]


def moments_of_all(factors: Factors, users: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return means and variances (n, m) of the log odds of all pairs of rows."""
    own, other = factors.sides
    return moments_of_products((own.mean[users], own.spread[users]), (other.mean[items], other.spread[items]))


def drawn_rows(
    factors: Factors, side: int, rows: np.ndarray, labels: np.ndarray, n: int, base: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return n draws (n, r, k) of the rows that there are, and where among these each of ``rows`` is.

    A row's draws are its id's, whatever stands beside it.
    """
    different, first, where = np.unique(rows, return_index=True, return_inverse=True)
    factor = factors.sides[side]
    names = [zlib.crc32(repr(label).encode()) for label in labels[first].tolist()]
    shape = n, factor.mean.shape[1]
    normals = np.stack([np.random.default_rng([base, side, name]).standard_normal(shape) for name in names], axis=1)
    return factor.mean[different] + np.sqrt(factor.spread[different]) * normals, where


class OddsPredictive(GaussianProjections):
    """Predictive of pairs.

    Parameters
    ----------
    factors : Factors
    rows : ((m,) array, (m,) array)
        Of the candidates' users and items.
    labels : ((m,) array, (m,) array)
        Their ids.
    target : the same two of given pairs, optional
        Whose odds are to be learnt; None: all.
    random_state : None, int, Generator or RandomState
    """

    _kept: ClassVar[tuple[str, ...]] = (*GaussianProjections._kept, "_factors", "_rows", "_labels")

    def __init__(
        self,
        factors: Factors,
        rows: Columns,
        labels: Columns,
        *,
        target: tuple[Columns, Columns] | None = None,
        random_state: RandomState = None,
    ) -> None:
        def block(one: Columns, other: Columns) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
            return lambda i, j: covariance_of_pairs(factors, (one[0][i], one[1][i]), (other[0][j], other[1][j]))

        parts = [(rows, labels)] if target is None else [(rows, labels), target]
        about = None
        if target is not None:
            about = GaussianTarget(
                *eta_moments(factors, *target[0]), block(target[0], target[0]), block(rows, target[0])
            )
        super().__init__(
            *eta_moments(factors, *rows), block(rows, rows), SHOWN, target=about,
            projection_draws=lambda n, generator: _draws(factors, parts, n, generator), random_state=random_state,
        )  # fmt: skip
        self._factors, self._rows, self._labels = factors, rows, labels

    def _provides(self, name: str) -> bool:
        """Return whether the field ``name`` is there; what-ifs, and what is about given pairs, are not refined."""
        if name == "refined":
            return isinstance(self._source, StatedSource) and self._part == CANDIDATES and self._about == "all"
        return super()._provides(name)

    def refined(self, positions: np.ndarray) -> OddsPredictive:
        """Return these candidates with exact entropies: the odds' mixture over the item, given which a is Gaussian."""
        at = np.atleast_1d(np.arange(len(self))[positions])
        rows, labels = ((pair[0][at], pair[1][at]) for pair in (self._rows, self._labels))
        exact = OddsPredictive(self._factors, rows, labels, random_state=self.seed)
        before, after = np.empty(len(at)), np.empty(len(at))
        for k, (user, item) in enumerate(zip(*rows, strict=True)):
            normals, weights = nodes_at(self._factors, user, item, 0)
            mean, variance = conditional_moments(self._factors, user, item, normals)
            p = float(weights @ odds(mean, variance))
            before[k] = entropy(np.array([p, 1.0 - p]))
            after[k] = weights @ BernoulliLogit().expected_outcome_entropy(mean, variance)
        exact._fields["outcome_entropy"], exact._fields["expected_entropy"] = before, after
        return exact


def _draws(
    factors: Factors, parts: Sequence[tuple[Columns, Columns]], n: int, generator: np.random.Generator
) -> list[np.ndarray]:
    """Joint draws (n, m) of every part, the same of a pair wherever it stands."""
    base = int(generator.integers(2**62))
    found = []
    for rows, labels in parts:
        (u, i), (v, j) = (drawn_rows(factors, side, rows[side], labels[side], n, base) for side in (0, 1))
        out, together = np.empty((n, len(i))), max(1, TOGETHER // max(1, len(i) * u.shape[2]))
        for d in range(0, n, together):
            out[d : d + together] = np.einsum("nmk,nmk->nm", u[d : d + together, i], v[d : d + together, j])
        found.append(out)
    return found
