"""Scores of a pool: chunk by chunk, given what is pending, averaged over scenarios, by one worker or several."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from adaptive import pool, scorers
from adaptive.parallel import in_parallel
from adaptive.scorers import record_of

if TYPE_CHECKING:
    from adaptive.predictive.base import Predictive
    from adaptive.types import ArrayLike, Pool, RandomState

__all__ = ["Believer", "View", "checked", "expected_score", "require_given"]


class Believer(Protocol):
    """Somebody who says what he believes about candidates."""

    def predictive(self, candidates: Any, *, target: Any = None, random_state: RandomState = None) -> Predictive: ...


class View:
    """The allowed candidates as the scorer sees them: entry j is candidate ``allowed[j]``, given what is pending."""

    def __init__(
        self,
        estimator: Believer,
        candidates: Pool,
        allowed: np.ndarray | None,
        pending: Pool | None,
        target: Any,
        score: Callable[..., ArrayLike],
        generator: np.random.Generator,
    ) -> None:
        self.estimator, self.candidates, self.allowed = estimator, candidates, allowed
        self.pending, self.target = pending, target
        self.score, self.record = score, record_of(score)
        self.n_pending = 0 if pending is None else pool.length(pending)
        self.size = pool.length(candidates) if allowed is None else len(allowed)
        self.seed = int(generator.integers(2**62))

    def candidates_at(self, entries: np.ndarray | None = None) -> Pool:
        """Return the pool of the candidates at ``entries``; None: all that are allowed."""
        if entries is None:
            return self.candidates if self.allowed is None else pool.take(self.candidates, self.allowed)
        return pool.take(self.candidates, entries if self.allowed is None else self.allowed[entries])

    def predictive(self, candidates: Pool) -> Predictive:
        """Return the predictive of the pending candidates followed by ``candidates``, given the former."""
        if self.n_pending:
            try:
                candidates = pool.concatenate([self.pending, candidates])
            except ValueError as problem:
                raise ValueError(f"pending must hold candidates (not positions) like the pool's: {problem}") from None
        predictive = self.estimator.predictive(candidates, target=self.target, random_state=self.seed)
        if len(predictive) != pool.length(candidates):
            raise ValueError(
                f"{type(self.estimator).__name__}.predictive returned a predictive of {len(predictive)} candidates "
                f"for {pool.length(candidates)}."
            )
        if predictive.undecided or self.record.ignores_outcomes:
            return predictive
        for k in range(self.n_pending):
            predictive = self.assuming(predictive, k, "pending")
        return predictive

    def assuming(self, predictive: Predictive, k: int, what: str) -> Predictive:
        """Return the predictive had its candidate ``k`` been asked, ``what`` ("pending" or "batch") saying why."""
        if self.record.sees_asked:
            return predictive.after_asking(k)
        require_given(predictive, what)
        return predictive.given(k)

    def evaluate(self, predictive: Predictive, start: int = 0) -> np.ndarray:
        """Return the expected scores of the entries of ``predictive``, which are those from ``start`` on."""
        score = scorers.random if predictive.undecided else self.score
        return expected_score(score, predictive, self.seed, start)[self.n_pending :]

    def scores(self, chunk_size: int, n_jobs: int | None) -> tuple[np.ndarray, Predictive | None]:
        """Return the scores of all entries, and their predictive if one chunk held them all."""
        if chunk_size >= self.size:
            predictive = self.predictive(self.candidates_at())
            return checked(self.evaluate(predictive), self.score, self.size, self.allowed), predictive
        starts = range(0, self.size, chunk_size)
        chunks = ((self.candidates_at(np.arange(k, min(k + chunk_size, self.size))), k) for k in starts)
        scores = np.concatenate(in_parallel(self._without_pool().of_chunk, chunks, n_jobs))
        return checked(scores, self.score, self.size, self.allowed), None

    def _without_pool(self) -> View:
        """Return what a worker needs: everything but the pool, of which it gets its chunk."""
        light = copy.copy(self)
        light.candidates = light.allowed = None
        return light

    def of_chunk(self, candidates: Pool, start: int) -> np.ndarray:
        return self.evaluate(self.predictive(candidates), start)


def expected_score(scorer: Callable[..., ArrayLike], predictive: Predictive, seed: int, start: int = 0) -> np.ndarray:
    """Return the mean of ``scorer`` over the scenarios of ``predictive``.

    Each call of the scorer gets a generator of the same seed; one that draws one uniform number per candidate draws the
    numbers from ``start`` on, so that chunks do not change them.

    Parameters
    ----------
    scorer : callable
        (predictive, random_state) -> (m,).
    predictive : Predictive
        Of m candidates.
    seed : int
        Of the generator that each call gets.
    start : int, default 0
        Number of the first candidate in its pool.

    Returns
    -------
    ndarray (m,)

    Raises
    ------
    ValueError
        If the scorer returns another number of scores than there are candidates.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> stated = StatedPredictive(probabilities=np.array([[0.5, 0.5], [0.9, 0.1]]))
    >>> expected_score(lambda predictive, random_state: 1 - predictive.probabilities.max(axis=1), stated, seed=0)
    array([0.5, 0.1])
    """
    total: Any = 0.0
    for probability, scenario in predictive.scenarios:
        stream = np.random.Generator(np.random.PCG64(seed).advance(start))
        values = np.asarray(scorer(scenario, stream), dtype=float)
        if values.shape != (len(predictive),):
            name = getattr(scorer, "__name__", repr(scorer))
            raise ValueError(
                f"scorer {name} must return {len(predictive)} scores, one per candidate, got shape {values.shape}."
            )
        total = values if probability == 1.0 else total + probability * values
    return total


def checked(scores: np.ndarray, score: Callable[..., ArrayLike], size: int, allowed: np.ndarray | None) -> np.ndarray:
    """Return the scores; NaN is refused, naming the scorer and the first such candidate."""
    wrong = np.isnan(scores)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        position = at if allowed is None else int(allowed[at])
        raise ValueError(
            f"scorer {getattr(score, '__name__', score)} returned NaN for the candidate at position {position}."
        )
    return scores


def require_given(predictive: Predictive, what: str) -> None:
    """Refuse pending candidates or a joint batch (``what``) where the predictive has no what-ifs."""
    if predictive.provides("given"):
        return
    name = type(predictive).__name__
    if what == "pending":
        raise ValueError(
            f"conditioning on pending candidates needs given, which {name} does not provide; leave pending out, or "
            "pass joint=False to SequentialDesign."
        )
    raise ValueError(
        f"a joint batch needs given, which {name} does not provide; pass joint=False for the highest single scores."
    )
