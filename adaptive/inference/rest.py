"""Rest of an objective that rises round by round: nothing to speak of was gained in the second half of all rounds.

What one round gains says little: maps creep, leap and pause, and a hundred small gains are a large one. Over as many
rounds again as the last half, an objective whose gains shrink rises by at most that half's gain. It is counted in nats
an observation, in which forecasts are judged too, so that one tolerance serves tables of every size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["FEWEST", "at_rest"]

FEWEST = 6  # rounds: the first ones of a start from nothing may hardly move


def at_rest(trace: Sequence[float], tol: float, *, sampled: bool = False) -> bool:
    """Return True where the second half of all rounds moved the objective by at most ``tol``; of few rounds False.

    Parameters
    ----------
    trace : sequence of float
        The objective after every round.
    tol : float
        In its units: nats an observation times their number.
    sampled : bool, default False
        Of samples the objective is noisy, and has no range: it is compared from the mean of the third quarter to that
        of the last.

    Examples
    --------
    >>> trace = [0.0, 4.0, 6.0, 7.0, 7.5, 7.75]
    >>> at_rest(trace, 1.0), at_rest(trace, 0.5), at_rest(trace[:4], 1.0)
    (True, False, False)
    """
    n = len(trace)
    if n < FEWEST:
        return False
    last = np.asarray(trace[n // 2 :])
    third, fourth = np.array_split(last, 2)
    return bool((fourth.mean() - third.mean() if sampled else np.ptp(last)) <= tol)
