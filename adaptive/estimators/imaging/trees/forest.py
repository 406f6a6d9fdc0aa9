"""The forest of wavelet coefficients, and exact inference of two-state variables on it.

    P(d) = prod_roots P(d_k) prod_others P(d_j | d_parent),     Q(d) = P(d) prod_j exp(e_j(d_j)) / Z

A coefficient of one level is the parent of the 2^d coefficients at the same place of the same band one level finer. The
posterior Q is again a Markov forest from the roots to the leaves: messages run up once, which gives its transitions,

    Q(wide_j | parent = d) = P(wide | d) exp(up_j(1)) / sum_d' ...,       up_j = e_j + sum over children of messages,

and probabilities run down once. Log domain, all coefficients of a level at a time, O(n).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import entr, expit, logit

from adaptive.checks import finite
from adaptive.operators import Wavelet

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Number

__all__ = ["ForestBeliefs", "WaveletForest"]


class ForestBeliefs(NamedTuple):
    """The posterior of the states: `WaveletForest.sum_product`.

    Attributes
    ----------
    wide : array (n,)
        Probability of state 1.
    given : array (2, n)
        Probability of state 1 given that the parent is in state 0, or 1; of a coefficient without parent twice the
        same.
    log_normaliser : float
        ln Z.

    Examples
    --------
    >>> from adaptive.operators import Wavelet
    >>> forest = WaveletForest(Wavelet((4, 4), "haar"))
    >>> found = forest.sum_product(np.zeros((2, 16)), np.full((forest.depth + 1, 2), 0.3))
    >>> found.wide.round(3)[:4], found.given.shape
    (array([0.3, 0.3, 0.3, 0.3]), (2, 16))
    """

    wide: np.ndarray
    given: np.ndarray
    log_normaliser: float


class WaveletForest:
    """Which coefficient of an orthonormal wavelet transform is whose parent.

    Parameters
    ----------
    wavelet : Wavelet
        In any number of dimensions; coefficients are numbered in the order of its flat output.

    Attributes
    ----------
    n, depth : int
        Coefficients, and levels of the transform.
    levels : integer array (n,)
        1 (finest) to ``depth`` (roots), 0 for the scaling coefficients.
    parents : integer array (n,)
        -1 for roots and scaling coefficients.

    References
    ----------
    Crouse, Nowak and Baraniuk (1998), Wavelet-based statistical signal processing using hidden Markov models;
    Ko (2017), section 2.2.2.

    Examples
    --------
    >>> forest = WaveletForest(Wavelet((4, 4), "haar", level=2))
    >>> forest.levels.reshape(4, 4)
    array([[0, 2, 1, 1],
           [2, 2, 1, 1],
           [1, 1, 1, 1],
           [1, 1, 1, 1]])
    >>> forest.parents.reshape(4, 4)[0]
    array([-1, -1,  1,  1])
    """

    def __init__(self, wavelet: Wavelet):
        self.shape, self.depth = wavelet.input_shape, wavelet.level
        self.n = wavelet.shape[1]
        numbers = np.arange(self.n).reshape(self.shape)
        self._at = [self._bands(numbers, level) for level in range(1, self.depth + 1)]  # finest first
        self.levels, self.parents = np.zeros(self.n, int), np.full(self.n, -1)
        for level, at in enumerate(self._at, start=1):
            self.levels[at] = level
        for at, above in itertools.pairwise(self._at):
            self.parents[at] = _spread(above)
        self.counts = np.bincount(self.levels, minlength=self.depth + 1)
        self._scaling = np.flatnonzero(self.levels == 0)

    def _bands(self, numbers: np.ndarray, level: int) -> np.ndarray:
        """Indices (bands, *sides) of the coefficients of a level."""
        half = [side // 2**level for side in self.shape]
        mixtures = [high for high in itertools.product([0, 1], repeat=len(half)) if any(high)]
        return np.stack(
            [numbers[tuple(slice(h * m, (h + 1) * m) for h, m in zip(high, half, strict=True))] for high in mixtures]
        )

    @cached_property
    def children(self) -> np.ndarray:
        """The 2^d children of every coefficient (n, 2^d), -1 where there are none."""
        having = np.flatnonzero(self.parents >= 0)
        order = having[np.argsort(self.parents[having], kind="stable")]
        result = np.full((self.n, 2 ** len(self.shape)), -1)
        result[np.unique(self.parents[having])] = order.reshape(-1, result.shape[1])
        return result

    def sum_product(self, log_potentials: ArrayLike, chances: ArrayLike) -> ForestBeliefs:
        """Exact posterior of the states.

        Parameters
        ----------
        log_potentials : array (2, n)
            e_j(0) and e_j(1).
        chances : array (depth + 1, 2)
            P(state 1 | parent in state 0, 1) at every level, within (0, 1); at levels 0 and ``depth``, where there are
            no parents, both columns are the same.

        Returns
        -------
        ForestBeliefs
        """
        e = finite("log_potentials", log_potentials)
        chances = finite("chances", chances)
        if e.shape != (2, self.n) or chances.shape != (self.depth + 1, 2):
            raise ValueError(
                f"log_potentials and chances must have shapes {(2, self.n)} and {(self.depth + 1, 2)}, got {e.shape} "
                f"and {chances.shape}."
            )
        odds, off = logit(chances), np.log1p(-chances)
        wide, given = np.empty(self.n), np.empty((2, self.n))
        log_normaliser = 0.0
        low, gap = e[0], e[1] - e[0]  # of the subtree below each coefficient, itself included
        from_children: Sequence[Number] = (0.0, 0.0)
        for level, at in enumerate(self._at, start=1):
            below, rise = low[at] + from_children[0], gap[at] + from_children[1] - from_children[0]
            x = odds[level].reshape(2, *[1] * at.ndim) + rise
            given[:, at] = expit(x)
            up = below + off[level].reshape(2, *[1] * at.ndim) + np.logaddexp(0.0, x)
            if level == self.depth:
                log_normaliser += float(up[0].sum())
            else:
                from_children = [_gathered(message) for message in up]
        free = self._scaling
        x = odds[0, 0] + gap[free]
        given[:, free] = expit(x)
        log_normaliser += float(np.sum(low[free] + off[0, 0] + np.logaddexp(0.0, x)))
        wide[free] = given[0, free]
        wide[self._at[-1]] = above = given[0, self._at[-1]]
        for at in reversed(self._at[:-1]):
            parent = _spread(above)
            above = given[0, at] + parent * (given[1, at] - given[0, at])
            wide[at] = above
        return ForestBeliefs(wide, given, log_normaliser)

    def parent_wide(self, beliefs: ForestBeliefs) -> np.ndarray:
        """Probability that the parent is in state 1, zero where there is none; (n,)."""
        return np.where(self.parents >= 0, beliefs.wide[self.parents], 0.0)

    def edges(self, beliefs: ForestBeliefs) -> np.ndarray:
        """Joint probabilities of (state of the parent, state), (2, 2, n); without parent its state counts as 0."""
        parent = self.parent_wide(beliefs)
        weights = np.stack([1 - parent, parent])
        return np.stack([weights * (1 - beliefs.given), weights * beliefs.given], axis=1)

    def divergence(self, beliefs: ForestBeliefs, chances: np.ndarray) -> float:
        """KL(Q || P) of a posterior from the prior with these chances."""
        parent = self.parent_wide(beliefs)
        total = 0.0
        for weights, given, chance in zip((1 - parent, parent), beliefs.given, chances.T, strict=True):
            p = chance[self.levels]
            cross = given * np.log(p) + (1 - given) * np.log1p(-p)
            total -= float(np.sum(weights * (entr(given) + entr(1 - given) + cross)))
        return total

    def draw(self, chances: np.ndarray, random_state: np.random.Generator) -> np.ndarray:
        """States of the prior, 0 or 1, (n,)."""
        uniform, state = random_state.random(self.n), np.zeros(self.n, int)
        state[self._scaling] = uniform[self._scaling] < chances[0, 0]
        above = np.zeros((1, *self._at[-1].shape[1:]), int)
        for level in range(self.depth, 0, -1):
            at = self._at[level - 1]
            parent = _spread(above) if level < self.depth else above
            above = (uniform[at] < chances[level][parent]).astype(int)
            state[at] = above
        return state

    def level_sums(self, values: np.ndarray) -> np.ndarray:
        """Sums over every level, (depth + 1,)."""
        return np.bincount(self.levels, weights=values, minlength=self.depth + 1)


def _spread(parents: np.ndarray) -> np.ndarray:
    """To each of 2^d children what its parent has; the bands stand on the first axis."""
    for axis in range(1, parents.ndim):
        parents = np.repeat(parents, 2, axis)
    return parents


def _gathered(messages: np.ndarray) -> np.ndarray:
    """Sums over the 2^d children of each parent."""
    pairs = [part for side in messages.shape[1:] for part in (side // 2, 2)]
    return messages.reshape(messages.shape[0], *pairs).sum(axis=tuple(range(2, 1 + len(pairs), 2)))
