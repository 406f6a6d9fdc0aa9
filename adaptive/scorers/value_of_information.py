"""Expected saving of a measurement where decisions cost differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.scorers.configured import Configured
from adaptive.scorers.expected_error_reduction import expected_saving

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import ArrayLike, RandomState

__all__ = ["value_of_information"]


def value_of_information(losses: ArrayLike) -> Configured:
    """Return a scorer: the drop of the expected loss of the best decisions at the target inputs.

        value = mean over targets of  min_a sum_y* p(y*) l(y*, a)  -  sum_y min_a sum_y* p(y, y*) l(y*, a)

    Use it where a miss and a false alarm do not cost the same. The target inputs are those that will be
    decided about (``target=`` the pool, or a sample of it). What an outcome itself costs is the ``cost`` of `select`,
    by which scores are divided.

    Parameters
    ----------
    losses : (c, a) array-like
        Loss of decision ``a`` where the outcome is the c-th (of ``classes_``, in order); 1 - identity makes
        `expected_error_reduction`.

    Returns
    -------
    scorer, in the units of ``losses``

    Raises
    ------
    ValueError
        If ``losses`` is not a table of finite numbers; when scoring, if its rows are not as many as the outcomes.

    References
    ----------
    A. Kapoor, E. Horvitz, S. Basu (2007), Selective supervision: guiding supervised learning with decision-theoretic
    active learning.

    Examples
    --------
    A miss costs five times a false alarm, so that what is improbable is worth looking at.

    >>> from adaptive.potentials import BernoulliLogit
    >>> from adaptive.predictive import GaussianProjections
    >>> belief = GaussianProjections.from_rows(
    ...     [[1.0]], [-3.0], covariance=[[2.0]], likelihood=BernoulliLogit(), target=[[1.0]])
    >>> value_of_information([[0, 1], [1, 0]])(belief).round(3), value_of_information([[0, 1], [5, 0]])(belief).round(3)
    (array([0.]), array([0.041]))
    """
    table = checks.finite("losses", losses)
    if table.ndim != 2 or not table.size:
        raise ValueError(f"losses must be a table (outcomes, decisions), got shape {table.shape}.")
    return Configured(_value, f"value_of_information({table.tolist()})", losses=table)


def _value(predictive: Predictive, random_state: RandomState, losses: np.ndarray) -> np.ndarray:
    if predictive.provides("target") and predictive.target.provides("outcomes"):
        known = len(predictive.target.outcomes)
        if known != len(losses):
            raise ValueError(f"losses has {len(losses)} rows, but there are {known} outcomes.")
    return expected_saving("value_of_information", predictive, losses)
