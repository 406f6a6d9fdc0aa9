"""Answers of one person: traits on grids, one for each part of the bank; measuring reweights the part's grid.

Traits of different parts are independent, so that an item teaches about its own part only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.predictive.base import Predictive
from adaptive.predictive.derivations import Way, entropy, likely
from adaptive.predictive.weighted_draws import WeightedDraws

if TYPE_CHECKING:
    from adaptive.types import RandomState

__all__ = ["PartsPredictive", "TraitDraws"]

DRAWS = 512  # joint draws of independent parts


class TraitDraws(WeightedDraws):
    """Draws that are a grid of traits.

    Parameters
    ----------
    weights : (k,) array
    table : (k, m, c) array
    outcomes : (c,) sequence
    values : (k, t) array
        The traits that are to be learnt.
    shared : (t, 2, 2) array
        Covariance of their origin and log unit: what the calibration left open for all items together.
    information : callable (t,) -> (m,), optional
        Fisher information at a trait, where it is one.
    **fields
    """

    def __init__(
        self, weights: np.ndarray, table: np.ndarray, outcomes: Sequence[int], *, values: np.ndarray,
        shared: np.ndarray, information: Callable[[np.ndarray], np.ndarray] | None = None, target: Any = None,
        **fields: Any,
    ) -> None:  # fmt: skip
        super().__init__(weights, table, outcomes, target=values if target is None else target, **fields)
        self._known = values, shared, information
        if information is None:
            self.remedy = "Fisher information is about one trait, not about several or about answers"

    def _provides(self, name: str) -> bool:
        return super()._provides(name) if name != "fisher_information" else self._known[2] is not None

    def reweighted(self, weights: np.ndarray) -> WeightedDraws:
        after = super().reweighted(weights)
        after._known = self._known  # type: ignore[attr-defined]
        return after


def _deviation(predictive: TraitDraws) -> np.ndarray:
    values, shared, _ = predictive._known
    first, second = predictive.weights @ values, predictive.weights @ values**2
    return np.sqrt(second - first**2 + shared[:, 0, 0] + 2 * first * shared[:, 0, 1] + second * shared[:, 1, 1])


def _fisher(predictive: TraitDraws) -> np.ndarray:
    values, _, information = predictive._known
    assert information is not None
    return information(predictive.weights @ values)


TraitDraws.ways = WeightedDraws.ways | {
    "target_deviation": (Way((), _deviation),),
    "fisher_information": (Way((), _fisher, lambda p: p._known[2] is not None),),
}


class PartsPredictive(Predictive):
    """Several independent parts, each with its own draws.

    Parameters
    ----------
    parts : list of TraitDraws or None
        None: no candidate and no target there.
    where : (m,) array of int
        The part of each candidate; in its draws candidates keep their order.
    aimed : list of bool
        Whether a part's traits are to be learnt.
    n_outcomes : int
    """

    def __init__(
        self,
        parts: Sequence[TraitDraws | None],
        where: np.ndarray,
        aimed: list[bool],
        outcomes: Sequence[int] | np.ndarray,
        random_state: RandomState = None,
        **fields: Any,
    ) -> None:
        self._parts, self._where, self._aimed = parts, np.asarray(where), aimed
        self._stated_beside = fields
        super().__init__(len(where), outcomes=outcomes, random_state=random_state, **fields)

    def _gathered(self, field: Callable[[Any], np.ndarray], width: int = 0) -> np.ndarray:
        """One entry per candidate, from the parts."""
        found = np.zeros((len(self), width) if width else len(self))
        for k, part in enumerate(self._parts):
            rows = self._where == k
            if rows.any():
                found[rows] = field(part)
        return found

    def given(self, i: int, outcome: float | None = None) -> Predictive:
        """The predictive had candidate ``i`` been answered."""
        if outcome is None:
            raise self._unknown(i)
        i = range(len(self))[i]
        k = int(self._where[i])
        parts: list[Any] = list(self._parts)
        parts[k] = parts[k].given(int(np.sum(self._where[:i] == k)), outcome)
        return PartsPredictive(
            parts, self._where, self._aimed, self.outcomes, random_state=self.seed, **self._stated_beside
        )

    def likely_outcomes(self, i: int) -> list[tuple[Any, float]] | None:
        """[(outcome, probability)] of candidate ``i``."""
        return likely(self.outcomes, self.probabilities[i])

    def draws(self, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Joint draws: of each part independently."""
        n = DRAWS if n is None else n
        rng = np.random.default_rng(self.seed)
        table = np.zeros((n, len(self), len(self.outcomes)))
        for k, part in enumerate(self._parts):
            if part is not None and (self._where == k).any():
                chosen = rng.choice(len(part.weights), size=n, p=part.weights)
                table[:, self._where == k] = part._table.values[chosen]
        return np.full(n, 1.0 / n), table


def _expected_entropy(predictive: PartsPredictive) -> np.ndarray:
    aimed = predictive._gathered(lambda part: part.expected_entropy)
    return np.where(np.asarray(predictive._aimed)[predictive._where], aimed, entropy(predictive.probabilities))


def _targets(predictive: PartsPredictive) -> list[TraitDraws]:
    return [
        part for part, aimed in zip(predictive._parts, predictive._aimed, strict=True) if part is not None and aimed
    ]


PartsPredictive.ways = Predictive.ways | {
    "probabilities": (Way((), lambda p: p._gathered(lambda part: part.probabilities, len(p.outcomes))),),
    "expected_entropy": (Way((), _expected_entropy),),
    "target_entropy": (Way((), lambda p: float(sum(part.target_entropy for part in _targets(p)))),),
    "expected_target_entropy": (Way((), lambda p: p.target_entropy - (entropy(p.probabilities) - p.expected_entropy)),),
    "target_deviation": (Way((), lambda p: np.concatenate([part.target_deviation for part in _targets(p)])),),
    "fisher_information": (
        Way(
            (),
            lambda p: p._gathered(lambda part: part.fisher_information if part.provides("fisher_information") else 0.0),
            lambda p: len(_targets(p)) == 1 and _targets(p)[0].provides("fisher_information"),
        ),
    ),
}
