"""A stopping rule by a bound: the next answers together can tell at most so much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks, selection
from adaptive import pool as pools
from adaptive.loop.seeds import Purpose
from adaptive.loop.stopping import StoppingRule

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign

__all__ = ["AtMost"]

LISTED = 16_384  # candidates of which the next answers may be, drawn from a larger pool


class AtMost(StoppingRule):
    """Stop when the next ``next`` answers together can tell at most ``nats`` of what the model does not know.

    Of Gaussian outcomes that is a bound, whatever is asked in whatever order; of others an estimate of one, by the
    gains that the model expects.  `InformationLeft` looks at a single question: many small gains may still add up.

    Parameters
    ----------
    nats : float
        Of all unknowns, whatever the design's target.
    next : int, default 20
        Answers; all that are left where there are fewer.

    Raises
    ------
    ValueError
        If ``nats`` is not positive, or ``next`` no integer of at least 1.

    Notes
    -----
    Each step costs a pass over the candidates, and a few more where the answer is close.  Of more than 16,384 that may
    be asked as many are looked at, drawn at random: the result is then an estimate, too.  The fraction done is ``nats``
    divided by the bound.

    Examples
    --------
    >>> from adaptive import GaussianProcessRegressor, SequentialDesign
    >>> from adaptive.loop import MaxSteps
    >>> rule = AtMost(1.0, next=3) | MaxSteps(8)
    >>> pool = np.linspace(0.0, 1.0, 9)[:, None]
    >>> model = GaussianProcessRegressor(optimizer=None, alpha=0.1)
    >>> design = SequentialDesign(model, pool, lambda query: query.candidates[:, 0], stop=rule, random_state=0).run()
    >>> 1 < design.iteration < 8
    True
    """

    def __init__(self, nats: float, next: int = 20) -> None:
        self.nats = float(checks.positive("nats", nats))
        self.next = checks.integer("next", next, minimum=1)
        self._seen: tuple[Any, tuple[float, str]] | None = None

    def __repr__(self) -> str:
        return f"AtMost({self.nats:g}, next={self.next})"

    def most_left(self, design: SequentialDesign) -> tuple[float, str]:
        """Return at most how much the next answers can tell, in nats, and whether that is a "bound" or an "estimate".

        It need not be the least bound where it is clear that the rule holds, or that it does not.
        """
        now = (design.iteration, *((query.id, len(query)) for query in design.pending))
        if self._seen is None or self._seen[0] != now:
            self._seen = now, most_next(design, self.next, enough=self.nats)
        return self._seen[1]

    def fraction_done(self, design: SequentialDesign) -> float:
        left = self.most_left(design)[0]
        return 1.0 if left <= self.nats else min(self.nats / left, 1.0 - 1e-9)


def most_next(design: SequentialDesign, n: int, *, enough: float | None = None) -> tuple[float, str]:
    """Return at most how much the next n answers can tell, in nats, and "bound" or "estimate".

    Parameters
    ----------
    design : SequentialDesign
    n : int
    enough : float, optional
        As of `adaptive.selection.most_to_learn`.
    """
    pool, mask = design.pool, design.mask
    free = np.ones(pools.length(pool), dtype=bool) if mask is None else np.array(mask, dtype=bool)
    free[design.excluded()] = False
    left = np.flatnonzero(free)
    thinned = len(left) > LISTED
    if thinned:
        rng = np.random.default_rng(design.seed(Purpose.SUBSET, design.iteration))
        left = np.sort(rng.choice(left, LISTED, replace=False))
    if not len(left):
        return 0.0, "bound"
    waiting = [query.candidates for query in design.pending] if design.joint else []
    most, kind = selection.most_to_learn(
        design.estimator_,
        pools.take(pool, left),
        n,
        enough=enough,
        repeat=design.repeat,
        pending=pools.concatenate(waiting) if waiting else None,
        random_state=design.seed(Purpose.INFORMATION_LEFT, design.iteration),
    )
    return most, "estimate" if thinned else kind
