"""People as Gaussians over many traits, all of them at once: what an answer does, and what it would teach.

    x | y  by moments of the projection s = a.x:   m + V a (m' - m_s) / v_s,     V + V a a' V (v' - v_s) / v_s^2

(assumed-density filtering: answers in their order). Of the total T of the answers to come, with g_i = d E v_i / d m_i,

    Cov(v_i, v_j) = g_i g_j a_i' V a_j   (i != j),      Var v_i by quadrature,      I(y_i; T) = -1/2 log(1 - rho_i^2)

and of traits  H(y) - E H(y | s),  since an answer sees them through s alone.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from adaptive.estimators.questionnaires.factors.averages import answer_averages, posterior_moments
from adaptive.predictive.derivations import entropy

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.factors.bank import FactorBank

__all__ = ["Outlook", "People", "gaussian_gain"]


class People:
    """People of a bank, whom ``learn`` changes in place.

    Parameters
    ----------
    bank : FactorBank
    mean, covariance : (people, K), (people, K, K) arrays
    """

    def __init__(self, bank: FactorBank, mean: np.ndarray, covariance: np.ndarray) -> None:
        self.bank, self.mean, self.covariance = bank, mean, covariance

    @classmethod
    def before(cls, bank: FactorBank, n: int, prior: np.ndarray | None = None) -> Self:
        """Strangers; prior (K, 2 or more) means and deviations, default standard normal."""
        k = len(bank.traits)
        mean, deviation = (np.zeros(k), np.ones(k)) if prior is None else (prior[:, 0], prior[:, 1])
        return cls(bank, np.tile(mean, (n, 1)), np.tile(np.diag(deviation**2), (n, 1, 1)))

    def learn(self, rows: np.ndarray, items: np.ndarray, ranks: np.ndarray) -> None:
        """One answer of each of the people in ``rows``."""
        if not len(rows):
            return
        loadings, steps = (of[items] for of in self.bank.curves)
        mean, covariance = self.mean[rows], self.covariance[rows]
        along = np.einsum("uij,uj->ui", covariance, loadings)
        m, v = np.sum(loadings * mean, axis=1), np.maximum(np.sum(loadings * along, axis=1), 1e-12)
        first, second = posterior_moments(m, v, steps, ranks)
        self.mean[rows] = mean + along * ((first - m) / v)[:, None]
        shrink = (second - v) / v**2
        self.covariance[rows] = covariance + along[:, :, None] * along[:, None, :] * shrink[:, None, None]

    def outlook(self, items: np.ndarray) -> Outlook:
        """Beliefs about their answers."""
        return Outlook(self, items)


class Outlook:
    """Answers of people to items, and totals.

    Parameters
    ----------
    people : People
    items : (m,) array of int
    """

    def __init__(self, people: People, items: np.ndarray) -> None:
        self.people, self.items = people, items
        self.loadings, self.steps = (of[items] for of in people.bank.curves)
        first, second = np.triu_indices(self.loadings.shape[1])
        products = self.loadings[:, first] * self.loadings[:, second] * np.where(first == second, 1.0, 2.0)
        self.mean = people.mean @ self.loadings.T
        self.variance = np.maximum(people.covariance[:, first, second] @ products.T, 0.0)

    @cached_property
    def _averages(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return answer_averages(self.mean, self.variance, self.steps)

    @property
    def probabilities(self) -> np.ndarray:
        """(people, items, R) of ranks."""
        return self._averages[0]

    @cached_property
    def uncertainty(self) -> np.ndarray:
        """(people, items) nats of an answer."""
        return entropy(self.probabilities)

    @cached_property
    def points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(people, items) means, variances and slopes of what answers count."""
        v = self.people.bank.points
        p, slope, _ = self._averages
        mean = p @ v
        return mean, np.maximum(p @ v**2 - mean**2, 0.0), slope @ v

    def gain_of_traits(self) -> np.ndarray:
        """(people, items) nats about all traits."""
        known = answer_averages(self.mean, self.variance, self.steps, entropies=True)[2]
        return np.maximum(self.uncertainty - known, 0.0)

    def totals(self, open_: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Means and variances (people,) of the sum over items (people, items) that are open, and its slope (people, K).

        The slope is that of the mean of the sum along each trait.
        """
        mean, variance, slope = self.points
        g = np.where(open_, slope, 0.0)
        h = g @ self.loadings
        own = np.where(open_, np.maximum(variance - slope**2 * self.variance, 0.0), 0.0)
        shared = np.einsum("ui,uij,uj->u", h, self.people.covariance, h)
        return np.where(open_, mean, 0.0).sum(axis=1), shared + own.sum(axis=1), h

    def gain_of_total(self, open_: np.ndarray) -> np.ndarray:
        """(people, items) nats about that sum; the items are those that may be asked, in the sum or not."""
        _, total, h = self.totals(open_)
        return self.gain_of(h, total, open_)

    def gain_of(self, h: np.ndarray, total: np.ndarray, inside: np.ndarray) -> np.ndarray:
        """(people, items) nats about a sum of slope ``h`` (people, K) and variance (people,), with items ``inside``."""
        _, variance, slope = self.points
        along = np.einsum("uij,uj->ui", self.people.covariance, h) @ self.loadings.T
        own = np.where(inside, np.maximum(variance - slope**2 * self.variance, 0.0), 0.0)
        together = slope * along + own
        return gaussian_gain(together**2, variance * total[:, None], self.uncertainty)


def gaussian_gain(squared: np.ndarray, product: np.ndarray, most: np.ndarray) -> np.ndarray:
    """-1/2 log(1 - rho^2), rho^2 a squared covariance over the product of variances; at most the answer's entropy."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rho2 = np.where(product > 1e-300, squared / product, 0.0)
        return np.minimum(-0.5 * np.log1p(-np.clip(rho2, 0.0, 1.0)), most)
