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

from adaptive.estimators.questionnaires.crowds import worth_of
from adaptive.estimators.questionnaires.respondent import Respondent
from adaptive.estimators.questionnaires.simulation import replay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adaptive.estimators.questionnaires.answers import Answers, Label
    from adaptive.estimators.questionnaires.base import ItemBank
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
            raise ValueError(f"the band is for totals after 1 to {most} answers; this person has given {n_answers}.")
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
    bank: ItemBank, answers: Answers, n_questions: int, *, scorer: Scorer, target: Target, prior: Prior,
    counted: Sequence[Label] | None, random_state: RandomState,
) -> TotalBand:  # fmt: skip
    """Replay people through the test; those of whom not all counted items are known are left out."""
    everybody = Respondent(bank, target, prior, counted)
    places = np.unique(everybody.counted_)
    table = answers.with_items(bank.items).table()
    table = table[(table[:, places] >= 0).all(axis=1)]
    if not len(table):
        raise ValueError("answers must hold people who answered all items that make the total; there is none.")
    everybody.predict_total()  # a model without totals is refused here
    said = replay(everybody, table, n_questions, scorer=scorer, totals=True, random_state=random_state).totals
    truth = worth_of(bank, places, table[:, places]).sum(axis=1)
    far = np.abs(truth[:, None] - said[..., 0])
    return TotalBand(np.where(far > _SMALL, far / np.maximum(said[..., 1], _SMALL), 0.0), places)
