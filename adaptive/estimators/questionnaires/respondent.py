"""A person who is being asked: the view of a questionnaire that the loop drives.

Candidates are labels of items, outcomes are answers as the scale has them; the bank of items stands still.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaptive import checks
from adaptive.estimators.base import DesignMixin
from adaptive.estimators.questionnaires.answers import categories_of, positions_of

if TYPE_CHECKING:
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, RandomState

__all__ = ["ContentPool", "Respondent"]


class Respondent(DesignMixin):
    """One person's belief over a bank that is shared, never copied.

    Parameters
    ----------
    bank : bank of a fitted `Questionnaire`
    target : label of a trait, or list of them, optional
        What questions are to teach about; default all traits.
    prior : (mean, deviation), or mapping from traits to such pairs, optional
        Default: standard normal, the calibrated population.

    Attributes
    ----------
    mean, std : (traits,) arrays
    """

    def __init__(self, bank: Any, target: Any = None, prior: Any = None) -> None:
        self.bank, self.target, self.prior = bank, target, prior
        self._traits = _traits(bank.traits, target)
        self.person_ = bank.person(_prior(bank.traits, prior))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Bank, target and prior."""
        return {"bank": self.bank, "target": self.target, "prior": self.prior}

    @property
    def traits(self) -> tuple[Any, ...]:
        """The traits that ``mean`` and ``std`` speak of."""
        return tuple(self.bank.traits[k] for k in self._traits)

    @property
    def items(self) -> tuple[Any, ...]:
        """Labels of the items answered so far."""
        return tuple(self.bank.items[k] for k in self.person_.items)

    @property
    def mean(self) -> np.ndarray:
        """(traits,) posterior means."""
        return self.person_.moments()[0][self._traits]

    @property
    def std(self) -> np.ndarray:
        """(traits,) posterior standard deviations."""
        return self.person_.moments()[1][self._traits]

    def interval(self, level: float = 0.95) -> np.ndarray:
        """(traits, 2) central posterior interval of each trait."""
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1, got {level!r}.")
        return self.person_.interval(level)[self._traits]

    def fit(self, items: Sequence[Any], answers: ArrayLike) -> Self:
        """Forget the person and learn these answers."""
        self.person_ = type(self)(self.bank, self.target, self.prior)._after(items, answers)
        return self

    def partial_fit(self, items: Sequence[Any], answers: ArrayLike) -> Self:
        """Learn further answers; what is refused changes nothing."""
        self.person_ = self._after(items, answers)
        return self

    def _after(self, items: Sequence[Any], answers: ArrayLike) -> Any:
        positions = self.bank.positions(_labels(items))
        values = np.atleast_1d(np.asarray(answers, dtype=float))
        if values.shape != positions.shape:
            raise ValueError(f"there must be one answer per item, got {values.shape} for {len(positions)} items.")
        if not np.isfinite(values).all():
            raise ValueError("answers must be finite; leave out what was not answered.")
        _, places = categories_of(values, self.bank.categories)
        seen = set(self.person_.items)
        for position, place in zip(positions.tolist(), places.tolist(), strict=True):
            if position in seen:
                raise ValueError(f"item {self.bank.items[position]!r} was answered already; each is asked once.")
            if not self.person_.possible(position, place):
                raise ValueError(f"item {self.bank.items[position]!r} has no answer {self.bank.categories[place]}.")
            seen.add(position)
        return self.person_.after(tuple(positions.tolist()), tuple(places.tolist()))

    def predictive(self, candidates: Any, *, target: Any = None, random_state: RandomState = None) -> Predictive:
        """What is believed about the answers to items.

        Parameters
        ----------
        candidates : sequence of item labels
        target : label of a trait, list of them, or a list of item labels, optional
            Default: the respondent's own; items: the answers to these are what is to be learnt.
        random_state : seed of what is drawn
        """
        positions = self.bank.positions(_labels(candidates))
        traits, about = self._traits, None
        if target is not None:
            try:
                traits = _traits(self.bank.traits, target)
            except ValueError:
                about = self.bank.positions(_labels(target))
        return self.person_.predictive(positions, traits, about, random_state)

    def state(self) -> dict[str, Any]:
        """Plain data; the bank stays where it is."""
        return self.person_.state()

    def restore(self, state: dict[str, Any]) -> Self:
        """Take over what ``state`` returned, of the same bank, target and prior."""
        self.person_ = self.person_.restored(state)
        return self


def _labels(items: Any) -> list[Any]:
    if isinstance(items, (str, bytes)) or not hasattr(items, "__len__"):
        raise ValueError(f"items must be a list of labels, got {items!r}.")
    return items.tolist() if isinstance(items, np.ndarray) else list(items)


def _traits(known: Sequence[Any], target: Any) -> np.ndarray:
    if target is None:
        return np.arange(len(known))
    listed = list(target) if isinstance(target, (list, tuple, np.ndarray)) else [target]
    return positions_of(known, listed, "trait")


def _prior(traits: Sequence[Any], prior: Any) -> np.ndarray:
    """(traits, 2) means and deviations."""
    if prior is None:
        prior = (0.0, 1.0)
    rows = (
        dict.fromkeys(traits, (0.0, 1.0)) | dict(prior) if isinstance(prior, Mapping) else dict.fromkeys(traits, prior)
    )
    unknown = [trait for trait in rows if trait not in set(traits)]
    if unknown:
        raise ValueError(f"prior names the trait {unknown[0]!r}; there are {', '.join(map(str, traits))}.")
    try:
        found = np.array([[float(mean), float(deviation)] for mean, deviation in rows.values()])
    except (TypeError, ValueError):
        raise ValueError(f"prior must be (mean, deviation), or such a pair for each trait, got {prior!r}.") from None
    if not np.isfinite(found).all() or (found[:, 1] <= 0).any():
        raise ValueError(f"prior must have finite means and deviations > 0, got {prior!r}.")
    return found


class ContentPool:
    """Items whose content is not used up: ``pool(respondent)`` is a list of labels.

    Parameters
    ----------
    items : sequence of labels
    content : mapping from items to contents, or a sequence with one entry per item
    at_most : int, or mapping from contents to int
        How many items of a content a person is asked; contents that a mapping leaves out are not bounded.
    """

    def __init__(self, items: Sequence[Any], content: Any, at_most: Any) -> None:
        self.items = tuple(items)
        listed = content if isinstance(content, Mapping) else dict(zip(self.items, content, strict=False))
        missing = [item for item in self.items if item not in listed]
        if missing or (not isinstance(content, Mapping) and len(content) != len(self.items)):
            raise ValueError(f"content must have an entry for each of {len(self.items)} items.")
        self.content = {item: listed[item] for item in self.items}
        kinds = set(self.content.values())
        bounds = at_most if isinstance(at_most, Mapping) else dict.fromkeys(kinds, at_most)
        self.at_most = {kind: checks.integer("at_most", n, minimum=0) for kind, n in bounds.items()}

    def __call__(self, person: Any) -> list[Any]:
        """Items that this respondent may still be asked."""
        asked = set(person.items)
        used = Counter(self.content[item] for item in asked if item in self.content)
        return [
            item
            for item in self.items
            if item not in asked and used[self.content[item]] < self.at_most.get(self.content[item], len(self.items))
        ]
