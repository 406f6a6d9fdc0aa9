"""Any score, weighted by how many candidates are like this one: outliers count less."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.scorers.configured import Configured, wrapped
from adaptive.scorers.record import require
from adaptive.scorers.rows import squared_norms

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState, Scorer

__all__ = ["density_weighted"]


def density_weighted(scorer: Scorer = "uncertainty", *, beta: float = 1.0) -> Configured:
    """Return a scorer: ``scorer`` times the density of the candidates around each, to the power ``beta``.

        score(x) * ( mean over the pool of (1 + cos(x, x')) / 2 ) ** beta

    Information density with the cosine of features (scale or centre them first). Use it where uncertain rows are
    outliers that no prediction will be asked about; if such inputs are known, `predictive_information_gain` is
    about them.

    Parameters
    ----------
    scorer : str or callable, default "uncertainty"
        A name in :mod:`adaptive.scorers`, or a scorer.
    beta : float >= 0, default 1
        0 leaves the scores as they are.

    Returns
    -------
    scorer

    References
    ----------
    B. Settles and M. Craven (2008), An analysis of active learning strategies for sequence labeling tasks, equation 13.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> belief = StatedPredictive(
    ...     probabilities=[[0.5, 0.5]] * 3, features=np.array([[1.0, 0.0], [1.0, 0.1], [-1.0, 0.0]]))
    >>> density_weighted("uncertainty")(belief).round(2)
    array([0.33, 0.33, 0.17])
    """
    beta = float(checks.positive("beta", beta, or_zero=True))
    return wrapped(_weighted, "density_weighted", scorer, f"beta={beta:g}", {"whole_pool": True}, beta=beta)


def _weighted(
    predictive: Predictive, random_state: RandomState, base: Callable[..., np.ndarray], beta: float
) -> np.ndarray:
    require("density_weighted", predictive, "features")
    rows = predictive.features
    lengths = np.sqrt(squared_norms(rows))
    scale = np.where(lengths > 0, 1.0 / np.where(lengths > 0, lengths, 1.0), 0.0)
    direction = rows.T @ scale / len(scale)  # the mean of the unit vectors: its product with x is the mean cosine
    cosines = np.asarray(rows @ direction).ravel() * scale
    density = np.clip(0.5 * (1.0 + cosines), 0.0, 1.0)
    return np.asarray(base(predictive, random_state)) * density**beta
