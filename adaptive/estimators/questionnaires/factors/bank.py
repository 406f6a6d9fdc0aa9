"""A bank of items of many traits: the projection of a person's traits that each item sees, and its steps.

    p(y = r | x)  ~  exp(r a.x + b_r),      a, b  ->  k a, k b,   k^-2 = 1 + pi d / 8

of which (a, b) are open by a variance d of the projection. A person answers an item once, so that all that an open item
does is to flatten its curve (MacKay, 1992). Of two answers the right one may have asymptotes. A score between two
answers is seen as it is: the density exp(y a.x + b(y)) has b linear between the b_r, and says of x what y says
(Mueller's continuous rating model, 1987); its integral is the sum over the answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from adaptive.estimators.questionnaires.answers import Answers, Label
from adaptive.estimators.questionnaires.bank import content_hash
from adaptive.estimators.questionnaires.base import ItemBank, Loadings
from adaptive.estimators.questionnaires.factors.averages import without_asymptotes

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.base import Newcomer
    from adaptive.estimators.questionnaires.factors.people import People
    from adaptive.estimators.questionnaires.factors.person import FactorPerson
    from adaptive.types import Array, State

__all__ = ["FactorBank", "flattened", "trait_names"]


def trait_names(k: int) -> tuple[str, ...]:
    """Names of traits that nobody named."""
    return tuple(f"trait_{j + 1}" for j in range(k)) if k > 1 else ("trait",)


def flattened(doubt: np.ndarray) -> np.ndarray:
    """By how much a Gaussian of this variance flattens a logistic curve."""
    return np.asarray(1.0 / np.sqrt(1.0 + np.pi * doubt / 8.0))


class FactorBank(ItemBank):
    """Items of many traits; it stands still, and copies of what uses it share it.

    Parameters
    ----------
    items : sequence of labels
    categories : sequence of int
    loadings_of : (items, K) array
    steps : (items, R) array
    doubt : (items,) array
    reverse : (items,) array of bool
    asymptotes : (items, 2) array, optional
        The lower and the upper one of the right of two answers; default 0 and 1.
    between : bool
        Whether answers may lie between the categories.
    """

    model = "factors"
    _derived = ("curves", "widened", "territories")

    def __init__(
        self, items: Sequence[Label], categories: Sequence[int], loadings_of: Array, steps: Array, doubt: Array,
        reverse: Array, asymptotes: Array | None = None, between: bool = False,
    ) -> None:  # fmt: skip
        self.items, self.categories = tuple(items), tuple(categories)
        self.loadings_of, self.steps = np.asarray(loadings_of, float), np.asarray(steps, float)
        self.doubt, self.reverse = np.asarray(doubt, float), np.asarray(reverse, dtype=bool)
        none = without_asymptotes(len(self.items))
        self.asymptotes, self.between = none if asymptotes is None else np.asarray(asymptotes, float), between
        k = self.loadings_of.shape[1]
        self.loadings = Loadings(trait_names(k), np.ones((len(self.items), k), dtype=bool))

    def __getstate__(self) -> State:
        return {name: value for name, value in self.__dict__.items() if name not in self._derived}

    @cached_property
    def curves(self) -> tuple[np.ndarray, np.ndarray]:
        """Loadings (items, K) and steps (items, R) of the curves that a person meets."""
        flat = flattened(self.doubt)[:, None]
        return flat * self.loadings_of, flat * self.steps

    @cached_property
    def widened(self) -> FactorBank:
        """The bank with a further trait on which all items load alike: how much more of all is answered rightly."""
        alike = np.full((len(self.items), 1), 1.0 / max(len(self.categories) - 1, 1))
        loadings = np.concatenate([self.loadings_of, alike], axis=1)
        return FactorBank(
            self.items, self.categories, loadings, self.steps, self.doubt, self.reverse, self.asymptotes, self.between
        )

    @cached_property
    def territories(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and largest projection (items, R) at which an answer is the likeliest one."""
        steps, n = self.curves[1], len(self.categories)
        apart = np.arange(n)[:, None] - np.arange(n)
        with np.errstate(divide="ignore", invalid="ignore"):  # r s + b_r passes q s + b_q at (b_q - b_r) / (r - q)
            passed = (steps[:, None, :] - steps[:, :, None]) / apart
        low = np.max(passed, axis=2, where=apart > 0, initial=-np.inf)
        high = np.min(passed, axis=2, where=apart < 0, initial=np.inf)
        if self.asymptotic:  # the right answer is the likelier one where c + (d - c) / (1 + exp(-s - b)) > 1/2
            least, most = self.asymptotes.T
            with np.errstate(divide="ignore", invalid="ignore"):
                odds = np.log(0.5 - least) - np.log(most - 0.5)
            change = steps[:, 0] - steps[:, 1] + np.where(least >= 0.5, -np.inf, np.where(most <= 0.5, np.inf, odds))
            low[:, 1] = high[:, 0] = change
        return low, high

    @property
    def asymptotic(self) -> bool:
        """True where an item has an asymptote other than 0 and 1."""
        return bool((self.asymptotes != [0.0, 1.0]).any())

    @property
    def response_model(self) -> str:
        """The name that a `Questionnaire` of these items has for it."""
        if self.between:
            return "continuous"
        if self.asymptotic:
            return "four_parameter" if (self.asymptotes[:, 1] < 1.0).any() else "three_parameter"
        return "two_parameter" if len(self.categories) == 2 else "partial_credit"

    def with_asymptotes(self, p: np.ndarray, items: np.ndarray) -> np.ndarray:
        """Probabilities (..., items, R) of the logistic curves, as the asymptotes of the items change them."""
        if not self.asymptotic:
            return p
        low, high = self.asymptotes[items].T
        right = low + (high - low) * p[..., 1]
        return np.stack([1.0 - right, right], axis=-1)

    def worth(self, items: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """(n,) what answers, as asked, count in a total."""
        ranks = self.turned(items, answers)
        return np.asarray(np.interp(ranks, np.arange(len(self.categories)), self.points))

    @property
    def points(self) -> np.ndarray:
        """(R,) what each answer counts in a total; of reversed items once it was turned round."""
        return np.asarray(self.categories, dtype=float)

    def person(self, prior: np.ndarray | Newcomer) -> FactorPerson:
        from adaptive.estimators.questionnaires.factors.person import FactorPerson

        return FactorPerson(self, prior)

    def turned(self, items: np.ndarray, answers: np.ndarray) -> np.ndarray:
        """Answers (as asked) to items as ranks that grow with the traits, and back."""
        return np.where(self.reverse[items], len(self.categories) - 1 - answers, answers)

    def people(self, answers: Answers, prior: np.ndarray | None = None) -> People:
        """People after their answers, learnt one by one in the order in which they came."""
        from adaptive.estimators.questionnaires.factors.people import People

        at = self.positions(answers.items)[answers.item] if len(answers) else answers.item
        order = np.argsort(answers.person, kind="stable")
        counts = np.bincount(answers.person, minlength=len(answers.people))
        place = np.zeros(len(answers), dtype=np.intp)
        place[order] = np.arange(len(answers)) - np.repeat(np.cumsum(counts) - counts, counts)
        found = People.before(self, len(answers.people), prior)
        for k in range(int(counts.max(initial=0))):
            rows = place == k
            found.learn(answers.person[rows], at[rows], self.turned(at[rows], answers.answer[rows]))
        return found

    def estimates(self, answers: Answers) -> tuple[np.ndarray, np.ndarray]:
        found = self.people(answers)
        return found.mean, np.sqrt(np.einsum("uii->ui", found.covariance))

    def fingerprint(self) -> str:
        own = [self.asymptotes] if self.asymptotic else []
        arrays = (self.loadings_of, self.steps, self.doubt, self.reverse, *own)
        return content_hash((self.model, self.items, self.categories, *(["between"] if self.between else [])), arrays)

    def state(self) -> State:
        return {
            "labels": list(self.items), "scale": list(self.categories), "loadings": self.loadings_of,
            "steps": self.steps, "doubt": self.doubt, "reverse": self.reverse, "asymptotes": self.asymptotes,
            "between": self.between,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The bank that ``state`` described."""
        names = ("labels", "scale", "loadings", "steps", "doubt", "reverse", "asymptotes", "between")
        return cls(*(state[name] for name in names))
