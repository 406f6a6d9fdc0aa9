"""One of the best few, at random: items of a test are then not known to everybody."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaptive import checks
from adaptive.scorers.configured import Configured

__all__ = ["randomesque"]


def randomesque(scorer: Any, n: int = 5) -> Configured:
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
    from adaptive import scorers

    score = scorers.get(scorer)
    name = f"randomesque({getattr(score, '__name__', score)}, {checks.integer('n', n, minimum=1)})"
    attributes = {
        key: value for key in ("sees_asked", "ignores_outcomes") if (value := getattr(score, key, None)) is not None
    }
    return Configured(_shuffled, name, {**attributes, "whole_pool": True}, scorer=score, n=n)


def _shuffled(predictive: Any, random_state: Any, scorer: Any, n: int) -> np.ndarray:
    values = np.array(scorer(predictive, random_state), dtype=float)
    best = np.argsort(-values, kind="stable")[:n]
    values[best] = values[checks.generator(random_state).permutation(best)]
    return values
