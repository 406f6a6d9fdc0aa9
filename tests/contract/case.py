"""A row of the contract: an estimator with something to choose from."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adaptive import scorers
from adaptive.predictive import MissingField, Predictive

__all__ = ["Case"]


@dataclass(frozen=True, eq=False)
class Case:
    """An estimator with something to choose from.

    ``make`` returns it before any fit; ``learn`` are (candidates, outcomes) that it is then taught.  ``measure``
    answers candidates.  ``given`` says how close a what-if must come to ``partial_fit``: "exact" (1e-8), "direction",
    "blocks" (of numbers, of which the determinant is what is believed), "step" (of numbers, whose scales partial_fit
    learns anew), or None where there is no what-if.
    ``unrelated`` are two candidates whose outcomes are independent, if there are
    such. ``moves_on``: a candidate that was measured asks for something else from then on (a user's next item).
    ``own_draws``: every candidate has draws of its own, so that those of several are a sample, not all there are.
    ``once``: a candidate can be measured one time only.
    """

    name: str
    make: Callable[[], Any]
    candidates: Any
    learn: tuple[Any, Any]
    measure: Callable[[Any], Any]
    target: Any = None
    given: str | None = "exact"
    unrelated: Any = None
    moves_on: bool = False
    own_draws: bool = False
    once: bool = False

    @functools.cached_property
    def _fitted(self) -> Any:
        return self.make().partial_fit(*self.learn)

    def fitted(self) -> Any:
        """A copy of the estimator that was taught; it is taught once, for this case alone."""
        return copy.deepcopy(self._fitted)

    def about(self, scorer: str) -> Any:
        """What the score is to be about: some scorers need given inputs."""
        return self.target if scorer in ("predictive_information_gain", "expected_error_reduction") else None

    def beliefs(self, estimator: Any) -> Callable[[str], Predictive]:
        """What the estimator believes about the candidates, by scorer: one belief for all that ask for the same."""
        made: dict[bool, Predictive] = {}

        def belief(scorer: str) -> Predictive:
            target = self.about(scorer)
            if (target is None) not in made:
                made[target is None] = estimator.predictive(self.candidates, target=target, random_state=1)
            return made[target is None]

        return belief

    @functools.cached_property
    def scorers(self) -> list[str]:
        """The scorers that its predictive has the fields for."""
        belief = self.beliefs(self.fitted())
        return [name for name in scorers.__all__ if _serves(belief(name), name)]


def _serves(predictive: Predictive, scorer: str) -> bool:
    try:
        scorers.get(scorer)(predictive, 0)
    except MissingField:
        return False
    return True
