"""Replays of people through an adaptive test, all of them at once: the same choices as the loop makes for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import entr

from adaptive import checks, scorers, selection
from adaptive.estimators.questionnaires.answers import Answers
from adaptive.estimators.questionnaires.bank import Bank
from adaptive.estimators.questionnaires.base import log_prior
from adaptive.estimators.questionnaires.respondent import Respondent
from adaptive.predictive.derivations import entropy
from adaptive.selection.ranking import SAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adaptive.estimators.questionnaires.answers import Label
    from adaptive.estimators.questionnaires.ordinal.bank import OrdinalBank
    from adaptive.estimators.questionnaires.respondent import Prior, Target
    from adaptive.types import RandomState, Scorer

__all__ = ["Simulation", "simulate"]

BLOCK = 500  # people at a time


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


def simulate(
    bank: Bank | OrdinalBank, answers: Answers, n_questions: int, *, scorer: Scorer = "information_gain",
    stop: float | None = None, target: Target = None, prior: Prior = None,
    counted: Sequence[Label] | None = None, exposure: float | None = None, random_state: RandomState = None,
) -> Simulation:  # fmt: skip
    """Replay people whose answers are known.

    Parameters
    ----------
    bank : Bank or OrdinalBank
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
    n_questions = checks.integer("n_questions", n_questions, minimum=1)
    table = answers.with_items(bank.items).table()
    everybody = Respondent(bank, target, prior, counted)
    at_once = (
        isinstance(bank, Bank) and len(bank.parts) == 1 and not everybody.about_total
        and scorer in ("information_gain", "fisher_information", "entropy")
        and len(everybody.traits) == len(bank.traits) and (scorer != "fisher_information" or len(bank.traits) == 1)
    )  # fmt: skip
    if exposure is not None and not (0 < exposure <= 1 and exposure * len(bank) >= n_questions):
        raise ValueError(
            f"exposure must be a share in (0, 1] of at least n_questions / items = {n_questions / len(bank):.3g}, got "
            f"{exposure!r}."
        )
    seed: Any = int(checks.generator(random_state).integers(2**62)) if random_state is None else random_state

    def replayed(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if at_once and isinstance(bank, Bank) and isinstance(scorer, str):
            return _at_once(bank, rows, n_questions, scorer, stop, everybody.person_.prior)
        return _one_by_one(everybody, rows, n_questions, scorers.get(scorer), stop, seed)

    parts = []
    counts, step = np.zeros(len(bank)), BLOCK if exposure is None else 1
    for start in range(0, len(table), step):
        rows = table[start : start + step]
        if exposure is not None:
            rows = np.where(counts > exposure * start, -1, rows)
        parts.append(replayed(rows))
        asked = parts[-1][0]
        counts += np.bincount(asked[asked >= 0], minlength=len(bank))
    chosen, mean, std = (np.concatenate(column) for column in zip(*parts, strict=True))
    labels = np.array([*bank.items, None], dtype=object)[chosen]
    if mean.shape[2] == 1:
        mean, std = mean[:, :, 0], std[:, :, 0]
    return Simulation(labels, mean, std)


def _at_once(
    bank: Bank, table: np.ndarray, n_questions: int, scorer: str, stop: float | None, prior: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Everybody's next question by products of matrices: weights (people, k) times tables (k, items)."""
    _, _, x, curves = bank.parts[0]
    n_people, n_items = table.shape
    by_answer = [np.ascontiguousarray(curve.T) for curve in np.moveaxis(curves, 2, 0)]
    uncertain = entropy(curves).T
    logs = np.log(np.maximum(curves, 1e-300))
    joint = np.tile(log_prior(x, *prior.T), (n_people, 1))
    w = np.exp(joint)
    barred = np.where(table >= 0, 0.0, -np.inf)
    running = np.ones(n_people, dtype=bool)
    chosen = np.full((n_people, n_questions), -1)
    mean, std = np.zeros((n_people, n_questions, x.shape[1])), np.zeros((n_people, n_questions, x.shape[1]))
    everyone = np.arange(n_people)
    for question in range(n_questions):
        if scorer == "fisher_information":
            centre = (w @ x)[:, :1]
            scores = np.stack([bank.information(i, centre) for i in range(n_items)], axis=1)
        else:
            scores = -(w @ uncertain) if scorer == "information_gain" else np.zeros((n_people, n_items))
            for curve in by_answer:
                scores += entr(w @ curve)
        scores += barred
        top = scores.max(axis=1)
        possible = running & np.isfinite(top)
        with np.errstate(invalid="ignore"):
            best = np.argmax(scores >= (top - SAME * np.abs(top))[:, None], axis=1)
        rows = everyone[possible]
        chosen[rows, question] = best[rows]
        barred[rows, best[rows]] = -np.inf
        joint[rows] += logs[best[rows], :, table[rows, best[rows]]]
        w = np.exp(joint - joint.max(axis=1, keepdims=True))
        w /= w.sum(axis=1, keepdims=True)
        mean[:, question], std[:, question] = bank.moments([w])
        running = possible if stop is None else possible & (std[:, question].max(axis=1) > stop)
    return chosen, mean, std


def _one_by_one(
    everybody: Respondent, table: np.ndarray, n_questions: int, scorer: Scorer, stop: float | None, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Any scorer and bank: each person's test as the loop runs it, with the loop's seeds."""
    items = everybody.bank.items
    t = 1 if everybody.about_total else len(everybody.traits)
    chosen = np.full((len(table), n_questions), -1)
    mean, std = np.zeros((len(table), n_questions, t)), np.zeros((len(table), n_questions, t))
    for u, row in enumerate(table):
        person = everybody.stranger()
        left = np.flatnonzero(row >= 0)
        for question in range(n_questions):
            if len(left) and (stop is None or not question or std[u, question - 1].max() > stop):
                drawn = int(np.random.SeedSequence(seed, spawn_key=(1, question)).generate_state(1)[0])  # as the loop
                at = int(selection.select(person, [items[k] for k in left], scorer=scorer, random_state=drawn)[0])
                chosen[u, question] = left[at]
                answer = everybody.bank.categories[row[left[at]]]
                person.partial_fit([items[left[at]]], [answer])
                left = np.delete(left, at)
            if everybody.about_total:
                mean[u, question], std[u, question] = person.predict_total()[:2]
            else:
                mean[u, question], std[u, question] = person.mean, person.std
    return chosen, mean, std
