"""Candidates in strata, asked one stratum after the other: sharp items are kept for when the estimate is good."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from adaptive import checks
from adaptive.scorers.configured import Configured, wrapped
from adaptive.scorers.record import require

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState, Scorer

__all__ = ["stratified"]


def stratified(scorer: Scorer, n: int, column: int = 0) -> Configured:
    """Return ``scorer`` within one of ``n`` strata: the k-th question comes from the k-th, the last ones from the last.

    Candidates, those asked before included, are sorted by one of their features and cut into n strata of equal size.

    Parameters
    ----------
    scorer : str or callable
    n : int
        Strata; as many as questions, or fewer.
    column : int, default 0
        The feature; of items of a questionnaire, 0 is their discrimination.

    Returns
    -------
    scorer
        ``scorer`` / (1 + its sum) + 2 n - distance of the stratum: the order within a stratum is that of ``scorer``.

    References
    ----------
    H. Chang and Z. Ying (1999), a-Stratified multistage computerized adaptive testing.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> belief = StatedPredictive(variance=[3.0, 2.0, 1.0], features=[[2.0], [0.5], [0.4]], measured=np.zeros((0, 1)))
    >>> int(stratified("predictive_variance", 2)(belief, 0).argmax())
    1
    """
    n = checks.integer("n", n, minimum=1)
    return wrapped(_within, "stratified", scorer, f"{n}, {column}", {"whole_pool": True}, n=n, column=column)


def _within(
    predictive: Predictive, random_state: RandomState, base: Callable[..., np.ndarray], n: int, column: int
) -> np.ndarray:
    require("stratified", predictive, "features", "measured")
    values = np.asarray(base(predictive, random_state), dtype=float)
    asked = len(predictive.measured)
    everything = np.concatenate([predictive.features[:, column], np.asarray(predictive.measured)[:, column]])
    stratum = ((rankdata(everything, method="ordinal") - 1) * n // len(everything))[: len(values)]
    stage = min(asked, n - 1)
    distance = 2 * np.abs(stratum - stage) + (stratum > stage)  # the earlier of two that are as near
    return 2.0 * n - distance + values / (1.0 + np.abs(values).sum())
