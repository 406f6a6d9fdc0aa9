"""The next query of a design: initial positions first, then what chance draws, and the best of the rest.

Its event is all that is made here; it becomes a query when the design has written and applied it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import pool as pools
from adaptive import selection
from adaptive.loop import arguments
from adaptive.loop.seeds import Purpose, sequence
from adaptive.pool import PoolExhausted

if TYPE_CHECKING:
    from adaptive.loop.sequential_design import SequentialDesign
    from adaptive.types import ArrayLike, Pool

__all__ = ["Questions"]


class Questions:
    """Makes the queries of a design.

    Parameters
    ----------
    design : SequentialDesign
    initial_pool : pool, or None where there are no initial positions
        The pool that these are positions in.
    initial : (k,) array of int
        The positions that are asked first.
    """

    def __init__(self, design: SequentialDesign, initial_pool: Pool | None, initial: np.ndarray) -> None:
        self.design, self._initial_pool, self._initial = design, initial_pool, initial
        self._initial_keys: list[Any] | None = None  # what recognises them

    @property
    def initial_left(self) -> int:
        """Number of initial positions that were not asked yet."""
        return len(self._initial_unasked())

    def _initial_unasked(self) -> np.ndarray:
        """Return the initial positions that are still to be asked; whoever asked or told one before, it is done."""
        design, state = self.design, self.design._state
        if design.repeat or len(self._initial) == 0:
            return self._initial[state.n_initial :]
        if self._initial_keys is None:
            self._initial_keys = state.candidates.keys(state.candidates.describe(self._initial_pool, self._initial))
        return self._initial[[key not in state.asked for key in self._initial_keys]]

    @property
    def _cost(self) -> Any:
        """Return the costs of candidates, coming from what was asked last."""
        return arguments.at_present(self.design.cost, self.design._state.last)

    @property
    def left(self) -> int:
        """Number of candidates that may still be asked."""
        return self._left(self.design.excluded())

    def _left(self, excluded: np.ndarray) -> int:
        design = self.design
        if design.mask is None:
            return pools.length(design.pool) - len(excluded)
        return int(np.count_nonzero(design.mask)) - int(np.count_nonzero(design.mask[excluded]))

    def next(self, n: int | None, exclude: ArrayLike = (), joint: bool | None = None) -> dict[str, Any]:
        """Return the event of the next query; none is about a position in ``exclude``, but for the initial ones where
        candidates are nobody's.

        ``joint`` stands in for the design's own, and is then part of the event of a query that was chosen.
        """
        design, waiting = self.design, self._initial_unasked()
        joint = design.joint if joint is None else bool(joint)
        if len(waiting) and np.size(exclude) and pools.has_people(design.pool):
            waiting = waiting[~np.isin(waiting, exclude)]
        initial = len(waiting) > 0
        if initial:
            pool: Any = self._initial_pool
            positions = waiting[: n or design.batch_size]
            scores = np.full(len(positions), np.nan)
        else:
            pool = design.pool
            positions, scores, n_drawn = self._select(pool, n, exclude, joint)
        event = self._asking(pool, positions, scores, n or design.batch_size, initial)
        if initial:
            return event
        how = {} if joint == design.joint else {"joint": joint}
        return {**event, **({"drawn": n_drawn} if design.exploration else {}), **how}

    def volunteered(self, positions: ArrayLike, told: bool = False) -> dict[str, Any]:
        """Return the event of a query that somebody else chose; ``told``: one that answers itself."""
        design = self.design
        chosen = arguments.check_positions(positions, pools.length(design.pool), design.mask)
        if chosen.size == 0:
            raise ValueError("positions must name at least one candidate, got none.")
        aside = told and design.repeat  # what was set aside is not asked, yet a late answer is learnt
        closed = chosen[:0] if aside else chosen[np.isin(chosen, design.excluded())]
        if closed.size and told:
            raise ValueError(
                f"position {closed[0]} has an answer already: take it back first (retract), or make the design with "
                "repeat=True, where a further answer counts as an independent one."
            )
        if closed.size:
            remedy = "" if design.repeat else " (repeat=True allows asking again)"
            raise ValueError(f"position {closed[0]} was asked or set aside before{remedy}.")
        event = self._asking(design.pool, chosen, np.full(len(chosen), np.nan), len(chosen), False, free=told)
        return {**event, "volunteered": True} if told else event

    def _asking(
        self, pool: Pool, positions: np.ndarray, scores: np.ndarray, n: int, initial: bool, free: bool = False
    ) -> dict[str, Any]:
        design = self.design
        costs = np.zeros(len(positions)) if free else arguments.costs_of(self._cost, pool, positions)
        return {
            "event": "ask",
            "query": design._state.n_queries,
            "n": n,
            "initial": initial,
            "scores": [None if np.isnan(score) else float(score) for score in scores],
            "costs": costs.tolist(),
            **design._state.candidates.describe(pool, positions),
        }

    def _select(self, pool: Pool, n: int | None, exclude: ArrayLike, joint: bool) -> tuple[np.ndarray, np.ndarray, int]:
        """Return positions and scores of the next query; so many of its last ones were drawn at random."""
        design, excluded = self.design, self.design.excluded()
        if np.size(exclude):
            excluded = np.union1d(excluded, arguments.check_positions(exclude, pools.length(pool), None))
        left = self._left(excluded)
        if left == 0:
            raise PoolExhausted("no candidate is left to ask: all that are allowed were asked or set aside.")
        if n is not None and n > left:
            raise ValueError(f"n must be at most {left}, the number of candidates left to ask, got {n}.")
        n_asked = min(n or design.batch_size, left)
        drawn = self._drawn(pool, n_asked, excluded)
        if len(drawn) == n_asked:
            return drawn, np.full(n_asked, np.nan), n_asked
        waiting = [entry.rest().candidates for entry in design._state.waiting()] if joint else []
        if len(drawn):
            excluded = np.union1d(excluded, drawn)
            waiting += [pools.take(pool, drawn)] if joint else []
        select = getattr(design.estimator_, "select", None) or partial(selection.select, design.estimator_)
        priced: dict[str, Any] = {} if design.price is None else {"price": design.price}
        positions, scores = select(
            pool,
            n_asked - len(drawn),
            scorer=design.scorer,
            target=design.target,
            cost=self._cost,
            mask=design.mask,
            exclude=excluded,
            pending=pools.concatenate(waiting) if waiting else None,
            joint=joint,
            random_state=design.seed(Purpose.QUERY, design._state.n_queries),
            return_scores=True,
            **priced,
            **design.in_chunks,
        )
        positions = np.concatenate([np.asarray(positions, dtype=np.intp), drawn])
        return positions, np.concatenate([np.asarray(scores, dtype=float), np.full(len(drawn), np.nan)]), len(drawn)

    def _drawn(self, pool: Pool, n: int, excluded: np.ndarray) -> np.ndarray:
        """Return the positions of the next ``n`` questions that chance asks: of each a coin says whether."""
        design = self.design
        if not design.exploration:
            return np.zeros(0, dtype=np.intp)
        rng = np.random.default_rng(sequence(design._seed, Purpose.EXPLORATION, design._state.n_queries))
        n_drawn = int(np.count_nonzero(rng.random(n) < design.exploration))
        if design.mask is None:  # without a list as long as the pool: its k-th entry that is not excluded
            places = rng.choice(pools.length(pool) - len(excluded), n_drawn, replace=False)
            return places + np.searchsorted(excluded - np.arange(len(excluded)), places, side="right").astype(np.intp)
        free = design.mask.copy()
        free[excluded] = False
        return rng.choice(np.flatnonzero(free), n_drawn, replace=False).astype(np.intp)
