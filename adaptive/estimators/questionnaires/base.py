"""Item banks, people who are asked from them, and beliefs about both, as far as no response model changes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Generic, Self, TypeVar

import numpy as np

from adaptive.estimators.belief import Traced
from adaptive.estimators.questionnaires.answers import positions_of

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.answers import Answers, Label, Pairs
    from adaptive.estimators.questionnaires.loadings import Loadings
    from adaptive.estimators.questionnaires.settings import QuestionnaireSettings
    from adaptive.predictive import Predictive
    from adaptive.types import RandomState, State

__all__ = ["ItemBank", "Person", "QuestionnaireBelief"]


class ItemBank:
    """Items of a response model; a bank stands still, and copies of what uses it share it."""

    items: tuple[Label, ...]
    categories: Sequence[int]
    loadings: Loadings
    reverse: np.ndarray

    def __len__(self) -> int:
        return len(self.items)

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self  # it never changes

    @property
    def traits(self) -> tuple[Label, ...]:
        """Names of the traits."""
        return self.loadings.traits

    def positions(self, items: Sequence[Label]) -> np.ndarray:
        """Positions (m,) of these items."""
        return positions_of(self.items, items, "item")

    def person(self, prior: np.ndarray) -> Person:
        """Somebody who has not answered yet; prior (traits, 2)."""
        raise NotImplementedError

    def estimates(self, answers: Answers) -> tuple[np.ndarray, np.ndarray]:
        """Means and deviations (people, traits) of people who gave these answers, items standing still."""
        raise NotImplementedError

    def fingerprint(self) -> str:
        """A hash of the content, by which a log recognises it."""
        raise NotImplementedError

    def state(self) -> State:
        """Plain data."""
        raise NotImplementedError


B = TypeVar("B", bound=ItemBank)


class Person(Generic[B]):
    """The belief about a person; never changed, ``after`` makes another one.

    Parameters
    ----------
    bank : ItemBank
    prior : (traits, 2) array
        Mean and standard deviation of each trait.
    items, answers : tuples of int
        The answers given, as positions in the bank and among its categories.
    """

    _derived: ClassVar[str]  # what is kept of it, and not stored

    def __init__(self, bank: B, prior: np.ndarray, items: tuple[int, ...] = (), answers: tuple[int, ...] = ()) -> None:
        self.bank, self.prior, self.items, self.answers = bank, prior, items, answers

    def __getstate__(self) -> State:
        return {name: value for name, value in self.__dict__.items() if name != self._derived}

    def after(self, items: tuple[int, ...], answers: tuple[int, ...]) -> Self:
        """The person after further answers."""
        return type(self)(self.bank, self.prior, self.items + items, self.answers + answers)

    def possible(self, item: int, answer: int) -> bool:
        """True where an item has this category."""
        return True

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and deviations (traits,)."""
        raise NotImplementedError

    def interval(self, level: float) -> np.ndarray:
        """(traits, 2) central interval."""
        raise NotImplementedError

    def predictive(
        self, items: np.ndarray, traits: np.ndarray, about: np.ndarray | None = None, random_state: RandomState = None
    ) -> Predictive:
        """The belief about items; the information is about ``traits``, or about answers to items ``about``."""
        raise NotImplementedError

    def state(self) -> State:
        """Plain data."""
        return {"items": list(self.items), "answers": list(self.answers)}

    def restored(self, state: State) -> Self:
        """The person that ``state`` described, of the same bank and prior."""
        return type(self)(self.bank, self.prior, tuple(state["items"]), tuple(state["answers"]))


class QuestionnaireBelief(Traced, Generic[B]):
    """Items and people after answers; the posterior is the bank."""

    settings: QuestionnaireSettings
    data: Answers
    bank: B

    evidence_kind = "approximation"

    @property
    def posterior(self) -> B:
        """The items."""
        return self.bank

    def predictive(self, pairs: Pairs, *, target: str | None = None, random_state: RandomState = None) -> Predictive:
        """Answers of people to items; the information is about items, about people, or (default) about both."""
        raise NotImplementedError

    def probabilities(self, pairs: Pairs) -> np.ndarray:
        """(n, R) predictive probabilities of the answers to pairs."""
        return self.predictive(pairs, target="people").probabilities
