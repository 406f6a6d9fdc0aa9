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
from adaptive.estimators.pairs.factorization.shortlist import among_best
from adaptive.estimators.pairs.symbols.predictive import drawn_rows
from adaptive.potentials import BernoulliLogit
from adaptive.predictive import StatedPredictive
from adaptive.scorers.upper_confidence_bound import optimistic

if TYPE_CHECKING:
    from adaptive.estimators.pairs.factorization.shortlist import Arguments, Shortened, Vectors
    from adaptive.estimators.pairs.paired_symbols import PairedSymbols
    from adaptive.estimators.pairs.symbols.belief import PairsBelief

__all__ = ["gains", "searched"]


def gains(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Return what answers teach (m,), nats, by the moments (m,) of their log odds."""
    return scorers.information_gain(StatedPredictive(mean=mean, variance=variance, likelihood=BernoulliLogit()))


def searched(estimator: PairedSymbols, arguments: Arguments) -> Shortened | None:
    """Return positions of the best pairs of a product and the arguments of ``select`` among these alone.

    None where all are to be scored: by a scorer without bounds, about a target, beside something pending.
    """
    score: Any = scorers.get(arguments["scorer"], estimator)
    deviations = score.settings["deviations"] if getattr(score, "function", None) is optimistic else None
    known = deviations is not None or score in (scorers.information_gain, scorers.thompson)
    plain = arguments["target"] is None and arguments["pending"] is None
    if not (known and plain):
        return None
    arguments["n_select"] = checks.integer("n_select", arguments["n_select"], minimum=1)
    if not isinstance(arguments.get("random_state"), int):  # once, so that search and choice see one draw
        arguments["random_state"] = int(checks.generator(arguments.get("random_state")).integers(2**62))
    how: dict[str, Any] = {"score": gains, "symmetric": True}
    if deviations is not None:
        how = {"score": lambda mean, variance: expit(mean + deviations * np.sqrt(variance))}
    elif score is scorers.thompson:
        how = {"score": lambda mean, variance: expit(mean)}
    drawn = arguments["random_state"] if score is scorers.thompson else None
    belief = estimator.belief_
    return among_best(arguments, lambda users, items: _vectors(belief, users, items, drawn), **how)


def _vectors(
    belief: PairsBelief, users: np.ndarray, items: np.ndarray, random_state: int | None
) -> tuple[Vectors, Vectors]:
    """Rows of ids as `best_pairs` takes them; drawn as the predictive of a choice with this random state draws them."""
    factors, *rows = belief.located(users, items)
    if random_state is None:
        own, other = factors.sides
        return (own.mean[rows[0]], own.spread[rows[0]]), (other.mean[rows[1]], other.spread[rows[1]])
    seed = int(checks.generator(random_state).integers(2**62))  # of a view of candidates: `selection.scoring`
    base = int(np.random.default_rng(seed).integers(2**62))
    found = []
    for side, labels in enumerate((users, items)):
        draws, where = drawn_rows(factors, side, rows[side], labels, 1, base)
        found.append(draws[0][where])
    return found[0], found[1]
