"""Choosing what to measure: predictive, scorer, cost, mask, argmax - and joint batches, once for all estimators.

    one           argmax_i  score(i) / cost(i)
    a batch       the next one given the earlier ones, whose outcomes are not known yet:
                  argmax_i  sum_s P(s) score(i | s) / cost(i)      over the scenarios s of ``given``

Informations chosen this way add up: I(y_1; u) + I(y_2; u | y_1) + ... is what the batch teaches jointly.  What is
pending is conditioned on in the same way.  Large pools are scored in chunks, which never change a result, and batches
are chosen from the short list of the best single candidates.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adaptive import checks, pool, scorers

__all__ = ["expected_score", "select"]

CHUNK_SIZE = 16_384  # candidates per predictive
SHORT_LIST = 1_024  # candidates among which a batch is chosen from a large pool
REFINED = 8  # candidates that are computed exactly where the predictive offers it
_SAME = 1e-10  # scores this close, relative to the best, are a tie: chunks round differently


def select(
    estimator: Any,
    candidates: Any,
    n_select: int = 1,
    *,
    scorer: Any = "information_gain",
    target: Any = None,
    cost: Any = None,
    mask: Any = None,
    exclude: Any = (),
    pending: Any = None,
    joint: bool = True,
    random_state: Any = None,
    return_scores: bool = False,
    chunk_size: int = CHUNK_SIZE,
    n_jobs: int | None = None,
) -> Any:
    """Return the positions of the candidates most worth measuring; the estimator is not changed.

    Parameters
    ----------
    estimator : object with ``predictive(candidates, *, target=None, random_state=None)``
    candidates : pool of length m, or callable(estimator) -> pool
    n_select, scorer, target, cost, mask, exclude, pending, joint, random_state, return_scores
        As in :meth:`adaptive.estimators.base.DesignMixin.select`.  Returned scores are not divided by cost.
    chunk_size : int, default 16384
        How many candidates have their predictive in memory at once; no result depends on it.
    n_jobs : int, optional
        Score chunks in parallel through joblib (None: what ``joblib.parallel_config`` says, else 1).

    Returns
    -------
    positions : (n_select,) array of int
    scores : (n_select,) array of float, only with ``return_scores``

    Raises
    ------
    ValueError
        If an argument is not as described, a score is NaN, or fewer than ``n_select`` candidates are allowed.

    Examples
    --------
    >>> from adaptive.predictive import StatedPredictive
    >>> class Coin:
    ...     def predictive(self, candidates, *, target=None, random_state=None):
    ...         return StatedPredictive(probabilities=np.column_stack([candidates, 1 - candidates]))
    >>> select(Coin(), np.array([0.1, 0.4, 0.8]), scorer="entropy").tolist()
    [1]
    >>> select(Coin(), np.array([0.1, 0.4, 0.8]), scorer="entropy", cost=[1, 3, 1]).tolist()
    [2]
    """
    score = scorers.get(scorer)
    if callable(candidates) and not hasattr(candidates, "__len__"):
        candidates = candidates(estimator)
    n_select = checks.integer("n_select", n_select, minimum=1)
    m = pool.length(candidates)
    allowed = _allowed(m, mask, exclude)
    _check_enough(n_select, m, m if allowed is None else len(allowed))
    prices = _prices(cost, candidates, m, allowed)
    if getattr(score, "whole_pool", False):
        chunk_size = m
    view = _View(estimator, candidates, allowed, pending, target, score, checks.generator(random_state))
    scores, predictive = view.scores(checks.integer("chunk_size", chunk_size, minimum=1), n_jobs)
    if n_select > 1 and joint and not getattr(view.score, "ignores_outcomes", False):
        chosen, scores = _batch(view, scores, prices, predictive, n_select)
    else:
        chosen, scores = _top(view, scores, prices, predictive, n_select)
    positions = chosen if allowed is None else allowed[chosen]
    return (positions, scores) if return_scores else positions


class _View:
    """The allowed candidates as the scorer sees them: entry j is candidate ``allowed[j]``, given what is pending."""

    def __init__(
        self, estimator: Any, candidates: Any, allowed: Any, pending: Any, target: Any, score: Callable, generator: Any
    ) -> None:
        self.estimator, self.candidates, self.allowed = estimator, candidates, allowed
        self.pending, self.target, self.score = pending, target, score
        self.n_pending = 0 if pending is None else pool.length(pending)
        self.size = pool.length(candidates) if allowed is None else len(allowed)
        self.seed = int(generator.integers(2**62))

    def candidates_at(self, entries: Any = None) -> Any:
        """Return the pool of the candidates at ``entries``; None: all that are allowed."""
        if entries is None:
            return self.candidates if self.allowed is None else pool.take(self.candidates, self.allowed)
        return pool.take(self.candidates, entries if self.allowed is None else self.allowed[entries])

    def predictive(self, candidates: Any) -> Any:
        """Return the predictive of the pending candidates followed by ``candidates``, given the former."""
        if self.n_pending:
            try:
                candidates = pool.concatenate([self.pending, candidates])
            except ValueError as problem:
                raise ValueError(f"pending must hold candidates (not positions) like the pool's: {problem}") from None
        predictive = self.estimator.predictive(candidates, target=self.target, random_state=self.seed)
        if predictive.undecided or getattr(self.score, "ignores_outcomes", False):
            return predictive
        for k in range(self.n_pending):
            _require_given(predictive, "pending")
            predictive = predictive.given(k)
        return predictive

    def evaluate(self, predictive: Any, start: int = 0) -> np.ndarray:
        """Return the expected scores of the entries of ``predictive``, which are those from ``start`` on."""
        score = scorers.random if predictive.undecided else self.score
        return expected_score(score, predictive, self.seed, start)[self.n_pending :]

    def scores(self, chunk_size: int, n_jobs: int | None) -> tuple[np.ndarray, Any]:
        """Return the scores of all entries, and their predictive if one chunk held them all."""
        if chunk_size >= self.size:
            predictive = self.predictive(self.candidates_at())
            return _checked(self.evaluate(predictive), self.score, self.size, self.allowed), predictive
        starts = range(0, self.size, chunk_size)
        chunks = ((self.candidates_at(np.arange(k, min(k + chunk_size, self.size))), k) for k in starts)
        scores = np.concatenate(list(_in_parallel(self._without_pool().of_chunk, chunks, n_jobs)))
        return _checked(scores, self.score, self.size, self.allowed), None

    def _without_pool(self) -> _View:
        """Return what a worker needs: everything but the pool, of which it gets its chunk."""
        light = copy.copy(self)
        light.candidates = light.allowed = None
        return light

    def of_chunk(self, candidates: Any, start: int) -> np.ndarray:
        return self.evaluate(self.predictive(candidates), start)


def expected_score(scorer: Callable[..., Any], predictive: Any, seed: int, start: int = 0) -> np.ndarray:
    """Return the mean of ``scorer`` over the scenarios of ``predictive``.

    Each call of the scorer gets a generator of the same seed; one that draws one uniform number per candidate draws the
    numbers from ``start`` on, so that chunks do not change them.
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


def _top(view: _View, scores: np.ndarray, prices: Any, predictive: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the n best entries, best first, and their scores."""
    values = scores if prices is None else scores / prices
    exact = None
    if predictive is None or predictive.provides("refined"):
        listed = np.sort(_best(values, min(max(REFINED, 2 * n), len(values))))
        exact = _refined(view, predictive, listed)
    if exact is None:
        chosen = _best(values, n)
        return chosen, scores[chosen]
    order = _best(exact if prices is None else exact / prices[listed], n)
    return listed[order], exact[order]


def _batch(view: _View, scores: np.ndarray, prices: Any, predictive: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n entries chosen one after the other, each given the earlier ones, and their scores at that moment."""
    values = scores if prices is None else scores / prices
    whole = getattr(view.score, "whole_pool", False)
    n_listed = view.size if whole else min(view.size, max(SHORT_LIST, 4 * n))
    entries = np.arange(view.size) if n_listed == view.size else np.sort(_best(values, n_listed))
    if predictive is None or n_listed < view.size:
        predictive = view.predictive(view.candidates_at(None if n_listed == view.size else entries))
    if predictive.undecided:
        return _top(view, scores, prices, predictive, n)
    _require_given(predictive, "batch")
    scores, prices = scores[entries], None if prices is None else prices[entries]
    chosen: list[int] = []
    gains: list[float] = []
    for step in range(n):
        if step:
            predictive = predictive.given(view.n_pending + chosen[-1])
            scores = _checked(view.evaluate(predictive), view.score, len(entries), None)
        values = scores if prices is None else scores / prices
        free = np.setdiff1d(np.arange(len(entries)), chosen) if chosen else np.arange(len(entries))
        listed = np.sort(free[_best(values[free], min(REFINED, len(free)))])
        exact = _refined(view, predictive, listed)
        if exact is None:
            best = int(free[_best(values[free], 1)[0]])
            gain = scores[best]
        else:
            place = _best(exact if prices is None else exact / prices[listed], 1)[0]
            best, gain = int(listed[place]), exact[place]
        chosen.append(best)
        gains.append(float(gain))
    return entries[chosen], np.array(gains)


def _refined(view: _View, predictive: Any, listed: np.ndarray) -> np.ndarray | None:
    """Return exact scores of the ``listed`` entries, or None if the predictive computes no better ones."""
    places = listed
    if predictive is None:  # there were several chunks: a predictive of these entries alone
        predictive, places = view.predictive(view.candidates_at(listed)), np.arange(len(listed))
    if not all(scenario.provides("refined") for _, scenario in predictive.scenarios):
        return None
    total = np.zeros(len(listed))
    for probability, scenario in predictive.scenarios:
        refined = scenario.refined(view.n_pending + places)
        total += probability * expected_score(view.score, refined, view.seed)
    return _checked(total, view.score, len(listed), None)


def _best(values: np.ndarray, n: int) -> np.ndarray:
    """Return the positions of the n largest values, best first; ties go to the lowest position."""
    top = values.max()
    if n == 1:
        if not np.isfinite(top):
            return np.array([int(values.argmax())])
        return np.array([int(np.argmax(values >= top - _SAME * abs(top)))])
    if np.isfinite(top) and top != 0:
        values = np.round(values / (_SAME * abs(top)))  # what is a tie for one is a tie for all
    if n < len(values):
        threshold = -np.partition(-values, n - 1)[n - 1]
        above, at = np.flatnonzero(values > threshold), np.flatnonzero(values == threshold)
        listed = np.concatenate([above, at[: n - len(above)]])
    else:
        listed = np.arange(len(values))
    return listed[np.lexsort((listed, -values[listed]))]


def _allowed(m: int, mask: Any, exclude: Any) -> np.ndarray | None:
    """Return the positions that may be chosen, None if all may."""
    if m == 0:
        raise ValueError("candidates is empty: there is nothing to select from.")
    excluded = _positions("exclude", exclude, m)
    if mask is None and not len(excluded):
        return None
    free = np.ones(m, dtype=bool)
    if mask is not None:
        given = np.asarray(mask)
        if given.dtype != bool or given.shape != (m,):
            raise ValueError(
                f"mask must be {m} booleans, one per candidate (True = allowed), "
                f"got dtype {given.dtype} and shape {given.shape}."
            )
        free &= given
    free[excluded] = False
    return None if free.all() else np.flatnonzero(free)


def _positions(name: str, positions: Any, m: int) -> np.ndarray:
    values = np.asarray(list(positions) if isinstance(positions, (set, frozenset)) else positions)
    if values.size == 0:
        return np.empty(0, dtype=np.intp)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a sequence of integer positions, got dtype {values.dtype} and shape {values.shape}."
        )
    outside = (values < 0) | (values >= m)
    if outside.any():
        raise ValueError(f"{name} contains {values[outside][0]}, but positions go from 0 to {m - 1}.")
    return values


def _check_enough(n_select: int, m: int, n_allowed: int) -> None:
    if n_allowed == 0:
        raise ValueError(f"mask and exclude leave none of the {m} candidates to select from.")
    if n_select > n_allowed:
        raise ValueError(f"n_select is {n_select}, but only {n_allowed} of {m} candidates are allowed.")


def _prices(cost: Any, candidates: Any, m: int, allowed: Any) -> np.ndarray | None:
    """Return the costs of the allowed candidates, None if all cost the same."""
    if cost is None:
        return None
    try:
        prices = np.asarray(cost(candidates) if callable(cost) else cost, dtype=float)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"cost must be {m} numbers > 0, one per candidate ({problem}).") from None
    if prices.shape != (m,):
        raise ValueError(f"cost must have one entry for each of the {m} candidates, got shape {prices.shape}.")
    if allowed is not None:
        prices = prices[allowed]  # what may not be chosen needs no price
    bad = ~(np.isfinite(prices) & (prices > 0))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        position = at if allowed is None else int(allowed[at])
        raise ValueError(f"cost must be finite and > 0, got {float(prices[at])!r} at position {position}.")
    return prices


def _checked(scores: np.ndarray, score: Callable, size: int, allowed: Any) -> np.ndarray:
    wrong = np.isnan(scores)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        position = at if allowed is None else int(allowed[at])
        raise ValueError(
            f"scorer {getattr(score, '__name__', score)} returned NaN for the candidate at position {position}."
        )
    return scores


def _require_given(predictive: Any, what: str) -> None:
    if predictive.provides("given"):
        return
    name = type(predictive).__name__
    if what == "pending":
        raise ValueError(f"conditioning on pending candidates needs given, which {name} does not provide.")
    raise ValueError(
        f"a joint batch needs given, which {name} does not provide; pass joint=False for the highest single scores."
    )


def _in_parallel(function: Callable, tasks: Iterator[tuple], n_jobs: int | None) -> Iterator[Any]:
    """Yield the results in order; workers run with the BLAS threads of this process, for the same bits."""
    from joblib import Parallel, delayed, effective_n_jobs

    if effective_n_jobs(n_jobs) == 1:
        yield from (function(*task) for task in tasks)
        return
    from threadpoolctl import threadpool_info

    n_threads = max((info["num_threads"] for info in threadpool_info()), default=1)
    yield from Parallel(n_jobs=n_jobs)(delayed(_with_threads)(n_threads, function, *task) for task in tasks)


def _with_threads(n_threads: int, function: Callable, *task: Any) -> Any:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(n_threads):
        return function(*task)
