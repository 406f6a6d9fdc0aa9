"""Gaussian projections, or a mixture of them, after several answers (:mod:`adaptive.predictive.answers`).

What n calls of ``given`` would say, at the cost of one: the covariance of the pool with the answered candidates is one
product for each component, whatever the answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.predictive.answers.learning import Learnt, learn, moves
from adaptive.predictive.gaussian import GaussianProjections
from adaptive.predictive.joint_gaussian import CANDIDATES, Source
from adaptive.predictive.mixture import Mixture

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import Index

__all__ = ["answered", "can_be_answered"]


def can_be_answered(predictive: Predictive) -> bool:
    """Return whether several answers can be learnt at once: outcomes are discrete, of Gaussian projections."""
    return all(isinstance(part, GaussianProjections) and part.likelihood.discrete for _, part in predictive.components)


def answered(predictive: Predictive, answers: Sequence[Sequence[Any]]) -> list[Predictive]:
    """Return for each of S sets of answers the belief had the first n candidates given them.

    Parameters
    ----------
    predictive : GaussianProjections of discrete outcomes, or a Mixture of such
    answers : (S, n) outcomes of the first n candidates

    Examples
    --------
    >>> from adaptive.potentials import BernoulliLogit
    >>> belief = GaussianProjections.from_rows(
    ...     np.eye(3), np.zeros(3), covariance=np.eye(3) + 1.0, likelihood=BernoulliLogit()
    ... )
    >>> (after,) = answered(belief, [[1, 1]])
    >>> np.allclose(after.mean, belief.given(0, 1).given(1, 1).mean)
    True
    """
    parts: list[Any] = [part for _, part in predictive.components]
    columns = [_Columns(part, len(answers[0])) for part in parts]
    S, K = len(answers), len(parts)
    mean = np.tile(np.stack([one.mean for one in columns])[:, :, None], (S, 1, 1))
    covariance = np.tile(np.stack([one.covariance for one in columns]), (S, 1, 1))
    learnt = learn(mean, covariance, lambda i, m, V: _tilted(parts, i, [one[i] for one in answers], m, V))
    found: list[Predictive] = []
    for s in range(S):
        after = [
            part._on(_Answered(part._source, columns[k], learnt, s * K + k)) for k, part in enumerate(parts)
        ]  # fmt: skip
        if isinstance(predictive, Mixture):
            log = learnt.log[s * K : (s + 1) * K]
            weights = predictive.weights * np.exp(log - log.max())
            possible = np.flatnonzero(weights)
            found.append(predictive._with(weights[possible], [after[k] for k in possible]))
        else:
            found.append(after[0])
    return found


def _tilted(
    parts: list[Any], i: int, outcomes: list[Any], mean: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log p(outcome), and the moments given it, of S outcomes under K parts (S K, ...)."""
    K, m, v = len(parts), mean[:, 0], variance[:, 0, 0]
    found = [np.empty(len(m)) for _ in range(3)]
    by_family: dict[int, list[int]] = {}  # components that share a likelihood are one call
    for k, part in enumerate(parts):
        by_family.setdefault(id(part.likelihood), []).append(k)
    for some in by_family.values():
        at = (np.arange(len(outcomes))[:, None] * K + some).ravel()
        family = parts[some[0]]._family(i)
        if family.size is not None:
            family = family[np.zeros(len(at), dtype=int)]
        factors = family.observe(np.repeat(np.array(outcomes), len(some), axis=0))
        known = ~(v[at] > 0)
        log, *moments = factors.tilted_moments(m[at], np.where(known, 1.0, v[at]))
        if known.any():
            log = np.where(known, factors.log_density(m[at]), log)
        for into, values in zip(found, (log, *moments), strict=True):
            into[at] = values
    return found[0], found[1][:, None], found[2][:, None, None]


class _Columns:
    """Moments of the first n candidates of a predictive, and the covariance of everything with them."""

    def __init__(self, predictive: GaussianProjections, n: int) -> None:
        self._source, self.at = predictive._source, np.arange(n)
        self.mean = predictive.mean[:n]
        self.covariance = self._source.block(CANDIDATES, self.at, CANDIDATES, self.at)
        self._parts: dict[int, np.ndarray] = {}

    def __getitem__(self, part: int) -> np.ndarray:
        """X (m, n)."""
        if part not in self._parts:
            self._parts[part] = self._source.block(part, slice(None), CANDIDATES, self.at)
        return self._parts[part]


class _Answered:
    """Projections after the first n were answered: a source of its own, on which what-ifs may follow.

    Parameters
    ----------
    parent : a source
    columns : _Columns
        Of ``parent``; shared by all answers.
    learnt : Learnt
    which : int
        The what-if of this component and these answers.
    """

    def __init__(self, parent: Source, columns: _Columns, learnt: Learnt, which: int) -> None:
        self.n_parts, self._parent, self._columns = parent.n_parts, parent, columns
        self._learnt, self._which = learnt, which
        self._means: dict[int, np.ndarray] = {}
        self._variances: dict[int, np.ndarray] = {}

    def mean(self, part: int) -> np.ndarray:
        if part not in self._means:
            self._means[part] = self._parent.mean(part) + self._columns[part] @ self._learnt.u[self._which]
        return self._means[part]

    def variance(self, part: int) -> np.ndarray:
        if part not in self._variances:
            X = self._columns[part]
            less = np.einsum("ij,ij->i", X @ self._learnt.B[self._which], X)
            self._variances[part] = np.maximum(self._parent.variance(part) - less, 0.0)  # rounding
        return self._variances[part]

    def block(self, a: int, i: Index, b: int, j: Index) -> np.ndarray:
        left, right = self._columns[a][i], self._columns[b][j]
        return self._parent.block(a, i, b, j) - left @ self._learnt.B[self._which] @ right.T

    def draw(self, n: int, generator: np.random.Generator) -> list[np.ndarray]:
        """Return the parent's draws, moved so that each answered candidate has its new moments (Matheron's rule)."""
        drawn, columns = self._parent.draw(n, generator), self._columns
        mine = drawn[CANDIDATES][:, columns.at, None]
        a = moves(self._learnt, self._which, mine, columns.mean[:, None], columns.covariance)
        return [draws + a @ columns[part].T for part, draws in enumerate(drawn)]
