"""Futures: ways in which the outcomes of a batch, or of what is pending, may come out.

    expected score(i)  =  sum_f w_f score(i | f)

While the outcomes of what was chosen have at most 16 cases, each case is a future, and the mean is exact.  From then on
there are 8 of equal weight, each of which goes on with one sampled outcome (equal ones are kept as one): the uniform
numbers that decide are stratified over the futures, so that together they see the outcomes in nearly the right
proportions.

Of a softmax the futures share members that are drawn once and moved (:mod:`adaptive.predictive.members`).  Predictives
that have nothing but draws, of which a few outcomes would leave one, have no futures but :class:`Votes`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.predictive.answers.projections import answered
from adaptive.predictive.members import Members, as_members, have_members
from adaptive.selection.evaluation import evaluate

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import ArrayLike

__all__ = ["MOST_CASES", "N_FUTURES", "Futures"]

N_FUTURES = 8
MOST_CASES = 16  # that are listed, not sampled
Outcomes = list[tuple[Any, float]]  # and their weights


class Futures:
    """Weighted predictives of the same candidates, one of which will be right.

    Parameters
    ----------
    weighted : list of (weight, predictive)
        Whose weights add up to 1.
    seed : int
        Of the sampled outcomes.
    by_draws : bool
        Whether the scores to come may be means over draws also where the target is given inputs.
    depth : int
        How many candidates were supposed to be measured; it makes each choice of outcomes a new one.
    sampled : bool
        Whether outcomes were sampled before: then they are again, for cases would soon be 16 instead of 8.

    Examples
    --------
    >>> from adaptive.predictive import WeightedDraws
    >>> belief = WeightedDraws([0.5, 0.5], [[[0.5, 0.5]] * 2, [[0.0, 1.0]] * 2], ["tail", "head"])
    >>> after = Futures([(1.0, belief)], seed=0).after(0)
    >>> [(weight, future.weights.round(3).tolist()) for weight, future in after.weighted]
    [(0.25, [1.0, 0.0]), (0.75, [0.333, 0.667])]
    """

    def __init__(
        self,
        weighted: list[tuple[float, Predictive]],
        seed: int,
        by_draws: bool = False,
        depth: int = 0,
        sampled: bool = False,
    ) -> None:
        self.weighted, self._seed, self._by_draws = weighted, seed, by_draws
        self._depth, self._sampled = depth, sampled

    def _followed_by(self, weighted: list[tuple[float, Predictive]], sampled: bool) -> Futures:
        return Futures(weighted, self._seed, self._by_draws, self._depth + 1, sampled)

    def provides(self, name: str) -> bool:
        """Return whether every future has the field ``name``."""
        return all(part.provides(name) for _, part in self.weighted)

    def after(self, i: int) -> Futures:
        """Return the futures once candidate ``i`` was measured, its outcome not known."""
        cases = [part.likely_outcomes(i) for _, part in self.weighted]
        n_cases = sum(1 if outcomes is None else len(outcomes) for outcomes in cases)
        sampled = n_cases > MOST_CASES or (self._sampled and n_cases > N_FUTURES)
        branches = self._draw(cases) if sampled else self._list(cases)
        after: list[tuple[float, Predictive]] = []
        for (_, part), outcomes, known in zip(self.weighted, branches, cases, strict=True):
            if known is None:
                after += [(weight, part.given(i)) for _, weight in outcomes]
            elif outcomes:
                moved = self._with_members(part).futures(i, outcomes)
                after += [(weight, one) for (_, weight), one in zip(outcomes, moved, strict=True)]
        return self._followed_by(after, self._sampled or sampled)

    def after_answers(self, answers: list[Any]) -> Futures:
        """Return one future of equal weight for each set of ``answers``, which the first candidates gave in it."""
        ((_, part),) = self.weighted
        part = self._with_members(part)
        after = part.answered(answers) if isinstance(part, Members) else answered(part, answers)
        return self._followed_by([(1.0 / len(after), one) for one in after], self._sampled)

    def after_asking(self, i: int) -> Futures:
        """Return the same with candidate ``i`` among those asked, of which no outcome matters."""
        return self._followed_by([(weight, part.after_asking(i)) for weight, part in self.weighted], self._sampled)

    def _list(self, cases: list[Outcomes | None]) -> list[Outcomes]:
        return [
            [(None, weight)] if outcomes is None else [(outcome, weight * p) for outcome, p in outcomes]
            for (weight, _), outcomes in zip(self.weighted, cases, strict=True)
        ]

    def _draw(self, cases: list[Outcomes | None]) -> list[Outcomes]:
        """Return which outcomes each future goes on with, so that all are 8 of equal weight; equal ones are one."""
        rng = np.random.default_rng([self._seed, self._depth])
        weights = np.array([weight for weight, _ in self.weighted])
        ends = np.cumsum(weights) / weights.sum()
        points = (np.arange(N_FUTURES) + rng.random()) / N_FUTURES
        parents = np.minimum(np.searchsorted(ends, points, side="right"), len(weights) - 1)
        # where a point lies within its parent decides the outcome; a turn of each parent's own stratifies these
        within = (points - (ends - weights)[parents]) / weights[parents]
        turns = rng.permutation(len(weights)) / len(weights)
        levels = (within + turns[parents]) % 1.0
        branches: list[Outcomes] = []
        for k, outcomes in enumerate(cases):
            mine = levels[parents == k]
            if outcomes is None:
                branches.append([(None, len(mine) / N_FUTURES)] if len(mine) else [])
                continue
            below = np.cumsum([p for _, p in outcomes])
            taken = np.minimum(np.searchsorted(below / below[-1], mine, side="right"), len(outcomes) - 1)
            found, counts = np.unique(taken, return_counts=True)
            branches.append([(outcomes[y][0], n / N_FUTURES) for y, n in zip(found, counts.tolist(), strict=True)])
        return branches

    def _with_members(self, part: Predictive) -> Predictive:
        if isinstance(part, Members) or not have_members(part):
            return part
        if part.provides("target") and not self._by_draws:
            return part  # information about given inputs is no mean over draws
        return as_members(part)

    def score(self, scorer: Callable[..., ArrayLike], seed: int, start: int = 0) -> np.ndarray:
        """Return the expected scores of the candidates, which are those from ``start`` on of their pool."""
        total: Any = 0.0
        for weight, part in self.weighted:
            values = evaluate(scorer, part, seed, start)
            total = values if weight == 1.0 else total + weight * values
        return total

    def coarse(self) -> Futures | None:
        """Return the same of beliefs that cost less; None where some future has none."""
        parts = [(weight, part.coarse()) for weight, part in self.weighted]
        found = [(weight, part) for weight, part in parts if part is not None]
        return self._followed_by(found, self._sampled) if len(found) == len(parts) else None

    def refined(self, positions: np.ndarray) -> Futures:
        """Return the same of the candidates at ``positions``, computed exactly."""
        return self._followed_by([(weight, part.refined(positions)) for weight, part in self.weighted], self._sampled)
