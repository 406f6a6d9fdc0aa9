"""Bands of totals that hold whatever the model gets wrong, by people of whom all answers are known.

    r_u = |T_u - mean_u| / std_u  after k questions asked in the same way;   T  in  mean +- q std,   q the
    ceil((n + 1) level)-th smallest of n of these

A new person is exchangeable with those, so that at least the level is covered on average over people, by items chosen
by any fixed rule, too (Vovk, Gammerman and Shafer 2005, Algorithmic Learning in a Random World).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from adaptive.estimators.questionnaires.respondent import Respondent
from adaptive.estimators.questionnaires.simulation import simulate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adaptive.estimators.questionnaires.answers import Answers, Label
    from adaptive.estimators.questionnaires.bank import Bank
    from adaptive.estimators.questionnaires.ordinal.bank import OrdinalBank
    from adaptive.estimators.questionnaires.respondent import Prior, Target
    from adaptive.types import RandomState, Scorer

__all__ = ["TotalBand", "total_band"]

_SMALL = 1e-9  # points: a total that is known


class TotalBand(NamedTuple):
    """Distances of totals from what was predicted, in its deviations, after each number of questions.

    Attributes
    ----------
    off : (people, n_questions) array
    counted : (s,) array of int
        Positions of the items that make the total.
    """

    off: np.ndarray
    counted: np.ndarray

    def deviations(self, n_answers: int, level: float) -> float:
        """Deviations on either side of the mean that hold a share ``level`` of totals after so many answers."""
        n, most = self.off.shape
        if not 1 <= n_answers <= most:
            raise ValueError(f"the band is of totals after 1 to {most} answers; this person has given {n_answers}.")
        place = math.ceil((n + 1) * level)
        if place > n:
            raise ValueError(
                f"a band of level {level:g} needs {math.ceil(level / (1 - level))} people or more who were asked in "
                f"the same way, got {n}."
            )
        return float(np.sort(self.off[:, n_answers - 1])[place - 1])

    def interval(self, mean: float, std: float, values: np.ndarray, n_answers: int, level: float) -> np.ndarray:
        """(2,) the least and largest of ``values`` within the band; the nearest where it holds none."""
        half = self.deviations(n_answers, level) * max(std, _SMALL)
        held = values[np.abs(values - mean) <= half * (1 + 1e-12) + _SMALL]
        if not len(held):
            held = values[[np.argmin(np.abs(values - mean))]]
        return held[[0, -1]]


def total_band(
    bank: Bank | OrdinalBank, answers: Answers, n_questions: int, *, scorer: Scorer, target: Target, prior: Prior,
    counted: Sequence[Label] | None, random_state: RandomState,
) -> TotalBand:  # fmt: skip
    """Replay people through the test; those of whom not all counted items are known are left out."""
    everybody = Respondent(bank, target, prior, counted)
    places = np.arange(len(bank)) if counted is None else np.unique(bank.positions(list(counted)))
    table = answers.with_items(bank.items).table()
    whole = np.flatnonzero((table[:, places] >= 0).all(axis=1))
    if not len(whole):
        raise ValueError("answers must hold people who answered all items that make the total; there is none.")
    asked = simulate(
        bank, answers, n_questions, scorer=scorer, target=target, prior=prior, counted=counted,
        random_state=random_state,
    ).items  # fmt: skip
    position = {item: k for k, item in enumerate(bank.items)}
    off = np.zeros((len(whole), n_questions))
    for row, u in enumerate(whole):
        person = everybody.stranger()
        missing = [bank.items[k] for k in places]
        told = person.stranger().partial_fit(missing, [bank.categories[table[u, k]] for k in places])
        truth = told.predict_total().mean
        for k, item in enumerate(asked[u]):
            if item is not None:
                person.partial_fit([item], [bank.categories[table[u, position[item]]]])
            said = person.predict_total()
            off[row, k] = abs(truth - said.mean) / max(said.std, _SMALL) if abs(truth - said.mean) > _SMALL else 0.0
    return TotalBand(off, places)
