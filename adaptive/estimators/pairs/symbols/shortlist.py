"""The pairs of a long product of users and items that are worth a closer look, found by bounds and not by scoring all.

information_gain        falls with |mean| and grows with the variance of the log odds
upper_confidence_bound  grows with both
thompson                grows with the inner product of the rows as they are drawn
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from adaptive import checks, scorers
from adaptive.estimators.pairs.factorization.shortlist import among_best, is_product
from adaptive.estimators.pairs.symbols.predictive import drawn_rows
from adaptive.potentials import BernoulliLogit
from adaptive.predictive import StatedPredictive
from adaptive.scorers.upper_confidence_bound import optimistic

if TYPE_CHECKING:
    from adaptive.estimators.pairs.symbols.belief import PairsBelief
    from adaptive.types import Pool

__all__ = ["gains", "searched"]

DEFAULTS: dict[str, Any] = {
    "scorer": "auto", "target": None, "cost": None, "mask": None, "exclude": (), "pending": None, "joint": True,
}  # fmt: skip


def gains(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return what answers teach (m,), nats, by the moments (m,) of their log odds."""
    return scorers.information_gain(StatedPredictive(mean=mean, variance=variance, likelihood=BernoulliLogit()))


def searched(
    estimator: Any, candidates: Pool, n_select: int, options: dict[str, Any]
) -> tuple[np.ndarray, dict[str, Any]] | None:
    """Return positions of the best pairs and the arguments of ``select`` among these alone; None where all are to be
    scored: no product, not a long one, a scorer without bounds, a target, something pending."""
    arguments = {"candidates": candidates, "n_select": n_select, **DEFAULTS, **options}
    score: Any = scorers.get(arguments["scorer"], estimator)
    deviations = score.settings["deviations"] if getattr(score, "function", None) is optimistic else None
    known = deviations is not None or score in (scorers.information_gain, scorers.thompson)
    plain = arguments["target"] is None and arguments["pending"] is None
    if not (known and plain and is_product(candidates) and estimator.__sklearn_is_fitted__()):
        return None
    arguments["n_select"] = checks.integer("n_select", n_select, minimum=1)
    if not isinstance(arguments.get("random_state"), int):  # once, so that search and choice see one draw
        arguments["random_state"] = int(checks.generator(arguments.get("random_state")).integers(2**62))
    how: dict[str, Any] = {"score": gains, "symmetric": True}
    if deviations is not None:
        how = {"score": lambda mean, variance: expit(mean + deviations * np.sqrt(variance))}
    elif score is scorers.thompson:
        how = {"score": lambda mean, variance: expit(mean)}
    drawn = arguments["random_state"] if score is scorers.thompson else None
    belief: PairsBelief = estimator.belief_
    return among_best(arguments, lambda users, items: _vectors(belief, users, items, drawn), **how)


def _vectors(belief: PairsBelief, users: np.ndarray, items: np.ndarray, random_state: int | None) -> tuple[Any, Any]:
    """Rows of ids as `best_pairs` takes them; drawn as the predictive of a choice with this random state draws them."""
    factors, *rows = belief.located(users, items)
    if random_state is None:
        return tuple((side.mean[at], side.spread[at]) for side, at in zip(factors.sides, rows, strict=True))  # type: ignore[return-value]
    seed = int(checks.generator(random_state).integers(2**62))  # of a view of candidates: `selection.scoring`
    base = int(np.random.default_rng(seed).integers(2**62))
    found = []
    for side, labels in enumerate((users, items)):
        draws, where = drawn_rows(factors, side, rows[side], labels, 1, base)
        found.append(draws[0][where])
    return found[0], found[1]
