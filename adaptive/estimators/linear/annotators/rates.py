"""Rates of people: how often each of them says y where the truth is z, and what is believed about it.

    q_a ~ Beta(7, 1.5)   on a grid,      kappa_a in {2, 8, 32, 128}        a person's one number, and how alike rows are
    R_az | q_a, kappa_a  ~  Dirichlet(kappa_a (q_a where y = z, else (1 - q_a) / (c - 1)))       a row for each truth z

Given expected counts N_a[z, y] the posterior is a mixture of Dirichlets over the grid of (q, kappa), each weighted by
its evidence: closed. A row with few counts is pulled to what the person's other rows say, the less the less alike they
are. The prior favours the truth, which is what tells z from its mirror.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

__all__ = ["Rates", "Skill"]

# Of the Beta: a stranger is right in 82% of the cases, and below a half in one of fifty.  With (4, 1.5), 73%, few
# labels say less than where all are taken for the truth; with (12, 2) weak people are believed too long.
RIGHT, WRONG = 7.0, 1.5
_GRID = (np.arange(24) + 0.5) / 24
_ALIKE = (2.0, 8.0, 32.0, 128.0)
_CERTAIN = 1.0 - 1e-12  # the most that anybody is trusted: two of them may disagree
_DRAWS = 1024  # of intervals
_AT_ONCE = 256  # answers whose own part is left out together


class Skill(NamedTuple):
    """Skill of a person, as it is believed.

    Attributes
    ----------
    mean : float
        Probability of a right answer, whatever the truth (all true labels alike).
    low, high : float
        Its 90% interval.
    labels : int
        How many the person has given.
    rates : (c, c) array
        Mean probability that y is said (columns) where z is true (rows), in the order of ``classes_``.
    """

    mean: float
    low: float
    high: float
    labels: int
    rates: np.ndarray


@cache
def _nodes(c: int) -> tuple[np.ndarray, np.ndarray]:
    """Parameters (g, c, c) of the Dirichlets at the nodes, and log prior weights (g,)."""
    right, alike = (part.ravel() for part in np.meshgrid(_GRID, _ALIKE, indexing="ij"))
    off = (1.0 - right) / (c - 1)
    base = off[:, None, None] * np.ones((c, c)) + (right - off)[:, None, None] * np.eye(c)
    logs = (RIGHT - 1.0) * np.log(right) + (WRONG - 1.0) * np.log1p(-right)
    return alike[:, None, None] * base, logs - np.logaddexp.reduce(logs)


@dataclass(frozen=True, eq=False)
class Rates:
    """Posterior over the rates of people, who are independent given their expected counts.

    Parameters
    ----------
    people : sequence of labels
    counts : (people, c, c) array
        Expected number of answers y (columns) where the truth is z (rows).
    known : mapping of people to numbers
        Those whose probability of a right answer is known; they learn nothing.

    Examples
    --------
    >>> counts = np.array([[[9.0, 1.0], [2.0, 8.0]], [[1.0, 9.0], [9.0, 1.0]]])
    >>> rates = Rates(["Ann", "Bob"], counts, {})
    >>> [round(rates.skill(k).mean, 2) for k in range(2)]  # Bob is turned round
    [0.84, 0.2]
    """

    people: Sequence[Any]
    counts: np.ndarray
    known: Mapping[Any, float]

    def __post_init__(self) -> None:
        _ = self.mean  # now, so that no question changes it

    @property
    def n_classes(self) -> int:
        """Number c of classes."""
        return int(self.counts.shape[-1])

    @cached_property
    def _weighted(self) -> tuple[np.ndarray, np.ndarray]:
        """Log weights (people, g) of the nodes, normalised, and log evidences (people,) of the counts."""
        alpha, prior = _nodes(self.n_classes)
        sums, totals = alpha.sum(axis=2), self.counts.sum(axis=2)
        logs = np.tile(prior, (len(self.people), 1))
        for k, counts in enumerate(self.counts):
            after = alpha + counts
            cells = (gammaln(after) - gammaln(alpha)).sum(axis=(1, 2))
            logs[k] += cells - (gammaln(sums + totals[k]) - gammaln(sums)).sum(axis=1)
        evidence = np.logaddexp.reduce(logs, axis=1)
        return logs - evidence[:, None], evidence

    @cached_property
    def mean(self) -> np.ndarray:
        """(people, c, c) mean rates."""
        alpha, _ = _nodes(self.n_classes)
        found = np.empty_like(self.counts)
        for k, person in enumerate(self.people):
            if person in self.known:
                found[k] = _table(self.known[person], self.n_classes)
                continue
            after = alpha + self.counts[k]
            found[k] = np.einsum("g,gzy->zy", np.exp(self._weighted[0][k]), after / after.sum(axis=2, keepdims=True))
        return found

    @property
    def log_evidence(self) -> float:
        """ln E_prior prod R^N, of all people whose rates are learnt."""
        own = np.array([person not in self.known for person in self.people], dtype=bool)
        return float(self._weighted[1][own].sum())

    def heard(self, who: np.ndarray, codes: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, float]:
        """Log likelihoods (m, c) of every true label by each answer, and ln of what the answers add to `log_evidence`.

        They are log mean rates, where an answer's own part of the counts is left out: else it would speak for itself.

        Parameters
        ----------
        who, codes : (m,) arrays of int
            The person and the answer.
        truth : (m, c) array
            What each answer adds to the counts, the probabilities of its row's true labels; 0 where it adds nothing.
        """
        alpha, _ = _nodes(self.n_classes)
        found, added = np.empty(truth.shape), 0.0
        sums = alpha.sum(axis=2)
        for k, person in enumerate(self.people):
            own = np.flatnonzero(who == k)
            if person in self.known:
                found[own] = np.log(_table(self.known[person], self.n_classes))[:, codes[own]].T
                continue
            totals = sums + self.counts[k].sum(axis=1)  # (g, c)
            for code in np.unique(codes[own]):
                some = own[codes[own] == code]
                cell = alpha[:, :, code] + self.counts[k][:, code]  # (g, c)
                for part in np.array_split(some, max(1, len(some) // _AT_ONCE)):
                    without = np.maximum(cell[None] - truth[part][:, None, :], 1e-12)  # (m, g, c)
                    rest = np.maximum(totals[None] - truth[part][:, None, :], 1e-12)
                    ratio = gammaln(without) - gammaln(cell) - gammaln(rest) + gammaln(totals)
                    logs = self._weighted[0][k] + ratio.sum(axis=2)
                    evidence = np.logaddexp.reduce(logs, axis=1)
                    found[part] = np.log(np.einsum("mg,mgz->mz", np.exp(logs - evidence[:, None]), without / rest))
                    added -= float(evidence.sum())
        return found, added

    def of(self, people: Sequence[Any]) -> Rates:
        """The rates of some people, who need not have said anything yet."""
        place = {person: k for k, person in enumerate(self.people)}
        nothing = np.zeros((self.n_classes, self.n_classes))
        counts = [self.counts[place[person]] if person in place else nothing for person in people]
        return Rates(list(people), np.stack(counts), self.known)

    def draws(self, k: int, n: int) -> np.ndarray:
        """(n, c, c) draws of the rates of person k, the same in every call."""
        label, c = self.people[k], self.n_classes
        if label in self.known:
            return np.broadcast_to(_table(self.known[label], c), (n, c, c))
        alpha, _ = _nodes(c)
        generator = np.random.default_rng(zlib.crc32(repr(label).encode()))
        # stratified over the nodes
        levels = (np.arange(n) + generator.random(n)) / n
        chosen = np.minimum(np.searchsorted(np.cumsum(np.exp(self._weighted[0][k])), levels), len(alpha) - 1)
        drawn = np.maximum(generator.standard_gamma(alpha[chosen] + self.counts[k]), 1e-300)
        return drawn / drawn.sum(axis=2, keepdims=True)

    def skill(self, k: int) -> Skill:
        """Skill of person k, as it is believed."""
        n = round(float(self.counts[k].sum()))
        right = np.einsum("nzz->n", self.draws(k, _DRAWS)) / self.n_classes
        low, high = np.quantile(right, [0.05, 0.95])
        return Skill(float(np.trace(self.mean[k])) / self.n_classes, float(low), float(high), n, self.mean[k])


def _table(skill: float, c: int) -> np.ndarray:
    """(c, c) rates of somebody who is right with this probability, and else says any of the others."""
    right = min(max(float(skill), 1.0 - _CERTAIN), _CERTAIN)
    off = (1.0 - right) / (c - 1)
    return off * np.ones((c, c)) + (right - off) * np.eye(c)
