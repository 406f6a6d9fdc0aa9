"""One of the best few, at random: items of a test are then not known to everybody."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.scorers.configured import Configured, wrapped

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState, Scorer

__all__ = ["randomesque"]


def randomesque(scorer: Scorer, n: int = 5) -> Configured:
    """Return a scorer whose best candidate is one of the ``n`` best of ``scorer``, each with probability 1/n.

    Parameters
    ----------
    scorer : str or callable
    n : int, default 5

    Returns
    -------
    scorer
        The n best trade their scores at random; all others keep theirs.

    References
    ----------
    G. Kingsbury and A. Zara (1989), Procedures for selecting items for computerized adaptive tests.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> belief = StatedPredictive(variance=[3.0, 2.0, 1.0, 0.0])
    >>> sorted(randomesque("predictive_variance", 2)(belief, 0).tolist())
    [0.0, 1.0, 2.0, 3.0]
    """
    n = checks.integer("n", n, minimum=1)
    return wrapped(_shuffled, "randomesque", scorer, str(n), {"whole_pool": True}, n=n)


def _shuffled(predictive: Predictive, random_state: RandomState, base: Callable[..., np.ndarray], n: int) -> np.ndarray:
    values = np.array(base(predictive, random_state), dtype=float)
    best = np.argsort(-values, kind="stable")[:n]
    values[best] = values[checks.generator(random_state).permutation(best)]
    return values
