"""Distance of the more probable answer from certainty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.scorers.record import require, scorer

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["uncertainty"]


@scorer(monotone=True)
def uncertainty(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return 1/2 - |p - 1/2|, and 1 - max_c p_c for more than two outcomes, which is the same for two.

    The source's classifier uncertainty, shifted so that zero means certain.  It does not know whether an outcome is
    uncertain because the model is, or because the outcome is noise.

    Parameters
    ----------
    predictive : Predictive
        With ``probabilities``.
    random_state : ignored

    Returns
    -------
    (m,) array in [0, 1 - 1/c]

    References
    ----------
    H. Nickisch (2010), section 3.7 (classifier uncertainty).

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> uncertainty(StatedPredictive(probabilities=[[0.5, 0.5], [0.0, 1.0]]))
    array([0.5, 0. ])
    """
    require("uncertainty", predictive, "probabilities")
    return 1.0 - predictive.probabilities.max(axis=1)
