"""One person's style and traits under the ordinal model, jointly Gaussian, and what the next answer would teach.

    gain of item i  =  H(traits) - sum_r p(r) H(traits | r),        H = 1/2 log|2 pi e V|

with V after each possible answer from one run of expectation propagation over its steps.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm

from adaptive.estimators.questionnaires.answers import Answers
from adaptive.estimators.questionnaires.base import Person
from adaptive.predictive import Predictive
from adaptive.predictive.derivations import Way, entropy

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.ordinal.bank import OrdinalBank
    from adaptive.estimators.questionnaires.total import Total
    from adaptive.types import RandomState

__all__ = ["OrdinalPerson", "OrdinalPredictive", "asked"]

_NO_TOTAL = 'the ordinal model does not predict totals; take response_model="graded" or "partial_credit".'


class OrdinalPerson(Person["OrdinalBank"]):
    """A person by a Gaussian; every item has all categories. `Person` says the rest."""

    bank: OrdinalBank
    _derived = "gaussian"

    @cached_property
    def gaussian(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of (style, traits): the same for any order of the answers."""
        places = np.array(self.items, dtype=np.intp)
        columns = np.zeros(len(places), dtype=np.intp), places, np.array(self.answers, dtype=np.intp)
        answers = Answers((None,), self.bank.items, *columns, tuple(self.bank.categories))
        fit = self.bank.people(answers, self.prior)
        return fit.means[0], fit.covariances[0]

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        mean, covariance = self.gaussian
        first, scale = self.bank.model.n_style, self.bank.model.trait_scale
        return mean[first:] / scale, np.sqrt(np.diagonal(covariance)[first:]) / scale

    def interval(self, level: float) -> np.ndarray:
        mean, deviation = self.moments()
        z = norm.ppf(0.5 + level / 2)
        return np.column_stack([mean - z * deviation, mean + z * deviation])

    def predictive(
        self, items: np.ndarray, traits: np.ndarray, about: np.ndarray | None = None, random_state: RandomState = None
    ) -> Predictive:
        """The belief about items; the information is about ``traits``."""
        if about is not None:
            raise ValueError(
                "target must be a trait, or a list of them: the ordinal model has no what-ifs about items."
            )
        mean, covariance = self.gaussian
        precision = np.linalg.inv(covariance)
        return OrdinalPredictive(self.bank, items, traits, precision, precision @ mean, random_state=random_state)

    def about_total(self, items: np.ndarray, counted: np.ndarray, random_state: RandomState = None) -> Predictive:
        raise ValueError(_NO_TOTAL)

    def total(self, counted: np.ndarray, level: float) -> Total:
        raise ValueError(_NO_TOTAL)


def asked(
    bank: OrdinalBank, item: int, mean: np.ndarray, V: np.ndarray, P: np.ndarray, e: np.ndarray, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Probabilities (R,), messages, covariances of the targets after each answer, sites, and the covariance of w.

    Answers are in the order of the scale as asked.
    """
    from adaptive.estimators.questionnaires.ordinal.asking import ask
    from adaptive.estimators.questionnaires.ordinal.messages import packed_size

    model = bank.model
    directions, counts = model.steps
    n, D = len(counts), model.levels + 1
    places = np.r_[np.arange(model.n_style), model.n_style + bank.trait_of[item]]
    logs, variances = np.empty(n), np.empty((n, len(targets), len(targets)))
    messages, sites = np.empty((n, packed_size(len(places)))), np.empty((n, D, D))
    before = ask(
        mean, V, P, e, places, targets, bank.means[item], bank.covariances[item], bank.trait_noise[item] ** 2,
        model.threshold_noise**2, directions, counts, logs, variances, messages, sites,
    )  # fmt: skip
    p = np.exp(logs - logs.max())
    turn = slice(None, None, -1) if bank.reverse[item] else slice(None)
    return (p / p.sum())[turn], messages[turn], variances[turn], sites[turn], before


class OrdinalPredictive(Predictive):
    """Predictive of answers by expectation propagation, one run for each item and answer.

    Parameters
    ----------
    bank : OrdinalBank
    items : (m,) array of int
    traits : (t,) array of int
        What is to be learnt.
    precision, shift : (d, d), (d,) arrays
        Of the person's (style, traits), in natural parameters.
    """

    def __init__(
        self, bank: OrdinalBank, items: np.ndarray, traits: np.ndarray, precision: np.ndarray, shift: np.ndarray,
        random_state: RandomState = None,
    ) -> None:  # fmt: skip
        self._bank, self._items, self._traits = bank, items, traits
        self._natural = precision, shift
        self._covariance = np.linalg.inv(precision)
        self._targets = bank.model.n_style + np.asarray(traits)
        self._found: Any = None
        super().__init__(len(items), random_state=random_state, outcomes=np.array(bank.categories))

    def _asked(self) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Probabilities, determinants of the targets after each answer, messages; kept."""
        if self._found is None:
            precision, shift = self._natural
            mean = self._covariance @ shift
            known = {
                int(item): asked(self._bank, int(item), mean, self._covariance, precision, shift, self._targets)
                for item in np.unique(self._items)
            }
            n = len(self._bank.categories)
            each = [known[int(item)] for item in self._items]
            dets = np.array([np.linalg.slogdet(one[2])[1] for one in each]).reshape(-1, n)
            self._found = np.array([one[0] for one in each]).reshape(-1, n), dets, [one[1] for one in each]
        return self._found

    def given(self, i: int, outcome: float | None = None) -> Predictive:
        """The predictive had candidate ``i`` been answered: one more message, the others as they are."""
        from adaptive.estimators.questionnaires.ordinal.messages import add

        if outcome is None:
            raise self._unknown(i)
        column = self._place_of(outcome)
        precision, shift = (one.copy() for one in self._natural)
        n_style = self._bank.model.n_style
        places = np.r_[np.arange(n_style), n_style + self._bank.trait_of[self._items[i]]]
        add(precision, shift, self._asked()[2][i][column], places, 1.0)
        return OrdinalPredictive(self._bank, self._items, self._traits, precision, shift, self.seed)

    def _log_det(self) -> float:
        return float(np.linalg.slogdet(self._covariance[np.ix_(self._targets, self._targets)])[1])

    def _gain(self) -> np.ndarray:
        p, dets, _ = self._asked()
        # the truth gains no more than the entropy of the answer; the approximation may, by a little
        return np.minimum(np.maximum(0.5 * np.sum(p * (self._log_det() - dets), axis=1), 0.0), entropy(p))


def _target_entropy(p: OrdinalPredictive) -> float:
    t, scale = len(p._targets), p._bank.model.trait_scale
    return 0.5 * (p._log_det() + t * (1.0 + np.log(2 * np.pi))) - t * float(np.log(scale))


def _target_deviation(p: OrdinalPredictive) -> np.ndarray:
    return np.sqrt(np.diagonal(p._covariance)[p._targets]) / p._bank.model.trait_scale


OrdinalPredictive.ways = Predictive.ways | {
    "probabilities": (Way((), lambda p: p._asked()[0]),),
    "expected_entropy": (Way((), lambda p: entropy(p.probabilities) - p._gain()),),
    "target_entropy": (Way((), _target_entropy),),
    "expected_target_entropy": (Way((), lambda p: p.target_entropy - p._gain()),),
    "target_deviation": (Way((), _target_deviation),),
}
