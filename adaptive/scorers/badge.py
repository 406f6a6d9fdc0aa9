"""Uncertain and different: a random choice in proportion to the squared distance of gradients (BADGE)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.scorers.record import require, scorer
from adaptive.scorers.rows import products, squared_norms

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["badge"]


@scorer(whole_pool=True, sees_asked=True)  # what is asked may lie in another chunk
def badge(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return D^2 / E, whose largest entry is a draw in proportion to D^2; E are independent standard exponentials.

        g = (p - e_c) x         gradient of the log loss at the most probable class c, for a linear model on features x
        D                       distance of g to the nearest gradient asked already (its length where none is)

    A batch is the seeding of k-means++: long gradients (uncertain) far from each other (diverse). It needs no
    posterior, so any classifier will do; where there is one, a joint batch by `information_gain` avoids
    repetition by what the outcomes would teach.

    Parameters
    ----------
    predictive : Predictive
        With ``probabilities`` and ``features``.
    random_state : None, int, Generator or RandomState

    Returns
    -------
    (m,) array

    Raises
    ------
    ValueError
        If ``random_state`` is neither a seed nor a generator.
    MissingField
        If the predictive does not provide what is needed.

    References
    ----------
    J. Ash, C. Zhang, A. Krishnamurthy, J. Langford, A. Agarwal (2020), Deep batch active learning by diverse, uncertain
    gradient lower bounds.

    Examples
    --------
    A candidate of which the classifier is sure has no gradient.

    >>> from adaptive.predictive import StatedPredictive
    >>> belief = StatedPredictive(probabilities=[[0.5, 0.5], [1.0, 0.0]], features=np.ones((2, 3)))
    >>> (badge(belief, 0) > 0).tolist()
    [True, False]
    """
    require("badge", predictive, "probabilities", "features")
    rows, p = predictive.features, np.asarray(predictive.probabilities)
    errors = p.copy()
    errors[np.arange(len(p)), p.argmax(axis=1)] -= 1.0
    lengths = squared_norms(errors) * squared_norms(rows)
    distances = lengths
    if predictive.asked:
        asked = list(predictive.asked)
        crossed = (errors @ errors[asked].T) * products(rows, rows[asked])  # g . g' of (error x row) outer products
        apart = lengths[:, None] + lengths[asked] - 2 * crossed
        distances = np.where(apart < 1e-14 * (lengths[:, None] + lengths[asked]), 0.0, apart).min(axis=1)
        distances[asked] = 0.0
    generator = checks.generator(random_state)
    fresh = np.random.default_rng([int(generator.integers(2**62)), len(predictive.asked)])  # each choice its own draw
    return distances / np.maximum(fresh.standard_exponential(len(p)), 1e-300)
