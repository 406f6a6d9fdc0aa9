"""Any candidate is as good as another: the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.scorers.record import scorer

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["random"]


@scorer(ignores_outcomes=True)  # a batch is the same whatever earlier answers will be
def random(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return independent uniform numbers in [0, 1).

    Parameters
    ----------
    predictive : Predictive
        Only its length matters.
    random_state : None, int, Generator or RandomState

    Returns
    -------
    (m,) array

    Raises
    ------
    ValueError
        If ``random_state`` is neither a seed nor a generator.

    References
    ----------
    The baseline of H. Nickisch (2010), figure 3.7.

    Examples
    --------
    >>> from adaptive.predictive import Predictive
    >>> random(Predictive(3), 0).round(2)
    array([0.64, 0.27, 0.04])
    """
    return checks.generator(random_state).random(len(predictive))
