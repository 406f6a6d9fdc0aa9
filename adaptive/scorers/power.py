"""Any score as a lottery: candidates are drawn in proportion to it, not the highest taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.scorers.configured import Configured, wrapped

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState, Scorer

__all__ = ["power"]


def power(scorer: Scorer = "information_gain", *, exponent: float = 1.0) -> Configured:
    """Return a scorer: score^exponent / E, whose largest entry is a draw in proportion to score^exponent.

    E are independent standard exponentials, one per candidate; of a batch all in one, so that the highest are draws
    without replacement. Use it where the highest scores are those of outliers, or where a large batch of the highest
    would repeat itself (``joint=False``).

    Parameters
    ----------
    scorer : str or callable, default "information_gain"
        A name in :mod:`adaptive.scorers`, or a scorer that is nowhere negative.
    exponent : float >= 0, default 1
        0 draws all that score above zero alike.

    Returns
    -------
    scorer

    References
    ----------
    A. Kirsch, S. Farquhar, P. Atighehchian, A. Jesson, F. Branchaud-Charron, Y. Gal (2023), Stochastic batch
    acquisition: a simple baseline for deep active learning.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> belief = StatedPredictive(probabilities=[[0.5, 0.5], [1.0, 0.0]])
    >>> drawn = power("uncertainty", exponent=2)
    >>> drawn, (drawn(belief, 0) > 0).tolist()
    (power(uncertainty, exponent=2), [True, False])
    """
    exponent = float(checks.positive("exponent", exponent, or_zero=True))
    return wrapped(_drawn, "power", scorer, f"exponent={exponent:g}", {}, exponent=exponent)


def _drawn(
    predictive: Predictive, random_state: RandomState, base: Callable[..., np.ndarray], exponent: float
) -> np.ndarray:
    generator = checks.generator(random_state)
    uniform = generator.random(len(predictive))  # one each, so that chunks draw what the whole pool would
    scores = np.maximum(np.asarray(base(predictive, generator), dtype=float), 0.0)
    exponential = np.maximum(-np.log1p(-uniform), 1e-300)
    return np.where(scores > 0, scores**exponent, 0.0) / exponential
