"""The model of a table of comparisons: what is learnt beside strengths, where the table is likelier with it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive.estimators import BradleyTerry

if TYPE_CHECKING:
    import pandas as pd

    from adaptive.cli.rank.tables import Known

__all__ = ["FEW", "Choice", "chosen", "model_of", "pairs_of"]

LENGTHS = (0.5, 1.0, 2.0)  # in units of the root of the number of features: of distances between unlike items
WORTH = float(np.log(3.0))  # evidence that judges, or sides, must bring to be learnt
FEW = 20  # comparisons below which a table says nothing about answers to come


@dataclass(frozen=True)
class Choice:
    """Choice of what is learnt beside strengths, and what decided.

    Attributes
    ----------
    ties, sides, judges : bool
    gain : float or None
        Evidence that judges bring, in nats; None where it was not asked for.
    other : (list of str, float) or None
        The best items, as many as are looked for (of an order of all the first), and their probability as a set, by the
        model with judges where there are none, and the other way round.
    """

    ties: bool
    sides: bool
    judges: bool
    gain: float | None = None
    other: tuple[list[str], float] | None = None

    @property
    def options(self) -> dict[str, bool]:
        """Parameters of the estimator."""
        return {"ties": self.ties, "position_bias": self.sides, "judges": self.judges}


class AnsweredByName(BradleyTerry):
    """The model of comparisons that say who answered, where all answers count alike."""

    def _candidates(self, X: Any) -> Any:
        return super()._candidates([row[:2] for row in X])

    def _measured(self, X: Any, y: Any, earlier: Any = None) -> Any:
        return super()._measured([row[:2] for row in X], y, earlier)


def chosen(known: Known, features: pd.DataFrame | None, settings: Mapping[str, Any], asking: bool) -> Choice:
    """Return what is learnt: as the settings say, else what makes the table likelier (see `WORTH`).

    Ties are learnt where the table has some. Where answers are to come, and the table is short, ties and sides are.
    Sides are decided first, by answers that all count alike: that makes three fits at most, two of them cheap.
    """
    short = asking and len(known.rows) < FEW
    ties = settings["ties"]
    ties = bool(short or np.any(known.y == 0)) if ties is None else ties
    sides, judges = settings["position_bias"], settings.get("judges")
    if sides is None:
        sides = True if short else None if known.sided else False
    if judges is None:
        judges = True if settings["judge"] else None if known.judged and not short else known.judged
    if not known.rows:
        return Choice(ties, bool(sides), bool(judges))

    def fit(sides: bool, judges: bool) -> BradleyTerry:
        return model_of(known, features, Choice(ties, sides, judges), quick=True)

    alone = fit(bool(sides), False) if sides is None or judges is None else None
    if alone is not None and sides is None:
        with_sides = fit(True, False)
        sides = with_sides.log_evidence_ > alone.log_evidence_ + WORTH
        alone = with_sides if sides else alone
    if alone is None or judges is not None:
        return Choice(ties, bool(sides), bool(judges))
    judged = fit(bool(sides), True)
    gain = judged.log_evidence_ - alone.log_evidence_
    judges = gain > WORTH
    members, probability = (alone if judges else judged).top_set(best_of(settings, len(known.names)))
    return Choice(ties, bool(sides), bool(judges), float(gain), ([str(one) for one in members], probability))


def best_of(settings: Mapping[str, Any], n: int) -> int:
    """Return the number of the best that are looked for; of an order of all n items 1, the first."""
    return settings["best"] if 1 <= (settings.get("best") or 0) < n else 1


def model_of(
    known: Known, features: pd.DataFrame | None, choice: Choice, *, stands_for: str = "table", quick: bool = False,
    named: bool = False,
) -> BradleyTerry:  # fmt: skip
    """The estimator after the table's comparisons; those of nobody in particular count as ``stands_for``'s.

    ``quick``: of a kernel's lengths the middle one alone. ``named``: comparisons to come say who answers, also where
    no skills are learnt.
    """
    kind = AnsweredByName if named and not choice.judges else BradleyTerry
    rows = [row[:2] if not choice.judges else row if len(row) == 3 else (*row, stands_for) for row in known.rows]

    def fitted(model: BradleyTerry) -> BradleyTerry:
        return model.partial_fit(rows, known.y) if rows else model

    if features is None:
        return fitted(kind(known.names, **choice.options))
    from sklearn.gaussian_process.kernels import RBF

    lengths = LENGTHS if rows and not quick else (1.0,)
    models = [
        fitted(kind(None, RBF(length * np.sqrt(features.shape[1])), item_features=features, **choice.options))
        for length in lengths
    ]
    return max(models, key=lambda model: model.log_evidence_) if rows else models[0]


def pairs_of(names: list[str], judges: list[str] | None) -> list[tuple[str, ...]]:
    """All that may be asked: two names in either order, and a judge where there are several."""
    judged: list[tuple[str, ...]] = [()] if judges is None else [(judge,) for judge in judges]
    return [(*pair, *judge) for pair in itertools.permutations(names, 2) for judge in judged]
