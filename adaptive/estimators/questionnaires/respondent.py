"""A person who is being asked: the view of a questionnaire that the loop drives.

Candidates are labels of items, outcomes are answers as the scale has them; the bank of items stands still.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from adaptive import checks
from adaptive.estimators.base import DesignMixin
from adaptive.estimators.questionnaires.answers import categories_of, numbers_of, positions_of
from adaptive.estimators.questionnaires.factors.bank import FactorBank

if TYPE_CHECKING:
    from adaptive.estimators.questionnaires.answers import Label
    from adaptive.estimators.questionnaires.base import ItemBank, Newcomer, Person
    from adaptive.estimators.questionnaires.total import Total
    from adaptive.estimators.questionnaires.total_band import TotalBand
    from adaptive.predictive import Predictive
    from adaptive.types import ArrayLike, Options, Pool, RandomState, State

__all__ = ["Respondent"]

FREEDOM = 8.0  # of the prior where none is given, chosen by `ours-default-respondent-priors`

Target: TypeAlias = "Label | Sequence[Label] | None"  # a trait, several of them, or "total"
Prior: TypeAlias = "tuple[float, float] | Mapping[Label, tuple[float, float]] | Newcomer | None"  # mean and deviation


class Respondent(DesignMixin):
    """One person's belief over a bank that is shared, never copied.

    Parameters
    ----------
    bank : bank of a fitted `Questionnaire`
    target : label of a trait, list of them, or "total", optional
        What questions are to teach about; default all traits. The total is that of the answers, those of reversed items
        turned round: what a short form of the scale predicts. A test that stops at a deviation means that of the total,
        in points. Not of the ordinal model.
    prior : (mean, deviation), or mapping from traits to such pairs, or "newcomer", optional
        Of a Gaussian. "newcomer" is of items of many traits, and of somebody who may be better than all that
        calibrated: with probability .2 all items are easier, by 2 logits (deviation 1). Default: standard normal where
        there are many traits, else Student's t with eight degrees of freedom about the calibrated population: its tails
        let people of another one be found. Two deviations above it 95% intervals hold .94 after 20 questions (standard
        normal: .87). People of the same one pay at most .003 nats an answer and 1 to 3% of error, and a test that stops
        at a deviation asks them a tenth to a third more: where they are known to be, give (0, 1). Chosen by
        `ours-default-respondent-priors`; the ordinal model's is standard normal.
    counted : sequence of item labels, optional
        The items that make the total; default all.

    Attributes
    ----------
    mean, std : (traits,) arrays
    counted_ : (s,) array of int
        Positions of the items that make the total.
    """

    def __init__(
        self, bank: ItemBank, target: Target = None, prior: Prior = None, counted: Sequence[Label] | None = None
    ) -> None:
        self.bank, self.target, self.prior, self.counted = bank, target, prior, counted
        self.about_total = _is_total(bank.traits, target)
        self._traits = _traits(bank.traits, None if self.about_total else target)
        self.counted_ = np.arange(len(bank)) if counted is None else bank.positions(_labels(counted))
        self.person_ = bank.person(_prior(bank, prior))
        if self.about_total:
            self.predict_total()  # a model without totals is refused here

    def get_params(self, deep: bool = True) -> Options:
        """Bank, target, prior and counted items."""
        return {"bank": self.bank, "target": self.target, "prior": self.prior, "counted": self.counted}

    def stranger(self) -> Self:
        """Somebody with these parameters who has not answered."""
        return type(self)(self.bank, self.target, self.prior, self.counted)

    @property
    def traits(self) -> tuple[Label, ...]:
        """The traits that ``mean`` and ``std`` speak of."""
        return tuple(self.bank.traits[k] for k in self._traits)

    @property
    def items(self) -> tuple[Label, ...]:
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
        """(traits, 2) central posterior interval of each trait; nominal .90 covers .91 to .93 (`ours-bands-traits`)."""
        checks.share("level", level)
        return self.person_.interval(level)[self._traits]

    def predict_total(
        self, items: Sequence[Label] | None = None, level: float = 0.95, band: TotalBand | None = None
    ) -> Total:
        """Return the total of a person's answers, those given and those to come, as it is predicted.

        Parameters
        ----------
        items : sequence of item labels, optional
            Default: those that are ``counted``. Reversed ones count turned round.
        level : float, default 0.95
            Of the interval.
        band : TotalBand, optional
            What ``Questionnaire.total_band`` returned, of the same items, by people asked in the same way: the interval
            then covers the level on average over people, whatever the model gets wrong: .91 to .92 of nominal .90
            (``ours-bands-totals``). Without it the interval is the model's: .84 to .86 on two real scales, .59 to .67
            after chosen items of two traits taken for one (``ours-bands-totals-by-model``).

        Returns
        -------
        Total
            ``mean``, ``std``, ``interval``, and the distribution: ``values``, ``probabilities``.

        Raises
        ------
        ValueError
            Of the ordinal model, of items that there are not, and of a band of other items or of too few people.

        Examples
        --------
        >>> from adaptive import Questionnaire
        >>> person = Questionnaire.from_parameters([1.0, 2.0], [0.0, 1.0]).respondent()
        >>> total = person.partial_fit([0], [1]).predict_total()
        >>> total.values, total.probabilities.round(2), total.interval
        (array([1, 2]), array([0.66, 0.34]), array([1, 2]))
        """
        checks.share("level", level)
        counted = self.counted_ if items is None else self.bank.positions(_labels(items))
        found = self.person_.total(counted, level)
        if band is None:
            return found
        if not np.array_equal(band.counted, np.unique(counted)):
            raise ValueError("band must count the items that make this total; it was made for other items.")
        ends = band.interval(found.mean, found.std, found.values, len(self.person_.items), level)
        return found._replace(interval=ends)

    def path(self, level: float = 0.95) -> dict[str, list[object]]:
        """Return how the estimate came about, as columns: one row before the first question, and one after each.

        Parameters
        ----------
        level : float, default 0.95
            Of the intervals.

        Returns
        -------
        dict
            "step", "item", "answer", "probability" (of that answer, before it was given), and "mean", "std", "low" and
            "high" of each trait: of several traits "mean:TRAIT" and so on.
        """
        person, bank = self.person_, self.bank
        columns: dict[str, list[object]] = {}
        stages = [self.stranger() for _ in range(len(person.items) + 1)]
        for step, now in enumerate(stages):
            now.person_ = now.person_.after(person.items[:step], person.answers[:step])
            row: dict[str, object] = {"step": step, "item": None, "answer": None, "probability": None}
            if step:
                item, last = bank.items[person.items[step - 1]], person.answers[step - 1]
                p = float(stages[step - 1].predictive([item]).probabilities[0, round(last)])
                row |= {"item": item, "answer": bank.answer_at(last), "probability": p}
            each = zip(now.traits, now.mean.tolist(), now.std.tolist(), now.interval(level).tolist(), strict=True)
            for trait, mean, std, (low, high) in each:
                of = f":{trait}" if len(now.traits) > 1 else ""
                row |= {f"mean{of}": mean, f"std{of}": std, f"low{of}": low, f"high{of}": high}
            for name, value in row.items():
                columns.setdefault(name, []).append(value)
        return columns

    def fit(self, items: Sequence[Label], answers: ArrayLike) -> Self:
        """Forget the person and learn these answers."""
        self.person_ = self.stranger()._after(items, answers)
        return self

    def partial_fit(self, items: Sequence[Label], answers: ArrayLike) -> Self:
        """Learn further answers; what is refused changes nothing."""
        self.person_ = self._after(items, answers)
        return self

    def _after(self, items: Sequence[Label], answers: ArrayLike) -> Person:
        positions = self.bank.positions(_labels(items))
        values = np.atleast_1d(numbers_of(answers))
        if values.shape != positions.shape:
            raise ValueError(f"there must be one answer per item, got {values.shape} for {len(positions)} items.")
        _, places = categories_of(values, self.bank.categories, self.bank.between)
        seen = set(self.person_.items)
        for position, place in zip(positions.tolist(), places.tolist(), strict=True):
            if position in seen:
                raise ValueError(f"item {self.bank.items[position]!r} was answered already; each is asked once.")
            if not self.person_.possible(position, place):
                raise ValueError(f"item {self.bank.items[position]!r} has no answer {self.bank.answer_at(place)}.")
            seen.add(position)
        return self.person_.after(tuple(positions.tolist()), tuple(places.tolist()))

    def predictive(self, candidates: Pool, *, target: Target = None, random_state: RandomState = None) -> Predictive:
        """Return the belief about the answers to items.

        Parameters
        ----------
        candidates : sequence of item labels
        target : label of a trait, list of them, "total", or a list of item labels, optional
            Default: the respondent's own; items: the answers to these are what is to be learnt.
        random_state : seed of what is drawn
        """
        positions = self.bank.positions(_labels(candidates))
        traits, about = self._traits, None
        if self.about_total if target is None else _is_total(self.bank.traits, target):
            return self.person_.about_total(positions, self.counted_, random_state)
        if target is not None:
            try:
                traits = _traits(self.bank.traits, target)
            except ValueError:
                about = self.bank.positions(_labels(target))
        return self.person_.predictive(positions, traits, about, random_state)

    def state(self) -> State:
        """Plain data; the bank stays where it is."""
        return self.person_.state()

    def restore(self, state: State) -> Self:
        """Take over what ``state`` returned, of the same bank, target and prior."""
        self.person_ = self.person_.restored(state)
        return self


def _labels(items: Any) -> list[Label]:
    if isinstance(items, (str, bytes)) or not isinstance(items, Sized):
        raise ValueError(f"items must be a list of labels, got {items!r}.")
    labels: Any = items
    return labels.tolist() if isinstance(items, np.ndarray) else list(labels)


def _is_total(known: Sequence[Label], target: Target) -> bool:
    """Return whether the target is the total score; a trait of that name comes first."""
    return isinstance(target, str) and target == "total" and "total" not in known


def _traits(known: Sequence[Label], target: Target) -> np.ndarray:
    if target is None:
        return np.arange(len(known))
    listed = list(target) if isinstance(target, (list, tuple, np.ndarray)) else [target]
    return positions_of(known, listed, "trait")


def _prior(bank: ItemBank, prior: Prior) -> np.ndarray | Newcomer:
    """(traits, 3) means, deviations, and degrees of freedom: few where nothing was said, infinite where it was."""
    traits = bank.traits
    if prior == "newcomer":
        if not isinstance(bank, FactorBank):
            raise ValueError(
                'prior="newcomer" is for items of many traits (n_traits="held_out", or above 3), and these are of '
                f"{len(traits)}: give a mean and a deviation."
            )
        return "newcomer"
    given: dict[Label, tuple[float, float]] = {}
    if prior is not None:
        given = dict(prior) if isinstance(prior, Mapping) else dict.fromkeys(traits, prior)
    rows = dict.fromkeys(traits, (0.0, 1.0)) | given
    unknown = [trait for trait in rows if trait not in set(traits)]
    if unknown:
        raise ValueError(f"prior names the trait {unknown[0]!r}; there are {', '.join(map(str, traits))}.")
    try:
        found = np.array([
            [float(mean), float(deviation), np.inf if trait in given else FREEDOM]
            for trait, (mean, deviation) in rows.items()
        ])  # fmt: skip
    except (TypeError, ValueError):
        raise ValueError(f"prior must be (mean, deviation), or such a pair for each trait, got {prior!r}.") from None
    if not np.isfinite(found[:, :2]).all() or (found[:, 1] <= 0).any():
        raise ValueError(f"prior must have finite means and deviations > 0, got {prior!r}.")
    return found
