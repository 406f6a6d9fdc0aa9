"""Scores of a pool: chunk by chunk, given what is pending, averaged over futures, by one worker or several."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from adaptive import pool, scorers
from adaptive.parallel import streamed, workers
from adaptive.predictive.answers.projections import can_be_answered
from adaptive.predictive.members import have_members
from adaptive.scorers import record_of
from adaptive.selection.arguments import all_prices, checked_prices
from adaptive.selection.evaluation import checked
from adaptive.selection.futures import Futures
from adaptive.selection.ranking import Leaders
from adaptive.selection.reaching import reaching
from adaptive.selection.votes import Votes
from adaptive.selection.worlds import are_many, drawn_answers, worlds

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.selection.arguments import Allowed
    from adaptive.types import ArrayLike, Cost, Pool, RandomState

__all__ = ["Believer", "Chunk", "Outlook", "View", "require_given", "undecided"]

NARROW = 32  # columns of rows of which longer chunks are read
MOVED = 2_048  # candidates whose scores under all members are moved at once, for memory
Outlook: TypeAlias = Futures | Votes  # on candidates, after some whose outcomes are not known


class Believer(Protocol):
    """Somebody who says what he believes about candidates."""

    def predictive(self, candidates: Any, *, target: Any = None, random_state: RandomState = None) -> Predictive: ...


class View:
    """The allowed candidates as the scorer sees them: entry j is candidate ``allowed[j]``, given what is pending.

    Pending candidates stand in front of the others (``n_front`` of them), and are conditioned on one by one, or, where
    their outcomes are many, on some joint ``answers``; where predictives cannot learn these, `worlds` have, and none
    stands in front.
    """

    def __init__(
        self,
        estimator: Believer,
        candidates: Pool,
        allowed: np.ndarray | None,
        pending: Pool | None,
        target: Any,
        score: Callable[..., ArrayLike],
        generator: np.random.Generator,
        price: float | None = None,
    ) -> None:
        self.price = price
        self.estimator, self.candidates, self.allowed = estimator, candidates, allowed
        self.pending, self.target = pending, target
        self.score, self.record = score, record_of(score)
        self.n_front = 0 if pending is None else pool.length(pending)
        self.size = pool.length(candidates) if allowed is None else len(allowed)
        self.seed = int(generator.integers(2**62))
        self.worlds: list[tuple[float, Any]] = [(1.0, estimator)]
        self.answers: list[Any] = []
        self.most_at_once = sys.maxsize  # candidates
        self.bounded = False  # whether bounds say which few candidates of a chunk are looked at
        self.screens = False  # whether beliefs that cost less may say which few candidates are looked at
        if self.n_front and not (self.record.sees_asked or self.record.ignores_outcomes):
            self._learn_pending()

    def _learn_pending(self) -> None:
        """Draw what is pending answers where these are many; worlds learn them where the predictive cannot."""
        try:
            pool.concatenate([self.pending, self.candidates_at(np.arange(min(1, self.size)))])
        except ValueError as problem:
            raise _not_candidates(problem) from None
        belief = self.estimator.predictive(self.pending, random_state=self.seed)
        if belief.undecided or belief.only_draws or not belief.provides("draws") or not are_many(belief):
            return
        by_members = have_members(belief) and (self.target is None or self.record.about_inputs)
        if by_members or can_be_answered(belief):
            self.answers = drawn_answers(belief, self.seed)
            if by_members:
                self.most_at_once = MOVED
        elif hasattr(self.estimator, "partial_fit"):
            self.worlds, self.n_front = worlds(self.estimator, self.pending, drawn_answers(belief, self.seed)), 0

    def allow(self, positions: np.ndarray | None) -> None:
        """Let the candidates at these positions be the entries; None: all."""
        self.allowed = positions
        self.size = pool.length(self.candidates) if positions is None else len(positions)

    def candidates_at(self, entries: np.ndarray | None = None) -> Pool:
        """Return the pool of the candidates at ``entries``; None: all that are allowed."""
        if entries is None:
            if self.allowed is not None:
                return pool.take(self.candidates, self.allowed)
            return pool.read(self.candidates, 0, self.size) if pool.is_stored(self.candidates) else self.candidates
        return pool.take(self.candidates, entries if self.allowed is None else self.allowed[entries])

    def outlook(self, candidates: Pool) -> Outlook:
        """Return the futures of the pending candidates followed by ``candidates``, given the former."""
        if self.n_front:
            try:
                candidates = pool.concatenate([self.pending, candidates])
            except ValueError as problem:
                raise _not_candidates(problem) from None
        weighted = [(weight, self._believed(world, candidates)) for weight, world in self.worlds]
        first = weighted[0][1]
        if len(weighted) == 1 and first.only_draws and not (self.record.sees_asked or first.undecided):
            outlook: Outlook = Votes(first)
        else:
            outlook = Futures(weighted, self.seed, by_draws=self.record.about_inputs)
        if first.undecided or self.record.ignores_outcomes:
            return outlook
        if self.answers:
            assert isinstance(outlook, Futures)
            return outlook.after_answers(self.answers)
        for k in range(self.n_front):
            outlook = self.assuming(outlook, k, "pending")
        return outlook

    def _believed(self, world: Believer, candidates: Pool) -> Predictive:
        predictive = world.predictive(candidates, target=self.target, random_state=self.seed)
        if len(predictive) != pool.length(candidates):
            raise ValueError(
                f"{type(self.estimator).__name__}.predictive returned a predictive of {len(predictive)} candidates "
                f"for {pool.length(candidates)}."
            )
        return predictive

    def assuming(self, outlook: Outlook, k: int, what: str) -> Outlook:
        """Return the outlook had its candidate ``k`` been asked, ``what`` ("pending" or "batch") saying why."""
        if self.record.sees_asked:
            assert isinstance(outlook, Futures)
            return outlook.after_asking(k)
        require_given(outlook, what)
        return outlook.after(k)

    def evaluate(self, outlook: Outlook, start: int = 0) -> np.ndarray:
        """Return the expected scores of the entries of ``outlook``, which are those from ``start`` on."""
        score = scorers.random if undecided(outlook) else self.score
        outlook = (outlook.coarse() if self.screens else None) or outlook
        return outlook.score(score, self.seed, start)[self.n_front :]

    def scores(self) -> tuple[np.ndarray, Outlook]:
        """Return the scores of all entries at once, and their outlook."""
        outlook = self.outlook(self.candidates_at())
        return checked(self.evaluate(outlook), self.score, self.size, self.allowed), outlook

    def leaders(
        self, n: int, allowed: Allowed, cost: Cost, chunk_size: int, longest: int, n_jobs: int | None
    ) -> Leaders:
        """Return the n best of those allowed, chunk by chunk: nothing is kept that is as long as the pool.

        Chunks are up to ``longest`` once bounds leave few of their candidates.
        """
        prices = None if callable(cost) else all_prices(cost, self.candidates, allowed.m)
        worker, leaders = self._without_pool(), Leaders(n)
        worker.bounded = False
        alone = cost is None and self.price is None and workers(n_jobs) == 1

        def size(start: int) -> int:
            return longest if start and alone and worker.bounded else chunk_size

        chunks = _chunks(self.candidates, allowed, cost if callable(cost) else prices, size)
        tasks = ((chunk, leaders.floor if alone else -np.inf) for (chunk,) in chunks)
        for values, positions, scores in streamed(worker.of_chunk, tasks, n_jobs):
            leaders.add(values, positions, scores)
        return leaders

    def narrowed(self, positions: np.ndarray) -> View:
        """The view of some candidates alone."""
        narrow = copy.copy(self)
        narrow.candidates, narrow.allowed = pool.take(self.candidates, positions), None
        narrow.size = len(positions)
        return narrow

    def _without_pool(self) -> View:
        """Return what a worker needs: everything but the pool, of which it gets its chunk."""
        light = copy.copy(self)
        light.candidates = light.allowed = None
        return light

    def of_chunk(self, chunk: Chunk, floor: float = -np.inf) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return values, positions and scores of a chunk's candidates that may be chosen, but for some below a floor.

        Candidates are left out where bounds say that they are below it, and then only where nothing costs anything.
        """
        positions = np.arange(chunk.start, chunk.stop) if chunk.positions is None else chunk.positions
        rows = chunk.rows()
        prices = chunk.prices(rows, positions)
        try:
            outlook = self.outlook(rows)
            near = self._near(outlook, floor)
            self.bounded = near is not None and np.asarray(rows).shape[1] <= NARROW
            if near is not None:
                rows, positions = pool.take(rows, near), positions[near]
                if not len(near):
                    return np.zeros(0), positions, np.zeros(0)
                outlook = self.outlook(rows)
            scores = checked(self.evaluate(outlook, chunk.number), self.score, len(positions), positions)
        except ValueError as problem:
            if not chunk.stored:
                raise
            raise ValueError(f"candidates {chunk.start} to {chunk.stop - 1}: {problem}") from problem
        return self.worth(scores, prices), positions, scores

    def _near(self, outlook: Outlook, floor: float) -> np.ndarray | None:
        """Return the entries of an outlook that may reach a floor; None: all, or it is not known."""
        if self.n_front or len(outlook.weighted) > 1 or undecided(outlook):
            return None
        return reaching(self.score, outlook.weighted[0][1], floor)

    def worth(self, scores: np.ndarray, prices: np.ndarray | None) -> np.ndarray:
        """Return scores for each unit of what they cost, or less what they cost at the price that was given."""
        if prices is None:
            return scores
        return scores / prices if self.price is None else scores - self.price * prices


@dataclass(frozen=True)
class Chunk:
    """Candidates from ``start`` to ``stop - 1``: the pool where it can be sent and read elsewhere, else the rows.

    Attributes
    ----------
    source : pool
        The rows, or the pool where ``by_path``, of which they are read.
    start, stop : int
    positions : (n,) array or None
        Those that may be chosen; None: all.
    number : int
        How many before ``start`` may be chosen.
    cost : function of rows, (n,) array, or None
        Of those that may be chosen.
    by_path, stored : bool
        Whether the pool says by itself where it lies, and whether it lies in a file at all.
    """

    source: Pool
    start: int
    stop: int
    positions: np.ndarray | None
    number: int
    cost: Any
    by_path: bool
    stored: bool

    def rows(self) -> Pool:
        """The candidates that may be chosen."""
        rows = pool.read(self.source, self.start, self.stop) if self.by_path else self.source
        return rows if self.positions is None else pool.take(rows, self.positions - self.start)

    def prices(self, rows: Pool, positions: np.ndarray) -> np.ndarray | None:
        """Costs of these candidates; None: all the same."""
        prices = all_prices(self.cost, rows, len(positions))
        return None if prices is None else checked_prices(prices, positions)


def _chunks(candidates: Pool, allowed: Allowed, cost: Any, size: Callable[[int], int]) -> Iterator[tuple[Chunk]]:
    """Yield the chunks that hold candidates that may be chosen; ``size`` says how long one is that starts there."""
    number, stored = 0, pool.is_stored(candidates)
    by_path = bool(getattr(candidates, "by_path", False))
    stop = 0
    while stop < allowed.m:
        start, stop = stop, min(stop + size(stop), allowed.m)
        positions = allowed.within(start, stop)
        count = stop - start if positions is None else len(positions)
        if not count:
            continue
        price = cost
        if cost is not None and not callable(cost):
            price = cost[start:stop] if positions is None else cost[positions]
        source = candidates if by_path else pool.read(candidates, start, stop)
        yield (Chunk(source, start, stop, positions, number, price, by_path, stored),)
        number += count


def undecided(outlook: Outlook) -> bool:
    """Return whether candidates are to be asked at random."""
    return outlook.weighted[0][1].undecided


def _not_candidates(problem: ValueError) -> ValueError:
    return ValueError(f"pending must hold candidates (not positions) like the pool's: {problem}")


def require_given(outlook: Outlook, what: str) -> None:
    """Refuse pending candidates or a joint batch (``what``) where the predictive has no what-ifs."""
    if outlook.provides("given"):
        return
    name = type(outlook.weighted[0][1]).__name__
    if what == "pending":
        raise ValueError(
            f"conditioning on pending candidates needs given, which {name} does not provide; leave pending out, or "
            "pass joint=False to SequentialDesign."
        )
    if what == "certificate":
        raise ValueError(f"a certificate needs given, which {name} does not provide: it has no what-ifs.")
    raise ValueError(
        f"a joint batch needs given, which {name} does not provide; pass joint=False for the highest single scores."
    )
