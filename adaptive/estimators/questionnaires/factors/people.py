"""People as Gaussians over many traits, all of them at once: what an answer does, and what it would teach.

    x | y  by moments of the projection s = a.x:   m + V a (m' - m_s) / v_s,     V + V a a' V (v' - v_s) / v_s^2

(assumed-density filtering: answers in their order). A newcomer is a mixture of two Gaussians: somebody like those who
calibrated, and somebody who answers more of everything rightly, by a further trait on which all items load alike; each
answer weighs them by how probable it was. Of the total T of the answers to come, with g_i = d E v_i / d m_i,

    Cov(v_i, v_j) = g_i g_j a_i' V a_j   (i != j),      Var v_i by quadrature,      I(y_i; T) = -1/2 log(1 - rho_i^2)

and of traits  H(y) - E H(y | s),  since an answer sees them through s alone.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.special import ndtr, softmax

from adaptive.estimators.questionnaires.factors.averages import answer_averages, posterior_moments
from adaptive.predictive.derivations import entropy

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.base import Newcomer
    from adaptive.estimators.questionnaires.factors.bank import FactorBank

__all__ = ["Outlook", "People", "gaussian_gain"]

BETTER = 0.2  # prior probability that a newcomer is better than those who calibrated,
ABOVE, ABOVE_DEVIATION = 2.0, 1.0  # by so many logits on each item: chosen on two splits of two benchmarks


class People:
    """People of a bank, whom ``learn`` changes in place: each is a Gaussian, or a mixture of some.

    Parameters
    ----------
    bank : FactorBank
    centres, spreads : (people x parts, K), (people x parts, K, K) arrays
        Of each part, those of a person together.
    log_weights : (people, parts) array, optional
        Default: a person is one Gaussian.
    n_traits : int, optional
        Those that ``mean`` and ``covariance`` speak of; default all.

    Attributes
    ----------
    weights : (people, parts) array
    """

    def __init__(
        self, bank: FactorBank, centres: np.ndarray, spreads: np.ndarray, log_weights: np.ndarray | None = None,
        n_traits: int | None = None,
    ) -> None:  # fmt: skip
        self.bank, self.centres, self.spreads = bank, centres, spreads
        self.log_weights = np.zeros((len(centres), 1)) if log_weights is None else log_weights
        self.weights = softmax(self.log_weights, axis=1)
        self.n_traits = len(bank.traits) if n_traits is None else n_traits

    @classmethod
    def before(cls, bank: FactorBank, n: int, prior: np.ndarray | Newcomer | None = None) -> Self:
        """Strangers; prior (K, 2 or more) means and deviations, default standard normal."""
        k = len(bank.traits)
        if isinstance(prior, str):
            centre, spread = np.zeros((2, k + 1)), np.tile(np.eye(k + 1), (2, 1, 1))
            centre[:, -1], spread[:, -1, -1] = (0.0, ABOVE), (0.0, ABOVE_DEVIATION**2)
            log_weights = np.tile(np.log([1.0 - BETTER, BETTER]), (n, 1))
            return cls(bank.widened, np.tile(centre, (n, 1)), np.tile(spread, (n, 1, 1)), log_weights, k)
        mean, deviation = (np.zeros(k), np.ones(k)) if prior is None else (prior[:, 0], prior[:, 1])
        return cls(bank, np.tile(mean, (n, 1)), np.tile(np.diag(deviation**2), (n, 1, 1)))

    def copy(self) -> People:
        """The same people, who may learn apart."""
        return People(self.bank, self.centres.copy(), self.spreads.copy(), self.log_weights.copy(), self.n_traits)

    # -- mixtures ------------------------------------------------------------------------------------------------------

    @property
    def parts(self) -> int:
        """Gaussians of a person."""
        return self.log_weights.shape[1]

    def mixed(self, values: np.ndarray) -> np.ndarray:
        """Means (people, ...) over the parts of values (people x parts, ...)."""
        if self.parts == 1:
            return values
        return np.einsum("uc,uc...->u...", self.weights, values.reshape(-1, self.parts, *values.shape[1:]))

    def between(self, one: np.ndarray, other: np.ndarray) -> np.ndarray | float:
        """Covariances (people, ...) by which the means of the parts differ; 0 of one Gaussian."""
        if self.parts == 1:
            return 0.0
        first, second = (of - np.repeat(self.mixed(of), self.parts, axis=0) for of in (one, other))
        return self.mixed(first * second)

    @property
    def mean(self) -> np.ndarray:
        """(people, traits)."""
        return self.mixed(self.centres)[:, : self.n_traits]

    @property
    def covariance(self) -> np.ndarray:
        """(people, traits, traits)."""
        k = self.n_traits
        own = self.centres[:, :k]
        return np.asarray(self.mixed(self.spreads)[:, :k, :k] + self.between(own[:, :, None], own[:, None, :]))

    # -- answers -------------------------------------------------------------------------------------------------------

    def learn(self, rows: np.ndarray, items: np.ndarray, ranks: np.ndarray) -> None:
        """One answer of each of the people in ``rows``."""
        if not len(rows):
            return
        each = (rows[:, None] * self.parts + np.arange(self.parts)).ravel()
        loadings, steps = (np.repeat(of[items], self.parts, axis=0) for of in self.bank.curves)
        mean, covariance = self.centres[each], self.spreads[each]
        along = np.einsum("uij,uj->ui", covariance, loadings)
        m, v = np.sum(loadings * mean, axis=1), np.maximum(np.sum(loadings * along, axis=1), 1e-12)
        asymptotes = np.repeat(self.bank.asymptotes[items], self.parts, axis=0)
        first, second, log_p = posterior_moments(m, v, steps, np.repeat(ranks, self.parts), asymptotes)
        self.centres[each] = mean + along * ((first - m) / v)[:, None]
        shrink = (second - v) / v**2
        self.spreads[each] = covariance + along[:, :, None] * along[:, None, :] * shrink[:, None, None]
        self.log_weights[rows] += log_p.reshape(-1, self.parts)
        self.weights = softmax(self.log_weights, axis=1)

    def outlook(self, items: np.ndarray, open_: np.ndarray | None = None) -> Outlook:
        """Beliefs about their answers; the lowest is certain to items that are not ``open_`` (people, items)."""
        return Outlook(self, items, open_)


class Outlook:
    """Answers of people to items, and totals.

    Parameters
    ----------
    people : People
    items : (m,) array of int
    open_ : (people, items) array of bool, optional
        Those that are looked at, default all.

    Attributes
    ----------
    entropies : bool
        Whether the first look at the answers is to be the one that ``gain_of_traits`` needs.
    """

    entropies = False

    def __init__(self, people: People, items: np.ndarray, open_: np.ndarray | None = None) -> None:
        self.people, self.items, self.asymptotes = people, items, people.bank.asymptotes[items]
        self.open_ = None if open_ is None else np.repeat(open_, people.parts, axis=0)
        self.loadings, self.steps = (of[items] for of in people.bank.curves)
        first, second = np.triu_indices(self.loadings.shape[1])
        products = self.loadings[:, first] * self.loadings[:, second] * np.where(first == second, 1.0, 2.0)
        self.mean = people.centres @ self.loadings.T
        self.variance = np.maximum(people.spreads[:, first, second] @ products.T, 0.0)

    def _looked_at(self, entropies: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return answer_averages(self.mean, self.variance, self.steps, self.asymptotes, entropies, self.open_)

    @cached_property
    def _averages(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = self._looked_at(self.entropies)
        if self.entropies:
            self.__dict__["_known"] = found[2]
        return found

    @cached_property
    def _known(self) -> np.ndarray:
        """(people x parts, items) mean entropies of answers whose projections are known."""
        return self._looked_at(True)[2]

    @cached_property
    def probabilities(self) -> np.ndarray:
        """(people, items, R) of ranks."""
        return self.people.mixed(self._averages[0])

    @cached_property
    def uncertainty(self) -> np.ndarray:
        """(people, items) nats of an answer."""
        return entropy(self.probabilities)

    @cached_property
    def of_parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(people x parts, items) means, variances and slopes of what answers count."""
        v = self.people.bank.points
        p, slope, _ = self._averages
        mean = p @ v
        return mean, np.maximum(p @ v**2 - mean**2, 0.0), slope @ v

    @cached_property
    def variances(self) -> np.ndarray:
        """(people, items) of what answers count."""
        mean, variance, _ = self.of_parts
        return self.people.mixed(variance) + self.people.between(mean, mean)

    @cached_property
    def votes(self) -> np.ndarray:
        """(people, items, R) probabilities that an answer is the likeliest, of ranks: its projections are together."""
        low, high = self.people.bank.territories
        deviation = np.sqrt(self.variance)[..., None] + 1e-150
        below, above = ((end[self.items] - self.mean[..., None]) / deviation for end in (low, high))
        right = below > 0.0  # of two numbers near 1 the difference is lost
        shares = ndtr(np.where(right, -below, above)) - ndtr(np.where(right, -above, below))
        return self.people.mixed(np.where(low[self.items] < high[self.items], shares, 0.0))

    def gain_of_traits(self) -> np.ndarray:
        """(people, items) nats about all traits."""
        return np.maximum(self.uncertainty - self.people.mixed(self._known), 0.0)

    def sums(self, open_: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Means and variances (people x parts,) of the sum over items (people, items) that are open, and its slope.

        The slope (people x parts, K) is that of the mean of the sum along each trait.
        """
        open_ = np.repeat(open_, self.people.parts, axis=0)
        mean, variance, slope = self.of_parts
        g = np.where(open_, slope, 0.0)
        h = g @ self.loadings
        own = np.where(open_, np.maximum(variance - slope**2 * self.variance, 0.0), 0.0)
        shared = np.einsum("ui,uij,uj->u", h, self.people.spreads, h)
        return np.where(open_, mean, 0.0).sum(axis=1), shared + own.sum(axis=1), h

    def totals(self, open_: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances (people,) of that sum."""
        mean, variance, _ = self.sums(open_)
        return self.people.mixed(mean), self.people.mixed(variance) + self.people.between(mean, mean)

    def gain_of_total(self, open_: np.ndarray) -> np.ndarray:
        """(people, items) nats about that sum; the items are those that may be asked, in the sum or not."""
        return self.gain_of(self.sums(open_), open_)

    def gain_of(self, sums: tuple[np.ndarray, np.ndarray, np.ndarray], inside: np.ndarray) -> np.ndarray:
        """(people, items) nats about a sum of this mean, variance and slope, with items ``inside`` (people, items)."""
        people, (mean, variance, h) = self.people, sums
        of_item, own, slope = self.of_parts
        along = np.einsum("uij,uj->ui", people.spreads, h) @ self.loadings.T
        inside = np.repeat(inside, people.parts, axis=0)
        alone = np.where(inside, np.maximum(own - slope**2 * self.variance, 0.0), 0.0)
        together = people.mixed(slope * along + alone) + people.between(of_item, mean[:, None])
        total = people.mixed(variance) + people.between(mean, mean)
        return gaussian_gain(together**2, self.variances * total[:, None], self.uncertainty)


def gaussian_gain(squared: np.ndarray, product: np.ndarray, most: np.ndarray) -> np.ndarray:
    """-1/2 log(1 - rho^2), rho^2 a squared covariance over the product of variances; at most the answer's entropy."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rho2 = np.where(product > 1e-300, squared / product, 0.0)
        return np.minimum(-0.5 * np.log1p(-np.clip(rho2, 0.0, 1.0)), most)
