"""The best rows by a scorer that falls with |mean| and grows with the variance of the projection.

For the rows x of a ball with centre c and radius r, and s = x . w with w ~ N(mean, S):

    |E s|  >=  |E s at c| - r |mean|,        sd s  <=  sd at c + r |S|^(1/2)

and the score at the corner, the smallest |mean| with the largest variance, bounds those of the ball.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks, scorers
from adaptive.predictive import Predictive, StatedPredictive
from adaptive.predictive.conditional_variance import is_gaussian
from adaptive.scorers import record_of
from adaptive.search.balls import Balls
from adaptive.search.bounded import Found, best_of_blocks
from adaptive.selection.arguments import allowed_positions, check_enough, prices_of
from adaptive.selection.choosing import select
from adaptive.selection.evaluation import checked
from adaptive.selection.scoring import Believer, View

if TYPE_CHECKING:
    from adaptive.potentials.base import Potential  # house: a type only
    from adaptive.types import ArrayLike, Cost, RandomState, Scorer

__all__ = ["best_rows"]


def best_rows(
    estimator: Believer,
    rows: Balls | ArrayLike,
    n: int = 10,
    *,
    scorer: Scorer = "information_gain",
    cost: Cost = None,
    mask: ArrayLike | None = None,
    exclude: ArrayLike | Collection[int] = (),
    random_state: RandomState = None,
) -> Found:
    """Return the n rows with the highest single scores, exactly; those of most are bounded and not computed.

    The same positions as ``estimator.select(X, n, joint=False)``.  It pays where rows lie close together compared to
    how fast the score varies: few columns, or clusters.

    Parameters
    ----------
    estimator : estimator whose predictive is a Gaussian of projections of rows, with two classes or Gaussian noise
    rows : Balls, or (m, d) array
        ``Balls(X)`` is made once and searched after every answer.
    n : int, default 10
    scorer : str or callable, default "information_gain"
        One that is declared ``monotone``; of others all rows are scored.
    cost, mask, exclude, random_state
        As in `select`.

    Returns
    -------
    Found

    Raises
    ------
    ValueError
        If an argument is not as described, or fewer than n rows are allowed.

    Warns
    -----
    UserWarning
        If there is no bound, or it excluded next to nothing; all rows were scored then.

    Examples
    --------
    >>> from adaptive import BayesianLogisticRegression
    >>> X = np.random.default_rng(0).standard_normal((20_000, 2))
    >>> model = BayesianLogisticRegression(prior_scale=1.0).fit(X[:30], X[:30, 0] > 0.5)
    >>> found = best_rows(model, X, 5)
    >>> everything = model.select(X, 5, scorer="information_gain", joint=False)
    >>> bool((found.positions == everything).all()), found.share < 0.1
    (True, True)
    """
    score = scorers.get(scorer)
    balls = rows if isinstance(rows, Balls) else Balls(rows)
    n, m = checks.integer("n", n, minimum=1), len(balls)
    centres = estimator.predictive(balls.centres)
    bounds = _bounds(score, centres, balls)
    if bounds is None:
        name = getattr(score, "__name__", score)
        warnings.warn(f"{name} has no bound over blocks of rows here: all {m:,} rows are scored.", stacklevel=2)
        positions, scores = select(
            estimator, balls.points, n, scorer=scorer, cost=cost, mask=mask, exclude=exclude, joint=False,
            random_state=random_state, return_scores=True,
        )  # fmt: skip
        return Found(positions, scores, m, m)
    allowed = allowed_positions(m, mask, exclude)
    check_enough(n, m, m if allowed is None else len(allowed))
    prices = np.ones(m)
    if cost is not None:
        prices[slice(None) if allowed is None else allowed] = prices_of(cost, balls.points, m, allowed)
        bounds = np.where(bounds > 0, bounds / balls.smallest(prices), bounds / balls.largest(prices))
    free = None if allowed is None else np.isin(np.arange(m), allowed)
    view = View(estimator, balls.points, None, None, None, score, checks.generator(random_state))

    def scored(blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        positions = np.sort(np.concatenate([balls.block(int(k)) for k in blocks]))
        if free is not None:
            positions = positions[free[positions]]
        if not len(positions):
            return np.empty(0), positions, np.empty(0)
        found = view.evaluate(view.outlook(view.candidates_at(positions)))
        scores = checked(found, score, len(positions), positions)
        return scores / prices[positions], positions, scores

    return best_of_blocks(bounds, scored, n, m, together=32)


def _bounds(score: Callable[..., ArrayLike], centres: Predictive, balls: Balls) -> np.ndarray | None:
    """Return the largest score that a row of each block can have, None where that is not known."""
    steep = centres.steepness()
    if steep is None or not record_of(score).monotone or not _is_symmetric(centres.likelihood):
        return None
    of_mean, of_deviation = steep
    mean = np.maximum(np.abs(centres.mean) - balls.radii * of_mean, 0.0)
    deviation = np.sqrt(centres.variance) + balls.radii * of_deviation
    best = StatedPredictive(mean=mean, variance=deviation**2, likelihood=centres.likelihood)
    bounds = np.asarray(score(best, None), dtype=float)
    return bounds + 1e-9 * np.abs(bounds).max()  # rounding, and the quadrature's


def _is_symmetric(family: Potential) -> bool:
    """Return whether outcomes trade places with the sign of the projection, or are it plus the same noise."""
    if family.size is not None:
        return False
    if is_gaussian(family):
        return True
    if family.outcomes is None or len(family.outcomes) != 2:
        return False
    first, second = family.outcomes
    s = np.array([-3.0, -0.7, 0.0, 1.1, 8.0])
    return bool(np.allclose(family.log_density(s, first), family.log_density(-s, second), rtol=1e-12, atol=1e-300))
