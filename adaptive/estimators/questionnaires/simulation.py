"""Replays of people through an adaptive test, all of them at once: the same choices as the loop makes for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from adaptive import checks, scorers, selection
from adaptive.estimators.questionnaires.bank import Bank
from adaptive.estimators.questionnaires.crowds import crowd_of
from adaptive.estimators.questionnaires.factors.bank import FactorBank
from adaptive.estimators.questionnaires.respondent import Respondent
from adaptive.selection.ranking import SAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adaptive.estimators.questionnaires.answers import Answers, Label
    from adaptive.estimators.questionnaires.base import ItemBank
    from adaptive.estimators.questionnaires.respondent import Prior, Target
    from adaptive.types import RandomState, Scorer

__all__ = ["Replay", "Simulation", "replay", "simulate"]

BLOCK = 500  # people at a time
CELLS = 4_000_000  # people x items at a time
AT_ONCE = (
    "information_gain", "entropy", "uncertainty", "margin", "least_confident", "query_by_committee",
    "fisher_information", "random",
)  # fmt: skip


class Simulation(NamedTuple):
    """Tests of several people, question by question.

    Attributes
    ----------
    items : (people, n_questions) array of object
        Labels of the items asked, None after a person's test had ended.
    mean, std : (people, n_questions, traits) arrays, (people, n_questions) of one trait
        The estimate after each question; after the end of a test it stays. With ``target="total"`` that of the total,
        (people, n_questions).
    """

    items: np.ndarray
    mean: np.ndarray
    std: np.ndarray


class Replay(NamedTuple):
    """The same by positions of items, -1 after a test had ended; ``totals`` are means and deviations.

    Attributes
    ----------
    chosen : (people, n_questions) array of int
    mean, std : (people, n_questions, targets) arrays
    totals : (people, n_questions, 2) array
        Zeros where they were not asked for.
    """

    chosen: np.ndarray
    mean: np.ndarray
    std: np.ndarray
    totals: np.ndarray


def simulate(
    bank: ItemBank, answers: Answers, n_questions: int, *, scorer: Scorer = "information_gain",
    stop: float | None = None, target: Target = None, prior: Prior = None,
    counted: Sequence[Label] | None = None, exposure: float | None = None, random_state: RandomState = None,
) -> Simulation:  # fmt: skip
    """Replay people whose answers are known.

    Parameters
    ----------
    bank : ItemBank
    answers : Answers
        Of items of the bank; a person is asked only what they answered.
    n_questions : int
    scorer : str or callable
    stop : float, optional
        A test ends when every target's deviation is at most this.
    target, prior, counted
        As of a respondent.
    exposure : float, optional
        The largest share of the people, in their order, who are asked an item: the rule of `pools.ExposurePool`.
    random_state : None or int
        Of scorers that draw.
    """
    everybody = Respondent(bank, target, prior, counted)
    chosen, mean, std, _ = replay(
        everybody, answers.with_items(bank.items).table(), n_questions, scorer=scorer, stop=stop, exposure=exposure,
        random_state=random_state,
    )  # fmt: skip
    labels = np.array([*bank.items, None], dtype=object)[chosen]
    if mean.shape[2] == 1:
        mean, std = mean[:, :, 0], std[:, :, 0]
    return Simulation(labels, mean, std)


def replay(
    everybody: Respondent, table: np.ndarray, n_questions: int, *, scorer: Scorer, stop: float | None = None,
    exposure: float | None = None, totals: bool = False, random_state: RandomState = None,
) -> Replay:  # fmt: skip
    """Replay a table (people, items) of places of answers, -1 where there is none; everybody is like ``everybody``."""
    bank, n_questions = everybody.bank, checks.integer("n_questions", n_questions, minimum=1)
    if exposure is not None and not (0 < exposure <= 1 and exposure * len(bank) >= n_questions):
        raise ValueError(
            f"exposure must be a share in (0, 1] of at least n_questions / items = {n_questions / len(bank):.3g}, got "
            f"{exposure!r}."
        )
    seed: Any = int(checks.generator(random_state).integers(2**62)) if random_state is None else random_state
    together = _together(everybody, scorer)
    block = max(1, min(BLOCK, CELLS // max(len(bank), 1)))
    counts, step = np.zeros(len(bank)), block if exposure is None else 1
    parts = []
    for start in range(0, len(table), step):
        rows = table[start : start + step]
        if exposure is not None:
            rows = np.where(counts > exposure * start, -1, rows)
        if together and isinstance(scorer, str):
            parts.append(_at_once(everybody, rows, n_questions, scorer, stop, seed, totals))
        else:
            parts.append(_one_by_one(everybody, rows, n_questions, scorers.get(scorer), stop, seed, totals))
        asked = parts[-1].chosen
        counts += np.bincount(asked[asked >= 0], minlength=len(bank))
    return Replay(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _together(everybody: Respondent, scorer: Scorer) -> bool:
    """True where a crowd is asked what each would be asked alone."""
    bank, traits = everybody.bank, len(everybody.bank.traits)
    if not (isinstance(scorer, str) and scorer in AT_ONCE) or len(everybody.traits) < traits:
        return False
    if crowd_of(bank, 0, everybody.person_.prior, everybody.counted_) is None:
        return False
    if scorer == "information_gain":  # the total of a grid is of items of two answers
        return isinstance(bank, FactorBank) or not everybody.about_total or len(bank.categories) == 2
    if scorer == "query_by_committee":  # many traits vote, their total does not
        return not (isinstance(bank, FactorBank) and everybody.about_total)
    return scorer != "fisher_information" or (isinstance(bank, Bank) and traits == 1 and not everybody.about_total)


def _at_once(
    everybody: Respondent, table: np.ndarray, n_questions: int, scorer: str, stop: float | None, seed: int,
    totals: bool,
) -> Replay:  # fmt: skip
    """Everybody's next question from one look at a crowd."""
    (n_people, n_items), about = table.shape, everybody.about_total
    gains = scorer == "information_gain"
    crowd = crowd_of(everybody.bank, n_people, everybody.person_.prior, everybody.counted_, gains)
    assert crowd is not None
    score, drawn = scorers.get(scorer), _Drawn(everybody, scorer, seed)
    left, may = np.ones(table.shape, dtype=bool), table >= 0
    running, everyone = np.ones(n_people, dtype=bool), np.arange(n_people)
    t = 1 if about else len(everybody.traits)
    found = _nothing(n_people, n_questions, t)
    for question in range(n_questions):
        possible = running & may.any(axis=1)
        if scorer == "random":
            best = drawn.of(question, may)
        else:
            scores = score(crowd.predictive(left, about), None).reshape(n_people, n_items)
            scores = np.where(may, scores, -np.inf)
            top = scores.max(axis=1)
            with np.errstate(invalid="ignore"):
                best = np.argmax(scores >= (top - SAME * np.abs(top))[:, None], axis=1)
        rows = everyone[possible]
        found.chosen[rows, question] = best[rows]
        may[rows, best[rows]] = left[rows, best[rows]] = False
        crowd.learn(rows, best[rows], table[rows, best[rows]])
        if about or totals:
            found.totals[:, question] = np.stack(crowd.totals(left), axis=1)
        both = np.split(found.totals[:, question], 2, axis=1) if about else crowd.moments()
        found.mean[:, question], found.std[:, question] = both
        running = possible if stop is None else possible & (found.std[:, question].max(axis=1) > stop)
    return found


class _Drawn:
    """Positions drawn as the loop draws them: by the question, among as many items as are left."""

    def __init__(self, everybody: Respondent, scorer: str, seed: int) -> None:
        self.everybody, self.scorer, self.seed = everybody, scorer, seed
        self.known: dict[tuple[int, int], int] = {}

    def of(self, question: int, may: np.ndarray) -> np.ndarray:
        """(people,) items, of those that ``may`` (people, items) come."""
        counts = may.sum(axis=1)
        for n in np.unique(counts[counts > 0]).tolist():
            if (question, n) not in self.known:
                few = self.everybody.bank.items[:n]
                at = selection.select(
                    self.everybody, list(few), scorer=self.scorer, random_state=_seed_of(self.seed, question)
                )
                self.known[question, n] = int(at[0])
        places = np.array([self.known.get((question, n), 0) for n in counts.tolist()])
        return np.argmax(np.cumsum(may, axis=1) == places[:, None] + 1, axis=1)


def _seed_of(seed: int, question: int) -> int:
    """Seed of this question in the loop."""
    return int(np.random.SeedSequence(seed, spawn_key=(1, question)).generate_state(1)[0])


def _nothing(n_people: int, n_questions: int, t: int) -> Replay:
    shape = (n_people, n_questions)
    return Replay(np.full(shape, -1), np.zeros((*shape, t)), np.zeros((*shape, t)), np.zeros((*shape, 2)))


def _one_by_one(
    everybody: Respondent, table: np.ndarray, n_questions: int, scorer: Scorer, stop: float | None, seed: int,
    totals: bool,
) -> Replay:  # fmt: skip
    """Any scorer and bank: each person's test as the loop runs it, with the loop's seeds."""
    items, about = everybody.bank.items, everybody.about_total
    found = _nothing(len(table), n_questions, 1 if about else len(everybody.traits))
    for u, row in enumerate(table):
        person = everybody.stranger()
        left = np.flatnonzero(row >= 0)
        for question in range(n_questions):
            if len(left) and (stop is None or not question or found.std[u, question - 1].max() > stop):
                drawn = _seed_of(seed, question)
                at = int(selection.select(person, [items[k] for k in left], scorer=scorer, random_state=drawn)[0])
                found.chosen[u, question] = left[at]
                answer = everybody.bank.answer_at(row[left[at]])
                person.partial_fit([items[left[at]]], [answer])
                left = np.delete(left, at)
            if about or totals:
                found.totals[u, question] = person.predict_total()[:2]
            moments = found.totals[u, question] if about else (person.mean, person.std)
            found.mean[u, question], found.std[u, question] = moments
    return found
