"""Several steps ahead: what a measurement is worth with the best that may follow it, for small problems.

value_1(i) = score(i),      value_k(i) = score(i) + sum_y p(y) max_j value_{k-1}(j | y_i = y)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from adaptive import checks
from adaptive.scorers.configured import Configured, wrapped
from adaptive.scorers.record import require

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import RandomState, Scorer

__all__ = ["look_ahead"]


def look_ahead(scorer: Scorer, steps: int = 2, width: int | None = None, *, repeat: bool = False) -> Configured:
    """Return ``scorer`` plus what the best of the next ``steps`` - 1 measurements is expected to score after each.

    It finds what one step is blind to: a measurement that tells nothing of the target but makes another one telling.
    Where scores add up in any order, as informations about everything unknown nearly do, it chooses much the same as
    one step, at many times the cost.

    Parameters
    ----------
    scorer : str or callable
        Of one step.
    steps : int, default 2
        1 is ``scorer`` itself.
    width : int, optional
        Only so many candidates, the best by one step, are looked beyond; the others keep their score of one step.
        None: all, which a candidate that is worth nothing by itself needs.
    repeat : bool, default False
        Whether a candidate may be measured again.

    Returns
    -------
    scorer
        It sees all candidates at once.  Each candidate costs as many passes over the pool as it has likely outcomes, at
        most 64, and each further step multiplies that by ``width`` and as many.

    Raises
    ------
    ValueError
        If ``steps`` or ``width`` is no integer of at least 1.

    Examples
    --------
    Two coins that always agree, and a third: after one of the two, the other teaches nothing.

    >>> from adaptive.predictive import WeightedDraws
    >>> p = np.array([[0.9, 0.9, 0.9], [0.1, 0.1, 0.9], [0.9, 0.9, 0.1], [0.1, 0.1, 0.1]])
    >>> belief = WeightedDraws(np.ones(4), np.stack([1 - p, p], axis=-1), [0, 1])
    >>> look_ahead("information_gain", steps=2)(belief).round(2)
    array([0.74, 0.74, 0.74])
    """
    steps = checks.integer("steps", steps, minimum=1)
    width = None if width is None else checks.integer("width", width, minimum=1)
    said = f"{steps}, {width}" + (", repeat=True" if repeat else "")
    settings = {"steps": steps, "width": width, "repeat": bool(repeat)}
    return wrapped(_ahead, "look_ahead", scorer, said, {"whole_pool": True} if steps > 1 else {}, **settings)


def _ahead(
    predictive: Predictive,
    random_state: RandomState,
    base: Callable[..., np.ndarray],
    steps: int,
    width: int | None,
    repeat: bool,
    taken: tuple[int, ...] = (),
) -> np.ndarray:
    if steps == 1:
        return base(predictive, random_state)
    require("look_ahead", predictive, "given")
    seed = int(checks.generator(random_state).integers(2**62))  # the same draws on every branch
    scores = np.array(base(predictive, np.random.default_rng(seed)), dtype=float)
    free = np.setdiff1d(np.arange(len(scores)), taken)
    listed = free if width is None or width >= len(free) else free[np.argsort(-scores[free], kind="stable")[:width]]
    values = scores.copy()
    for i in listed:
        after = taken if repeat else (*taken, int(i))
        others = np.ones(len(scores), dtype=bool)
        others[list(after)] = False
        if not others.any():
            continue
        for weight, then in predictive.scenarios(int(i)):
            future = _ahead(then, np.random.default_rng(seed), base, steps - 1, width, repeat, after)
            values[i] += weight * future[others].max()
    return values
