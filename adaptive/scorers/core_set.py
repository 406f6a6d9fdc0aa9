"""Distance of a candidate to everything that was measured: the greedy k-centre cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive.scorers.record import require, scorer
from adaptive.scorers.rows import squared_distances

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState

__all__ = ["core_set"]


@scorer(whole_pool=True, sees_asked=True)  # the mean, and what is asked, may lie in another chunk
def core_set(predictive: Predictive, random_state: RandomState = None) -> np.ndarray:
    """Return the distance of each candidate's features to the nearest ones measured or asked already.

    Chosen one after the other, the farthest first, candidates cover the pool with balls at most twice as large as the
    best cover has. It looks at features only: scale them first, and use it for the first labels of a batch, or
    where a model is not to be trusted. With nothing measured the candidate nearest to the mean of the pool comes
    first.

    Parameters
    ----------
    predictive : Predictive
        With ``features``, and ``measured`` where something was.
    random_state : ignored

    Returns
    -------
    (m,) array, in the units of the features

    References
    ----------
    T. Gonzalez (1985), Clustering to minimize the maximum intercluster distance.  O. Sener and S. Savarese (2018),
    Active learning for convolutional neural networks: a core-set approach.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> core_set(StatedPredictive(features=np.array([[0.0], [1.0], [5.0]]), measured=np.array([[1.0]])))
    array([1., 0., 4.])
    """
    require("core_set", predictive, "features")
    rows = predictive.features
    known, nearest = predictive.__dict__.get("_covered", (0, None))  # by those asked before the last ones
    if nearest is None:
        nearest = np.full(len(predictive), np.inf)
        if predictive.provides("measured"):
            nearest = squared_distances(rows, predictive.measured)
    new = list(predictive.asked[known:])
    if new:
        nearest = np.minimum(nearest, squared_distances(rows, rows[new]))
        nearest[new] = 0.0
    predictive.__dict__["_covered"] = len(predictive.asked), nearest
    if np.isfinite(nearest).all():
        return np.sqrt(nearest)
    centre = np.asarray(rows.mean(axis=0)).reshape(1, -1)
    from_centre = np.sqrt(squared_distances(rows, centre))
    return from_centre.max() - from_centre
