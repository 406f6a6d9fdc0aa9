"""The argmax: of single scores, or of a batch one after the other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive import checks, pool, scorers
from adaptive.scorers import record_of
from adaptive.selection.arguments import Allowed, all_prices, check_enough, checked_price, prices_of, written_out
from adaptive.selection.bounds.certificates import certificate, weighted_rows
from adaptive.selection.bounds.exchanges import improved, in_order
from adaptive.selection.bounds.greedy import information
from adaptive.selection.evaluation import checked
from adaptive.selection.ranking import best_positions
from adaptive.selection.scoring import Believer, Outlook, View, require_given, undecided
from adaptive.showing import bar

if TYPE_CHECKING:
    from adaptive.types import ArrayLike, Cost, Mask, Pool, RandomState, Scorer

__all__ = ["select"]

CHUNK_SIZE = 16_384  # candidates per predictive
READ_AT_ONCE = 131_072  # candidates of which bounds leave few
SHORT_LIST = 1_024  # candidates among which a batch is chosen from a large pool
N_TARGETS = 256  # candidates, evenly spaced, that stand for the inputs to predict where none were given
REFINED = 8  # candidates that are computed exactly where the predictive offers it
SCREENED = 32  # candidates up to which all are looked at as closely


def select(
    estimator: Believer,
    candidates: Pool | Callable[[Any], Pool],
    n_select: int = 1,
    *,
    scorer: Scorer = "auto",
    target: Any = None,
    cost: Cost = None,
    price: float | None = None,
    mask: Mask = None,
    exclude: ArrayLike | Collection[int] = (),
    pending: Pool | None = None,
    joint: bool = True,
    random_state: RandomState = None,
    return_scores: bool = False,
    return_certificate: bool = False,
    chunk_size: int | None = None,
    n_jobs: int | None = None,
) -> Any:
    """Return the positions of the candidates most worth measuring; the estimator is not changed.

    Parameters
    ----------
    estimator : object with ``predictive(candidates, *, target=None, random_state=None)``
    candidates : pool of length m, or callable(estimator) -> pool
    n_select, scorer, target, cost, price, mask, exclude, pending, joint, random_state
    return_scores, return_certificate
        As in :meth:`adaptive.estimators.base.DesignMixin.select`.  Returned scores are without cost and price.
    chunk_size : int, optional
        How many candidates have their predictive in memory at once (None: 16384, of stored pools
        up to 131072 where bounds leave few); no result depends on it.
    n_jobs : int, optional
        Score chunks in parallel through joblib (None: what ``joblib.parallel_config`` says, else 1).

    Returns
    -------
    positions : (n_select,) array of int
    scores : (n_select,) array of float, only with ``return_scores``
    certificate : Certificate, only with ``return_certificate``

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
    >>> select(Coin(), np.array([0.1, 0.4, 0.8]), scorer="entropy", cost=[1, 3, 1], price=0.05).tolist()
    [1]
    """
    price = checked_price(price, cost, return_certificate)
    score = scorers.get(scorer, estimator)
    if callable(candidates) and not isinstance(candidates, Sized):
        candidates = candidates(estimator)
    n_select = checks.integer("n_select", n_select, minimum=1)
    m = pool.length(candidates)
    allowed = Allowed.among(m, written_out(mask, candidates, m), exclude)
    check_enough(n_select, m, allowed.size)
    record = record_of(score)
    if target is None and record.about_inputs:
        target = pool.take(candidates, np.unique(np.linspace(0, m - 1, min(m, N_TARGETS)).astype(np.intp)))
    by_default = chunk_size is None
    chunk_size = CHUNK_SIZE if chunk_size is None else checks.integer("chunk_size", chunk_size, minimum=1)
    longest = READ_AT_ONCE if by_default else chunk_size
    if record.whole_pool:
        if m > chunk_size and pool.is_stored(candidates):
            raise ValueError(
                f"scorer {getattr(score, '__name__', score)} looks at the whole pool at once, and these {m} candidates "
                "are read in parts; give it some of them, or take another scorer."
            )
        chunk_size = m
    together = n_select > 1 and joint and not record.ignores_outcomes
    screens = score is scorers.information_gain and n_select == 1 and allowed.size > SCREENED
    view = View(estimator, candidates, None, pending, target, score, checks.generator(random_state), price)
    view.screens = screens
    if not record.whole_pool:
        chunk_size = min(chunk_size, view.most_at_once)
    if allowed.size <= chunk_size:
        positions = allowed.within(0, m)
        view.allow(positions)
        prices = prices_of(cost, candidates, m, positions)
        scores, outlook = view.scores()
    else:
        n_listed = max(SHORT_LIST, 4 * n_select) if together else max(REFINED, 2 * n_select)
        positions, scores = view.leaders(n_listed, allowed, cost, chunk_size, longest, n_jobs).best()
        view, outlook = view.narrowed(positions), None
        given = cost if cost is None or callable(cost) else np.asarray(cost, dtype=float)[positions]
        prices = all_prices(given, view.candidates, len(positions))
    choose = _batch if together else _top
    chosen, scores = choose(view, scores, prices, outlook, n_select)
    if positions is not None:
        chosen = positions[chosen]
    if together and score is scorers.information_gain and allowed.size <= CHUNK_SIZE and price is None:
        # whatever chunk_size
        whole = view
        if outlook is None:
            whole = View(estimator, candidates, allowed.within(0, m), pending, target, score, checks.generator(0))
        chosen, scores = _exchanged(whole, outlook, cost, chosen) or (chosen, scores)
    found: list[Any] = [chosen]
    if return_scores:
        found.append(scores)
    if return_certificate:
        found.append(
            certificate(
                estimator,
                candidates,
                chosen,
                cost=cost,
                mask=mask,
                exclude=exclude,
                pending=pending,
                random_state=view.seed,
            )
        )
    return tuple(found) if len(found) > 1 else chosen


def _top(
    view: View, scores: np.ndarray, prices: np.ndarray | None, outlook: Outlook | None, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the n best entries, best first, and their scores."""
    values = view.worth(scores, prices)
    exact = None
    if not view.record.ignores_outcomes and (outlook is None or view.screens or outlook.provides("refined")):
        listed = np.sort(best_positions(values, min(max(REFINED, 2 * n), len(values))))
        exact = _refined(view, outlook, listed)
    if exact is None:
        chosen = best_positions(values, n)
        return chosen, scores[chosen]
    order = best_positions(view.worth(exact, None if prices is None else prices[listed]), n)
    return listed[order], exact[order]


def _batch(
    view: View, scores: np.ndarray, prices: np.ndarray | None, outlook: Outlook | None, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return n entries chosen one after the other, each given the earlier ones, and their scores at that moment."""
    values = view.worth(scores, prices)
    n_listed = view.size if view.record.whole_pool else min(view.size, max(SHORT_LIST, 4 * n))
    entries = np.arange(view.size) if n_listed == view.size else np.sort(best_positions(values, n_listed))
    if outlook is None or n_listed < view.size:
        outlook = view.outlook(view.candidates_at(None if n_listed == view.size else entries))
    if undecided(outlook):
        return _top(view, scores, prices, outlook, n)
    if not view.record.sees_asked:
        require_given(outlook, "batch")
    scores, prices = scores[entries], None if prices is None else prices[entries]
    chosen: list[int] = []
    gains: list[float] = []
    for step in _counted(n):
        if step:
            outlook = view.assuming(outlook, view.n_front + chosen[-1], "batch")
            scores = checked(view.evaluate(outlook), view.score, len(entries), None)
        values = view.worth(scores, prices)
        free = np.setdiff1d(np.arange(len(entries)), chosen) if chosen else np.arange(len(entries))
        listed = np.sort(free[best_positions(values[free], min(REFINED, len(free)))])
        exact = _refined(view, outlook, listed)
        if exact is None:
            best = int(free[best_positions(values[free], 1)[0]])
            gain = scores[best]
        else:
            place = best_positions(view.worth(exact, None if prices is None else prices[listed]), 1)[0]
            best, gain = int(listed[place]), exact[place]
        chosen.append(best)
        gains.append(float(gain))
    return entries[chosen], np.array(gains)


def _exchanged(
    whole: View, outlook: Outlook | None, cost: Cost, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a batch of Gaussian outcomes after exchanges with the whole pool, and its gains; None where none helps.

    Where the batch came from a short list, the greedy on all of the pool is another start: single scores may be alike
    everywhere, as on a map of which nothing is known.

    Parameters
    ----------
    whole : View
        Of all candidates that may be chosen.
    outlook : Outlook or None
        On them, where it is there.
    cost
        As of `select`.
    chosen : (n,) array
        Positions in the pool.
    """
    if outlook is None and weighted_rows(whole.outlook(pool.take(whole.candidates, chosen[:1])), whole.n_front) is None:
        return None
    scales = weighted_rows(whole.outlook(whole.candidates_at()) if outlook is None else outlook, whole.n_front)
    if scales is None or len(scales) != 1:
        return None
    rows, n = scales[0][1], len(chosen)
    prices = prices_of(cost, whole.candidates, pool.length(whole.candidates), whole.allowed)
    entries = chosen if whole.allowed is None else np.searchsorted(whole.allowed, chosen)
    starts = [entries.tolist()]
    if len(rows) > max(SHORT_LIST, 4 * n):
        starts.insert(0, in_order(rows, np.arange(len(rows)), prices, n)[0])
    found = [improved(rows, start, prices) for start in starts]
    members = max(found, key=lambda one: round(information(rows[one]), 9))
    if set(members) == set(entries.tolist()):
        return None
    order, gains = in_order(rows, members, prices)
    return (np.array(order) if whole.allowed is None else whole.allowed[order]), gains


def _counted(n: int) -> Iterator[int]:
    """Yield 0 .. n - 1, saying how far a batch is where it takes more than two seconds."""
    with bar() as show:
        for step in range(n):
            yield step
            show((step + 1) / n, f"{step + 1} of {n} chosen")


def _refined(view: View, outlook: Outlook | None, listed: np.ndarray) -> np.ndarray | None:
    """Return exact scores of the ``listed`` entries, or None if the outlook computes no better ones."""
    places = listed
    if outlook is None:  # there were several chunks: an outlook of these entries alone
        outlook, places = view.outlook(view.candidates_at(listed)), np.arange(len(listed))
    if not outlook.provides("refined") and not (view.screens and outlook.coarse() is not None):
        return None
    exact = outlook.refined(view.n_front + places)  # type: ignore[union-attr]  # votes provide none
    return checked(exact.score(view.score, view.seed), view.score, len(listed), None)
